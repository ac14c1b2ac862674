"""The host's monotonic clock, in whole microseconds.

Taken when the package is imported, so that what fakes time later leaves it alone. It is the clock that counts on while
the machine sleeps, as that of the service does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def _source() -> Callable[[], int]:
    # On macOS it is CLOCK_MONOTONIC that counts sleep, and not the clock that `time.monotonic` reads.
    name = "CLOCK_MONOTONIC" if sys.platform == "darwin" else "CLOCK_BOOTTIME"
    clock = getattr(time, name, None)
    if clock is None:
        monotonic_ns = time.monotonic_ns
        return lambda: monotonic_ns() // 1_000
    clock_gettime_ns = time.clock_gettime_ns
    return lambda: clock_gettime_ns(clock) // 1_000


monotonic_micros: Callable[[], int] = _source()

_WALL_NS = time.time_ns() - monotonic_micros() * 1_000


def host_time_ns() -> int:
    """Returns the host's own time in nanoseconds since 1970, whatever fakes it."""
    return _WALL_NS + monotonic_micros() * 1_000
