"""What a handler is given: a firing, and the clock that stands at its moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from . import schemas
from ._errors import BeyondFiringError
from ._instant import Instant, When

C = TypeVar("C")


class FiringClock:
    """The clock of a handler. It stands at the moment of the firing, however late the firing was handed out."""

    def __init__(self, due: Instant) -> None:
        """Stands at a moment."""
        self._due = due

    def __repr__(self) -> str:
        return f"<FiringClock at {self._due}>"

    def now(self) -> Instant:
        """Returns the moment of the firing."""
        return self._due

    def datetime(self) -> datetime:
        """Returns the moment as an aware `datetime` in UTC. Raises `DatetimeRangeError` outside its years."""
        return self._due.datetime()

    def time(self) -> float:
        """Returns the moment in seconds since 1970, as `time.time()` does."""
        return self._due.timestamp()

    def until(self, when: When) -> Instant:
        """Returns at once if the moment has come. Raises `BeyondFiringError` if not: nobody waits for themselves."""
        target = Instant.of(when)
        if target > self._due:
            raise BeyondFiringError(
                f"the clock stands at {self._due} until this handler is done, so it does not come to {target}; "
                "set a timer for that moment, and return"
            )
        return self._due

    def sleep(self, length: timedelta | float) -> Instant:
        """Raises `BeyondFiringError` if the length is more than 0."""
        micros = length // timedelta(microseconds=1) if isinstance(length, timedelta) else round(length * 1_000_000)
        return self.until(Instant(self._due.micros + micros))


@dataclass(frozen=True, slots=True)
class Firing(Generic[C]):
    """A due moment of a timer, for a handler."""

    id: str
    """The same for all attempts: store it if processing a firing twice would do harm."""
    timer_id: str
    timeline_id: str
    due: Instant
    """The due time."""
    payload: Any
    """The payload of the timer."""
    attempt: int
    """The number of this attempt, from 1."""
    round: int
    """The round of the timer: it grows when the clock goes back and the timer fires again."""
    generation: int
    """The generation of the clock."""
    step: int | None
    """The number of instants that the advance has reached; None outside an advance."""
    order_key: str | None
    """Firings with the same key are processed one after the other."""
    lease_id: str | None
    """The id of this claim's lease; every claim has a new one. None if the service has none."""
    clock: FiringClock = field(repr=False)
    """A clock that stays at `due`."""
    client: C = field(repr=False)
    """A client for the handler: its requests name the firing."""

    @classmethod
    def of(cls, body: schemas.ClaimedFiringBody, client: C) -> Firing[C]:
        """Reads a firing that was claimed."""
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
