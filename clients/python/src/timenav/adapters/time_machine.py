"""Lets `time`, `datetime` and their kin show a virtual clock, by way of `time-machine`.

Every reading is that of the clock at that moment, at any rate, paused or running, before and after each jump. What
`time-machine` leaves alone stays the host's: monotonic clocks, sleeps, event loops.
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
    """Shows a clock for as long as the block lasts.

    If the time is not known, reading it raises `ClockUnavailableError`, as reading the clock does. Years outside 1 to
    9999 do not fit into `datetime`, and raise what it raises.
    """
    own = clock.thread

    def time_ns() -> int:
        # What keeps the clock current must not read it: its log is written at host time.
        return host_time_ns() if threading.current_thread() is own else clock.now().micros * 1_000

    def jumped(_change: ClockChange) -> None:
        # It forgets what ids that are made of the time remember of a later one.
        traveller.move_to(clock.now().micros // 1_000_000)

    with time_machine.travel(clock.now().micros // 1_000_000, tick=False) as traveller:
        traveller.time_ns = time_ns  # type: ignore[method-assign]
        remove = clock.on_jump(jumped)
        try:
            yield clock
        finally:
            remove()
