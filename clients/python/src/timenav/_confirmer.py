"""Confirms clock changes to the service in the background, so that reading the stream never waits for it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx

from ._errors import ClientClosedError
from ._http_pool import AsyncHttpPool, HttpPool
from ._retry import is_final
from ._settings import Settings
from ._transport import rejection

_PATH = "/v1/followers/confirm"
RETRY_SECONDS = 1.0
"""The delay before a confirmation is retried, unless a newer change arrives first."""


def confirmation(body: dict[str, Any], timeline_id: str | None) -> dict[str, Any] | None:
    """Returns the confirmation of a stream message; None if the clock is not a named follower."""
    follower_id = body.get("follower_id")
    if follower_id is None:
        return None
    confirmed = {"follower_id": follower_id, "generation": body["generation"]}
    return confirmed if timeline_id is None else {**confirmed, "timeline_id": timeline_id}


def _is_done(response: httpx.Response) -> bool:
    """Returns whether no retry is needed.

    A permanent rejection means that the stream has ended. The next stream reports which change to confirm.
    """
    if response.is_success:
        return True
    return is_final(rejection(response)[2])


def _newer(newest: dict[str, Any] | None, older: dict[str, Any] | None) -> dict[str, Any] | None:
    return older if newest is None else newest


class Confirmer:
    """A thread that confirms the newest change. It starts with the first change."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._newest: dict[str, Any] | None = None
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def schedule(self, confirmation: dict[str, Any]) -> None:
        """Schedules the confirmation of a change."""
        with self._changed:
            self._newest = confirmation
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="timenav-confirmer", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _run(self) -> None:
        with HttpPool(self._settings) as http:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._is_closed or self._newest is not None)
                    if self._is_closed:
                        return
                    newest, self._newest = self._newest, None
                try:
                    is_done = _is_done(http.send("POST", _PATH, json=newest))
                except (httpx.HTTPError, ClientClosedError):
                    is_done = False
                if is_done:
                    continue
                with self._changed:
                    self._changed.wait_for(lambda: self._is_closed or self._newest is not None, RETRY_SECONDS)
                    self._newest = _newer(self._newest, newest)


class AsyncConfirmer:
    """A task that confirms the newest change. It starts with the first change."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._changed = asyncio.Event()
        self._newest: dict[str, Any] | None = None
        self._task: asyncio.Task[None] | None = None

    def schedule(self, confirmation: dict[str, Any]) -> None:
        """Schedules the confirmation of a change."""
        self._newest = confirmation
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="timenav-confirmer")

    def close(self) -> None:
        """Ends the task."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        async with AsyncHttpPool(self._settings) as http:
            while True:
                await self._changed.wait()
                self._changed.clear()
                newest, self._newest = self._newest, None
                try:
                    is_done = _is_done(await http.send("POST", _PATH, json=newest))
                except (httpx.HTTPError, ClientClosedError):
                    is_done = False
                if is_done:
                    continue
                try:
                    await asyncio.wait_for(self._changed.wait(), RETRY_SECONDS)
                except asyncio.TimeoutError:
                    self._newest = _newer(self._newest, newest)
                    self._changed.set()
