"""The settings of a client, from arguments or from the environment variables of the command line."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, field
from functools import lru_cache

import httpx

from ._errors import SettingsError

BASE_URL = "TIMENAV_URL"
API_KEY = "TIMENAV_API_KEY"
TIMELINE = "TIMENAV_TIMELINE"
CA = "TIMENAV_CA"
BASE_URL_DEFAULT = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Settings:
    """The settings for sending requests."""

    base_url: httpx.URL
    api_key: str = field(repr=False)
    timeline_id: str | None
    ca: str | None
    timeout: float
    """The response timeout, in seconds."""
    http_client: httpx.Client | httpx.AsyncClient | None = field(default=None, repr=False)
    """The caller's httpx client, with its own proxies and certificates. It stays open when the client closes."""

    @classmethod
    def find(
        cls,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeline_id: str | None = None,
        ca: str | None = None,
        timeout: float = 60.0,
        http_client: httpx.Client | httpx.AsyncClient | None = None,
    ) -> Settings:
        """Returns the settings from arguments and environment."""
        if ca and http_client is not None:
            raise SettingsError("`ca` has no effect on `http_client`; configure the certificate there with verify=…")
        return cls(
            base_url=_base_url(base_url or os.environ.get(BASE_URL) or BASE_URL_DEFAULT),
            api_key=_api_key(api_key),
            timeline_id=timeline_id or os.environ.get(TIMELINE) or None,
            ca=ca or os.environ.get(CA) or None,
            timeout=timeout,
            http_client=http_client,
        )

    def http_timeout(self) -> httpx.Timeout:
        """Returns the httpx timeouts of a request."""
        return httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0))

    def stream_timeout(self, idle_timeout: float | None) -> httpx.Timeout:
        """Returns the httpx timeouts of a stream. `idle_timeout` is in seconds; None for no limit."""
        return httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0), read=idle_timeout)

    def tls_context(self) -> ssl.SSLContext:
        """Returns the TLS context for connections of the client's own pool."""
        return _tls_context(self.base_url.scheme == "https", self.ca)


@lru_cache(maxsize=8)
def _tls_context(is_secure: bool, ca: str | None) -> ssl.SSLContext:
    """Returns the TLS context. Cached, because loading all authorities takes longer than most requests."""
    if not is_secure:
        # Plain HTTP needs no authorities. This context trusts none.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context(cafile=ca) if ca else httpx.create_ssl_context()


def _base_url(text: str) -> httpx.URL:
    message = f"the address of the service (`base_url` or {BASE_URL}) must be a URL such as {BASE_URL_DEFAULT}"
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as error:
        raise SettingsError(f"{message}: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise SettingsError(f"{message}: use HTTP or HTTPS, without credentials, query or fragment")
    return url


def _api_key(value: str | None) -> str:
    key, source = (value, "api_key") if value is not None else (os.environ.get(API_KEY), API_KEY)
    if key is None:
        raise SettingsError(f"there is no API key; pass `api_key`, or set {API_KEY}")
    key = key.strip()
    if not key:
        raise SettingsError(f"{source} is empty; set it to an API key")
    # The error must not contain the key, because it may be logged.
    if not all("!" <= character <= "~" for character in key):
        raise SettingsError(f"{source} contains invalid characters; an API key is `tnk_` and 36 letters and digits")
    return key
