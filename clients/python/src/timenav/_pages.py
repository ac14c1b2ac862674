"""Iteration over the pages of a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import TypeVar

from typing_extensions import ParamSpec

P = ParamSpec("P")
Page = TypeVar("Page", bound=Mapping[str, object])


def pages(call: Callable[P, Page], *args: P.args, **kwargs: P.kwargs) -> Iterator[Page]:
    """Yields the pages of a list. Each page is requested on demand.

    `call` is a method with a `cursor`, such as `client.monitor_events`, followed by its arguments.
    """
    while True:
        page = call(*args, **kwargs)
        yield page
        if not page.get("next_cursor"):
            return
        kwargs["cursor"] = page["next_cursor"]


async def async_pages(call: Callable[P, Awaitable[Page]], *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Page]:
    """Like `pages`, for methods of `AsyncClient`."""
    while True:
        page = await call(*args, **kwargs)
        yield page
        if not page.get("next_cursor"):
            return
        kwargs["cursor"] = page["next_cursor"]
