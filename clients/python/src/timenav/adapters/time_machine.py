"""An adapter that makes `time` and `datetime` follow a virtual clock, with `time-machine`.

Each reading is that of the clock, at any rate, paused or running, before and after each jump. Functions that
`time-machine` does not fake use the host's time: monotonic clocks, sleeps, event loops.
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

    If the clock cannot be read, reading the time raises `ClockUnavailableError`. Outside the years 1 to 9999, which
    `datetime` does not support, reading it raises the exception of `datetime`.
    """
    own = clock.thread

    def time_ns() -> int:
        # The thread that updates the clock must not read it: its log uses host time.
        return host_time_ns() if threading.current_thread() is own else clock.now().micros * 1_000

    def jumped(_change: ClockChange) -> None:
        # Resets the state of id generators that depend on the time, which may have been at a later time before.
        traveller.move_to(clock.now().micros // 1_000_000)

    with time_machine.travel(clock.now().micros // 1_000_000, tick=False) as traveller:
        traveller.time_ns = time_ns  # type: ignore[method-assign]
        remove = clock.on_jump(jumped)
        try:
            yield clock
        finally:
            remove()
