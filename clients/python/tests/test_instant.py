"""Instants compared with `datetime`: order, hashes, formats."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime, timedelta, timezone
from operator import ge, gt, le, lt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import timenav
from timenav import Instant

LEAP = Instant.parse("2028-02-29T09:00:00.25Z")
UTC = timezone.utc


def test_instant_equals_the_same_moment_in_any_time_zone() -> None:
    for zone in (UTC, timezone(timedelta(hours=5, minutes=45)), ZoneInfo("America/New_York")):
        same: Any = LEAP.datetime().astimezone(zone)
        assert same == LEAP
        assert LEAP == same  # noqa: SIM300 - tests the reflected comparison
        assert hash(LEAP) == hash(same)
        assert {LEAP: "found"}[same] == "found"
        assert same + timedelta(microseconds=1) != LEAP
    assert LEAP != "2028-02-29T09:00:00.25Z"
    assert Instant(0) != 0


def test_instant_is_never_equal_to_a_naive_datetime() -> None:
    naive: Any = LEAP.datetime().replace(tzinfo=None)
    assert naive != LEAP
    for compare in (lt, le, gt, ge):
        with pytest.raises(TypeError):
            compare(LEAP, naive)


def test_instants_and_datetimes_are_ordered_by_time() -> None:
    earlier = LEAP.datetime() - timedelta(microseconds=1)
    assert earlier < LEAP
    assert earlier < LEAP <= LEAP.datetime() <= LEAP
    assert earlier < LEAP
    assert LEAP >= LEAP.datetime() >= LEAP
    moments: list[Any] = [Instant.MAX, LEAP, earlier, Instant.MIN]
    assert sorted(moments) == [Instant.MIN, earlier, LEAP, Instant.MAX]


def test_years_outside_datetime_compare_and_hash() -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert Instant.MIN < Instant.parse("0000-12-31T23:59:59.999999Z") < first
    assert Instant.of(first) == first
    # In UTC, this is in year 0, which `datetime` does not have.
    early: Any = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    instant = Instant.of(early)
    assert str(instant) == "0000-12-31T10:00:00Z"
    assert instant == early
    assert hash(instant) == hash(early)
    last: Any = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert last == Instant.MAX
    assert hash(Instant.MAX) == hash(last)
    # In UTC, this is in the year 10000, beyond the range of clocks.
    assert datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))) > Instant.MAX
    assert len({Instant.MIN, Instant(Instant.MIN.micros), Instant.MAX}) == 2


def test_hash_equals_that_of_datetime_in_all_years() -> None:
    day = datetime(1, 1, 1, tzinfo=UTC)
    while day.year < 9_990:
        assert hash(Instant.of(day)) == hash(day)
        day += timedelta(days=197, hours=5, microseconds=1)


def test_ambiguous_local_time_compares_like_datetime() -> None:
    zone = ZoneInfo("Europe/Paris")
    for fold in (0, 1):
        local: Any = datetime(2028, 10, 29, 2, 30, tzinfo=zone, fold=fold)
        instant = Instant.of(local)
        assert (instant == local) is (instant.datetime() == local)
        assert not instant < local
        assert instant <= local


def test_formats_match_those_of_datetime() -> None:
    assert LEAP.isoformat() == LEAP.datetime().isoformat() == "2028-02-29T09:00:00.250000+00:00"
    assert Instant(0).isoformat() == "1970-01-01T00:00:00+00:00"
    assert datetime.fromisoformat(LEAP.isoformat()) == LEAP
    assert Instant.MIN.isoformat() == "-009999-01-01T00:00:00+00:00"
    assert Instant.parse(Instant.MIN.isoformat()) == Instant.MIN
    assert f"{LEAP:%Y-%m-%d}" == "2028-02-29"
    assert f"{LEAP}" == str(LEAP) == "2028-02-29T09:00:00.25Z"
    with pytest.raises(timenav.DatetimeRangeError):
        format(Instant.MIN, "%Y")


def test_repr_evaluates_to_the_instant() -> None:
    assert repr(LEAP) == "Instant.parse('2028-02-29T09:00:00.25Z')"
    assert eval(repr(Instant.MIN)) == Instant.MIN  # noqa: S307 - the text of the line above
    for copied in (copy.copy(LEAP), pickle.loads(pickle.dumps(LEAP))):  # noqa: S301 - pickled on this line
        assert copied == LEAP


def test_difference_from_a_datetime_is_a_timedelta() -> None:
    earlier = LEAP.datetime() - timedelta(days=1)
    assert LEAP - earlier == timedelta(days=1)
    assert earlier - LEAP == -timedelta(days=1)
    with pytest.raises(TypeError):
        LEAP - earlier.replace(tzinfo=None)
    with pytest.raises(TypeError):
        LEAP + 1  # type: ignore[operator]


def test_repr_of_a_clock_shows_its_timeline_and_time(client: timenav.Client, timeline: str) -> None:
    client.pause_time(timeline_id=timeline)
    client.travel(destination_time="2028-02-29T09:00:00Z", timeline_id=timeline)
    with client.virtual_clock(timeline) as clock:
        assert repr(clock) == f"<VirtualClock of {timeline} at 2028-02-29T09:00:00Z, paused>"
        changed = client.set_rate(rate=0.5, timeline_id=timeline)
        clock.until_generation(changed["generation"], timeout=10)
        changed = client.resume_time(timeline_id=timeline)
        clock.until_generation(changed["generation"], timeout=10)
        assert repr(clock).endswith("Z, running at rate 0.5>")
    assert repr(clock).startswith(f"<VirtualClock of {timeline}: the clock was closed")
