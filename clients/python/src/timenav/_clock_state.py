"""Clock arithmetic, identical to the service's: whole microseconds, rates in millionths, no double rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._instant import Instant


@dataclass(frozen=True, slots=True)
class ClockState:
    """The state of a clock: the values from which readings are computed."""

    timeline_id: str
    generation: int
    is_running: bool
    rate_micros: int
    """Virtual microseconds per host second."""
    origin_host: Instant
    origin_virtual: Instant
    location: str | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ClockState:
        """Parses a clock in a response or a stream message."""
        return cls(
            timeline_id=body["timeline_id"],
            generation=body["generation"],
            is_running=body["state"] == "running",
            rate_micros=round(body["rate"] * 1_000_000),
            origin_host=Instant.parse(body["origin_host"]),
            origin_virtual=Instant.parse(body["origin_virtual"]),
            location=body.get("location"),
        )

    @property
    def rate(self) -> float:
        """Virtual seconds per host second."""
        return self.rate_micros / 1_000_000

    def at(self, host_micros: int) -> Instant:
        """Returns the reading at a host time. A clock that reaches either end of the range −9999…9999 stops there."""
        if not self.is_running:
            return self.origin_virtual
        passed = (host_micros - self.origin_host.micros) * self.rate_micros // 1_000_000
        return Instant(min(max(self.origin_virtual.micros + passed, Instant.MIN.micros), Instant.MAX.micros))

    def host_time_at(self, virtual_micros: int) -> int | None:
        """Returns the first host time at which the clock shows this or a later time; None if it never does."""
        if not self.is_running:
            return self.origin_host.micros if self.origin_virtual.micros >= virtual_micros else None
        if virtual_micros > Instant.MAX.micros:
            return None
        distance = virtual_micros - self.origin_virtual.micros
        return self.origin_host.micros - (-distance * 1_000_000 // self.rate_micros)
