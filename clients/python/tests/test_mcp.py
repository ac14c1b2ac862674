"""`timenav mcp` with the official SDK of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import timenav
from timenav.testing import Service

# Arguments for each tool. The SDK validates each response against the output schema of the tool.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("pause_time", {}),
    ("travel", {"destination_time": "2027-01-01T00:00:00Z"}),
    ("clock", {}),
    ("session", {}),
    ("limits", {}),
    ("timelines", {}),
    ("timeline", {}),
    ("record_events", {"items": [{"event_id": "one", "time": "2027-01-01T00:00:00Z", "actors": ["bob"]}]}),
    ("event", {"event_id": "one"}),
    ("monitor_events", {"location": "*", "time_range": "../.."}),
    ("scan_events", {"location": "*", "time_range": "../.."}),
    ("aggregate_events", {"group_by": "time", "location": "*", "time_range": "../.."}),
    ("check_timeline", {"significant_event": "one"}),
    ("monitor_paradox", {"time_range": "../.."}),
    ("set_anchor", {"description": "here"}),
    ("anchors", {}),
    ("set_timer", {"timer_id": "once", "at": "2027-02-01T00:00:00Z"}),
    ("set_timer", {"timer_id": "daily", "cron": {"expression": "0 9 * * *"}}),
    ("timers", {}),
    ("timer", {"timer_id": "daily"}),
    ("wait_for", {"until": "2027-01-02T00:00:00Z", "advance": True}),
    ("elapse", {"duration": "1m"}),
    ("claim_firings", {"queue": "default"}),
    ("entries", {}),
    ("proof", {"position": 1}),
    ("checkpoint", {}),
    ("detect_tampering", {"scan_depth": "full"}),
]


async def call_all_tools(service: Service, timeline_id: str, pinned_id: str) -> None:
    """Calls all tools of a server for any timeline, and of a server that is restricted to one."""
    arguments = ["mcp", "--allow", "write,travel"]
    environment = {"TIMENAV_URL": service.base_url, "TIMENAV_API_KEY": service.api_key}
    program = os.environ["TIMENAV_BIN"]
    service_tools = {"timelines"}
    for timeline, pinned in ((timeline_id, []), (pinned_id, ["--timeline", pinned_id])):
        server = StdioServerParameters(command=program, args=[*arguments, *pinned], env=environment)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            initialized = await session.initialize()
            assert initialized.server_info.name == "timenav"
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            for name, arguments_of_call in CALLS:
                if pinned and name in service_tools:
                    assert name not in tools
                    continue
                tool = tools[name]
                assert tool.annotations is not None
                given = dict(arguments_of_call)
                if "timeline_id" in tool.input_schema["properties"]:
                    given["timeline_id"] = timeline
                result = await session.call_tool(name, given)
                assert not result.is_error, f"{name} {given}: {result.content}"
                assert result.structured_content is not None
            invalid = await session.call_tool("travel", {"destination_time": "2028-02-29"})
            assert invalid.is_error
            assert "(invalid_parameter)" in invalid.content[0].text  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_official_sdk_validates_every_response(service: Service, client: timenav.Client, timeline: str) -> None:
    client.create_timeline(timeline_id=f"{timeline}-2")
    asyncio.run(call_all_tools(service, timeline, f"{timeline}-2"))
