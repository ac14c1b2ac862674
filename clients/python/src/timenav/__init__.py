"""The timenav client: typed calls for the whole API, and a virtual clock that is computed locally.

with timenav.Client() as client, client.virtual_clock() as clock:
    client.travel(destination_time="2028-02-29T09:00:00Z")
    clock.until("2028-02-29T09:00:00Z")
    print(clock.datetime())
"""

from . import schemas
from ._async_client import AsyncClient
from ._async_listener import AsyncListener
from ._async_transport import AsyncDownload, AsyncEventStream
from ._async_virtual_clock import AsyncVirtualClock
from ._async_watch import AsyncWatch
from ._client import Client
from ._clock_state import ClockState
from ._error_codes import ErrorCode
from ._errors import (
    ApiConnectionError,
    ApiError,
    AuthenticationError,
    BadRequestError,
    ClientClosedError,
    ClockAccessError,
    ClockClosedError,
    ClockStaleError,
    ClockUnavailableError,
    ConflictError,
    DatetimeRangeError,
    FieldError,
    FiringsFailedError,
    NotFoundError,
    NotSettledError,
    PermissionDeniedError,
    PreconditionFailedError,
    RateLimitError,
    ServerError,
    SettingsError,
    TimenavError,
    UnprocessableEntityError,
    WaitPastFiringError,
)
from ._firing import Firing, FiringClock
from ._follower import ClockChange, Follower, Reading, StalenessBounds
from ._instant import Instant, When
from ._listener import Listener
from ._pages import async_pages, pages
from ._receipt import Receipt
from ._request import UNSET, Unset
from ._retry import RetryPolicy
from ._sse import ServerSentEvent
from ._transport import Download, EventStream
from ._virtual_clock import VirtualClock
from ._watch import Watch
from ._watch_messages import DueRange, FiringChange, FiringUpdate, Gap, WatchedFiring

__version__ = "0.1.0"

__all__ = [
    "UNSET",
    "ApiConnectionError",
    "ApiError",
    "AsyncClient",
    "AsyncDownload",
    "AsyncEventStream",
    "AsyncListener",
    "AsyncVirtualClock",
    "AsyncWatch",
    "AuthenticationError",
    "BadRequestError",
    "Client",
    "ClientClosedError",
    "ClockAccessError",
    "ClockChange",
    "ClockClosedError",
    "ClockStaleError",
    "ClockState",
    "ClockUnavailableError",
    "ConflictError",
    "DatetimeRangeError",
    "Download",
    "DueRange",
    "ErrorCode",
    "EventStream",
    "FieldError",
    "Firing",
    "FiringChange",
    "FiringClock",
    "FiringUpdate",
    "FiringsFailedError",
    "Follower",
    "Gap",
    "Instant",
    "Listener",
    "NotFoundError",
    "NotSettledError",
    "PermissionDeniedError",
    "PreconditionFailedError",
    "RateLimitError",
    "Reading",
    "Receipt",
    "RetryPolicy",
    "ServerError",
    "ServerSentEvent",
    "SettingsError",
    "StalenessBounds",
    "TimenavError",
    "UnprocessableEntityError",
    "Unset",
    "VirtualClock",
    "WaitPastFiringError",
    "Watch",
    "WatchedFiring",
    "When",
    "__version__",
    "async_pages",
    "pages",
    "schemas",
]
