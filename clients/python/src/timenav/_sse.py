"""Parser of server-sent events (WHATWG HTML) from chunks of bytes.

Existing parsers drop comments, which are the heartbeats of a stream, and messages without data, which update the id of
an idle stream.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event of a stream, with its data as text."""

    event: str
    id: str
    data: str


@dataclass(frozen=True, slots=True)
class ServerSentEvent(Generic[T]):
    """An event of a stream."""

    event: str
    """The name, such as `clock`."""
    id: str
    """The id: send it as `last_event_id` to resume after this event."""
    data: T
    """The body."""


class EventReader:
    """Parses events from chunks of any size."""

    def __init__(self) -> None:
        self.last_id = ""
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._event = ""
        self._id: str | None = None
        self._data: list[str] = []

    def push(self, chunk: bytes) -> list[RawEvent]:
        """Parses a chunk, and returns the events that it completes."""
        self._rest += self._decoder.decode(chunk)
        events: list[RawEvent] = []
        # CRLF may be split across chunks, so a trailing carriage return is kept until the next byte arrives.
        carriage_return = "\r" if self._rest.endswith("\r") else ""
        text = self._rest[: len(self._rest) - len(carriage_return)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        self._rest = rest + carriage_return
        for line in lines:
            event = self._line(line)
            if event is not None:
                events.append(event)
        return events

    def _line(self, line: str) -> RawEvent | None:
        if line == "":
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _complete(self) -> RawEvent | None:
        if self._id is not None:
            self.last_id = self._id
        event = RawEvent(self._event or "message", self.last_id, "\n".join(self._data)) if self._data else None
        self._event, self._id, self._data = "", None, []
        return event
