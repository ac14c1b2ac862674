"""The retry policy of requests."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Literal

from ._errors import ApiError

Outcome = Literal["not_sent", "no_response"] | int
"""The outcome of an attempt: the request was not sent, no response arrived, or the HTTP status of the response."""

DELAY_FIRST = 0.1
_DELAY_MAX = 5.0
# HTTP statuses of permanent failures. All other failures may be temporary.
_FINAL = frozenset({400, 401, 403, 404, 409, 410})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to send a request, and how long to wait in total."""

    attempts: int = 4
    """The maximum number of attempts; 1 disables retries."""
    wait_max: float = 30.0
    """The maximum total wait, in seconds. If `Retry-After` exceeds it, the response is returned at once."""

    def wait(
        self, attempt: int, outcome: Outcome, *, is_repeatable: bool, retry_after: float | None, waited: float
    ) -> float | None:
        """Returns the wait before the next attempt, in seconds; None if there is no further attempt.

        `attempt` counts from 1. A request is repeatable if it is safe to send it twice: it only reads, or carries an
        idempotency key.
        """
        if attempt >= self.attempts or not _is_retryable(outcome, is_repeatable):
            return None
        delay = min(DELAY_FIRST * 2 ** (attempt - 1), _DELAY_MAX)
        wait = retry_after if retry_after is not None else _jittered(delay)
        return wait if waited + wait <= self.wait_max else None


def next_delay(delay: float, problem: Exception | None) -> tuple[float, float]:
    """Returns the seconds until a stream or a claim is tried again, and the delay for the attempt after it."""
    after = problem.retry_after if isinstance(problem, ApiError) else None
    return after if after is not None else _jittered(delay), min(delay * 2, _DELAY_MAX)


def is_final(problem: ApiError) -> bool:
    """Returns whether the failure is permanent."""
    return problem.http_status in _FINAL


def _jittered(delay: float) -> float:
    """Returns 0.5 to 1.5 times a delay, at random, so that clients that failed together do not retry together."""
    return delay * (0.5 + secrets.randbelow(1_000) / 1_000)


def _is_retryable(outcome: Outcome, is_repeatable: bool) -> bool:
    # The request had no effect: it was not sent, or was rejected because of a quota or an overload.
    if outcome in ("not_sent", 429, 503):
        return True
    # The change may have taken effect; the response was lost here or in a proxy.
    return is_repeatable and outcome in ("no_response", 502, 504)


def retry_after(text: str | None) -> float | None:
    """Parses a `Retry-After` header: seconds, or an HTTP date."""
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
