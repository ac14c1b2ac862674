"""The time-machine adapter."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from datetime import date, datetime, timezone

import pytest

import timenav
from timenav.testing import Service, TestClock

pytest.importorskip("time_machine", reason="time-machine is not installed")

from timenav.adapters.time_machine import follow


@pytest.fixture
def clock(client: timenav.Client, timeline: str) -> Iterator[TestClock]:
    with client.virtual_clock(timeline, lost_after=0.1) as clock:
        yield TestClock(client, clock, timeline)


def test_program_time_follows_the_clock(clock: TestClock) -> None:
    clock.pause()
    clock.travel("2028-02-29T09:00:00.25Z")
    with follow(clock.clock):
        assert datetime.now(timezone.utc) == datetime(2028, 2, 29, 9, 0, 0, 250_000, timezone.utc)
        assert (date.today(), time.time()) == (date(2028, 2, 29), 1_835_427_600.25)
        later = uuid.uuid1()
        clock.rewind("2d")
        assert date.today() == date(2028, 2, 27)
        assert uuid.uuid1().time < later.time
        clock.set_rate(100_000)
        clock.resume()
        first = time.time()
        time.sleep(0.02)
        assert time.time() - first > 1_000
    assert time.time() < 1_835_000_000


def test_program_time_fails_while_the_clock_is_stale(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        Service() as service,
        service.client() as client,
        client.virtual_clock(lost_after=0.05) as clock,
        follow(clock),
    ):
        service.kill()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                time.time()
            except timenav.ClockStaleError:
                break
        else:
            pytest.fail("the time was readable while the clock was stale")
        # The thread that updates the clock keeps running, because it logs with host time.
        assert clock.thread.is_alive()
