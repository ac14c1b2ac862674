"""The listener for threads."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import schemas
from ._errors import TimenavError
from ._firing import Firing
from ._host_time import monotonic_micros
from ._http_pool import HttpPool
from ._listener_common import (
    IDLE_CLAIM_MICROS,
    LOG,
    NO_RETRIES,
    Lease,
    ListenerOptions,
    is_fatal,
    lease_of,
    log_unsettled,
    reason,
)
from ._retry import DELAY_FIRST, next_delay

if TYPE_CHECKING:
    from ._client import Client

_SHARED_CLAIM_SECONDS = 1.0
"""The wait of a claim that the client cannot interrupt, in seconds."""

Handler = Callable[["Firing[Client]"], object]


class Listener:
    """Claims firings of a queue and passes them to a handler, until it is closed.

    Handlers run in threads of the listener. A firing is acknowledged when its handler returns, and fails if the
    handler raises. Its lease is extended while the handler runs.
    """

    def __init__(self, client: Client, handler: Handler, options: ListenerOptions) -> None:
        self._client = client
        self._handler = handler
        self._options = options
        self._changed = threading.Condition()
        self._leased: set[Lease] = set()
        self._running = 0
        self._stopping = False
        self._has_ended = False
        self._failure: Exception | None = None
        self._claimed_at: int | None = None
        self._connection: Any = None
        self._local = threading.local()
        # The connection is shut down when the listener stops, so other requests must not share it.
        self._http = HttpPool(client._settings, parent=client._http, trace=self._trace)
        # The caller's httpx client shares its connections with other requests, so a claim cannot be interrupted there.
        timeout = client._settings.timeout
        self._claim_timeout = timeout if self._http.is_owned else min(timeout, 2 * _SHARED_CLAIM_SECONDS)
        self._claims = client._with_options(retries=NO_RETRIES)
        self._claims._http = self._http
        # Twice as many threads as handlers, because outcomes are reported while the next handlers run.
        self._handlers = ThreadPoolExecutor(2 * options.concurrency, thread_name_prefix="timenav-handler")
        self._thread = threading.Thread(target=self._run, name="timenav-listener", daemon=True)
        self._extender = threading.Thread(target=self._extend_leases, name="timenav-lease-extender", daemon=True)

    def start(self) -> Listener:
        """Sends the first claim. When this returns, the queue has an active listener, and an advance waits for it."""
        try:
            self._claim_at_once(self._options.concurrency)
        except BaseException:
            self._http.close()
            self._handlers.shutdown()
            raise
        self._thread.start()
        self._extender.start()
        return self

    @property
    def queue(self) -> str:
        """The queue."""
        return self._options.queue

    @property
    def is_running(self) -> bool:
        """Whether the listener is still claiming firings."""
        return self._thread.is_alive() and not self._stopping

    def join(self, timeout: float | None = None) -> None:
        """Waits until the listener has ended. Raises the service's error if it may no longer claim.

        `timeout` is in seconds of host time; after it, `TimeoutError` is raised.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the listener of the queue {self.queue} is still running")
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Stops claiming, and returns when all handlers are done and their outcomes are reported.

        In a handler, it returns at once, because waiting for the handlers would deadlock.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._interrupt_claim()
        is_within = threading.current_thread() is self._thread or getattr(self._local, "is_handler", False)
        if not is_within and self._thread.ident is not None:
            self._thread.join()

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        delay = DELAY_FIRST
        try:
            while (free := self._wait_for_slots()) > 0:
                try:
                    parameters = self._options.claim(free, self._claim_timeout)
                    self._claimed_at = None
                    self._take(self._claims.claim_firings(self.queue, **parameters))
                    delay = DELAY_FIRST
                except (TimenavError, ValueError, KeyError, TypeError) as error:
                    if self._stopping:
                        break
                    if is_fatal(error):
                        self._failure = error
                        LOG.error("claiming from the queue %s is no longer possible: %s", self.queue, error)
                        break
                    wait, delay = next_delay(delay, error)
                    LOG.warning("claiming from the queue %s failed; will retry: %s", self.queue, error)
                    with self._changed:
                        self._changed.wait_for(lambda: self._stopping, wait)
        finally:
            self._handlers.shutdown()
            with self._changed:
                self._has_ended = True
                self._changed.notify_all()
            self._http.close()

    def _wait_for_slots(self) -> int:
        """Waits until a handler is free. Returns the number of free handlers, or 0 if the listener stops claiming."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or self._free_slots() > 0)
            return 0 if self._stopping else self._free_slots()

    def _free_slots(self) -> int:
        return self._options.free_slots(self._running, len(self._leased))

    def _claim_at_once(self, free: int) -> None:
        self._take(self._client.claim_firings(self.queue, **self._options.claim(free, 0.0)))

    def _claim_if_idle(self) -> None:
        """Claims another firing if the last claim was some time ago, so that the queue keeps its active listener."""
        at = self._claimed_at
        if self._stopping or at is None or monotonic_micros() - at < IDLE_CLAIM_MICROS:
            return
        try:
            self._claim_at_once(1)
        except TimenavError as error:
            LOG.warning("claiming from the queue %s failed; will retry: %s", self.queue, error)

    def _take(self, claimed: schemas.ClaimedBody) -> None:
        self._claimed_at = monotonic_micros()
        for body in claimed["firings"]:
            firing = Firing.of(body, self._client.for_firing(body["firing_id"]))
            with self._changed:
                self._leased.add(lease_of(firing))
                self._running += 1
            self._handlers.submit(self._work, firing)

    def _work(self, firing: Firing[Client]) -> None:
        self._local.is_handler = True
        lease_parameters = self._options.lease_parameters([lease_of(firing)])
        failure: str | None = None
        try:
            try:
                self._handler(firing)
            except BaseException as error:  # also `pytest.fail` and `sys.exit`; unreported, the lease would expire
                LOG.exception("the handler of the queue %s failed at %s", self.queue, firing)
                failure = reason(error)
            else:
                self._claim_if_idle()
            finally:
                # Claim the next firing while this outcome is reported.
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()
            if failure is None:
                self._settle(firing, lambda: self._client.acknowledge_firings(**lease_parameters))
            else:
                failed = failure
                self._settle(firing, lambda: self._client.fail_firings(**lease_parameters, reason=failed))
        finally:
            with self._changed:
                self._leased.discard(lease_of(firing))
                self._changed.notify_all()

    def _settle(self, firing: Firing[Client], report: Callable[[], object]) -> None:
        try:
            report()
        except TimenavError as error:
            log_unsettled(firing, error)

    def _extend_leases(self) -> None:
        """Extends the leases of firings while their handlers run."""
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._has_ended, self._options.extend_seconds):
                    return
                leased = list(self._leased)
            for lease_parameters in self._options.extensions(leased):
                try:
                    self._client.extend_firings(**lease_parameters)
                except TimenavError as error:
                    LOG.warning("leases of firings could not be extended: %s", error)

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        """Stores the connection of a claim, because shutting it down wakes the thread that waits for the response."""
        if self._http.is_owned and event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._connection = info["return_value"]
            if self._stopping:
                self._interrupt_claim()

    def _interrupt_claim(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError, AttributeError):
                self._connection.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
