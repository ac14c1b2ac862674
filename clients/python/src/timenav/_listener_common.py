"""Shared code of the listeners for threads and asyncio."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ._errors import ApiError, ClientClosedError
from ._firing import Firing
from ._request import UNSET
from ._retry import RetryPolicy, is_final

LOG = logging.getLogger("timenav")
CLAIM_SECONDS = 20.0
IDLE_CLAIM_MICROS = 5_000_000
"""The service considers a listener active for ten seconds after a claim. If a handler finishes this long after the last
claim, another claim is sent before the acknowledgment. Otherwise an advance could leave the instant before the
remaining firings are handled.
"""
REASON_LENGTH_MAX = 1_024
_ACK_TIMEOUT_SECONDS = (1.0, 600.0)
_CONCURRENCY_MAX = 1_000
_FIRINGS_MAX = 1_000
"""The maximum number of firings in a request."""
NO_RETRIES = RetryPolicy(attempts=1)
"""The retry policy of claims. The listener itself waits between claims, so that closing it interrupts the wait."""


Lease = tuple[str, str | None]
"""A leased firing: its id, and the id of its lease."""


def lease_of(firing: Firing[Any]) -> Lease:
    return firing.id, firing.lease_id


def log_unsettled(firing: Firing[Any], error: Exception) -> None:
    """Logs that the outcome of a firing could not be reported."""
    if isinstance(error, ApiError) and error.code == "lease_lost":
        LOG.warning("the lease of %s expired, and another worker has claimed the firing: %s", firing.id, error)
    else:
        LOG.warning(
            "the outcome of %s could not be reported, so the service will deliver the firing again: %s",
            firing.id,
            error,
        )


@dataclass(frozen=True, slots=True)
class ListenerOptions:
    """The parameters of a listener's claims."""

    queue: str
    timeline_id: str | None
    concurrency: int
    ack_timeout: float

    def __post_init__(self) -> None:
        """Rejects values that the service would reject."""
        minimum, maximum = _ACK_TIMEOUT_SECONDS
        if not minimum <= self.ack_timeout <= maximum:
            raise ValueError(f"ack_timeout must be {minimum:g} to {maximum:g} seconds, not {self.ack_timeout:g}")
        if not 1 <= self.concurrency <= _CONCURRENCY_MAX:
            raise ValueError(f"concurrency must be 1 to {_CONCURRENCY_MAX}, not {self.concurrency}")

    @property
    def extend_seconds(self) -> float:
        """The interval of lease extensions. A lease survives one failed extension."""
        return self.ack_timeout / 3

    def claim(self, free: int, response_timeout: float) -> dict[str, Any]:
        """Returns the parameters of a claim. Its wait is shorter than the response timeout."""
        wait = min(CLAIM_SECONDS, response_timeout / 2)
        return {
            "max": free,
            "wait": f"{wait:.3f}s" if wait >= 0.001 else "0s",
            "ack_timeout": f"{self.ack_timeout:.3f}s",
            "timeline_id": self.timeline_id or UNSET,
        }

    def lease_parameters(self, leased: Collection[Lease]) -> dict[str, Any]:
        """Returns the ids of firings and their leases as request parameters."""
        firings = dict.fromkeys(firing_id for firing_id, _ in leased)
        leases = {lease_id for _, lease_id in leased}
        # Older services do not return a lease.
        lease_ids = UNSET if None in leases else sorted(lease_id for lease_id in leases if lease_id is not None)
        return {"firing_ids": list(firings), "lease_ids": lease_ids, "timeline_id": self.timeline_id or UNSET}

    def free_slots(self, running: int, leased: int) -> int:
        """Returns how many more handlers may start.

        A handler frees its slot when it finishes, before its outcome is reported. If more outcomes than `concurrency`
        are unreported, claiming stops, so that a fast handler does not accumulate firings when the service is slow.
        """
        return max(0, self.concurrency - running) if leased - running <= self.concurrency else 0

    def extensions(self, leased: Collection[Lease]) -> list[dict[str, Any]]:
        """Returns the parameters of the requests that extend leases."""
        firings = list(leased)
        parts = (firings[first : first + _FIRINGS_MAX] for first in range(0, len(firings), _FIRINGS_MAX))
        return [{**self.lease_parameters(part), "ttl": f"{self.ack_timeout:.3f}s"} for part in parts]


def reason(error: BaseException) -> str:
    """Returns the failure reason of a handler error, truncated to the service's limit."""
    # The limit is in bytes. An incomplete character at the end is dropped.
    return f"{type(error).__name__}: {error}".encode()[:REASON_LENGTH_MAX].decode(errors="ignore")


def is_fatal(error: Exception) -> bool:
    """Returns whether a failed claim must not be retried."""
    return isinstance(error, ClientClosedError) or (isinstance(error, ApiError) and is_final(error))
