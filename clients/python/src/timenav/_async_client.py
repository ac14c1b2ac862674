"""The client for programs with asyncio."""

from __future__ import annotations

from types import TracebackType

import httpx

from ._async_calls import AsyncCalls
from ._async_listener import AsyncHandler, AsyncListener
from ._async_virtual_clock import AsyncVirtualClock
from ._async_watch import AsyncWatch
from ._follower import Bounds
from ._instant import When
from ._listening import Terms
from ._receipt import Receipt, Waiting, patient
from ._request import UNSET, IfMatch, Length, Unset
from ._retry import Retries
from ._settings import Settings
from ._watched import DueRange, FiringUpdate, Gap, due, firings

_BOUNDS = Bounds()
_RETRIES = Retries()


class AsyncClient(AsyncCalls):
    """A service, and who asks it. One client belongs to one event loop.

    Without arguments the service is that of `TIMENAV_URL` (`http://127.0.0.1:8080`), the key that of `TIMENAV_API_KEY`,
    and the timeline that of `TIMENAV_TIMELINE`, or the one that the key is bound to.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeline_id: str | None = None,
        ca: str | None = None,
        timeout: float = 60.0,
        retries: Retries = _RETRIES,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Opens no connection yet.

        Args:
            base_url: The address of the service.
            api_key: The API key.
            timeline_id: The timeline of calls that name none.
            ca: A PEM file with the authority of the service's certificate (`TIMENAV_CA`).
            timeout: How many seconds to wait for a response.
            retries: How often, and for how long, requests are repeated.
            http_client: Sends the requests, also those of clocks and listeners. Configure proxies, certificates and
                limits there. It stays open when this client closes; `TIMENAV_CA` does not apply to it.
        """
        settings = Settings.find(
            base_url=base_url,
            api_key=api_key,
            timeline_id=timeline_id,
            ca=ca,
            timeout=timeout,
            http_client=http_client,
        )
        super().__init__(settings, retries)

    def virtual_clock(
        self,
        timeline_id: str | None = None,
        *,
        follow: str | None = None,
        stale_after: float = _BOUNDS.stale_after,
        lost_after: float = _BOUNDS.lost_after,
        timeout: float = 10.0,
    ) -> AsyncVirtualClock:
        """Returns a timeline's clock, which `async with` subscribes and closes.

        The clock raises `ClockStaleError` instead of showing a time that the service has not confirmed for
        `stale_after` seconds, or for `lost_after` seconds after the connection was lost.

        With `follow` the clock is followed under that name: each change is confirmed once reads show it and the
        listeners have been called. A clock change with `followers` waits for that.
        """
        bounds = Bounds(stale_after, lost_after)
        timeline_id = timeline_id or self._settings.timeline_id
        return AsyncVirtualClock(self._settings, timeline_id, bounds, timeout, follow)

    def inside(self, firing: str) -> AsyncClient:
        """Returns this client for the handler of a firing: the service is told where its requests come from."""
        return self._with_options(firing=firing)

    def on(
        self,
        queue: str,
        handler: AsyncHandler,
        *,
        timeline_id: str | None = None,
        concurrency: int = 1,
        ack_timeout: float = 30.0,
    ) -> AsyncListener:
        """Hands each firing of a queue to a handler, up to `concurrency` side by side, until the listener is closed.

        A firing is acknowledged when the handler is done, failed when it raises, and then handed out again. It is
        kept for as long as the handler takes; if this program dies, others get it after `ack_timeout` seconds of host
        time. Start it with `async with`: then an advance waits for it.
        """
        terms = Terms(queue, timeline_id or self._settings.timeline_id, concurrency, ack_timeout)
        return AsyncListener(self, handler, terms)

    def watch_firings(
        self, queue: str | None = None, *, timeline_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncWatch[FiringUpdate | Gap]:
        """Watches what happens to the firings of a queue, and claims none; without `queue`, to all of the timeline.

        Open it with `async with`: from then on everything that happens is told, across lost connections. After one, a
        `Gap` says where claims, extensions and failed attempts may be missing. With `last_event_id` it begins after
        that message.
        """
        stream = firings(queue, timeline_id or self._settings.timeline_id)
        return AsyncWatch(self, stream, last_event_id)

    def watch_due(
        self, *, timeline_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncWatch[DueRange | Gap]:
        """Watches which events the clock passes, as stretches of virtual time, to play them back.

        Open it with `async with`: from then on everything that the clock passes is told, across lost
        connections. A stretch that begins before the last one ended says that the clock went back. With `last_event_id`
        it begins after that message, with what the clock passed since.
        """
        return AsyncWatch(self, due(timeline_id or self._settings.timeline_id), last_event_id)

    async def advance(
        self,
        duration: Length | None = None,
        *,
        to: When | None = None,
        timeline_id: str | None = None,
        if_match: IfMatch | Unset = UNSET,
        timeout: float | None = None,
        check: bool = True,
    ) -> Receipt:
        """Moves the clock forward, and returns the receipt once all firings on the way are done.

        If the connection is lost meanwhile, the same advance is requested again. Raises `NotSettledError` if the
        advance was stopped or is stuck, and `FiringsFailedError` if a firing failed; with `check=False`, failed firings
        are only counted in the receipt. `timeout` is in seconds of host time. When it is over, `TimeoutError` is
        raised, and the advance continues.
        """
        waiting = Waiting(
            duration,
            to,
            timeline_id,
            if_match,
            timeout=timeout,
            check=check,
            answer_timeout=self._settings.timeout,
        )
        client = self._with_options(retries=patient(self._retries))
        changed = await (client.travel if waiting.operation == "travel" else client.fast_forward)(**waiting.given)
        settled, receipt = changed.get("receipt"), waiting.receipt(changed)
        while receipt is None:
            advance_id = settled["advance_id"] if settled else ""
            settled = (await client.receipt(advance_id, **waiting.question))["receipt"]
            receipt = waiting.settled(settled)
        return receipt

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        """Says everything but the key."""
        return f"AsyncClient(base_url={str(self._settings.base_url)!r}, timeline_id={self._settings.timeline_id!r})"
