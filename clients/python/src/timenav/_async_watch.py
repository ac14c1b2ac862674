"""Streams that go on where they were once a lost connection is back, with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._async_transport import AsyncEvents
from ._clock_reads import DELAY_FIRST, is_final, named, next_delay
from ._errors import ApiConnectionError, ApiError, TimenavError
from ._listening import LOG, ONCE
from ._sse import SentEvent
from ._watched import LOST, SILENCE_SECONDS_MAX, Stream

if TYPE_CHECKING:
    from ._async_client import AsyncClient

T = TypeVar("T")


class AsyncWatch(Generic[T]):
    """What a stream tells, message by message, across lost connections, until it is closed. Open it with `async with`.

    It asks for what came after the last message, waits 0.1 to 5 seconds between attempts, and counts a connection as
    lost once the service has said nothing for 30 seconds. Nothing is lost if the waiting for a message is cancelled. It
    raises `ApiError` once the service does not let you watch any more.
    """

    def __init__(self, client: AsyncClient, stream: Stream[T], last_id: str | None) -> None:
        """Prepares a watch, which `open` or `async with` opens."""
        self._first = client
        self._client = client._with_options(retries=ONCE)
        self._stream = stream
        self._newest = self._last_id = last_id or ""
        self._is_closed = False
        self._events: AsyncEvents[Any] | None = None
        self._messages: AsyncIterator[SentEvent[Any]] | None = None
        self._waiting: asyncio.Task[T | None] | None = None

    async def open(self) -> AsyncWatch[T]:
        """Opens the stream: everything that happens from now on is told."""
        await self._open(self._first)
        return self

    @property
    def last_id(self) -> str:
        """The id of the message that was returned last: a later watch goes on after it. Empty if there is none yet."""
        return self._last_id

    async def aclose(self) -> None:
        """Ends the watch, from any task: whoever iterates has come to the end."""
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
        # Whoever gives up waiting gets the same message when they ask again.
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
                update = await self._open_again()
            if update is not None:
                return update
        return None

    async def _read(self) -> T | None:
        """Returns the next message of this connection; None if it has ended."""
        if self._messages is None:
            await self._open(self._first)
        assert self._messages is not None  # noqa: S101 - it was opened just now
        try:
            async for event in self._messages:
                update = self._stream.read(event)
                self._last_id = event.id
                if update is not None:
                    return update
        except ApiConnectionError as error:
            LOG.debug("a stream was lost, and is opened again: %s", error)
        except (ValueError, KeyError, TypeError) as error:
            self._is_closed = True
            raise named(error) from None
        return None

    async def _open(self, client: AsyncClient) -> None:
        given = self._stream.after(self._newest)
        self._events = await client._events(self._stream.operation, given, silence_max=SILENCE_SECONDS_MAX)
        self._messages = self._events.__aiter__()

    async def _open_again(self) -> T | None:
        """Waits until there is a connection again. Returns what is to be said of what may be missing."""
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
                return None if self._newest else self._stream.read(LOST)
