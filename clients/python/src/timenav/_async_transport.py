"""The asyncio version of `_transport`."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

import httpx
from typing_extensions import Self

from ._errors import TimenavError
from ._http_pool import AsyncHttpPool
from ._request import Content, Operation, Request, build
from ._retry import Outcome, RetryPolicy
from ._settings import Settings
from ._sse import EventReader, ServerSentEvent
from ._transport import (
    CHUNK_BYTES,
    can_be_retried,
    convert_stream_errors,
    json_body,
    no_response,
    rejection,
    send_arguments,
)

T = TypeVar("T")


class AsyncTransport:
    """The settings and connections shared by all calls."""

    def __init__(self, settings: Settings, retries: RetryPolicy) -> None:
        self._settings = settings
        self._retries = retries
        self._firing: str | None = None
        self._http = AsyncHttpPool(settings)

    async def aclose(self) -> None:
        """Closes all connections. Later calls raise `ClientClosedError`. The caller's `http_client` stays open."""
        await self._http.aclose()

    def _with_options(self, *, retries: RetryPolicy | None = None, firing: str | None = None) -> Self:
        """Returns a client with the same connections and another retry policy or firing."""
        client = copy.copy(self)
        client._retries = retries or self._retries
        client._firing = firing or self._firing
        return client

    async def _json(self, operation: Operation, arguments: Mapping[str, Any], **rest: Any) -> Any:
        return json_body(await self._read(operation, arguments, "application/json", **rest))

    async def _text(self, operation: Operation, arguments: Mapping[str, Any]) -> str:
        return (await self._read(operation, arguments, "text/plain")).text

    async def _content(self, operation: Operation, arguments: Mapping[str, Any]) -> bytes:
        return (await self._read(operation, arguments, "*/*")).content

    async def _download(self, operation: Operation, arguments: Mapping[str, Any]) -> AsyncDownload:
        return AsyncDownload(await self._send(self._build(operation, arguments, "*/*"), is_stream=True))

    async def _events(
        self, operation: Operation, arguments: Mapping[str, Any], *, idle_timeout: float | None = None
    ) -> AsyncEventStream[Any]:
        request = self._build(operation, arguments, "text/event-stream")
        request.idle_timeout = idle_timeout
        return AsyncEventStream(await self._send(request, is_stream=True))

    async def _read(
        self,
        operation: Operation,
        arguments: Mapping[str, Any],
        accept: str,
        body: Any = None,
        content: Content | None = None,
        content_type: str | None = None,
    ) -> httpx.Response:
        request = self._build(operation, arguments, accept, body=body, content=content, content_type=content_type)
        return await self._send(request, is_stream=False)

    def _build(self, operation: Operation, arguments: Mapping[str, Any], accept: str, **rest: Any) -> Request:
        if self._firing is not None:
            arguments = {**arguments, "timenav_firing": self._firing}
        return build(operation, arguments, accept=accept, timeline_id=self._settings.timeline_id, **rest)

    async def _send(self, request: Request, *, is_stream: bool) -> httpx.Response:
        attempt, waited = 1, 0.0
        while True:
            outcome, after, failure = await self._attempt(request, is_stream=is_stream)
            if isinstance(outcome, httpx.Response):
                return outcome
            is_repeatable = can_be_retried(request)
            wait = (
                self._retries.wait(attempt, outcome, is_repeatable=is_repeatable, retry_after=after, waited=waited)
                if is_repeatable is not None
                else None
            )
            if wait is None:
                raise failure
            await asyncio.sleep(wait)
            attempt, waited = attempt + 1, waited + wait

    async def _attempt(
        self, request: Request, *, is_stream: bool
    ) -> tuple[httpx.Response, None, TimenavError] | tuple[Outcome, float | None, TimenavError]:
        try:
            response = await self._http.send(**send_arguments(self._settings, request, is_stream=is_stream))
        except httpx.HTTPError as error:
            return no_response(error, self._settings)
        if response.is_success:
            return response, None, TimenavError()
        try:
            await response.aread()
        except httpx.HTTPError as error:
            return no_response(error, self._settings)
        finally:
            await response.aclose()
        return rejection(response)


class AsyncDownload:
    """A streamed body. If it is incomplete, reading it raises `ApiConnectionError`."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def content_type(self) -> str:
        """The media type."""
        return str(self._response.headers.get("Content-Type", ""))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yields the body in chunks."""
        with convert_stream_errors():
            async for chunk in self._response.aiter_bytes(CHUNK_BYTES):
                yield chunk

    async def read(self) -> bytes:
        """Returns the whole body."""
        async with self:
            return b"".join([chunk async for chunk in self])

    async def aclose(self) -> None:
        """Closes the response without reading the rest."""
        await self._response.aclose()

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class AsyncEventStream(Generic[T]):
    """The messages of a stream, in order, until it ends."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._reader = EventReader()

    @property
    def last_id(self) -> str:
        """The newest id received, even without a message: send it as `last_event_id` to resume here."""
        return self._reader.last_id

    async def __aiter__(self) -> AsyncIterator[ServerSentEvent[T]]:
        """Yields the messages."""
        with convert_stream_errors():
            async for chunk in self._response.aiter_bytes():
                for event in self._reader.push(chunk):
                    yield ServerSentEvent(event.event, event.id, json.loads(event.data))

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._response.aclose()

    async def __aenter__(self) -> AsyncEventStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
