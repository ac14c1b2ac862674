"""Event streams that reconnect and resume, for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._async_transport import AsyncEventStream
from ._clock_reads import as_timenav_error
from ._errors import ApiConnectionError, ApiError, TimenavError
from ._listener_common import LOG, NO_RETRIES
from ._retry import DELAY_FIRST, is_final, next_delay
from ._sse import ServerSentEvent
from ._watch_messages import IDLE_TIMEOUT_SECONDS, RESET, Stream

if TYPE_CHECKING:
    from ._async_client import AsyncClient

T = TypeVar("T")


class AsyncWatch(Generic[T]):
    """The messages of a stream, until the watch is closed. Open it with `async with`.

    After a lost connection, it reconnects, with 0.1 to 5 seconds between attempts, and resumes after the last message.
    A connection without data for 30 seconds counts as lost. Canceling a wait loses no message. The iteration raises
    `ApiError` if the service no longer allows the watch.
    """

    def __init__(self, client: AsyncClient, stream: Stream[T], last_id: str | None) -> None:
        self._first = client
        self._client = client._with_options(retries=NO_RETRIES)
        self._stream = stream
        self._newest = self._last_id = last_id or ""
        self._is_closed = False
        self._events: AsyncEventStream[Any] | None = None
        self._messages: AsyncIterator[ServerSentEvent[Any]] | None = None
        self._waiting: asyncio.Task[T | None] | None = None

    async def open(self) -> AsyncWatch[T]:
        """Opens the stream. All later changes are reported."""
        await self._open(self._first)
        return self

    @property
    def last_id(self) -> str:
        """The id of the last message returned, or an empty string: send it as `last_event_id` to resume after it."""
        return self._last_id

    async def aclose(self) -> None:
        """Ends the watch and pending iterations. Any task may call it."""
        self._is_closed = True
        if self._waiting is not None:
            self._waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError, TimenavError):
                await self._waiting
        if self._events is not None:
            await self._events.aclose()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._is_closed and self._waiting is None:
            raise StopAsyncIteration
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._next(), name="timenav-watch")
        # `asyncio.wait` does not cancel the task, so no message is lost if this call is canceled.
        await asyncio.wait([self._waiting])
        done, self._waiting = self._waiting, None
        update = None if done.cancelled() else done.result()
        if update is None or self._is_closed:
            raise StopAsyncIteration
        return update

    async def __aenter__(self) -> AsyncWatch[T]:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _next(self) -> T | None:
        while not self._is_closed:
            update = await self._read()
            if update is None:
                update = await self._reopen()
            if update is not None:
                return update
        return None

    async def _read(self) -> T | None:
        """Returns the next message of this connection; None if it has ended."""
        if self._messages is None:
            await self._open(self._first)
        assert self._messages is not None  # noqa: S101 - opened above
        try:
            async for event in self._messages:
                update = self._stream.parse(event)
                self._last_id = event.id
                if update is not None:
                    return update
        except ApiConnectionError as error:
            LOG.debug("a stream was lost; reconnecting: %s", error)
        except (ValueError, KeyError, TypeError) as error:
            self._is_closed = True
            raise as_timenav_error(error) from None
        return None

    async def _open(self, client: AsyncClient) -> None:
        arguments = self._stream.parameters(self._newest)
        self._events = await client._events(self._stream.operation, arguments, idle_timeout=IDLE_TIMEOUT_SECONDS)
        self._messages = self._events.__aiter__()

    async def _reopen(self) -> T | None:
        """Reconnects with retries. Returns a reset message if the stream could not resume."""
        if self._events is not None:
            await self._events.aclose()
            self._newest = self._events.last_id or self._newest
        delay, failure = DELAY_FIRST, None
        while True:
            wait, delay = next_delay(delay, failure)
            await asyncio.sleep(wait)
            try:
                await self._open(self._client)
            except TimenavError as error:
                if isinstance(error, ApiError) and is_final(error):
                    self._is_closed = True
                    raise
                failure = error
            else:
                return None if self._newest else self._stream.parse(RESET)
