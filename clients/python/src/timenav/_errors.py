"""What can go wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._receipt import Receipt


class TimenavError(Exception):
    """Everything that this package raises on purpose."""


class SettingsError(TimenavError, ValueError):
    """The address or the key of the service is missing or wrong. Nothing was sent."""


class Unreachable(TimenavError):
    """No answer came. A change may have happened: send it again with the same idempotency key to find out."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field."""

    field: str
    """The field, such as `destination_time` or `causes/0/kind`."""
    code: str
    """The stable code of the error."""
    detail: str
    """What would be right."""


class Problem(TimenavError):
    """The service refused a request, and says why.

    Branch on `code`. The codes are in docs/errors.md; `status` and `detail` are sentences for people.
    """

    def __init__(
        self,
        *,
        http_status: int,
        code: str,
        status: str,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Keeps what the answer said."""
        fields = "".join(f"\n  {error.field}: {error.detail}" for error in errors)
        # A detail about fields names them all; they are easier to read one by one.
        told = f"{status} ({code}){fields}" if errors else f"{status} ({code}) {detail}".rstrip()
        super().__init__(told)
        self.http_status = http_status
        self.code = code
        self.status = status
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def field(self) -> str | None:
        """The first field that is wrong, if the problem is about one."""
        return self.errors[0].field if self.errors else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets the exception cross from one process to another, as test runners need it."""
        return (_problem, (self.__dict__,))


def _problem(kept: dict[str, Any]) -> Problem:
    return Problem(**kept)


def problem_of(http_status: int, body: object, request_id: str | None, retry_after: float | None) -> Problem:
    """Reads a refusal out of an answer, whoever gave it: a proxy does not know the shape of our errors."""
    told: dict[str, Any] = body if isinstance(body, dict) else {}

    def text(name: str, otherwise: str) -> str:
        value = told.get(name)
        return value if isinstance(value, str) else otherwise

    errors = told.get("errors")
    fields = tuple(
        FieldError(
            field=str(error.get("pointer", "")).removeprefix("#").removeprefix("/"),
            code=str(error.get("code", "")),
            detail=str(error.get("detail", "")),
        )
        for error in (errors if isinstance(errors, list) else [])
        if isinstance(error, dict)
    )
    return Problem(
        http_status=http_status,
        code=text("code", f"http_{http_status}"),
        status=text("status", f"The service answered {http_status}."),
        detail=text("detail", ""),
        errors=fields,
        request_id=text("request_id", "") or request_id,
        retry_after=retry_after,
    )


class ClockUnavailable(TimenavError):
    """The clock cannot say what time it is."""


class ClockStale(ClockUnavailable):
    """The service has not confirmed the clock for too long, so what it shows may be wrong."""


class ClockRefused(ClockUnavailable):
    """The service does not let this user watch the clock any more; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        """Keeps the refusal."""
        super().__init__(f"the clock can no longer be watched: {problem}")
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets the exception cross from one process to another."""
        return (ClockRefused, (self.problem,))


class ClockClosed(ClockUnavailable):
    """The clock was closed."""


class BeyondFiring(ClockUnavailable):
    """A handler waits for a moment after that of its firing. The clock may stand until the handler is done."""


class NotSettled(TimenavError):
    """An advance ended before its destination: `receipt` says where, what had fired, and who held it."""

    def __init__(self, receipt: Receipt) -> None:
        """Keeps the receipt."""
        held = f", held by {receipt.held_by}" if receipt.held_by else ""
        super().__init__(f"the clock is {receipt.state} at {receipt.reached}{held}")
        self.receipt = receipt

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets the exception cross from one process to another."""
        return (NotSettled, (self.receipt,))


class FiringsFailed(TimenavError):
    """An advance reached its destination, and firings on the way failed. `receipt` lists them, each with its reason."""

    def __init__(self, receipt: Receipt) -> None:
        """Keeps the receipt."""
        failed = next((firing for firing in receipt.firings if firing["state"] == "failed"), None)
        first = f": {failed['timer_id']} at {failed['due']}: {failed.get('reason', 'no reason')}" if failed else ""
        super().__init__(f"{receipt.failed} of {receipt.fired} firings failed{first}")
        self.receipt = receipt

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets the exception cross from one process to another."""
        return (FiringsFailed, (self.receipt,))


class OutOfDatetime(TimenavError, ValueError):
    """The instant lies outside the years 1 to 9999, which is all that `datetime` can hold."""
