"""The host's monotonic clock, in whole microseconds.

Taken when the package is imported, so that what fakes time later leaves it alone. On Linux it is the boot clock, which
counts on while the machine sleeps, as the clock of the service does. Elsewhere a sleep is noticed by the silence of the
stream after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def _source() -> Callable[[], int]:
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    if boot is None:
        monotonic_ns = time.monotonic_ns
        return lambda: monotonic_ns() // 1_000
    clock_gettime_ns = time.clock_gettime_ns
    return lambda: clock_gettime_ns(boot) // 1_000


monotonic_micros: Callable[[], int] = _source()

_WALL_NS = time.time_ns() - monotonic_micros() * 1_000


def host_time_ns() -> int:
    """Returns the host's own time in nanoseconds since 1970, whatever fakes it."""
    return _WALL_NS + monotonic_micros() * 1_000
