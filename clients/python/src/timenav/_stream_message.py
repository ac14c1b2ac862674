"""A message of `stream`, which the OpenAPI document of this version describes in words alone."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from . import schemas


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
