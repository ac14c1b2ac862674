"""The client-side state of a clock, and how long it remains valid. Uses no thread, network or clock.

All times are passed in, as the host's monotonic time in microseconds. docs/adr/0043 has the rules; clients/vectors
tests them in all languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ._clock_state import ClockState
from ._errors import ApiError, ClockAccessError, ClockClosedError, ClockStaleError, ClockUnavailableError
from ._instant import Instant

HEARTBEAT_SECONDS = 15
"""The maximum interval between messages of the service on a stream."""
STALE_AFTER_MIN = 20.0
"""The minimum of `stale_after`: the heartbeat interval, plus time for a heartbeat to arrive."""
DRIFT_PPM = 100
"""The assumed drift between the clocks of two machines, in parts per million."""


@dataclass(frozen=True, slots=True)
class StalenessBounds:
    """The staleness bounds of a clock, in seconds."""

    stale_after: float = 30.0
    """Counted from the last message of the service."""
    lost_after: float = 10.0
    """Counted from the loss of the connection."""

    def __post_init__(self) -> None:
        """Rejects bounds that a healthy stream would exceed."""
        if self.stale_after < STALE_AFTER_MIN:
            raise ValueError(
                f"stale_after must be at least {STALE_AFTER_MIN:g} seconds, not {self.stale_after:g}: "
                f"an idle stream sends a heartbeat every {HEARTBEAT_SECONDS} seconds"
            )
        if self.lost_after < 0:
            raise ValueError(f"lost_after must be 0 seconds or more, not {self.lost_after:g}")


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A change of the clock."""

    before: ClockState
    after: ClockState
    jump_micros: int
    """The size of the jump in microseconds; 0 if the clock was paused, resumed, or changed its rate."""
    is_reset: bool
    """Whether changes in between may be missing, or the service was rolled back to an older state."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of the clock."""

    now: Instant
    state: ClockState
    uncertainty_micros: int | None
    """How far the service's clock may be ahead of `now`, in virtual microseconds; None if unknown."""

    @property
    def generation(self) -> int:
        """The number of changes of the clock."""
        return self.state.generation


@dataclass(frozen=True, slots=True)
class _Calibration:
    """The parameters of readings. Replaced as a whole, so that readers need no lock."""

    state: ClockState
    offset: int
    """The service's host time minus the local monotonic time: a lower bound, so that readings are never ahead."""
    offset_max: int | None
    measured_at: int


class Follower:
    """Processes the messages of a stream, and computes readings."""

    def __init__(self, bounds: StalenessBounds) -> None:
        self.bounds = bounds
        self._calibration: _Calibration | None = None
        self._requested_at = 0
        self._received_at = 0
        self._lost_at: int | None = 0
        self._awaited = -1
        self._low: int | None = None
        self._high: int | None = None
        self._end: ClockUnavailableError | None = None

    @property
    def state(self) -> ClockState | None:
        """The last known state, valid or not."""
        calibration = self._calibration
        return calibration.state if calibration else None

    @property
    def is_connected(self) -> bool:
        """Whether the stream is open and up to date."""
        return self._lost_at is None

    def request_sent(self, now: int) -> None:
        """Records that a request was sent on a new connection. Its response is not older than `now`."""
        self._requested_at, self._low, self._high = now, None, None

    def message_received(self, now: int) -> None:
        """Records that the stream is alive: a message or a keep-alive arrived."""
        self._received_at = now

    def stream_opened(self, now: int) -> None:
        """Records that a stream is open again and continues from the known state."""
        self._received_at = now
        calibration = self._calibration
        if calibration is not None and calibration.state.generation >= self._awaited:
            self._lost_at = None

    def connection_lost(self, now: int) -> None:
        """Records that the connection was lost."""
        if self._lost_at is None:
            self._lost_at = now

    def rejected(self, problem: ApiError) -> None:
        """Records that the service rejected the stream permanently."""
        self._end = self._end or ClockAccessError(problem)

    def closed(self) -> None:
        """Records that the clock was closed."""
        self._end = self._end or ClockClosedError("the clock was closed; open another one with virtual_clock()")

    @property
    def end(self) -> ClockUnavailableError | None:
        """The error that ended this follower, if it has ended."""
        return self._end

    def apply_response(self, body: Mapping[str, Any], now: int) -> ClockChange | None:
        """Applies the response to `GET /v1/clock`, which is requested before a stream is reopened.

        A newer generation is not applied, because the stream reports each missed change; until it has, reads fail once
        the bounds are exceeded. An older generation, or the same one with a different history, means that the service
        was rolled back, and is a reset.
        """
        state = ClockState.of(body)
        calibration = self._calibration
        self._measure(state, Instant.parse(body["current_time"]), now, is_response=True)
        if (
            calibration is None
            or state.generation < calibration.state.generation
            or _has_different_history(state, calibration.state)
        ):
            return self._take(state, now, is_reset=calibration is not None)
        self._received_at = now
        self._awaited = state.generation
        if state.generation == calibration.state.generation:
            self._calibration = self._with(calibration.state, now)
        return None

    def apply_message(
        self, event: str, body: Mapping[str, Any], now: int, *, is_first: bool = False
    ) -> ClockChange | None:
        """Applies a message of the stream. `is_first` marks the response to the last recorded request."""
        self._received_at = now
        state = ClockState.of(body)
        calibration = self._calibration
        is_reset = event == "reset"
        if calibration is not None and state.generation <= calibration.state.generation and not is_reset:
            return None
        self._measure(state, Instant.parse(body["current_time"]), now, is_response=is_first)
        return self._take(state, now, is_reset=is_reset)

    def read(self, now: int) -> Reading:
        """Returns the reading, or raises `ClockUnavailableError`."""
        calibration = self._calibration
        self._check_valid(now)
        if calibration is None:
            raise ClockStaleError("the service has not sent the clock yet")
        return Reading(
            calibration.state.at(now + calibration.offset), calibration.state, _uncertainty(calibration, now)
        )

    def micros_until(self, virtual_micros: int, now: int) -> int | None:
        """Returns the host time until the clock shows this, in microseconds; None if it never does."""
        calibration = self._calibration
        host = calibration.state.host_time_at(virtual_micros) if calibration else None
        return None if calibration is None or host is None else max(host - calibration.offset - now, 0)

    def micros_valid(self, now: int) -> int:
        """Returns how long the state remains valid if no further message arrives, in microseconds."""
        silent = self._received_at + round(self.bounds.stale_after * 1e6) - now
        lost = self._lost_at
        return max(silent if lost is None else min(silent, lost + round(self.bounds.lost_after * 1e6) - now), 0)

    def _check_valid(self, now: int) -> None:
        if self._end is not None:
            # A new exception each time, because readers must not share a traceback.
            if isinstance(self._end, ClockAccessError):
                raise ClockAccessError(self._end.problem)
            raise ClockClosedError(*self._end.args)
        lost, silent = self._lost_at, (now - self._received_at) / 1e6
        advice = "check that the service is running and reachable; the clock keeps trying to reconnect"
        if silent > self.bounds.stale_after:
            bound = f"stale_after is {self.bounds.stale_after:g} s"
            raise ClockStaleError(f"the service has sent nothing for {silent:.1f} s ({bound}): {advice}")
        if lost is not None and (now - lost) / 1e6 > self.bounds.lost_after:
            bound = f"lost_after is {self.bounds.lost_after:g} s"
            raise ClockStaleError(f"the connection was lost {(now - lost) / 1e6:.1f} s ago ({bound}): {advice}")

    def _take(self, state: ClockState, now: int, *, is_reset: bool) -> ClockChange | None:
        calibration = self._calibration
        self._calibration = self._with(state, now)
        self._received_at = now
        if is_reset:
            self._awaited = state.generation
        if state.generation >= self._awaited:
            self._lost_at = None
        if calibration is None:
            return None
        before = calibration.state
        jump = state.origin_virtual.micros - before.at(state.origin_host.micros).micros
        return ClockChange(before, state, jump, is_reset)

    def _measure(self, state: ClockState, current: Instant, now: int, *, is_response: bool) -> None:
        """Narrows the offset between the service's host time and the local monotonic time."""
        first, last = state.origin_host.micros, None
        if state.is_running and Instant.MIN < current < Instant.MAX:
            # The range of host times at which the clock shows this microsecond.
            first = state.host_time_at(current.micros) or first
            last = state.host_time_at(current.micros + 1)
        # The message was written before it arrived: a lower bound of the offset.
        self._low = first - now if self._low is None else max(self._low, first - now)
        if is_response and last is not None:
            # The response was written after the request: an upper bound of the offset.
            high = last - self._requested_at
            self._high = high if self._high is None else min(self._high, high)

    def _with(self, state: ClockState, now: int) -> _Calibration:
        """Returns the parameters of readings, with the smallest offset change that satisfies the measurements."""
        low = self._low if self._low is not None else 0
        high = self._high if self._high is None else max(self._high, low)
        offset = self._calibration.offset if self._calibration else low
        offset = max(offset, low) if high is None else min(max(offset, low), high)
        return _Calibration(state, offset, high, now)


def _has_different_history(state: ClockState, known: ClockState) -> bool:
    return state.generation == known.generation and replace(state, location=known.location) != known


def _uncertainty(calibration: _Calibration, now: int) -> int | None:
    if not calibration.state.is_running:
        return 0
    if calibration.offset_max is None:
        return None
    host = calibration.offset_max - calibration.offset + (now - calibration.measured_at) * DRIFT_PPM // 1_000_000
    return -(-host * calibration.state.rate_micros // 1_000_000)
