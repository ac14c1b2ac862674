"""The readings and listeners of a virtual clock, which need no lock, request or wait."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from ._clock_state import ClockState
from ._errors import ClockUnavailableError, TimenavError
from ._follower import ClockChange, Follower, Reading, StalenessBounds
from ._host_time import monotonic_micros
from ._instant import Instant, duration_micros

ChangeListener = Callable[[ClockChange], Awaitable[None] | None]
_LOG = logging.getLogger("timenav")
# The maximum length of a host name that the service accepts, in bytes.
_HOST_BYTES_MAX = 253


class ClockReads:
    """The clock of a timeline, computed locally from the messages of a stream."""

    def __init__(self, timeline_id: str | None, bounds: StalenessBounds, follow: str | None = None) -> None:
        self._timeline = timeline_id
        self._follow = follow
        self._follower = Follower(bounds)
        self._listeners: list[ChangeListener] = []

    def reading(self) -> Reading:
        """Returns the clock's reading and the state from which it was computed.

        If the reading is not reliable, raises a subclass of `ClockUnavailableError`: `ClockStaleError`,
        `ClockAccessError` or `ClockClosedError`.
        """
        return self._follower.read(monotonic_micros())

    def now(self) -> Instant:
        """Returns the clock's reading, to the microsecond, in the range −9999 to 9999."""
        return self.reading().now

    def datetime(self) -> datetime:
        """Returns the reading as an aware `datetime` in UTC. Raises `DatetimeRangeError` outside its range."""
        return self.reading().now.datetime()

    def time(self) -> float:
        """Returns the reading in seconds since 1970, like `time.time()`."""
        return self.reading().now.timestamp()

    @property
    def state(self) -> ClockState:
        """The last known state of the clock. Raises `ClockUnavailableError` if it is not reliable."""
        return self.reading().state

    @property
    def timeline_id(self) -> str:
        """The timeline of the clock."""
        return self.state.timeline_id

    @property
    def generation(self) -> int:
        """The number of changes of the clock."""
        return self.state.generation

    @property
    def rate(self) -> float:
        """Virtual seconds per host second."""
        return self.state.rate

    @property
    def is_running(self) -> bool:
        """Whether virtual time passes."""
        return self.state.is_running

    @property
    def is_connected(self) -> bool:
        """Whether the stream is open and up to date."""
        return self._follower.end is None and self._follower.is_connected

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Calls a function after each change of the clock, in order. Returns a function that removes the listener."""
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    def on_jump(self, listener: ChangeListener) -> Callable[[], None]:
        """Calls a function after each change that made the clock jump. Returns a function that removes the listener."""
        return self.on_change(lambda change: listener(change) if change.jump_micros else None)

    def __repr__(self) -> str:
        state = self._follower.state
        timeline = self._timeline if state is None else state.timeline_id
        name = type(self).__name__ if timeline is None else f"{type(self).__name__} of {timeline}"
        try:
            reading = self.reading()
        except ClockUnavailableError as error:
            return f"<{name}: {error}>"
        pace = f"running at rate {reading.state.rate:g}" if reading.state.is_running else "paused"
        return f"<{name} at {reading.now}, {pace}>"

    def _deliver(self, change: ClockChange | None) -> list[Awaitable[None]]:
        """Calls the listeners. Returns the awaitables of listeners that are coroutine functions."""
        awaitables: list[Awaitable[None]] = []
        for listener in list(self._listeners) if change else []:
            try:
                result = listener(change)  # type: ignore[arg-type]
                awaitables += [result] if result is not None else []
            except Exception:
                # An error in one listener must not affect the clock or other listeners.
                _LOG.exception("a listener of the clock failed")
        return awaitables

    def _target(self, duration: timedelta | float) -> Instant:
        """Returns the moment after a duration of virtual time."""
        return Instant(self.now().micros + duration_micros(duration))

    def _wait(self, target: Instant, now: int, deadline: int | None) -> tuple[Reading | None, float]:
        """Returns the reading if the clock has reached the target, or else the seconds until the next check.

        Raises `ClockUnavailableError` if the clock cannot be read, so that a wait cannot outlast an outage of the
        service.
        """
        reading = self._follower.read(now)
        if reading.now >= target:
            return reading, 0.0
        if deadline is not None and now >= deadline:
            raise TimeoutError(f"the clock shows {reading.now} and did not reach {target} in time")
        waits = [self._follower.micros_valid(now) + 1_000]
        until = self._follower.micros_until(target.micros, now)
        if until is not None:
            waits.append(until)
        if deadline is not None:
            waits.append(deadline - now)
        return None, max(min(waits), 1) / 1_000_000

    def _wait_generation(self, generation: int, now: int, deadline: int | None) -> tuple[Reading | None, float]:
        """Like `_wait`, for a generation instead of a moment."""
        reading = self._follower.read(now)
        if reading.generation >= generation:
            return reading, 0.0
        if deadline is not None and now >= deadline:
            raise TimeoutError(f"the clock has generation {reading.generation} and did not reach {generation} in time")
        waits = [self._follower.micros_valid(now) + 1_000, *([] if deadline is None else [deadline - now])]
        return None, max(min(waits), 1) / 1_000_000

    def _not_open(self, failure: Exception | None) -> Exception:
        """Returns the exception for a clock that could not be opened."""
        end = self._follower.end
        problem = getattr(end, "problem", None)
        return problem or failure or end or ClockUnavailableError("the service did not send the clock in time")

    def _stream_headers(self) -> dict[str, str]:
        known = self._follower.state
        headers = {"Accept": "text/event-stream"}
        if self._follow is not None:
            headers |= process_headers()
        return headers if known is None else {**headers, "Last-Event-ID": str(known.generation)}

    def _query(self) -> dict[str, Any]:
        return {"timeline_id": self._timeline} if self._timeline else {}

    def _stream_query(self) -> dict[str, Any]:
        return self._query() if self._follow is None else {**self._query(), "follow": self._follow}


def process_headers() -> dict[str, str]:
    """Returns headers that identify this process in the list of followers."""
    headers = {"Timenav-Process": str(os.getpid())}
    host = socket.gethostname()
    if 0 < len(host) <= _HOST_BYTES_MAX and all("!" <= character <= "~" for character in host):
        headers["Timenav-Host"] = host
    return headers


def as_timenav_error(error: Exception) -> Exception:
    """Returns a `TimenavError` for an exception of the stream."""
    if isinstance(error, TimenavError):
        return error
    return TimenavError(f"the response is not from a timenav service: {error!r}")
