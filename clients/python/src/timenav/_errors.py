"""Exceptions of this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ._error_codes import ErrorCode
    from ._receipt import Receipt


class TimenavError(Exception):
    """The base class of this package's exceptions. Invalid arguments raise `ValueError` or `TypeError` instead."""


class SettingsError(TimenavError, ValueError):
    """The API key is missing, or a setting is invalid. No request was sent."""


class ClientClosedError(TimenavError):
    """The client, or the httpx client passed to it, is closed. No request was sent."""

    def __init__(self) -> None:
        super().__init__("the client is closed; create a new one")


class ApiConnectionError(TimenavError):
    """No complete response arrived. A change may have taken effect: repeat it with the same idempotency key."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error in one field."""

    field: str
    """The field, such as `destination_time` or `causes/0/kind`."""
    code: ErrorCode
    """The stable code of the error."""
    detail: str
    """An explanation of the error."""


class ApiError(TimenavError):
    """The service rejected the request. There is a subclass for each HTTP status.

    Branch on the class or on `code`. `status` and `detail` are sentences for people. docs/errors.md lists the codes.
    The code `unexpected_response` marks a response that does not come from the service, such as the error page of a
    proxy.
    """

    def __init__(
        self,
        *,
        http_status: int,
        code: ErrorCode,
        status: str,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        fields = "".join(f"\n  {error.field}: {error.detail}" for error in errors)
        # The detail lists all field errors in one sentence; one line for each is easier to read.
        text = f"{status} ({code}){fields}" if errors else f"{status} ({code}) {detail}".rstrip()
        super().__init__(text)
        self.http_status = http_status
        self.code: ErrorCode = code
        self.status = status
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def field(self) -> str | None:
        """The first invalid field; None if the error is not about fields."""
        return self.errors[0].field if self.errors else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling: test runners send exceptions between processes."""
        return (_unpickle, (type(self), self.__dict__))


def _unpickle(kind: type[ApiError], members: dict[str, Any]) -> ApiError:
    return kind(**members)


class BadRequestError(ApiError):
    """400: a parameter or the body is missing, invalid or unknown."""


class AuthenticationError(ApiError):
    """401: the API key is missing, malformed, unknown, expired or revoked."""


class PermissionDeniedError(ApiError):
    """403: the key does not allow this operation."""


class NotFoundError(ApiError):
    """404: the resource does not exist, or the key may not see it."""


class ConflictError(ApiError):
    """409: the request conflicts with the current state, such as an id that is taken."""


class PreconditionFailedError(ApiError):
    """412: the resource has changed since the tag or generation in `if_match` was read."""


class UnprocessableEntityError(ApiError):
    """422: the request is well-formed, but the service cannot carry it out."""


class RateLimitError(ApiError):
    """429: too many requests. `retry_after` is the wait before the next attempt, in seconds."""


class ServerError(ApiError):
    """500 or above: the service failed, or is unavailable."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: UnprocessableEntityError,
    429: RateLimitError,
}


def api_error(http_status: int, body: object, request_id: str | None, retry_after: float | None) -> ApiError:
    """Parses an error response. It may come from a proxy, so its body may have any form."""
    members: dict[str, Any] = body if isinstance(body, dict) else {}

    def text(name: str, default: str) -> str:
        value = members.get(name)
        return value if isinstance(value, str) else default

    errors = members.get("errors")
    fields = tuple(
        FieldError(
            field=str(error.get("pointer", "")).removeprefix("#").removeprefix("/"),
            code=cast("ErrorCode", str(error.get("code", ""))),
            detail=str(error.get("detail", "")),
        )
        for error in (errors if isinstance(errors, list) else [])
        if isinstance(error, dict)
    )
    kind = _BY_STATUS.get(http_status, ServerError if http_status >= 500 else ApiError)
    return kind(
        http_status=http_status,
        # A newer service may return codes that this version does not list.
        code=cast("ErrorCode", text("code", "unexpected_response")),
        status=text("status", f"The response has status {http_status} and is not from timenav."),
        detail=text("detail", ""),
        errors=fields,
        request_id=text("request_id", "") or request_id,
        retry_after=retry_after,
    )


class ClockUnavailableError(TimenavError):
    """The clock cannot be read."""


class ClockStaleError(ClockUnavailableError):
    """The service has not confirmed the clock within the staleness bounds, so a reading may be wrong."""


class ClockAccessError(ClockUnavailableError):
    """The caller may no longer watch the clock: the timeline or the API key has ended. `problem` is the response."""

    def __init__(self, problem: ApiError) -> None:
        super().__init__(f"the clock can no longer be watched: {problem}")
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling, like `ApiError`."""
        return (ClockAccessError, (self.problem,))


class ClockClosedError(ClockUnavailableError):
    """The clock was closed."""


class WaitPastFiringError(ClockUnavailableError):
    """A handler waits for a moment that the clock cannot reach before the handler finishes."""


class NotSettledError(TimenavError):
    """An advance ended before its destination. `receipt` has the time reached, the firings, and the last holder."""

    def __init__(self, receipt: Receipt) -> None:
        held = f", held by {receipt.held_by}" if receipt.held_by else ""
        super().__init__(f"the advance is {receipt.state} at {receipt.reached}, before {receipt.to}{held}")
        self.receipt = receipt

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling, like `ApiError`."""
        return (NotSettledError, (self.receipt,))


class FiringsFailedError(TimenavError):
    """An advance reached its destination, but some of its firings failed. `receipt` lists them with their reasons."""

    def __init__(self, receipt: Receipt) -> None:
        failed = next((firing for firing in receipt.firings if firing["state"] == "failed"), None)
        first = f": {failed['timer_id']} at {failed['due']}: {failed.get('reason', 'no reason')}" if failed else ""
        super().__init__(f"{receipt.failed} of {receipt.fired} firings failed{first}")
        self.receipt = receipt

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling, like `ApiError`."""
        return (FiringsFailedError, (self.receipt,))


class DatetimeRangeError(TimenavError, ValueError):
    """The instant is outside the years 1 to 9999, the range of `datetime`."""
