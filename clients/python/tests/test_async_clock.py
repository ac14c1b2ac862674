"""A virtual clock with a real service, for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

import timenav
from timenav import ClockChange, Instant
from timenav.testing import Service

TIMEOUT = 120.0


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        await asyncio.sleep(0.005)


def test_async_clock_follows_changes_and_wakes_waits(service: Service, timeline: str) -> None:
    async def main() -> None:
        changes: list[ClockChange] = []
        awaited: list[int] = []

        async def listener(change: ClockChange) -> None:
            await asyncio.sleep(0)
            awaited.append(change.after.generation)

        async with (
            timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key, timeline_id=timeline) as client,
            client.virtual_clock() as clock,
        ):
            clock.on_change(changes.append)
            clock.on_jump(listener)
            await client.pause_time()
            moved = await client.travel(destination_time="2028-02-29T09:00:00Z")
            reading = await clock.until_generation(moved["generation"], timeout=TIMEOUT)
            assert str(reading.now) == "2028-02-29T09:00:00Z"
            waiting = asyncio.create_task(clock.until("2028-02-29T10:00:00Z", timeout=TIMEOUT))
            await asyncio.sleep(0.05)
            await client.rewind(duration="1d")
            await client.resume_time()
            assert not waiting.done()
            await client.set_rate(rate=1_000_000)
            assert (await waiting).now >= Instant.parse("2028-02-29T10:00:00Z")
            await clock.sleep(1_000)
            await client.pause_time()
            await eventually(lambda: not clock.is_running)
            with pytest.raises(TimeoutError):
                await clock.sleep(1, timeout=0.05)
            waiting = asyncio.create_task(clock.until("2999-01-01T00:00:00Z"))
            await eventually(lambda: len(changes) == 6)
            await eventually(lambda: awaited == [2, 3])
        with pytest.raises(timenav.ClockClosedError):
            await waiting
        with pytest.raises(timenav.ClockClosedError):
            clock.now()

    asyncio.run(main())


def test_stale_async_clock_fails_and_recovers() -> None:
    async def main(service: Service) -> None:
        async with (
            timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client,
            client.virtual_clock(lost_after=0.1) as clock,
        ):
            service.kill()
            await eventually(lambda: not clock.is_connected)
            await asyncio.sleep(0.15)
            with pytest.raises(timenav.ClockStaleError):
                clock.now()
            service.start()
            await eventually(lambda: clock.is_connected)
            before = clock.now()
            await client.travel(destination_time="2000-01-01T00:00:00Z")
            await eventually(lambda: clock.now() < before)

    with Service() as service:
        asyncio.run(main(service))


def test_unavailable_async_clock_fails_at_once(service: Service) -> None:
    async def main() -> None:
        async with timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            with pytest.raises(timenav.ApiError):
                await client.virtual_clock("no-such-timeline").open()
        async with timenav.AsyncClient(base_url="http://127.0.0.1:9", api_key="tnk_x") as client:
            with pytest.raises(timenav.ApiConnectionError):
                await client.virtual_clock(timeout=0.3).open()

    asyncio.run(main())


def test_change_waits_for_an_async_follower(service: Service, timeline: str) -> None:
    async def main() -> None:
        async with (
            timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key, timeline_id=timeline) as client,
            client.virtual_clock(follow="web") as clock,
        ):
            await client.pause_time()
            for moment in ("2031-05-06T00:00:00Z", "1969-07-20T00:00:00Z"):
                response = await client.travel(destination_time=moment, followers=["web"], wait="10m")
                followers = response["followers"]
                assert followers is not None, response
                assert followers["state"] == "confirmed", response
                assert str(clock.now()) == moment

    asyncio.run(main())
