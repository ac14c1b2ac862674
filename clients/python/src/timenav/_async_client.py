"""The client for programs with asyncio."""

from __future__ import annotations

from types import TracebackType

from ._async_calls import AsyncCalls
from ._async_virtual_clock import AsyncVirtualClock
from ._follower import Bounds
from ._retry import Retries
from ._settings import Settings

_BOUNDS = Bounds()
_RETRIES = Retries()


class AsyncClient(AsyncCalls):
    """A service, and who asks it. One client belongs to one event loop.

    Without arguments the service is that of `TIMENAV_URL` (`http://127.0.0.1:8080`), the key that of `TIMENAV_API_KEY`,
    and the timeline that of `TIMENAV_TIMELINE`, or the one that the key is bound to.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeline_id: str | None = None,
        ca: str | None = None,
        timeout: float = 60.0,
        retries: Retries = _RETRIES,
    ) -> None:
        """Opens no connection yet. `ca` is a PEM file of who vouches for the certificate (`TIMENAV_CA`)."""
        super().__init__(Settings.find(url, key, timeline_id=timeline_id, ca=ca, timeout=timeout), retries)

    def virtual_clock(
        self,
        timeline_id: str | None = None,
        *,
        stale_after: float = _BOUNDS.stale_after,
        lost_after: float = _BOUNDS.lost_after,
        timeout: float = 10.0,
    ) -> AsyncVirtualClock:
        """Returns a timeline's clock, which `async with` subscribes and closes.

        The clock raises `ClockStale` rather than showing a time that the service has not confirmed for `stale_after`
        seconds, or for `lost_after` seconds after the connection was lost.
        """
        bounds = Bounds(stale_after, lost_after)
        return AsyncVirtualClock(self._settings, timeline_id or self._settings.timeline_id, bounds, timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        """Says everything but the key."""
        return f"AsyncClient(url={str(self._settings.url)!r}, timeline_id={self._settings.timeline_id!r})"
