"""The HTTP connections of a client: its own, or those of the caller's httpx client."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import httpx
from typing_extensions import Self

from ._errors import ClientClosedError
from ._settings import Settings

Trace = Callable[[str, dict[str, Any]], None]


class HttpPool:
    """Sends requests to the service, with the API key. Closing it leaves the caller's httpx client open."""

    def __init__(self, settings: Settings, *, parent: HttpPool | None = None, trace: Trace | None = None) -> None:
        """Creates a pool that closes with its parent. `trace` is the httpcore extension of that name."""
        http_client = settings.http_client
        if http_client is not None and not isinstance(http_client, httpx.Client):
            raise TypeError(f"http_client must be an httpx.Client, not {type(http_client).__name__}")
        self.is_owned = http_client is None
        self._settings = settings
        self._parent = parent
        self._trace = trace
        self._is_closed = False
        self._client = http_client or httpx.Client(verify=settings.tls_context())

    @property
    def is_closed(self) -> bool:
        """Whether requests fail with `ClientClosedError`."""
        return self._is_closed or self._client.is_closed or (self._parent is not None and self._parent.is_closed)

    def send(self, method: str, path: str, *, is_stream: bool = False, **options: Any) -> httpx.Response:
        """Sends a request. Raises `httpx.HTTPError` or `ClientClosedError`."""
        if self.is_closed:
            raise ClientClosedError
        extensions = {} if self._trace is None else {"trace": self._trace}
        request = self._client.build_request(
            **httpx_arguments(self._settings, method, path, options), extensions=extensions
        )
        try:
            # Send the key only to the service, and no other credentials.
            return self._client.send(request, stream=is_stream, auth=None, follow_redirects=False)
        except RuntimeError:
            if self._client.is_closed:
                raise ClientClosedError from None
            raise

    def close(self) -> None:
        """Closes the connections of this pool."""
        self._is_closed = True
        if self.is_owned:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncHttpPool:
    """The asyncio version of `HttpPool`."""

    def __init__(self, settings: Settings) -> None:
        http_client = settings.http_client
        if http_client is not None and not isinstance(http_client, httpx.AsyncClient):
            raise TypeError(f"http_client must be an httpx.AsyncClient, not {type(http_client).__name__}")
        self._is_owned = http_client is None
        self._settings = settings
        self._is_closed = False
        self._client = http_client or httpx.AsyncClient(verify=settings.tls_context())

    @property
    def is_closed(self) -> bool:
        """Whether requests fail with `ClientClosedError`."""
        return self._is_closed or self._client.is_closed

    async def send(self, method: str, path: str, *, is_stream: bool = False, **options: Any) -> httpx.Response:
        """Sends a request. Raises `httpx.HTTPError` or `ClientClosedError`."""
        if self.is_closed:
            raise ClientClosedError
        request = self._client.build_request(**httpx_arguments(self._settings, method, path, options))
        try:
            return await self._client.send(request, stream=is_stream, auth=None, follow_redirects=False)
        except RuntimeError:
            if self._client.is_closed:
                raise ClientClosedError from None
            raise

    async def aclose(self) -> None:
        """Closes the connections of this pool."""
        self._is_closed = True
        if self._is_owned:
            await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def httpx_arguments(settings: Settings, method: str, path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of an httpx request. Options of the call take precedence over the settings."""
    authorization = {"Authorization": f"Bearer {settings.api_key}", "Accept": "application/json"}
    return {
        "timeout": settings.http_timeout(),
        **options,
        "method": method,
        "url": f"{settings.base_url}{path}",
        "headers": authorization | options.get("headers", {}),
    }
