"""What a client knows of a clock, and for how long it may vouch for it. No threads, no network, no clock of its own.

Every time that goes in is the host's monotonic time in microseconds. The rules are those of docs/adr/0043, and the
vectors in clients/vectors hold every language to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ._clock_state import ClockState
from ._errors import ApiError, ClockAccessError, ClockClosedError, ClockStaleError, ClockUnavailableError
from ._instant import Instant

HEARTBEAT_SECONDS = 15
"""The service says something at least this often."""
STALE_AFTER_MIN = 20.0
"""A quiet stream must not count as a dead one: the heartbeat, and time for it to arrive."""
DRIFT_PPM = 100
"""How far the clocks of two machines may run apart, for what is said of the uncertainty."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a client vouches for what it knows, in seconds."""

    stale_after: float = 30.0
    """Since the service last said anything."""
    lost_after: float = 10.0
    """Since the connection was lost."""

    def __post_init__(self) -> None:
        """Refuses bounds that a healthy stream would break."""
        if self.stale_after < STALE_AFTER_MIN:
            raise ValueError(
                f"stale_after must be at least {STALE_AFTER_MIN:g} seconds, not {self.stale_after:g}: "
                f"a quiet stream sends a sign of life every {HEARTBEAT_SECONDS} seconds"
            )
        if self.lost_after < 0:
            raise ValueError(f"lost_after must be 0 seconds or more, not {self.lost_after:g}")


@dataclass(frozen=True, slots=True)
class ClockChange:
    """One change of the clock."""

    before: ClockState
    after: ClockState
    jump_micros: int
    """How far the clock jumped, in microseconds; 0 where it was paused, resumed, or changed its rate."""
    is_reset: bool
    """Whether changes in between were left out, or the service went back to an older state."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of the clock."""

    now: Instant
    state: ClockState
    uncertainty_micros: int | None
    """The clock may be ahead of `now` by this much, in virtual microseconds; None where that is not known."""

    @property
    def generation(self) -> int:
        """Counts changes of the clock."""
        return self.state.generation


@dataclass(frozen=True, slots=True)
class _Known:
    """All that a reading is made of. Replaced as a whole, so that readers need no lock."""

    state: ClockState
    offset: int
    """Host time of the service minus monotonic time here. Never more than it is, so that no reading is ahead."""
    offset_max: int | None
    measured: int


class Follower:
    """Takes what a stream says, and answers what the clock shows."""

    def __init__(self, bounds: Bounds) -> None:
        """Knows nothing yet."""
        self.bounds = bounds
        self._known: _Known | None = None
        self._requested_at = 0
        self._received_at = 0
        self._lost: int | None = 0
        self._awaited = -1
        self._low: int | None = None
        self._high: int | None = None
        self._end: ClockUnavailableError | None = None

    @property
    def state(self) -> ClockState | None:
        """The last known state, valid or not."""
        known = self._known
        return known.state if known else None

    @property
    def is_connected(self) -> bool:
        """Whether the stream is open and up to date."""
        return self._lost is None

    def request_sent(self, now: int) -> None:
        """Records that a request was sent on a new connection: its response is not older than this."""
        self._requested_at, self._low, self._high = now, None, None

    def message_received(self, now: int) -> None:
        """Records that the stream is alive: a message or a keep-alive arrived."""
        self._received_at = now

    def stream_opened(self, now: int) -> None:
        """Records that a stream is open again and continues from the known state."""
        self._received_at = now
        known = self._known
        if known is not None and known.state.generation >= self._awaited:
            self._lost = None

    def connection_lost(self, now: int) -> None:
        """Records that the connection was lost."""
        if self._lost is None:
            self._lost = now

    def rejected(self, problem: ApiError) -> None:
        """Records that the service rejected the stream for good."""
        self._end = self._end or ClockAccessError(problem)

    def closed(self) -> None:
        """Records that the clock was closed."""
        self._end = self._end or ClockClosedError("the clock was closed; open another one with virtual_clock()")

    @property
    def end(self) -> ClockUnavailableError | None:
        """The error that ended this follower, if it has ended."""
        return self._end

    def apply_response(self, body: Mapping[str, Any], now: int) -> ClockChange | None:
        """Applies the response to a request for the clock, sent before a stream is reopened.

        Newer changes are left to the stream, which reports each of them; until then, readings are stale. An older
        generation, or the same one with a different history, means that the service was rolled back, and is a reset.
        """
        state = ClockState.of(body)
        known = self._known
        self._measure(state, Instant.parse(body["current_time"]), now, is_answer=True)
        if known is None or state.generation < known.state.generation or _has_different_history(state, known.state):
            return self._take(state, now, is_reset=known is not None)
        self._received_at = now
        self._awaited = state.generation
        if state.generation == known.state.generation:
            self._known = self._with(known.state, now)
        return None

    def apply_message(
        self, event: str, body: Mapping[str, Any], now: int, *, is_first: bool = False
    ) -> ClockChange | None:
        """Applies a message of the stream. `is_first` if it responds to the last recorded request."""
        self._received_at = now
        state = ClockState.of(body)
        known = self._known
        is_reset = event == "reset"
        if known is not None and state.generation <= known.state.generation and not is_reset:
            return None
        self._measure(state, Instant.parse(body["current_time"]), now, is_answer=is_first)
        return self._take(state, now, is_reset=is_reset)

    def read(self, now: int) -> Reading:
        """Returns the virtual time, or raises `ClockUnavailableError`."""
        known = self._known
        self._vouch(now)
        if known is None:
            raise ClockStaleError("the service has not told the clock yet")
        return Reading(known.state.at(now + known.offset), known.state, _uncertainty(known, now))

    def micros_until(self, virtual_micros: int, now: int) -> int | None:
        """Returns how much host time is left until the clock shows this; None if it never will as it is."""
        known = self._known
        host = known.state.host_when(virtual_micros) if known else None
        return None if known is None or host is None else max(host - known.offset - now, 0)

    def micros_vouched(self, now: int) -> int:
        """Returns for how much longer the clock may be vouched for if nothing more is heard."""
        silent = self._received_at + round(self.bounds.stale_after * 1e6) - now
        lost = self._lost
        return max(silent if lost is None else min(silent, lost + round(self.bounds.lost_after * 1e6) - now), 0)

    def _vouch(self, now: int) -> None:
        if self._end is not None:
            # Another traceback each time, so that one exception is not shared by all who read.
            if isinstance(self._end, ClockAccessError):
                raise ClockAccessError(self._end.problem)
            raise ClockClosedError(*self._end.args)
        lost, silent = self._lost, (now - self._received_at) / 1e6
        advice = "check that the service runs and can be reached; the clock keeps trying to reconnect"
        if silent > self.bounds.stale_after:
            vouched = f"this clock vouches for {self.bounds.stale_after:g} s (stale_after)"
            raise ClockStaleError(f"the service has said nothing for {silent:.1f} s, and {vouched}: {advice}")
        if lost is not None and (now - lost) / 1e6 > self.bounds.lost_after:
            vouched = f"this clock vouches for {self.bounds.lost_after:g} s (lost_after)"
            raise ClockStaleError(f"the connection was lost {(now - lost) / 1e6:.1f} s ago, and {vouched}: {advice}")

    def _take(self, state: ClockState, now: int, *, is_reset: bool) -> ClockChange | None:
        known = self._known
        self._known = self._with(state, now)
        self._received_at = now
        if is_reset:
            self._awaited = state.generation
        if state.generation >= self._awaited:
            self._lost = None
        if known is None:
            return None
        before = known.state
        jump = state.origin_virtual.micros - before.at(state.origin_host.micros).micros
        return ClockChange(before, state, jump, is_reset)

    def _measure(self, state: ClockState, current: Instant, now: int, *, is_answer: bool) -> None:
        """Narrows down how far the service's host time is from monotonic time here."""
        first, last = state.origin_host.micros, None
        if state.is_running and Instant.MIN < current < Instant.MAX:
            # All host times at which the clock shows this very microsecond.
            first = state.host_when(current.micros) or first
            last = state.host_when(current.micros + 1)
        # The message was written before it came: service time is at least this much ahead of time here.
        self._low = first - now if self._low is None else max(self._low, first - now)
        if is_answer and last is not None:
            # And after it was asked for.
            high = last - self._requested_at
            self._high = high if self._high is None else min(self._high, high)

    def _with(self, state: ClockState, now: int) -> _Known:
        """Returns what is known of a state, with an offset that moves no more than what was measured asks for."""
        low = self._low if self._low is not None else 0
        high = self._high if self._high is None else max(self._high, low)
        offset = self._known.offset if self._known else low
        offset = max(offset, low) if high is None else min(max(offset, low), high)
        return _Known(state, offset, high, now)


def _has_different_history(state: ClockState, known: ClockState) -> bool:
    return state.generation == known.generation and replace(state, location=known.location) != known


def _uncertainty(known: _Known, now: int) -> int | None:
    if not known.state.is_running:
        return 0
    if known.offset_max is None:
        return None
    host = known.offset_max - known.offset + (now - known.measured) * DRIFT_PPM // 1_000_000
    return -(-host * known.state.rate_micros // 1_000_000)
