"""Listeners and advances, with a real service."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import timenav
from timenav import Firing, Instant
from timenav.testing import Service, TestClock

from .stub_server import StubServer

KEY = "tnk_000000000000000000000000000000000000"
TIMEOUT = 60.0
START = "2027-01-31T09:00:00Z"


@pytest.fixture
def clock(client: timenav.Client, timeline: str) -> Iterator[TestClock]:
    """A paused clock, and a timer that fires every day."""
    with client.virtual_clock(timeline) as clock:
        controls = TestClock(client, clock, timeline)
        controls.pause()
        controls.travel(START)
        rule: timenav.schemas.EveryRequest = {"rule": "FREQ=DAILY", "starts": "2027-02-01T09:00:00Z"}
        client.set_timer(timeline_id=timeline, timer_id="daily", every=rule, payload={"invoice": 42})
        yield controls


def test_handler_receives_all_firings_of_a_month(clock: TestClock) -> None:
    seen: list[Firing[timenav.Client]] = []

    def handler(firing: Firing[timenav.Client]) -> None:
        seen.append(firing)
        assert str(clock.client.clock(timeline_id=clock.timeline_id)["current_time"]) == str(firing.clock.now())

    with clock.on("default", handler) as listener:
        was_running = listener.is_running
        receipt = clock.advance("P28D")
        # The receipt counts the handled firings, and this clock shows the progress of the advance.
        assert str(clock.now()) == str(receipt.reached) == str(receipt.to) == "2027-02-28T09:00:00Z"
    assert (receipt.state, receipt.fired, receipt.acknowledged, receipt.failed, receipt.unacknowledged) == (
        "settled",
        28,
        28,
        0,
        0,
    )
    assert [firing["timer_id"] for firing in receipt.firings] == ["daily"] * 28
    assert [str(firing.due) for firing in seen[:2]] == ["2027-02-01T09:00:00Z", "2027-02-02T09:00:00Z"]
    assert (seen[0].payload, seen[0].attempt, seen[0].step, seen[27].step) == ({"invoice": 42}, 1, 1, 28)
    assert len({firing.id for firing in seen}) == 28
    assert (was_running, listener.is_running) == (True, False)
    listener.join(timeout=0.0)


def test_advance_without_timers_has_a_receipt(client: timenav.Client, timeline: str) -> None:
    client.pause_time(timeline_id=timeline)
    receipt = client.advance(to="2030-01-01T00:00:00Z", timeline_id=timeline)
    assert (receipt.state, receipt.fired, receipt.advance_id) == ("settled", 0, None)
    moved = client.advance(timedelta(days=1), timeline_id=timeline)
    assert str(moved.reached) == "2030-01-02T00:00:00Z"
    with pytest.raises(ValueError, match="pass either"):
        client.advance("1d", to="2031-01-01T00:00:00Z")
    with pytest.raises(ValueError, match="pass either"):
        client.advance()
    with pytest.raises(timenav.ApiError, match="no_armed_timers"):
        client.advance_to_next(timeline_id=timeline)
    client.set_timer(at="2030-02-01T00:00:00Z", timeline_id=timeline)
    assert client.advance_to_next(timeline_id=timeline).get("new_time") == "2030-02-01T00:00:00Z"
    until = client.advance_to_next(until="2030-03-01T00:00:00Z", timeline_id=timeline)
    assert (until.get("new_time"), until.get("receipt")) == ("2030-03-01T00:00:00Z", None)


def test_handler_cannot_wait_past_its_due_time(clock: TestClock) -> None:
    caught: list[Exception] = []

    def handler(firing: Firing[timenav.Client]) -> None:
        assert firing.clock.until(firing.due) == firing.clock.sleep(0) == firing.due
        assert firing.clock.time() == firing.due.timestamp()
        for act in (
            lambda: firing.clock.until("2027-02-01T09:00:01Z"),
            lambda: firing.clock.sleep(timedelta(seconds=1)),
            lambda: firing.client.fast_forward(duration="1h", timeline_id=firing.timeline_id),
        ):
            try:
                act()
            except timenav.TimenavError as error:
                caught.append(error)

    with clock.on("default", handler):
        clock.advance("1d")
    beyond, asleep, inside = caught
    assert isinstance(beyond, timenav.WaitPastFiringError)
    assert isinstance(asleep, timenav.WaitPastFiringError)
    assert "set a timer" in str(beyond)
    assert isinstance(inside, timenav.ApiError)
    assert inside.code == "reentrant_clock_change"


def test_failed_firing_is_retried_and_reports_its_reason(clock: TestClock) -> None:
    attempts: list[int] = []

    def handler(firing: Firing[timenav.Client]) -> None:
        attempts.append(firing.attempt)
        if firing.due < Instant.parse("2027-02-02T00:00:00Z") or firing.attempt == 1:
            raise RuntimeError("the card was declined 💳" + "é" * 2_000)

    with clock.on("default", handler):
        receipt = clock.advance("2d", allow_failed_firings=True)
    assert (receipt.fired, receipt.acknowledged, receipt.failed) == (2, 1, 1)
    assert attempts == [1, 2, 3, 1, 2]
    assert (receipt.firings[0].get("reason") or "").startswith("RuntimeError: the card was declined")
    # With `allow_failed_firings`, the failure counts as handled, so `raise_failure` does not raise it.
    clock.raise_failure()


def test_advance_with_failed_firing_raises(clock: TestClock) -> None:
    def handler(_: Firing[timenav.Client]) -> None:
        raise RuntimeError("the card was declined")

    client, timeline = clock.client, clock.timeline_id
    with client.on("default", handler, timeline_id=timeline):
        with pytest.raises(timenav.FiringsFailedError) as failed:
            client.advance("2d", timeline_id=timeline)
        receipt = client.advance("1d", timeline_id=timeline, allow_failed_firings=True)
    assert (receipt.fired, receipt.failed) == (1, 1)
    assert (failed.value.receipt.fired, failed.value.receipt.failed) == (2, 2)
    message = "2 of 2 firings failed: daily at 2027-02-01T09:00:00Z: RuntimeError: the card was declined"
    assert str(failed.value) == message
    again = pickle.loads(pickle.dumps(failed.value))  # noqa: S301 - pickled on this line
    assert (str(again), again.receipt.failed) == (message, 2)
    # If a handler raises a `BaseException`, the failure is reported at once, before the lease expires.
    handler_fails = client.on("default", lambda _: pytest.fail("declined"), timeline_id=timeline)
    with handler_fails, pytest.raises(timenav.FiringsFailedError, match="declined"):
        client.advance("1d", timeline_id=timeline)


@pytest.mark.parametrize("move", ["advance", "travel", "fast_forward"])
def test_control_raises_the_exception_of_the_handler(clock: TestClock, move: str) -> None:
    def handler(firing: Firing[timenav.Client]) -> None:
        if firing.attempt == 1:
            raise RuntimeError("tried again")
        # Not an `Exception`, like those that pytest raises.
        pytest.fail("the card was declined")

    with clock.on("default", handler), pytest.raises(pytest.fail.Exception, match="the card was declined"):
        getattr(clock, move)("2027-02-01T09:00:00Z" if move == "travel" else "1d")
    clock.raise_failure()


def test_unraised_handler_exception_is_raised_by_raise_failure(clock: TestClock) -> None:
    failed = threading.Event()

    def handler(_: Firing[timenav.Client]) -> None:
        try:
            raise RuntimeError("the card was declined")
        finally:
            failed.set()

    client, timeline = clock.client, clock.timeline_id
    with clock.on("default", handler):
        client.travel(destination_time="2027-02-01T09:00:00Z", timeline_id=timeline, wait_for_timers=False)
        assert failed.wait(TIMEOUT)
    with pytest.raises(RuntimeError, match="the card was declined"):
        clock.raise_failure()
    clock.raise_failure()


def test_lease_is_extended_while_the_handler_runs(clock: TestClock) -> None:
    attempts: list[int] = []

    def handler(firing: Firing[timenav.Client]) -> None:
        attempts.append(firing.attempt)
        # Three times the lease: without extensions, another worker would get the firing.
        time.sleep(3)

    with (
        clock.client.on("default", handler, timeline_id=clock.timeline_id, ack_timeout=1),
        clock.client.on("default", handler, timeline_id=clock.timeline_id, ack_timeout=1),
    ):
        assert clock.advance("1d").acknowledged == 1
    assert attempts == [1]


def test_handlers_run_in_parallel_unless_they_share_an_order_key(clock: TestClock) -> None:
    at = "2027-01-31T10:00:00Z"
    for number in range(3):
        clock.client.set_timer(timeline_id=clock.timeline_id, at=at, payload=number, order_key="one")
    barrier = threading.Barrier(2, timeout=TIMEOUT)
    for number in (3, 4):
        clock.client.set_timer(timeline_id=clock.timeline_id, at=at, payload=number)
    done: list[int] = []

    def handler(firing: Firing[timenav.Client]) -> None:
        if firing.payload > 2:
            barrier.wait()
        done.append(firing.payload)

    with clock.client.on("default", handler, timeline_id=clock.timeline_id, concurrency=3):
        assert clock.advance("1h").acknowledged == 5
    assert [number for number in done if number < 3] == [0, 1, 2]
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_advance_waits_for_all_firings_of_a_slow_handler(clock: TestClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timenav._listener.IDLE_CLAIM_MICROS", 0)
    done: list[Any] = []
    for number in range(4):
        clock.client.set_timer(timeline_id=clock.timeline_id, at="2027-01-31T10:00:00Z", payload=number)
    with clock.on("default", lambda firing: done.append(firing.payload)):
        receipt = clock.advance("1h")
    assert (receipt.acknowledged, receipt.unacknowledged) == (4, 0)
    assert sorted(done) == [0, 1, 2, 3]


def test_close_waits_for_handlers_and_stops_claiming(clock: TestClock) -> None:
    started, release = threading.Event(), threading.Event()

    def handler(_: Firing[timenav.Client]) -> None:
        started.set()
        assert release.wait(TIMEOUT)

    listener = clock.on("default", handler)
    with ThreadPoolExecutor() as threads:
        advancing = threads.submit(clock.advance, "1d")
        assert started.wait(TIMEOUT)
        closing = threads.submit(listener.close)
        with pytest.raises(TimeoutError):
            listener.join(timeout=0.1)
        assert not closing.done()
        release.set()
        closing.result(TIMEOUT)
        assert advancing.result(TIMEOUT).acknowledged == 1
    # A handler that closes its own listener must not wait for itself.
    closed = clock.on("default", lambda _: closed.close())
    assert clock.advance("1d").acknowledged == 1
    closed.join(timeout=TIMEOUT)
    # An idle listener closes at once. It does not wait for its claim, which takes twenty seconds.
    idle = clock.on("default", handler)
    before = time.monotonic()
    idle.close()
    assert time.monotonic() - before < 15


def test_stopped_advance_raises_with_receipt(clock: TestClock) -> None:
    def handler(_: Firing[timenav.Client]) -> None:
        clock.client.pause_time(timeline_id=clock.timeline_id)

    with clock.on("default", handler), pytest.raises(timenav.NotSettledError) as raised:
        clock.advance("2d")
    receipt = raised.value.receipt
    assert (receipt.state, str(receipt.reached)) == ("stopped", "2027-02-01T09:00:00Z")
    assert "2027-02-01T09:00:00Z" in str(raised.value)


def test_advance_continues_after_the_timeout_of_its_caller(clock: TestClock) -> None:
    release = threading.Event()
    with clock.on("default", lambda _: release.wait(TIMEOUT)):
        with pytest.raises(TimeoutError, match="advance_"):
            clock.client.advance("1d", timeline_id=clock.timeline_id, timeout=0.2)
        release.set()
        clock.until("2027-02-01T09:00:00Z", timeout=TIMEOUT)


def test_advance_with_lost_response_is_retried_with_the_same_key() -> None:
    settled = {
        "state": "running",
        "advance_id": "advance_1",
        "timeline_id": "main",
        "from": START,
        "to": START,
        "reached": START,
        "step": 1,
        "fired": 1,
        "acknowledged": 0,
        "failed": 0,
        "unacknowledged": 0,
        "firings": [],
    }
    done = {**settled, "state": "settled", "acknowledged": 1}
    with (
        StubServer() as stub,
        timenav.Client(base_url=stub.url, api_key=KEY, retries=timenav.RetryPolicy(attempts=1)) as client,
    ):
        stub.responses = [
            *["drop"] * 5,
            (200, {"timeline_id": "main", "current_time": START, "receipt": settled}),
            "drop",
            (200, {"receipt": settled}),
            (200, {"receipt": done}),
        ]
        assert client.advance("1d").acknowledged == 1
    keys = [headers.get("Idempotency-Key") for path, headers in stub.requests if path == "/v1/fast-forward"]
    assert len(keys) == 6
    assert len(set(keys)) == 1
    assert {path.split("?")[0] for path, _ in stub.requests[6:]} == {"/v1/advances/advance_1"}


class _OverlapStub:
    """Delivers one firing, and responds to its acknowledgment only after the next claim has arrived."""

    def __init__(self, stub: StubServer) -> None:
        self.timed_out: list[str] = []
        self._claims = 0
        self._claimed = threading.Event()
        self._settled = threading.Event()
        stub.respond = self._respond

    def wait(self) -> bool:
        return self._claimed.wait(TIMEOUT) and self._settled.wait(TIMEOUT)

    def _respond(self, path: str) -> tuple[int, dict[str, Any]]:
        is_claim = path.endswith("/claim")
        self._claims += is_claim
        if is_claim and self._claims == 1:
            firing = {
                "firing_id": "firing_1",
                "timer_id": "daily",
                "timeline_id": "main",
                "due": START,
                "round": 0,
                "generation": 1,
                "step": 1,
                "attempt": 1,
                "lease_id": "lease_1",
                "payload": None,
                "leased_until": START,
            }
            return (200, {"firings": [firing]})
        arrived, awaited = (self._claimed, self._settled) if is_claim else (self._settled, self._claimed)
        arrived.set()
        if not awaited.wait(TIMEOUT / 6):
            self.timed_out.append(path)
        return (200, {"firings": []})


@pytest.mark.parametrize("concurrency", [1, 2])
def test_next_firing_is_claimed_while_an_outcome_is_reported(concurrency: int) -> None:
    with StubServer() as stub, timenav.Client(base_url=stub.url, api_key=KEY) as client:
        overlap = _OverlapStub(stub)
        with client.on("default", lambda _: time.sleep(0.05), concurrency=concurrency):
            assert overlap.wait()
        assert overlap.timed_out == [], "a claim and an acknowledgment did not overlap"


@pytest.mark.parametrize("concurrency", [1, 2])
def test_async_listener_claims_the_next_firing_while_an_outcome_is_reported(concurrency: int) -> None:
    async def handler(_: Firing[timenav.AsyncClient]) -> None:
        await asyncio.sleep(0.05)

    async def listen(url: str, overlap: _OverlapStub) -> None:
        async with (
            timenav.AsyncClient(base_url=url, api_key=KEY) as client,
            client.on("default", handler, concurrency=concurrency),
        ):
            assert await asyncio.to_thread(overlap.wait)

    with StubServer() as stub:
        overlap = _OverlapStub(stub)
        asyncio.run(listen(stub.url, overlap))
        assert overlap.timed_out == [], "a claim and an acknowledgment did not overlap"


def test_listener_reconnects_after_a_restart_of_the_service() -> None:
    fired = threading.Event()
    with Service() as service, service.client() as client:
        client.pause_time()
        client.travel(destination_time=START)
        with client.on("default", lambda _: fired.set()):
            service.kill()
            service.start()
            client.set_timer(at=START)
            assert fired.wait(TIMEOUT)
            # The advance ignores this firing, because the clock has already passed it.
            assert client.advance("1d").fired == 0


def test_listener_raises_if_it_may_not_claim(service: Service, client: timenav.Client, timeline: str) -> None:
    with pytest.raises(timenav.ApiError):
        client.on("default", print, timeline_id="no-such-timeline")
    with pytest.raises(ValueError, match="ack_timeout"):
        client.on("default", print, ack_timeout=0.5)
    with pytest.raises(ValueError, match="concurrency"):
        client.on("default", print, concurrency=0)
    key = client.create_api_key(timeline_id=timeline)
    with timenav.Client(base_url=service.base_url, api_key=key["api_key"], timeline_id=timeline) as restricted:
        listener = restricted.on("default", print)
        client.revoke_api_key(key["key_id"])
        # The timer ends the pending claim, whose response reports the revocation.
        client.set_timer(timeline_id=timeline, at="2000-01-01T00:00:00Z")
        with pytest.raises(timenav.ApiError):
            listener.join(timeout=TIMEOUT)
        with pytest.raises(timenav.ApiError), listener:
            pass


def test_async_listener_and_advance(service: Service, clock: TestClock) -> None:
    async def main() -> list[Any]:
        seen: list[Any] = []
        running = 0

        async def handler(firing: Firing[timenav.AsyncClient]) -> None:
            nonlocal running
            running += 1
            await asyncio.sleep(0.01)
            seen.append((str(firing.due), firing.attempt, running))
            running -= 1
            try:
                await firing.client.fast_forward(duration="1h")
            except timenav.ApiError as problem:
                seen.append(problem.code)
            if firing.attempt == 1:
                raise RuntimeError("not yet")

        async with timenav.AsyncClient(
            base_url=service.base_url, api_key=service.api_key, timeline_id=clock.timeline_id
        ) as client:
            async with client.on("default", handler) as listener:
                receipt = await client.advance("2d")
                assert listener.is_running
                await client.set_timer(at="2027-02-02T10:00:00Z", deliver={"to": "queue", "queue": "pausing"})
                async with client.on("pausing", lambda firing: firing.client.pause_time()):
                    with pytest.raises(timenav.NotSettledError):
                        await client.advance(to="2027-02-02T11:00:00Z")
            await listener.join()
            async with client.on("default", lambda _: pytest.fail("declined")):
                with pytest.raises(timenav.FiringsFailedError, match="declined"):
                    await client.advance(to="2027-02-03T12:00:00Z")
                assert (await client.advance(to="2027-02-04T12:00:00Z", allow_failed_firings=True)).failed == 1
            with pytest.raises(timenav.ApiError):
                await client.on("default", handler, timeline_id="no-such-timeline").start()
        return [(receipt.fired, receipt.acknowledged, receipt.state), *seen]

    first, second = "2027-02-01T09:00:00Z", "2027-02-02T09:00:00Z"
    assert asyncio.run(main()) == [
        (2, 2, "settled"),
        *(
            step
            for due in (first, second)
            for attempt in (1, 2)
            for step in ((due, attempt, 1), "reentrant_clock_change")
        ),
    ]
