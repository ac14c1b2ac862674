"""The service and the API key of a client, from arguments or else from the environment, as on the command line."""

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
    """What a client needs to send requests."""

    base_url: httpx.URL
    api_key: str = field(repr=False)
    timeline_id: str | None
    ca: str | None
    timeout: float
    """How many seconds a response may take."""
    http_client: httpx.Client | httpx.AsyncClient | None = field(default=None, repr=False)
    """The caller's own httpx client. It stays open, and decides about proxies and certificates."""

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
        """Returns the settings that the arguments and the environment make."""
        if ca and http_client is not None:
            raise SettingsError("`ca` has no effect on `http_client`; give the certificate to it, with verify=…")
        return cls(
            base_url=_base_url(base_url or os.environ.get(BASE_URL) or BASE_URL_DEFAULT),
            api_key=_api_key(api_key),
            timeline_id=timeline_id or os.environ.get(TIMELINE) or None,
            ca=ca or os.environ.get(CA) or None,
            timeout=timeout,
            http_client=http_client,
        )

    def http_timeout(self) -> httpx.Timeout:
        """Returns how long httpx waits for a response."""
        return httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0))

    def stream_timeout(self, silence_max: float | None) -> httpx.Timeout:
        """Returns how long httpx waits for the next bytes of a stream, in seconds; None is forever."""
        return httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0), read=silence_max)

    def trust(self) -> ssl.SSLContext:
        """Returns the certificate authorities of connections that the client opens itself."""
        return _trust(self.base_url.scheme == "https", self.ca)


@lru_cache(maxsize=8)
def _trust(is_secure: bool, ca: str | None) -> ssl.SSLContext:
    """Returns who is trusted. Made once: reading all authorities takes longer than many a request."""
    if not is_secure:
        # Nothing goes over TLS. If something did, nobody would be trusted.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context(cafile=ca) if ca else httpx.create_ssl_context()


def _base_url(text: str) -> httpx.URL:
    wrong = f"the address of the service (`base_url`, or {BASE_URL}) must be like {BASE_URL_DEFAULT}"
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as error:
        raise SettingsError(f"{wrong}: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise SettingsError(f"{wrong}: a scheme, a host, and no key in it")
    return url


def _api_key(given: str | None) -> str:
    key, source = (given, "api_key") if given is not None else (os.environ.get(API_KEY), API_KEY)
    if key is None:
        raise SettingsError(f"there is no API key; give one as `api_key`, or set {API_KEY}")
    key = key.strip()
    if not key:
        raise SettingsError(f"{source} is empty; set it to an API key")
    # What is wrong with it is said without it: this text may be logged.
    if not all("!" <= character <= "~" for character in key):
        raise SettingsError(f"{source} has characters that no API key has; a key is `tnk_` and 36 letters and digits")
    return key
