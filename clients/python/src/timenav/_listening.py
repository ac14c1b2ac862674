"""What listeners with threads and with asyncio have in common."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._clock_reads import is_final
from ._errors import Problem
from ._request import UNSET
from ._retry import Retries

LOG = logging.getLogger("timenav")
CLAIM_SECONDS = 20.0
HEARD_MICROS = 5_000_000
"""A queue counts as heard for ten seconds after a claim. A handler that takes longer is followed by another claim
before it is acknowledged, or else the clock would leave what is left at this moment behind."""
REASON_LENGTH_MAX = 1_024
_ACK_TIMEOUT_SECONDS = (1.0, 600.0)
_CONCURRENCY_MAX = 1_000
ONCE = Retries(attempts=1)
"""A listener waits by itself between two claims, so that nothing keeps it from stopping."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a listener claims, and on which terms."""

    queue: str
    timeline_id: str | None
    concurrency: int
    ack_timeout: float

    def __post_init__(self) -> None:
        """Refuses what the service would refuse, before anything is sent."""
        least, most = _ACK_TIMEOUT_SECONDS
        if not least <= self.ack_timeout <= most:
            raise ValueError(f"ack_timeout must be {least:g} to {most:g} seconds, not {self.ack_timeout:g}")
        if not 1 <= self.concurrency <= _CONCURRENCY_MAX:
            raise ValueError(f"concurrency must be 1 to {_CONCURRENCY_MAX}, not {self.concurrency}")

    @property
    def extend_seconds(self) -> float:
        """How long after it was claimed a firing is kept for longer, so that two requests may fail."""
        return self.ack_timeout / 3

    def claim(self, free: int, answer_timeout: float) -> dict[str, Any]:
        """Returns what a claim is given; it waits where the answer may be waited for."""
        wait = min(CLAIM_SECONDS, answer_timeout / 2)
        return {
            "max": free,
            "wait": f"{wait:.3f}s" if wait >= 0.001 else "0s",
            "ack_timeout": f"{self.ack_timeout:.3f}s",
            "timeline_id": self.timeline_id or UNSET,
        }

    def named(self, firing_ids: Iterable[str]) -> dict[str, Any]:
        """Returns what names firings."""
        return {"firing_ids": list(firing_ids), "timeline_id": self.timeline_id or UNSET}

    def extension(self, firing_ids: Iterable[str]) -> dict[str, Any]:
        """Returns what keeps firings for longer."""
        return {**self.named(firing_ids), "ttl": f"{self.ack_timeout:.3f}s"}


def reason(error: Exception) -> str:
    """Returns what is said of a handler that failed."""
    # The service counts bytes, and a character has at most four of them.
    return f"{type(error).__name__}: {error}".encode()[:REASON_LENGTH_MAX].decode(errors="ignore")


def ends_it(error: Exception) -> bool:
    """Tells whether a claim that was refused will always be."""
    return isinstance(error, Problem) and is_final(error)
