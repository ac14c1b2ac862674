"""Every operation of the API, as a method to be called.

Written by scripts/generate.py from docs/api/openapi.json. Do not edit it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from . import schemas
from ._instant import When
from ._operations import OPERATIONS
from ._stream_message import FiringMessage, StreamMessage
from ._request import UNSET, Content, IfMatch, Length, Moment, Unset
from ._transport import Transport, Download, Events


class Calls(Transport):
    """Every operation of the API."""

    def timeline(self, timeline_id: str) -> schemas.TimelineReadBody:
        """Reads a timeline."""
        return cast("schemas.TimelineReadBody", self._json(OPERATIONS["timeline"], {"timeline_id": timeline_id}))

    def end_timeline(self, timeline_id: str, *, idempotency_key: str | Unset = UNSET) -> schemas.TimelineEndedBody:
        """Ends a timeline: it can no longer be read, and its name cannot be reused."""
        return cast(
            "schemas.TimelineEndedBody",
            self._json(OPERATIONS["end_timeline"], {"timeline_id": timeline_id, "idempotency_key": idempotency_key}),
        )

    def bundle(self, timeline_id: str) -> Download:
        """Exports a timeline as one file that can be verified offline.

        The body is read as it comes: close it, or use it in a `with` statement.
        """
        return self._download(OPERATIONS["bundle"], {"timeline_id": timeline_id})

    def checkpoint(self, timeline_id: str, *, newest: bool | Unset = UNSET) -> schemas.CheckpointBody:
        """Returns the latest signed checkpoint."""
        return cast(
            "schemas.CheckpointBody",
            self._json(OPERATIONS["checkpoint"], {"timeline_id": timeline_id, "newest": newest}),
        )

    def checkpoint_text(self, timeline_id: str, *, newest: bool | Unset = UNSET) -> str:
        """Returns the latest signed checkpoint.

        As the signed text, to be kept and checked elsewhere.
        """
        return self._text(OPERATIONS["checkpoint"], {"timeline_id": timeline_id, "newest": newest})

    def entries(
        self, timeline_id: str, *, from_: int | Unset = UNSET, limit: int | Unset = UNSET
    ) -> schemas.EntriesBody:
        """Reads ledger entries with their salts and payloads."""
        return cast(
            "schemas.EntriesBody",
            self._json(OPERATIONS["entries"], {"timeline_id": timeline_id, "from_": from_, "limit": limit}),
        )

    def head_statement(self, timeline_id: str) -> schemas.HeadStatementBody:
        """Returns the latest head statement."""
        return cast("schemas.HeadStatementBody", self._json(OPERATIONS["head_statement"], {"timeline_id": timeline_id}))

    def head_statement_text(self, timeline_id: str) -> str:
        """Returns the latest head statement.

        As the signed text, to be kept and checked elsewhere.
        """
        return self._text(OPERATIONS["head_statement"], {"timeline_id": timeline_id})

    def proof(
        self,
        timeline_id: str,
        *,
        format: Literal["json", "tlog-proof", "cose"] | Unset = UNSET,
        from_: int | Unset = UNSET,
        position: int | Unset = UNSET,
        witnessed: bool | Unset = UNSET,
    ) -> schemas.ProofBody:
        """Proves that an entry is in the ledger, or that the ledger only grew."""
        return cast(
            "schemas.ProofBody",
            self._json(
                OPERATIONS["proof"],
                {
                    "timeline_id": timeline_id,
                    "format": format,
                    "from_": from_,
                    "position": position,
                    "witnessed": witnessed,
                },
            ),
        )

    def proof_text(
        self,
        timeline_id: str,
        *,
        format: Literal["json", "tlog-proof", "cose"] | Unset = UNSET,
        from_: int | Unset = UNSET,
        position: int | Unset = UNSET,
        witnessed: bool | Unset = UNSET,
    ) -> str:
        """Proves that an entry is in the ledger, or that the ledger only grew.

        As the signed text, to be kept and checked elsewhere.
        """
        return self._text(
            OPERATIONS["proof"],
            {
                "timeline_id": timeline_id,
                "format": format,
                "from_": from_,
                "position": position,
                "witnessed": witnessed,
            },
        )

    def tile(self, timeline_id: str, tile: str) -> bytes:
        """Returns one tile of the tree, or one bundle of entries (`entries/…`)."""
        return self._content(OPERATIONS["tile"], {"timeline_id": timeline_id, "tile": tile})

    def timelines(self, *, cursor: str | Unset = UNSET, limit: int | Unset = UNSET) -> schemas.TimelinesBody:
        """Lists the timelines that the caller can read."""
        return cast("schemas.TimelinesBody", self._json(OPERATIONS["timelines"], {"cursor": cursor, "limit": limit}))

    def create_timeline(
        self,
        *,
        timeline_id: str,
        idempotency_key: str | Unset = UNSET,
        at: Moment | None | Unset = UNSET,
        deliver_webhooks: bool | None | Unset = UNSET,
        expires_in: Length | None | Unset = UNSET,
        fork_of: str | None | Unset = UNSET,
    ) -> schemas.TimelineMadeBody:
        """Creates a timeline, with the caller as its admin."""
        return cast(
            "schemas.TimelineMadeBody",
            self._json(
                OPERATIONS["create_timeline"],
                {
                    "timeline_id": timeline_id,
                    "idempotency_key": idempotency_key,
                    "at": at,
                    "deliver_webhooks": deliver_webhooks,
                    "expires_in": expires_in,
                    "fork_of": fork_of,
                },
            ),
        )

    def adopt_timeline(
        self,
        content: Content,
        *,
        content_type: Literal["application/x-ndjson"] = "application/x-ndjson",
        verifier_key: str,
        map: str | Unset = UNSET,
        rotations: str | Unset = UNSET,
    ) -> schemas.AdoptedBody:
        """Adopts a timeline from another service."""
        return cast(
            "schemas.AdoptedBody",
            self._json(
                OPERATIONS["adopt_timeline"],
                {"verifier_key": verifier_key, "map": map, "rotations": rotations},
                content=content,
                content_type=content_type,
            ),
        )

    def timelines_diff(
        self,
        *,
        a: str,
        b: str,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        of: schemas.DiffWord | None | Unset = UNSET,
    ) -> schemas.DiffBody:
        """Lists the events, timers or firings that differ between two related timelines: one forked from the other,
        or both from the same one.
        """
        return cast(
            "schemas.DiffBody",
            self._json(OPERATIONS["timelines_diff"], {"a": a, "b": b, "cursor": cursor, "limit": limit, "of": of}),
        )

    def access_control(self, *, timeline_id: str) -> schemas.AccessControlBody:
        """Reads the permissions of a timeline."""
        return cast("schemas.AccessControlBody", self._json(OPERATIONS["access_control"], {"timeline_id": timeline_id}))

    def access_logs(
        self,
        *,
        time_range: str,
        timeline_id: str,
        action: str | Unset = UNSET,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        order: schemas.OrderBody | None | Unset = UNSET,
        user_id: str | Unset = UNSET,
    ) -> schemas.AccessLogsBody:
        """Reads the access log of a timeline."""
        return cast(
            "schemas.AccessLogsBody",
            self._json(
                OPERATIONS["access_logs"],
                {
                    "time_range": time_range,
                    "timeline_id": timeline_id,
                    "action": action,
                    "cursor": cursor,
                    "limit": limit,
                    "order": order,
                    "user_id": user_id,
                },
            ),
        )

    def advance_to_next(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        until: When | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Moves the clock to the next moment of a timer."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["advance_to_next"],
                {
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "timeline_id": timeline_id,
                    "until": until,
                    "wait": wait,
                },
            ),
        )

    def receipt(
        self, advance_id: str, *, timeline_id: str | Unset = UNSET, wait: Length | Unset = UNSET
    ) -> schemas.ReceiptBody:
        """Tells what fired while the clock moved, and what came of it."""
        return cast(
            "schemas.ReceiptBody",
            self._json(OPERATIONS["receipt"], {"advance_id": advance_id, "timeline_id": timeline_id, "wait": wait}),
        )

    def aggregate_events(
        self,
        *,
        by: str,
        actor: str | Unset = UNSET,
        as_of: Moment | Unset = UNSET,
        attribute: Mapping[str, str] | Unset = UNSET,
        bucket: Length | Unset = UNSET,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        location: str | Unset = UNSET,
        resolution: float | Unset = UNSET,
        source: str | Unset = UNSET,
        text: str | Unset = UNSET,
        time_range: str | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
    ) -> schemas.AggregatedBody:
        """Counts events by time, cell, actor, source or attribute."""
        return cast(
            "schemas.AggregatedBody",
            self._json(
                OPERATIONS["aggregate_events"],
                {
                    "by": by,
                    "actor": actor,
                    "as_of": as_of,
                    "attribute": attribute,
                    "bucket": bucket,
                    "cursor": cursor,
                    "limit": limit,
                    "location": location,
                    "resolution": resolution,
                    "source": source,
                    "text": text,
                    "time_range": time_range,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def anchors(
        self, *, cursor: str | Unset = UNSET, limit: int | Unset = UNSET, timeline_id: str | Unset = UNSET
    ) -> schemas.AnchorsBody:
        """Lists anchors in the order they were set, inherited ones first."""
        return cast(
            "schemas.AnchorsBody",
            self._json(OPERATIONS["anchors"], {"cursor": cursor, "limit": limit, "timeline_id": timeline_id}),
        )

    def api_keys(
        self, *, cursor: str | Unset = UNSET, limit: int | Unset = UNSET, user_id: str | Unset = UNSET
    ) -> schemas.KeysBody:
        """Lists the keys of a user, without their secrets."""
        return cast(
            "schemas.KeysBody",
            self._json(OPERATIONS["api_keys"], {"cursor": cursor, "limit": limit, "user_id": user_id}),
        )

    def create_api_key(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        expires_at: When | None | Unset = UNSET,
        horizon: schemas.HorizonWord | None | Unset = UNSET,
        known_at: Moment | None | Unset = UNSET,
        label: str | None | Unset = UNSET,
        scopes: Sequence[Literal["timeline:read", "timeline:write", "timeline:admin", "operator"]]
        | None
        | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        user_id: str | None | Unset = UNSET,
    ) -> schemas.KeyMadeBody:
        """Creates an API key and shows it once."""
        return cast(
            "schemas.KeyMadeBody",
            self._json(
                OPERATIONS["create_api_key"],
                {
                    "idempotency_key": idempotency_key,
                    "expires_at": expires_at,
                    "horizon": horizon,
                    "known_at": known_at,
                    "label": label,
                    "scopes": scopes,
                    "timeline_id": timeline_id,
                    "user_id": user_id,
                },
            ),
        )

    def revoke_api_key(self, key_id: str) -> schemas.KeyStoppedBody:
        """Revokes an API key."""
        return cast("schemas.KeyStoppedBody", self._json(OPERATIONS["revoke_api_key"], {"key_id": key_id}))

    def certificate(
        self, *, key_id: str, from_: int | Unset = UNSET, to: int | Unset = UNSET
    ) -> schemas.CertificateBody:
        """Certifies what a key with a horizon has seen."""
        return cast(
            "schemas.CertificateBody",
            self._json(OPERATIONS["certificate"], {"key_id": key_id, "from_": from_, "to": to}),
        )

    def check_timeline(
        self, *, significant_event: str, timeline_id: str, as_of: Moment | Unset = UNSET
    ) -> schemas.CheckBody:
        """Checks whether an event occurs."""
        return cast(
            "schemas.CheckBody",
            self._json(
                OPERATIONS["check_timeline"],
                {"significant_event": significant_event, "timeline_id": timeline_id, "as_of": as_of},
            ),
        )

    def clock(self, *, timeline_id: str | Unset = UNSET) -> schemas.ClockBody:
        """Reads the clock."""
        return cast("schemas.ClockBody", self._json(OPERATIONS["clock"], {"timeline_id": timeline_id}))

    def clock_stream(
        self,
        *,
        faults: bool | Unset = UNSET,
        follow: str | Unset = UNSET,
        steps: bool | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
        last_event_id: str | Unset = UNSET,
        timenav_host: str | Unset = UNSET,
        timenav_process: str | Unset = UNSET,
    ) -> Events[schemas.ClockBody]:
        """Watches the clock: one message for each change.

        Close it, or use it in a `with` statement.
        """
        return cast(
            "Events[schemas.ClockBody]",
            self._events(
                OPERATIONS["clock_stream"],
                {
                    "faults": faults,
                    "follow": follow,
                    "steps": steps,
                    "timeline_id": timeline_id,
                    "last_event_id": last_event_id,
                    "timenav_host": timenav_host,
                    "timenav_process": timenav_process,
                },
            ),
        )

    def correct_event(
        self,
        *,
        event: schemas.CorrectedRecord,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.CorrectedBody:
        """Corrects an event."""
        return cast(
            "schemas.CorrectedBody",
            self._json(
                OPERATIONS["correct_event"],
                {"event": event, "idempotency_key": idempotency_key, "if_match": if_match, "timeline_id": timeline_id},
            ),
        )

    def decrypt_data(
        self,
        *,
        data_id: str,
        encryption_key: str,
        idempotency_key: str | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.DecryptedBody:
        """Decrypts stored data with its key."""
        return cast(
            "schemas.DecryptedBody",
            self._json(
                OPERATIONS["decrypt_data"],
                {
                    "data_id": data_id,
                    "encryption_key": encryption_key,
                    "idempotency_key": idempotency_key,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def detect_tampering(
        self, *, timeline_id: str, idempotency_key: str | Unset = UNSET, scan_depth: str | None | Unset = UNSET
    ) -> schemas.TamperingBody:
        """Scans a timeline for tampering."""
        return cast(
            "schemas.TamperingBody",
            self._json(
                OPERATIONS["detect_tampering"],
                {"timeline_id": timeline_id, "idempotency_key": idempotency_key, "scan_depth": scan_depth},
            ),
        )

    def detect_tampering_stream(
        self, *, timeline_id: str, idempotency_key: str | Unset = UNSET, scan_depth: str | None | Unset = UNSET
    ) -> Events[Any]:
        """Scans a timeline for tampering.

        Close it, or use it in a `with` statement.
        """
        return self._events(
            OPERATIONS["detect_tampering"],
            {"timeline_id": timeline_id, "idempotency_key": idempotency_key, "scan_depth": scan_depth},
        )

    def encrypt_data(
        self,
        *,
        data: Mapping[str, Any],
        encryption_key: str,
        timeline_id: str,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
    ) -> schemas.EncryptedBody:
        """Encrypts and stores data that only its key opens."""
        return cast(
            "schemas.EncryptedBody",
            self._json(
                OPERATIONS["encrypt_data"],
                {
                    "data": data,
                    "encryption_key": encryption_key,
                    "timeline_id": timeline_id,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                },
            ),
        )

    def erase_data(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        data_id: str | None | Unset = UNSET,
        event_id: str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.ErasedBody:
        """Erases sealed data, or the content of an event."""
        return cast(
            "schemas.ErasedBody",
            self._json(
                OPERATIONS["erase_data"],
                {
                    "idempotency_key": idempotency_key,
                    "data_id": data_id,
                    "event_id": event_id,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def erase_events(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        evaluated_at: int | None | Unset = UNSET,
        event_ids: Sequence[str] | str | None | Unset = UNSET,
        include_forks: bool | None | Unset = UNSET,
        location: str | None | Unset = UNSET,
        older_than: Length | None | Unset = UNSET,
        time_range: str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.ErasedEventsBody:
        """Erases events with all their versions."""
        return cast(
            "schemas.ErasedEventsBody",
            self._json(
                OPERATIONS["erase_events"],
                {
                    "idempotency_key": idempotency_key,
                    "dry_run": dry_run,
                    "evaluated_at": evaluated_at,
                    "event_ids": event_ids,
                    "include_forks": include_forks,
                    "location": location,
                    "older_than": older_than,
                    "time_range": time_range,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def erase_reads(
        self,
        *,
        position: int,
        idempotency_key: str | Unset = UNSET,
        reads: Sequence[int] | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        user_id: str | None | Unset = UNSET,
    ) -> schemas.ErasedReadsBody:
        """Erases single reads from the access log."""
        return cast(
            "schemas.ErasedReadsBody",
            self._json(
                OPERATIONS["erase_reads"],
                {
                    "position": position,
                    "idempotency_key": idempotency_key,
                    "reads": reads,
                    "timeline_id": timeline_id,
                    "user_id": user_id,
                },
            ),
        )

    def record_events(
        self,
        body: schemas.EventsRequest,
        *,
        timeline_id: str | Unset = UNSET,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
    ) -> schemas.RecordedBody:
        """Records one or more events, all or none."""
        return cast(
            "schemas.RecordedBody",
            self._json(
                OPERATIONS["record_events"],
                {"timeline_id": timeline_id, "idempotency_key": idempotency_key, "if_match": if_match},
                body=body,
            ),
        )

    def event(
        self, event_id: str, *, as_of: Moment | Unset = UNSET, timeline_id: str | Unset = UNSET
    ) -> schemas.EventReadBody:
        """Reads an event with its versions and interventions."""
        return cast(
            "schemas.EventReadBody",
            self._json(OPERATIONS["event"], {"event_id": event_id, "as_of": as_of, "timeline_id": timeline_id}),
        )

    def export_events(
        self,
        *,
        actor: str | Unset = UNSET,
        as_of: Moment | Unset = UNSET,
        attribute: Mapping[str, str] | Unset = UNSET,
        columns: str | Unset = UNSET,
        format: Literal["ndjson", "csv", "geojson", "icalendar"] | Unset = UNSET,
        location: str | Unset = UNSET,
        order: schemas.EventOrder | None | Unset = UNSET,
        source: str | Unset = UNSET,
        text: str | Unset = UNSET,
        time_range: str | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
    ) -> Download:
        """Exports the events of a place and time as a file.

        The body is read as it comes: close it, or use it in a `with` statement.
        """
        return self._download(
            OPERATIONS["export_events"],
            {
                "actor": actor,
                "as_of": as_of,
                "attribute": attribute,
                "columns": columns,
                "format": format,
                "location": location,
                "order": order,
                "source": source,
                "text": text,
                "time_range": time_range,
                "timeline_id": timeline_id,
            },
        )

    def fast_forward(
        self,
        *,
        duration: Length,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        settle: bool | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Moves the clock forward by a duration."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["fast_forward"],
                {
                    "duration": duration,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "settle": settle,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def firings(
        self,
        *,
        advance_id: str | Unset = UNSET,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        queue: str | Unset = UNSET,
        state: schemas.FiringStateWord | None | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
        timer_id: str | Unset = UNSET,
    ) -> schemas.FiringsBody:
        """Lists firings in the order in which they fell due."""
        return cast(
            "schemas.FiringsBody",
            self._json(
                OPERATIONS["firings"],
                {
                    "advance_id": advance_id,
                    "cursor": cursor,
                    "limit": limit,
                    "queue": queue,
                    "state": state,
                    "timeline_id": timeline_id,
                    "timer_id": timer_id,
                },
            ),
        )

    def acknowledge_firings(
        self,
        *,
        firing_ids: Sequence[str],
        idempotency_key: str | Unset = UNSET,
        lease_ids: Sequence[str] | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.FiringsSettledBody:
        """Says that firings are done."""
        return cast(
            "schemas.FiringsSettledBody",
            self._json(
                OPERATIONS["acknowledge_firings"],
                {
                    "firing_ids": firing_ids,
                    "idempotency_key": idempotency_key,
                    "lease_ids": lease_ids,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def extend_firings(
        self,
        *,
        firing_ids: Sequence[str],
        idempotency_key: str | Unset = UNSET,
        lease_ids: Sequence[str] | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        ttl: Length | None | Unset = UNSET,
    ) -> schemas.ExtendedBody:
        """Keeps claimed firings for longer."""
        return cast(
            "schemas.ExtendedBody",
            self._json(
                OPERATIONS["extend_firings"],
                {
                    "firing_ids": firing_ids,
                    "idempotency_key": idempotency_key,
                    "lease_ids": lease_ids,
                    "timeline_id": timeline_id,
                    "ttl": ttl,
                },
            ),
        )

    def fail_firings(
        self,
        *,
        firing_ids: Sequence[str],
        idempotency_key: str | Unset = UNSET,
        lease_ids: Sequence[str] | None | Unset = UNSET,
        reason: str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.FiringsSettledBody:
        """Says that an attempt at firings failed."""
        return cast(
            "schemas.FiringsSettledBody",
            self._json(
                OPERATIONS["fail_firings"],
                {
                    "firing_ids": firing_ids,
                    "idempotency_key": idempotency_key,
                    "lease_ids": lease_ids,
                    "reason": reason,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def firings_stream(
        self, *, queue: str | Unset = UNSET, timeline_id: str | Unset = UNSET, last_event_id: str | Unset = UNSET
    ) -> Events[FiringMessage]:
        """Observes firings: one message for each thing that happens to one. It claims none.

        Close it, or use it in a `with` statement.
        """
        return cast(
            "Events[FiringMessage]",
            self._events(
                OPERATIONS["firings_stream"],
                {"queue": queue, "timeline_id": timeline_id, "last_event_id": last_event_id},
            ),
        )

    def redeliver_firing(
        self, firing_id: str, *, idempotency_key: str | Unset = UNSET, timeline_id: str | None | Unset = UNSET
    ) -> schemas.FiringsSettledBody:
        """Delivers a firing again that has failed."""
        return cast(
            "schemas.FiringsSettledBody",
            self._json(
                OPERATIONS["redeliver_firing"],
                {"firing_id": firing_id, "idempotency_key": idempotency_key, "timeline_id": timeline_id},
            ),
        )

    def followers(self, *, timeline_id: str | Unset = UNSET) -> schemas.FollowersBody:
        """Lists who follows the clock under a name, and which change each has confirmed."""
        return cast("schemas.FollowersBody", self._json(OPERATIONS["followers"], {"timeline_id": timeline_id}))

    def confirm_clock(
        self,
        *,
        follower_id: str,
        generation: int,
        idempotency_key: str | Unset = UNSET,
        step: int | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.ConfirmedBody:
        """Confirms that a follower has applied a change of the clock."""
        return cast(
            "schemas.ConfirmedBody",
            self._json(
                OPERATIONS["confirm_clock"],
                {
                    "follower_id": follower_id,
                    "generation": generation,
                    "idempotency_key": idempotency_key,
                    "step": step,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def set_fault(
        self,
        follower_id: str,
        *,
        fault: schemas.FaultBody | None,
        idempotency_key: str | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.FaultSetBody:
        """Has a follower show the clock wrong, or right again."""
        return cast(
            "schemas.FaultSetBody",
            self._json(
                OPERATIONS["set_fault"],
                {
                    "follower_id": follower_id,
                    "fault": fault,
                    "idempotency_key": idempotency_key,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def hand_over(self, *, timeline_id: str, idempotency_key: str | Unset = UNSET) -> schemas.HandedOverBody:
        """Hands a timeline over to another service: it becomes read-only here."""
        return cast(
            "schemas.HandedOverBody",
            self._json(OPERATIONS["hand_over"], {"timeline_id": timeline_id, "idempotency_key": idempotency_key}),
        )

    def import_events(
        self,
        content: Content,
        *,
        content_type: Literal[
            "application/cloudevents-batch+json",
            "application/geo+json",
            "application/json",
            "application/octet-stream",
            "application/x-ndjson",
            "text/calendar",
            "text/csv",
            "text/plain",
        ] = "application/octet-stream",
        dry_run: bool | Unset = UNSET,
        format: Literal[
            "ndjson", "json", "logfmt", "csv", "geojson", "cloudevents", "icalendar", "zipkin", "jaeger", "otlp", "git"
        ]
        | Unset = UNSET,
        map: str | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
    ) -> schemas.ImportedBody:
        """Imports the events of a file, as many as possible."""
        return cast(
            "schemas.ImportedBody",
            self._json(
                OPERATIONS["import_events"],
                {"dry_run": dry_run, "format": format, "map": map, "timeline_id": timeline_id, "if_match": if_match},
                content=content,
                content_type=content_type,
            ),
        )

    def leases(self, *, timeline_id: str | Unset = UNSET) -> schemas.LeasesBody:
        """Lists leases that hold the clock."""
        return cast("schemas.LeasesBody", self._json(OPERATIONS["leases"], {"timeline_id": timeline_id}))

    def hold_advances(
        self,
        *,
        reason: str,
        idempotency_key: str | Unset = UNSET,
        lease_id: str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        ttl: Length | None | Unset = UNSET,
    ) -> schemas.HeldBody:
        """Holds the clock at its instant while it is moved past timers."""
        return cast(
            "schemas.HeldBody",
            self._json(
                OPERATIONS["hold_advances"],
                {
                    "reason": reason,
                    "idempotency_key": idempotency_key,
                    "lease_id": lease_id,
                    "timeline_id": timeline_id,
                    "ttl": ttl,
                },
            ),
        )

    def release_lease(
        self, lease_id: str, *, idempotency_key: str | Unset = UNSET, timeline_id: str | None | Unset = UNSET
    ) -> schemas.ReleasedBody:
        """Ends a lease that holds the clock."""
        return cast(
            "schemas.ReleasedBody",
            self._json(
                OPERATIONS["release_lease"],
                {"lease_id": lease_id, "idempotency_key": idempotency_key, "timeline_id": timeline_id},
            ),
        )

    def limits(
        self,
    ) -> schemas.LimitsBody:
        """Lists every limit by name."""
        return cast("schemas.LimitsBody", self._json(OPERATIONS["limits"], {}))

    def log_in(self, *, password: str, user_id: str, idempotency_key: str | Unset = UNSET) -> schemas.SessionBody:
        """Starts a session and sets its cookie."""
        return cast(
            "schemas.SessionBody",
            self._json(
                OPERATIONS["log_in"], {"password": password, "user_id": user_id, "idempotency_key": idempotency_key}
            ),
        )

    def log_out(
        self, *, idempotency_key: str | Unset = UNSET, everywhere: bool | None | Unset = UNSET
    ) -> schemas.StatusBody:
        """Ends the session, or all sessions of the user."""
        return cast(
            "schemas.StatusBody",
            self._json(OPERATIONS["log_out"], {"idempotency_key": idempotency_key, "everywhere": everywhere}),
        )

    def manipulate_event(
        self,
        *,
        action: str,
        event_id: str,
        time: When,
        idempotency_key: str | Unset = UNSET,
        causes: Sequence[schemas.CauseRecord] | None | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        effect: schemas.EffectRequest | None | Unset = UNSET,
        on_paradox: schemas.OnParadoxWord | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.ManipulatedBody:
        """Intervenes in an event."""
        return cast(
            "schemas.ManipulatedBody",
            self._json(
                OPERATIONS["manipulate_event"],
                {
                    "action": action,
                    "event_id": event_id,
                    "time": time,
                    "idempotency_key": idempotency_key,
                    "causes": causes,
                    "dry_run": dry_run,
                    "effect": effect,
                    "on_paradox": on_paradox,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def monitor_events(
        self,
        *,
        location: str,
        time_range: str,
        actor: str | Unset = UNSET,
        as_of: Moment | Unset = UNSET,
        attribute: Mapping[str, str] | Unset = UNSET,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        order: schemas.EventOrder | None | Unset = UNSET,
        overlapping: bool | Unset = UNSET,
        source: str | Unset = UNSET,
        text: str | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
    ) -> schemas.EventsBody:
        """Finds events by place and time."""
        return cast(
            "schemas.EventsBody",
            self._json(
                OPERATIONS["monitor_events"],
                {
                    "location": location,
                    "time_range": time_range,
                    "actor": actor,
                    "as_of": as_of,
                    "attribute": attribute,
                    "cursor": cursor,
                    "limit": limit,
                    "order": order,
                    "overlapping": overlapping,
                    "source": source,
                    "text": text,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def monitor_paradox(
        self,
        *,
        time_range: str,
        timeline_id: str,
        as_of: Moment | Unset = UNSET,
        cursor: str | Unset = UNSET,
        include: str | Sequence[str] | Unset = UNSET,
        kinds: str | Sequence[str] | Unset = UNSET,
        limit: int | Unset = UNSET,
        speed_kmh: float | Unset = UNSET,
        tolerance: Length | Unset = UNSET,
    ) -> schemas.ParadoxesBody:
        """Lists the paradoxes of a timeline."""
        return cast(
            "schemas.ParadoxesBody",
            self._json(
                OPERATIONS["monitor_paradox"],
                {
                    "time_range": time_range,
                    "timeline_id": timeline_id,
                    "as_of": as_of,
                    "cursor": cursor,
                    "include": include,
                    "kinds": kinds,
                    "limit": limit,
                    "speed_kmh": speed_kmh,
                    "tolerance": tolerance,
                },
            ),
        )

    def pause_time(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Pauses the clock."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["pause_time"],
                {
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "followers": followers,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def prune(
        self,
        *,
        timeline_id: str,
        idempotency_key: str | Unset = UNSET,
        accept_host_clock: bool | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> schemas.PrunedBody:
        """Prunes contents whose retention has passed."""
        return cast(
            "schemas.PrunedBody",
            self._json(
                OPERATIONS["prune"],
                {
                    "timeline_id": timeline_id,
                    "idempotency_key": idempotency_key,
                    "accept_host_clock": accept_host_clock,
                    "dry_run": dry_run,
                },
            ),
        )

    def claim_firings(
        self,
        queue: str,
        *,
        idempotency_key: str | Unset = UNSET,
        ack_timeout: Length | None | Unset = UNSET,
        max: int | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClaimedBody:
        """Claims firings of a queue, and waits for some."""
        return cast(
            "schemas.ClaimedBody",
            self._json(
                OPERATIONS["claim_firings"],
                {
                    "queue": queue,
                    "idempotency_key": idempotency_key,
                    "ack_timeout": ack_timeout,
                    "max": max,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def restrict_time_travel(
        self,
        *,
        restriction_level: Literal["full_access", "limited_access", "read_only", "no_access"],
        user_id: str,
        idempotency_key: str | Unset = UNSET,
    ) -> schemas.RestrictedBody:
        """Restricts a user's time travel."""
        return cast(
            "schemas.RestrictedBody",
            self._json(
                OPERATIONS["restrict_time_travel"],
                {"restriction_level": restriction_level, "user_id": user_id, "idempotency_key": idempotency_key},
            ),
        )

    def restrictions(
        self,
    ) -> schemas.RestrictionsBody:
        """Lists users whose time travel is restricted."""
        return cast("schemas.RestrictionsBody", self._json(OPERATIONS["restrictions"], {}))

    def resume_time(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Resumes the clock from where it was paused."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["resume_time"],
                {
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "followers": followers,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def return_to_anchor(
        self,
        *,
        anchor_id: str,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        scope: schemas.Scope | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Returns the clock, events and timers to an anchor."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["return_to_anchor"],
                {
                    "anchor_id": anchor_id,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "scope": scope,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def rewind(
        self,
        *,
        duration: Length,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        refire: bool | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Moves the clock back by a duration."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["rewind"],
                {
                    "duration": duration,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "refire": refire,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def scan_events(
        self,
        *,
        location: str,
        time_range: str,
        idempotency_key: str | Unset = UNSET,
        actor: str | None | Unset = UNSET,
        as_of: Moment | None | Unset = UNSET,
        attribute: Mapping[str, str] | None | Unset = UNSET,
        cursor: str | None | Unset = UNSET,
        limit: int | None | Unset = UNSET,
        order: schemas.EventOrder | None | Unset = UNSET,
        source: str | None | Unset = UNSET,
        text: str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.ScannedBody:
        """Finds events with their effects, interventions and paradoxes."""
        return cast(
            "schemas.ScannedBody",
            self._json(
                OPERATIONS["scan_events"],
                {
                    "location": location,
                    "time_range": time_range,
                    "idempotency_key": idempotency_key,
                    "actor": actor,
                    "as_of": as_of,
                    "attribute": attribute,
                    "cursor": cursor,
                    "limit": limit,
                    "order": order,
                    "source": source,
                    "text": text,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def session(
        self,
    ) -> schemas.SessionBody:
        """Returns the caller and their session."""
        return cast("schemas.SessionBody", self._json(OPERATIONS["session"], {}))

    def sessions(self, *, user_id: str | Unset = UNSET) -> schemas.SessionsBody:
        """Lists the sessions of a user."""
        return cast("schemas.SessionsBody", self._json(OPERATIONS["sessions"], {"user_id": user_id}))

    def end_session(self, session_id: str) -> schemas.StatusBody:
        """Ends a session."""
        return cast("schemas.StatusBody", self._json(OPERATIONS["end_session"], {"session_id": session_id}))

    def set_access_control(
        self,
        *,
        permissions: schemas.PermissionsRequest,
        timeline_id: str,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
    ) -> schemas.AccessControlSetBody:
        """Sets the permissions of a timeline."""
        return cast(
            "schemas.AccessControlSetBody",
            self._json(
                OPERATIONS["set_access_control"],
                {
                    "permissions": permissions,
                    "timeline_id": timeline_id,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                },
            ),
        )

    def set_anchor(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        description: str | None | Unset = UNSET,
        fixed: bool | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        timestamp: When | None | Unset = UNSET,
    ) -> schemas.AnchorSetBody:
        """Sets an anchor at a moment that you can return to."""
        return cast(
            "schemas.AnchorSetBody",
            self._json(
                OPERATIONS["set_anchor"],
                {
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "description": description,
                    "fixed": fixed,
                    "timeline_id": timeline_id,
                    "timestamp": timestamp,
                },
            ),
        )

    def set_password(
        self,
        *,
        password: str,
        idempotency_key: str | Unset = UNSET,
        current_password: str | None | Unset = UNSET,
        user_id: str | None | Unset = UNSET,
    ) -> schemas.PasswordSetBody:
        """Sets a password and ends the user's other sessions."""
        return cast(
            "schemas.PasswordSetBody",
            self._json(
                OPERATIONS["set_password"],
                {
                    "password": password,
                    "idempotency_key": idempotency_key,
                    "current_password": current_password,
                    "user_id": user_id,
                },
            ),
        )

    def set_rate(
        self,
        *,
        rate: float,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Changes the rate of the clock without moving it."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["set_rate"],
                {
                    "rate": rate,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "followers": followers,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def set_retention(
        self,
        *,
        timeline_id: str,
        idempotency_key: str | Unset = UNSET,
        reads: Length | None | Unset = UNSET,
        refusals: Length | None | Unset = UNSET,
    ) -> schemas.RetentionSetBody:
        """Sets how long the contents of reads and refusals are kept."""
        return cast(
            "schemas.RetentionSetBody",
            self._json(
                OPERATIONS["set_retention"],
                {"timeline_id": timeline_id, "idempotency_key": idempotency_key, "reads": reads, "refusals": refusals},
            ),
        )

    def spend(
        self,
        *,
        duration: Length,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        since: When | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Moves a paused clock by what somebody's work cost."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["spend"],
                {
                    "duration": duration,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "since": since,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def stream(
        self,
        *,
        actor: str | Unset = UNSET,
        attribute: Mapping[str, str] | Unset = UNSET,
        include: str | Sequence[str] | Unset = UNSET,
        kinds: str | Sequence[str] | Unset = UNSET,
        source: str | Unset = UNSET,
        speed_kmh: float | Unset = UNSET,
        text: str | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
        tolerance: Length | Unset = UNSET,
        topics: str | Sequence[str] | Unset = UNSET,
        last_event_id: str | Unset = UNSET,
    ) -> Events[StreamMessage]:
        """Watches a timeline: one message for each change in the chosen topics.

        Close it, or use it in a `with` statement.
        """
        return cast(
            "Events[StreamMessage]",
            self._events(
                OPERATIONS["stream"],
                {
                    "actor": actor,
                    "attribute": attribute,
                    "include": include,
                    "kinds": kinds,
                    "source": source,
                    "speed_kmh": speed_kmh,
                    "text": text,
                    "timeline_id": timeline_id,
                    "tolerance": tolerance,
                    "topics": topics,
                    "last_event_id": last_event_id,
                },
            ),
        )

    def timer_moments(
        self,
        *,
        rule: str,
        after: When | Unset = UNSET,
        limit: int | Unset = UNSET,
        starts: When | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
        zone: str | Unset = UNSET,
    ) -> schemas.TimerMomentsBody:
        """Tells when a timer would fire by a rule, without setting one."""
        return cast(
            "schemas.TimerMomentsBody",
            self._json(
                OPERATIONS["timer_moments"],
                {
                    "rule": rule,
                    "after": after,
                    "limit": limit,
                    "starts": starts,
                    "timeline_id": timeline_id,
                    "zone": zone,
                },
            ),
        )

    def timers(
        self,
        *,
        cursor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        state: schemas.StandingWord | None | Unset = UNSET,
        timeline_id: str | Unset = UNSET,
    ) -> schemas.TimersBody:
        """Lists timers, the next ones first."""
        return cast(
            "schemas.TimersBody",
            self._json(
                OPERATIONS["timers"], {"cursor": cursor, "limit": limit, "state": state, "timeline_id": timeline_id}
            ),
        )

    def set_timer(
        self,
        *,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        at: When | None | Unset = UNSET,
        catch_up: bool | None | Unset = UNSET,
        cron: schemas.CronRequest | None | Unset = UNSET,
        deliver: schemas.DeliverRequest | None | Unset = UNSET,
        every: schemas.EveryRequest | None | Unset = UNSET,
        misfire: schemas.MisfireWord | None | Unset = UNSET,
        order_key: str | None | Unset = UNSET,
        payload: Any | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        timer_id: str | None | Unset = UNSET,
    ) -> schemas.TimerSetBody:
        """Sets a timer that fires when the clock shows its moment."""
        return cast(
            "schemas.TimerSetBody",
            self._json(
                OPERATIONS["set_timer"],
                {
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "at": at,
                    "catch_up": catch_up,
                    "cron": cron,
                    "deliver": deliver,
                    "every": every,
                    "misfire": misfire,
                    "order_key": order_key,
                    "payload": payload,
                    "timeline_id": timeline_id,
                    "timer_id": timer_id,
                },
            ),
        )

    def timer(self, timer_id: str, *, timeline_id: str | Unset = UNSET) -> schemas.TimerShownBody:
        """Shows a timer and its latest firings."""
        return cast(
            "schemas.TimerShownBody",
            self._json(OPERATIONS["timer"], {"timer_id": timer_id, "timeline_id": timeline_id}),
        )

    def change_timer(
        self,
        timer_id: str,
        *,
        idempotency_key: str | Unset = UNSET,
        at: When | None | Unset = UNSET,
        cron: schemas.CronRequest | None | Unset = UNSET,
        deliver: schemas.DeliverRequest | None | Unset = UNSET,
        every: schemas.EveryRequest | None | Unset = UNSET,
        misfire: schemas.MisfireWord | None | Unset = UNSET,
        order_key: str | None | Unset = UNSET,
        payload: Any | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
    ) -> schemas.TimerSetBody:
        """Changes an armed timer."""
        return cast(
            "schemas.TimerSetBody",
            self._json(
                OPERATIONS["change_timer"],
                {
                    "timer_id": timer_id,
                    "idempotency_key": idempotency_key,
                    "at": at,
                    "cron": cron,
                    "deliver": deliver,
                    "every": every,
                    "misfire": misfire,
                    "order_key": order_key,
                    "payload": payload,
                    "timeline_id": timeline_id,
                },
            ),
        )

    def cancel_timer(
        self, timer_id: str, *, idempotency_key: str | Unset = UNSET, timeline_id: str | None | Unset = UNSET
    ) -> schemas.TimerSetBody:
        """Cancels a timer."""
        return cast(
            "schemas.TimerSetBody",
            self._json(
                OPERATIONS["cancel_timer"],
                {"timer_id": timer_id, "idempotency_key": idempotency_key, "timeline_id": timeline_id},
            ),
        )

    def travel(
        self,
        *,
        destination_time: When,
        idempotency_key: str | Unset = UNSET,
        if_match: IfMatch | Unset = UNSET,
        timenav_firing: str | Unset = UNSET,
        dry_run: bool | None | Unset = UNSET,
        followers: Sequence[str] | str | None | Unset = UNSET,
        location: str | None | Unset = UNSET,
        refire: bool | None | Unset = UNSET,
        settle: bool | None | Unset = UNSET,
        timeline_id: str | None | Unset = UNSET,
        wait: Length | None | Unset = UNSET,
    ) -> schemas.ClockBody:
        """Moves the clock to a date, time and place."""
        return cast(
            "schemas.ClockBody",
            self._json(
                OPERATIONS["travel"],
                {
                    "destination_time": destination_time,
                    "idempotency_key": idempotency_key,
                    "if_match": if_match,
                    "timenav_firing": timenav_firing,
                    "dry_run": dry_run,
                    "followers": followers,
                    "location": location,
                    "refire": refire,
                    "settle": settle,
                    "timeline_id": timeline_id,
                    "wait": wait,
                },
            ),
        )

    def undo_import(
        self, *, import_id: str, idempotency_key: str | Unset = UNSET, timeline_id: str | None | Unset = UNSET
    ) -> schemas.ImportUndoneBody:
        """Cancels the events of an import and frees their ids."""
        return cast(
            "schemas.ImportUndoneBody",
            self._json(
                OPERATIONS["undo_import"],
                {"import_id": import_id, "idempotency_key": idempotency_key, "timeline_id": timeline_id},
            ),
        )

    def users(self, *, cursor: str | Unset = UNSET, limit: int | Unset = UNSET) -> schemas.UsersBody:
        """Lists users."""
        return cast("schemas.UsersBody", self._json(OPERATIONS["users"], {"cursor": cursor, "limit": limit}))

    def create_user(
        self, *, user_id: str, idempotency_key: str | Unset = UNSET, operator: bool | None | Unset = UNSET
    ) -> schemas.UserChangedBody:
        """Creates a user."""
        return cast(
            "schemas.UserChangedBody",
            self._json(
                OPERATIONS["create_user"],
                {"user_id": user_id, "idempotency_key": idempotency_key, "operator": operator},
            ),
        )

    def delete_user(self, user_id: str) -> schemas.UserChangedBody:
        """Removes a user and revokes their API keys."""
        return cast("schemas.UserChangedBody", self._json(OPERATIONS["delete_user"], {"user_id": user_id}))


_USED = (Any, Literal, Mapping, Sequence)
