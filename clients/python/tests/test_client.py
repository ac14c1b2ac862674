"""The client with a real service, and with a stub server that loses responses."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import timenav
from timenav.testing import Service

from .stub_server import StubServer

KEY = "tnk_000000000000000000000000000000000000"


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as stub:
        yield stub


def test_calls_accept_strings_datetimes_and_timedeltas(client: timenav.Client, timeline: str) -> None:
    moment = datetime(2028, 2, 29, 9, tzinfo=timezone(timedelta(hours=1)))
    client.pause_time(timeline_id=timeline)
    assert client.travel(destination_time=moment, timeline_id=timeline)["current_time"] == "2028-02-29T08:00:00Z"
    moved = client.fast_forward(duration=timedelta(days=1, microseconds=1), timeline_id=timeline)
    assert moved["current_time"] == "2028-03-01T08:00:00.000001Z"
    assert client.rewind(duration="P1M", timeline_id=timeline)["current_time"] == "2028-02-01T08:00:00.000001Z"
    with pytest.raises(ValueError, match="rewind"):
        client.fast_forward(duration=timedelta(days=-1), timeline_id=timeline)
    with pytest.raises(ValueError, match="time zone"):
        client.travel(destination_time=datetime(2028, 2, 29), timeline_id=timeline)


def test_error_names_the_invalid_field(client: timenav.Client) -> None:
    with pytest.raises(timenav.ApiError) as raised:
        client.travel(destination_time="2028-02-30T09:00:00Z")
    problem = raised.value
    assert (problem.http_status, problem.code, problem.field) == (400, "invalid_parameter", "destination_time")
    assert "has 29 days" in problem.errors[0].detail
    assert problem.request_id is not None
    assert "destination_time" in str(problem)
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301 - pickled on the line above
    assert (type(again), str(again), again.errors) == (timenav.BadRequestError, str(problem), problem.errors)


def test_change_with_outdated_if_match_is_rejected(client: timenav.Client, timeline: str) -> None:
    generation = client.clock(timeline_id=timeline)["generation"]
    client.set_rate(rate=2, timeline_id=timeline, if_match=generation)
    with pytest.raises(timenav.ApiError) as raised:
        client.set_rate(rate=3, timeline_id=timeline, if_match=generation)
    assert raised.value.http_status == 412


def test_repeated_idempotency_key_applies_the_change_once(client: timenav.Client, timeline: str) -> None:
    first = client.fast_forward(duration="1h", timeline_id=timeline, idempotency_key="one-hour")
    again = client.fast_forward(duration="1h", timeline_id=timeline, idempotency_key="one-hour")
    assert again["generation"] == first["generation"] == client.clock(timeline_id=timeline)["generation"]


def test_files_are_imported_and_exported(client: timenav.Client, timeline: str) -> None:
    rows = "time,description\n2028-02-29T09:00:00Z,A leap day\n2028-03-01T09:00:00Z,The day after\n"
    imported = client.import_events(rows, content_type="text/csv", format="csv", timeline_id=timeline)
    assert imported["imported"] == 2
    reimported = client.import_events(
        iter([rows.encode()[:30], rows.encode()[30:]]), format="csv", timeline_id=timeline
    )
    assert reimported["unchanged"] == 2
    with client.export_events(format="csv", timeline_id=timeline) as file:
        assert file.content_type.startswith("text/csv")
        assert b"A leap day" in b"".join(file)
    assert client.bundle(timeline).read().startswith(b"{")
    assert client.checkpoint(timeline)["size"] > 0
    assert client.checkpoint_text(timeline).startswith("timenav.local/")
    assert len(client.tile(timeline, "0/000.p/1")) == 32


def test_parameters_of_all_types_are_encoded(client: timenav.Client, timeline: str) -> None:
    record: timenav.schemas.EventRecord = {
        "time": "2028-02-29T09:00:00Z",
        "description": "A storm & a + sign",
        "attributes": {"category": "5"},
    }
    client.record_events([record, {**record, "attributes": {"category": "1"}}], timeline_id=timeline)
    found = client.monitor_events(
        location="*", time_range="../..", attribute={"category": "5"}, text="storm", limit=10, timeline_id=timeline
    )
    assert [event["description"] for event in found["events"]] == ["A storm & a + sign"]
    assert client.monitor_paradox(timeline_id=timeline, time_range="../..", kinds=["P01", "P02"])["paradoxes"] == []


def test_null_differs_from_an_omitted_parameter(client: timenav.Client, timeline: str) -> None:
    client.set_retention(timeline_id=timeline, reads="P30D", rejections="P40D")
    client.set_retention(timeline_id=timeline, reads=None)
    retention = client.timeline(timeline)["retention"]
    assert retention is not None
    assert retention.get("reads") is None
    assert retention.get("rejections") is not None


def test_stream_reports_changes_of_the_timeline(client: timenav.Client, timeline: str) -> None:
    with client.stream(timeline_id=timeline, topics=["clock", "events"]) as events:
        stream = iter(events)
        assert next(stream).event == "clock"
        client.record_events({"time": "2028-02-29T09:00:00Z", "description": "Seen"}, timeline_id=timeline)
        message = next(stream)
        assert (message.event, message.data["change"]) == ("events", "recorded")
        assert events.last_id.split("~")[0] == str(message.data["position"])


def test_calls_default_to_the_timeline_of_the_client(service: Service, timeline: str) -> None:
    with service.client(timeline) as client:
        assert client.clock()["timeline_id"] == timeline
        assert client.pause_time()["timeline_id"] == timeline
        assert client.clock(timeline_id="main")["timeline_id"] == "main"


def test_settings_default_to_the_environment(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMENAV_URL", service.base_url + "/")
    monkeypatch.setenv("TIMENAV_API_KEY", f" {service.api_key}\n")
    monkeypatch.setenv("TIMENAV_TIMELINE", "main")
    with timenav.Client() as client:
        assert client.clock()["timeline_id"] == "main"


@pytest.mark.parametrize(
    ("url", "key", "message"),
    [
        (None, None, "TIMENAV_API_KEY"),
        (None, " ", "empty"),
        (None, "tnk_\u00e9", "characters"),
        ("ftp://127.0.0.1", KEY, "TIMENAV_URL"),
        ("http://", KEY, "TIMENAV_URL"),
        (f"http://{KEY}@127.0.0.1", KEY, "TIMENAV_URL"),
        ("127.0.0.1:8080", KEY, "TIMENAV_URL"),
    ],
)
def test_invalid_settings_are_rejected(
    url: str | None, key: str | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TIMENAV_URL", "TIMENAV_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(timenav.SettingsError, match=message) as raised:
        timenav.Client(base_url=url, api_key=key)
    assert KEY not in str(raised.value)


def test_errors_and_logs_do_not_contain_the_key(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = service.client()
    asynchronous = timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key)
    with pytest.raises(timenav.ApiError) as rejected:
        client.travel(destination_time="never")
    with pytest.raises(timenav.ApiConnectionError) as unreachable:
        timenav.Client(base_url="http://127.0.0.1:9", api_key=service.api_key, retries=timenav.RetryPolicy(1)).clock()
    with client.virtual_clock() as clock:
        texts = [repr(client), repr(asynchronous), repr(client._settings), repr(clock), repr(vars(client))]
    texts += [repr(error) + repr(vars(error)) + str(error) for error in (rejected.value, unreachable.value)]
    texts += [caplog.text]
    client.close()
    asyncio.run(asynchronous.aclose())
    assert service.api_key not in "".join(texts)


def test_request_with_lost_response_is_retried_with_the_same_key(stub: StubServer) -> None:
    stub.responses = ["drop", (503, {"Retry-After": "0"}), (200, {"generation": 1})]
    with timenav.Client(base_url=stub.url, api_key=KEY) as client:
        assert client.travel(destination_time="2028-02-29T09:00:00Z")["generation"] == 1
    keys = [headers.get("Idempotency-Key") for _, headers in stub.requests]
    assert len(keys) == 3
    assert keys[0] is not None
    assert len(set(keys)) == 1


def test_timeline_header_matches_the_timeline_of_the_request(stub: StubServer) -> None:
    stub.responses = [(200, {})] * 4
    with timenav.Client(base_url=stub.url, api_key=KEY, timeline_id="mine") as client:
        client.clock()
        client.pause_time(timeline_id="other")
        client.timeline("third")
    with timenav.Client(base_url=stub.url, api_key=KEY) as client:
        client.clock()
    named = [headers.get("Timenav-Timeline") for _, headers in stub.requests]
    assert named == ["mine", "other", "third", None]


def test_non_idempotent_request_is_not_retried_after_a_lost_response(stub: StubServer) -> None:
    stub.responses = ["drop"]
    with timenav.Client(base_url=stub.url, api_key=KEY) as client, pytest.raises(timenav.ApiConnectionError):
        client.delete_user("alice")
    assert len(stub.requests) == 1


def test_retry_after_above_the_limit_is_not_retried(stub: StubServer) -> None:
    stub.responses = [(429, {"Retry-After": "3600"})]
    with timenav.Client(base_url=stub.url, api_key=KEY) as client, pytest.raises(timenav.ApiError) as raised:
        client.clock()
    assert (raised.value.http_status, raised.value.retry_after) == (429, 3600)
    assert len(stub.requests) == 1


def test_redirect_is_not_followed(stub: StubServer) -> None:
    stub.responses = [(302, {"Location": "http://127.0.0.1:9/"})]
    with timenav.Client(base_url=stub.url, api_key=KEY) as client, pytest.raises(timenav.ApiError) as raised:
        client.clock()
    assert raised.value.http_status == 302


def test_async_client_sends_and_retries_calls(service: Service, stub: StubServer) -> None:
    async def calls() -> tuple[Any, ...]:
        stub.responses = ["drop", (200, {"generation": 1})]
        async with timenav.AsyncClient(base_url=stub.url, api_key=KEY) as retried:
            moved = await retried.travel(destination_time="2028-02-29T09:00:00Z")
        async with timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            with pytest.raises(timenav.ApiError) as raised:
                await client.travel(destination_time="2028-02-30T09:00:00Z")
            async with await client.export_events(format="ndjson") as file:
                exported = await file.read()
            async with await client.stream(topics="clock") as events:
                message = await anext(aiter(events))
            tile = await client.tile("main", "0/000.p/1")
        return moved["generation"], raised.value.field, exported, message.event, len(tile)

    assert asyncio.run(calls()) == (1, "destination_time", b"", "clock", 32)


def test_pages_follow_the_cursor(service: Service, client: timenav.Client, timeline: str) -> None:
    events: Any = [{"time": f"2028-02-{day:02}T09:00:00Z", "description": str(day)} for day in range(1, 8)]
    client.record_events(body=events, timeline_id=timeline)
    query: dict[str, Any] = {"location": "*", "time_range": "../..", "limit": 3, "timeline_id": timeline}
    expected = [["1", "2", "3"], ["4", "5", "6"], ["7"]]
    found = timenav.pages(client.monitor_events, **query)
    assert [[event["description"] for event in page["events"]] for page in found] == expected
    # Each page is requested on demand.
    assert len(next(timenav.pages(client.monitor_events, **query))["events"]) == 3

    async def main() -> list[list[str]]:
        async with timenav.AsyncClient(base_url=service.base_url, api_key=service.api_key) as async_client:
            pages = timenav.async_pages(async_client.monitor_events, **query)
            return [[event["description"] for event in page["events"]] async for page in pages]

    assert asyncio.run(main()) == expected
