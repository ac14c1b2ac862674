"""Messages of watches: changes of firings, and ranges that the clock has passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from ._follower import StalenessBounds
from ._instant import Instant
from ._operations import OPERATIONS
from ._request import UNSET, Operation
from ._sse import ServerSentEvent

T = TypeVar("T")
IDLE_TIMEOUT_SECONDS = StalenessBounds().stale_after
"""Seconds without data after which a connection counts as lost. The service sends a heartbeat every 15 seconds."""

FiringChange = Literal[
    "offered", "redelivered", "leased", "extended", "tried_again", "acknowledged", "failed", "superseded"
]
"""A change of a firing (docs/timers.md). Newer services may send others."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap in a watch: messages may be missing here."""

    id: str
    """The id of the message."""
    is_reset: bool
    """Whether messages of any kind may be missing: reload your state. This happens after an interruption of more than
    100,000 entries, or if the connection was lost before the service had sent an id. If false, only claims, extensions
    and failed attempts may be missing, which are not in the ledger.
    """


@dataclass(frozen=True, slots=True)
class WatchedFiring:
    """A firing and its change."""

    change: FiringChange
    """The change."""
    firing_id: str
    """The id of the firing."""
    timer_id: str
    """The timer that fired."""
    due: Instant
    """The due time, in virtual time."""
    round: int
    """The round of the timer."""
    queue: str | None
    """The queue of the firing; `timenav:webhook` if it is sent as a webhook. None if it records an event."""
    event_id: str | None
    """The event that it recorded, if its timer records events."""
    order_key: str | None
    """Firings with the same key are delivered one at a time."""
    claimed_by: str | None
    """The user who claimed it."""
    attempt: int | None
    """The number of this attempt, from 1."""
    leased_until: Instant | None
    """Host time at which the lease ends."""
    not_before: Instant | None
    """Earliest host time of the next attempt."""
    reason: str | None
    """The reason of the failure."""


@dataclass(frozen=True, slots=True)
class FiringUpdate:
    """A change of a firing."""

    id: str
    """The id of the message, to resume after it."""
    timeline_id: str
    position: int
    """The position of the newest reported ledger entry."""
    firing: WatchedFiring
    """The firing and its change."""


@dataclass(frozen=True, slots=True)
class DueRange:
    """A range of virtual time with events that the clock has passed. Both ends are included."""

    id: str
    """The id of the message, to resume after it."""
    timeline_id: str
    position: int
    """The position of the newest reported ledger entry."""
    first: Instant
    """Its first instant."""
    last: Instant
    """Its last instant."""
    time_range: str
    """The range in the format that `monitor_events` takes."""


@dataclass(frozen=True, slots=True)
class Stream(Generic[T]):
    """How to open a stream, and how to parse its messages."""

    operation: Operation
    arguments: Mapping[str, Any]
    parse: Callable[[ServerSentEvent[Any]], T | None]
    """Returns None for a message whose kind is unknown to this version."""

    def parameters(self, last_id: str) -> dict[str, Any]:
        """Returns the parameters to resume after a message, or to begin now if `last_id` is empty."""
        return {**self.arguments, "last_event_id": last_id or UNSET}


def firings_stream(queue: str | None, timeline_id: str | None) -> Stream[FiringUpdate | Gap]:
    """Returns the stream of firing changes."""
    arguments = {"queue": UNSET if queue is None else queue, "timeline_id": timeline_id or UNSET}
    return Stream(OPERATIONS["firings_stream"], arguments, _firing_update)


def due_stream(timeline_id: str | None) -> Stream[DueRange | Gap]:
    """Returns the stream of ranges that the clock has passed."""
    return Stream(OPERATIONS["stream"], {"topics": "due", "timeline_id": timeline_id or UNSET}, _due_range)


RESET: ServerSentEvent[Any] = ServerSentEvent("reset", "", {})
"""Reported if a connection was lost before the service had sent an id."""


def _firing_update(event: ServerSentEvent[Any]) -> FiringUpdate | Gap | None:
    if event.event != "firing":
        return _gap(event)
    body = event.data["firing"]
    firing = WatchedFiring(
        change=body["change"],
        firing_id=body["firing_id"],
        timer_id=body["timer_id"],
        due=Instant.parse(body["due"]),
        round=body["round"],
        queue=body.get("queue"),
        event_id=body.get("event_id"),
        order_key=body.get("order_key"),
        claimed_by=body.get("claimed_by"),
        attempt=body.get("attempt"),
        leased_until=_instant(body.get("leased_until")),
        not_before=_instant(body.get("not_before")),
        reason=body.get("reason"),
    )
    return FiringUpdate(event.id, event.data["timeline_id"], event.data["position"], firing)


def _due_range(event: ServerSentEvent[Any]) -> DueRange | Gap | None:
    if event.event != "due":
        return _gap(event)
    due = event.data["due"]
    first, last = Instant.parse(due["from"]), Instant.parse(due["to"])
    return DueRange(event.id, event.data["timeline_id"], event.data["position"], first, last, due["time_range"])


def _gap(event: ServerSentEvent[Any]) -> Gap | None:
    return Gap(event.id, event.event == "reset") if event.event in ("gap", "reset") else None


def _instant(text: str | None) -> Instant | None:
    return None if text is None else Instant.parse(text)
