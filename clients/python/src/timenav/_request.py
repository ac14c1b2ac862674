"""Conversion of calls to requests."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final
from urllib.parse import quote

from ._instant import Instant


class Unset(Enum):
    """The value of an omitted parameter. `None` is sent as null, which some operations accept."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

Duration = str | timedelta
"""A duration: a text such as `12h`, or a `timedelta`."""
Moment = str | int | datetime | Instant
"""A state of a ledger: a position, the id of an anchor, or a host time."""
IfMatch = int | str
"""A generation, or an entity tag from a response; `*` matches any existing version."""
Content = bytes | str | Iterable[bytes] | AsyncIterable[bytes]
"""The content of a file: bytes, text, or an iterable of chunks."""


@dataclass(frozen=True)
class Operation:
    """The definition of an operation."""

    name: str
    method: str
    template: str
    body_kind: str
    is_idempotent: bool
    has_timeline: bool
    """Whether the client's timeline is used if the call does not name one."""
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Request:
    """A request that can be sent repeatedly."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    json: Any = None
    content: Content | None = None
    is_repeatable: bool = False
    idle_timeout: float | None = None
    """The maximum time between messages of a stream, in seconds; None for no limit."""


def build(
    operation: Operation,
    arguments: Mapping[str, Any],
    *,
    accept: str,
    timeline_id: str | None,
    body: Any = None,
    content: Content | None = None,
    content_type: str | None = None,
) -> Request:
    """Converts a call to a request."""
    values = {name: value for name, value in arguments.items() if value is not UNSET}
    if timeline_id is not None and operation.has_timeline and values.get("timeline_id") is None:
        values["timeline_id"] = timeline_id
    path = operation.template
    for name, wire_name in operation.path.items():
        # A tile path contains slashes, which must not be escaped.
        value = quote(str(values[name]), safe="/" if wire_name == "tile" else "")
        if value in ("", ".", ".."):
            raise ValueError(f"{name} must not be {values[name]!r}")
        path = path.replace(f"{{{wire_name}}}", value)
    query: list[tuple[str, str]] = []
    for name, wire_name in operation.query.items():
        query += _in_query(wire_name, values.get(name))
    headers = {"Accept": accept}
    for name, wire_name in operation.header.items():
        if values.get(name) is not None:
            headers[wire_name] = _entity_tag(values[name]) if wire_name == "If-Match" else str(values[name])
    timeline = values.get("timeline_id")
    # If the id is not a valid header value, the header is omitted, and the service rejects the id with an explanation.
    if isinstance(timeline, str) and re.fullmatch(r"[!-~]+", timeline):
        headers["Timenav-Timeline"] = timeline
    if operation.is_idempotent:
        headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
    if content_type is not None:
        headers["Content-Type"] = content_type
    members = {wire: _in_json(values[name]) for name, wire in operation.body.items() if name in values}
    return Request(
        method=operation.method,
        path=path,
        query=query,
        headers=headers,
        json=members if operation.body_kind == "object" else body,
        content=content,
        is_repeatable=operation.method == "GET" or operation.is_idempotent,
    )


def _entity_tag(value: IfMatch) -> str:
    return f'"{value}"' if isinstance(value, int) else value


def _in_query(name: str, value: object) -> list[tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [(f"{name}.{key}", str(item)) for key, item in value.items()]
    if isinstance(value, bool):
        return [(name, "true" if value else "false")]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [(name, ",".join(str(item) for item in value))]
    return [(name, str(_in_json(value)))]


def _in_json(value: object) -> object:
    if isinstance(value, datetime):
        return str(Instant.of(value))
    if isinstance(value, Instant):
        return str(value)
    if isinstance(value, timedelta):
        return _duration_text(value)
    if isinstance(value, Mapping):
        return {key: _in_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_in_json(item) for item in value]
    return value


def _duration_text(duration: timedelta) -> str:
    """Formats a duration for the API, without rounding."""
    micros = duration // timedelta(microseconds=1)
    if micros <= 0:
        raise ValueError(f"a duration must be positive, not {duration}; use rewind to go back")
    seconds, rest = divmod(micros, 1_000_000)
    return f"{seconds}.{rest:06}s" if rest else f"{seconds}s"
