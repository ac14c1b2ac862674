"""Watches of firings and due events, with a real service and a stub server."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import pytest

import timenav
from timenav import DueRange, FiringUpdate, Gap
from timenav.testing import Service

from .stub_server import StubResponse, StubServer

KEY = "tnk_000000000000000000000000000000000000"
START = "2027-01-01T00:00:00Z"
TIMEOUT = 60.0


@pytest.fixture
def paused_timeline(client: timenav.Client, timeline: str) -> str:
    """A timeline with a paused clock."""
    client.pause_time(timeline_id=timeline)
    client.travel(destination_time=START, timeline_id=timeline)
    return timeline


def summary_of(update: FiringUpdate | DueRange | Gap) -> Any:
    if isinstance(update, Gap):
        return "reset" if update.is_reset else "gap"
    if isinstance(update, DueRange):
        assert update.time_range == f"{update.first}/{update.last}"
        return str(update.first), str(update.last)
    return update.firing.change, update.firing.timer_id


def take(watch: timenav.Watch[Any], count: int) -> list[Any]:
    return [summary_of(update) for update in islice(watch, count)]


def record(client: timenav.Client, timeline: str, *days: int) -> None:
    events = [{"time": f"2027-01-{day:02}T00:00:00Z", "description": f"Day {day}"} for day in days]
    client.record_events(events, timeline_id=timeline)  # type: ignore[arg-type]


def test_watch_reports_firings_of_a_queue_without_claiming_them(client: timenav.Client, paused_timeline: str) -> None:
    with (
        client.watch_firings("billing", timeline_id=paused_timeline) as watch,
        client.watch_firings(timeline_id=paused_timeline) as watch_all,
    ):
        assert watch.last_id == ""
        for timer_id, queue in (("other", "default"), ("renew", "billing")):
            deliver: Any = {"to": "queue", "queue": queue}
            client.set_timer(timeline_id=paused_timeline, timer_id=timer_id, at="2027-01-02T00:00:00Z", deliver=deliver)
        client.fast_forward(duration="2d", wait_for_timers=False, timeline_id=paused_timeline)
        offered = next(watch)
        assert isinstance(offered, FiringUpdate)
        firing = offered.firing
        assert (summary_of(offered), str(firing.due), firing.queue) == (
            ("offered", "renew"),
            "2027-01-02T00:00:00Z",
            "billing",
        )
        assert (firing.claimed_by, firing.attempt, firing.leased_until) == (None, None, None)
        assert (offered.timeline_id, watch.last_id) == (paused_timeline, offered.id)
        claimed = client.claim_firings("billing", timeline_id=paused_timeline)["firings"]
        leased = next(watch)
        assert isinstance(leased, FiringUpdate)
        assert (summary_of(leased), leased.firing.claimed_by, leased.firing.attempt) == (
            ("leased", "renew"),
            "admin",
            1,
        )
        assert str(leased.firing.leased_until) == claimed[0]["leased_until"]
        client.fail_firings(firing_ids=[firing.firing_id], reason="declined", timeline_id=paused_timeline)
        assert take(watch, 1) == [("tried_again", "renew")]
        client.acknowledge_firings(firing_ids=[firing.firing_id], timeline_id=paused_timeline)
        assert take(watch, 1) == [("acknowledged", "renew")]
        assert {("offered", "other"), ("offered", "renew")} == set(take(watch_all, 2))
    # A resumed watch reports missed changes, and a gap, because claims may be missing.
    with client.watch_firings("billing", timeline_id=paused_timeline, last_event_id=offered.id) as again:
        assert take(again, 2) == ["gap", ("acknowledged", "renew")]


def test_watch_due_reports_passed_ranges_with_events(client: timenav.Client, paused_timeline: str) -> None:
    record(client, paused_timeline, 2, 3, 20)
    with client.watch_due(timeline_id=paused_timeline) as watch:
        client.fast_forward(duration="5d", timeline_id=paused_timeline)
        passed = next(watch)
        assert isinstance(passed, DueRange)
        assert summary_of(passed) == ("2027-01-01T00:00:00.000001Z", "2027-01-06T00:00:00Z")
        found = client.monitor_events(location="*", time_range=passed.time_range, timeline_id=paused_timeline)["events"]
        assert [event["time"] for event in found] == ["2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z"]
        client.rewind(duration="4d", timeline_id=paused_timeline)
        client.fast_forward(duration="2d", timeline_id=paused_timeline)
        assert take(watch, 1) == [("2027-01-02T00:00:00.000001Z", "2027-01-04T00:00:00Z")]
        last_id = watch.last_id
    client.fast_forward(duration="P1M", timeline_id=paused_timeline)
    with client.watch_due(timeline_id=paused_timeline, last_event_id=last_id) as again:
        assert take(again, 1) == [("2027-01-04T00:00:00.000001Z", "2027-02-04T00:00:00Z")]


def test_watch_reconnects_after_a_restart_of_the_service() -> None:
    with Service() as service, service.client() as client:
        client.pause_time()
        client.travel(destination_time=START)
        record(client, "main", 2, 4)
        with client.watch_firings("default") as firings, client.watch_due() as due, ThreadPoolExecutor() as threads:
            client.set_timer(timer_id="before", at=START)
            client.fast_forward(duration="36h")
            assert take(firings, 1) == [("offered", "before")]
            assert take(due, 1) == [("2027-01-01T00:00:00.000001Z", "2027-01-02T12:00:00Z")]
            waiting = threads.submit(take, firings, 2), threads.submit(take, due, 1)
            service.kill()
            service.start()
            client.set_timer(timer_id="after", at=START)
            client.fast_forward(duration="3d")
            assert waiting[0].result(TIMEOUT) == ["gap", ("offered", "after")]
            assert waiting[1].result(TIMEOUT) == [("2027-01-02T12:00:00.000001Z", "2027-01-05T12:00:00Z")]


def test_close_from_any_thread_ends_the_watch(client: timenav.Client, paused_timeline: str) -> None:
    watch = client.watch_firings(timeline_id=paused_timeline)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(list, watch)
        time.sleep(0.05)
        watch.close()
        assert waiting.result(TIMEOUT) == []
    assert list(watch) == []
    # After the iterating thread closes the watch, it returns no message.
    client.set_timer(timeline_id=paused_timeline, timer_id="one", at=START)
    client.set_timer(timeline_id=paused_timeline, timer_id="two", at=START)
    seen = []
    with client.watch_firings(timeline_id=paused_timeline, last_event_id="0") as within:
        for update in within:
            seen.append(summary_of(update))
            within.close()
    assert seen == ["gap"]
    # A watch can be closed before the first read, and twice.
    unread = client.watch_due(timeline_id=paused_timeline)
    unread.close()
    unread.close()
    assert list(unread) == []


def test_watch_raises_after_permission_is_revoked(
    service: Service, client: timenav.Client, paused_timeline: str
) -> None:
    with pytest.raises(timenav.ApiError) as raised:
        client.watch_firings("no queue", timeline_id=paused_timeline)
    assert raised.value.code == "invalid_parameter"
    with pytest.raises(timenav.ApiError):
        client.watch_due(timeline_id="no-such-timeline")
    key = client.create_api_key(timeline_id=paused_timeline)
    with (
        timenav.Client(base_url=service.base_url, api_key=key["api_key"], timeline_id=paused_timeline) as restricted,
        restricted.watch_firings() as watch,
    ):
        client.revoke_api_key(key["key_id"])
        with pytest.raises(timenav.ApiError) as raised:
            next(watch)
        assert raised.value.http_status == 401
        assert list(watch) == []


MESSAGE = (
    'event: due\nid: 7@1\ndata: {"timeline_id":"t","position":7,"due":{"from":"%s","to":"%s","time_range":"%s/%s"}}\n\n'
)
DUE = MESSAGE % (START, START, START, START)
RESPONSES: list[StubResponse] = [
    "",
    (503, {"Retry-After": "0"}),
    "drop",
    f"event: later\nid: 6\ndata: {{}}\n\n{DUE}id: 9@2\n\n",
    "event: reset\nid: 12\ndata: {}\n\n",
    (404, {}),
]


def stub_for(responses: list[StubResponse]) -> Iterator[tuple[StubServer, timenav.Client]]:
    with StubServer() as stub, timenav.Client(base_url=stub.url, api_key=KEY) as client:
        stub.responses = list(responses)
        yield stub, client


def test_watch_resumes_after_the_newest_id_or_reports_a_reset() -> None:
    for stub, client in stub_for(RESPONSES):
        watch = client.watch_due()
        # Without an id, changes since the loss are missing. Messages of unknown kinds are skipped.
        assert take(watch, 3) == ["reset", (START, START), "reset"]
        with pytest.raises(timenav.ApiError):
            next(watch)
        assert list(watch) == []
        last_ids = [headers.get("Last-Event-ID") for _, headers in stub.requests]
        assert last_ids == [None, None, None, None, "9@2", "12"]
    for _, client in stub_for(["event: due\nid: 1\ndata: {}\n\n"]):
        with pytest.raises(timenav.TimenavError, match="not from a timenav service"):
            next(client.watch_due())


def test_async_watch_reports_and_resumes(service: Service, client: timenav.Client, paused_timeline: str) -> None:
    record(client, paused_timeline, 2)

    async def main() -> list[Any]:
        seen: list[Any] = []
        async with timenav.AsyncClient(
            base_url=service.base_url, api_key=service.api_key, timeline_id=paused_timeline
        ) as own:
            async with own.watch_firings("default") as firings, own.watch_due() as due:
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(firings), 0.05)
                # The next wait returns the message of the canceled one.
                await own.set_timer(timer_id="one", at=START)
                await own.fast_forward(duration="2d")
                seen += [summary_of(await anext(firings)), summary_of(await anext(due))]
                last_id = firings.last_id
                waiting = asyncio.create_task(_drain(firings))
                await asyncio.sleep(0.05)
                await firings.aclose()
                seen.append(await waiting)
            async with own.watch_firings(last_event_id=last_id) as again:
                async for update in again:
                    seen.append(summary_of(update))
                    await again.aclose()
            with pytest.raises(timenav.ApiError):
                await own.watch_firings("no queue").open()
        return seen

    passed = ("2027-01-01T00:00:00.000001Z", "2027-01-03T00:00:00Z")
    assert asyncio.run(main()) == [("offered", "one"), passed, [], "gap"]

    async def watch_stub() -> None:
        with StubServer() as stub:
            stub.responses = list(RESPONSES)
            async with timenav.AsyncClient(base_url=stub.url, api_key=KEY) as own, own.watch_due() as watch:
                assert [summary_of(await anext(watch)) for _ in range(3)] == ["reset", (START, START), "reset"]
                with pytest.raises(timenav.ApiError):
                    await anext(watch)
                assert await _drain(watch) == []
            assert [headers.get("Last-Event-ID") for _, headers in stub.requests][3:] == [None, "9@2", "12"]

    asyncio.run(watch_stub())


async def _drain(watch: timenav.AsyncWatch[Any]) -> list[Any]:
    return [summary_of(update) async for update in watch]


def test_watch_starts_no_thread(client: timenav.Client, paused_timeline: str) -> None:
    before = threading.active_count()
    with client.watch_firings(timeline_id=paused_timeline):
        assert threading.active_count() == before
