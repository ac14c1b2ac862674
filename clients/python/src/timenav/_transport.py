"""Sends requests with retries, and converts error responses to exceptions."""

from __future__ import annotations

import contextlib
import copy
import json
import socket
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

import httpx
from typing_extensions import Self

from ._errors import ApiConnectionError, ApiError, TimenavError, api_error
from ._http_pool import HttpPool
from ._request import Content, Operation, Request, build
from ._retry import Outcome, RetryPolicy, retry_after
from ._settings import Settings
from ._sse import EventReader, ServerSentEvent

T = TypeVar("T")
CHUNK_BYTES = 65_536


class Transport:
    """The settings and connections shared by all calls."""

    def __init__(self, settings: Settings, retries: RetryPolicy) -> None:
        self._settings = settings
        self._retries = retries
        self._firing: str | None = None
        self._http = HttpPool(settings)

    def close(self) -> None:
        """Closes all connections. Later calls raise `ClientClosedError`. The caller's `http_client` stays open."""
        self._http.close()

    def _with_options(self, *, retries: RetryPolicy | None = None, firing: str | None = None) -> Self:
        """Returns a client with the same connections and another retry policy or firing."""
        client = copy.copy(self)
        client._retries = retries or self._retries
        client._firing = firing or self._firing
        return client

    def _json(self, operation: Operation, arguments: Mapping[str, Any], **rest: Any) -> Any:
        return json_body(self._read(operation, arguments, "application/json", **rest))

    def _text(self, operation: Operation, arguments: Mapping[str, Any]) -> str:
        return self._read(operation, arguments, "text/plain").text

    def _content(self, operation: Operation, arguments: Mapping[str, Any]) -> bytes:
        return self._read(operation, arguments, "*/*").content

    def _download(self, operation: Operation, arguments: Mapping[str, Any]) -> Download:
        return Download(self._send(self._build(operation, arguments, "*/*"), is_stream=True))

    def _events(
        self, operation: Operation, arguments: Mapping[str, Any], *, idle_timeout: float | None = None
    ) -> EventStream[Any]:
        request = self._build(operation, arguments, "text/event-stream")
        request.idle_timeout = idle_timeout
        return EventStream(self._send(request, is_stream=True))

    def _read(
        self,
        operation: Operation,
        arguments: Mapping[str, Any],
        accept: str,
        body: Any = None,
        content: Content | None = None,
        content_type: str | None = None,
    ) -> httpx.Response:
        request = self._build(operation, arguments, accept, body=body, content=content, content_type=content_type)
        return self._send(request, is_stream=False)

    def _build(self, operation: Operation, arguments: Mapping[str, Any], accept: str, **rest: Any) -> Request:
        if self._firing is not None:
            arguments = {**arguments, "timenav_firing": self._firing}
        return build(operation, arguments, accept=accept, timeline_id=self._settings.timeline_id, **rest)

    def _send(self, request: Request, *, is_stream: bool) -> httpx.Response:
        attempt, waited = 1, 0.0
        while True:
            outcome, after, failure = self._attempt(request, is_stream=is_stream)
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
            time.sleep(wait)
            attempt, waited = attempt + 1, waited + wait

    def _attempt(
        self, request: Request, *, is_stream: bool
    ) -> tuple[httpx.Response, None, TimenavError] | tuple[Outcome, float | None, TimenavError]:
        try:
            response = self._http.send(**send_arguments(self._settings, request, is_stream=is_stream))
        except httpx.HTTPError as error:
            return no_response(error, self._settings)
        if response.is_success:
            return response, None, TimenavError()
        try:
            response.read()
        except httpx.HTTPError as error:
            return no_response(error, self._settings)
        finally:
            response.close()
        return rejection(response)


def can_be_retried(request: Request) -> bool | None:
    """Returns whether a request is safe to repeat; None if its body is a consumed iterable."""
    if request.content is not None and not isinstance(request.content, bytes | str):
        return None
    return request.is_repeatable


def send_arguments(settings: Settings, request: Request, *, is_stream: bool) -> dict[str, Any]:
    """Returns the keyword arguments of `HttpPool.send` for a request."""
    options: dict[str, Any] = {
        "method": request.method,
        "path": request.path,
        "params": request.query,
        "headers": request.headers,
        "is_stream": is_stream,
    }
    if request.content is not None:
        options["content"] = request.content
    elif request.json is not None:
        options["json"] = request.json
    if is_stream:
        # An idle stream is not an error. The reader of the stream sets the limit.
        options["timeout"] = settings.stream_timeout(request.idle_timeout)
    return options


def no_response(error: httpx.HTTPError, settings: Settings) -> tuple[Outcome, None, TimenavError]:
    """Returns the outcome and the exception of a request that got no response."""
    was_sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    what = "did not respond" if was_sent else "cannot be reached"
    reason = str(error) or type(error).__name__
    failure = ApiConnectionError(f"{settings.base_url} {what}: {reason}")
    return ("no_response" if was_sent else "not_sent"), None, failure


def rejection(response: httpx.Response) -> tuple[Outcome, float | None, ApiError]:
    """Returns the outcome and the exception of a rejected request."""
    after = retry_after(response.headers.get("Retry-After"))
    try:
        body = response.json()
    except ValueError:
        body = None
    error = api_error(response.status_code, body, response.headers.get("X-Request-Id"), after)
    return response.status_code, after, error


def json_body(response: httpx.Response) -> Any:
    """Parses the JSON body of a response."""
    try:
        return response.json()
    except ValueError:
        body = {"code": "unexpected_response", "status": "The response is not JSON."}
        raise api_error(response.status_code, body, None, None) from None


class Download:
    """A streamed body. If it is incomplete, reading it raises `ApiConnectionError`."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def content_type(self) -> str:
        """The media type."""
        return str(self._response.headers.get("Content-Type", ""))

    def __iter__(self) -> Iterator[bytes]:
        """Yields the body in chunks."""
        with convert_stream_errors():
            yield from self._response.iter_bytes(CHUNK_BYTES)

    def read(self) -> bytes:
        """Returns the whole body."""
        with self:
            return b"".join(self)

    def close(self) -> None:
        """Closes the response without reading the rest."""
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EventStream(Generic[T]):
    """The messages of a stream, in order, until it ends."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._reader = EventReader()

    @property
    def last_id(self) -> str:
        """The newest id received, even without a message: send it as `last_event_id` to resume here."""
        return self._reader.last_id

    def __iter__(self) -> Iterator[ServerSentEvent[T]]:
        """Yields the messages."""
        with convert_stream_errors():
            for chunk in self._response.iter_bytes():
                for event in self._reader.push(chunk):
                    yield ServerSentEvent(event.event, event.id, json.loads(event.data))

    def close(self) -> None:
        """Closes the stream."""
        self._response.close()

    def abort(self) -> None:
        """Closes the stream and wakes the thread that is reading it."""
        abort_response(self._response)

    def __enter__(self) -> EventStream[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def abort_response(response: httpx.Response) -> None:
    """Shuts down the connection of a response, which wakes the thread that is reading it.

    HTTP/2, which only the caller's httpx client may use, shares connections between requests. Such a connection stays
    open, and the thread wakes at the next message of the service.
    """
    if response.http_version == "HTTP/2":
        return
    stream = response.extensions.get("network_stream")
    if stream is not None:
        with contextlib.suppress(OSError, AttributeError):
            stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def convert_stream_errors() -> Iterator[None]:
    """Converts any exception of an incomplete body to `ApiConnectionError`."""
    try:
        yield
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise ApiConnectionError(f"the response was incomplete: {str(error) or type(error).__name__}") from None
