"""Messages of `stream` and `firings_stream`, which the OpenAPI document describes only in prose."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from . import schemas

# Functional syntax, because `from` is a keyword in Python.
DueBody = TypedDict("DueBody", {"from": str, "to": str, "time_range": str})
"""A range of virtual time with events that the clock has passed: its first and last instant, and the range as text."""


class StreamMessage(TypedDict):
    """A change on a timeline. Its members depend on the name of the event."""

    timeline_id: str
    """The timeline."""
    position: int
    """The position of the ledger entry."""
    clock: NotRequired[schemas.ClockBody]
    """The clock after the change."""
    change: NotRequired[Literal["recorded", "corrected", "manipulated", "created", "resolved"]]
    """The change of an event or a paradox."""
    event_id: NotRequired[str]
    """The event's id."""
    event: NotRequired[schemas.EventBody]
    """The event as it was recorded or corrected; absent if it has been erased since."""
    intervention: NotRequired[schemas.InterventionBody]
    """The intervention; absent if it has been erased since."""
    paradox: NotRequired[schemas.ParadoxBody]
    """The paradox that was created or resolved. A resolved one is sent as it was before."""
    due: NotRequired[DueBody]
    """The virtual time that the clock has passed, if it contains events."""


class FiringBody(TypedDict):
    """A firing and its change."""

    change: str
    """The change; docs/timers.md lists all values."""
    firing_id: str
    """The id of the firing."""
    timer_id: str
    """The timer that fired."""
    due: str
    """The due time."""
    round: int
    """The round of the timer."""
    queue: NotRequired[str]
    """The queue of the firing; absent if it records an event."""
    event_id: NotRequired[str]
    """The event that it recorded, if its timer records events."""
    order_key: NotRequired[str]
    """Firings with the same key are delivered one at a time."""
    claimed_by: NotRequired[str]
    """The user who claimed it."""
    attempt: NotRequired[int]
    """The number of this attempt, from 1."""
    leased_until: NotRequired[str]
    """Host time at which the lease ends."""
    not_before: NotRequired[str]
    """Earliest host time of the next attempt."""
    reason: NotRequired[str]
    """The reason of the failure."""


class FiringMessage(TypedDict):
    """A change of a firing."""

    timeline_id: str
    """The timeline."""
    position: int
    """The position of the newest reported ledger entry."""
    firing: NotRequired[FiringBody]
    """The firing and its change; absent if the event is `gap` or `reset`."""
