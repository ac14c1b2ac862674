"""The listener for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import schemas
from ._errors import TimenavError
from ._firing import Firing
from ._host_time import monotonic_micros
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
    from ._async_client import AsyncClient

AsyncHandler = Callable[["Firing[AsyncClient]"], "Awaitable[object] | object"]


class AsyncListener:
    """Claims firings of a queue and passes them to a handler, until it is closed. Start it with `async with`.

    The handler may be a coroutine function. A firing is acknowledged when its handler finishes, and fails if the
    handler raises. Its lease is extended while the handler runs.
    """

    def __init__(self, client: AsyncClient, handler: AsyncHandler, options: ListenerOptions) -> None:
        self._client = client
        self._handler = handler
        self._options = options
        self._claims = client._with_options(retries=NO_RETRIES)
        self._leased: dict[Lease, asyncio.Task[None]] = {}
        self._running = 0
        self._has_capacity = asyncio.Event()
        self._has_capacity.set()
        self._stopping = False
        self._failure: Exception | None = None
        self._claimed_at: int | None = None
        self._waiting: asyncio.Task[Any] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> AsyncListener:
        """Sends the first claim. When this returns, the queue has an active listener, and an advance waits for it."""
        await self._claim_at_once(self._options.concurrency)
        self._task = asyncio.create_task(self._run(), name="timenav-listener")
        return self

    @property
    def queue(self) -> str:
        """The queue."""
        return self._options.queue

    @property
    def is_running(self) -> bool:
        """Whether the listener is still claiming firings."""
        return self._task is not None and not self._task.done() and not self._stopping

    async def join(self) -> None:
        """Waits until the listener has ended. Raises the service's error if it may no longer claim."""
        if self._task is not None:
            await asyncio.shield(self._task)
        if self._failure is not None:
            raise self._failure

    async def aclose(self) -> None:
        """Stops claiming, and returns when all handlers are done and their outcomes are reported.

        In a handler, it returns at once, because waiting for the handlers would deadlock.
        """
        self._stopping = True
        self._has_capacity.set()
        if self._waiting is not None:
            # Canceling the claim closes its connection, and the service delivers its firings to other workers.
            self._waiting.cancel()
        if self._task is not None and asyncio.current_task() not in self._leased.values():
            await self._task

    async def __aenter__(self) -> AsyncListener:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
        if error is None and self._failure is not None:
            raise self._failure

    async def _run(self) -> None:
        extender = asyncio.create_task(self._extend_leases(), name="timenav-lease-extender")
        try:
            await self._listen()
            while self._leased:
                await asyncio.wait(self._leased.values())
        finally:
            extender.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await extender

    async def _listen(self) -> None:
        delay = DELAY_FIRST
        while True:
            await self._has_capacity.wait()
            if self._stopping:
                return
            parameters = self._options.claim(self._free_slots(), self._client._settings.timeout)
            try:
                self._claimed_at = None
                claimed = await self._unless_stopped(self._claims.claim_firings(self.queue, **parameters))
                if claimed is None:
                    return
                self._take(claimed)
                delay = DELAY_FIRST
            except (TimenavError, ValueError, KeyError, TypeError) as error:
                if is_fatal(error):
                    self._failure = error
                    LOG.error("claiming from the queue %s is no longer possible: %s", self.queue, error)
                    return
                wait, delay = next_delay(delay, error)
                LOG.warning("claiming from the queue %s failed; will retry: %s", self.queue, error)
                await self._unless_stopped(asyncio.sleep(wait))

    async def _unless_stopped(self, awaited: Any) -> Any:
        """Waits for an awaitable. Returns None if the listener is closed first."""
        self._waiting = asyncio.ensure_future(awaited)
        try:
            await asyncio.wait([self._waiting])
        except asyncio.CancelledError:
            self._waiting.cancel()
            raise
        return None if self._waiting.cancelled() else self._waiting.result()

    async def _claim_at_once(self, free: int) -> None:
        self._take(await self._client.claim_firings(self.queue, **self._options.claim(free, 0.0)))

    async def _claim_if_idle(self) -> None:
        """Claims another firing if the last claim was some time ago, so that the queue keeps its active listener."""
        at = self._claimed_at
        if self._stopping or at is None or monotonic_micros() - at < IDLE_CLAIM_MICROS:
            return
        try:
            await self._claim_at_once(1)
        except TimenavError as error:
            LOG.warning("claiming from the queue %s failed; will retry: %s", self.queue, error)

    def _take(self, claimed: schemas.ClaimedBody) -> None:
        self._claimed_at = monotonic_micros()
        for body in claimed["firings"]:
            firing = Firing.of(body, self._client.for_firing(body["firing_id"]))
            self._running += 1
            self._leased[lease_of(firing)] = asyncio.create_task(self._work(firing), name=f"timenav-{firing.id}")
        self._update_capacity()

    async def _work(self, firing: Firing[AsyncClient]) -> None:
        lease_parameters = self._options.lease_parameters([lease_of(firing)])
        failure: str | None = None
        try:
            try:
                done = self._handler(firing)
                if isinstance(done, Awaitable):
                    await done
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # also `pytest.fail`; unreported, the lease would have to expire
                LOG.exception("the handler of the queue %s failed at %s", self.queue, firing)
                failure = reason(error)
            else:
                await self._claim_if_idle()
            finally:
                # Claim the next firing while this outcome is reported.
                self._running -= 1
                self._update_capacity()
            if failure is None:
                await self._settle(firing, self._client.acknowledge_firings(**lease_parameters))
            else:
                await self._settle(firing, self._client.fail_firings(**lease_parameters, reason=failure))
        finally:
            del self._leased[lease_of(firing)]
            self._update_capacity()

    def _free_slots(self) -> int:
        return self._options.free_slots(self._running, len(self._leased))

    def _update_capacity(self) -> None:
        if self._stopping or self._free_slots() > 0:
            self._has_capacity.set()
        else:
            self._has_capacity.clear()

    async def _settle(self, firing: Firing[AsyncClient], settlement: Awaitable[object]) -> None:
        try:
            await settlement
        except TimenavError as error:
            log_unsettled(firing, error)

    async def _extend_leases(self) -> None:
        """Extends the leases of firings while their handlers run."""
        while True:
            await asyncio.sleep(self._options.extend_seconds)
            for lease_parameters in self._options.extensions(self._leased.keys()):
                try:
                    await self._client.extend_firings(**lease_parameters)
                except TimenavError as error:
                    LOG.warning("leases of firings could not be extended: %s", error)
