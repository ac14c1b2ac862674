"""Per-request clocks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

import timenav
from timenav import baggage
from timenav._request_clocks import AsyncRequestClocks, RequestClocks, TooManyClocksError
from timenav.asgi import ClockMiddleware as AsgiClocks
from timenav.testing import Service
from timenav.wsgi import ClockMiddleware as WsgiClocks

from .conftest import vectors

VECTORS = vectors("baggage")


@pytest.mark.parametrize("case", VECTORS["read"], ids=lambda case: str(case["header"]))
def test_timeline_is_parsed_from_header(case: dict[str, Any]) -> None:
    assert baggage.timeline_in(case["header"]) == case["timeline"]


@pytest.mark.parametrize("case", VECTORS["rejected"], ids=lambda case: str(case["header"]))
def test_invalid_header_is_rejected(case: dict[str, Any]) -> None:
    with pytest.raises(baggage.BaggageError):
        baggage.timeline_in(case["header"])


@pytest.mark.parametrize("case", VECTORS["written"], ids=lambda case: case["expected"])
def test_timeline_is_added_to_header(case: dict[str, Any]) -> None:
    written = baggage.with_timeline(case["header"], case["timeline"])
    assert written == case["expected"]
    assert baggage.timeline_in(written) == case["timeline"]


def create_clock_in_year(client: timenav.Client, timeline: str, year: int) -> str:
    """Creates a timeline whose clock is paused in a year, and returns a header that names it."""
    client.create_timeline(timeline_id=timeline)
    client.pause_time(timeline_id=timeline)
    client.travel(destination_time=f"{year}-06-01T00:00:00Z", timeline_id=timeline)
    return f"userId=alice,timenav={timeline}"


def wsgi(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Responds with the year and the outgoing header. The header is generated while the response is sent."""
    start_response("200 OK", [])
    yield str(baggage.clock().datetime().year).encode()
    yield baggage.outgoing_headers({"Baggage": "region=eu"})["Baggage"].encode()


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept", "headers": []})
        await send({"type": "websocket.send", "text": str(baggage.clock().datetime().year)})
        return
    await asyncio.sleep(0)
    body = str(baggage.clock().datetime().year) + baggage.outgoing_headers({"Baggage": "region=eu"})["Baggage"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body.encode()})


def test_wsgi_request_uses_the_clock_of_its_header(client: timenav.Client, service: Service) -> None:
    first, second = create_clock_in_year(client, "wsgi-first", 2031), create_clock_in_year(client, "wsgi-second", 1968)
    clocks = RequestClocks(service.client(), allowed=lambda timeline: timeline != "system")
    with httpx.Client(transport=httpx.WSGITransport(app=WsgiClocks(wsgi, clocks)), base_url="http://app") as http:
        for header, expected in [
            (first, "2031region=eu,timenav=wsgi-first"),
            (second, "1968region=eu,timenav=wsgi-second"),
        ]:
            response = http.get("/", headers={"Baggage": header})
            assert (response.status_code, response.text) == (200, expected)
        # If the clock travels, the time of the application changes.
        client.travel(destination_time="2040-01-01T00:00:00Z", timeline_id="wsgi-first")
        with clocks.serving(first) as clock:
            clock.until("2040-01-01T00:00:00Z", timeout=20)
        assert http.get("/", headers={"Baggage": first}).text.startswith("2040")
        # Without baggage, the client's own timeline is used.
        assert http.get("/").text.endswith("region=eu,timenav=main")
        for header, problem in [
            ("timenav=nowhere", "nowhere"),
            ("timenav=a,timenav=b", "two timelines"),
            ("timenav=system", "may not"),
        ]:
            response = http.get("/", headers={"Baggage": header})
            assert response.status_code == 400
            assert problem in response.text
        client.end_timeline(timeline_id="wsgi-second")
        while not is_rejected(http, second):
            time.sleep(0.02)
    with pytest.raises(LookupError):
        baggage.clock()
    clocks.close()
    with httpx.Client(transport=httpx.WSGITransport(app=WsgiClocks(wsgi, clocks)), base_url="http://app") as http:
        assert http.get("/").status_code == 503


def is_rejected(http: httpx.Client, header: str) -> bool:
    """Returns whether the end of a timeline has arrived on the stream. It may also arrive during the request."""
    try:
        return http.get("/", headers={"Baggage": header}).status_code == 400
    except timenav.ClockAccessError:
        return False


def test_request_without_clock_fails_instead_of_using_host_time() -> None:
    clocks = RequestClocks(timenav.Client(base_url="http://127.0.0.1:1", api_key="tnk_x"), timeout=0.5)
    with httpx.Client(transport=httpx.WSGITransport(app=WsgiClocks(wsgi, clocks)), base_url="http://app") as http:
        response = http.get("/")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert "127.0.0.1" not in response.text


def test_asgi_request_uses_the_clock_of_its_header(client: timenav.Client, service: Service) -> None:
    asyncio.run(serve_by_asgi(client, service))


async def serve_by_asgi(client: timenav.Client, service: Service) -> None:
    headers = [create_clock_in_year(client, f"asgi-{number}", 2030 + number) for number in range(3)]
    async with timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key) as async_client:
        clocks = AsyncRequestClocks(async_client)
        app = AsgiClocks(asgi, clocks)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
            responses = await asyncio.gather(
                *(http.get("/", headers={"Baggage": header}) for header in headers for _ in range(5))
            )
            texts = [response.text for response in responses]
            assert texts == [f"{2030 + n}region=eu,timenav=asgi-{n}" for n in range(3) for _ in range(5)]
            assert (await http.get("/", headers={"Baggage": "timenav=nowhere"})).status_code == 400
            assert (await http.get("/")).text.endswith("timenav=main")
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> dict[str, str]:
            return {"type": "websocket.connect"}

        scope = {"type": "websocket", "headers": [(b"baggage", headers[1].encode())]}
        await app(scope, receive, send)
        assert sent[-1]["text"] == "2031"
        await app({"type": "websocket", "headers": [(b"baggage", b"timenav=")]}, receive, send)
        assert sent[-1] == {"type": "websocket.close", "code": 1008}
        # The shutdown of the application closes its clocks.
        await AsgiClocks(empty_app, clocks)({"type": "lifespan"}, receive, send)
        with pytest.raises(timenav.ClockClosedError):
            async with clocks.serving(None):
                pass


async def empty_app(_scope: Any, _receive: Any, _send: Any) -> None:
    """Returns at once, like an application that has shut down."""


class RecordingClient(timenav.Client):
    """A client that records the clocks that it opens."""

    def __init__(self, service: Service) -> None:
        super().__init__(base_url=service.base_url, api_key=service.api_key)
        self.opened: list[tuple[str | None, timenav.VirtualClock]] = []
        self.lock = threading.Lock()

    def virtual_clock(self, timeline_id: str | None = None, **options: Any) -> timenav.VirtualClock:
        clock = super().virtual_clock(timeline_id, **options)
        with self.lock:
            self.opened.append((timeline_id, clock))
        return clock

    def open(self) -> set[str | None]:
        return {timeline for timeline, clock in self.opened if clock.is_connected}


def test_clock_is_shared_and_least_recently_used_one_is_closed(client: timenav.Client, service: Service) -> None:
    headers = [create_clock_in_year(client, f"cache-{number}", 2030 + number) for number in range(3)]
    recording = RecordingClient(service)
    clocks = RequestClocks(recording, clocks_max=2)
    barrier = threading.Barrier(8)

    def serve(header: str) -> int:
        barrier.wait(20)
        with clocks.serving(header) as clock:
            return clock.datetime().year

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(serve, headers[:2] * 4)) == [2030] * 4 + [2031] * 4
    assert len(recording.opened) == 2
    with clocks.serving(headers[0]), clocks.serving(headers[1]):
        with pytest.raises(TooManyClocksError), clocks.serving(headers[2]):
            pass
        assert len(recording.opened) == 2
    with clocks.serving(headers[0]):
        pass
    # The second clock was the least recently used one.
    with clocks.serving(headers[2]) as clock:
        assert clock.datetime().year == 2032
    assert recording.open() == {"cache-0", "cache-2"}
    clocks.close()
    assert recording.open() == set()


def test_httpx_requests_forward_the_timeline(client: timenav.Client, service: Service) -> None:
    header = create_clock_in_year(client, "forwarded", 2033)
    seen: list[str | None] = []

    def response(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("baggage"))
        return httpx.Response(200)

    hooks = {"request": [baggage.forward]}
    clocks = RequestClocks(service.client())
    with httpx.Client(transport=httpx.MockTransport(response), event_hooks=hooks) as http:
        http.get("http://other/", headers={"Baggage": "a=b"})
        with clocks.serving(header):
            http.get("http://other/", headers={"Baggage": "a=b,timenav=else"})
            http.get("http://other/")
            assert baggage.outgoing_headers() == {"baggage": "timenav=forwarded"}
    assert seen == ["a=b", "a=b,timenav=forwarded", "timenav=forwarded"]
    assert baggage.outgoing_headers({"X": "y"}) == {"X": "y"}
    clocks.close()


def test_set_sql_clock_sets_the_time_of_the_request(client: timenav.Client, service: Service) -> None:
    header = create_clock_in_year(client, "transaction", 2034)
    executed: list[tuple[str, tuple[str, ...]]] = []

    class Cursor:
        def execute(self, operation: str, parameters: tuple[str, ...], /) -> None:
            executed.append((operation, parameters))

    clocks = RequestClocks(service.client())
    with clocks.serving(header):
        baggage.set_sql_clock(Cursor())
    assert executed == [("SELECT set_config('timenav.now', %s, true)", ("2034-06-01T00:00:00Z",))]
    executed.clear()
    for case in VECTORS["sql"]:
        baggage.set_sql_clock(Cursor(), timenav.Instant.parse(case["moment"]))
    assert [parameters[0] for _, parameters in executed] == [case["expected"] for case in VECTORS["sql"]]
    clocks.close()
