"""What listeners with threads and with asyncio have in common."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ._clock_reads import is_final
from ._errors import ApiError, ClientClosedError
from ._firing import Firing
from ._request import UNSET
from ._retry import Retries

LOG = logging.getLogger("timenav")
CLAIM_SECONDS = 20.0
IDLE_CLAIM_MICROS = 5_000_000
"""A queue counts as heard for ten seconds after a claim. A handler that takes longer is followed by another claim
before it is acknowledged, or else the clock would leave what is left at this moment behind."""
REASON_LENGTH_MAX = 1_024
_ACK_TIMEOUT_SECONDS = (1.0, 600.0)
_CONCURRENCY_MAX = 1_000
_NAMED_MAX = 1_000
"""Firings that one request may name."""
ONCE = Retries(attempts=1)
"""A listener waits by itself between two claims, so that nothing keeps it from stopping."""


Held = tuple[str, str | None]
"""A firing in hand: its id, and that of the lease."""


def held(firing: Firing[Any]) -> Held:
    """Returns what a firing is held by."""
    return firing.id, firing.lease_id


def log_unsettled(firing: Firing[Any], error: Exception) -> None:
    """Logs that the service does not know what became of a firing."""
    if isinstance(error, ApiError) and error.code == "lease_lost":
        LOG.warning("%s took longer than its lease lasted, and another worker has it: %s", firing.id, error)
    else:
        LOG.warning("the service was not told what became of %s, and hands it out again: %s", firing.id, error)


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

    def named(self, in_hand: Collection[Held]) -> dict[str, Any]:
        """Returns what names firings, and the leases that they are held under."""
        firings = dict.fromkeys(firing_id for firing_id, _ in in_hand)
        leases = {lease_id for _, lease_id in in_hand}
        # A service of an earlier version tells no lease.
        lease_ids = UNSET if None in leases else sorted(lease_id for lease_id in leases if lease_id is not None)
        return {"firing_ids": list(firings), "lease_ids": lease_ids, "timeline_id": self.timeline_id or UNSET}

    def free(self, running: int, in_hand: int) -> int:
        """Returns how many handlers more may run.

        One that is done makes room while the service is told. Where it is being told of more firings than handlers may
        run, no more is claimed: a slow service would have a fast handler hold ever more.
        """
        return max(0, self.concurrency - running) if in_hand - running <= self.concurrency else 0

    def extensions(self, in_hand: Collection[Held]) -> list[dict[str, Any]]:
        """Returns what keeps firings for longer, for each request."""
        firings = list(in_hand)
        parts = (firings[first : first + _NAMED_MAX] for first in range(0, len(firings), _NAMED_MAX))
        return [{**self.named(part), "ttl": f"{self.ack_timeout:.3f}s"} for part in parts]


def reason(error: BaseException) -> str:
    """Returns what is said of a handler that failed."""
    # The service counts bytes, and a character has at most four of them.
    return f"{type(error).__name__}: {error}".encode()[:REASON_LENGTH_MAX].decode(errors="ignore")


def ends_it(error: Exception) -> bool:
    """Tells whether a claim that was refused will always be."""
    return isinstance(error, ClientClosedError) or (isinstance(error, ApiError) and is_final(error))
