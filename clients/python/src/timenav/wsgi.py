"""WSGI middleware, for Flask, Django and others: each request has its own clock.

app = ClockMiddleware(app, RequestClocks(timenav.Client()))

Use it only where every client may choose the time of its requests: in a test or a staging deployment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any

from ._errors import TimenavError
from ._request_clocks import RequestClocks, refused

__all__ = ["ClockMiddleware", "RequestClocks"]

_LOG = logging.getLogger("timenav")

StartResponse = Callable[..., Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class ClockMiddleware:
    """Serves each request with the clock of the timeline that its `baggage` header names, or else of the client's own.

    It responds with 400 to a header with an invalid or unknown timeline, and with 503 if the clock cannot be read: no
    request is ever served by the host's time.
    """

    def __init__(self, app: Application, clocks: RequestClocks) -> None:
        self._app = app
        self._clocks = clocks

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Serves a request."""
        served = ExitStack()
        try:
            served.enter_context(self._clocks.serving(environ.get("HTTP_BAGGAGE")))
        except TimenavError as error:
            return _refuse(error, start_response)
        try:
            return _Answer(self._app(environ, start_response), served)
        except BaseException:
            served.close()
            raise


class _Answer:
    """A response whose body is also generated with the clock of the request."""

    def __init__(self, answer: Iterable[bytes], served: ExitStack) -> None:
        self._answer = answer
        self._served = served

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def close(self) -> None:
        """Ends the request. The server always calls it (PEP 3333)."""
        with self._served:
            close = getattr(self._answer, "close", None)
            if close is not None:
                close()


def _refuse(error: TimenavError, start_response: StartResponse) -> list[bytes]:
    code, text = refused(error)
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    if code == HTTPStatus.SERVICE_UNAVAILABLE:
        _LOG.warning("a request was rejected, because its clock cannot be read: %s", error)
        headers.append(("Retry-After", "1"))
    body = text.encode()
    start_response(f"{code} {HTTPStatus(code).phrase}", [*headers, ("Content-Length", str(len(body)))])
    return [body]
