"""Per-request clocks: the `baggage` header of a request names its timeline.

`timenav.wsgi` and `timenav.asgi` open the clock of each request. While a request is served, `clock()` returns its
clock, and `forward`, `forward_async` or `outgoing_headers` forward the timeline to other services.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol
from urllib.parse import quote, unquote_to_bytes

import httpx

from ._clock_reads import ClockReads
from ._errors import TimenavError
from ._instant import Instant

__all__ = [
    "HEADER",
    "MEMBER",
    "BaggageError",
    "clock",
    "forward",
    "forward_async",
    "outgoing_headers",
    "set_sql_clock",
    "timeline_in",
    "with_timeline",
]

HEADER = "baggage"
"""The header name (W3C Baggage)."""
MEMBER = "timenav"
"""The baggage member that names a timeline."""

_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SPACE = " \t"
_CURRENT_CLOCK: ContextVar[ClockReads | None] = ContextVar("timenav.clock", default=None)


class BaggageError(TimenavError, ValueError):
    """The baggage of a request does not name a valid timeline. Respond with 400."""


class Cursor(Protocol):
    """A database cursor (PEP 249)."""

    def execute(self, operation: str, parameters: tuple[str, ...], /) -> object:
        """Executes a statement."""


def timeline_in(header: str | None) -> str | None:
    """Returns the timeline that a `baggage` header names, if any.

    Raises `BaggageError` if the header names two timelines or an invalid one. Do not fall back to the host's time: the
    sender asked for another one.
    """
    found: str | None = None
    for key, value in _members(header):
        if key != MEMBER:
            continue
        timeline = _decode(value.partition(";")[0].strip(_SPACE))
        if found not in (None, timeline):
            raise BaggageError(f"the baggage names two timelines, `{found}` and `{timeline}`; send one")
        found = timeline
    return found


def with_timeline(header: str | None, timeline_id: str) -> str:
    """Returns a `baggage` header that names a timeline and keeps all other members."""
    members = [member for member in (header or "").split(",") if member.strip(_SPACE)]
    others = [member.strip(_SPACE) for member in members if member.partition("=")[0].strip(_SPACE) != MEMBER]
    return ",".join([*others, f"{MEMBER}={quote(timeline_id, safe='')}"])


def clock() -> ClockReads:
    """Returns the clock of the current request, with `now()`, `datetime()` and `time()`.

    Raises `LookupError` outside a request. It never falls back to the host's time.
    """
    current = _CURRENT_CLOCK.get()
    if current is None:
        raise LookupError("no request is being served: wrap the application in the timenav middleware")
    return current


def outgoing_headers(headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns headers for a request to another service, with the timeline of the current request.

    Outside a request, the headers are returned unchanged.
    """
    sent = dict(headers or {})
    current = _CURRENT_CLOCK.get()
    if current is None:
        return sent
    known = [name for name in sent if name.lower() == HEADER]
    values = ",".join(sent.pop(name) for name in known)
    sent[known[0] if known else HEADER] = with_timeline(values, current.timeline_id)
    return sent


def forward(request: httpx.Request) -> None:
    """Forwards the timeline: `httpx.Client(event_hooks={"request": [baggage.forward]})`."""
    current = _CURRENT_CLOCK.get()
    if current is not None:
        values = ",".join(request.headers.get_list(HEADER))
        request.headers[HEADER] = with_timeline(values, current.timeline_id)


async def forward_async(request: httpx.Request) -> None:
    """Forwards the timeline: `httpx.AsyncClient(event_hooks={"request": [baggage.forward_async]})`."""
    forward(request)


def set_sql_clock(cursor: Cursor, moment: Instant | None = None) -> None:
    """Sets the time that `timenav_now()` of `timenav sql-clock` returns until the transaction ends.

    `moment` defaults to the time of the current request. The driver must use the parameter style `%s`, as psycopg does.
    """
    now = clock().now() if moment is None else moment
    cursor.execute("SELECT set_config('timenav.now', %s, true)", (_sql(now),))


@contextmanager
def serving(served: ClockReads) -> Iterator[None]:
    """Sets the clock that `clock()` returns."""
    before = _CURRENT_CLOCK.get()
    _CURRENT_CLOCK.set(served)
    try:
        yield
    finally:
        # No token, because a server may end a response in another context than it started it.
        _CURRENT_CLOCK.set(before)


def _members(header: str | None) -> Iterator[tuple[str, str]]:
    for member in (header or "").split(","):
        key, _, value = member.partition("=")
        yield key.partition(";")[0].strip(_SPACE), value


def _sql(moment: Instant) -> str:
    """Formats a moment for PostgreSQL, which has neither a year 0 nor signed years."""
    text = str(moment)
    year, rest = re.split(r"(?<=\d)-", text, maxsplit=1)
    return text if int(year) > 0 else f"{1 - int(year):04}-{rest} BC"


def _decode(value: str) -> str:
    message = f"the baggage does not name a valid timeline: `{MEMBER}={value}`"
    if _ESCAPE.search(value):
        raise BaggageError(f"{message} is not percent-encoded")
    try:
        timeline = unquote_to_bytes(value).decode()
    except UnicodeDecodeError:
        raise BaggageError(f"{message} is not UTF-8") from None
    if not timeline.strip():
        raise BaggageError(f"{message} is empty; omit the member, or set it to the id of a timeline")
    return timeline
