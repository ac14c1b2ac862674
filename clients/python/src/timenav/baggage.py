"""The clock that travels with a request: which timeline it goes by is in its `baggage` header.

`timenav.wsgi` and `timenav.asgi` open the clock of each request. While one is served, `clock()` is its clock, and
`forward`, `forward_async` or `outgoing` hand the timeline on to other services.
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
    "outgoing",
    "set_local",
    "timeline_in",
    "with_timeline",
]

HEADER = "baggage"
"""The name of the header (W3C Baggage)."""
MEMBER = "timenav"
"""The member of it that names a timeline."""

_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SPACE = " \t"
_SERVED: ContextVar[ClockReads | None] = ContextVar("timenav.clock", default=None)


class BaggageError(TimenavError, ValueError):
    """The baggage of a request names no timeline that it can go by. Answer it with 400."""


class Cursor(Protocol):
    """What a database is asked by (PEP 249)."""

    def execute(self, operation: str, parameters: tuple[str, ...], /) -> object:
        """Runs a statement."""


def timeline_in(header: str | None) -> str | None:
    """Returns the timeline that a `baggage` header names, if it names one.

    Raises `BaggageError` where it names two, or what is no name: whoever sent it means another time than the host's.
    """
    found: str | None = None
    for key, value in _members(header):
        if key != MEMBER:
            continue
        timeline = _decoded(value.partition(";")[0].strip(_SPACE))
        if found not in (None, timeline):
            raise BaggageError(f"the baggage names two timelines, `{found}` and `{timeline}`; send one")
        found = timeline
    return found


def with_timeline(header: str | None, timeline_id: str) -> str:
    """Returns a `baggage` header that names a timeline, with what else is in it as it was."""
    members = [member for member in (header or "").split(",") if member.strip(_SPACE)]
    others = [member.strip(_SPACE) for member in members if member.partition("=")[0].strip(_SPACE) != MEMBER]
    return ",".join([*others, f"{MEMBER}={quote(timeline_id, safe='')}"])


def clock() -> ClockReads:
    """Returns the clock of the request that is being served here, with `now()`, `datetime()` and `time()`.

    Raises `LookupError` outside a request, rather than showing the host's time.
    """
    served = _SERVED.get()
    if served is None:
        raise LookupError("no request is being served here: wrap the application in a middleware of timenav")
    return served


def outgoing(headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns headers for a request to another service, which goes by the same timeline as the one served here.

    Outside a request they are returned as they are.
    """
    sent = dict(headers or {})
    served = _SERVED.get()
    if served is None:
        return sent
    known = [name for name in sent if name.lower() == HEADER]
    given = ",".join(sent.pop(name) for name in known)
    sent[known[0] if known else HEADER] = with_timeline(given, served.timeline_id)
    return sent


def forward(request: httpx.Request) -> None:
    """Hands the timeline on: `httpx.Client(event_hooks={"request": [baggage.forward]})`."""
    served = _SERVED.get()
    if served is not None:
        given = ",".join(request.headers.get_list(HEADER))
        request.headers[HEADER] = with_timeline(given, served.timeline_id)


async def forward_async(request: httpx.Request) -> None:
    """Hands the timeline on: `httpx.AsyncClient(event_hooks={"request": [baggage.forward_async]})`."""
    forward(request)


def set_local(cursor: Cursor, moment: Instant | None = None) -> None:
    """Makes `timenav_now()` of `timenav sql-clock` show the time of this request until the transaction ends.

    Or another moment. The driver writes parameters as `%s`, as psycopg does.
    """
    now = clock().now() if moment is None else moment
    cursor.execute("SELECT set_config('timenav.now', %s, true)", (_sql(now),))


@contextmanager
def serving(served: ClockReads) -> Iterator[None]:
    """Makes a clock the one of the request that is served here."""
    before = _SERVED.get()
    _SERVED.set(served)
    try:
        yield
    finally:
        # No token: a server may end an answer elsewhere than it began.
        _SERVED.set(before)


def _members(header: str | None) -> Iterator[tuple[str, str]]:
    for member in (header or "").split(","):
        key, _, value = member.partition("=")
        yield key.partition(";")[0].strip(_SPACE), value


def _sql(moment: Instant) -> str:
    """Returns a moment as PostgreSQL reads it, which knows no year 0 and no sign."""
    text = str(moment)
    year, rest = re.split(r"(?<=\d)-", text, maxsplit=1)
    return text if int(year) > 0 else f"{1 - int(year):04}-{rest} BC"


def _decoded(value: str) -> str:
    wrong = f"the baggage names no timeline: `{MEMBER}={value}`"
    if _ESCAPE.search(value):
        raise BaggageError(f"{wrong} is not percent-encoded")
    try:
        timeline = unquote_to_bytes(value).decode()
    except UnicodeDecodeError:
        raise BaggageError(f"{wrong} is not UTF-8") from None
    if not timeline.strip():
        raise BaggageError(f"{wrong} is empty; leave it out, or write `{MEMBER}=` and the id of a timeline")
    return timeline
