"""The receipt of an advance, and the requests that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import schemas
from ._errors import FiringsFailedError, NotSettledError
from ._host_time import deadline_after, monotonic_micros
from ._instant import Instant, When
from ._request import UNSET, Duration, IfMatch, Unset
from ._retry import RetryPolicy

_RESPONSE_SECONDS = 30.0
_ATTEMPTS = 64


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an advance."""

    timeline_id: str
    state: Literal["settled", "running", "stopped", "stuck"]
    """`settled` at the destination; `stopped` if the clock was paused, or held for too long; `stuck` if timers kept
    arming themselves for the same instant."""
    reached: Instant
    """The time that the clock has reached."""
    to: Instant
    """The destination."""
    fired: int
    """The number of firings."""
    acknowledged: int
    failed: int
    unacknowledged: int
    """The number of firings without an outcome. If the advance is settled, their queues have no listener."""
    firings: Sequence[schemas.FiringBody]
    """The first 100 firings."""
    advance_id: str | None = None
    """None if the clock passed no timer."""
    held_by: str | None = None
    """The worker, hold or followers that the last instant waited for; if the advance is stuck, the last timer."""

    @classmethod
    def of(cls, settled: schemas.ReceiptBody) -> Receipt:
        """Parses a receipt."""
        return cls(
            timeline_id=settled["timeline_id"],
            state=settled["state"],  # type: ignore[arg-type]
            reached=Instant.parse(settled["reached"]),
            to=Instant.parse(settled["to"]),
            fired=settled["fired"],
            acknowledged=settled["acknowledged"],
            failed=settled["failed"],
            unacknowledged=settled["unacknowledged"],
            firings=settled["firings"],
            advance_id=settled["advance_id"],
            held_by=settled.get("held_by"),
        )


class AdvanceWait:
    """The target of an advance, and the limits of the wait for it. Sends no request."""

    def __init__(
        self,
        duration: Duration | None,
        to: When | None,
        timeline_id: str | None,
        if_match: IfMatch | Unset,
        *,
        timeout: float | None,
        allow_failed_firings: bool,
        response_timeout: float,
    ) -> None:
        if (duration is None) == (to is None):
            raise ValueError("pass either `duration` or `to`")
        self.operation = "fast_forward" if to is None else "travel"
        self._target: dict[str, Any] = {"duration": duration} if to is None else {"destination_time": to}
        self._timeline = timeline_id
        self._if_match = if_match
        self._allow_failed_firings = allow_failed_firings
        self._deadline = deadline_after(timeout)
        # Less than the response timeout, so that the service responds before it.
        self._response_seconds = min(_RESPONSE_SECONDS, response_timeout / 2)

    @property
    def change_parameters(self) -> dict[str, Any]:
        """The parameters of the clock change."""
        return {
            **self._target,
            "timeline_id": self._timeline or UNSET,
            "if_match": self._if_match,
            "wait": self._wait(),
        }

    @property
    def receipt_parameters(self) -> dict[str, Any]:
        """The parameters of a request for the receipt."""
        return {"timeline_id": self._timeline or UNSET, "wait": self._wait()}

    def receipt(self, changed: schemas.ClockBody) -> Receipt | None:
        """Parses the response to the clock change. Returns None while the advance is running."""
        body = changed.get("receipt")
        if body is not None:
            return self.result(body)
        current = Instant.parse(changed["current_time"])
        return Receipt(changed["timeline_id"], "settled", current, current, 0, 0, 0, 0, [])

    def result(self, body: schemas.ReceiptBody) -> Receipt | None:
        """Parses a receipt. Returns None while the advance is running.

        Raises `NotSettledError` if the advance ended before its destination, `FiringsFailedError` if firings failed,
        unless that is allowed, and `TimeoutError` after `timeout`.
        """
        receipt = Receipt.of(body)
        if receipt.state in ("stopped", "stuck"):
            raise NotSettledError(receipt)
        if receipt.state != "running":
            if receipt.failed > 0 and not self._allow_failed_firings:
                raise FiringsFailedError(receipt)
            return receipt
        if self._deadline is not None and monotonic_micros() >= self._deadline:
            progress = f"the advance {receipt.advance_id} has only reached {receipt.reached}"
            raise TimeoutError(f"{progress} and continues to {receipt.to}; request its receipt, or pause the clock")
        return None

    def _wait(self) -> str:
        remaining = self._response_seconds
        if self._deadline is not None:
            remaining = min(remaining, (self._deadline - monotonic_micros()) / 1_000_000)
        return f"{remaining:.3f}s" if remaining >= 0.001 else "0s"


def with_more_retries(retries: RetryPolicy) -> RetryPolicy:
    """Returns a policy with more retries, because an advance continues during an outage."""
    return RetryPolicy(max(retries.attempts, _ATTEMPTS), max(retries.wait_max, RetryPolicy().wait_max))
