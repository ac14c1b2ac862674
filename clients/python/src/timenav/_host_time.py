"""The host's monotonic clock, in whole microseconds.

The functions are captured at import, so that libraries that fake the time later do not affect them. On Linux and macOS,
the clock includes system sleep, like the clock of the service.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def _source() -> Callable[[], int]:
    # On macOS, CLOCK_MONOTONIC includes system sleep. `time.monotonic` reads another clock.
    name = "CLOCK_MONOTONIC" if sys.platform == "darwin" else "CLOCK_BOOTTIME"
    clock = getattr(time, name, None)
    if clock is None:
        monotonic_ns = time.monotonic_ns
        return lambda: monotonic_ns() // 1_000
    clock_gettime_ns = time.clock_gettime_ns
    return lambda: clock_gettime_ns(clock) // 1_000


monotonic_micros: Callable[[], int] = _source()


def deadline_after(timeout: float | None) -> int | None:
    """Returns the monotonic time after `timeout` seconds; None for no limit."""
    return None if timeout is None else monotonic_micros() + round(timeout * 1_000_000)


_WALL_NS = time.time_ns() - monotonic_micros() * 1_000


def host_time_ns() -> int:
    """Returns the host's time in nanoseconds since 1970, unaffected by libraries that fake the time."""
    return _WALL_NS + monotonic_micros() * 1_000
