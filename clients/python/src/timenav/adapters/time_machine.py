"""An adapter that makes `time` and `datetime` follow a virtual clock, with `time-machine`.

The time is always that of the clock, at any rate, while it is paused, and after a jump. Functions that `time-machine`
does not fake use the host's time: monotonic clocks, sleeps, event loops.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import time_machine

from .._follower import ClockChange
from .._host_time import host_time_ns
from .._virtual_clock import VirtualClock


@contextlib.contextmanager
def follow(clock: VirtualClock) -> Iterator[VirtualClock]:
    """Makes `time` and `datetime` follow a clock until the end of the block.

    If the clock cannot be read, reading the time raises `ClockUnavailableError`. Outside the years 1 to 9999, functions
    of `datetime` raise their own exceptions.
    """
    own = clock.thread

    def time_ns() -> int:
        # The thread that updates the clock uses host time, so that it can log while the clock is stale.
        return host_time_ns() if threading.current_thread() is own else clock.now().micros * 1_000

    def jumped(_change: ClockChange) -> None:
        # Resets id generators such as `uuid1`, which would otherwise continue from a later time.
        traveler.move_to(clock.now().micros // 1_000_000)

    with time_machine.travel(clock.now().micros // 1_000_000, tick=False) as traveler:
        traveler.time_ns = time_ns  # type: ignore[method-assign]
        remove = clock.on_jump(jumped)
        try:
            yield clock
        finally:
            remove()
