"""What a virtual clock answers without a lock, a request or a wait; and who is told of its changes."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from ._clock_state import ClockState
from ._errors import ApiError, ClockUnavailableError, TimenavError
from ._follower import Bounds, ClockChange, Follower, Reading
from ._host_time import monotonic_micros
from ._instant import Instant

Listener = Callable[[ClockChange], Awaitable[None] | None]
_LOG = logging.getLogger("timenav")
DELAY_FIRST, DELAY_MAX = 0.1, 5.0
# The longest name of a host that the service takes.
_HOST_BYTES_MAX = 253
# These will be answered the same next time. Everything else may be different then.
_FINAL = frozenset({400, 401, 403, 404, 409, 410})


class ClockReads:
    """A clock of a timeline, computed here from what the stream told."""

    def __init__(self, timeline_id: str | None, bounds: Bounds, follow: str | None = None) -> None:
        """Knows nothing yet."""
        self._timeline = timeline_id
        self._follow = follow
        self._follower = Follower(bounds)
        self._listeners: list[Listener] = []

    def reading(self) -> Reading:
        """Returns what the clock shows, with the state that it was computed from.

        Raises a subclass of `ClockUnavailableError` if the time is not known: `ClockStaleError`, `ClockAccessError` or
        `ClockClosedError`.
        """
        return self._follower.read(monotonic_micros())

    def now(self) -> Instant:
        """Returns what the clock shows, to the microsecond, anywhere from −9999 to 9999."""
        return self.reading().now

    def datetime(self) -> datetime:
        """Returns what the clock shows as an aware `datetime` in UTC. Raises `DatetimeRangeError` outside its years."""
        return self.reading().now.datetime()

    def time(self) -> float:
        """Returns what the clock shows in seconds since 1970, as `time.time()` does."""
        return self.reading().now.timestamp()

    @property
    def state(self) -> ClockState:
        """The clock as it was last told, if it may be vouched for."""
        return self.reading().state

    @property
    def timeline_id(self) -> str:
        """The timeline of the clock."""
        return self.state.timeline_id

    @property
    def generation(self) -> int:
        """Counts changes of the clock."""
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
        """Whether the stream is open and has told everything that the service knows."""
        return self._follower.end is None and self._follower.is_connected

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Calls a function after each change of the clock, in order. Returns what ends that."""
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    def on_jump(self, listener: Listener) -> Callable[[], None]:
        """Calls a function after each change that made the clock jump, as travels do. Returns what ends that."""
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
        """Tells the listeners, and returns what they still have to do."""
        left: list[Awaitable[None]] = []
        for listener in list(self._listeners) if change else []:
            try:
                result = listener(change)  # type: ignore[arg-type]
                left += [result] if result is not None else []
            except Exception:
                # The clock goes on: one listener's mistake must not stop the time of all others.
                _LOG.exception("a listener of the clock failed")
        return left

    def _target(self, length: timedelta | float) -> Instant:
        """Returns the moment that lies a length of virtual time ahead."""
        micros = length // timedelta(microseconds=1) if isinstance(length, timedelta) else round(length * 1_000_000)
        return Instant(self.now().micros + micros)

    def _wait(self, target: Instant, now: int, deadline: int | None) -> tuple[Reading | None, float]:
        """Returns the reading if the clock has come so far, else how many seconds to wait before it is looked at again.

        Raises `ClockUnavailableError` if the time is no longer known, so that no caller waits forever for a service
        that is gone.
        """
        reading = self._follower.read(now)
        if reading.now >= target:
            return reading, 0.0
        if deadline is not None and now >= deadline:
            raise TimeoutError(f"the clock shows {reading.now}, and has not come to {target} in time")
        waits = [self._follower.micros_vouched(now) + 1_000]
        until = self._follower.micros_until(target.micros, now)
        if until is not None:
            waits.append(until)
        if deadline is not None:
            waits.append(deadline - now)
        return None, max(min(waits), 1) / 1_000_000

    def _wait_generation(self, generation: int, now: int, deadline: int | None) -> tuple[Reading | None, float]:
        """As `_wait`, for a change."""
        reading = self._follower.read(now)
        if reading.generation >= generation:
            return reading, 0.0
        if deadline is not None and now >= deadline:
            raise TimeoutError(f"the clock is at generation {reading.generation}, and not at {generation} in time")
        waits = [self._follower.micros_vouched(now) + 1_000, *([] if deadline is None else [deadline - now])]
        return None, max(min(waits), 1) / 1_000_000

    def _not_open(self, failure: Exception | None) -> Exception:
        """Returns what is raised where a clock could not be opened."""
        end = self._follower.end
        problem = getattr(end, "problem", None)
        return problem or failure or end or ClockUnavailableError("the service did not tell the clock in time")

    def _stream_headers(self) -> dict[str, str]:
        known = self._follower.state
        headers = {"Accept": "text/event-stream"}
        if self._follow is not None:
            headers |= own_place()
        return headers if known is None else {**headers, "Last-Event-ID": str(known.generation)}

    def _query(self) -> dict[str, Any]:
        return {"timeline_id": self._timeline} if self._timeline else {}

    def _stream_query(self) -> dict[str, Any]:
        return self._query() if self._follow is None else {**self._query(), "follow": self._follow}


def own_place() -> dict[str, str]:
    """Tells where this process runs, as the list of followers shows it."""
    place = {"Timenav-Process": str(os.getpid())}
    host = socket.gethostname()
    if 0 < len(host) <= _HOST_BYTES_MAX and all("!" <= character <= "~" for character in host):
        place["Timenav-Host"] = host
    return place


def is_final(problem: ApiError) -> bool:
    """Tells whether asking again is of no use."""
    return problem.http_status in _FINAL


def named(error: Exception) -> Exception:
    """Returns an error of ours for whatever a connection failed with."""
    return error if isinstance(error, TimenavError) else TimenavError(f"what answers is no timenav service: {error!r}")


def next_delay(delay: float, problem: Exception | None) -> tuple[float, float]:
    """Returns how long to wait before the next attempt, and the delay that the one after it starts from."""
    after = problem.retry_after if isinstance(problem, ApiError) else None
    wait = after if after is not None else delay * (0.5 + secrets.randbelow(1_000) / 1_000)
    return wait, min(delay * 2, DELAY_MAX)
