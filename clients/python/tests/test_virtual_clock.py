"""A virtual clock with a real service, for threads."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import timenav
from timenav import ClockChange, ClockState, Instant
from timenav.testing import Service, TestClock

TIMEOUT = 120.0


@pytest.fixture
def clock(client: timenav.Client, timeline: str) -> Iterator[TestClock]:
    with client.virtual_clock(timeline, lost_after=0.2) as clock:
        yield TestClock(client, clock, timeline)


@pytest.fixture
def own_service() -> Iterator[Service]:
    """A service that the test may stop."""
    with Service() as service:
        yield service


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.005)


def test_clock_matches_the_service(clock: TestClock) -> None:
    for rate in (1.0, 0.5, 1_000.0):
        clock.set_rate(rate)
        before = clock.now()
        service_time = Instant.parse(clock.client.clock(timeline_id=clock.timeline_id)["current_time"])
        after = clock.clock.reading()
        # The clock is never ahead of the service, and lags by no more than its uncertainty.
        assert before <= service_time
        assert after.uncertainty_micros is not None
        assert service_time.micros <= after.now.micros + after.uncertainty_micros


def test_clock_is_never_ahead_and_is_monotonic(clock: TestClock) -> None:
    readings = [clock.now() for _ in range(2_000)]
    assert readings == sorted(readings)


def test_read_sends_no_request(clock: TestClock, client: timenav.Client) -> None:
    size = client.checkpoint(clock.timeline_id)["size"]
    for _ in range(1_000):
        clock.now()
    assert client.checkpoint(clock.timeline_id)["size"] == size + 1


def test_clock_computes_the_same_readings_as_the_service(clock: TestClock) -> None:
    # Each pause, resume and rate change starts at the reading of the service's clock at that microsecond.
    generator = random.Random(13)  # noqa: S311 - a fixed seed
    before: ClockState = clock.clock.state
    count = 0
    for _ in range(60):
        act = generator.choice(["pause", "resume", "rate", "travel"])
        if act == "travel":
            reading = clock.travel(Instant(generator.randrange(-60_000_000_000, 250_000_000_000) * 1_000_000))
        elif act == "rate":
            reading = clock.set_rate(round(10 ** generator.uniform(-6, 6), 6))
        else:
            reading = getattr(clock, act)()
        state = reading.state
        if act != "travel" and state.generation != before.generation:
            assert before.at(state.origin_host.micros) == state.origin_virtual
            count += 1
        before = state
    assert count > 15


def test_changes_and_jumps_are_reported_in_order(clock: TestClock) -> None:
    changes: list[ClockChange] = []
    jumps: list[int] = []
    clock.clock.on_change(lambda _: [][1])
    clock.clock.on_change(changes.append)
    remove = clock.clock.on_jump(lambda change: jumps.append(change.jump_micros))
    clock.pause()
    clock.fast_forward("1h")
    clock.set_rate(60)
    clock.rewind("2h")
    remove()
    clock.fast_forward("1d")
    eventually(lambda: len(changes) == 5)
    assert [change.after.generation for change in changes] == [1, 2, 3, 4, 5]
    assert jumps == [3_600_000_000, -7_200_000_000]


def test_wait_adapts_to_rate_changes_pauses_and_jumps(clock: TestClock) -> None:
    clock.pause()
    clock.travel("2028-02-29T09:00:00Z")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(clock.until, "2028-02-29T10:00:00Z", timeout=TIMEOUT)
        time.sleep(0.05)
        clock.rewind("1d")
        clock.resume()
        time.sleep(0.05)
        assert not waiting.done()
        clock.set_rate(100_000)
        reading = waiting.result(TIMEOUT)
    assert reading.now >= Instant.parse("2028-02-29T10:00:00Z")
    # At this rate, ten days take nine seconds.
    assert reading.now < Instant.parse("2028-03-10T10:00:00Z")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(clock.until, "2060-01-01T00:00:00Z", timeout=TIMEOUT)
        clock.travel("2061-01-01T00:00:00Z")
        assert waiting.result(TIMEOUT).now >= Instant.parse("2061-01-01T00:00:00Z")


def test_wait_on_a_paused_clock_times_out(clock: TestClock) -> None:
    clock.pause()
    with pytest.raises(TimeoutError, match="in time"):
        clock.sleep(1, timeout=0.05)
    assert clock.sleep(0).now == clock.now()


def test_sleep_takes_virtual_time(clock: TestClock) -> None:
    clock.set_rate(100)
    start = time.monotonic()
    clock.sleep(10)
    assert 0.09 < time.monotonic() - start < TIMEOUT


def test_clock_supports_years_outside_datetime(clock: TestClock) -> None:
    clock.travel("-000043-03-15T12:00:00Z")
    assert str(clock.now()).startswith("-000043-03-15T12:00:0")
    with pytest.raises(timenav.DatetimeRangeError):
        clock.datetime()


def test_stale_clock_fails_and_recovers(own_service: Service) -> None:
    with own_service.client() as client, client.virtual_clock(lost_after=0.1) as clock:
        client.set_rate(rate=2)
        client.travel(destination_time="2028-02-29T09:00:00Z")
        clock.until_generation(2, timeout=TIMEOUT)
        changes: list[int] = []
        clock.on_change(lambda change: changes.append(change.after.generation))
        own_service.kill()
        eventually(lambda: not clock.is_connected)
        time.sleep(0.15)
        with pytest.raises(timenav.ClockStaleError, match="lost_after"):
            clock.now()
        with pytest.raises(timenav.ClockStaleError):
            clock.until("2060-01-01T00:00:00Z", timeout=TIMEOUT)
        own_service.start()
        client.travel(destination_time="2030-01-01T00:00:00Z")
        client.pause_time()
        eventually(lambda: clock.is_connected)
        clock.until_generation(4, timeout=TIMEOUT)
        assert not clock.is_running
        # Each change made during the outage is reported once.
        assert changes == [3, 4]


def test_restart_without_changes_is_not_reported(own_service: Service) -> None:
    with own_service.client() as client, client.virtual_clock() as clock:
        changes: list[ClockChange] = []
        clock.on_change(changes.append)
        before = clock.now()
        own_service.terminate()
        eventually(lambda: not clock.is_connected)
        # Within `lost_after`, the clock remains readable.
        assert clock.now() > before
        own_service.start()
        eventually(lambda: clock.is_connected)
        assert clock.now() > before
        assert changes == []


def test_clock_ends_with_its_timeline(clock: TestClock, client: timenav.Client) -> None:
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(clock.until, "2060-01-01T00:00:00Z", timeout=TIMEOUT)
        client.end_timeline(clock.timeline_id)
        with pytest.raises((timenav.ClockAccessError, timenav.ClockStaleError)):
            waiting.result(TIMEOUT)
    eventually(lambda: isinstance(clock.clock._follower.end, timenav.ClockAccessError))
    with pytest.raises(timenav.ClockAccessError) as raised:
        clock.now()
    assert raised.value.problem.code == "timeline_ended"


def test_close_wakes_pending_waits(client: timenav.Client, timeline: str) -> None:
    clock = client.virtual_clock(timeline)
    thread = clock.thread
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(clock.until, "2060-01-01T00:00:00Z", timeout=TIMEOUT)
        time.sleep(0.02)
        clock.close()
        with pytest.raises(timenav.ClockClosedError):
            waiting.result(TIMEOUT)
    with pytest.raises(timenav.ClockClosedError):
        clock.now()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_unavailable_clock_fails_at_once(client: timenav.Client) -> None:
    with pytest.raises(timenav.ApiError) as raised:
        client.virtual_clock("no-such-timeline")
    assert raised.value.http_status == 404
    with pytest.raises(timenav.ApiConnectionError):
        timenav.Client(base_url="http://127.0.0.1:9", api_key="tnk_x").virtual_clock(timeout=0.3)
    with pytest.raises(ValueError, match="stale_after must be at least 20"):
        client.virtual_clock(stale_after=5)
    assert not [thread for thread in threading.enumerate() if thread.name == "timenav-clock" and thread.is_alive()]


def test_read_takes_microseconds(clock: TestClock) -> None:
    # CPU time does not depend on other load. A read takes about 5 microseconds.
    start = time.process_time()
    for _ in range(10_000):
        clock.now()
    assert time.process_time() - start < 2


def follower_states(client: timenav.Client, timeline: str) -> list[tuple[str, str]]:
    return [(follower["name"], follower["state"]) for follower in client.followers(timeline_id=timeline)["followers"]]


def test_change_waits_until_a_follower_shows_it(client: timenav.Client, timeline: str) -> None:
    client.pause_time(timeline_id=timeline)
    with client.virtual_clock(timeline, follow="web") as clock:
        changes: list[ClockChange] = []
        clock.on_change(changes.append)
        for day in ("2031-05-06", "1969-07-20", "2041-01-01"):
            moment = f"{day}T00:00:00Z"
            response = client.travel(destination_time=moment, followers="all", wait="10m", timeline_id=timeline)
            followers = response["followers"]
            assert followers is not None, response
            assert followers["state"] == "confirmed", response
            # No wait is needed: reads show a confirmed change, and its listeners have been called.
            assert str(clock.now()) == moment
            assert changes[-1].after.generation == response["generation"]
        assert follower_states(client, timeline) == [("web", "up_to_date")]
    eventually(lambda: follower_states(client, timeline) == [("web", "disconnected")])
