"""Pytest fixtures: each test has its own timeline and clock.

The tests use the service at `TIMENAV_URL`. With the option `--timenav-start`, or `timenav_start = true` in the pytest
configuration, they start a service instead, with the program in `TIMENAV_BIN` or else `timenav`.

pytest imports this module in every test suite of the environment. To keep suites that do not use it fast, it is outside
the package `timenav` and imports the package only in fixtures.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from timenav import Client
    from timenav.testing import TestClock

_EXPIRES_IN = "1h"
_NAME_MAX = 80


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the command-line option and the ini setting."""
    text = "start a timenav service for the tests, and stop it afterward"
    parser.getgroup("timenav").addoption("--timenav-start", action="store_true", default=False, help=text)
    parser.addini("timenav_start", text, type="bool", default=False)


@pytest.fixture(scope="session")
def timenav_client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of the service that the tests use."""
    from timenav import Client
    from timenav.testing import Service

    config = request.config
    if config.getoption("--timenav-start") or config.getini("timenav_start"):
        with Service() as service, service.client() as client:
            yield client
    elif os.environ.get("TIMENAV_URL"):
        with Client() as client:
            yield client
    else:
        pytest.fail(
            "no timenav service is configured: set TIMENAV_URL and TIMENAV_API_KEY, or start one with --timenav-start",
            pytrace=False,
        )


@pytest.fixture
def timenav_clock(timenav_client: Client, request: pytest.FixtureRequest) -> Iterator[TestClock]:
    """The clock of a timeline that is created for the test and ends with it. The clock is running."""
    from timenav import TimenavError
    from timenav.testing import TestClock

    slug = re.sub(r"[^0-9A-Za-z]+", "-", request.node.name).strip("-")[:_NAME_MAX]
    timeline_id = f"pytest-{slug}-{secrets.token_hex(6)}"
    # If the run is killed, the timeline expires on its own.
    timenav_client.create_timeline(timeline_id=timeline_id, expires_in=_EXPIRES_IN)
    try:
        with timenav_client.virtual_clock(timeline_id) as clock:
            controls = TestClock(timenav_client, clock, timeline_id)
            yield controls
            controls.raise_failure()
    finally:
        # The test may have ended the timeline or stopped the service.
        with contextlib.suppress(TimenavError):
            timenav_client.end_timeline(timeline_id)


@pytest.fixture
def timenav_time(timenav_clock: TestClock) -> Iterator[TestClock]:
    """Like `timenav_clock`, but `time` and `datetime` follow the clock, too (needs `time-machine`)."""
    from timenav.adapters.time_machine import follow

    with follow(timenav_clock.clock):
        yield timenav_clock
