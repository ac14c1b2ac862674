"""The HTTP connections of clients: the caller's httpx client, and closed clients."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

import timenav
from timenav.testing import Service

URL = "http://timenav.test"
KEY = "tnk_000000000000000000000000000000000000"


def test_custom_http_client_sends_only_the_api_key() -> None:
    requests: list[httpx.Request] = []

    def response(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(302, headers={"Location": "http://elsewhere.test/"})

    http_client = httpx.Client(
        transport=httpx.MockTransport(response),
        auth=("user", "password"),
        follow_redirects=True,
        headers={"X-Own": "1"},
    )
    with (
        http_client,
        timenav.Client(base_url=URL, api_key=KEY, http_client=http_client) as client,
        pytest.raises(timenav.ApiError),
    ):
        client.clock()
    [request] = requests
    assert (request.url.host, request.headers["Authorization"]) == ("timenav.test", f"Bearer {KEY}")
    assert (request.headers["Accept"], request.headers["X-Own"]) == ("application/json", "1")
    assert request.extensions["timeout"] == {"connect": 10.0, "read": 60.0, "write": 60.0, "pool": 60.0}


def test_closing_the_client_leaves_the_custom_http_client_open() -> None:
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={}))) as http_client:
        client = timenav.Client(base_url=URL, api_key=KEY, http_client=http_client)
        client.clock()
        inside = client.for_firing("f-1")
        client.close()
        for closed in (client, inside):
            with pytest.raises(timenav.ClientClosedError):
                closed.clock()
        assert http_client.get(URL).status_code == 200


def test_call_of_a_closed_client_raises_client_closed() -> None:
    client = timenav.Client(base_url=URL, api_key=KEY)
    client.close()
    with pytest.raises(timenav.ClientClosedError):
        client.clock()
    http_client = httpx.Client()
    with timenav.Client(base_url=URL, api_key=KEY, http_client=http_client) as client:
        http_client.close()
        with pytest.raises(timenav.ClientClosedError):
            client.clock()
        with pytest.raises(timenav.ClientClosedError):
            client.virtual_clock(timeout=1.0)


def test_async_client_uses_the_custom_http_client() -> None:
    async def calls() -> None:
        async with httpx.AsyncClient(
            transport=httpx.MockTransport(lambda _: httpx.Response(200, json={}))
        ) as http_client:
            client = timenav.AsyncClient(base_url=URL, api_key=KEY, http_client=http_client)
            await client.clock()
            await client.aclose()
            with pytest.raises(timenav.ClientClosedError):
                await client.clock()
            assert (await http_client.get(URL)).status_code == 200
        client = timenav.AsyncClient(base_url=URL, api_key=KEY)
        await client.aclose()
        with pytest.raises(timenav.ClientClosedError):
            await client.clock()

    asyncio.run(calls())


def test_http_client_of_the_wrong_type_or_with_ca_is_rejected() -> None:
    with httpx.Client() as http_client:
        with pytest.raises(TypeError, match=r"httpx\.AsyncClient"):
            timenav.AsyncClient(base_url=URL, api_key=KEY, http_client=http_client)  # type: ignore[arg-type]
        with pytest.raises(timenav.SettingsError, match="verify"):
            timenav.Client(base_url=URL, api_key=KEY, http_client=http_client, ca="ca.pem")


def test_clock_and_listener_use_the_custom_http_client(service: Service, timeline: str) -> None:
    paths: set[str] = set()
    handled = threading.Event()
    http_client = httpx.Client(event_hooks={"request": [lambda request: paths.add(request.url.path)]})
    settings = {"base_url": service.base_url, "api_key": service.api_key, "timeline_id": timeline}
    with http_client, timenav.Client(**settings, http_client=http_client) as client:  # type: ignore[arg-type]
        client.pause_time()
        client.travel(destination_time="2028-02-29T09:00:00Z")
        client.set_timer(at="2028-03-01T09:00:00Z")
        with client.virtual_clock() as clock, client.on("default", lambda _: handled.set()):
            client.advance("1d")
            clock.until("2028-03-01T09:00:00Z", timeout=10)
    assert handled.is_set()
    assert {"/v1/clock/stream", "/v1/queues/default/claim"} <= paths, paths
