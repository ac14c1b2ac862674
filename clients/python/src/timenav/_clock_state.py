"""The arithmetic of a clock, as the service does it: whole microseconds, rates in millionths, nothing rounded twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._instant import Instant


@dataclass(frozen=True, slots=True)
class ClockState:
    """A clock as the service told it: everything that is needed to compute what it shows."""

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
        """Reads a clock out of an answer or a message."""
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
        """Returns what the clock shows at a host time. One that reaches an end of −9999…9999 stands there."""
        if not self.is_running:
            return self.origin_virtual
        passed = (host_micros - self.origin_host.micros) * self.rate_micros // 1_000_000
        return Instant(min(max(self.origin_virtual.micros + passed, Instant.MIN.micros), Instant.MAX.micros))

    def host_when(self, virtual_micros: int) -> int | None:
        """Returns the first host time at which the clock shows this or later; None if it never will as it is."""
        if not self.is_running:
            return self.origin_host.micros if self.origin_virtual.micros >= virtual_micros else None
        if virtual_micros > Instant.MAX.micros:
            return None
        distance = virtual_micros - self.origin_virtual.micros
        return self.origin_host.micros - (-distance * 1_000_000 // self.rate_micros)
