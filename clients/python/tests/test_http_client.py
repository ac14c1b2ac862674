"""The HTTP connections of clients: an httpx client of the caller, and closed clients."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

import timenav
from timenav.testing import Service

URL = "http://timenav.test"
KEY = "tnk_000000000000000000000000000000000000"


def test_given_http_client_sends_requests_with_the_key_alone() -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(302, headers={"Location": "http://elsewhere.test/"})

    own = httpx.Client(
        transport=httpx.MockTransport(answer), auth=("user", "password"), follow_redirects=True, headers={"X-Own": "1"}
    )
    with own, timenav.Client(base_url=URL, api_key=KEY, http_client=own) as client, pytest.raises(timenav.ApiError):
        client.clock()
    [request] = requests
    assert (request.url.host, request.headers["Authorization"]) == ("timenav.test", f"Bearer {KEY}")
    assert (request.headers["Accept"], request.headers["X-Own"]) == ("application/json", "1")
    assert request.extensions["timeout"] == {"connect": 10.0, "read": 60.0, "write": 60.0, "pool": 60.0}


def test_closed_client_leaves_the_given_http_client_open() -> None:
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={}))) as own:
        client = timenav.Client(base_url=URL, api_key=KEY, http_client=own)
        client.clock()
        inside = client.inside("f-1")
        client.close()
        for closed in (client, inside):
            with pytest.raises(timenav.ClientClosedError):
                closed.clock()
        assert own.get(URL).status_code == 200


def test_call_of_a_closed_client_raises_client_closed() -> None:
    client = timenav.Client(base_url=URL, api_key=KEY)
    client.close()
    with pytest.raises(timenav.ClientClosedError):
        client.clock()
    own = httpx.Client()
    with timenav.Client(base_url=URL, api_key=KEY, http_client=own) as client:
        own.close()
        with pytest.raises(timenav.ClientClosedError):
            client.clock()
        with pytest.raises(timenav.ClientClosedError):
            client.virtual_clock(timeout=1.0)


def test_asyncio_client_sends_with_the_given_http_client() -> None:
    async def calls() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={}))) as own:
            client = timenav.AsyncClient(base_url=URL, api_key=KEY, http_client=own)
            await client.clock()
            await client.aclose()
            with pytest.raises(timenav.ClientClosedError):
                await client.clock()
            assert (await own.get(URL)).status_code == 200
        client = timenav.AsyncClient(base_url=URL, api_key=KEY)
        await client.aclose()
        with pytest.raises(timenav.ClientClosedError):
            await client.clock()

    asyncio.run(calls())


def test_http_client_of_the_other_kind_or_with_ca_is_rejected() -> None:
    with httpx.Client() as own:
        with pytest.raises(TypeError, match=r"httpx\.AsyncClient"):
            timenav.AsyncClient(base_url=URL, api_key=KEY, http_client=own)  # type: ignore[arg-type]
        with pytest.raises(timenav.SettingsError, match="verify"):
            timenav.Client(base_url=URL, api_key=KEY, http_client=own, ca="ca.pem")


def test_clock_and_listener_use_the_given_http_client(service: Service, timeline: str) -> None:
    paths: set[str] = set()
    handled = threading.Event()
    own = httpx.Client(event_hooks={"request": [lambda request: paths.add(request.url.path)]})
    settings = {"base_url": service.base_url, "api_key": service.api_key, "timeline_id": timeline}
    with own, timenav.Client(**settings, http_client=own) as client:  # type: ignore[arg-type]
        client.pause_time()
        client.travel(destination_time="2028-02-29T09:00:00Z")
        client.set_timer(at="2028-03-01T09:00:00Z")
        with client.virtual_clock() as clock, client.on("default", lambda _: handled.set()):
            client.advance("1d")
            clock.until("2028-03-01T09:00:00Z", timeout=10)
    assert handled.is_set()
    assert {"/v1/clock/stream", "/v1/queues/default/claim"} <= paths, paths
