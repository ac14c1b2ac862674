"""Writes clients/vectors/recorded.json: clock readings computed by a running service.

A pause or a rate change starts at the reading of the previous clock at that microsecond of host time, so each such
change records one reading. The script starts a service: TIMENAV_BIN=… python scripts/record.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timenav import Client, schemas
from timenav.testing import Service

FILE = Path(__file__).resolve().parents[2] / "vectors/recorded.json"
RATES = (0.000001, 0.333333, 0.5, 0.999999, 1.0, 1.234567, 7.0, 60.0, 3_600.0, 86_400.5, 1_000_000.0)
MOMENTS = (
    "-009999-01-01T00:00:00Z",
    "-000043-03-15T12:00:00.123456Z",
    "0000-02-29T23:59:59.999999Z",
    "1969-12-31T23:59:59.999999Z",
    "2028-02-29T09:00:00Z",
    "9999-12-31T23:59:59.99Z",
)
CLOCK_FIELDS = ("state", "rate", "origin_host", "origin_virtual")


def change(client: Client, timeline_id: str, act: str, rate: float) -> schemas.ClockBody:
    """Pauses or resumes a clock, or sets its rate."""
    if act == "rate":
        return client.set_rate(rate=rate, timeline_id=timeline_id)
    return client.pause_time(timeline_id=timeline_id) if act == "pause" else client.resume_time(timeline_id=timeline_id)


def readings(client: Client, timeline_id: str) -> Iterator[dict[str, Any]]:
    """Changes a clock repeatedly, and yields the reading that each change records."""
    for moment in MOMENTS:
        for rate in RATES:
            before = dict(client.travel(destination_time=moment, timeline_id=timeline_id))
            for act in ("rate", "pause", "resume"):
                after = dict(change(client, timeline_id, act, rate))
                if after["generation"] != before["generation"]:
                    clock = {name: before[name] for name in CLOCK_FIELDS}
                    yield {"clock": clock, "host": after["origin_host"], "shows": after["origin_virtual"]}
                before = after


def main() -> None:
    """Records the readings of a new service, and writes the file."""
    about = "Clock readings computed by a running service (clients/python/scripts/record.py)."
    with Service() as service, service.client() as client:
        client.create_timeline(timeline_id="recorded")
        rows = [json.dumps(reading) for reading in readings(client, "recorded")]
    lines = ",\n".join(rows)
    FILE.write_text(f'{{"about": "{about}",\n"readings": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
