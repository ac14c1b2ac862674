"""Messages of `stream` and `firings_stream`, which the OpenAPI document of this version describes in words alone."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from . import schemas

# `from` is a word of Python's.
DueBody = TypedDict("DueBody", {"from": str, "to": str, "time_range": str})
"""Virtual time that the clock has passed, and that has events: its first and last instant, and both as a range."""


class StreamMessage(TypedDict):
    """What happened on a timeline; which members there are depends on the name of the event."""

    timeline_id: str
    """The timeline."""
    position: int
    """Position of the ledger entry that tells it."""
    clock: NotRequired[schemas.ClockBody]
    """The clock as it is since then."""
    change: NotRequired[Literal["recorded", "corrected", "manipulated", "made", "healed"]]
    """What became of an event or a paradox."""
    event_id: NotRequired[str]
    """The event's id."""
    event: NotRequired[schemas.EventBody]
    """The event as it was recorded or corrected; absent if it was erased since."""
    intervention: NotRequired[schemas.InterventionBody]
    """What was done to the event; absent if it was erased since."""
    paradox: NotRequired[schemas.ParadoxBody]
    """The paradox that is there since, or is gone since and is told as it was."""
    due: NotRequired[DueBody]
    """The time that the clock has passed, if it has passed events."""


class FiringBody(TypedDict):
    """A firing, and what happened to it."""

    change: str
    """What happened: docs/timers.md lists it."""
    firing_id: str
    """The id of the firing."""
    timer_id: str
    """The timer that fired."""
    due: str
    """The moment at which it fell due."""
    round: int
    """The round of the timer."""
    queue: NotRequired[str]
    """The queue that it waits in; absent if it is recorded as an event."""
    event_id: NotRequired[str]
    """The event that it recorded, if its timer records events."""
    order_key: NotRequired[str]
    """Firings with the same key are worked on one after the other."""
    claimed_by: NotRequired[str]
    """Who has claimed it."""
    attempt: NotRequired[int]
    """Which attempt this is, from 1."""
    leased_until: NotRequired[str]
    """Host time until which it is leased."""
    not_before: NotRequired[str]
    """Host time before which it is not tried again."""
    reason: NotRequired[str]
    """Why it failed."""


class FiringMessage(TypedDict):
    """What happened to a firing."""

    timeline_id: str
    """The timeline."""
    position: int
    """Position of the newest ledger entry that was told."""
    firing: NotRequired[FiringBody]
    """The firing, and what happened to it; absent where the event is `gap` or `reset`."""
