"""The common part of the listeners for threads and asyncio."""

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
"""The service assumes a listener for ten seconds after a claim. If a handler takes longer, another claim is sent before
its acknowledgment. Otherwise an advance would leave the instant without the remaining firings.
"""
REASON_LENGTH_MAX = 1_024
_ACK_TIMEOUT_SECONDS = (1.0, 600.0)
_CONCURRENCY_MAX = 1_000
_NAMED_MAX = 1_000
"""The maximum number of firings in a request."""
ONCE = Retries(attempts=1)
"""The retry policy of claims: the listener waits between two claims by itself, so that closing it interrupts the wait.
"""


Held = tuple[str, str | None]
"""A leased firing: its id, and the id of its lease."""


def held(firing: Firing[Any]) -> Held:
    return firing.id, firing.lease_id


def log_unsettled(firing: Firing[Any], error: Exception) -> None:
    """Logs that the outcome of a firing could not be reported."""
    if isinstance(error, ApiError) and error.code == "lease_lost":
        LOG.warning("%s took longer than its lease, and another worker has it: %s", firing.id, error)
    else:
        LOG.warning("the outcome of %s could not be reported, so the service delivers it again: %s", firing.id, error)


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of a listener's claims."""

    queue: str
    timeline_id: str | None
    concurrency: int
    ack_timeout: float

    def __post_init__(self) -> None:
        """Rejects values that the service would reject."""
        least, most = _ACK_TIMEOUT_SECONDS
        if not least <= self.ack_timeout <= most:
            raise ValueError(f"ack_timeout must be {least:g} to {most:g} seconds, not {self.ack_timeout:g}")
        if not 1 <= self.concurrency <= _CONCURRENCY_MAX:
            raise ValueError(f"concurrency must be 1 to {_CONCURRENCY_MAX}, not {self.concurrency}")

    @property
    def extend_seconds(self) -> float:
        """The interval of lease extensions. It allows for two failed requests before a lease expires."""
        return self.ack_timeout / 3

    def claim(self, free: int, answer_timeout: float) -> dict[str, Any]:
        """Returns the parameters of a claim. Its wait is shorter than the timeout of the response."""
        wait = min(CLAIM_SECONDS, answer_timeout / 2)
        return {
            "max": free,
            "wait": f"{wait:.3f}s" if wait >= 0.001 else "0s",
            "ack_timeout": f"{self.ack_timeout:.3f}s",
            "timeline_id": self.timeline_id or UNSET,
        }

    def named(self, in_hand: Collection[Held]) -> dict[str, Any]:
        """Returns the ids of firings and of their leases, as request parameters."""
        firings = dict.fromkeys(firing_id for firing_id, _ in in_hand)
        leases = {lease_id for _, lease_id in in_hand}
        # Older services do not return a lease.
        lease_ids = UNSET if None in leases else sorted(lease_id for lease_id in leases if lease_id is not None)
        return {"firing_ids": list(firings), "lease_ids": lease_ids, "timeline_id": self.timeline_id or UNSET}

    def free(self, running: int, in_hand: int) -> int:
        """Returns how many more handlers may start.

        A finished handler frees its slot while its outcome is being reported. If more outcomes are being reported than
        handlers may run, claiming stops. Otherwise a fast handler would accumulate firings on a slow service.
        """
        return max(0, self.concurrency - running) if in_hand - running <= self.concurrency else 0

    def extensions(self, in_hand: Collection[Held]) -> list[dict[str, Any]]:
        """Returns the parameters of the requests that extend leases."""
        firings = list(in_hand)
        parts = (firings[first : first + _NAMED_MAX] for first in range(0, len(firings), _NAMED_MAX))
        return [{**self.named(part), "ttl": f"{self.ack_timeout:.3f}s"} for part in parts]


def reason(error: BaseException) -> str:
    """Returns the failure reason of a handler error, truncated to the service's limit."""
    # The limit is in bytes; a character cut in two is dropped.
    return f"{type(error).__name__}: {error}".encode()[:REASON_LENGTH_MAX].decode(errors="ignore")


def ends_it(error: Exception) -> bool:
    """Returns whether a rejected claim must not be retried."""
    return isinstance(error, ClientClosedError) or (isinstance(error, ApiError) and is_final(error))
