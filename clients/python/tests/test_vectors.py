"""The test cases that all languages share."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from timenav import ClockClosedError, ClockState, ClockUnavailableError, Follower, Instant, RetryPolicy, StalenessBounds
from timenav._errors import ClockStaleError
from timenav._sse import EventReader, RawEvent

from .conftest import vectors

FOLLOW = vectors("follow")
ERRORS: dict[str, type[ClockUnavailableError]] = {"stale": ClockStaleError, "closed": ClockClosedError}


def each_case(file: str) -> pytest.MarkDecorator:
    cases: list[dict[str, Any]] = vectors(file)["cases"]
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def state(clock: dict[str, Any]) -> ClockState:
    return ClockState.of({"timeline_id": "main", "generation": 0, "location": None, **clock})


@each_case("clock")
def test_clock_readings_match_service_vectors(case: dict[str, Any]) -> None:
    clock = state(case["clock"])
    for reading in case["readings"]:
        assert str(clock.at(Instant.parse(reading["host"]).micros)) == reading["shows"], reading


@each_case("clock")
def test_host_time_at_returns_the_first_host_time_of_a_reading(case: dict[str, Any]) -> None:
    clock = state(case["clock"])
    for reading in case["readings"]:
        shows = Instant.parse(reading["shows"])
        host = clock.host_time_at(shows.micros)
        if host is None or shows in (Instant.MIN, Instant.MAX):
            continue
        assert clock.at(host) >= shows
        assert not clock.is_running or clock.at(host - 1) < shows


def test_clock_readings_match_recorded_service_states() -> None:
    # A pause or a rate change starts at the reading of the previous clock, and so records it.
    recorded = vectors("recorded")["readings"]
    assert len(recorded) >= 100
    for reading in recorded:
        assert str(state(reading["clock"]).at(Instant.parse(reading["host"]).micros)) == reading["shows"], reading


def test_timestamps_round_trip_and_invalid_ones_are_rejected() -> None:
    file = vectors("timestamps")
    for case in file["valid"]:
        instant = Instant.parse(case["text"])
        assert instant.micros == case["micros"], case
        assert str(instant) == case.get("written", case["text"])
    for text in file["invalid"]:
        with pytest.raises(ValueError):
            Instant.parse(text)


def test_calendar_matches_datetime_within_its_range() -> None:
    day = datetime(1, 1, 1, tzinfo=timezone.utc)
    while day.year < 9_990:
        instant = Instant.of(day)
        assert instant.datetime() == day
        assert Instant.parse(str(instant)) == instant
        assert str(instant)[:10] == day.date().isoformat()
        day += timedelta(days=97, hours=5, microseconds=1)


@pytest.mark.parametrize("case", FOLLOW["cases"], ids=[case["name"] for case in FOLLOW["cases"]])
def test_follower_readings_match_shared_vectors(case: dict[str, Any]) -> None:
    follower = Follower(StalenessBounds(**case.get("bounds", FOLLOW["bounds"])))
    for step in case["steps"]:
        at = step["at"]
        if "read" in step:
            check_reading(follower, at, step["read"])
        elif "change" in step:
            if step["do"] == "apply_response":
                change = follower.apply_response(step["body"], at)
            else:
                change = follower.apply_message(step["event"], step["body"], at, is_first=step["first"])
            outcome = change and {"jump": change.jump_micros, "reset": change.is_reset}
            assert outcome == step["change"], step
        elif step["do"] == "closed":
            follower.closed()
        else:
            getattr(follower, step["do"])(at)


def check_reading(follower: Follower, at: int, expected: dict[str, Any]) -> None:
    if "error" in expected:
        with pytest.raises(ERRORS[expected["error"]]):
            follower.read(at)
        return
    reading = follower.read(at)
    assert (str(reading.now), reading.generation) == (expected["shows"], expected["generation"]), at
    if "uncertainty" in expected:
        assert reading.uncertainty_micros == expected["uncertainty"]


@each_case("sse")
def test_sse_events_are_parsed_from_chunks_of_any_size(case: dict[str, Any]) -> None:
    expected = [RawEvent(**event) for event in case["events"]]
    pieces = [piece.encode() for piece in case["pieces"]]
    for chunks in (pieces, [bytes([byte]) for piece in pieces for byte in piece], [b"".join(pieces)]):
        reader = EventReader()
        assert [event for chunk in chunks for event in reader.push(chunk)] == expected
        assert reader.last_id == case["last_id"]


@each_case("retry")
def test_retry_waits_match_shared_vectors(case: dict[str, Any]) -> None:
    file = vectors("retry")
    wait = RetryPolicy(file["attempts"], file["wait_max"]).wait(
        case["attempt"],
        case["outcome"],
        is_repeatable=case["is_repeatable"],
        retry_after=case["retry_after"],
        waited=case["waited"],
    )
    if case["wait"] is None:
        assert wait is None
    else:
        low, high = case["wait"]
        assert wait is not None
        assert low <= wait <= high
