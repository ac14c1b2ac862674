"""The virtual clock for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import json
from datetime import timedelta
from types import TracebackType

import httpx

from ._clock_reads import ClockReads, as_timenav_error
from ._confirmer import AsyncConfirmer, confirmation
from ._errors import ApiError, TimenavError
from ._follower import ClockChange, Reading, StalenessBounds
from ._host_time import deadline_after, monotonic_micros
from ._http_pool import AsyncHttpPool
from ._instant import Instant, When
from ._retry import DELAY_FIRST, is_final, next_delay
from ._settings import Settings
from ._sse import EventReader
from ._transport import no_response, rejection


class AsyncVirtualClock(ClockReads):
    """The clock of a timeline. It subscribes once; reads then take no lock, request or `await`.

    Open it with `async with`. A background task reads the stream and calls the listeners, which may be coroutine
    functions.
    """

    def __init__(
        self,
        settings: Settings,
        timeline_id: str | None,
        bounds: StalenessBounds,
        timeout: float,
        follow: str | None = None,
    ) -> None:
        super().__init__(timeline_id, bounds, follow)
        self._settings = settings
        self._confirmer = AsyncConfirmer(settings)
        self._timeout = timeout
        self._changed = asyncio.Event()
        self._failure: Exception | None = None
        self._task: asyncio.Task[None] | None = None
        self._notifications: set[asyncio.Task[None]] = set()

    async def open(self) -> AsyncVirtualClock:
        """Subscribes, and returns when the initial state has arrived."""
        self._task = asyncio.create_task(self._run(), name="timenav-clock")
        deadline = monotonic_micros() + round(self._timeout * 1_000_000)
        while self._follower.state is None and self._follower.end is None:
            remaining = deadline - monotonic_micros()
            if remaining <= 0:
                break
            await self._next(remaining / 1_000_000)
        if self._follower.state is None:
            failure = self._not_open(self._failure)
            await self.aclose()
            raise failure
        return self

    async def until(self, when: When, *, timeout: float | None = None) -> Reading:
        """Waits until the clock shows a moment or a later one, regardless of how it moves, and returns the reading.

        A jump past the moment ends the wait, a rewind extends it, and a pause suspends it. `timeout` limits the wait,
        in seconds of host time; when it is exceeded, `TimeoutError` is raised. `ClockUnavailableError` is raised if the
        clock can no longer be read.
        """
        target = Instant.of(when)
        deadline = deadline_after(timeout)
        while True:
            reading, seconds = self._wait(target, monotonic_micros(), deadline)
            if reading is not None:
                return reading
            await self._next(seconds)

    async def sleep(self, duration: timedelta | float, *, timeout: float | None = None) -> Reading:
        """Waits for a duration of virtual time; a number is in seconds."""
        return await self.until(self._target(duration), timeout=timeout)

    async def until_generation(self, generation: int, *, timeout: float | None = None) -> Reading:
        """Waits until this clock shows a change, given the generation in the response to that change."""
        deadline = deadline_after(timeout)
        while True:
            reading, seconds = self._wait_generation(generation, monotonic_micros(), deadline)
            if reading is not None:
                return reading
            await self._next(seconds)

    async def aclose(self) -> None:
        """Ends the subscription. Pending waits raise `ClockClosedError`."""
        self._follower.closed()
        self._confirmer.close()
        self._notify()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def __aenter__(self) -> AsyncVirtualClock:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _next(self, seconds: float) -> None:
        """Waits for the next change, for at most `seconds`."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def _notify(self, change: ClockChange | None = None) -> None:
        # Pending waits hold the old event. Later waits use the new one.
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        for awaitable in self._deliver(change):
            task = asyncio.ensure_future(awaitable)
            self._notifications.add(task)
            task.add_done_callback(self._notifications.discard)

    async def _run(self) -> None:
        delay = DELAY_FIRST
        async with AsyncHttpPool(self._settings) as http:
            while True:
                failure: Exception | None = None
                try:
                    await self._listen(http)
                except httpx.HTTPError as error:
                    failure = no_response(error, self._settings)[2]
                except (TimenavError, ValueError, KeyError, TypeError) as error:
                    failure = as_timenav_error(error)
                if isinstance(failure, ApiError) and is_final(failure):
                    self._follower.rejected(failure)
                if self._failure is None:
                    # The stream was open, so this is the first loss: reset the backoff.
                    delay = DELAY_FIRST
                self._failure = failure
                self._follower.connection_lost(monotonic_micros())
                self._notify()
                if self._follower.end is not None:
                    return
                wait, delay = next_delay(delay, failure)
                await asyncio.sleep(wait)

    async def _listen(self, http: AsyncHttpPool) -> None:
        """Reads one connection until it ends."""
        is_first = self._follower.state is None
        self._follower.request_sent(monotonic_micros())
        if not is_first:
            response = await http.send("GET", "/v1/clock", params=self._query())
            if not response.is_success:
                raise rejection(response)[2]
            self._notify(self._follower.apply_response(response.json(), monotonic_micros()))
        stream = await http.send(
            "GET",
            "/v1/clock/stream",
            is_stream=True,
            params=self._stream_query(),
            headers=self._stream_headers(),
            timeout=self._settings.stream_timeout(self._follower.bounds.stale_after),
        )
        async with contextlib.aclosing(stream) as response:
            if not response.is_success:
                await response.aread()
                raise rejection(response)[2]
            self._follower.stream_opened(monotonic_micros())
            self._failure = None
            reader = EventReader()
            async for chunk in response.aiter_bytes():
                self._follower.message_received(monotonic_micros())
                for event in reader.push(chunk):
                    now, body = monotonic_micros(), json.loads(event.data)
                    self._notify(self._follower.apply_message(event.event, body, now, is_first=is_first))
                    is_first = False
                    # At this point, reads show the change, and the listeners have been called.
                    confirmed = confirmation(body, self._timeline)
                    if confirmed is not None:
                        self._confirmer.schedule(confirmed)
