"""Instants as whole microseconds since 1970, from −9999 to 9999, in the proleptic Gregorian calendar.

`datetime` has no years before 1, so it is what an instant becomes where it fits, and not what it is.
Source of the calendar: H. Hinnant, "chrono-compatible low-level date algorithms".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import ClassVar, overload

from ._errors import DatetimeRangeError

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SHAPE = re.compile(
    r"([+-]\d{6}|\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})",
    re.ASCII,
)


def _is_leap(year: int) -> bool:
    return (year % 4 == 0 and year % 100 != 0) or year % 400 == 0


def _days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if _is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days_from_civil(year: int, month: int, day: int) -> int:
    y = year - 1 if month <= 2 else year
    era, year_of_era = divmod(y, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month, day_of_year - (153 * shifted + 2) // 5 + 1


@dataclass(frozen=True, order=True, slots=True)
class Instant:
    """A moment, in whole microseconds since 1970."""

    micros: int

    MIN: ClassVar[Instant]
    MAX: ClassVar[Instant]

    def __post_init__(self) -> None:
        """Refuses what no clock of the service can show."""
        if not _MIN <= self.micros <= _MAX:
            raise ValueError(f"{self.micros} µs lies outside -009999-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z")

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Reads a timestamp with a zone, such as the API writes: `2028-02-29T09:00:00Z`.

        Digits finer than a microsecond are cut off, towards the past.
        """
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise ValueError(f"{text!r} is not a timestamp with a zone; write one such as 2028-02-29T09:00:00Z")
        year, month, day, hour, minute = (int(shape[index]) for index in range(1, 6))
        second, fraction, zone = int(shape[6] or 0), (shape[7] or "")[:6].ljust(6, "0"), shape[8]
        is_civil = shape[1] != "-000000" and 1 <= month <= 12 and 1 <= day <= _days_in_month(year, month)
        if not (is_civil and hour < 24 and minute < 60 and second < 60):
            raise ValueError(f"there is no such date or time as {text!r}")
        offset = 0
        if zone not in "Zz":
            offset = (int(zone[1:3]) * 60 + int(zone[-2:])) * (-1 if zone[0] == "-" else 1)
        days = _days_from_civil(year, month, day)
        seconds = hour * 3_600 + (minute - offset) * 60 + second
        return cls(days * _DAY + seconds * _SECOND + int(fraction))

    @classmethod
    def of(cls, when: When) -> Instant:
        """Returns the instant of a timestamp, an aware `datetime`, or an instant."""
        if isinstance(when, Instant):
            return when
        if isinstance(when, datetime):
            if when.tzinfo is None:
                raise ValueError("the datetime has no time zone; give it one, such as tzinfo=timezone.utc")
            return cls((when - _EPOCH) // timedelta(microseconds=1))
        return cls.parse(when)

    def datetime(self) -> datetime:
        """Returns the instant as an aware `datetime` in UTC.

        Raises `DatetimeRangeError` outside the years 1 to 9999.
        """
        try:
            return _EPOCH + timedelta(microseconds=self.micros)
        except OverflowError:
            raise DatetimeRangeError(f"{self} does not fit into datetime, which has the years 1 to 9999") from None

    def timestamp(self) -> float:
        """Returns the seconds since 1970, as `time.time()` does."""
        return self.micros / _SECOND

    @overload
    def __sub__(self, other: Instant) -> timedelta: ...
    @overload
    def __sub__(self, other: timedelta) -> Instant: ...
    def __sub__(self, other: Instant | timedelta) -> timedelta | Instant:
        """Returns how much later this is than another instant, or the instant that much earlier."""
        if isinstance(other, Instant):
            return timedelta(microseconds=self.micros - other.micros)
        return Instant(self.micros - other // timedelta(microseconds=1))

    def __add__(self, other: timedelta) -> Instant:
        """Returns the instant that much later."""
        return Instant(self.micros + other // timedelta(microseconds=1))

    def __str__(self) -> str:
        """Writes the instant as the API does: UTC, fraction digits only where they are not zero."""
        days, rest = divmod(self.micros, _DAY)
        year, month, day = _civil_from_days(days)
        seconds, micros = divmod(rest, _SECOND)
        years = f"-{-year:06}" if year < 0 else f"{year:04}"
        fraction = f".{micros:06}".rstrip("0") if micros else ""
        time = f"{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{years}-{month:02}-{day:02}T{time}{fraction}Z"


When = str | datetime | Instant
"""A moment as callers have it: a timestamp with a zone, an aware `datetime`, or an `Instant`."""

_MIN = -377_705_116_800_000_000
_MAX = 253_402_300_799_999_999
Instant.MIN = Instant(_MIN)
Instant.MAX = Instant(_MAX)
