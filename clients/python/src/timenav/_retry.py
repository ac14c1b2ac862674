"""Which requests are sent again, and when."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Literal

Outcome = Literal["not_sent", "no_answer"] | int
"""What came of a request: it was never sent, no answer came, or an HTTP status."""

_DELAY_FIRST = 0.1
_DELAY_MAX = 5.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again, and how long all of its waiting may take."""

    attempts: int = 4
    """How often it is sent in all; 1 sends nothing again."""
    wait_max: float = 30.0
    """Seconds. Where the service asks for more, its answer is given to the caller at once."""

    def wait(
        self, attempt: int, outcome: Outcome, *, is_repeatable: bool, retry_after: float | None, waited: float
    ) -> float | None:
        """Returns how many seconds to wait before the next attempt; None where there is none.

        `attempt` counts from 1. A request is repeatable if sending it twice does no more than sending it once: it only
        looks, or carries an idempotency key.
        """
        if attempt >= self.attempts or not _is_worth_it(outcome, is_repeatable):
            return None
        # Anything up to twice the delay, so that those who failed together do not come back together.
        delay = min(_DELAY_FIRST * 2 ** (attempt - 1), _DELAY_MAX)
        wait = retry_after if retry_after is not None else delay * (0.5 + secrets.randbelow(1_000) / 1_000)
        return wait if waited + wait <= self.wait_max else None


def _is_worth_it(outcome: Outcome, is_repeatable: bool) -> bool:
    # Refused before anything was done: by its quota, for want of room, or because it could not be written.
    if outcome in ("not_sent", 429, 503):
        return True
    # It may have happened, and the answer was lost, here or in a proxy.
    return is_repeatable and outcome in ("no_answer", 502, 504)


def retry_after(text: str | None) -> float | None:
    """Reads a `Retry-After` header: seconds, or an HTTP date."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max((at - datetime.now(timezone.utc)).total_seconds(), 0.0)
