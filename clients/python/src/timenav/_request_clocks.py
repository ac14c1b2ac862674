"""The clocks of requests, opened on the first request for a timeline and kept for later ones."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from . import baggage
from ._async_client import AsyncClient
from ._async_virtual_clock import AsyncVirtualClock
from ._client import Client
from ._clock_reads import ClockReads
from ._errors import ApiError, ClockAccessError, ClockClosedError, ClockUnavailableError, TimenavError
from ._virtual_clock import VirtualClock

CLOCKS_MAX = 64
"""Default limit of open clocks. Each clock is a stream, and the service allows 100 streams per user by default."""
_UNKNOWN_TIMELINE = frozenset({400, 403, 404, 410})

C = TypeVar("C", bound=ClockReads)


class TooManyClocksError(TimenavError):
    """All clocks are in use by requests. Respond with 503, because this is temporary."""


@dataclass
class _SharedClock(Generic[C]):
    """The clock of a timeline. `clock` is None while it is being opened."""

    clock: C | None = None
    uses: int = 0


class _ClockCache(Generic[C]):
    """The open clocks, least recently used first, with the number of requests that use each one."""

    def __init__(self, clocks_max: int) -> None:
        self._clocks_max = clocks_max
        self._clocks: OrderedDict[str | None, _SharedClock[C]] = OrderedDict()
        self.is_closed = False

    def find(self, timeline: str | None) -> tuple[_SharedClock[C] | None, list[C]]:
        """Returns the clock of a timeline, if it is open or being opened, and the clocks to close.

        An open clock counts as in use from now on. If there is none, a slot is reserved, and the caller must open the
        clock.
        """
        if self.is_closed:
            raise ClockClosedError("the request clocks are closed")
        to_close: list[C] = []
        shared = self._clocks.get(timeline)
        if shared is not None and shared.clock is not None and _has_ended(shared.clock):
            to_close += [shared.clock] if shared.uses == 0 else []
            del self._clocks[timeline]
            shared = None
        if shared is None:
            to_close += self._evict()
            self._clocks[timeline] = _SharedClock()
        elif shared.clock is not None:
            shared.uses += 1
            self._clocks.move_to_end(timeline)
        return shared, to_close

    def store(self, timeline: str | None, clock: C) -> _SharedClock[C]:
        """Stores a clock that was opened. It counts as in use from now on."""
        shared = self._clocks.get(timeline)
        if self.is_closed or shared is None:
            raise ClockClosedError("the request clocks are closed")
        shared.clock, shared.uses = clock, 1
        return shared

    def remove(self, timeline: str | None) -> None:
        """Frees the slot of a clock that could not be opened."""
        self._clocks.pop(timeline, None)

    def release(self, timeline: str | None, shared: _SharedClock[C]) -> list[C]:
        """Ends the use of a clock. Returns the clocks to close."""
        shared.uses -= 1
        is_current = self._clocks.get(timeline) is shared
        return [shared.clock] if shared.uses == 0 and not is_current and shared.clock is not None else []

    def close(self) -> list[C]:
        """Removes and returns all clocks, for closing."""
        self.is_closed = True
        clocks = [shared.clock for shared in self._clocks.values() if shared.clock is not None]
        self._clocks.clear()
        return clocks

    def _evict(self) -> list[C]:
        """Frees a slot by removing the least recently used clock. Returns the clocks to close."""
        if len(self._clocks) < self._clocks_max:
            return []
        for timeline, shared in self._clocks.items():
            if shared.uses == 0 and shared.clock is not None:
                del self._clocks[timeline]
                return [shared.clock]
        raise TooManyClocksError(f"all {self._clocks_max} clocks are in use by other requests; try again")


class _AllowedTimelines:
    """The timelines that requests may name."""

    def __init__(self, allowed: Callable[[str], bool] | None) -> None:
        self._allowed = allowed

    def timeline(self, header: str | None) -> str | None:
        """Returns the timeline that a header names, if it is allowed."""
        timeline = baggage.timeline_in(header)
        if timeline is not None and self._allowed is not None and not self._allowed(timeline):
            raise baggage.BaggageError(f"requests may not use the timeline `{timeline}`")
        return timeline


class RequestClocks:
    """The clocks of requests, for threads. `timenav.wsgi` has the middleware.

    Inside `with clocks.serving(header): …`, `timenav.baggage.clock()` returns the clock that the `baggage` header
    names, or else the clock of the client's own timeline. It never falls back to the host's time.
    """

    def __init__(
        self,
        client: Client,
        *,
        allowed: Callable[[str], bool] | None = None,
        clocks_max: int = CLOCKS_MAX,
        timeout: float = 10.0,
    ) -> None:
        """`allowed` decides which timelines requests may name. Defaults to all timelines visible to the key."""
        self._client, self._timeout = client, timeout
        self._timelines = _AllowedTimelines(allowed)
        self._cache: _ClockCache[VirtualClock] = _ClockCache(clocks_max)
        self._changed = threading.Condition()

    @contextmanager
    def serving(self, header: str | None) -> Iterator[VirtualClock]:
        """Serves a request with the clock that its `baggage` header names.

        Raises `BaggageError` if the header is invalid, `TooManyClocksError` or `ClockUnavailableError`.
        """
        timeline = self._timelines.timeline(header)
        shared = self._take(timeline)
        try:
            clock = _readable(shared)
            with baggage.serving(clock):
                yield clock
        finally:
            with self._changed:
                to_close = self._cache.release(timeline, shared)
            _close(to_close)

    def close(self) -> None:
        """Closes all clocks. Requests in progress can no longer read theirs."""
        with self._changed:
            clocks = self._cache.close()
            self._changed.notify_all()
        _close(clocks)

    def _take(self, timeline: str | None) -> _SharedClock[VirtualClock]:
        with self._changed:
            while True:
                shared, to_close = self._cache.find(timeline)
                if shared is None:
                    break
                if shared.clock is not None:
                    return shared
                # Another request is opening it.
                self._changed.wait()
        _close(to_close)
        clock: VirtualClock | None = None
        try:
            clock = self._client.virtual_clock(timeline, timeout=self._timeout)
            with self._changed:
                return self._cache.store(timeline, clock)
        except BaseException as error:
            with self._changed:
                self._cache.remove(timeline)
            _close([] if clock is None else [clock])
            unknown = _unknown_timeline(timeline, error)
            if unknown is None:
                raise
            raise unknown from error
        finally:
            with self._changed:
                self._changed.notify_all()


class AsyncRequestClocks:
    """The clocks of requests, for asyncio. `timenav.asgi` has the middleware."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        allowed: Callable[[str], bool] | None = None,
        clocks_max: int = CLOCKS_MAX,
        timeout: float = 10.0,
    ) -> None:
        """`allowed` decides which timelines requests may name. Defaults to all timelines visible to the key."""
        self._client, self._timeout = client, timeout
        self._timelines = _AllowedTimelines(allowed)
        self._cache: _ClockCache[AsyncVirtualClock] = _ClockCache(clocks_max)
        self._opening: dict[str | None, asyncio.Event] = {}

    @asynccontextmanager
    async def serving(self, header: str | None) -> AsyncIterator[AsyncVirtualClock]:
        """Serves a request with the clock that its `baggage` header names. Raises like `RequestClocks.serving`."""
        timeline = self._timelines.timeline(header)
        shared = await self._take(timeline)
        try:
            clock = _readable(shared)
            with baggage.serving(clock):
                yield clock
        finally:
            await _aclose(self._cache.release(timeline, shared))

    async def aclose(self) -> None:
        """Closes all clocks. Requests in progress can no longer read theirs."""
        await _aclose(self._cache.close())

    async def _take(self, timeline: str | None) -> _SharedClock[AsyncVirtualClock]:
        while True:
            shared, to_close = self._cache.find(timeline)
            if shared is None:
                break
            if shared.clock is not None:
                return shared
            # Another request is opening it.
            await self._opening[timeline].wait()
        opening = self._opening[timeline] = asyncio.Event()
        clock: AsyncVirtualClock | None = None
        try:
            await _aclose(to_close)
            clock = await self._client.virtual_clock(timeline, timeout=self._timeout).open()
            return self._cache.store(timeline, clock)
        except BaseException as error:
            self._cache.remove(timeline)
            await _aclose([] if clock is None else [clock])
            unknown = _unknown_timeline(timeline, error)
            if unknown is None:
                raise
            raise unknown from error
        finally:
            del self._opening[timeline]
            opening.set()


def error_response(error: TimenavError) -> tuple[int, str]:
    """Returns the status and the body of the response to a request without a usable clock."""
    if isinstance(error, baggage.BaggageError):
        return 400, f"{error}\n"
    if isinstance(error, TooManyClocksError):
        return 503, f"{error}\n"
    # Details are for the operator of this service, not for its clients.
    return 503, "the clock of this request cannot be read; try again\n"


def _has_ended(clock: ClockReads) -> bool:
    """Returns whether a clock has ended permanently, because its timeline or its API key ended."""
    try:
        clock.reading()
    except (ClockAccessError, ClockClosedError):
        return True
    except ClockUnavailableError:
        return False
    return False


def _readable(shared: _SharedClock[C]) -> C:
    """Returns the clock, or raises if it cannot be read."""
    if shared.clock is None:
        raise ClockClosedError("the request clocks are closed")
    shared.clock.reading()
    return shared.clock


def _unknown_timeline(timeline: str | None, error: BaseException) -> baggage.BaggageError | None:
    """Returns the exception if the request names a timeline that does not exist or that the key may not access."""
    if timeline is not None and isinstance(error, ApiError) and error.http_status in _UNKNOWN_TIMELINE:
        return baggage.BaggageError(f"the baggage names the timeline `{timeline}`: {error.status}")
    return None


def _close(clocks: list[VirtualClock]) -> None:
    for clock in clocks:
        clock.close()


async def _aclose(clocks: list[AsyncVirtualClock]) -> None:
    for clock in clocks:
        await clock.aclose()
