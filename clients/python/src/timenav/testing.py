"""What tests use: a clock with its controls, and a service of one's own."""

from __future__ import annotations

from datetime import datetime, timedelta

from . import schemas
from ._client import Client
from ._follower import Reading
from ._instant import Instant, When
from ._listener import Handler, Listener
from ._receipt import Receipt
from ._request import Length
from ._service import Service
from ._virtual_clock import VirtualClock

__all__ = ["Service", "TestClock"]

_SEEN_SECONDS_MAX = 10.0


class TestClock:
    """A clock and its controls. Each control returns when this clock shows what it did."""

    __test__ = False
    """Tells pytest that this is no test."""

    def __init__(self, client: Client, clock: VirtualClock, timeline_id: str) -> None:
        """Puts the clock of a timeline beside its controls."""
        self.client = client
        self.clock = clock
        self.timeline_id = timeline_id

    def now(self) -> Instant:
        """Returns what the clock shows."""
        return self.clock.now()

    def datetime(self) -> datetime:
        """Returns what the clock shows as an aware `datetime` in UTC."""
        return self.clock.datetime()

    def time(self) -> float:
        """Returns what the clock shows in seconds since 1970."""
        return self.clock.time()

    def until(self, when: When, *, timeout: float | None = None) -> Reading:
        """Waits until the clock shows a moment."""
        return self.clock.until(when, timeout=timeout)

    def sleep(self, length: timedelta | float, *, timeout: float | None = None) -> Reading:
        """Waits a length of virtual time."""
        return self.clock.sleep(length, timeout=timeout)

    def travel(self, when: When) -> Reading:
        """Moves the clock to a moment."""
        return self._seen(self.client.travel(destination_time=when, timeline_id=self.timeline_id))

    def fast_forward(self, length: Length) -> Reading:
        """Moves the clock forward."""
        return self._seen(self.client.fast_forward(duration=length, timeline_id=self.timeline_id))

    def rewind(self, length: Length) -> Reading:
        """Moves the clock back."""
        return self._seen(self.client.rewind(duration=length, timeline_id=self.timeline_id))

    def advance(self, duration: Length | None = None, *, to: When | None = None) -> Receipt:
        """Moves the clock forward and returns what came of it, once this clock shows it."""
        receipt = self.client.advance(duration, to=to, timeline_id=self.timeline_id)
        self._seen(self.client.clock(timeline_id=self.timeline_id))
        return receipt

    def on(self, queue: str, handler: Handler) -> Listener:
        """Hands what fires in a queue to a handler, until the listener is closed."""
        return self.client.on(queue, handler, timeline_id=self.timeline_id)

    def set_rate(self, rate: float) -> Reading:
        """Changes how fast the clock runs."""
        return self._seen(self.client.set_rate(rate=rate, timeline_id=self.timeline_id))

    def pause(self) -> Reading:
        """Pauses the clock."""
        return self._seen(self.client.pause_time(timeline_id=self.timeline_id))

    def resume(self) -> Reading:
        """Resumes the clock."""
        return self._seen(self.client.resume_time(timeline_id=self.timeline_id))

    def _seen(self, changed: schemas.ClockBody) -> Reading:
        """Waits until the change has come over the stream, so that the next line of a test sees it."""
        return self.clock.until_generation(changed["generation"], timeout=_SEEN_SECONDS_MAX)
