"""The firing that a handler receives, with a clock fixed at its due time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from . import schemas
from ._errors import WaitPastFiringError
from ._instant import Instant, When, duration_micros

C = TypeVar("C")


class FiringClock:
    """The clock of a handler. It always shows the due time of the firing, even if the firing is delivered later."""

    def __init__(self, due: Instant) -> None:
        self._due = due

    def __repr__(self) -> str:
        return f"<FiringClock at {self._due}>"

    def now(self) -> Instant:
        """Returns the due time of the firing."""
        return self._due

    def datetime(self) -> datetime:
        """Returns the due time as an aware `datetime` in UTC. Raises `DatetimeRangeError` outside its range."""
        return self._due.datetime()

    def time(self) -> float:
        """Returns the due time in seconds since 1970, like `time.time()`."""
        return self._due.timestamp()

    def until(self, when: When) -> Instant:
        """Returns at once if the due time is at or after the moment. Otherwise raises `WaitPastFiringError`.

        The clock cannot reach a later moment before this handler finishes.
        """
        target = Instant.of(when)
        if target > self._due:
            raise WaitPastFiringError(
                f"the clock stays at {self._due} until this handler is done, so it cannot reach {target}; "
                "set a timer for that moment, and return"
            )
        return self._due

    def sleep(self, duration: timedelta | float) -> Instant:
        """Raises `WaitPastFiringError` if the duration is more than 0."""
        return self.until(Instant(self._due.micros + duration_micros(duration)))


@dataclass(frozen=True, slots=True)
class Firing(Generic[C]):
    """A due timer, delivered to a handler."""

    id: str
    """The id, which is the same for all attempts. Use it to make the handler idempotent."""
    timer_id: str
    timeline_id: str
    due: Instant
    """The due time."""
    payload: Any
    """The payload of the timer."""
    attempt: int
    """The number of this attempt, from 1."""
    round: int
    """The round of the timer, which is incremented when the clock goes back and the timer fires again."""
    generation: int
    """The generation of the clock."""
    step: int | None
    """The number of instants that the advance has reached; None outside an advance."""
    order_key: str | None
    """Firings with the same key are delivered one at a time."""
    lease_id: str | None
    """The id of the lease, which is new for each claim. None in responses of older services."""
    clock: FiringClock = field(repr=False)
    """A clock that always shows `due`."""
    client: C = field(repr=False)
    """A client for the handler. Its requests carry the id of the firing."""

    @classmethod
    def of(cls, body: schemas.ClaimedFiringBody, client: C) -> Firing[C]:
        """Parses a claimed firing."""
        due = Instant.parse(body["due"])
        return cls(
            id=body["firing_id"],
            timer_id=body["timer_id"],
            timeline_id=body["timeline_id"],
            due=due,
            payload=body["payload"],
            attempt=body["attempt"],
            round=body["round"],
            generation=body["generation"],
            step=body.get("step"),
            order_key=body.get("order_key"),
            lease_id=body.get("lease_id"),
            clock=FiringClock(due),
            client=client,
        )
