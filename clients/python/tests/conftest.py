"""A service for all tests, and common fixtures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore  # noqa: F401 - pytester unloads modules first imported in its tests
import pytest

import timenav
from timenav.testing import Service

pytest_plugins = ["pytester"]
CLIENTS = Path(__file__).resolve().parents[2]


def vectors(name: str) -> dict[str, Any]:
    """Returns a file of test cases that the clients of all languages share."""
    content: dict[str, Any] = json.loads((CLIENTS / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with Service() as service:
        yield service


@pytest.fixture
def client(service: Service) -> Iterator[timenav.Client]:
    with service.client() as client:
        yield client


@pytest.fixture
def timeline(client: timenav.Client, request: pytest.FixtureRequest) -> str:
    """A timeline for one test. Its id includes the file, because tests of different files may share a name."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.nodeid)[-100:].strip("-")
    client.create_timeline(timeline_id=name)
    return name
