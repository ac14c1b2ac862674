"""Test utilities: a clock with controls, and a service."""

from __future__ import annotations

from datetime import datetime, timedelta

from . import schemas
from ._client import Client
from ._errors import FiringsFailedError
from ._firing import Firing
from ._follower import Reading
from ._instant import Instant, When
from ._listener import Handler, Listener
from ._receipt import Receipt
from ._request import Duration
from ._service import Service
from ._virtual_clock import VirtualClock

__all__ = ["Service", "TestClock"]

_WAIT_SECONDS_MAX = 10.0


class TestClock:
    """A clock with controls for tests. Each control returns when this clock shows the change."""

    __test__ = False
    """Prevents pytest from collecting this class."""

    def __init__(self, client: Client, clock: VirtualClock, timeline_id: str) -> None:
        self.client = client
        self.clock = clock
        self.timeline_id = timeline_id
        self._raised: dict[str, BaseException] = {}

    def now(self) -> Instant:
        """Returns the clock's reading."""
        return self.clock.now()

    def datetime(self) -> datetime:
        """Returns the reading as an aware `datetime` in UTC."""
        return self.clock.datetime()

    def time(self) -> float:
        """Returns the reading in seconds since 1970."""
        return self.clock.time()

    def until(self, when: When, *, timeout: float | None = None) -> Reading:
        """Waits until the clock shows a moment."""
        return self.clock.until(when, timeout=timeout)

    def sleep(self, duration: timedelta | float, *, timeout: float | None = None) -> Reading:
        """Waits for a duration of virtual time."""
        return self.clock.sleep(duration, timeout=timeout)

    def travel(self, when: When) -> Reading:
        """Moves the clock to a moment."""
        return self._wait_for(self.client.travel(destination_time=when, timeline_id=self.timeline_id))

    def fast_forward(self, duration: Duration) -> Reading:
        """Moves the clock forward."""
        return self._wait_for(self.client.fast_forward(duration=duration, timeline_id=self.timeline_id))

    def rewind(self, duration: Duration) -> Reading:
        """Moves the clock back."""
        return self._wait_for(self.client.rewind(duration=duration, timeline_id=self.timeline_id))

    def advance(
        self, duration: Duration | None = None, *, to: When | None = None, allow_failed_firings: bool = False
    ) -> Receipt:
        """Moves the clock forward, and returns the receipt when this clock shows the change.

        If a handler of `on` failed, its own exception is raised; for other failed firings, `FiringsFailedError`. With
        `allow_failed_firings`, neither is raised.
        """
        receipt = self.client.advance(duration, to=to, timeline_id=self.timeline_id, allow_failed_firings=True)
        self._wait_for(self.client.clock(timeline_id=self.timeline_id))
        if not allow_failed_firings:
            self._raise_failed(receipt)
        self._raised.clear()
        return receipt

    def on(self, queue: str, handler: Handler) -> Listener:
        """Passes firings of a queue to a handler, until the listener is closed.

        If the handler fails, the control that moved the clock to the firing raises its exception. If no control waited
        for the handler, `raise_failure` raises it.
        """

        def recorded(firing: Firing[Client]) -> None:
            try:
                handler(firing)
            except BaseException as error:
                self._raised[firing.id] = error
                raise
            # Clear the exception of an earlier attempt.
            self._raised.pop(firing.id, None)

        return self.client.on(queue, recorded, timeline_id=self.timeline_id)

    def raise_failure(self) -> None:
        """Raises the exception of a failed handler, if it was not raised yet. Fixtures call it at the end of a test."""
        if self._raised:
            error = next(iter(self._raised.values()))
            self._raised.clear()
            raise error

    def _raise_failed(self, receipt: Receipt) -> None:
        """If firings failed, raises the exception of a handler that this clock ran, or else `FiringsFailedError`."""
        if receipt.failed == 0:
            return
        for firing in receipt.firings:
            if firing["state"] == "failed" and firing["firing_id"] in self._raised:
                error = self._raised[firing["firing_id"]]
                self._raised.clear()
                raise error
        self.raise_failure()
        raise FiringsFailedError(receipt)

    def set_rate(self, rate: float) -> Reading:
        """Sets the rate of the clock, in virtual seconds per host second."""
        return self._wait_for(self.client.set_rate(rate=rate, timeline_id=self.timeline_id))

    def pause(self) -> Reading:
        """Pauses the clock."""
        return self._wait_for(self.client.pause_time(timeline_id=self.timeline_id))

    def resume(self) -> Reading:
        """Resumes the clock."""
        return self._wait_for(self.client.resume_time(timeline_id=self.timeline_id))

    def _wait_for(self, changed: schemas.ClockBody) -> Reading:
        """Waits until the change has arrived on the stream, so that the next read of the test shows it."""
        reading = self.clock.until_generation(changed["generation"], timeout=_WAIT_SECONDS_MAX)
        settled = changed.get("receipt")
        if settled is not None:
            self._raise_failed(Receipt.of(settled))
        return reading
