"""WSGI middleware, for Flask, Django and others: each request has its own clock.

app = ClockMiddleware(app, RequestClocks(timenav.Client()))

Every client can choose the time of its requests: use it only in a test or staging deployment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any

from ._errors import TimenavError
from ._request_clocks import RequestClocks, error_response

__all__ = ["ClockMiddleware", "RequestClocks"]

_LOG = logging.getLogger("timenav")

StartResponse = Callable[..., Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class ClockMiddleware:
    """Serves each request with the clock of the timeline that its `baggage` header names, or else of the client's own.

    It responds with 400 if the timeline is invalid or unknown, and with 503 if the clock cannot be read. No request is
    served with the host's time.
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
            return _reject(error, start_response)
        try:
            return _Response(self._app(environ, start_response), served)
        except BaseException:
            served.close()
            raise


class _Response:
    """A response whose body is generated with the clock of the request, too."""

    def __init__(self, response: Iterable[bytes], served: ExitStack) -> None:
        self._response = response
        self._served = served

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response)

    def close(self) -> None:
        """Ends the request. The server always calls it (PEP 3333)."""
        with self._served:
            close = getattr(self._response, "close", None)
            if close is not None:
                close()


def _reject(error: TimenavError, start_response: StartResponse) -> list[bytes]:
    code, text = error_response(error)
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    if code == HTTPStatus.SERVICE_UNAVAILABLE:
        _LOG.warning("a request was rejected, because its clock cannot be read: %s", error)
        headers.append(("Retry-After", "1"))
    body = text.encode()
    start_response(f"{code} {HTTPStatus(code).phrase}", [*headers, ("Content-Length", str(len(body)))])
    return [body]
