"""The client for threads."""

from __future__ import annotations

from types import TracebackType

import httpx

from ._follower import StalenessBounds
from ._instant import When
from ._listener import Handler, Listener
from ._listener_common import ListenerOptions
from ._receipt import AdvanceWait, Receipt, with_more_retries
from ._request import UNSET, Duration, IfMatch, Unset
from ._retry import RetryPolicy
from ._settings import Settings
from ._sync_calls import Calls
from ._virtual_clock import VirtualClock
from ._watch import Watch
from ._watch_messages import DueRange, FiringUpdate, Gap, due_stream, firings_stream

_BOUNDS = StalenessBounds()
_RETRIES = RetryPolicy()


class Client(Calls):
    """A client of a timenav service. Threads may share it.

    By default, the address is `TIMENAV_URL` or `http://127.0.0.1:8080`, the API key is `TIMENAV_API_KEY`, and the
    timeline is `TIMENAV_TIMELINE` or the one that the key is bound to.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeline_id: str | None = None,
        ca: str | None = None,
        timeout: float = 60.0,
        retries: RetryPolicy = _RETRIES,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Creates a client. It connects on the first request.

        Args:
            base_url: The address of the service.
            api_key: The API key.
            timeline_id: The default timeline of calls.
            ca: A PEM file with the certificate authority of the service (`TIMENAV_CA`).
            timeout: The response timeout, in seconds.
            retries: The retry policy.
            http_client: Sends all requests, including those of clocks and listeners. Configure proxies, certificates
                and limits there. It stays open when this client closes; `TIMENAV_CA` does not apply to it.
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
    ) -> VirtualClock:
        """Subscribes to a timeline's clock, and returns it once the initial state has arrived.

        A read raises `ClockStaleError` if the last message of the service is more than `stale_after` seconds old, or if
        the connection was lost more than `lost_after` seconds ago. `timeout` limits the wait for the initial state, in
        seconds of host time.

        With `follow`, the clock is a follower of that name: it confirms each change once reads show it and the
        listeners have been called. A clock change with `followers` waits for that confirmation.
        """
        bounds = StalenessBounds(stale_after, lost_after)
        timeline_id = timeline_id or self._settings.timeline_id
        return VirtualClock(self._settings, timeline_id, bounds, follow).open(timeout)

    def for_firing(self, firing_id: str) -> Client:
        """Returns a client for the handler of a firing. Its requests carry the id of that firing."""
        return self._with_options(firing=firing_id)

    def on(
        self,
        queue: str,
        handler: Handler,
        *,
        timeline_id: str | None = None,
        concurrency: int = 1,
        ack_timeout: float = 30.0,
    ) -> Listener:
        """Passes each firing of a queue to a handler, until the listener is closed.

        Up to `concurrency` handlers run in parallel. A firing is acknowledged when its handler returns. If the handler
        raises, the firing fails and is retried. The lease is extended while the handler runs. If this program crashes,
        other workers get its firings after `ack_timeout` seconds of host time. When this returns, the queue has an
        active listener, and an advance waits for its handlers.
        """
        options = ListenerOptions(queue, timeline_id or self._settings.timeline_id, concurrency, ack_timeout)
        return Listener(self, handler, options).start()

    def watch_firings(
        self, queue: str | None = None, *, timeline_id: str | None = None, last_event_id: str | None = None
    ) -> Watch[FiringUpdate | Gap]:
        """Reports changes of the firings of a queue, or of all queues, without claiming any.

        All changes after this call returns are reported, even if the connection is lost. After a lost connection, a
        `Gap` marks where claims, extensions and failed attempts may be missing. With `last_event_id`, the watch resumes
        after that message.
        """
        stream = firings_stream(queue, timeline_id or self._settings.timeline_id)
        return Watch(self, stream, last_event_id)

    def watch_due(self, *, timeline_id: str | None = None, last_event_id: str | None = None) -> Watch[DueRange | Gap]:
        """Reports the events that the clock passes, as ranges of virtual time.

        All events that the clock passes after this call returns are reported, even if the connection is lost. A range
        that begins before the end of the previous one means that the clock went back. With `last_event_id`, the watch
        resumes after that message.
        """
        return Watch(self, due_stream(timeline_id or self._settings.timeline_id), last_event_id)

    def advance(
        self,
        duration: Duration | None = None,
        *,
        to: When | None = None,
        timeline_id: str | None = None,
        if_match: IfMatch | Unset = UNSET,
        timeout: float | None = None,
        allow_failed_firings: bool = False,
    ) -> Receipt:
        """Moves the clock forward, and returns the receipt once all firings on the way are done.

        If the connection is lost, the client resumes waiting for the same advance. Raises `NotSettledError` if the
        advance was stopped or is stuck, and `FiringsFailedError` if a firing failed, unless `allow_failed_firings` is
        set. `timeout` limits the wait, in seconds of host time. When it is exceeded,
        `TimeoutError` is raised, and the advance continues.
        """
        advance_wait = AdvanceWait(
            duration,
            to,
            timeline_id,
            if_match,
            timeout=timeout,
            allow_failed_firings=allow_failed_firings,
            response_timeout=self._settings.timeout,
        )
        client = self._with_options(retries=with_more_retries(self._retries))
        changed = (client.travel if advance_wait.operation == "travel" else client.fast_forward)(
            **advance_wait.change_parameters
        )
        settled, receipt = changed.get("receipt"), advance_wait.receipt(changed)
        while receipt is None:
            advance_id = settled["advance_id"] if settled else ""
            settled = client.receipt(advance_id, **advance_wait.receipt_parameters)["receipt"]
            receipt = advance_wait.result(settled)
        return receipt

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """Shows the settings without the key."""
        return f"Client(base_url={str(self._settings.base_url)!r}, timeline_id={self._settings.timeline_id!r})"
