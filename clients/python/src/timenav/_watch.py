"""Event streams that reconnect and resume, for threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._clock_reads import as_timenav_error
from ._errors import ApiConnectionError, ApiError, TimenavError
from ._listener_common import LOG, NO_RETRIES
from ._retry import DELAY_FIRST, is_final, next_delay
from ._sse import ServerSentEvent
from ._transport import EventStream
from ._watch_messages import IDLE_TIMEOUT_SECONDS, RESET, Stream

if TYPE_CHECKING:
    from ._client import Client

T = TypeVar("T")


class Watch(Generic[T]):
    """The messages of a stream, until the watch is closed.

    After a lost connection, it reconnects, with 0.1 to 5 seconds between attempts, and resumes after the last message.
    A connection without data for 30 seconds counts as lost. Data is read only while the next message is requested. The
    iteration raises `ApiError` if the service no longer allows the watch.
    """

    def __init__(self, client: Client, stream: Stream[T], last_id: str | None) -> None:
        """Opens the stream. `Client.watch_firings` and `Client.watch_due` call it."""
        self._client = client._with_options(retries=NO_RETRIES)
        self._stream = stream
        self._newest = self._last_id = last_id or ""
        self._closing = threading.Event()
        self._reading = threading.Lock()
        self._events: EventStream[Any]
        self._messages: Iterator[ServerSentEvent[Any]]
        self._open(client)

    @property
    def last_id(self) -> str:
        """The id of the last message returned, or an empty string: send it as `last_event_id` to resume after it."""
        return self._last_id

    def close(self) -> None:
        """Ends the watch and pending iterations. Any thread may call it."""
        self._closing.set()
        # Wakes the iterating thread if it is waiting for data.
        self._events.abort()
        if self._reading.acquire(blocking=False):
            try:
                self._events.close()
            finally:
                self._reading.release()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._reading:
            while not self._closing.is_set():
                update = self._read()
                if update is None and not self._closing.is_set():
                    update = self._reopen()
                if update is not None:
                    return update
            self._events.close()
        raise StopIteration

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> T | None:
        """Returns the next message of this connection; None if it has ended."""
        try:
            for event in self._messages:
                update = self._stream.parse(event)
                self._last_id = event.id
                if update is not None:
                    return update
        except ApiConnectionError as error:
            LOG.debug("a stream was lost; reconnecting: %s", error)
        except (ValueError, KeyError, TypeError) as error:
            self._closing.set()
            raise as_timenav_error(error) from None
        return None

    def _open(self, client: Client) -> None:
        arguments = self._stream.parameters(self._newest)
        self._events = client._events(self._stream.operation, arguments, idle_timeout=IDLE_TIMEOUT_SECONDS)
        self._messages = iter(self._events)

    def _reopen(self) -> T | None:
        """Reconnects with retries. Returns a reset message if the stream could not resume."""
        self._events.close()
        self._newest = self._events.last_id or self._newest
        delay, failure = DELAY_FIRST, None
        while True:
            wait, delay = next_delay(delay, failure)
            if self._closing.wait(wait):
                return None
            try:
                self._open(self._client)
            except TimenavError as error:
                if isinstance(error, ApiError) and is_final(error):
                    self._closing.set()
                    raise
                failure = error
            else:
                return None if self._newest else self._stream.parse(RESET)
