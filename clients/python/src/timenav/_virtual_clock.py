"""The virtual clock for threads."""

from __future__ import annotations

import contextlib
import json
import threading
from datetime import timedelta
from types import TracebackType

import httpx

from ._clock_reads import ClockReads, as_timenav_error
from ._confirmer import Confirmer, confirmation
from ._errors import ApiError, TimenavError
from ._follower import ClockChange, Reading, StalenessBounds
from ._host_time import deadline_after, monotonic_micros
from ._http_pool import HttpPool
from ._instant import Instant, When
from ._retry import DELAY_FIRST, is_final, next_delay
from ._settings import Settings
from ._sse import EventReader
from ._transport import abort_response, no_response, rejection


class VirtualClock(ClockReads):
    """The clock of a timeline. It subscribes once; reads then take no lock or request.

    A background thread reads the stream and calls the listeners.
    """

    def __init__(
        self, settings: Settings, timeline_id: str | None, bounds: StalenessBounds, follow: str | None = None
    ) -> None:
        super().__init__(timeline_id, bounds, follow)
        self._settings = settings
        self._confirmer = Confirmer(settings)
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._failure: Exception | None = None
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._run, name="timenav-clock", daemon=True)

    @property
    def thread(self) -> threading.Thread:
        """The thread that reads the stream."""
        return self._thread

    def open(self, timeout: float) -> VirtualClock:
        """Subscribes, and returns when the initial state has arrived."""
        self._thread.start()
        with self._changed:
            self._changed.wait_for(lambda: self._follower.state is not None or self._follower.end is not None, timeout)
        if self._follower.state is None:
            failure = self._not_open(self._failure)
            self.close()
            raise failure
        return self

    def until(self, when: When, *, timeout: float | None = None) -> Reading:
        """Waits until the clock shows a moment or a later one, regardless of how it moves, and returns the reading.

        A jump past the moment ends the wait, a rewind extends it, and a pause suspends it. `timeout` limits the wait,
        in seconds of host time; when it is exceeded, `TimeoutError` is raised. `ClockUnavailableError` is raised if the
        clock can no longer be read.
        """
        target = Instant.of(when)
        deadline = deadline_after(timeout)
        with self._changed:
            while True:
                reading, seconds = self._wait(target, monotonic_micros(), deadline)
                if reading is not None:
                    return reading
                self._changed.wait(seconds)

    def sleep(self, duration: timedelta | float, *, timeout: float | None = None) -> Reading:
        """Waits for a duration of virtual time; a number is in seconds."""
        return self.until(self._target(duration), timeout=timeout)

    def until_generation(self, generation: int, *, timeout: float | None = None) -> Reading:
        """Waits until this clock shows a change, given the generation in the response to that change."""
        deadline = deadline_after(timeout)
        with self._changed:
            while True:
                reading, seconds = self._wait_generation(generation, monotonic_micros(), deadline)
                if reading is not None:
                    return reading
                self._changed.wait(seconds)

    def close(self) -> None:
        """Ends the subscription. Pending waits raise `ClockClosedError`."""
        self._closing.set()
        self._confirmer.close()
        self._follower.closed()
        self._notify()
        if self._response is not None:
            abort_response(self._response)
        if threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join(timeout=1.0)

    def __enter__(self) -> VirtualClock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _notify(self, change: ClockChange | None = None) -> None:
        with self._changed:
            self._changed.notify_all()
        self._deliver(change)

    def _run(self) -> None:
        delay = DELAY_FIRST
        with HttpPool(self._settings) as http:
            while not self._closing.is_set():
                failure: Exception | None = None
                try:
                    self._listen(http)
                except httpx.HTTPError as error:
                    failure = no_response(error, self._settings)[2]
                except (TimenavError, ValueError, KeyError, TypeError) as error:
                    failure = as_timenav_error(error)
                if isinstance(failure, ApiError) and is_final(failure):
                    self._follower.rejected(failure)
                if self._failure is None:
                    # The stream was open, so this is the first loss: reset the backoff.
                    delay = DELAY_FIRST
                self._failure = failure
                self._follower.connection_lost(monotonic_micros())
                self._notify()
                if self._follower.end is not None:
                    return
                wait, delay = next_delay(delay, failure)
                self._closing.wait(wait)

    def _listen(self, http: HttpPool) -> None:
        """Reads one connection until it ends."""
        is_first = self._follower.state is None
        self._follower.request_sent(monotonic_micros())
        if not is_first:
            response = http.send("GET", "/v1/clock", params=self._query())
            if not response.is_success:
                raise rejection(response)[2]
            self._notify(self._follower.apply_response(response.json(), monotonic_micros()))
        stream = http.send(
            "GET",
            "/v1/clock/stream",
            is_stream=True,
            params=self._stream_query(),
            headers=self._stream_headers(),
            timeout=self._settings.stream_timeout(self._follower.bounds.stale_after),
        )
        with contextlib.closing(stream) as response:
            if not response.is_success:
                response.read()
                raise rejection(response)[2]
            self._response = response
            self._follower.stream_opened(monotonic_micros())
            self._failure = None
            reader = EventReader()
            for chunk in response.iter_bytes():
                if self._closing.is_set():
                    return
                self._follower.message_received(monotonic_micros())
                for event in reader.push(chunk):
                    now, body = monotonic_micros(), json.loads(event.data)
                    self._notify(self._follower.apply_message(event.event, body, now, is_first=is_first))
                    is_first = False
                    # At this point, reads show the change, and the listeners have been called.
                    confirmed = confirmation(body, self._timeline)
                    if confirmed is not None:
                        self._confirmer.schedule(confirmed)
