"""The receipt of a clock change that passed timers, and the wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import schemas
from ._errors import FiringsFailedError, NotSettledError
from ._host_time import monotonic_micros
from ._instant import Instant, When
from ._request import UNSET, IfMatch, Length, Unset
from ._retry import Retries

_ANSWER_SECONDS = 30.0
_ATTEMPTS = 64


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an advance."""

    timeline_id: str
    state: Literal["settled", "running", "stopped", "stuck"]
    """`settled` at the destination; `stopped` if the clock was paused or held for too long, `stuck` if
    timers kept arming themselves for the same instant."""
    reached: Instant
    """The time that the clock has reached."""
    to: Instant
    """The destination."""
    fired: int
    """The number of firings."""
    acknowledged: int
    failed: int
    unacknowledged: int
    """The number of firings without an outcome. In a settled advance, their queues have no listener."""
    firings: Sequence[schemas.FiringBody]
    """The first 100 firings."""
    advance_id: str | None = None
    """None if the clock passed no timer."""
    held_by: str | None = None
    """The worker, hold or followers that the last instant waited for."""

    @classmethod
    def of(cls, settled: schemas.ReceiptBody) -> Receipt:
        """Reads a receipt."""
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


class Waiting:
    """What an advance is asked for, and for how long its end is waited for. Knows no network."""

    def __init__(
        self,
        duration: Length | None,
        to: When | None,
        timeline_id: str | None,
        if_match: IfMatch | Unset,
        *,
        timeout: float | None,
        check: bool,
        answer_timeout: float,
    ) -> None:
        """Takes what the caller said."""
        if (duration is None) == (to is None):
            raise ValueError("say by how much the clock moves (`duration`), or where to (`to`), and not both")
        self.operation = "fast_forward" if to is None else "travel"
        self._where: dict[str, Any] = {"duration": duration} if to is None else {"destination_time": to}
        self._timeline = timeline_id
        self._if_match = if_match
        self._timeout = timeout
        self._check = check
        self._deadline = None if timeout is None else monotonic_micros() + round(timeout * 1_000_000)
        # The answer comes before whoever waits for it gives up.
        self._answer_seconds = min(_ANSWER_SECONDS, answer_timeout / 2)

    @property
    def given(self) -> dict[str, Any]:
        """What the clock change is given."""
        return {**self._where, "timeline_id": self._timeline or UNSET, "if_match": self._if_match, "wait": self._wait()}

    @property
    def question(self) -> dict[str, Any]:
        """What is given to the question after an advance that goes on."""
        return {"timeline_id": self._timeline or UNSET, "wait": self._wait()}

    def receipt(self, changed: schemas.ClockBody) -> Receipt | None:
        """Reads the answer to the clock change. None while the advance goes on."""
        settled = changed.get("receipt")
        if settled is not None:
            return self.settled(settled)
        current = Instant.parse(changed["current_time"])
        return Receipt(changed["timeline_id"], "settled", current, current, 0, 0, 0, 0, [])

    def settled(self, settled: schemas.ReceiptBody) -> Receipt | None:
        """Reads how an advance stands. None while it goes on.

        Raises `NotSettledError` if it ended before its destination, `FiringsFailedError` if firings failed and that is
        checked, and `TimeoutError` when `timeout` is over.
        """
        receipt = Receipt.of(settled)
        if receipt.state in ("stopped", "stuck"):
            raise NotSettledError(receipt)
        if receipt.state != "running":
            if self._check and receipt.failed > 0:
                raise FiringsFailedError(receipt)
            return receipt
        if self._deadline is not None and monotonic_micros() >= self._deadline:
            progress = f"the advance {receipt.advance_id} has come to {receipt.reached} in {self._timeout:g} s"
            raise TimeoutError(f"{progress}, and goes on to {receipt.to}; ask for its receipt, or pause the clock")
        return None

    def _wait(self) -> str:
        left = self._answer_seconds
        if self._deadline is not None:
            left = min(left, (self._deadline - monotonic_micros()) / 1_000_000)
        return f"{left:.3f}s" if left >= 0.001 else "0s"


def patient(retries: Retries) -> Retries:
    """Returns retries for what goes on without us: the answer can still be had once the service is back."""
    return Retries(max(retries.attempts, _ATTEMPTS), max(retries.wait_max, Retries().wait_max))
