"""Which service is asked, and with which key: by argument, else by the environment, as the command line does it."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, field
from functools import lru_cache

import httpx

from ._errors import SettingsError

URL = "TIMENAV_URL"
KEY = "TIMENAV_API_KEY"
TIMELINE = "TIMENAV_TIMELINE"
CA = "TIMENAV_CA"
URL_DEFAULT = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Settings:
    """Where the service is, who asks, and who vouches for its certificate."""

    url: httpx.URL
    key: str = field(repr=False)
    timeline_id: str | None
    ca: str | None
    timeout: float

    @classmethod
    def find(
        cls,
        url: str | None = None,
        key: str | None = None,
        *,
        timeline_id: str | None = None,
        ca: str | None = None,
        timeout: float = 60.0,
    ) -> Settings:
        """Returns the settings that the arguments and the environment make."""
        return cls(
            url=_url(url or os.environ.get(URL) or URL_DEFAULT),
            key=_key(key),
            timeline_id=timeline_id or os.environ.get(TIMELINE) or None,
            ca=ca or os.environ.get(CA) or None,
            timeout=timeout,
        )

    def http_options(self) -> dict[str, object]:
        """Returns what both kinds of HTTP client are made with."""
        return {
            # No redirect is followed: the key is for this service alone.
            "follow_redirects": False,
            "headers": {"Authorization": f"Bearer {self.key}", "Accept": "application/json"},
            "timeout": httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0)),
            "verify": _trust(self.url.scheme == "https", self.ca),
        }


@lru_cache(maxsize=8)
def _trust(is_secure: bool, ca: str | None) -> ssl.SSLContext:
    """Returns who is trusted. Made once: reading all authorities takes longer than many a request."""
    if not is_secure:
        # Nothing goes over TLS. If something did, nobody would be trusted.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context(cafile=ca) if ca else httpx.create_ssl_context()


def _url(text: str) -> httpx.URL:
    wrong = f"the address of the service (url, or {URL}) must be like {URL_DEFAULT}"
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as error:
        raise SettingsError(f"{wrong}: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise SettingsError(f"{wrong}: a scheme, a host, and no key in it")
    return url


def _key(given: str | None) -> str:
    key, source = (given, "key") if given is not None else (os.environ.get(KEY), KEY)
    if key is None:
        raise SettingsError(f"there is no API key; give one as `key`, or set {KEY}")
    key = key.strip()
    if not key:
        raise SettingsError(f"{source} is empty; set it to an API key")
    # What is wrong with it is said without it: this text may be logged.
    if not all("!" <= character <= "~" for character in key):
        raise SettingsError(f"{source} has characters that no API key has; a key is `tnk_` and 36 letters and digits")
    return key
