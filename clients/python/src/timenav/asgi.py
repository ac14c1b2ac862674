"""ASGI middleware, for FastAPI, Starlette, Django and others: each request has its own clock.

app.add_middleware(ClockMiddleware, clocks=AsyncRequestClocks(timenav.AsyncClient()))

Every client can choose the time of its requests: use it only in a test or staging deployment.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

from ._errors import TimenavError
from ._request_clocks import AsyncRequestClocks, error_response
from .baggage import HEADER

__all__ = ["AsyncRequestClocks", "ClockMiddleware"]

_LOG = logging.getLogger("timenav")
_UNAVAILABLE = 503
_TRY_AGAIN_LATER = 1013
_POLICY_VIOLATION = 1008

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class ClockMiddleware:
    """Serves each request with the clock of the timeline that its `baggage` header names, or else of the client's own.

    It responds with 400 if the timeline is invalid or unknown, and with 503 if the clock cannot be read. No request is
    served with the host's time. WebSockets are closed instead, with 1008 or 1013.
    """

    def __init__(self, app: Application, clocks: AsyncRequestClocks) -> None:
        """Wraps an application. The clocks are closed when the server shuts the application down."""
        self._app = app
        self._clocks = clocks

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serves a request, a WebSocket, or the lifespan of the application."""
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                await self._clocks.aclose()
            return
        async with AsyncExitStack() as served:
            try:
                await served.enter_async_context(self._clocks.serving(_baggage(scope)))
            except TimenavError as error:
                await _reject(error, scope, receive, send)
                return
            await self._app(scope, receive, send)


def _baggage(scope: Message) -> str | None:
    values = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == HEADER.encode()]
    return ",".join(values) if values else None


async def _reject(error: TimenavError, scope: Message, receive: Receive, send: Send) -> None:
    code, text = error_response(error)
    if code == _UNAVAILABLE:
        _LOG.warning("a request was rejected, because its clock cannot be read: %s", error)
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": _TRY_AGAIN_LATER if code == _UNAVAILABLE else _POLICY_VIOLATION})
        return
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    headers += [(b"retry-after", b"1")] if code == _UNAVAILABLE else []
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
