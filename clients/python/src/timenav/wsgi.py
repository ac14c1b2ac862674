"""Middleware for WSGI applications, such as those of Flask and Django: each request has a clock of its own.

app = ClockMiddleware(app, RequestClocks(timenav.Client()))

Use it where everybody who can send a request may choose its time: in a test or a staging deployment.
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
    """Serves each request by the clock of the timeline that its `baggage` header names, else by the client's own.

    A header that names no timeline, or none that there is, is answered with 400. If the clock cannot be read, the
    answer is 503: no request is ever served by the host's time.
    """

    def __init__(self, app: Application, clocks: RequestClocks) -> None:
        """Wraps an application."""
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
    """An answer, of which what is made while it is sent goes by the clock of the request as well."""

    def __init__(self, answer: Iterable[bytes], served: ExitStack) -> None:
        self._answer = answer
        self._served = served

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def close(self) -> None:
        """Ends the request: the server calls it in any case (PEP 3333)."""
        with self._served:
            close = getattr(self._answer, "close", None)
            if close is not None:
                close()


def _refuse(error: TimenavError, start_response: StartResponse) -> list[bytes]:
    code, text = refused(error)
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    if code == HTTPStatus.SERVICE_UNAVAILABLE:
        _LOG.warning("a request was refused, because its clock cannot be read: %s", error)
        headers.append(("Retry-After", "1"))
    body = text.encode()
    start_response(f"{code} {HTTPStatus(code).phrase}", [*headers, ("Content-Length", str(len(body)))])
    return [body]
