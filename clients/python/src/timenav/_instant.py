"""Instants as whole microseconds since 1970, from −9999 to 9999, in the proleptic Gregorian calendar.

`datetime` has no years before 1, so an instant is not stored as one. Source of the calendar: H. Hinnant,
"chrono-compatible low-level date algorithms".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import ClassVar, TypeAlias, overload

from ._errors import DatetimeRangeError

_Datetime: TypeAlias = datetime
"""An alias, because `datetime` is a method in the body of `Instant`."""
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_BEFORE_EPOCH = timedelta(days=_EPOCH.toordinal())
_DATETIME_MIN = -62_135_596_800_000_000
_DATETIME_MAX = 253_402_300_799_999_999
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


# Comparisons are defined below, because an instant also compares with a `datetime`.
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Instant:
    """A moment, in whole microseconds since 1970.

    It compares with other instants and with aware `datetime`s. Equal values have equal hashes. A naive `datetime` is
    never equal to it, and ordering the two raises `TypeError`, as for two `datetime`s.
    """

    micros: int

    MIN: ClassVar[Instant]
    MAX: ClassVar[Instant]

    def __post_init__(self) -> None:
        """Rejects instants outside the range of the service's clocks."""
        if not _MIN <= self.micros <= _MAX:
            raise ValueError(
                f"{self.micros} µs is outside the range -009999-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z"
            )

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Parses a timestamp with a time zone in the format of the API, such as `2028-02-29T09:00:00Z`.

        Fractions of a microsecond are truncated, toward the past.
        """
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise ValueError(f"{text!r} is not a timestamp with a time zone, such as 2028-02-29T09:00:00Z")
        year, month, day, hour, minute = (int(shape[index]) for index in range(1, 6))
        second, fraction, zone = int(shape[6] or 0), (shape[7] or "")[:6].ljust(6, "0"), shape[8]
        is_civil = shape[1] != "-000000" and 1 <= month <= 12 and 1 <= day <= _days_in_month(year, month)
        if not (is_civil and hour < 24 and minute < 60 and second < 60):
            raise ValueError(f"{text!r} is not a valid date and time")
        offset = 0
        if zone not in "Zz":
            offset = (int(zone[1:3]) * 60 + int(zone[-2:])) * (-1 if zone[0] == "-" else 1)
        days = _days_from_civil(year, month, day)
        seconds = hour * 3_600 + (minute - offset) * 60 + second
        return cls(days * _DAY + seconds * _SECOND + int(fraction))

    @classmethod
    def of(cls, when: When) -> Instant:
        """Converts a timestamp, an aware `datetime` or an instant."""
        if isinstance(when, Instant):
            return when
        if isinstance(when, datetime):
            if when.tzinfo is None:
                raise ValueError("the datetime has no time zone; set one, such as tzinfo=timezone.utc")
            return cls((when - _EPOCH) // timedelta(microseconds=1))
        return cls.parse(when)

    def datetime(self) -> datetime:
        """Returns the instant as an aware `datetime` in UTC.

        Raises `DatetimeRangeError` outside the years 1 to 9999.
        """
        try:
            return _EPOCH + timedelta(microseconds=self.micros)
        except OverflowError:
            raise DatetimeRangeError(f"{self} is outside the range of datetime, the years 1 to 9999") from None

    def timestamp(self) -> float:
        """Returns the seconds since 1970, like `time.time()`."""
        return self.micros / _SECOND

    def isoformat(self) -> str:
        """Formats the instant like `datetime.isoformat`: `2028-02-29T09:00:00+00:00`.

        Years before 0 have a sign and six digits, which `datetime` cannot parse.
        """
        seconds, micros = divmod(self.micros, _SECOND)
        whole = _civil_text(seconds)
        return f"{whole}.{micros:06}+00:00" if micros else f"{whole}+00:00"

    @overload
    def __sub__(self, other: Instant | _Datetime) -> timedelta: ...
    @overload
    def __sub__(self, other: timedelta) -> Instant: ...
    def __sub__(self, other: Instant | _Datetime | timedelta) -> timedelta | Instant:
        """Returns the difference from another moment, or the instant earlier by a `timedelta`."""
        if isinstance(other, timedelta):
            return Instant(self.micros - other // timedelta(microseconds=1))
        micros = _micros(other)
        return NotImplemented if micros is None else timedelta(microseconds=self.micros - micros)

    def __rsub__(self, other: _Datetime) -> timedelta:
        """Returns the difference between an aware `datetime` and this instant."""
        micros = _micros(other)
        return NotImplemented if micros is None else timedelta(microseconds=micros - self.micros)

    def __add__(self, other: timedelta) -> Instant:
        """Returns the instant later by a `timedelta`."""
        if not isinstance(other, timedelta):
            return NotImplemented
        return Instant(self.micros + other // timedelta(microseconds=1))

    def __eq__(self, other: object) -> bool:
        """Compares with an instant or an aware `datetime`."""
        if isinstance(other, datetime) and _DATETIME_MIN <= self.micros <= _DATETIME_MAX:
            # `datetime` handles local times that occur twice, which equal no time in another zone (PEP 495).
            return self.datetime() == other
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros == micros

    def __hash__(self) -> int:
        """Returns the hash of the equal `datetime`, which is that of the `timedelta` since the day before year 1."""
        return hash(_BEFORE_EPOCH + timedelta(microseconds=self.micros))

    def __lt__(self, other: Instant | _Datetime) -> bool:
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros < micros

    def __le__(self, other: Instant | _Datetime) -> bool:
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros <= micros

    def __gt__(self, other: Instant | _Datetime) -> bool:
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros > micros

    def __ge__(self, other: Instant | _Datetime) -> bool:
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros >= micros

    def __format__(self, spec: str) -> str:
        """Formats the instant like `datetime`: `f"{now:%Y-%m-%d}"`. An empty format means the format of the API.

        Any other format raises `DatetimeRangeError` outside the years 1 to 9999.
        """
        return format(self.datetime(), spec) if spec else str(self)

    def __repr__(self) -> str:
        return f"Instant.parse({str(self)!r})"

    def __str__(self) -> str:
        """Formats the instant like the API: UTC, with fraction digits only if they are not zero."""
        seconds, micros = divmod(self.micros, _SECOND)
        fraction = f".{micros:06}".rstrip("0") if micros else ""
        return f"{_civil_text(seconds)}{fraction}Z"


def _civil_text(seconds: int) -> str:
    """Formats whole seconds since 1970 as date and time."""
    days, rest = divmod(seconds, 86_400)
    year, month, day = _civil_from_days(days)
    years = f"-{-year:06}" if year < 0 else f"{year:04}"
    return f"{years}-{month:02}-{day:02}T{rest // 3_600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def duration_micros(duration: timedelta | float) -> int:
    """Returns whole microseconds of a duration; a number is in seconds."""
    return duration // timedelta(microseconds=1) if isinstance(duration, timedelta) else round(duration * 1_000_000)


def _micros(other: object) -> int | None:
    """Returns the microseconds since 1970 of an instant or an aware `datetime`; None for other objects."""
    if isinstance(other, Instant):
        return other.micros
    if isinstance(other, datetime) and other.utcoffset() is not None:
        return (other - _EPOCH) // timedelta(microseconds=1)
    return None


When = str | datetime | Instant
"""A moment: a timestamp with a time zone, an aware `datetime`, or an `Instant`."""

_MIN = -377_705_116_800_000_000
_MAX = 253_402_300_799_999_999
Instant.MIN = Instant(_MIN)
Instant.MAX = Instant(_MAX)
