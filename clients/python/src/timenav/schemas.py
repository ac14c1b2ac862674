"""What the API takes and answers.

Written by scripts/generate.py from docs/api/openapi.json. Do not edit it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import NotRequired, TypeAlias, TypedDict


class AccessControlBody(TypedDict):
    """The current permissions. Use their `ETag` for `If-Match`."""

    permissions: PermissionsBody
    """The lists."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class AccessControlRequest(TypedDict):
    """The new permissions."""

    permissions: PermissionsRequest
    """The lists. A list you give replaces the current one; a list you leave out stays as it is."""
    timeline_id: str
    """The timeline."""


class AccessControlSetBody(TypedDict):
    """Permissions that were set."""

    expired_users: NotRequired[Sequence[str]]
    """Users in a list you gave whose permission there has expired. Only if there are any; to let them in again,
    give another end, or `null` for none.
    """
    ledger: LedgerBody
    """Its place in the ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""
    unknown_users: NotRequired[Sequence[str]]
    """Listed users that do not exist yet. Only for operators, and only if there are any."""


class AccessLogsBody(TypedDict):
    """One page of the access log, in the requested order."""

    gone: Sequence[GapBody]
    """Reads among the entries that this page looked at which no longer say who read, in the same order. The filter
    by user does not apply to them; a filter by another action than `read` or `reads` leaves them out.
    """
    has_more: bool
    """Whether there is another page."""
    logs: Sequence[LogBody]
    """The entries."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one. With filters, a page can be short or empty and still have a
    next one.
    """
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class AcknowledgeRequest(TypedDict):
    """Which firings are done."""

    firing_ids: Sequence[str]
    """The firings."""
    lease_ids: NotRequired[Sequence[str] | None]
    """The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    has claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class AdoptedBody(TypedDict):
    """A timeline that was adopted."""

    bundle_sha256: str
    """SHA-256 of the file: 64 hexadecimal digits."""
    entries: int
    """Entries signed by the other service."""
    erased: int
    """Contents that were erased or pruned there, each listed by an entry."""
    layers: Sequence[str]
    """If it is a fork, the timelines it descends from, oldest first, by the names that responses show. They came
    with it and cannot be queried themselves.
    """
    ledger: LedgerBody
    """The adoption's place in the ledger."""
    let_go: int
    """Of these, contents of reads and refusals that were pruned there, as the retention of the timeline allowed."""
    origin: str
    """The name of its ledger at the other service. Users from there are shown with it."""
    rotations_followed: int
    """How many key rotations were followed from the key that you gave."""
    sealed: int
    """Sealed records that came with it, including erased ones. Their keys remain with those who sealed them."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class AdvanceBody(TypedDict):
    """An advance that moves a clock, and stands still at each timer on its way."""

    advance_id: str
    """The id of the advance."""
    step: int
    """How many instants it has come to."""
    to: str
    """Where it goes."""


class AggregatedBody(TypedDict):
    """Counts of events."""

    as_of: NotRequired[int | None]
    """The last position of the ledger that counts, the same in all answers of one count."""
    by: str
    """What makes a group."""
    count: int
    """How many events were counted: of 1 000 000 at most, or of 100 000 where each has to be read."""
    counted_to: NotRequired[str | None]
    """The time of the last event that was looked at, where there may be more after it. Those may happen at the same
    moment: to continue, ask with `next_cursor`, not from this time.
    """
    groups: Sequence[GroupBody]
    """The groups that have events: those of `time` in their order, others with the largest first."""
    groups_count: int
    """How many groups have events. Where they are more than there are in `groups`, the others are left out."""
    has_more: bool
    """Whether there may be more to count, with `next_cursor`."""
    is_groups_cut: bool
    """Whether there are groups that were not counted, as there were too many."""
    location_resolved: ResolvedBody
    """How the location was understood."""
    next_cursor: NotRequired[str | None]
    """The cursor that counts what comes after it, if there may be more."""
    status: str
    """What was counted, in a sentence."""
    timeline_id: str
    """The timeline."""
    without_count: int
    """How many of them have nothing to be grouped by, and are in no group."""


class AnchorBody(TypedDict):
    """One anchor."""

    anchor_id: str
    """The id of the anchor."""
    description: str
    """What it is for."""
    fixed: bool
    """Whether changing history before it is a paradox."""
    position: int
    """Position of the ledger entry that set it."""
    set_at: str
    """Host time when it was set."""
    timeline_id: str
    """The timeline of that ledger: the requested one, or one it was forked from."""
    timestamp: str
    """The moment it marks."""


class AnchorSetBody(TypedDict):
    """An anchor that was set."""

    anchor_id: str
    """The id of the anchor."""
    ledger: LedgerBody
    """Its place in the ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timestamp: str
    """The moment it marks."""


class AnchorsBody(TypedDict):
    """One page of anchors."""

    anchors: Sequence[AnchorBody]
    """The anchors."""
    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class AssertionRecord(TypedDict):
    """A state that holds while an event lasts."""

    predicate: str
    """The property. It has one value at a time."""
    subject: str
    """What it is about."""
    value: str | float | bool | Mapping[str, Any] | Sequence[Any]
    """The value: any JSON except `null`, at most 1,024 bytes."""


class AwaitedBody(TypedDict):
    """Who has confirmed a change, and who has not."""

    followers: Sequence[AwaitedFollowerBody]
    """Each of those who were waited for."""
    generation: int
    """The generation of the clock that they were to confirm."""
    only_here: NotRequired[bool]
    """`true` while the services that share the database do not all know what followers of others confirm: those
    that are connected to them were not waited for. `timenav upgrade --finish` ends it.
    """
    state: str
    """`confirmed` if everybody has who was waited for, `waiting` if somebody had not when the answer was sent."""


class AwaitedFollowerBody(TypedDict):
    """Whether a follower has confirmed a change."""

    confirmed_at: NotRequired[str | None]
    """Host time at which it confirmed that."""
    follower_id: NotRequired[str | None]
    """The id of the follower, if there is or was one."""
    generation: NotRequired[int | None]
    """The newest generation of the clock that it has confirmed."""
    name: str
    """What it is called."""
    state: str
    """`confirmed`; `behind` if it is there and has not; `away` if it went away and has not come back; `absent` if
    nobody follows under that name.
    """
    took: NotRequired[str | None]
    """How long it took from the change until it confirmed it, as a duration of host time; from the opening of its
    stream if that was later. Absent if it has not, or if the clock has changed again.
    """
    user_id: NotRequired[str | None]
    """Who follows."""


BucketBody = TypedDict("BucketBody", {"count": "int", "from": "str"})
"""One stretch of a histogram."""


class CandidateBody(TypedDict):
    """An event that may be meant."""

    event_id: str
    """Its id."""
    name: NotRequired[str | None]
    """Its name, if it has one."""


class CauseBody(TypedDict):
    """A cause of an event."""

    distance: int
    """1 for a direct cause, more for causes of causes."""
    event_id: str
    """The event or intervention."""
    required: bool
    """Whether the event requires it through a chain of required causes."""
    standing: str
    """`stands`, `cancelled`, or `unrecorded`."""


CauseKindWord: TypeAlias = "Literal['requires', 'contributes']"
"""How strong a cause is."""


class CauseObject(TypedDict):
    """A cause and how strong it was."""

    event_id: str
    """The event that was the cause."""
    kind: NotRequired[CauseKindWord | None]


CauseRecord: TypeAlias = "str | CauseObject"
"""A cause: the id of a required event, or an object with more detail."""


CertificateBody = TypedDict(
    "CertificateBody",
    {
        "certificate": "str",
        "checkpoint": "str",
        "entries": "Sequence[CertifiedEntryBody]",
        "from": "int",
        "gone": "int",
        "horizon": "NotRequired[str | None]",
        "key_id": "str",
        "known_at": "NotRequired[int | None]",
        "latest_position": "NotRequired[int | None]",
        "latest_time": "NotRequired[str | None]",
        "not_certified": "Sequence[str]",
        "others": "int",
        "reads": "int",
        "refusals": "int",
        "status": "str",
        "streams": "int",
        "timeline_id": "str",
        "to": "int",
        "user_id": "str",
        "verifier_key": "str",
    },
)
"""What a key with a horizon has seen."""


class CertifiedEntryBody(TypedDict):
    """An entry with reads of the key."""

    hashes: Sequence[str]
    """The hashes from the leaf to the root of the checkpoint: 64 hexadecimal digits each."""
    leaf: str
    """The text whose hash is the leaf."""
    position: int
    """Its position in the ledger."""
    reads: Sequence[ReadProofBody]
    """Each read of the key, shown to be among those that the entry tells of, and no other."""


class ChangeTimerRequest(TypedDict):
    """What to change of a timer."""

    at: NotRequired[str | None]
    """The moment at which the timer fires."""
    cron: NotRequired[CronRequest | None]
    deliver: NotRequired[DeliverRequest | None]
    every: NotRequired[EveryRequest | None]
    misfire: NotRequired[MisfireWord | None]
    order_key: NotRequired[str | None]
    """Firings with the same key are worked on one after the other; null removes it."""
    payload: NotRequired[Any]
    """Any JSON, handed to whoever claims a firing: at most 65,536 bytes."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class CheckBody(TypedDict):
    """Whether an event occurs, with its causes and consequences."""

    candidates: Sequence[CandidateBody]
    """Events with similar ids or names: a few."""
    causes: Sequence[CauseBody]
    """Its direct and indirect causes, nearest first: at most 100."""
    causes_intact: bool
    """Whether every cause it requires, directly or indirectly, occurs."""
    consequences: ConsequencesBody
    """What depends on it."""
    current_time: str
    """What the clock shows."""
    event: NotRequired[EventBody | None]
    event_id: NotRequired[str | None]
    """The id of the event, if there is one."""
    interventions: Sequence[InterventionBody]
    """What was done to it, in order."""
    occurs: bool
    """Whether there is such an event and it is not cancelled."""
    paradoxes: Sequence[ParadoxBody]
    """Paradoxes that involve it, not counting observations: at most 100."""
    proof: NotRequired[ProofBody | None]
    relation: NotRequired[str | None]
    """Its relation to the timeline's clock: `past`, `present` or `future`."""
    search_cut_off: NotRequired[bool | None]
    """`true` if no event was found, but not all descriptions were searched. Absent otherwise."""
    significant_event: str
    """What was searched for."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class CheckedBody(TypedDict):
    """Something that was checked."""

    count: int
    """How many."""
    what: str
    """What."""


class CheckpointBody(TypedDict):
    """A signed checkpoint (C2SP tlog-checkpoint), and how to verify it."""

    checkpoint: str
    """The signed note."""
    origin: str
    """The name of the ledger and of the key."""
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the ledger."""
    status: str
    """A sentence that sums up the result."""
    verifier_key: str
    """The key that verifies it, as C2SP signed-note writes keys."""


class ClaimRequest(TypedDict):
    """What to claim."""

    ack_timeout: NotRequired[str | None]
    """For how long the firings are yours, in host time. Defaults to `30s`; after that others are given them."""
    max: NotRequired[int | None]
    """The maximum number of firings. Defaults to 1."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long to wait if there is none, in host time. Defaults to `0s`; at most `60s`."""


class ClaimedBody(TypedDict):
    """Firings in your hands."""

    firings: Sequence[ClaimedFiringBody]
    """The firings, in the order in which they fell due."""
    queue: str
    """The queue."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class ClaimedFiringBody(TypedDict):
    """A firing in your hands."""

    attempt: int
    """Which attempt this is, from 1."""
    due: str
    """The moment at which it fell due."""
    firing_id: str
    """The id of the firing: the same however often it is handed out."""
    generation: int
    """The generation of the clock."""
    lease_id: str
    """Which claim this is: whoever claims the firing after you has another one. Send it with what you say of the
    firing, in `lease_ids`.
    """
    leased_until: str
    """Host time until which it is yours."""
    order_key: NotRequired[str | None]
    """Firings with the same key are worked on one after the other."""
    payload: Any
    """What the timer was set with."""
    round: int
    """The round of the timer."""
    step: NotRequired[int | None]
    """How many instants the advance has come to. Absent outside an advance."""
    timeline_id: str
    """The timeline."""
    timer_id: str
    """The timer that fired."""


class ClockBody(TypedDict):
    """A clock, with everything needed to compute its time without another request: while it runs, `origin_virtual +
    (host time - origin_host) * rate`; while it is paused, `origin_virtual`.
    """

    advance: NotRequired[AdvanceBody | None]
    anchor_id: NotRequired[str | None]
    """After a return: the anchor."""
    boot_id: NotRequired[str | None]
    """With `origin_boot`: which start of which kernel that is, as a hash of its boot id."""
    current_time: str
    """What the clock shows."""
    fault: NotRequired[FaultBody | None]
    follower_id: NotRequired[str | None]
    """In the messages of a stream with `follow`: the id of the follower, to confirm changes under."""
    followers: NotRequired[AwaitedBody | None]
    generation: int
    """Counts changes of this clock."""
    lag: NotRequired[LagBody | None]
    ledger: NotRequired[LedgerBody | None]
    local_time: NotRequired[str | None]
    """The clock's time in the zone of its location, if that is known."""
    location: str | None
    """The place last traveled to."""
    location_resolved: NotRequired[ResolvedBody | None]
    new_time: NotRequired[str | None]
    """After a move by a duration or to the next moment: where it took the clock. `current_time` is another moment
    if the clock runs, or if somebody else has moved it while timers on the way were waited for.
    """
    origin_boot: NotRequired[str | None]
    """When a clock is read or watched: what the boot clock (`CLOCK_BOOTTIME`) of the service's kernel showed at
    `origin_host`, in seconds with nine decimal places; negative if that was before the kernel started. Programs
    on the same kernel compute the clock from it to the nanosecond. Absent where the system has no such clock,
    for a key with a horizon, and while the host's clock is behind the last entry of the timeline.
    """
    origin_host: str
    """Host time since which the clock has been running or paused."""
    origin_virtual: str
    """Virtual time at `origin_host`."""
    paused_at: NotRequired[str | None]
    """After a pause: the moment the clock was paused at."""
    rate: float
    """Virtual seconds per host second."""
    settled: NotRequired[SettledBody | None]
    state: str
    """Whether the clock is `running` or `paused`."""
    status: NotRequired[str | None]
    """A sentence that says what happened. Absent if the clock is part of a larger response."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timeline_id: str
    """The timeline of the clock."""
    would_change: NotRequired[WouldChangeBody | None]
    would_disarm: NotRequired[WouldDisarmBody | None]
    would_fire: NotRequired[WouldFireBody | None]
    would_rearm: NotRequired[WouldRearmBody | None]
    would_supersede: NotRequired[WouldSupersedeBody | None]


class CommonBody(TypedDict):
    """What two timelines share: the beginning of a ledger, and everything before it."""

    size: int
    """How many of its entries both share."""
    timeline_id: str
    """The timeline whose ledger it is."""


class ConfirmRequest(TypedDict):
    """Which change was applied."""

    follower_id: str
    """The follower, as the messages of its stream name it."""
    generation: int
    """The generation of the clock that was applied. It confirms all before."""
    step: NotRequired[int | None]
    """The step of the advance of that generation that was applied, as `advance` of the message names it. It
    confirms all before. Defaults to none.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class ConfirmedBody(TypedDict):
    """What a follower has confirmed."""

    follower_id: str
    """The follower."""
    generation: int
    """The newest generation that it has confirmed."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ConsequencesBody(TypedDict):
    """What depends on an event."""

    count: int
    """How many events require it, directly or indirectly, counted up to 10,000."""
    event_ids: Sequence[str]
    """Some of them, nearest first: at most 100."""


class CorrectedBody(TypedDict):
    """An event that was corrected."""

    changed: bool
    """Whether this created a new version."""
    event: EventContentBody
    """The event as it stands."""
    event_id: str
    """The event's id."""
    ledger: LedgerBody
    """The correction's place in the ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class CorrectedRecord(TypedDict):
    """The complete event, as it should have been recorded."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while the event lasts. Two events that give the same predicate of the same subject different
    values at the same time contradict each other.
    """
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else, at most 65,536 bytes of JSON."""
    causes: NotRequired[Sequence[CauseRecord] | None]
    """Its causes. A cause can be recorded later than its effect."""
    description: NotRequired[str | None]
    """What happened, in a sentence or two. Defaults to empty."""
    end_time: NotRequired[str | None]
    """When it ended: a timestamp like `time`."""
    event_id: str
    """The id of the event."""
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[EventKindWord | None]
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[PrecisionWord | None]
    sequence: NotRequired[int | None]
    """The source's own sequence number for the record, without gaps."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    need a sign and six digits.
    """


class CorrectionRequest(TypedDict):
    """An event as it should have been recorded."""

    event: CorrectedRecord
    """The complete event: a field you leave out here is removed. Its `event_id` identifies it."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class CronBody(TypedDict):
    """A cron expression."""

    expression: str
    """The expression."""
    zone: str
    """The time zone whose clocks it reads."""


class CronRequest(TypedDict):
    """A cron expression."""

    expression: str
    """Five fields: minute, hour, day of month, month, weekday."""
    zone: NotRequired[str | None]
    """The time zone whose clocks it reads. Defaults to `UTC`."""


class DecryptRequest(TypedDict):
    """What to open."""

    data_id: str
    """The record."""
    encryption_key: str
    """The key it was sealed with."""
    timeline_id: NotRequired[str | None]
    """The timeline, as an extra check. Defaults to the record's own."""


class DecryptedBody(TypedDict):
    """What was opened."""

    data: Mapping[str, Any]
    """What was sealed."""
    status: str
    """A sentence that says what happened."""


class DeliverBody(TypedDict):
    """Where firings go."""

    event: NotRequired[Mapping[str, Any]]
    """The event that each firing records, without an id and a time of its own."""
    queue: NotRequired[str | None]
    """The queue that they wait in."""
    signed: NotRequired[bool | None]
    """Whether these requests are signed. Only with `url`."""
    to: str
    """`queue`, `timeline` or `webhook`."""
    url: NotRequired[str | None]
    """Where each firing is sent."""


class DeliverRequest(TypedDict):
    """Where firings go."""

    event: NotRequired[TimerEvent]
    """The event that each firing records, with `to: timeline`. Its id is that of the firing, its time the moment,
    and its `source`, if none is given, `timer:` with the id of the timer. At most 8,192 bytes.
    """
    queue: NotRequired[str | None]
    """The queue, with `to: queue`. Defaults to `default`."""
    secret: NotRequired[str | None]
    """What these requests are signed under, as Standard Webhooks writes it: `whsec_` and the base64 of 24 to 64
    bytes. It is never shown again. Without it, they are not signed.
    """
    to: DeliverTo
    """`queue`: they wait for whoever claims them. `timeline`: each is recorded as an event of the timeline at once.
    `webhook`: the service sends each to an address.
    """
    url: NotRequired[str | None]
    """Where each firing is sent in a POST, with `to: webhook`: an address that the operator allows."""


DeliverTo: TypeAlias = "Literal['queue', 'timeline', 'webhook']"
"""How firings are delivered."""


class DiffBody(TypedDict):
    """One page of what differs: events by id, timers by name, or firings by moment. A page can be short and still
    have a next one.
    """

    a: DiffSideBody
    """One timeline."""
    b: DiffSideBody
    """The other."""
    common: CommonBody
    """What both share."""
    differences: Sequence[DifferenceBody]
    """The events. Empty if something else is compared."""
    firings: NotRequired[Sequence[FiringDifferenceBody] | None]
    """The firings that came to other outcomes since the timelines went apart. Absent unless firings are compared.
    They are as they were when the page was read.
    """
    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    timers: NotRequired[Sequence[TimerDifferenceBody] | None]
    """The timers that are armed on one of the timelines at least, and differ. Absent unless timers are compared.
    They are as they were when the page was read.
    """


class DiffSideBody(TypedDict):
    """A timeline being compared."""

    as_of: NotRequired[int | None]
    """The last ledger position that all pages take into account."""
    timeline_id: str
    """The timeline."""


DiffWord: TypeAlias = "Literal['events', 'timers', 'firings']"
"""What of two timelines is compared."""


class DifferenceBody(TypedDict):
    """An event that differs."""

    a: NotRequired[EventBody | None]
    b: NotRequired[EventBody | None]
    change: str
    """`only_in_a`, `only_in_b`, or `differs`."""
    event_id: str
    """The event's id."""


class DivergedBody(TypedDict):
    """A ledger in the database that does not continue what this service has seen of it."""

    code: str
    """`rollback` or `fork`."""
    found: DivergedTreeBody
    """What is in the database."""
    seen: DivergedTreeBody
    """What this service has seen."""
    timeline_id: str
    """The timeline."""


class DivergedTreeBody(TypedDict):
    """The tree of a ledger."""

    root: str
    """The root, in hex."""
    size: int
    """The number of entries."""


class EffectBody(TypedDict):
    """What an intervention does, as it was understood."""

    description: NotRequired[str | None]
    """The new description."""
    duration: NotRequired[str | None]
    """How much later or earlier."""
    kind: str
    """`cancel`, `restore`, `delay`, `advance`, `move`, `relocate`, `describe`, `rename` or `note`."""
    location: NotRequired[str | None]
    """The new place."""
    name: NotRequired[str | None]
    """The new name."""
    time: NotRequired[str | None]
    """The new moment."""


class EffectOfBody(TypedDict):
    """Something caused by an event."""

    event_id: str
    """The event or intervention."""
    kind: str
    """`requires` or `contributes`."""


EffectRequest: TypeAlias = "EffectRequestCancel | EffectRequestRestore | EffectRequestDelay | EffectRequestAdvance | EffectRequestMove | EffectRequestRelocate | EffectRequestDescribe | EffectRequestRename | EffectRequestNote"
"""What is done to an event."""


class EffectRequestAdvance(TypedDict):
    """It happens earlier."""

    duration: str
    """How much."""
    kind: Literal["advance"]


class EffectRequestCancel(TypedDict):
    """It does not happen."""

    kind: Literal["cancel"]


class EffectRequestDelay(TypedDict):
    """It happens later."""

    duration: str
    """How much."""
    kind: Literal["delay"]


class EffectRequestDescribe(TypedDict):
    """It gets another description."""

    description: str
    """The new description."""
    kind: Literal["describe"]


class EffectRequestMove(TypedDict):
    """It happens at another moment."""

    kind: Literal["move"]
    time: str
    """When."""


class EffectRequestNote(TypedDict):
    """Only a note."""

    kind: Literal["note"]


class EffectRequestRelocate(TypedDict):
    """It happens elsewhere."""

    geo: NotRequired[GeoRecord | None]
    kind: Literal["relocate"]
    location: str
    """Where, in words."""


class EffectRequestRename(TypedDict):
    """It gets another name."""

    kind: Literal["rename"]
    name: str
    """The new name."""


class EffectRequestRestore(TypedDict):
    """It happens again, as last recorded."""

    kind: Literal["restore"]


class EncryptRequest(TypedDict):
    """What to seal."""

    data: Mapping[str, Any]
    """What to seal: an object of at most 1,048,576 bytes."""
    encryption_key: str
    """The key: 32 random bytes as 64 hexadecimal digits or 44 characters of base64, or a passphrase. The service
    does not keep it.
    """
    timeline_id: str
    """The timeline."""


class EncryptedBody(TypedDict):
    """A record that was created."""

    data_id: str
    """The id of the record."""
    encryption: str
    """The algorithm."""
    ledger: LedgerBody
    """Its place in the ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timeline_id: str
    """The timeline."""


class EntriesBody(TypedDict):
    """One page of entries in order of position, and the checkpoint to verify them against."""

    checkpoint: str
    """The signed note over size and root."""
    entries: Sequence[LedgerEntryBody]
    """The entries."""
    fork: NotRequired[ForkBody | None]
    has_more: bool
    """Whether there is another page."""
    next: NotRequired[int | None]
    """The position to continue `from`; absent at the end of the ledger. Each page you read adds a ledger entry, so
    stop at the size you verify against.
    """
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the ledger."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""
    verifier_key: str
    """The key that verifies it, as C2SP signed-note writes keys."""


class EraseEventsRequest(TypedDict):
    """What to erase: events by `event_ids`, by `location` and `time_range`, or by `older_than`."""

    dry_run: NotRequired[bool | None]
    """Whether to report what would be erased without erasing it."""
    evaluated_at: NotRequired[int | None]
    """The `evaluated_at` from a dry run. Required to erase by `location` or `older_than`."""
    event_ids: NotRequired[Sequence[str] | str | None]
    """The events: at most 1,000, fewer if there are forks. As a list, or separated by commas."""
    include_forks: NotRequired[bool | None]
    """Whether to erase the events from forks of this timeline too. You must be an admin of each."""
    location: NotRequired[str | None]
    """Where the events to erase are, as in `monitor-events`. Inherited events are not included."""
    older_than: NotRequired[str | None]
    """Events that have not changed for this long in host time, including cancelled ones. No months or years."""
    time_range: NotRequired[str | None]
    """When they occur, in virtual time: `<start>/<end>`, both ends included."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class EraseReadsRequest(TypedDict):
    """Which reads to erase: by `reads` or by `user_id`."""

    position: int
    """The `position` of the reads in the access log."""
    reads: NotRequired[Sequence[int] | None]
    """The `index` of each read in the access log."""
    timeline_id: NotRequired[str | None]
    """The timeline; can be `system`. Defaults to the API key's."""
    user_id: NotRequired[str | None]
    """Whose reads to erase."""


class EraseRequest(TypedDict):
    """What to erase: a record, or an event."""

    data_id: NotRequired[str | None]
    """The record."""
    event_id: NotRequired[str | None]
    """The event."""
    timeline_id: NotRequired[str | None]
    """The event's timeline. Defaults to the API key's. Not needed for a record."""


class ErasedBody(TypedDict):
    """What was erased."""

    ledger: LedgerBody
    """The erasure's place in the ledger."""
    position: int
    """Position of the entry whose content is gone. Its leaf and all proofs remain."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ErasedEventsBody(TypedDict):
    """What was erased, or would be."""

    dry_run: bool
    """Whether nothing was erased."""
    evaluated_at: NotRequired[int | None]
    """After a dry run: the size of the ledger it looked at."""
    event_ids: NotRequired[Sequence[str] | None]
    """After a dry run: the ids of the first events."""
    events_count: int
    """How many events were erased by this request, or would be in total."""
    forks: NotRequired[Sequence[ErasureForkBody] | None]
    """After a dry run: the forks of this timeline, and their forks."""
    forks_count: NotRequired[int | None]
    """How many forks had changes of their own erased."""
    ledger: NotRequired[LedgerBody | None]
    left: int
    """How many selected events are left: send the same request again."""
    outcomes_count: NotRequired[int | None]
    """How many responses kept for an `Idempotency-Key` were deleted."""
    payloads_count: NotRequired[int | None]
    """How many payloads were erased, including those of forks."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ErasedReadsBody(TypedDict):
    """Reads that were erased."""

    erased: int
    """How many reads were erased."""
    ledger: LedgerBody
    """The erasure's place in the ledger."""
    left: int
    """How many of that entry are left."""
    position: int
    """The position of their entry. Its leaf and all proofs remain."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ErasureForkBody(TypedDict):
    """A timeline that goes on from the one that is erased on."""

    may_erase: bool
    """Whether you may erase there."""
    timeline_id: str
    """The timeline."""


class EventBody(TypedDict):
    """One event as it was recorded, and where."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while it lasts."""
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else."""
    causes: NotRequired[Sequence[CauseObject] | None]
    """What it happened because of."""
    description: str
    """What happened."""
    end_time: NotRequired[str | None]
    """When it ended."""
    event_id: str
    """The event's id."""
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[str | None]
    """Whether it was `observed`, is `scheduled` or `predicted`."""
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[str | None]
    """How precisely the times are known."""
    sequence: NotRequired[int | None]
    """The source's own number for the record."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started."""
    position: int
    """Position of the ledger entry that created this version."""
    timeline_id: NotRequired[str | None]
    """The timeline of that ledger, if this timeline was forked from it."""


class EventContentBody(TypedDict):
    """One event as it was recorded."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while it lasts."""
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else."""
    causes: NotRequired[Sequence[CauseObject] | None]
    """What it happened because of."""
    description: str
    """What happened."""
    end_time: NotRequired[str | None]
    """When it ended."""
    event_id: str
    """The event's id."""
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[str | None]
    """Whether it was `observed`, is `scheduled` or `predicted`."""
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[str | None]
    """How precisely the times are known."""
    sequence: NotRequired[int | None]
    """The source's own number for the record."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started."""


EventKindWord: TypeAlias = "Literal['observed', 'scheduled', 'predicted']"
"""How the event is known."""


EventOrder: TypeAlias = "Literal['oldest', 'newest']"
"""Which events come first."""


class EventReadBody(TypedDict):
    """One event with its history."""

    as_of: NotRequired[int | None]
    """The last position of the timeline's own ledger that is taken into account."""
    event: NotRequired[EventBody | None]
    event_id: str
    """The event's id."""
    interventions: Sequence[InterventionBody]
    """What was done to it, in order."""
    stands: bool
    """Whether it occurs, that is, is not cancelled."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""
    versions: Sequence[VersionBody]
    """All its versions, oldest first."""


class EventRecord(TypedDict):
    """An event to record. A field that is `null` counts as left out."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while the event lasts. Two events that give the same predicate of the same subject different
    values at the same time contradict each other.
    """
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else, at most 65,536 bytes of JSON."""
    causes: NotRequired[Sequence[CauseRecord] | None]
    """Its causes. A cause can be recorded later than its effect."""
    description: NotRequired[str | None]
    """What happened, in a sentence or two. Defaults to empty."""
    end_time: NotRequired[str | None]
    """When it ended: a timestamp like `time`."""
    event_id: NotRequired[str | None]
    """The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    or digit. Defaults to a generated id.
    """
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[EventKindWord | None]
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[PrecisionWord | None]
    sequence: NotRequired[int | None]
    """The source's own sequence number for the record, without gaps."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    need a sign and six digits.
    """


class EventToRecord(TypedDict):
    """An event to record. A field that is `null` counts as left out."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while the event lasts. Two events that give the same predicate of the same subject different
    values at the same time contradict each other.
    """
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else, at most 65,536 bytes of JSON."""
    causes: NotRequired[Sequence[CauseRecord] | None]
    """Its causes. A cause can be recorded later than its effect."""
    description: NotRequired[str | None]
    """What happened, in a sentence or two. Defaults to empty."""
    end_time: NotRequired[str | None]
    """When it ended: a timestamp like `time`."""
    event_id: NotRequired[str | None]
    """The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    or digit. Defaults to a generated id.
    """
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[EventKindWord | None]
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[PrecisionWord | None]
    sequence: NotRequired[int | None]
    """The source's own sequence number for the record, without gaps."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    need a sign and six digits.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class EventsBody(TypedDict):
    """One page of events, ordered by time, then position; or the other way round."""

    as_of: NotRequired[int | None]
    """The last ledger position that all pages of this query take into account."""
    events: Sequence[EventBody]
    """The events."""
    has_more: bool
    """Whether there is another page."""
    location_resolved: ResolvedBody
    """How the location was resolved."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    searched_to: NotRequired[str | None]
    """The time up to which events were looked through, where the page ends because these were many: there is more
    to look through, with `next_cursor`.
    """
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


EventsRequest: TypeAlias = "EventToRecord | Sequence[EventRecord]"
"""One event, or several."""


class EveryBody(TypedDict):
    """A rule of iCalendar."""

    rule: str
    """The rule."""
    starts: str
    """From when on it counts."""
    zone: str
    """The time zone on whose calendar it counts."""


class EveryRequest(TypedDict):
    """A rule of iCalendar."""

    rule: str
    """The rule: an RRULE of RFC 5545, with `SKIP` of RFC 7529."""
    starts: NotRequired[str | None]
    """From when on the rule counts. Defaults to what the clock shows."""
    zone: NotRequired[str | None]
    """The time zone on whose calendar the rule counts. Defaults to `UTC`."""


class ExtendRequest(TypedDict):
    """Which firings take longer."""

    firing_ids: Sequence[str]
    """The firings."""
    lease_ids: NotRequired[Sequence[str] | None]
    """The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    has claimed since is `lost`. Without them it is lost if another user has claimed it.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    ttl: NotRequired[str | None]
    """For how long they are yours from now on, in host time. Defaults to `30s`."""


class ExtendedBody(TypedDict):
    """Firings that are kept for longer."""

    firings: Sequence[ExtendedFiringBody]
    """The firings, in the order in which they were named."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ExtendedFiringBody(TypedDict):
    """A firing that is kept for longer, or was lost."""

    firing_id: str
    """The id of the firing."""
    leased_until: NotRequired[str | None]
    """Host time until which it is yours."""
    state: str
    """`leased`, or `lost` if it is not yours any more."""


class FailRequest(TypedDict):
    """Which firings were tried in vain."""

    firing_ids: Sequence[str]
    """The firings."""
    lease_ids: NotRequired[Sequence[str] | None]
    """The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else
    has claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
    """
    reason: NotRequired[str | None]
    """Why."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class FaultBody(TypedDict):
    """What is wrong with a clock. At least one of `offset`, `drift_ppm`, `jitter` and `leap` is."""

    drift_ppm: NotRequired[int | None]
    """By how many millionths it is too fast; too slow where it is negative. From -100000 to 100000."""
    jitter: NotRequired[str | None]
    """How far it strays to each side in host time, as `offset`: each second to another value. At most `250ms`."""
    jitter_seed: NotRequired[int | None]
    """What the jitter is drawn from: the same number strays in the same way. Needs `jitter`. Defaults to 0."""
    leap: NotRequired[str | None]
    """A leap second that nobody else knows of: after `insert@` a second that comes twice, after `delete@` one that
    does not come.
    """
    leap_smear: NotRequired[str | None]
    """Over how much virtual time the leap second is smeared: from `10s` to `10d`. Needs `leap`."""
    offset: NotRequired[str | None]
    """How far it is ahead, as a duration without months, or in `ms` or `us`; behind, with a `-` before it. It stays
    so through jumps and pauses.
    """
    slew_back_ppm: NotRequired[int | None]
    """By how many it is slewed from the offset to the right time. In place of `slew_ppm`."""
    slew_ppm: NotRequired[int | None]
    """By how many millionths of the virtual time that passes it is slewed to the offset, which it does not have
    when it begins. From 1 to 100000. Needs `offset`.
    """


class FaultSetBody(TypedDict):
    """How followers of one name show the clock."""

    fault: NotRequired[FaultBody | None]
    ledger: LedgerBody
    """The place of the change in the ledger."""
    name: str
    """What the followers are called."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""
    user_id: str
    """Whose followers they are."""


class FieldError(TypedDict):
    """What is wrong with one field."""

    code: str
    """A stable code for the error."""
    detail: str
    """What would be right."""
    pointer: str
    """The field, as a JSON pointer in a URI fragment."""


class FindingBody(TypedDict):
    """One thing that does not match what was signed."""

    evidence: str
    """What was found, and what should have been there."""
    kind: str
    """What kind of difference, such as `leaf-mismatch`."""
    last_good_checkpoint: NotRequired[int | None]
    """Size of the largest earlier checkpoint known to be good."""
    position: NotRequired[int | None]
    """The first entry affected, counted from 0; for a checkpoint, its size."""


class FiringBody(TypedDict):
    """One moment of a timer that fell due."""

    due: str
    """The moment at which it fell due."""
    event_id: NotRequired[str | None]
    """The event that it recorded, if its timer records events."""
    firing_id: str
    """The id of the firing."""
    queue: NotRequired[str | None]
    """The queue that it waits in: `timenav:webhook` if the service sends it. Absent if it is recorded as an event."""
    reason: NotRequired[str | None]
    """Why it failed."""
    round: int
    """The round of the timer."""
    state: str
    """`pending`, `acknowledged`, `failed` or `superseded`."""
    timer_id: str
    """The timer that fired."""


class FiringDifferenceBody(TypedDict):
    """A moment of a timer that came to another outcome."""

    a: NotRequired[FiringBody | None]
    b: NotRequired[FiringBody | None]
    change: str
    """`only_in_a`, `only_in_b`, or `differs`."""
    due: str
    """The moment."""
    timer_id: str
    """The timer."""


class FiringStateBody(TypedDict):
    """How a firing stands."""

    firing_id: str
    """The id of the firing."""
    state: str
    """`pending`, `acknowledged`, `failed` or `superseded`."""


FiringStateWord: TypeAlias = "Literal['pending', 'acknowledged', 'failed', 'superseded']"
"""What came of a firing."""


class FiringsBody(TypedDict):
    """One page of firings."""

    firings: Sequence[FiringBody]
    """The firings, in the order in which they fell due."""
    has_more: bool
    """Whether there may be another page. One that looked through many firings may have fewer than `limit`, or none."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class FiringsSettledBody(TypedDict):
    """How firings stand."""

    firings: Sequence[FiringStateBody]
    """The firings, in the order in which they were named."""
    ledger: NotRequired[LedgerBody | None]
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class FollowerBody(TypedDict):
    """Somebody who follows a clock under a name."""

    confirmed_at: NotRequired[str | None]
    """Host time at which it confirmed that."""
    fault: NotRequired[FaultBody | None]
    follower_id: str
    """The id of the follower. It has another one each time it connects."""
    generation: NotRequired[int | None]
    """The newest generation of the clock that it has confirmed. Absent if it has confirmed none."""
    host: NotRequired[str | None]
    """The name of its host, if it told one (`Timenav-Host`). Known where its stream is open: of several services
    that share a database, the others do not tell it.
    """
    left_at: NotRequired[str | None]
    """Host time at which its stream ended."""
    name: str
    """What it is called. Several may have the same name."""
    process: NotRequired[int | None]
    """The id of its process on that host, or in its container, if it told one (`Timenav-Process`)."""
    since: str
    """Host time since which its stream is open."""
    state: str
    """`current` if it has confirmed the newest change, `behind` if it has not, `away` if its stream has ended."""
    step: NotRequired[int | None]
    """The newest step that it has confirmed of the advance of that generation."""
    steps: bool
    """Whether it confirms the steps of advances. Firings of an instant wait for it then."""
    took: NotRequired[str | None]
    """How long it took from the newest change of the clock, or the newest step of an advance, until it confirmed
    that, as a duration of host time; from the opening of its stream if that was later. Absent if it has not
    confirmed it.
    """
    user_id: str
    """Who follows."""


class FollowersBody(TypedDict):
    """The followers of a clock."""

    followers: Sequence[FollowerBody]
    """The followers: those that are there in the order in which they came, then those that went away in the last
    minute. Users who may not write to the timeline see their own.
    """
    generation: int
    """The generation of the clock."""
    only_here: NotRequired[bool]
    """`true` while the services that share the database do not all know what followers of others confirm: those
    that are connected to them are not listed. `timenav upgrade --finish` ends it.
    """
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class ForkBody(TypedDict):
    """What a fork was forked from."""

    deliver_webhooks: NotRequired[bool | None]
    """`true` if webhooks of timers that came along are sent. Absent otherwise."""
    of: str
    """The other timeline."""
    size: int
    """How many of its entries are shared."""


class ForwardRequest(TypedDict):
    """How far to move forward."""

    dry_run: NotRequired[bool | None]
    """Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`."""
    duration: str
    """One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601."""
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    settle: NotRequired[bool | None]
    """Whether the clock stands still at each timer on its way until what fires is done. Otherwise it jumps, and
    they fire after that. Defaults to `true`.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for timers on the way and then for followers, in host time. The clock goes on
    without it. Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
    """


GapBody = TypedDict(
    "GapBody",
    {
        "entries": "int",
        "first_position": "int",
        "from": "str",
        "last_position": "int",
        "policy": "NotRequired[GapPolicyBody | None]",
        "reads": "NotRequired[int | None]",
        "reason": "str",
        "to": "str",
    },
)
"""Entries of reads, one after the other in the log, that no longer say who read."""


class GapPolicyBody(TypedDict):
    """How long reads are kept, and since which entry."""

    position: int
    """The ledger position of its `set_retention`."""
    reads: NotRequired[str | None]
    """How long the contents of reads are kept; null keeps them forever, until a later policy applied to them."""


class GeoRecord(TypedDict):
    """A point on the earth (WGS 84), and how far around it."""

    lat: float
    """Degrees north, negative south."""
    lon: float
    """Degrees east, negative west."""
    radius_m: NotRequired[float | None]
    """The radius of the circle in which it happened, in metres."""


class GroupBody(TypedDict):
    """Events that have something in common."""

    count: int
    """How many events there are."""
    first: str
    """When the first one happens."""
    key: str
    """What that is: the time with which it begins, the box `west,south,east,north`, the actor, the source or the
    value.
    """
    last: str
    """When the last one happens."""
    until: NotRequired[str | None]
    """Where the next group of `time` begins."""


class HandOverRequest(TypedDict):
    """What is handed over."""

    timeline_id: str
    """The timeline."""


class HandedOverBody(TypedDict):
    """A timeline that was handed over."""

    ledger: LedgerBody
    """The place of its last entry."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class HeadBody(TypedDict):
    """A timeline's latest signed tree."""

    checkpoint: str
    """The signed note over both."""
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the ledger."""


class HeadProofBody(TypedDict):
    """The proof that `system` is committed to the tree of a timeline (docs/ledger-format-2.md §10)."""

    count: int
    """How many heads the entry commits to."""
    hashes: Sequence[str]
    """The hashes from the timeline's checkpoint text to the root of the heads."""
    index: int
    """Which of the heads it is, counted from 0."""
    leaf: str
    """The text of that entry."""
    position: int
    """The position of the entry `heads` on `system`."""
    system_hashes: Sequence[str]
    """The hashes from that entry to the root of the cosigned tree."""


class HeadStatementBody(TypedDict):
    """A head statement (docs/ledger-format-2.md §4): the access-relevant state of a timeline, signed with its
    latest entries.
    """

    head_statement: str
    """The signed statement. It is not a checkpoint: two of the same size prove nothing."""
    origin: str
    """The name of the ledger and of the key."""
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the ledger."""
    state_hash: str
    """The hash over clock, counts, permissions and fork, and on `system` over all users, keys, passwords and
    sessions: 64 hexadecimal digits.
    """
    status: str
    """A sentence that sums up the result."""
    verifier_key: str
    """The key that verifies it, as C2SP signed-note writes keys."""


class HeldBody(TypedDict):
    """A lease of yours."""

    lease: LeaseBody
    """The lease."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class HoldAdvancesRequest(TypedDict):
    """What to hold, and why."""

    lease_id: NotRequired[str | None]
    """A lease of yours that is to last longer. Without it, you get a new one."""
    reason: str
    """Why: whoever waits for the advance is told."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    ttl: NotRequired[str | None]
    """For how long from now on, in host time. Defaults to `30s`; at most `10m`."""


HorizonWord: TypeAlias = "Literal['clock']"
"""How far a key sees."""


class ImportUndoneBody(TypedDict):
    """What became of the import's events."""

    kept: int
    """How many events of these stay because they changed after the import."""
    ledger: LedgerBody
    """The place of the last cancellation in the ledger."""
    rest: NotRequired[str | None]
    """What is left of an import of more than 10,000 events: send it as `import_id`. Absent if nothing is left."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""
    undone: int
    """How many events this request cancelled."""


class ImportedBody(TypedDict):
    """The result of an import."""

    dry_run: NotRequired[bool | None]
    """`true` where nothing was recorded, and the counts are of what would be. Absent otherwise."""
    import_id: NotRequired[str | None]
    """What `undo-import` takes to undo this import. Absent if no event is new."""
    ledger: LedgerBody
    """The place of the last new event in the ledger."""
    noted: NotRequired[int | None]
    """How many of these there are, if any."""
    notes: NotRequired[Sequence[NoteBody]]
    """The first records that were imported, but not fully, and why."""
    refusals: Sequence[RefusalBody]
    """The first of them, with the reason."""
    refused: int
    """Records that were refused."""
    status: str
    """A sentence that says what happened."""
    taken: int
    """Events that are new."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timeline_id: str
    """The timeline."""
    unchanged: int
    """Events that were already recorded with the same content."""


class InterventionBody(TypedDict):
    """Something that was done to an event."""

    action: str
    """What was done, in the words of whoever intervened."""
    actor: str
    """Who intervened."""
    anchor_id: NotRequired[str | None]
    """The anchor that was returned to, if that caused it."""
    causes: NotRequired[Sequence[CauseObject] | None]
    """What it happened because of."""
    changed: bool
    """Whether it changed the event."""
    effect: EffectBody
    """What was done."""
    event_id: str
    """The event."""
    import_id: NotRequired[str | None]
    """The import that was undone, if that caused it."""
    intervention_id: str
    """The id of the intervention."""
    position: int
    """Position of the ledger entry."""
    recorded_at: str
    """When, in host time."""
    stood: bool
    """Whether the event occurred before."""
    time: str
    """The virtual moment of the intervention."""
    timeline_id: NotRequired[str | None]
    """The timeline whose ledger this position refers to; absent in messages of `GET /v1/stream`, which name it."""


class KeyBody(TypedDict):
    """One key, without its secret."""

    created_at: str
    """Host time when it was created."""
    expires_at: NotRequired[str | None]
    """Host time when it expires."""
    horizon: NotRequired[str | None]
    """`clock` if the key sees no later than the clock shows."""
    key_id: str
    """The public id of the key."""
    known_at: NotRequired[int | None]
    """The last position of its timeline's ledger that the key knows."""
    label: str
    """What it is for."""
    revoked_at: NotRequired[str | None]
    """Host time when it was revoked."""
    scopes: NotRequired[Sequence[str] | None]
    """What it can be used for; absent for everything the user can do."""
    timeline_id: str
    """The timeline it is bound to."""
    user_id: str
    """The user it belongs to."""


class KeyMadeBody(TypedDict):
    """A key that was created."""

    api_key: NotRequired[str | None]
    """The key. The service does not keep it, so it is never shown again; absent from the response to a repeated
    request.
    """
    horizon: NotRequired[str | None]
    """`clock` if the key sees no later than the clock shows."""
    key_id: str
    """The public id of the key."""
    known_at: NotRequired[int | None]
    """The last position of its timeline's ledger that the key knows."""
    ledger: LedgerBody
    """Its place in the ledger of `system`."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline it is bound to."""
    user_id: str
    """The user it belongs to."""


class KeyRequest(TypedDict):
    """A key to create."""

    expires_at: NotRequired[str | None]
    """When the key expires, in host time. Defaults to never."""
    horizon: NotRequired[HorizonWord | None]
    known_at: NotRequired[str | int | None]
    """A moment of the ledger: a position, an anchor id, or a host time. Defaults to now."""
    label: NotRequired[str | None]
    """What the key is for."""
    scopes: NotRequired[Sequence[Literal["timeline:read", "timeline:write", "timeline:admin", "operator"]] | None]
    """What the key can be used for: `timeline:read`, `timeline:write`, `timeline:admin`, `operator`, each including
    the ones before. Defaults to everything the user can do.
    """
    timeline_id: NotRequired[str | None]
    """The timeline for requests that name none. Defaults to `main`."""
    user_id: NotRequired[str | None]
    """The user. Defaults to the caller; only operators can name others."""


class KeyStoppedBody(TypedDict):
    """A key that was revoked."""

    key_id: str
    """The key."""
    ledger: LedgerBody
    """Its place in the ledger of `system`."""
    status: str
    """A sentence that says what happened."""


class KeysBody(TypedDict):
    """One page of keys, newest first."""

    api_keys: Sequence[KeyBody]
    """The keys."""
    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""


class LagBody(TypedDict):
    """How far deliveries are behind a clock."""

    behind: str
    """How far the clock is past that moment, as a duration."""
    oldest: str
    """The moment of the one that has waited longest."""
    pending: int
    """How many firings have no outcome."""


class LeaseBody(TypedDict):
    """A lease that holds the clock."""

    lease_id: str
    """The id of the lease."""
    owner: str
    """The user whose lease it is."""
    reason: str
    """Why, in their words."""
    until: str
    """Host time until which it lasts."""


class LeasesBody(TypedDict):
    """What holds the clock."""

    leases: Sequence[LeaseBody]
    """The leases, the one that ends next first."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class LeasesRequest(TypedDict):
    """Which timeline's leases are meant."""

    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class LedgerBody(TypedDict):
    """The place of a write in its timeline's ledger, and the signed tree that contains it."""

    position: int
    """Position of the last entry the request wrote, counted from 0."""
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the signed tree."""


class LedgerEntryBody(TypedDict):
    """One entry."""

    contents: str
    """Whether salt and payload are included (`shown`), are gone (`erased`), or are visible only to admins of the
    timeline (`admins_only`). Whether they were erased or pruned, a later entry shows: those of reads and
    refusals are pruned.
    """
    leaf: str
    """The text whose hash is the leaf."""
    payload: NotRequired[str | None]
    """The JSON text that is hashed after the salt."""
    position: int
    """Its position in the ledger, counted from 0."""
    salt: NotRequired[str | None]
    """The salt in hexadecimal digits; empty if single reads were erased from the payload."""


class LimitsBody(TypedDict):
    """Every limit."""

    limits: Mapping[str, Any]
    """The limits by name. Names end in the unit and `max`, `min` or `default`."""
    replica: NotRequired[ReplicaBody | None]
    status: str
    """A sentence that sums up the result."""


class LogBody(TypedDict):
    """One entry."""

    action: str
    """What was done."""
    clock_time: NotRequired[str | None]
    """What the timeline's clock showed, if you can read clocks."""
    index: NotRequired[int | None]
    """The number of the read within the entry, counted from 0. Reads at the same moment share an entry."""
    position: int
    """The ledger position of its entry."""
    subject: str
    """What it was done to."""
    timestamp: str
    """Host time when it was done."""
    user_id: str
    """The acting user; `unknown` if the caller could not be identified."""


class LogInRequest(TypedDict):
    """Who logs in."""

    password: str
    """The user's password. It is not stored."""
    user_id: str
    """The user."""


class LogOutRequest(TypedDict):
    """What to end."""

    everywhere: NotRequired[bool | None]
    """Whether to end all sessions of the user. Defaults to only this one."""


class ManipulateRequest(TypedDict):
    """What to do to an event."""

    action: str
    """What to do, in words. Start with a verb: `prevent`, `cancel`, `stop` or `remove`; `restore`; `delay` or
    `advance` and a duration; `move` or `reschedule` and a timestamp; `relocate to` a place; `describe` or
    `rename` and a text. Anything else is saved as a note.
    """
    causes: NotRequired[Sequence[CauseRecord] | None]
    """Events that caused the intervention."""
    dry_run: NotRequired[bool | None]
    """Whether to report what would happen without changing anything."""
    effect: NotRequired[EffectRequest | None]
    event_id: str
    """The event."""
    on_paradox: NotRequired[OnParadoxWord | None]
    time: str
    """The moment of the intervention, on the timeline's clock."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class ManipulatedBody(TypedDict):
    """What was done to an event."""

    after: NotRequired[EventContentBody | None]
    before: NotRequired[EventContentBody | None]
    downstream: Sequence[str]
    """Events that require the event, directly or indirectly, nearest first: at most 100."""
    downstream_count: int
    """How many there are, counted up to 10,000."""
    dry_run: bool
    """Whether this was a dry run, which changes nothing."""
    effect: EffectBody
    """What was done."""
    event_id: str
    """The event's id."""
    intervention_id: NotRequired[str | None]
    """The id of the intervention; absent after a dry run."""
    ledger: NotRequired[LedgerBody | None]
    paradoxes_healed: Sequence[ParadoxBody]
    """Paradoxes that this resolves."""
    paradoxes_made: Sequence[ParadoxBody]
    """Paradoxes that this creates."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


MisfireWord: TypeAlias = "Literal['all', 'once', 'skip']"
"""What becomes of moments of a rule that come together."""


class NextRequest(TypedDict):
    """How far to move at most."""

    dry_run: NotRequired[bool | None]
    """Whether to tell only what would fire. Nothing moves. Defaults to `false`."""
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    until: NotRequired[str | None]
    """The moment to go to if no timer fires before it. A clock that has come there already stays. Without it, the
    clock goes to the next timer, however far away, and the request is refused if none is armed.
    """
    wait: NotRequired[str | None]
    """How long the answer waits for timers and then for followers, in host time. The clock goes on without it.
    Defaults to `30s` if a timer fires, otherwise to `5s`; `0s` does not wait.
    """


class NoteBody(TypedDict):
    """A record that was imported, but not fully."""

    code: str
    """A stable word for what was not done: `recurrence_kept`, `time_in_part` or `line_left_out`."""
    detail: str
    """What was not done, and what was."""
    line: int
    """Its line."""


OnParadoxWord: TypeAlias = "Literal['tell', 'refuse']"
"""What happens if an intervention creates a paradox."""


OrderBody: TypeAlias = "Literal['oldest', 'newest']"
"""Which entries come first."""


class ParadoxBody(TypedDict):
    """A paradox, or an observation about the data."""

    code: str
    """The code of the kind, such as `P01`."""
    events: Sequence[str]
    """The events, interventions and firings of timers involved, in order."""
    explanation: str
    """An explanation in a sentence."""
    first: int
    """Position of the first ledger entry involved."""
    grade: str
    """`definite` or `possible`; for duplicates `exact` or `probable`, for jumps of clocks whether explained."""
    is_observation: bool
    """Whether it is only an observation about the data."""
    key: str
    """A key that stays the same while the paradox exists."""
    kind: str
    """The name of the kind, such as `effect_before_cause`."""
    severity: str
    """`critical`, `high`, `medium` or `low`."""
    since: int
    """Position of the last ledger entry involved: the paradox exists since then."""
    witness: Mapping[str, Any]
    """The evidence. Its fields depend on the kind; if a cause is a firing, `timer` says of which timer."""


class ParadoxesBody(TypedDict):
    """One page of paradoxes, ordered by the first record that shows them, then by code."""

    as_of: NotRequired[int | None]
    """The last ledger position that all pages of this query take into account."""
    counts: Mapping[str, Any]
    """How many of each kind there are on the whole timeline, by code, definite or possible."""
    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    observations: Mapping[str, Any]
    """The same for observations about the data, which are not paradoxes."""
    paradoxes: Sequence[ParadoxBody]
    """The paradoxes."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""
    total: int
    """How many there are on all pages."""


class PasswordRequest(TypedDict):
    """A password to set."""

    current_password: NotRequired[str | None]
    """The current password. Required to change your own password in a session."""
    password: str
    """The new password: at least 8 characters, not one of the most common ones, and not the user's name."""
    user_id: NotRequired[str | None]
    """The user. Defaults to the caller; only operators can name others."""


class PasswordSetBody(TypedDict):
    """A password that was set."""

    status: str
    """A sentence that says what happened."""
    user_id: str
    """The user whose password it is."""


class PermissionEnds(TypedDict):
    """When permissions expire. Each user named must be in the list."""

    admin: NotRequired[Mapping[str, str | None] | None]
    """When admin access expires, by user id; `null` for never. At least one admin must have no end."""
    read: NotRequired[Mapping[str, str | None] | None]
    """When read access expires, by user id; `null` for never."""
    write: NotRequired[Mapping[str, str | None] | None]
    """When write access expires, by user id; `null` for never."""


class PermissionEndsBody(TypedDict):
    """When permissions expire, in host time. Whoever is in a list and not named here keeps the permission."""

    admin: NotRequired[Mapping[str, str]]
    """When admin access expires, by user id."""
    read: NotRequired[Mapping[str, str]]
    """When read access expires, by user id."""
    write: NotRequired[Mapping[str, str]]
    """When write access expires, by user id."""


class PermissionSpans(TypedDict):
    """How long permissions last. Each user named must be in the list, and not in `expires_at`."""

    admin: NotRequired[Mapping[str, str] | None]
    """How long admin access lasts, by user id."""
    read: NotRequired[Mapping[str, str] | None]
    """How long read access lasts, by user id."""
    write: NotRequired[Mapping[str, str] | None]
    """How long write access lasts, by user id."""


class PermissionsBody(TypedDict):
    """The three lists of a timeline."""

    admin: Sequence[str]
    """Users with admin access."""
    expires_at: NotRequired[PermissionEndsBody | None]
    read: Sequence[str]
    """Users with read access."""
    write: Sequence[str]
    """Users with write access."""


class PermissionsRequest(TypedDict):
    """Lists of user ids."""

    admin: NotRequired[Sequence[str] | None]
    """Users with admin access, which includes the others. At least one."""
    expires_at: NotRequired[PermissionEnds]
    """When permissions expire, in host time. Whoever stays in a list and is not named here keeps the end they have."""
    expires_in: NotRequired[PermissionSpans]
    """As `expires_at`, counted from now: how long permissions last, in host time."""
    read: NotRequired[Sequence[str] | None]
    """Users with read access."""
    write: NotRequired[Sequence[str] | None]
    """Users with write access, which includes read access."""


PrecisionWord: TypeAlias = "Literal['year', 'month', 'day', 'hour', 'minute', 'second']"
"""How precisely a time is known."""


class Problem(TypedDict):
    """The body of every error."""

    code: str
    """A stable code for the error."""
    detail: str
    """What would be right."""
    errors: Sequence[FieldError]
    """The fields it is about, if any."""
    request_id: str
    """The id of the request, for support."""
    status: str
    """A sentence that says what happened."""


class ProblemDetails(TypedDict):
    """Problem details for HTTP APIs (RFC 9457)."""

    code: str
    """A stable code for the error."""
    detail: str
    """What would be right."""
    errors: Sequence[FieldError]
    """The fields it is about, if any."""
    request_id: str
    """The id of the request, for support."""
    status: int
    """The HTTP status."""
    title: str
    """A sentence that says what happened."""
    type: str
    """The type of the problem: `urn:timenav:problem:` and the code."""


ProofBody = TypedDict(
    "ProofBody",
    {
        "checkpoint": "str",
        "from": "NotRequired[int | None]",
        "from_root": "NotRequired[str | None]",
        "hashes": "Sequence[str]",
        "head": "NotRequired[HeadProofBody | None]",
        "kind": "str",
        "leaf": "NotRequired[str | None]",
        "leaf_hash": "NotRequired[str | None]",
        "origin": "NotRequired[str | None]",
        "position": "NotRequired[int | None]",
        "receipt": "NotRequired[str | None]",
        "root": "str",
        "size": "int",
        "status": "str",
        "verifier_key": "str",
        "witnesses": "NotRequired[Mapping[str, int] | None]",
    },
)
"""A proof against the latest checkpoint."""


class PruneRequest(TypedDict):
    """What to prune."""

    accept_host_clock: NotRequired[bool]
    """Whether to confirm that the host's clock is right when it is in doubt. Operators only."""
    dry_run: NotRequired[bool]
    """Whether to report what would be pruned next without pruning it."""
    timeline_id: str
    """The timeline; can be `system`."""


class PrunedBody(TypedDict):
    """What was pruned, and why not more."""

    dry_run: bool
    """Whether this was a dry run, which prunes nothing."""
    has_more: bool
    """Whether there may be more: send the request again."""
    ledger: NotRequired[LedgerBody | None]
    let_go: int
    """How many payloads were pruned."""
    retention: RetentionBody
    """What is in force."""
    status: str
    """A sentence that says what happened."""
    sweep: NotRequired[SweepBody | None]
    timeline_id: str
    """The timeline."""
    waits_for: NotRequired[str | None]
    """Why nothing is pruned although it may be due; absent if nothing prevents it."""
    would_let_go: NotRequired[WouldLetGoBody | None]


class RateRequest(TypedDict):
    """How fast to run."""

    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    rate: float
    """Virtual seconds per host second: more than 0, with up to six decimal places."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait."""


class ReadProofBody(TypedDict):
    """Shows that one read is among those of an entry."""

    count: int
    """How many reads the entry has."""
    hashes: Sequence[str]
    """The hashes from the read to the entry's payload hash."""
    index: int
    """The number of the read, counted from 0."""
    read: Mapping[str, Any]
    """The read, as it is hashed after the salt."""
    salt: str
    """Its salt in hexadecimal digits."""


class ReceiptBody(TypedDict):
    """What came of an advance."""

    settled: SettledBody
    """What fired, and what came of it."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class RecordedBody(TypedDict):
    """Events that were recorded."""

    event_ids: Sequence[str]
    """The ids, in the order given."""
    ledger: LedgerBody
    """The place of the last one in the ledger; the others come right before it."""
    status: str
    """A sentence that says what happened."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timeline_id: str
    """The timeline."""


class RedeliverRequest(TypedDict):
    """Where to deliver a firing again."""

    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class RefusalBody(TypedDict):
    """One refused record."""

    code: str
    """A stable code for the error."""
    detail: str
    """What would be right."""
    field: NotRequired[str | None]
    """The field it is about, if any."""
    line: int
    """Its line, or for `GeoJSON` the number of the feature, counted from 1."""


class ReleasedBody(TypedDict):
    """A lease that has ended."""

    lease_id: str
    """The id of the lease."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ReplicaBody(TypedDict):
    """How this service is among others on one PostgreSQL database."""

    clock: NotRequired[ReplicaClockBody | None]
    commits_unanswered: int
    """How many commits lost their answer since the start, so that the service had to find out what became of them."""
    connections: ReplicaConnectionsBody
    """The connections to the database."""
    diverged: NotRequired[DivergedBody | None]
    lag_positions: NotRequired[int | None]
    """How many entries of other services were not known here when it was last compared. Left out without
    `--replicas`.
    """
    lag_seconds: NotRequired[float | None]
    """Seconds since then. Left out without `--replicas`."""
    name: str
    """The name of this replica."""
    outcomes_unknown: int
    """For how many groups of changes it could not find out, so that they were answered `outcome_unknown`."""
    retries: int
    """How often something was decided again since the start because another service wrote first."""


class ReplicaClockBody(TypedDict):
    """The clock of this host, compared with the database's."""

    behind_newest_seconds: float
    """How far it is behind the newest entry of `system`, in seconds."""
    max_seconds: float
    """How far either may be before the service is not ready, in seconds."""
    offset_seconds: float
    """How far it is ahead, in seconds; negative if it is behind."""
    uncertainty_seconds: float
    """How far that may be off, in seconds."""


class ReplicaConnectionsBody(TypedDict):
    """The connections to the database."""

    in_use: int
    """How many are in use."""
    made: int
    """How many were made since the start."""
    max: int
    """How many there can be."""
    open: int
    """How many are open."""
    waiting: int
    """How many requests are waiting for one."""


class ResolvedBody(TypedDict):
    """How a location was resolved."""

    bbox: NotRequired[Sequence[float] | None]
    """West, south, east, north in degrees, for `box`."""
    event_id: NotRequired[str | None]
    """The event, for `event`."""
    is_ambiguous: NotRequired[bool | None]
    """Whether the name may mean another place."""
    kind: str
    """`anywhere`, `near`, `box`, `area` or `text`; `event` for an event and what happened at its place."""
    lat: NotRequired[float | None]
    """The middle, for `near`."""
    lon: NotRequired[float | None]
    """The middle, for `near`."""
    near_spellings: NotRequired[Sequence[str]]
    """Known places with a similar spelling, if nothing was found."""
    others: NotRequired[Sequence[str]]
    """Other places that the name may mean, most likely first."""
    place: NotRequired[str | None]
    """The known place and its region. Events whose own location is the text are found too."""
    radius_m: NotRequired[float | None]
    """The radius in metres, for `near`."""
    text: NotRequired[str | None]
    """For `text`, the text of the events' own location; for `area`, the area, such as `country:FR`."""


class RestrictRequest(TypedDict):
    """Whom to restrict, and how far."""

    restriction_level: Literal["full_access", "limited_access", "read_only", "no_access"]
    """`full_access` lifts a restriction; `limited_access` allows only moments near host time; `read_only` allows
    only reading; `no_access` not even that.
    """
    user_id: str
    """The user."""


class RestrictedBody(TypedDict):
    """A restriction that was set or lifted."""

    ledger: LedgerBody
    """Its place in the ledger of `system`."""
    restriction_level: str
    """The level in force."""
    status: str
    """A sentence that says what happened."""
    user_id: str
    """The user."""


class RestrictionBody(TypedDict):
    """One restriction."""

    restriction_level: str
    """The level in force."""
    user_id: str
    """The user."""


class RestrictionsBody(TypedDict):
    """Every restriction."""

    restrictions: Sequence[RestrictionBody]
    """The restrictions, by user. Users not listed have `full_access`."""
    status: str
    """A sentence that sums up the result."""


class RetentionBody(TypedDict):
    """How long the contents of reads and refusals are kept."""

    reads: NotRequired[str | None]
    """For reads; null keeps them forever."""
    refusals: NotRequired[str | None]
    """For refused attempts; null keeps them forever."""


class RetentionSetBody(TypedDict):
    """A retention that was set."""

    ledger: LedgerBody
    """Its place in the ledger."""
    retention: RetentionBody
    """What applies now. A shorter time applies to what is recorded from now on."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class ReturnRequest(TypedDict):
    """Which anchor to return to."""

    anchor_id: str
    """The anchor."""
    dry_run: NotRequired[bool | None]
    """Whether to tell only which timers would be armed again or not any more, which firings would be superseded or
    handed out, and which events would be changed back. Nothing changes. Defaults to `false`.
    """
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    scope: NotRequired[Scope | None]
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait."""


class ScanEventsRequest(TypedDict):
    """Which events to find."""

    actor: NotRequired[str | None]
    """Only events with exactly this actor."""
    as_of: NotRequired[str | int | None]
    """A moment of the ledger: a position, an anchor id, or a host time. Defaults to now."""
    attribute: NotRequired[Mapping[str, str | Sequence[str]] | None]
    """Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you
    like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the
    numbers from one to the other, with `..` for an open end. Dots lead into objects.
    """
    cursor: NotRequired[str | None]
    """The `next_cursor` of the previous page."""
    limit: NotRequired[int | None]
    """The maximum number per page."""
    location: str
    """Where, as in `monitor-events`."""
    order: NotRequired[EventOrder | None]
    source: NotRequired[str | None]
    """Only events with exactly this source."""
    text: NotRequired[str | None]
    """Only events whose name, description, location, id, actors or attributes contain these words, or words that
    start with them. Case and accents are ignored.
    """
    time_range: str
    """`<start>/<end>`, both ends included, as in `monitor-events`."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class ScannedBody(TypedDict):
    """One page of events, ordered by time or newest first, with what depends on each."""

    as_of: NotRequired[int | None]
    """The last ledger position that all pages of this query take into account."""
    events: Sequence[ScannedEventBody]
    """The events."""
    has_more: bool
    """Whether there is another page."""
    location_resolved: ResolvedBody
    """How the location was resolved."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    searched_to: NotRequired[str | None]
    """The time up to which events were looked through, where the page ends because these were many: there is more
    to look through, with `next_cursor`.
    """
    status: str
    """A sentence that sums up the result."""
    summary: NotRequired[SummaryBody | None]
    timeline_id: str
    """The timeline."""


class ScannedCheckpoint(TypedDict):
    """The checkpoint of the tree that was scanned."""

    note: str
    """The signed note (C2SP tlog-checkpoint)."""
    root: str
    """The root of the tree: 64 hexadecimal digits."""
    size: int
    """Entries in the tree."""


class ScannedEventBody(TypedDict):
    """An event and what depends on it."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while it lasts."""
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else."""
    causes: NotRequired[Sequence[CauseObject] | None]
    """What it happened because of."""
    description: str
    """What happened."""
    end_time: NotRequired[str | None]
    """When it ended."""
    event_id: str
    """The event's id."""
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[str | None]
    """Whether it was `observed`, is `scheduled` or `predicted`."""
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[str | None]
    """How precisely the times are known."""
    sequence: NotRequired[int | None]
    """The source's own number for the record."""
    source: NotRequired[str | None]
    """Where the record came from."""
    time: str
    """When it happened or started."""
    position: int
    """Position of the ledger entry that created this version."""
    timeline_id: NotRequired[str | None]
    """The timeline of that ledger, if this timeline was forked from it."""
    effects: Sequence[EffectOfBody]
    """Its direct consequences: at most 100."""
    interventions: Sequence[str]
    """What was done to it, in order."""
    paradoxes: Sequence[str]
    """Codes of the kinds of paradoxes that involve it."""


Scope: TypeAlias = "Literal['clock', 'all']"
"""What a return restores."""


class SessionBody(TypedDict):
    """Who asks."""

    expires_at: NotRequired[str | None]
    """Host time when the session ends at the latest."""
    idle_expires_at: NotRequired[str | None]
    """Host time when the session ends if it is not used."""
    is_first_run: bool
    """Whether no operator has a password yet: set one with the API key in `admin.key`."""
    operator: bool
    """Whether the user administers the service."""
    restriction_level: NotRequired[str | None]
    """The user's restriction level; null if not logged in."""
    service_name: NotRequired[str | None]
    """The name of the service, as in every checkpoint; absent if not logged in."""
    session_id: NotRequired[str | None]
    """The public id of the session; absent if the caller is not in one."""
    status: str
    """Who the caller is, in a sentence."""
    user_id: NotRequired[str | None]
    """The user; null if not logged in."""
    version: NotRequired[str | None]
    """The version of the service; absent if not logged in."""


class SessionItem(TypedDict):
    """One session."""

    created_at: str
    """Host time when the user logged in."""
    expires_at: str
    """Host time when it ends at the latest."""
    idle_expires_at: str
    """Host time when it ends if it is not used."""
    is_current: bool
    """Whether it is the current session."""
    last_seen_at: str
    """Host time of the last recorded activity."""
    session_id: str
    """The public id of the session."""


class SessionsBody(TypedDict):
    """Active sessions, newest first."""

    sessions: Sequence[SessionItem]
    """The sessions."""
    status: str
    """A sentence that sums up the result."""


class SetAnchorRequest(TypedDict):
    """What to mark."""

    description: NotRequired[str | None]
    """What the anchor is for."""
    fixed: NotRequired[bool | None]
    """Whether changing history before the anchor is a paradox. Defaults to `true`."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    timestamp: NotRequired[str | None]
    """The moment to mark. Defaults to the clock's current time."""


class SetFaultRequest(TypedDict):
    """How a follower is to show the clock."""

    fault: FaultBody | None
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class SetRetentionRequest(TypedDict):
    """How long to keep what. Give at least one; the other stays as it is."""

    reads: NotRequired[str | None]
    """How long to keep payloads of reads, in host time: whole seconds, no months. `null` keeps them forever."""
    refusals: NotRequired[str | None]
    """How long to keep payloads of refused attempts, in the same form."""
    timeline_id: str
    """The timeline; can be `system`."""


class SetTimerRequest(TypedDict):
    """A timer to set."""

    at: NotRequired[str | None]
    """The moment at which the timer fires. One that the clock has passed fires at once, with its own moment."""
    catch_up: NotRequired[bool | None]
    """Whether moments of a rule fire that had passed when the timer was set: at most 10,000. Defaults to `false`."""
    cron: NotRequired[CronRequest | None]
    deliver: NotRequired[DeliverRequest | None]
    every: NotRequired[EveryRequest | None]
    misfire: NotRequired[MisfireWord | None]
    order_key: NotRequired[str | None]
    """Firings with the same key are worked on one after the other."""
    payload: NotRequired[Any]
    """Any JSON, handed to whoever claims a firing: at most 65,536 bytes. Defaults to null."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    timer_id: NotRequired[str | None]
    """The id of the timer. Defaults to one that the service makes. Setting the same timer twice changes nothing."""


SettledBody = TypedDict(
    "SettledBody",
    {
        "acknowledged": "int",
        "advance_id": "str",
        "failed": "int",
        "fired": "int",
        "firings": "Sequence[FiringBody]",
        "from": "str",
        "held_by": "NotRequired[str | None]",
        "reached": "str",
        "state": "str",
        "step": "int",
        "timeline_id": "str",
        "to": "str",
        "unheard": "int",
    },
)
"""What fired while the clock moved, and what came of it."""


class ShiftRequest(TypedDict):
    """How far to move."""

    dry_run: NotRequired[bool | None]
    """Whether to tell only what `refire` would do: timers that would be armed again, and firings that would be
    superseded. Nothing moves. Defaults to `false`.
    """
    duration: str
    """One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601."""
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    refire: NotRequired[bool | None]
    """Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not
    done are superseded. Otherwise what fell due stays so. Defaults to `false`.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait."""


SkippedBody = TypedDict("SkippedBody", {"complete": "bool", "count": "int", "from": "str", "to": "str"})
"""Moments of a rule that came and did not fire, since the timer was set or changed and as far as the newest 4,096
entries of the ledger tell.
"""


class SpendRequest(TypedDict):
    """What was spent."""

    dry_run: NotRequired[bool | None]
    """Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`."""
    duration: str
    """What it cost: one or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601."""
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    since: NotRequired[str | None]
    """What the clock showed when the work began. The clock goes to `duration` after that, or stays if it is there
    already, so what several spend at the same time passes once. Otherwise it goes on from what it shows, and
    what several spend adds up.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long to wait, in host time, for advances of others that come before; and how long the answer waits then
    for timers on the way and followers. The clock goes on without it. Defaults to `30s`; `0s` does not wait.
    """


StandingWord: TypeAlias = "Literal['armed', 'done', 'cancelled']"
"""How a timer stands."""


class StatusBody(TypedDict):
    """A response that says only that it worked."""

    status: str
    """A sentence that says what happened."""


class SummaryBody(TypedDict):
    """A summary of all events found."""

    count: int
    """How many events match, among at most 100,000 that are checked."""
    first: NotRequired[str | None]
    """When the first one happens."""
    histogram: Sequence[BucketBody]
    """How many occur in each of 24 equal intervals between the first and the last."""
    is_cut: bool
    """Whether there may be more."""
    last: NotRequired[str | None]
    """When the last counted one happens."""


SweepBody = TypedDict("SweepBody", {"class": "str", "count": "int", "position": "int", "recorded_before": "str"})
"""One sweep."""


class SwitchRequest(TypedDict):
    """Which clock to pause or resume."""

    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait."""


class TamperingBody(TypedDict):
    """What was found."""

    checked: Sequence[CheckedBody]
    """What was checked."""
    checkpoint: NotRequired[ScannedCheckpoint | None]
    details: str
    """The first finding and where it is, in sentences."""
    findings: Sequence[FindingBody]
    """Everything that does not match what was signed, by position."""
    findings_untold: int
    """Findings that are only counted, because there are too many of one kind."""
    ledger: LedgerBody
    """The scan's place in the ledger."""
    not_checked: Sequence[str]
    """What was not checked, one sentence each."""
    status: str
    """The outcome, in a sentence."""
    tampering_detected: bool
    """Whether anything does not match what was signed."""


class TamperingRequest(TypedDict):
    """What to scan, and how much."""

    scan_depth: NotRequired[str | None]
    """How much to read: `full` reads everything, `quick` the latest checkpoint and its tree, `tail:<n>` the last
    `n` entries and the tree over the others, `sample:<n>` that many random entries. Defaults to `full`.
    """
    timeline_id: str
    """The timeline; for operators also `system`."""


class TimelineBody(TypedDict):
    """One timeline."""

    anchors: NotRequired[int | None]
    """Anchors set on it; absent for a key with a horizon."""
    clock: NotRequired[ClockBody | None]
    created_at: str
    """Host time when it was created."""
    events: NotRequired[int | None]
    """Its events, not counting cancelled ones; absent for a key with a horizon."""
    expires_at: NotRequired[str | None]
    """Host time when it expires; absent if it does not."""
    fork: NotRequired[ForkBody | None]
    head: NotRequired[HeadBody | None]
    permissions: NotRequired[PermissionsBody | None]
    retention: NotRequired[RetentionBody | None]
    role: str
    """The caller's role: `read`, `write`, `admin`; `operator` for an operator in none of its lists."""
    role_expires_at: NotRequired[str | None]
    """Host time when that role expires; absent if it does not."""
    timeline_id: str
    """The timeline."""


class TimelineEndedBody(TypedDict):
    """A timeline that has ended."""

    contents_until: str
    """Host time after which its contents are deleted."""
    head: HeadBody
    """Its last signed tree, to compare kept checkpoints and proofs with from now on."""
    heirs: int
    """Its forks. What they inherit stays as long as one of them exists."""
    ledger: LedgerBody
    """The place of its end in the ledger `system`."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class TimelineMadeBody(TypedDict):
    """A timeline that was created."""

    expires_at: NotRequired[str | None]
    """Host time when it expires; absent if it does not."""
    ledger: LedgerBody
    """The place of its creation in its own ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_id: str
    """The timeline."""


class TimelineReadBody(TypedDict):
    """One timeline, read by itself."""

    anchors: NotRequired[int | None]
    """Anchors set on it; absent for a key with a horizon."""
    clock: NotRequired[ClockBody | None]
    created_at: str
    """Host time when it was created."""
    events: NotRequired[int | None]
    """Its events, not counting cancelled ones; absent for a key with a horizon."""
    expires_at: NotRequired[str | None]
    """Host time when it expires; absent if it does not."""
    fork: NotRequired[ForkBody | None]
    head: NotRequired[HeadBody | None]
    permissions: NotRequired[PermissionsBody | None]
    retention: NotRequired[RetentionBody | None]
    role: str
    """The caller's role: `read`, `write`, `admin`; `operator` for an operator in none of its lists."""
    role_expires_at: NotRequired[str | None]
    """Host time when that role expires; absent if it does not."""
    timeline_id: str
    """The timeline."""
    status: str
    """A sentence that sums up the result."""


class TimelineRequest(TypedDict):
    """A timeline to create."""

    at: NotRequired[str | int | None]
    """A moment of the ledger: a position, an anchor id, or a host time. Defaults to now."""
    deliver_webhooks: NotRequired[bool | None]
    """With `fork_of`: whether webhooks of timers that come along are sent, to the receivers of the other timeline.
    Defaults to `false`: their firings fail then. Needs `write` on the other timeline.
    """
    expires_in: NotRequired[str | None]
    """How long it lasts, in host time: then it ends automatically."""
    fork_of: NotRequired[str | None]
    """The timeline to fork. History is shared up to `at`; after that, neither sees the other's. Timers come along
    as they stood at `at`.
    """
    timeline_id: str
    """The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit."""


class TimelinesBody(TypedDict):
    """One page of timelines, ordered by name."""

    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    timelines: Sequence[TimelineBody]
    """The timelines."""


class TimerBody(TypedDict):
    """A timer."""

    at: NotRequired[str | None]
    """The moment at which it fires, if that is one."""
    cron: NotRequired[CronBody | None]
    deliver: DeliverBody
    """Where firings go."""
    every: NotRequired[EveryBody | None]
    misfire: NotRequired[str | None]
    """What becomes of moments of the rule that come together."""
    next: NotRequired[str | None]
    """When it fires next. Absent unless it is armed."""
    order_key: NotRequired[str | None]
    """Firings with the same key are worked on one after the other."""
    payload: Any
    """What is handed to whoever claims a firing."""
    position: int
    """Position of the ledger entry that set it. Of timers that fire at the same moment, earlier ones come first."""
    round: int
    """Grows when moments that have passed come again."""
    set_at: str
    """Host time when it was set."""
    set_by: str
    """The user who set it."""
    state: str
    """`armed`, `done` or `cancelled`."""
    timer_id: str
    """The id of the timer."""


class TimerDifferenceBody(TypedDict):
    """A timer that differs."""

    a: NotRequired[TimerBody | None]
    b: NotRequired[TimerBody | None]
    change: str
    """`only_in_a`, `only_in_b`, or `differs`."""
    timer_id: str
    """The timer."""


class TimerEvent(TypedDict):
    """An event, without an id and a time of its own."""

    actors: NotRequired[Sequence[str] | None]
    """Who took part."""
    asserts: NotRequired[Sequence[AssertionRecord] | None]
    """States that hold while the event lasts. Two events that give the same predicate of the same subject different
    values at the same time contradict each other.
    """
    attributes: NotRequired[Mapping[str, Any] | None]
    """Anything else, at most 65,536 bytes of JSON."""
    causes: NotRequired[Sequence[CauseRecord] | None]
    """Its causes. A cause can be recorded later than its effect."""
    description: NotRequired[str | None]
    """What happened, in a sentence or two. Defaults to empty."""
    geo: NotRequired[GeoRecord | None]
    kind: NotRequired[EventKindWord | None]
    location: NotRequired[str | None]
    """Where, in words."""
    name: NotRequired[str | None]
    """A short title."""
    precision: NotRequired[PrecisionWord | None]
    sequence: NotRequired[int | None]
    """The source's own sequence number for the record, without gaps."""
    source: NotRequired[str | None]
    """Where the record came from."""


class TimerMomentsBody(TypedDict):
    """When a timer would fire."""

    has_more: bool
    """Whether there are later ones: ask for them with the last one as `after`."""
    moments: Sequence[str]
    """The moments, the earliest first."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""


class TimerOfRequest(TypedDict):
    """Where the timer is."""

    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class TimerSetBody(TypedDict):
    """A timer that was set, changed or cancelled."""

    ledger: LedgerBody
    """Its place in the ledger."""
    status: str
    """A sentence that says what happened."""
    timeline_created: NotRequired[bool | None]
    """`true` if this request created the timeline. Absent otherwise."""
    timeline_id: str
    """The timeline."""
    timer: TimerBody
    """The timer."""


class TimerShownBody(TypedDict):
    """A timer and its firings."""

    firings: Sequence[FiringBody]
    """Its latest firings, the newest first: at most 100. `GET /v1/firings` lists all."""
    skipped: NotRequired[SkippedBody | None]
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""
    timer: TimerBody
    """The timer."""


class TimersBody(TypedDict):
    """One page of timers."""

    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    timeline_id: str
    """The timeline."""
    timers: Sequence[TimerBody]
    """The timers."""


class TravelRequest(TypedDict):
    """Where to travel."""

    destination_time: str
    """The moment to go to, past or future: an ISO 8601 timestamp with a zone."""
    dry_run: NotRequired[bool | None]
    """Whether to tell only what would fire on the way, and with `refire` what would come again. Nothing moves.
    Defaults to `false`.
    """
    followers: NotRequired[Sequence[str] | str | None]
    """Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may
    write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not;
    the change stays either way. Defaults to none.
    """
    location: NotRequired[str | None]
    """The place to travel to: any text. An IANA zone name, coordinates, or the name of a known place also set the
    calendar and the local time. Defaults to the current place.
    """
    refire: NotRequired[bool | None]
    """Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not
    done are superseded. Otherwise what fell due stays so. Defaults to `false`.
    """
    settle: NotRequired[bool | None]
    """Whether the clock stands still at each timer on its way forward until what fires is done. Otherwise it jumps,
    and they fire after that. Defaults to `true`.
    """
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""
    wait: NotRequired[str | None]
    """How long the answer waits for timers on the way and then for followers, in host time. The clock goes on
    without it. Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
    """


class UndoImportRequest(TypedDict):
    """Which import to undo."""

    import_id: str
    """The `import_id` that the import answered, or the `rest` of the previous request."""
    timeline_id: NotRequired[str | None]
    """The timeline. Defaults to the API key's."""


class UserBody(TypedDict):
    """One user."""

    created_at: str
    """Host time when the user was created."""
    operator: bool
    """Whether the user administers the service."""
    restriction_level: str
    """The user's restriction level."""
    user_id: str
    """The name."""


class UserChangedBody(TypedDict):
    """A user that was created or removed."""

    ledger: LedgerBody
    """Its place in the ledger of `system`."""
    status: str
    """A sentence that says what happened."""
    user_id: str
    """The user."""


class UserRequest(TypedDict):
    """A user to create."""

    operator: NotRequired[bool | None]
    """Whether the user administers the service. Defaults to `false`."""
    user_id: str
    """The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit."""


class UsersBody(TypedDict):
    """One page of users, by name."""

    has_more: bool
    """Whether there is another page."""
    next_cursor: NotRequired[str | None]
    """The cursor of the next page, if there is one."""
    status: str
    """A sentence that sums up the result."""
    users: Sequence[UserBody]
    """The users."""


class VersionBody(TypedDict):
    """One version of an event."""

    event: NotRequired[EventContentBody | None]
    position: int
    """Position of the ledger entry that created it."""
    timeline_id: str
    """The timeline whose ledger these positions refer to."""
    until: NotRequired[int | None]
    """Position of the ledger entry that replaced it; absent while it is current."""


class WouldChangeBody(TypedDict):
    """The events that would be changed back if history returned to an anchor."""

    count: int
    """How many events there would be."""
    event_ids: Sequence[str]
    """The first 1,000 events."""


class WouldDisarmBody(TypedDict):
    """The timers that would not be armed any more if history returned to an anchor."""

    count: int
    """How many timers there would be."""
    timer_ids: Sequence[str]
    """The first 1,000 timers."""


class WouldFireBody(TypedDict):
    """What would fire if the clock were moved."""

    complete: bool
    """Whether all were counted. Timers that handlers would set on the way are not."""
    count: int
    """How many firings there would be. After the dry run of a return: with those that had no outcome at the anchor,
    which are handed out again.
    """
    firings: Sequence[WouldFireFiringBody]
    """The first 1,000 firings, in their order."""
    timers: Sequence[WouldFireTimerBody]
    """How many firings each timer would have."""
    to: str
    """Where the clock would go."""


class WouldFireFiringBody(TypedDict):
    """A firing that would be."""

    due: str
    """The moment at which it would fire."""
    queue: NotRequired[str | None]
    """The queue that the firing would wait in. Absent if it would be recorded as an event."""
    timer_id: str
    """The timer."""


class WouldFireTimerBody(TypedDict):
    """How often a timer would fire."""

    count: int
    """How often."""
    timer_id: str
    """The timer."""


WouldLetGoBody = TypedDict("WouldLetGoBody", {"class": "str", "count": "int", "recorded_before": "str"})
"""What a sweep would prune."""


class WouldRearmBody(TypedDict):
    """The timers that would be armed again if the clock went back."""

    count: int
    """How many timers there would be."""
    timers: Sequence[WouldRearmTimerBody]
    """The first 1,000 timers, in the order in which they would fire."""


class WouldRearmTimerBody(TypedDict):
    """A timer that would be armed again."""

    next: str
    """When it would fire next."""
    timer_id: str
    """The timer."""


class WouldSupersedeBody(TypedDict):
    """The firings without an outcome that would be superseded if the clock went back."""

    count: int
    """How many firings there would be."""
    firings: Sequence[WouldSupersedeFiringBody]
    """The first 1,000 firings, in their order."""


class WouldSupersedeFiringBody(TypedDict):
    """A firing that would be superseded."""

    due: str
    """The moment at which it fell due."""
    firing_id: str
    """The id of the firing."""
    queue: str
    """The queue that it waits in."""
    timer_id: str
    """The timer that fired."""


__all__ = [
    "AccessControlBody",
    "AccessControlRequest",
    "AccessControlSetBody",
    "AccessLogsBody",
    "AcknowledgeRequest",
    "AdoptedBody",
    "AdvanceBody",
    "AggregatedBody",
    "AnchorBody",
    "AnchorSetBody",
    "AnchorsBody",
    "AssertionRecord",
    "AwaitedBody",
    "AwaitedFollowerBody",
    "BucketBody",
    "CandidateBody",
    "CauseBody",
    "CauseKindWord",
    "CauseObject",
    "CauseRecord",
    "CertificateBody",
    "CertifiedEntryBody",
    "ChangeTimerRequest",
    "CheckBody",
    "CheckedBody",
    "CheckpointBody",
    "ClaimRequest",
    "ClaimedBody",
    "ClaimedFiringBody",
    "ClockBody",
    "CommonBody",
    "ConfirmRequest",
    "ConfirmedBody",
    "ConsequencesBody",
    "CorrectedBody",
    "CorrectedRecord",
    "CorrectionRequest",
    "CronBody",
    "CronRequest",
    "DecryptRequest",
    "DecryptedBody",
    "DeliverBody",
    "DeliverRequest",
    "DeliverTo",
    "DiffBody",
    "DiffSideBody",
    "DiffWord",
    "DifferenceBody",
    "DivergedBody",
    "DivergedTreeBody",
    "EffectBody",
    "EffectOfBody",
    "EffectRequest",
    "EffectRequestAdvance",
    "EffectRequestCancel",
    "EffectRequestDelay",
    "EffectRequestDescribe",
    "EffectRequestMove",
    "EffectRequestNote",
    "EffectRequestRelocate",
    "EffectRequestRename",
    "EffectRequestRestore",
    "EncryptRequest",
    "EncryptedBody",
    "EntriesBody",
    "EraseEventsRequest",
    "EraseReadsRequest",
    "EraseRequest",
    "ErasedBody",
    "ErasedEventsBody",
    "ErasedReadsBody",
    "ErasureForkBody",
    "EventBody",
    "EventContentBody",
    "EventKindWord",
    "EventOrder",
    "EventReadBody",
    "EventRecord",
    "EventToRecord",
    "EventsBody",
    "EventsRequest",
    "EveryBody",
    "EveryRequest",
    "ExtendRequest",
    "ExtendedBody",
    "ExtendedFiringBody",
    "FailRequest",
    "FaultBody",
    "FaultSetBody",
    "FieldError",
    "FindingBody",
    "FiringBody",
    "FiringDifferenceBody",
    "FiringStateBody",
    "FiringStateWord",
    "FiringsBody",
    "FiringsSettledBody",
    "FollowerBody",
    "FollowersBody",
    "ForkBody",
    "ForwardRequest",
    "GapBody",
    "GapPolicyBody",
    "GeoRecord",
    "GroupBody",
    "HandOverRequest",
    "HandedOverBody",
    "HeadBody",
    "HeadProofBody",
    "HeadStatementBody",
    "HeldBody",
    "HoldAdvancesRequest",
    "HorizonWord",
    "ImportUndoneBody",
    "ImportedBody",
    "InterventionBody",
    "KeyBody",
    "KeyMadeBody",
    "KeyRequest",
    "KeyStoppedBody",
    "KeysBody",
    "LagBody",
    "LeaseBody",
    "LeasesBody",
    "LeasesRequest",
    "LedgerBody",
    "LedgerEntryBody",
    "LimitsBody",
    "LogBody",
    "LogInRequest",
    "LogOutRequest",
    "ManipulateRequest",
    "ManipulatedBody",
    "MisfireWord",
    "NextRequest",
    "NoteBody",
    "OnParadoxWord",
    "OrderBody",
    "ParadoxBody",
    "ParadoxesBody",
    "PasswordRequest",
    "PasswordSetBody",
    "PermissionEnds",
    "PermissionEndsBody",
    "PermissionSpans",
    "PermissionsBody",
    "PermissionsRequest",
    "PrecisionWord",
    "Problem",
    "ProblemDetails",
    "ProofBody",
    "PruneRequest",
    "PrunedBody",
    "RateRequest",
    "ReadProofBody",
    "ReceiptBody",
    "RecordedBody",
    "RedeliverRequest",
    "RefusalBody",
    "ReleasedBody",
    "ReplicaBody",
    "ReplicaClockBody",
    "ReplicaConnectionsBody",
    "ResolvedBody",
    "RestrictRequest",
    "RestrictedBody",
    "RestrictionBody",
    "RestrictionsBody",
    "RetentionBody",
    "RetentionSetBody",
    "ReturnRequest",
    "ScanEventsRequest",
    "ScannedBody",
    "ScannedCheckpoint",
    "ScannedEventBody",
    "Scope",
    "SessionBody",
    "SessionItem",
    "SessionsBody",
    "SetAnchorRequest",
    "SetFaultRequest",
    "SetRetentionRequest",
    "SetTimerRequest",
    "SettledBody",
    "ShiftRequest",
    "SkippedBody",
    "SpendRequest",
    "StandingWord",
    "StatusBody",
    "SummaryBody",
    "SweepBody",
    "SwitchRequest",
    "TamperingBody",
    "TamperingRequest",
    "TimelineBody",
    "TimelineEndedBody",
    "TimelineMadeBody",
    "TimelineReadBody",
    "TimelineRequest",
    "TimelinesBody",
    "TimerBody",
    "TimerDifferenceBody",
    "TimerEvent",
    "TimerMomentsBody",
    "TimerOfRequest",
    "TimerSetBody",
    "TimerShownBody",
    "TimersBody",
    "TravelRequest",
    "UndoImportRequest",
    "UserBody",
    "UserChangedBody",
    "UserRequest",
    "UsersBody",
    "VersionBody",
    "WouldChangeBody",
    "WouldDisarmBody",
    "WouldFireBody",
    "WouldFireFiringBody",
    "WouldFireTimerBody",
    "WouldLetGoBody",
    "WouldRearmBody",
    "WouldRearmTimerBody",
    "WouldSupersedeBody",
    "WouldSupersedeFiringBody",
]
