//! What calls take and answer.
//!
//! Written by `cargo xtask rust-client` from docs/api/openapi.json. Do not edit it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arguments::Length;
use crate::instant::Instant;
use crate::states::{AdvanceState, Running};
use crate::words::words;

/// The current permissions. Use their `ETag` for `If-Match`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AccessControlBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The lists.
    pub permissions: PermissionsBody,
}

/// Permissions that were set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AccessControlSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Its place in the ledger.
    pub ledger: LedgerBody,
    /// Users in a list you gave whose permission there has expired. Only if there are any; to let them in again, give
    /// another end, or `null` for none.
    pub expired_users: Option<Vec<String>>,
    /// Listed users that do not exist yet. Only for operators, and only if there are any.
    pub unknown_users: Option<Vec<String>>,
}

/// One page of the access log, in the requested order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AccessLogsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The entries.
    pub logs: Vec<LogBody>,
    /// Reads among the entries that this page looked at which no longer say who read, in the same order. The filter
    /// by user does not apply to them; a filter by another action than `read` or `reads` leaves them out.
    pub gone: Vec<GapBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one. With filters, a page can be short or empty and still have a next
    /// one.
    pub next_cursor: Option<String>,
}

/// A timeline that was adopted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AdoptedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The name of its ledger at the other service. Users from there are shown with it.
    pub origin: String,
    /// Entries signed by the other service.
    pub entries: u64,
    /// If it is a fork, the timelines it descends from, oldest first, by the names that responses show. They came
    /// with it and cannot be queried themselves.
    pub layers: Vec<String>,
    /// Contents that were erased or pruned there, each listed by an entry.
    pub erased: u64,
    /// Of these, contents of reads and refusals that were pruned there, as the retention of the timeline allowed.
    pub let_go: u64,
    /// Sealed records that came with it, including erased ones. Their keys remain with those who sealed them.
    pub sealed: u64,
    /// How many key rotations were followed from the key that you gave.
    pub rotations_followed: u64,
    /// SHA-256 of the file: 64 hexadecimal digits.
    pub bundle_sha256: String,
    /// The adoption's place in the ledger.
    pub ledger: LedgerBody,
}

/// An advance that moves a clock, and stands still at each timer on its way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AdvanceBody {
    /// The id of the advance.
    pub advance_id: String,
    /// How many instants it has come to.
    pub step: u64,
    /// Where it goes.
    pub to: Instant,
}

/// Counts of events.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AggregatedBody {
    /// What was counted, in a sentence.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// What makes a group.
    pub by: String,
    /// The groups that have events: those of `time` in their order, others with the largest first.
    pub groups: Vec<GroupBody>,
    /// How many groups have events. Where they are more than there are in `groups`, the others are left out.
    pub groups_count: u64,
    /// Whether there are groups that were not counted, as there were too many.
    pub is_groups_cut: bool,
    /// How many events were counted: of 1 000 000 at most, or of 100 000 where each has to be read.
    pub count: u64,
    /// How many of them have nothing to be grouped by, and are in no group.
    pub without_count: u64,
    /// Whether there may be more to count, with `next_cursor`.
    pub has_more: bool,
    /// How the location was understood.
    pub location_resolved: ResolvedBody,
    /// The last position of the ledger that counts, the same in all answers of one count.
    pub as_of: Option<u64>,
    /// The time of the last event that was looked at, where there may be more after it. Those may happen at the same
    /// moment: to continue, ask with `next_cursor`, not from this time.
    pub counted_to: Option<Instant>,
    /// The cursor that counts what comes after it, if there may be more.
    pub next_cursor: Option<String>,
}

/// One anchor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AnchorBody {
    /// The id of the anchor.
    pub anchor_id: String,
    /// The moment it marks.
    pub timestamp: Instant,
    /// What it is for.
    pub description: String,
    /// Whether changing history before it is a paradox.
    pub fixed: bool,
    /// Position of the ledger entry that set it.
    pub position: u64,
    /// The timeline of that ledger: the requested one, or one it was forked from.
    pub timeline_id: String,
    /// Host time when it was set.
    pub set_at: Instant,
}

/// An anchor that was set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AnchorSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The id of the anchor.
    pub anchor_id: String,
    /// The moment it marks.
    pub timestamp: Instant,
    /// Its place in the ledger.
    pub ledger: LedgerBody,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
}

/// One page of anchors.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AnchorsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The anchors.
    pub anchors: Vec<AnchorBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// A state that holds while an event lasts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct AssertionRecord {
    /// What it is about.
    pub subject: String,
    /// The property. It has one value at a time.
    pub predicate: String,
    /// The value: any JSON except `null`, at most 1,024 bytes.
    pub value: Value,
}

impl AssertionRecord {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(subject: impl Into<String>, predicate: impl Into<String>, value: impl Into<Value>) -> Self {
        let subject: String = subject.into();
        let predicate: String = predicate.into();
        let value: Value = value.into();
        Self { subject, predicate, value }
    }
}

/// Who has confirmed a change, and who has not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AwaitedBody {
    /// `confirmed` if everybody has who was waited for, `waiting` if somebody had not when the answer was sent.
    pub state: String,
    /// The generation of the clock that they were to confirm.
    pub generation: u64,
    /// Each of those who were waited for.
    pub followers: Vec<AwaitedFollowerBody>,
    /// `true` while the services that share the database do not all know what followers of others confirm: those that
    /// are connected to them were not waited for. `timenav upgrade --finish` ends it.
    pub only_here: Option<bool>,
}

/// Whether a follower has confirmed a change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AwaitedFollowerBody {
    /// What it is called.
    pub name: String,
    /// `confirmed`; `behind` if it is there and has not; `away` if it went away and has not come back; `absent` if
    /// nobody follows under that name.
    pub state: String,
    /// Host time at which it confirmed that.
    pub confirmed_at: Option<Instant>,
    /// The id of the follower, if there is or was one.
    pub follower_id: Option<String>,
    /// The newest generation of the clock that it has confirmed.
    pub generation: Option<u64>,
    /// How long it took from the change until it confirmed it, as a duration of host time; from the opening of its
    /// stream if that was later. Absent if it has not, or if the clock has changed again.
    pub took: Option<String>,
    /// Who follows.
    pub user_id: Option<String>,
}

/// One stretch of a histogram.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct BucketBody {
    /// When it starts.
    pub from: Instant,
    /// How many events occur in it.
    pub count: u64,
}

/// An event that may be meant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CandidateBody {
    /// Its id.
    pub event_id: String,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// A cause of an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CauseBody {
    /// The event or intervention.
    pub event_id: String,
    /// `stands`, `cancelled`, or `unrecorded`.
    pub standing: String,
    /// 1 for a direct cause, more for causes of causes.
    pub distance: u64,
    /// Whether the event requires it through a chain of required causes.
    pub required: bool,
}

words! {
    /// How strong a cause is.
    CauseKindWord {
        /// `requires`.
        Requires = "requires",
        /// `contributes`.
        Contributes = "contributes",
    }
}

/// A cause and how strong it was.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct CauseObject {
    /// The event that was the cause.
    pub event_id: String,
    /// How strong a cause. Defaults to `requires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CauseKindWord>,
}

impl CauseObject {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(event_id: impl Into<String>) -> Self {
        let event_id: String = event_id.into();
        Self { event_id, kind: None }
    }

    /// How strong a cause. Defaults to `requires`.
    #[must_use]
    pub fn kind(mut self, kind: CauseKindWord) -> Self {
        self.kind = Some(kind);
        self
    }
}

/// A cause: the id of a required event, or an object with more detail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CauseRecord {
    /// The id of a required event.
    Text(String),
    /// An event, and how strong a cause it was.
    CauseObject(CauseObject),
}

impl From<String> for CauseRecord {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for CauseRecord {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<CauseObject> for CauseRecord {
    fn from(value: CauseObject) -> Self {
        Self::CauseObject(value)
    }
}

/// What a key with a horizon has seen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CertificateBody {
    /// What is certified, in a sentence.
    pub status: String,
    /// The timeline that the key is bound to.
    pub timeline_id: String,
    /// The key.
    pub key_id: String,
    /// Its user.
    pub user_id: String,
    /// The position of the first entry.
    pub from: u64,
    /// The position of the last entry.
    pub to: u64,
    /// How often the key read in these entries.
    pub reads: u64,
    /// How many of these reads were streams, which continued after their entry.
    pub streams: u64,
    /// How often it was refused.
    pub refusals: u64,
    /// Entries and single reads that were let go or erased, so that they no longer tell whose they were. Nothing is
    /// certified of them.
    pub gone: u64,
    /// Other keys and sessions of the user that work now. What was read with them is not certified.
    pub others: u64,
    /// What is not certified, in words.
    pub not_certified: Vec<String>,
    /// The signed note that says all this.
    pub certificate: String,
    /// The entries with reads of the key.
    pub entries: Vec<CertifiedEntryBody>,
    /// The signed note over the tree that the proofs lead to.
    pub checkpoint: String,
    /// The key that verifies both notes, as C2SP signed-note writes keys.
    pub verifier_key: String,
    /// `clock` if the key sees no later than the clock shows.
    pub horizon: Option<String>,
    /// The last position of the ledger that the key knows.
    pub known_at: Option<u64>,
    /// No read could see what the ledger learned after this position; absent where the key read nothing.
    pub latest_position: Option<u64>,
    /// No read could see anything later than this, on the timeline's clock; absent where the key sees past the clock,
    /// or read nothing.
    pub latest_time: Option<Instant>,
}

/// An entry with reads of the key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CertifiedEntryBody {
    /// Its position in the ledger.
    pub position: u64,
    /// The text whose hash is the leaf.
    pub leaf: String,
    /// The hashes from the leaf to the root of the checkpoint: 64 hexadecimal digits each.
    pub hashes: Vec<String>,
    /// Each read of the key, shown to be among those that the entry tells of, and no other.
    pub reads: Vec<ReadProofBody>,
}

/// Whether an event occurs, with its causes and consequences.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CheckBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// What was searched for.
    pub significant_event: String,
    /// Whether there is such an event and it is not cancelled.
    pub occurs: bool,
    /// What the clock shows.
    pub current_time: Instant,
    /// Its direct and indirect causes, nearest first: at most 100.
    pub causes: Vec<CauseBody>,
    /// Whether every cause it requires, directly or indirectly, occurs.
    pub causes_intact: bool,
    /// What depends on it.
    pub consequences: ConsequencesBody,
    /// What was done to it, in order.
    pub interventions: Vec<InterventionBody>,
    /// Paradoxes that involve it, not counting observations: at most 100.
    pub paradoxes: Vec<ParadoxBody>,
    /// Events with similar ids or names: a few.
    pub candidates: Vec<CandidateBody>,
    /// The event in its current version, if it occurs.
    pub event: Option<EventBody>,
    /// The id of the event, if there is one.
    pub event_id: Option<String>,
    /// Proves that the entry of the current version is in the ledger; absent if that ledger belongs to a timeline
    /// this one was forked from, and for a key with a horizon.
    pub proof: Option<ProofBody>,
    /// Its relation to the timeline's clock: `past`, `present` or `future`.
    pub relation: Option<String>,
    /// `true` if no event was found, but not all descriptions were searched. Absent otherwise.
    pub search_cut_off: Option<bool>,
}

/// Something that was checked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CheckedBody {
    /// What.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// A signed checkpoint (C2SP tlog-checkpoint), and how to verify it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CheckpointBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The name of the ledger and of the key.
    pub origin: String,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The signed note.
    pub checkpoint: String,
    /// The key that verifies it, as C2SP signed-note writes keys.
    pub verifier_key: String,
}

/// Firings in your hands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ClaimedBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The queue.
    pub queue: String,
    /// The firings, in the order in which they fell due.
    pub firings: Vec<ClaimedFiringBody>,
}

/// A firing in your hands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ClaimedFiringBody {
    /// The id of the firing: the same however often it is handed out.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The moment at which it fell due.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// The generation of the clock.
    pub generation: u64,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Which claim this is: whoever claims the firing after you has another one. Send it with what you say of the
    /// firing, in `lease_ids`.
    pub lease_id: String,
    /// What the timer was set with.
    pub payload: Value,
    /// Host time until which it is yours.
    pub leased_until: Instant,
    /// Firings with the same key are worked on one after the other.
    pub order_key: Option<String>,
    /// How many instants the advance has come to. Absent outside an advance.
    pub step: Option<u64>,
}

/// A clock, with everything needed to compute its time without another request: while it runs, `origin_virtual +
/// (host time - origin_host) * rate`; while it is paused, `origin_virtual`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ClockBody {
    /// The timeline of the clock.
    pub timeline_id: String,
    /// What the clock shows.
    pub current_time: Instant,
    /// Whether the clock is `running` or `paused`.
    pub state: Running,
    /// Virtual seconds per host second.
    pub rate: f64,
    /// The place last traveled to.
    pub location: Option<String>,
    /// Counts changes of this clock.
    pub generation: u64,
    /// Host time since which the clock has been running or paused.
    pub origin_host: Instant,
    /// Virtual time at `origin_host`.
    pub origin_virtual: Instant,
    /// While an advance moves the clock: what it is and where it goes.
    pub advance: Option<AdvanceBody>,
    /// After a return: the anchor.
    pub anchor_id: Option<String>,
    /// With `origin_boot`: which start of which kernel that is, as a hash of its boot id.
    pub boot_id: Option<String>,
    /// In these messages: how the follower is to show the clock wrong, which this message tells right. Absent if it
    /// is to show it right.
    pub fault: Option<FaultBody>,
    /// In the messages of a stream with `follow`: the id of the follower, to confirm changes under.
    pub follower_id: Option<String>,
    /// After a change that followers were to confirm: who has, and who has not.
    pub followers: Option<AwaitedBody>,
    /// How far deliveries are behind the clock, which waits for them only in an advance. Absent if every firing has
    /// its outcome.
    pub lag: Option<LagBody>,
    /// After a change: its place in the ledger.
    pub ledger: Option<LedgerBody>,
    /// The clock's time in the zone of its location, if that is known.
    pub local_time: Option<String>,
    /// After traveling to a place by name: how the name was resolved.
    pub location_resolved: Option<ResolvedBody>,
    /// After a move by a duration or to the next moment: where it took the clock. `current_time` is another moment if
    /// the clock runs, or if somebody else has moved it while timers on the way were waited for.
    pub new_time: Option<Instant>,
    /// When a clock is read or watched: what the boot clock (`CLOCK_BOOTTIME`) of the service's kernel showed at
    /// `origin_host`, in seconds with nine decimal places; negative if that was before the kernel started. Programs
    /// on the same kernel compute the clock from it to the nanosecond. Absent where the system has no such clock, for
    /// a key with a horizon, and while the host's clock is behind the last entry of the timeline.
    pub origin_boot: Option<String>,
    /// After a pause: the moment the clock was paused at.
    pub paused_at: Option<Instant>,
    /// After a change that passed timers: what fired, and what came of it.
    pub settled: Option<SettledBody>,
    /// A sentence that says what happened. Absent if the clock is part of a larger response.
    pub status: Option<String>,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
    /// After the dry run of a return: events that would be changed back.
    pub would_change: Option<WouldChangeBody>,
    /// After the dry run of a return: timers that are armed now and would not be any more. Absent if there are none.
    pub would_disarm: Option<WouldDisarmBody>,
    /// After a dry run: what would fire. Nothing has moved.
    pub would_fire: Option<WouldFireBody>,
    /// After the dry run of a return, or of a change with `refire` that goes back: timers that would be armed for
    /// another moment than now.
    pub would_rearm: Option<WouldRearmBody>,
    /// After the dry run of a return, or of a change with `refire` that goes back: firings without an outcome that
    /// would be superseded.
    pub would_supersede: Option<WouldSupersedeBody>,
}

/// What two timelines share: the beginning of a ledger, and everything before it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CommonBody {
    /// The timeline whose ledger it is.
    pub timeline_id: String,
    /// How many of its entries both share.
    pub size: u64,
}

/// What a follower has confirmed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ConfirmedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The follower.
    pub follower_id: String,
    /// The newest generation that it has confirmed.
    pub generation: u64,
}

/// What depends on an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ConsequencesBody {
    /// How many events require it, directly or indirectly, counted up to 10,000.
    pub count: u64,
    /// Some of them, nearest first: at most 100.
    pub event_ids: Vec<String>,
}

/// An event that was corrected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CorrectedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The event's id.
    pub event_id: String,
    /// The event as it stands.
    pub event: EventContentBody,
    /// Whether this created a new version.
    pub changed: bool,
    /// The correction's place in the ledger.
    pub ledger: LedgerBody,
}

/// The complete event, as it should have been recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CorrectedRecord {
    /// When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    /// need a sign and six digits.
    pub time: Instant,
    /// The id of the event.
    pub event_id: String,
    /// Who took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actors: Option<Vec<String>>,
    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else, at most 65,536 bytes of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// Its causes. A cause can be recorded later than its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<Vec<CauseRecord>>,
    /// What happened, in a sentence or two. Defaults to empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ended: a timestamp like `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Instant>,
    /// Where, on the earth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<GeoRecord>,
    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKindWord>,
    /// Where, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// A short title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionWord>,
    /// The source's own sequence number for the record, without gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Where the record came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl CorrectedRecord {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(time: Instant, event_id: impl Into<String>) -> Self {
        let event_id: String = event_id.into();
        Self {
            time,
            event_id,
            actors: None,
            asserts: None,
            attributes: None,
            causes: None,
            description: None,
            end_time: None,
            geo: None,
            kind: None,
            location: None,
            name: None,
            precision: None,
            sequence: None,
            source: None,
        }
    }

    /// Who took part.
    #[must_use]
    pub fn actors(mut self, actors: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let actors: Vec<String> = actors.into_iter().map(Into::into).collect();
        self.actors = Some(actors);
        self
    }

    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[must_use]
    pub fn asserts(mut self, asserts: impl IntoIterator<Item = AssertionRecord>) -> Self {
        let asserts: Vec<AssertionRecord> = asserts.into_iter().collect();
        self.asserts = Some(asserts);
        self
    }

    /// Anything else, at most 65,536 bytes of JSON.
    #[must_use]
    pub fn attributes(mut self, attributes: Map<String, Value>) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Its causes. A cause can be recorded later than its effect.
    #[must_use]
    pub fn causes(mut self, causes: impl IntoIterator<Item = impl Into<CauseRecord>>) -> Self {
        let causes: Vec<CauseRecord> = causes.into_iter().map(Into::into).collect();
        self.causes = Some(causes);
        self
    }

    /// What happened, in a sentence or two. Defaults to empty.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description: String = description.into();
        self.description = Some(description);
        self
    }

    /// When it ended: a timestamp like `time`.
    #[must_use]
    pub fn end_time(mut self, end_time: Instant) -> Self {
        self.end_time = Some(end_time);
        self
    }

    /// Where, on the earth.
    #[must_use]
    pub fn geo(mut self, geo: GeoRecord) -> Self {
        self.geo = Some(geo);
        self
    }

    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[must_use]
    pub fn kind(mut self, kind: EventKindWord) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Where, in words.
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.location = Some(location);
        self
    }

    /// A short title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        self.name = Some(name);
        self
    }

    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[must_use]
    pub fn precision(mut self, precision: PrecisionWord) -> Self {
        self.precision = Some(precision);
        self
    }

    /// The source's own sequence number for the record, without gaps.
    #[must_use]
    pub fn sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Where the record came from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.source = Some(source);
        self
    }
}

/// A cron expression.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CronBody {
    /// The expression.
    pub expression: String,
    /// The time zone whose clocks it reads.
    pub zone: String,
}

/// A cron expression.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CronRequest {
    /// Five fields: minute, hour, day of month, month, weekday.
    pub expression: String,
    /// The time zone whose clocks it reads. Defaults to `UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl CronRequest {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(expression: impl Into<String>) -> Self {
        let expression: String = expression.into();
        Self { expression, zone: None }
    }

    /// The time zone whose clocks it reads. Defaults to `UTC`.
    #[must_use]
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        let zone: String = zone.into();
        self.zone = Some(zone);
        self
    }
}

/// What was opened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DecryptedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// What was sealed.
    pub data: Map<String, Value>,
}

/// Where firings go.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DeliverBody {
    /// `queue`, `timeline` or `webhook`.
    pub to: String,
    /// The event that each firing records, without an id and a time of its own.
    pub event: Option<Map<String, Value>>,
    /// The queue that they wait in.
    pub queue: Option<String>,
    /// Whether these requests are signed. Only with `url`.
    pub signed: Option<bool>,
    /// Where each firing is sent.
    pub url: Option<String>,
}

/// Where firings go.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeliverRequest {
    /// `queue`: they wait for whoever claims them. `timeline`: each is recorded as an event of the timeline at once.
    /// `webhook`: the service sends each to an address.
    pub to: DeliverTo,
    /// The event that each firing records, with `to: timeline`. Its id is that of the firing, its time the moment,
    /// and its `source`, if none is given, `timer:` with the id of the timer. At most 8,192 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<TimerEvent>,
    /// The queue, with `to: queue`. Defaults to `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// What these requests are signed under, as Standard Webhooks writes it: `whsec_` and the base64 of 24 to 64
    /// bytes. It is never shown again. Without it, they are not signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Where each firing is sent in a POST, with `to: webhook`: an address that the operator allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl DeliverRequest {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(to: DeliverTo) -> Self {
        Self { to, event: None, queue: None, secret: None, url: None }
    }

    /// The event that each firing records, with `to: timeline`. Its id is that of the firing, its time the moment,
    /// and its `source`, if none is given, `timer:` with the id of the timer. At most 8,192 bytes.
    #[must_use]
    pub fn event(mut self, event: TimerEvent) -> Self {
        self.event = Some(event);
        self
    }

    /// The queue, with `to: queue`. Defaults to `default`.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        let queue: String = queue.into();
        self.queue = Some(queue);
        self
    }

    /// What these requests are signed under, as Standard Webhooks writes it: `whsec_` and the base64 of 24 to 64
    /// bytes. It is never shown again. Without it, they are not signed.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        let secret: String = secret.into();
        self.secret = Some(secret);
        self
    }

    /// Where each firing is sent in a POST, with `to: webhook`: an address that the operator allows.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        let url: String = url.into();
        self.url = Some(url);
        self
    }
}

words! {
    /// How firings are delivered.
    DeliverTo {
        /// `queue`.
        Queue = "queue",
        /// `timeline`.
        Timeline = "timeline",
        /// `webhook`.
        Webhook = "webhook",
    }
}

/// One page of what differs: events by id, timers by name, or firings by moment. A page can be short and still have a
/// next one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DiffBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// One timeline.
    pub a: DiffSideBody,
    /// The other.
    pub b: DiffSideBody,
    /// What both share.
    pub common: CommonBody,
    /// The events. Empty if something else is compared.
    pub differences: Vec<DifferenceBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The firings that came to other outcomes since the timelines went apart. Absent unless firings are compared.
    /// They are as they were when the page was read.
    pub firings: Option<Vec<FiringDifferenceBody>>,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
    /// The timers that are armed on one of the timelines at least, and differ. Absent unless timers are compared.
    /// They are as they were when the page was read.
    pub timers: Option<Vec<TimerDifferenceBody>>,
}

/// A timeline being compared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DiffSideBody {
    /// The timeline.
    pub timeline_id: String,
    /// The last ledger position that all pages take into account.
    pub as_of: Option<u64>,
}

words! {
    /// What of two timelines is compared.
    DiffWord {
        /// `events`.
        Events = "events",
        /// `timers`.
        Timers = "timers",
        /// `firings`.
        Firings = "firings",
    }
}

/// An event that differs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DifferenceBody {
    /// The event's id.
    pub event_id: String,
    /// `only_in_a`, `only_in_b`, or `differs`.
    pub change: String,
    /// The event on `a`, if it occurs there.
    pub a: Option<EventBody>,
    /// The event on `b`, if it occurs there.
    pub b: Option<EventBody>,
}

/// A ledger in the database that does not continue what this service has seen of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DivergedBody {
    /// The timeline.
    pub timeline_id: String,
    /// `rollback` or `fork`.
    pub code: String,
    /// What this service has seen.
    pub seen: DivergedTreeBody,
    /// What is in the database.
    pub found: DivergedTreeBody,
}

/// The tree of a ledger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DivergedTreeBody {
    /// The number of entries.
    pub size: u64,
    /// The root, in hex.
    pub root: String,
}

/// What an intervention does, as it was understood.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EffectBody {
    /// `cancel`, `restore`, `delay`, `advance`, `move`, `relocate`, `describe`, `rename` or `note`.
    pub kind: String,
    /// The new description.
    pub description: Option<String>,
    /// How much later or earlier.
    pub duration: Option<String>,
    /// The new place.
    pub location: Option<String>,
    /// The new name.
    pub name: Option<String>,
    /// The new moment.
    pub time: Option<Instant>,
}

/// Something caused by an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EffectOfBody {
    /// The event or intervention.
    pub event_id: String,
    /// `requires` or `contributes`.
    pub kind: String,
}

/// What is done to an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffectRequest {
    /// It does not happen.
    Cancel,
    /// It happens again, as last recorded.
    Restore,
    /// It happens later.
    Delay {
        /// How much.
        duration: Length,
    },
    /// It happens earlier.
    Advance {
        /// How much.
        duration: Length,
    },
    /// It happens at another moment.
    Move {
        /// When.
        time: Instant,
    },
    /// It happens elsewhere.
    Relocate {
        /// Where, on the earth.
        #[serde(skip_serializing_if = "Option::is_none")]
        geo: Option<GeoRecord>,
        /// Where, in words.
        location: String,
    },
    /// It gets another description.
    Describe {
        /// The new description.
        description: String,
    },
    /// It gets another name.
    Rename {
        /// The new name.
        name: String,
    },
    /// Only a note.
    Note,
}

/// A record that was created.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EncryptedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The id of the record.
    pub data_id: String,
    /// The algorithm.
    pub encryption: String,
    /// The timeline.
    pub timeline_id: String,
    /// Its place in the ledger.
    pub ledger: LedgerBody,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
}

/// One page of entries in order of position, and the checkpoint to verify them against.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EntriesBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The entries.
    pub entries: Vec<LedgerEntryBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The signed note over size and root.
    pub checkpoint: String,
    /// The key that verifies it, as C2SP signed-note writes keys.
    pub verifier_key: String,
    /// What the timeline was forked from; absent if it is not a fork. Read earlier entries there.
    pub fork: Option<ForkBody>,
    /// The position to continue `from`; absent at the end of the ledger. Each page you read adds a ledger entry, so
    /// stop at the size you verify against.
    pub next: Option<u64>,
}

/// What was erased.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ErasedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Position of the entry whose content is gone. Its leaf and all proofs remain.
    pub position: u64,
    /// The erasure's place in the ledger.
    pub ledger: LedgerBody,
}

/// What was erased, or would be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ErasedEventsBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Whether nothing was erased.
    pub dry_run: bool,
    /// How many events were erased by this request, or would be in total.
    pub events_count: u64,
    /// How many selected events are left: send the same request again.
    pub left: u64,
    /// After a dry run: the size of the ledger it looked at.
    pub evaluated_at: Option<u64>,
    /// After a dry run: the ids of the first events.
    pub event_ids: Option<Vec<String>>,
    /// After a dry run: the forks of this timeline, and their forks.
    pub forks: Option<Vec<ErasureForkBody>>,
    /// How many forks had changes of their own erased.
    pub forks_count: Option<u64>,
    /// The erasure's place in the ledger; absent after a dry run.
    pub ledger: Option<LedgerBody>,
    /// How many responses kept for an `Idempotency-Key` were deleted.
    pub outcomes_count: Option<u64>,
    /// How many payloads were erased, including those of forks.
    pub payloads_count: Option<u64>,
}

/// Reads that were erased.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ErasedReadsBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The position of their entry. Its leaf and all proofs remain.
    pub position: u64,
    /// How many reads were erased.
    pub erased: u64,
    /// How many of that entry are left.
    pub left: u64,
    /// The erasure's place in the ledger.
    pub ledger: LedgerBody,
}

/// A timeline that goes on from the one that is erased on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ErasureForkBody {
    /// The timeline.
    pub timeline_id: String,
    /// Whether you may erase there.
    pub may_erase: bool,
}

/// One event as it was recorded, and where.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EventBody {
    /// The event's id.
    pub event_id: String,
    /// When it happened or started.
    pub time: Instant,
    /// What happened.
    pub description: String,
    /// Position of the ledger entry that created this version.
    pub position: u64,
    /// Who took part.
    pub actors: Option<Vec<String>>,
    /// States that hold while it lasts.
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else.
    pub attributes: Option<Map<String, Value>>,
    /// What it happened because of.
    pub causes: Option<Vec<CauseObject>>,
    /// When it ended.
    pub end_time: Option<Instant>,
    /// Where, on the earth: `lat`, `lon` and maybe `radius_m`.
    pub geo: Option<GeoRecord>,
    /// Whether it was `observed`, is `scheduled` or `predicted`.
    pub kind: Option<String>,
    /// Where, in words.
    pub location: Option<String>,
    /// A short title.
    pub name: Option<String>,
    /// How precisely the times are known.
    pub precision: Option<String>,
    /// The source's own number for the record.
    pub sequence: Option<u64>,
    /// Where the record came from.
    pub source: Option<String>,
    /// The timeline of that ledger, if this timeline was forked from it.
    pub timeline_id: Option<String>,
}

/// One event as it was recorded.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EventContentBody {
    /// The event's id.
    pub event_id: String,
    /// When it happened or started.
    pub time: Instant,
    /// What happened.
    pub description: String,
    /// Who took part.
    pub actors: Option<Vec<String>>,
    /// States that hold while it lasts.
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else.
    pub attributes: Option<Map<String, Value>>,
    /// What it happened because of.
    pub causes: Option<Vec<CauseObject>>,
    /// When it ended.
    pub end_time: Option<Instant>,
    /// Where, on the earth: `lat`, `lon` and maybe `radius_m`.
    pub geo: Option<GeoRecord>,
    /// Whether it was `observed`, is `scheduled` or `predicted`.
    pub kind: Option<String>,
    /// Where, in words.
    pub location: Option<String>,
    /// A short title.
    pub name: Option<String>,
    /// How precisely the times are known.
    pub precision: Option<String>,
    /// The source's own number for the record.
    pub sequence: Option<u64>,
    /// Where the record came from.
    pub source: Option<String>,
}

words! {
    /// How the event is known.
    EventKindWord {
        /// `observed`.
        Observed = "observed",
        /// `scheduled`.
        Scheduled = "scheduled",
        /// `predicted`.
        Predicted = "predicted",
    }
}

words! {
    /// Which events come first.
    EventOrder {
        /// `oldest`.
        Oldest = "oldest",
        /// `newest`.
        Newest = "newest",
    }
}

/// One event with its history.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EventReadBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The event's id.
    pub event_id: String,
    /// Whether it occurs, that is, is not cancelled.
    pub stands: bool,
    /// All its versions, oldest first.
    pub versions: Vec<VersionBody>,
    /// What was done to it, in order.
    pub interventions: Vec<InterventionBody>,
    /// The last position of the timeline's own ledger that is taken into account.
    pub as_of: Option<u64>,
    /// The event in its current version, if it occurs.
    pub event: Option<EventBody>,
}

/// An event to record. A field that is `null` counts as left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventRecord {
    /// When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    /// need a sign and six digits.
    pub time: Instant,
    /// Who took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actors: Option<Vec<String>>,
    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else, at most 65,536 bytes of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// Its causes. A cause can be recorded later than its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<Vec<CauseRecord>>,
    /// What happened, in a sentence or two. Defaults to empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ended: a timestamp like `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Instant>,
    /// The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    /// or digit. Defaults to a generated id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// Where, on the earth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<GeoRecord>,
    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKindWord>,
    /// Where, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// A short title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionWord>,
    /// The source's own sequence number for the record, without gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Where the record came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl EventRecord {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(time: Instant) -> Self {
        Self {
            time,
            actors: None,
            asserts: None,
            attributes: None,
            causes: None,
            description: None,
            end_time: None,
            event_id: None,
            geo: None,
            kind: None,
            location: None,
            name: None,
            precision: None,
            sequence: None,
            source: None,
        }
    }

    /// Who took part.
    #[must_use]
    pub fn actors(mut self, actors: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let actors: Vec<String> = actors.into_iter().map(Into::into).collect();
        self.actors = Some(actors);
        self
    }

    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[must_use]
    pub fn asserts(mut self, asserts: impl IntoIterator<Item = AssertionRecord>) -> Self {
        let asserts: Vec<AssertionRecord> = asserts.into_iter().collect();
        self.asserts = Some(asserts);
        self
    }

    /// Anything else, at most 65,536 bytes of JSON.
    #[must_use]
    pub fn attributes(mut self, attributes: Map<String, Value>) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Its causes. A cause can be recorded later than its effect.
    #[must_use]
    pub fn causes(mut self, causes: impl IntoIterator<Item = impl Into<CauseRecord>>) -> Self {
        let causes: Vec<CauseRecord> = causes.into_iter().map(Into::into).collect();
        self.causes = Some(causes);
        self
    }

    /// What happened, in a sentence or two. Defaults to empty.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description: String = description.into();
        self.description = Some(description);
        self
    }

    /// When it ended: a timestamp like `time`.
    #[must_use]
    pub fn end_time(mut self, end_time: Instant) -> Self {
        self.end_time = Some(end_time);
        self
    }

    /// The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    /// or digit. Defaults to a generated id.
    #[must_use]
    pub fn event_id(mut self, event_id: impl Into<String>) -> Self {
        let event_id: String = event_id.into();
        self.event_id = Some(event_id);
        self
    }

    /// Where, on the earth.
    #[must_use]
    pub fn geo(mut self, geo: GeoRecord) -> Self {
        self.geo = Some(geo);
        self
    }

    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[must_use]
    pub fn kind(mut self, kind: EventKindWord) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Where, in words.
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.location = Some(location);
        self
    }

    /// A short title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        self.name = Some(name);
        self
    }

    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[must_use]
    pub fn precision(mut self, precision: PrecisionWord) -> Self {
        self.precision = Some(precision);
        self
    }

    /// The source's own sequence number for the record, without gaps.
    #[must_use]
    pub fn sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Where the record came from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.source = Some(source);
        self
    }
}

/// An event to record. A field that is `null` counts as left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventToRecord {
    /// When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    /// need a sign and six digits.
    pub time: Instant,
    /// Who took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actors: Option<Vec<String>>,
    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else, at most 65,536 bytes of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// Its causes. A cause can be recorded later than its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<Vec<CauseRecord>>,
    /// What happened, in a sentence or two. Defaults to empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ended: a timestamp like `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Instant>,
    /// The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    /// or digit. Defaults to a generated id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// Where, on the earth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<GeoRecord>,
    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKindWord>,
    /// Where, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// A short title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionWord>,
    /// The source's own sequence number for the record, without gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Where the record came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline_id: Option<String>,
}

impl EventToRecord {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(time: Instant) -> Self {
        Self {
            time,
            actors: None,
            asserts: None,
            attributes: None,
            causes: None,
            description: None,
            end_time: None,
            event_id: None,
            geo: None,
            kind: None,
            location: None,
            name: None,
            precision: None,
            sequence: None,
            source: None,
            timeline_id: None,
        }
    }

    /// Who took part.
    #[must_use]
    pub fn actors(mut self, actors: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let actors: Vec<String> = actors.into_iter().map(Into::into).collect();
        self.actors = Some(actors);
        self
    }

    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[must_use]
    pub fn asserts(mut self, asserts: impl IntoIterator<Item = AssertionRecord>) -> Self {
        let asserts: Vec<AssertionRecord> = asserts.into_iter().collect();
        self.asserts = Some(asserts);
        self
    }

    /// Anything else, at most 65,536 bytes of JSON.
    #[must_use]
    pub fn attributes(mut self, attributes: Map<String, Value>) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Its causes. A cause can be recorded later than its effect.
    #[must_use]
    pub fn causes(mut self, causes: impl IntoIterator<Item = impl Into<CauseRecord>>) -> Self {
        let causes: Vec<CauseRecord> = causes.into_iter().map(Into::into).collect();
        self.causes = Some(causes);
        self
    }

    /// What happened, in a sentence or two. Defaults to empty.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description: String = description.into();
        self.description = Some(description);
        self
    }

    /// When it ended: a timestamp like `time`.
    #[must_use]
    pub fn end_time(mut self, end_time: Instant) -> Self {
        self.end_time = Some(end_time);
        self
    }

    /// The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter
    /// or digit. Defaults to a generated id.
    #[must_use]
    pub fn event_id(mut self, event_id: impl Into<String>) -> Self {
        let event_id: String = event_id.into();
        self.event_id = Some(event_id);
        self
    }

    /// Where, on the earth.
    #[must_use]
    pub fn geo(mut self, geo: GeoRecord) -> Self {
        self.geo = Some(geo);
        self
    }

    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[must_use]
    pub fn kind(mut self, kind: EventKindWord) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Where, in words.
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.location = Some(location);
        self
    }

    /// A short title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        self.name = Some(name);
        self
    }

    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[must_use]
    pub fn precision(mut self, precision: PrecisionWord) -> Self {
        self.precision = Some(precision);
        self
    }

    /// The source's own sequence number for the record, without gaps.
    #[must_use]
    pub fn sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Where the record came from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.source = Some(source);
        self
    }

    /// The timeline. Defaults to the API key's.
    #[must_use]
    pub fn timeline_id(mut self, timeline_id: impl Into<String>) -> Self {
        let timeline_id: String = timeline_id.into();
        self.timeline_id = Some(timeline_id);
        self
    }
}

/// One page of events, ordered by time, then position; or the other way round.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EventsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The events.
    pub events: Vec<EventBody>,
    /// How the location was resolved.
    pub location_resolved: ResolvedBody,
    /// Whether there is another page.
    pub has_more: bool,
    /// The last ledger position that all pages of this query take into account.
    pub as_of: Option<u64>,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
    /// The time up to which events were looked through, where the page ends because these were many: there is more to
    /// look through, with `next_cursor`.
    pub searched_to: Option<Instant>,
}

/// One event, or several.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventsRequest {
    /// An event to record. A field that is `null` counts as left out.
    EventToRecord(Box<EventToRecord>),
    /// Several events, all recorded or none.
    Several(Vec<EventRecord>),
}

impl From<EventToRecord> for EventsRequest {
    fn from(value: EventToRecord) -> Self {
        Self::EventToRecord(Box::new(value))
    }
}

impl From<Vec<EventRecord>> for EventsRequest {
    fn from(value: Vec<EventRecord>) -> Self {
        Self::Several(value)
    }
}

/// A rule of iCalendar.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EveryBody {
    /// The rule.
    pub rule: String,
    /// From when on it counts.
    pub starts: String,
    /// The time zone on whose calendar it counts.
    pub zone: String,
}

/// A rule of iCalendar.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EveryRequest {
    /// The rule: an RRULE of RFC 5545, with `SKIP` of RFC 7529.
    pub rule: String,
    /// From when on the rule counts. Defaults to what the clock shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<Instant>,
    /// The time zone on whose calendar the rule counts. Defaults to `UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl EveryRequest {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(rule: impl Into<String>) -> Self {
        let rule: String = rule.into();
        Self { rule, starts: None, zone: None }
    }

    /// From when on the rule counts. Defaults to what the clock shows.
    #[must_use]
    pub fn starts(mut self, starts: Instant) -> Self {
        self.starts = Some(starts);
        self
    }

    /// The time zone on whose calendar the rule counts. Defaults to `UTC`.
    #[must_use]
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        let zone: String = zone.into();
        self.zone = Some(zone);
        self
    }
}

words! {
    /// How exported events are written.
    ExportFormat {
        /// `ndjson`.
        Ndjson = "ndjson",
        /// `csv`.
        Csv = "csv",
        /// `geojson`.
        Geojson = "geojson",
        /// `icalendar`.
        Icalendar = "icalendar",
    }
}

/// Firings that are kept for longer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ExtendedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The firings, in the order in which they were named.
    pub firings: Vec<ExtendedFiringBody>,
}

/// A firing that is kept for longer, or was lost.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ExtendedFiringBody {
    /// The id of the firing.
    pub firing_id: String,
    /// `leased`, or `lost` if it is not yours any more.
    pub state: String,
    /// Host time until which it is yours.
    pub leased_until: Option<Instant>,
}

/// What is wrong with a clock. At least one of `offset`, `drift_ppm`, `jitter` and `leap` is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Default)]
#[non_exhaustive]
pub struct FaultBody {
    /// By how many millionths it is too fast; too slow where it is negative. From -100000 to 100000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<i64>,
    /// How far it strays to each side in host time, as `offset`: each second to another value. At most `250ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<String>,
    /// What the jitter is drawn from: the same number strays in the same way. Needs `jitter`. Defaults to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_seed: Option<u64>,
    /// A leap second that nobody else knows of: after `insert@` a second that comes twice, after `delete@` one that
    /// does not come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leap: Option<String>,
    /// Over how much virtual time the leap second is smeared: from `10s` to `10d`. Needs `leap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leap_smear: Option<String>,
    /// How far it is ahead, as a duration without months, or in `ms` or `us`; behind, with a `-` before it. It stays
    /// so through jumps and pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// By how many it is slewed from the offset to the right time. In place of `slew_ppm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slew_back_ppm: Option<u32>,
    /// By how many millionths of the virtual time that passes it is slewed to the offset, which it does not have when
    /// it begins. From 1 to 100000. Needs `offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slew_ppm: Option<u32>,
}

impl FaultBody {
    /// Creates one with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// By how many millionths it is too fast; too slow where it is negative. From -100000 to 100000.
    #[must_use]
    pub fn drift_ppm(mut self, drift_ppm: i64) -> Self {
        self.drift_ppm = Some(drift_ppm);
        self
    }

    /// How far it strays to each side in host time, as `offset`: each second to another value. At most `250ms`.
    #[must_use]
    pub fn jitter(mut self, jitter: impl Into<String>) -> Self {
        let jitter: String = jitter.into();
        self.jitter = Some(jitter);
        self
    }

    /// What the jitter is drawn from: the same number strays in the same way. Needs `jitter`. Defaults to 0.
    #[must_use]
    pub fn jitter_seed(mut self, jitter_seed: u64) -> Self {
        self.jitter_seed = Some(jitter_seed);
        self
    }

    /// A leap second that nobody else knows of: after `insert@` a second that comes twice, after `delete@` one that
    /// does not come.
    #[must_use]
    pub fn leap(mut self, leap: impl Into<String>) -> Self {
        let leap: String = leap.into();
        self.leap = Some(leap);
        self
    }

    /// Over how much virtual time the leap second is smeared: from `10s` to `10d`. Needs `leap`.
    #[must_use]
    pub fn leap_smear(mut self, leap_smear: impl Into<String>) -> Self {
        let leap_smear: String = leap_smear.into();
        self.leap_smear = Some(leap_smear);
        self
    }

    /// How far it is ahead, as a duration without months, or in `ms` or `us`; behind, with a `-` before it. It stays
    /// so through jumps and pauses.
    #[must_use]
    pub fn offset(mut self, offset: impl Into<String>) -> Self {
        let offset: String = offset.into();
        self.offset = Some(offset);
        self
    }

    /// By how many it is slewed from the offset to the right time. In place of `slew_ppm`.
    #[must_use]
    pub fn slew_back_ppm(mut self, slew_back_ppm: u32) -> Self {
        self.slew_back_ppm = Some(slew_back_ppm);
        self
    }

    /// By how many millionths of the virtual time that passes it is slewed to the offset, which it does not have when
    /// it begins. From 1 to 100000. Needs `offset`.
    #[must_use]
    pub fn slew_ppm(mut self, slew_ppm: u32) -> Self {
        self.slew_ppm = Some(slew_ppm);
        self
    }
}

/// How followers of one name show the clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FaultSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// What the followers are called.
    pub name: String,
    /// Whose followers they are.
    pub user_id: String,
    /// The place of the change in the ledger.
    pub ledger: LedgerBody,
    /// What is wrong with the clock that they show. Absent if it is right.
    pub fault: Option<FaultBody>,
}

words! {
    /// How a file with events is written.
    FileFormat {
        /// `ndjson`.
        Ndjson = "ndjson",
        /// `json`.
        Json = "json",
        /// `logfmt`.
        Logfmt = "logfmt",
        /// `csv`.
        Csv = "csv",
        /// `geojson`.
        Geojson = "geojson",
        /// `cloudevents`.
        Cloudevents = "cloudevents",
        /// `icalendar`.
        Icalendar = "icalendar",
        /// `zipkin`.
        Zipkin = "zipkin",
        /// `jaeger`.
        Jaeger = "jaeger",
        /// `otlp`.
        Otlp = "otlp",
        /// `git`.
        Git = "git",
    }
}

/// One thing that does not match what was signed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FindingBody {
    /// What kind of difference, such as `leaf-mismatch`.
    pub kind: String,
    /// What was found, and what should have been there.
    pub evidence: String,
    /// Size of the largest earlier checkpoint known to be good.
    pub last_good_checkpoint: Option<u64>,
    /// The first entry affected, counted from 0; for a checkpoint, its size.
    pub position: Option<u64>,
}

/// One moment of a timer that fell due.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FiringBody {
    /// The id of the firing.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The moment at which it fell due.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    pub state: String,
    /// The event that it recorded, if its timer records events.
    pub event_id: Option<String>,
    /// The queue that it waits in: `timenav:webhook` if the service sends it. Absent if it is recorded as an event.
    pub queue: Option<String>,
    /// Why it failed.
    pub reason: Option<String>,
}

/// A moment of a timer that came to another outcome.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FiringDifferenceBody {
    /// The timer.
    pub timer_id: String,
    /// The moment.
    pub due: Instant,
    /// `only_in_a`, `only_in_b`, or `differs`.
    pub change: String,
    /// The firing on `a`, if it fell due there.
    pub a: Option<FiringBody>,
    /// The firing on `b`, if it fell due there.
    pub b: Option<FiringBody>,
}

/// How a firing stands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FiringStateBody {
    /// The id of the firing.
    pub firing_id: String,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    pub state: String,
}

words! {
    /// What came of a firing.
    FiringStateWord {
        /// `pending`.
        Pending = "pending",
        /// `acknowledged`.
        Acknowledged = "acknowledged",
        /// `failed`.
        Failed = "failed",
        /// `superseded`.
        Superseded = "superseded",
    }
}

/// One page of firings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FiringsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The firings, in the order in which they fell due.
    pub firings: Vec<FiringBody>,
    /// Whether there may be another page. One that looked through many firings may have fewer than `limit`, or none.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// How firings stand.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FiringsSettledBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The firings, in the order in which they were named.
    pub firings: Vec<FiringStateBody>,
    /// Their place in the ledger. Absent if they are tried again.
    pub ledger: Option<LedgerBody>,
}

/// Somebody who follows a clock under a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FollowerBody {
    /// The id of the follower. It has another one each time it connects.
    pub follower_id: String,
    /// What it is called. Several may have the same name.
    pub name: String,
    /// Who follows.
    pub user_id: String,
    /// `current` if it has confirmed the newest change, `behind` if it has not, `away` if its stream has ended.
    pub state: String,
    /// Host time since which its stream is open.
    pub since: Instant,
    /// Whether it confirms the steps of advances. Firings of an instant wait for it then.
    pub steps: bool,
    /// Host time at which it confirmed that.
    pub confirmed_at: Option<Instant>,
    /// How it is to show the clock wrong. Absent if it is to show it right.
    pub fault: Option<FaultBody>,
    /// The newest generation of the clock that it has confirmed. Absent if it has confirmed none.
    pub generation: Option<u64>,
    /// The name of its host, if it told one (`Timenav-Host`). Known where its stream is open: of several services
    /// that share a database, the others do not tell it.
    pub host: Option<String>,
    /// Host time at which its stream ended.
    pub left_at: Option<Instant>,
    /// The id of its process on that host, or in its container, if it told one (`Timenav-Process`).
    pub process: Option<u32>,
    /// The newest step that it has confirmed of the advance of that generation.
    pub step: Option<u64>,
    /// How long it took from the newest change of the clock, or the newest step of an advance, until it confirmed
    /// that, as a duration of host time; from the opening of its stream if that was later. Absent if it has not
    /// confirmed it.
    pub took: Option<String>,
}

/// The followers of a clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct FollowersBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The generation of the clock.
    pub generation: u64,
    /// The followers: those that are there in the order in which they came, then those that went away in the last
    /// minute. Users who may not write to the timeline see their own.
    pub followers: Vec<FollowerBody>,
    /// `true` while the services that share the database do not all know what followers of others confirm: those that
    /// are connected to them are not listed. `timenav upgrade --finish` ends it.
    pub only_here: Option<bool>,
}

/// What a fork was forked from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ForkBody {
    /// The other timeline.
    pub of: String,
    /// How many of its entries are shared.
    pub size: u64,
    /// `true` if webhooks of timers that came along are sent. Absent otherwise.
    pub deliver_webhooks: Option<bool>,
}

/// Entries of reads, one after the other in the log, that no longer say who read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct GapBody {
    /// `pruned` if retention no longer kept them, `erased` if somebody erased single reads of them.
    pub reason: String,
    /// How many entries.
    pub entries: u64,
    /// The lowest ledger position.
    pub first_position: u64,
    /// The highest ledger position.
    pub last_position: u64,
    /// Host time when the first of them was recorded.
    pub from: Instant,
    /// Host time when the last of them was recorded.
    pub to: Instant,
    /// Of what was pruned, the policy that was in force when it was recorded. If there was none, nothing allows that
    /// these contents are missing: scan the timeline.
    pub policy: Option<GapPolicyBody>,
    /// How many reads, if they were erased. What was pruned no longer says how many reads it was.
    pub reads: Option<u64>,
}

/// How long reads are kept, and since which entry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct GapPolicyBody {
    /// The ledger position of its `set_retention`.
    pub position: u64,
    /// How long the contents of reads are kept; null keeps them forever, until a later policy applied to them.
    pub reads: Option<String>,
}

/// A point on the earth (WGS 84), and how far around it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct GeoRecord {
    /// Degrees north, negative south.
    pub lat: f64,
    /// Degrees east, negative west.
    pub lon: f64,
    /// The radius of the circle in which it happened, in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius_m: Option<f64>,
}

impl GeoRecord {
    /// Creates one with what is required.
    #[must_use]
    pub fn new(lat: f64, lon: f64) -> Self {
        Self { lat, lon, radius_m: None }
    }

    /// The radius of the circle in which it happened, in metres.
    #[must_use]
    pub fn radius_m(mut self, radius_m: f64) -> Self {
        self.radius_m = Some(radius_m);
        self
    }
}

/// Events that have something in common.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct GroupBody {
    /// What that is: the time with which it begins, the box `west,south,east,north`, the actor, the source or the
    /// value.
    pub key: String,
    /// How many events there are.
    pub count: u64,
    /// When the first one happens.
    pub first: Instant,
    /// When the last one happens.
    pub last: Instant,
    /// Where the next group of `time` begins.
    pub until: Option<Instant>,
}

/// A timeline that was handed over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HandedOverBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The place of its last entry.
    pub ledger: LedgerBody,
}

/// A timeline's latest signed tree.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HeadBody {
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The signed note over both.
    pub checkpoint: String,
}

/// The proof that `system` is committed to the tree of a timeline (docs/ledger-format-2.md §10).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HeadProofBody {
    /// Which of the heads it is, counted from 0.
    pub index: u64,
    /// How many heads the entry commits to.
    pub count: u64,
    /// The hashes from the timeline's checkpoint text to the root of the heads.
    pub hashes: Vec<String>,
    /// The position of the entry `heads` on `system`.
    pub position: u64,
    /// The text of that entry.
    pub leaf: String,
    /// The hashes from that entry to the root of the cosigned tree.
    pub system_hashes: Vec<String>,
}

/// A head statement (docs/ledger-format-2.md §4): the access-relevant state of a timeline, signed with its latest
/// entries.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HeadStatementBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The name of the ledger and of the key.
    pub origin: String,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The hash over clock, counts, permissions and fork, and on `system` over all users, keys, passwords and
    /// sessions: 64 hexadecimal digits.
    pub state_hash: String,
    /// The signed statement. It is not a checkpoint: two of the same size prove nothing.
    pub head_statement: String,
    /// The key that verifies it, as C2SP signed-note writes keys.
    pub verifier_key: String,
}

/// A lease of yours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HeldBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The lease.
    pub lease: LeaseBody,
}

words! {
    /// How far a key sees.
    HorizonWord {
        /// `clock`.
        Clock = "clock",
    }
}

/// What became of the import's events.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ImportUndoneBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// How many events this request cancelled.
    pub undone: u64,
    /// How many events of these stay because they changed after the import.
    pub kept: u64,
    /// The place of the last cancellation in the ledger.
    pub ledger: LedgerBody,
    /// What is left of an import of more than 10,000 events: send it as `import_id`. Absent if nothing is left.
    pub rest: Option<String>,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ImportedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Events that are new.
    pub taken: u64,
    /// Events that were already recorded with the same content.
    pub unchanged: u64,
    /// Records that were refused.
    pub refused: u64,
    /// The first of them, with the reason.
    pub refusals: Vec<RefusalBody>,
    /// The place of the last new event in the ledger.
    pub ledger: LedgerBody,
    /// `true` where nothing was recorded, and the counts are of what would be. Absent otherwise.
    pub dry_run: Option<bool>,
    /// What `undo-import` takes to undo this import. Absent if no event is new.
    pub import_id: Option<String>,
    /// How many of these there are, if any.
    pub noted: Option<u64>,
    /// The first records that were imported, but not fully, and why.
    pub notes: Option<Vec<NoteBody>>,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
}

/// Something that was done to an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InterventionBody {
    /// The id of the intervention.
    pub intervention_id: String,
    /// The event.
    pub event_id: String,
    /// What was done, in the words of whoever intervened.
    pub action: String,
    /// The virtual moment of the intervention.
    pub time: Instant,
    /// What was done.
    pub effect: EffectBody,
    /// Whether the event occurred before.
    pub stood: bool,
    /// Whether it changed the event.
    pub changed: bool,
    /// Position of the ledger entry.
    pub position: u64,
    /// Who intervened.
    pub actor: String,
    /// When, in host time.
    pub recorded_at: Instant,
    /// The anchor that was returned to, if that caused it.
    pub anchor_id: Option<String>,
    /// What it happened because of.
    pub causes: Option<Vec<CauseObject>>,
    /// The import that was undone, if that caused it.
    pub import_id: Option<String>,
    /// The timeline whose ledger this position refers to; absent in messages of `GET /v1/stream`, which name it.
    pub timeline_id: Option<String>,
}

/// One key, without its secret.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct KeyBody {
    /// The public id of the key.
    pub key_id: String,
    /// The user it belongs to.
    pub user_id: String,
    /// The timeline it is bound to.
    pub timeline_id: String,
    /// What it is for.
    pub label: String,
    /// Host time when it was created.
    pub created_at: Instant,
    /// Host time when it expires.
    pub expires_at: Option<Instant>,
    /// `clock` if the key sees no later than the clock shows.
    pub horizon: Option<String>,
    /// The last position of its timeline's ledger that the key knows.
    pub known_at: Option<u64>,
    /// Host time when it was revoked.
    pub revoked_at: Option<Instant>,
    /// What it can be used for; absent for everything the user can do.
    pub scopes: Option<Vec<String>>,
}

/// A key that was created.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct KeyMadeBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The public id of the key.
    pub key_id: String,
    /// The user it belongs to.
    pub user_id: String,
    /// The timeline it is bound to.
    pub timeline_id: String,
    /// Its place in the ledger of `system`.
    pub ledger: LedgerBody,
    /// The key. The service does not keep it, so it is never shown again; absent from the response to a repeated
    /// request.
    pub api_key: Option<String>,
    /// `clock` if the key sees no later than the clock shows.
    pub horizon: Option<String>,
    /// The last position of its timeline's ledger that the key knows.
    pub known_at: Option<u64>,
}

words! {
    /// What an API key can be used for.
    KeyScope {
        /// `timeline:read`.
        TimelineRead = "timeline:read",
        /// `timeline:write`.
        TimelineWrite = "timeline:write",
        /// `timeline:admin`.
        TimelineAdmin = "timeline:admin",
        /// `operator`.
        Operator = "operator",
    }
}

/// A key that was revoked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct KeyStoppedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The key.
    pub key_id: String,
    /// Its place in the ledger of `system`.
    pub ledger: LedgerBody,
}

/// One page of keys, newest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct KeysBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The keys.
    pub api_keys: Vec<KeyBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// How far deliveries are behind a clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LagBody {
    /// How many firings have no outcome.
    pub pending: u64,
    /// The moment of the one that has waited longest.
    pub oldest: Instant,
    /// How far the clock is past that moment, as a duration.
    pub behind: String,
}

/// A lease that holds the clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LeaseBody {
    /// The id of the lease.
    pub lease_id: String,
    /// The user whose lease it is.
    pub owner: String,
    /// Why, in their words.
    pub reason: String,
    /// Host time until which it lasts.
    pub until: Instant,
}

/// What holds the clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LeasesBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The leases, the one that ends next first.
    pub leases: Vec<LeaseBody>,
}

/// The place of a write in its timeline's ledger, and the signed tree that contains it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LedgerBody {
    /// Position of the last entry the request wrote, counted from 0.
    pub position: u64,
    /// Entries in the signed tree.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntryBody {
    /// Its position in the ledger, counted from 0.
    pub position: u64,
    /// The text whose hash is the leaf.
    pub leaf: String,
    /// Whether salt and payload are included (`shown`), are gone (`erased`), or are visible only to admins of the
    /// timeline (`admins_only`). Whether they were erased or pruned, a later entry shows: those of reads and refusals
    /// are pruned.
    pub contents: String,
    /// The JSON text that is hashed after the salt.
    pub payload: Option<String>,
    /// The salt in hexadecimal digits; empty if single reads were erased from the payload.
    pub salt: Option<String>,
}

/// Every limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LimitsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The limits by name. Names end in the unit and `max`, `min` or `default`.
    pub limits: Map<String, Value>,
    /// How this service is among others on one database. Only with PostgreSQL.
    pub replica: Option<ReplicaBody>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LogBody {
    /// The acting user; `unknown` if the caller could not be identified.
    pub user_id: String,
    /// What was done.
    pub action: String,
    /// Host time when it was done.
    pub timestamp: Instant,
    /// What it was done to.
    pub subject: String,
    /// The ledger position of its entry.
    pub position: u64,
    /// What the timeline's clock showed, if you can read clocks.
    pub clock_time: Option<Instant>,
    /// The number of the read within the entry, counted from 0. Reads at the same moment share an entry.
    pub index: Option<u32>,
}

/// What was done to an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ManipulatedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The event's id.
    pub event_id: String,
    /// What was done.
    pub effect: EffectBody,
    /// Events that require the event, directly or indirectly, nearest first: at most 100.
    pub downstream: Vec<String>,
    /// How many there are, counted up to 10,000.
    pub downstream_count: u64,
    /// Paradoxes that this creates.
    pub paradoxes_made: Vec<ParadoxBody>,
    /// Paradoxes that this resolves.
    pub paradoxes_healed: Vec<ParadoxBody>,
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
    /// The event in its current version, if it occurs.
    pub after: Option<EventContentBody>,
    /// The event before the intervention, if it occurred.
    pub before: Option<EventContentBody>,
    /// The id of the intervention; absent after a dry run.
    pub intervention_id: Option<String>,
    /// The intervention's place in the ledger; absent after a dry run.
    pub ledger: Option<LedgerBody>,
}

words! {
    /// What becomes of moments of a rule that come together.
    MisfireWord {
        /// `all`.
        All = "all",
        /// `once`.
        Once = "once",
        /// `skip`.
        Skip = "skip",
    }
}

/// A record that was imported, but not fully.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct NoteBody {
    /// Its line.
    pub line: u64,
    /// A stable word for what was not done: `recurrence_kept`, `time_in_part` or `line_left_out`.
    pub code: String,
    /// What was not done, and what was.
    pub detail: String,
}

words! {
    /// What happens if an intervention creates a paradox.
    OnParadoxWord {
        /// `tell`.
        Tell = "tell",
        /// `refuse`.
        Refuse = "refuse",
    }
}

words! {
    /// Which entries come first.
    OrderBody {
        /// `oldest`.
        Oldest = "oldest",
        /// `newest`.
        Newest = "newest",
    }
}

/// A paradox, or an observation about the data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ParadoxBody {
    /// The code of the kind, such as `P01`.
    pub code: String,
    /// The name of the kind, such as `effect_before_cause`.
    pub kind: String,
    /// `definite` or `possible`; for duplicates `exact` or `probable`, for jumps of clocks whether explained.
    pub grade: String,
    /// `critical`, `high`, `medium` or `low`.
    pub severity: String,
    /// Whether it is only an observation about the data.
    pub is_observation: bool,
    /// The events, interventions and firings of timers involved, in order.
    pub events: Vec<String>,
    /// The evidence. Its fields depend on the kind; if a cause is a firing, `timer` says of which timer.
    pub witness: Map<String, Value>,
    /// An explanation in a sentence.
    pub explanation: String,
    /// Position of the first ledger entry involved.
    pub first: u64,
    /// Position of the last ledger entry involved: the paradox exists since then.
    pub since: u64,
    /// A key that stays the same while the paradox exists.
    pub key: String,
}

/// One page of paradoxes, ordered by the first record that shows them, then by code.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ParadoxesBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The paradoxes.
    pub paradoxes: Vec<ParadoxBody>,
    /// How many there are on all pages.
    pub total: u64,
    /// How many of each kind there are on the whole timeline, by code, definite or possible.
    pub counts: Map<String, Value>,
    /// The same for observations about the data, which are not paradoxes.
    pub observations: Map<String, Value>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The last ledger position that all pages of this query take into account.
    pub as_of: Option<u64>,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// A password that was set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PasswordSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The user whose password it is.
    pub user_id: String,
}

/// When permissions expire. Each user named must be in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct PermissionEnds {
    /// When admin access expires, by user id; `null` for never. At least one admin must have no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<std::collections::BTreeMap<String, Instant>>,
    /// When read access expires, by user id; `null` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<std::collections::BTreeMap<String, Instant>>,
    /// When write access expires, by user id; `null` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<std::collections::BTreeMap<String, Instant>>,
}

impl PermissionEnds {
    /// Creates one with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// When admin access expires, by user id; `null` for never. At least one admin must have no end.
    #[must_use]
    pub fn admin(mut self, admin: impl IntoIterator<Item = (impl Into<String>, Instant)>) -> Self {
        let admin: std::collections::BTreeMap<String, Instant> =
            admin.into_iter().map(|(key, value)| (key.into(), value)).collect();
        self.admin = Some(admin);
        self
    }

    /// When read access expires, by user id; `null` for never.
    #[must_use]
    pub fn read(mut self, read: impl IntoIterator<Item = (impl Into<String>, Instant)>) -> Self {
        let read: std::collections::BTreeMap<String, Instant> =
            read.into_iter().map(|(key, value)| (key.into(), value)).collect();
        self.read = Some(read);
        self
    }

    /// When write access expires, by user id; `null` for never.
    #[must_use]
    pub fn write(mut self, write: impl IntoIterator<Item = (impl Into<String>, Instant)>) -> Self {
        let write: std::collections::BTreeMap<String, Instant> =
            write.into_iter().map(|(key, value)| (key.into(), value)).collect();
        self.write = Some(write);
        self
    }
}

/// When permissions expire, in host time. Whoever is in a list and not named here keeps the permission.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PermissionEndsBody {
    /// When admin access expires, by user id.
    pub admin: Option<std::collections::BTreeMap<String, String>>,
    /// When read access expires, by user id.
    pub read: Option<std::collections::BTreeMap<String, String>>,
    /// When write access expires, by user id.
    pub write: Option<std::collections::BTreeMap<String, String>>,
}

/// How long permissions last. Each user named must be in the list, and not in `expires_at`.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct PermissionSpans {
    /// How long admin access lasts, by user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<std::collections::BTreeMap<String, Length>>,
    /// How long read access lasts, by user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<std::collections::BTreeMap<String, Length>>,
    /// How long write access lasts, by user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<std::collections::BTreeMap<String, Length>>,
}

impl PermissionSpans {
    /// Creates one with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long admin access lasts, by user id.
    #[must_use]
    pub fn admin(mut self, admin: impl IntoIterator<Item = (impl Into<String>, impl Into<Length>)>) -> Self {
        let admin: std::collections::BTreeMap<String, Length> =
            admin.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.admin = Some(admin);
        self
    }

    /// How long read access lasts, by user id.
    #[must_use]
    pub fn read(mut self, read: impl IntoIterator<Item = (impl Into<String>, impl Into<Length>)>) -> Self {
        let read: std::collections::BTreeMap<String, Length> =
            read.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.read = Some(read);
        self
    }

    /// How long write access lasts, by user id.
    #[must_use]
    pub fn write(mut self, write: impl IntoIterator<Item = (impl Into<String>, impl Into<Length>)>) -> Self {
        let write: std::collections::BTreeMap<String, Length> =
            write.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.write = Some(write);
        self
    }
}

/// The three lists of a timeline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PermissionsBody {
    /// Users with read access.
    pub read: Vec<String>,
    /// Users with write access.
    pub write: Vec<String>,
    /// Users with admin access.
    pub admin: Vec<String>,
    /// Host times when permissions expire; absent if none does. What has expired is listed until it is taken out.
    pub expires_at: Option<PermissionEndsBody>,
}

/// Lists of user ids.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct PermissionsRequest {
    /// Users with admin access, which includes the others. At least one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<Vec<String>>,
    /// When permissions expire, in host time. Whoever stays in a list and is not named here keeps the end they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<PermissionEnds>,
    /// As `expires_at`, counted from now: how long permissions last, in host time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<PermissionSpans>,
    /// Users with read access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Users with write access, which includes read access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
}

impl PermissionsRequest {
    /// Creates one with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Users with admin access, which includes the others. At least one.
    #[must_use]
    pub fn admin(mut self, admin: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let admin: Vec<String> = admin.into_iter().map(Into::into).collect();
        self.admin = Some(admin);
        self
    }

    /// When permissions expire, in host time. Whoever stays in a list and is not named here keeps the end they have.
    #[must_use]
    pub fn expires_at(mut self, expires_at: PermissionEnds) -> Self {
        self.expires_at = Some(expires_at);
        self
    }

    /// As `expires_at`, counted from now: how long permissions last, in host time.
    #[must_use]
    pub fn expires_in(mut self, expires_in: PermissionSpans) -> Self {
        self.expires_in = Some(expires_in);
        self
    }

    /// Users with read access.
    #[must_use]
    pub fn read(mut self, read: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let read: Vec<String> = read.into_iter().map(Into::into).collect();
        self.read = Some(read);
        self
    }

    /// Users with write access, which includes read access.
    #[must_use]
    pub fn write(mut self, write: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let write: Vec<String> = write.into_iter().map(Into::into).collect();
        self.write = Some(write);
        self
    }
}

words! {
    /// How precisely a time is known.
    PrecisionWord {
        /// `year`.
        Year = "year",
        /// `month`.
        Month = "month",
        /// `day`.
        Day = "day",
        /// `hour`.
        Hour = "hour",
        /// `minute`.
        Minute = "minute",
        /// `second`.
        Second = "second",
    }
}

/// A proof against the latest checkpoint.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ProofBody {
    /// What the proof shows, in a sentence.
    pub status: String,
    /// Whether the proof is of `inclusion` or `consistency`, or of inclusion that witnesses vouch for: `witnessed`.
    pub kind: String,
    /// The hashes of the proof (RFC 9162 §2.1.3, §2.1.4), 64 hexadecimal digits each.
    pub hashes: Vec<String>,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The signed note over size and root. If witnessed: the cosigned note of `system`.
    pub checkpoint: String,
    /// The key that verifies it, as C2SP signed-note writes keys.
    pub verifier_key: String,
    /// For consistency: the size of the earlier tree.
    pub from: Option<u64>,
    /// For consistency: its root.
    pub from_root: Option<String>,
    /// If witnessed, and not of `system` itself: the proof that `system` is committed to size and root.
    pub head: Option<HeadProofBody>,
    /// For inclusion: the text whose hash is the leaf.
    pub leaf: Option<String>,
    /// For inclusion: the hash of the leaf.
    pub leaf_hash: Option<String>,
    /// If witnessed: the name of the timeline's ledger.
    pub origin: Option<String>,
    /// For inclusion: the position of the entry.
    pub position: Option<u64>,
    /// As `cose`: the COSE receipt (RFC 9942), in base64. Its header `timenav-leaf` holds the entry; for consistency,
    /// `timenav-from-root` holds the root of the earlier tree.
    pub receipt: Option<String>,
    /// If witnessed: when each witness cosigned the checkpoint, by name, in seconds since 1970.
    pub witnesses: Option<std::collections::BTreeMap<String, u64>>,
}

words! {
    /// How a proof is written.
    ProofFormat {
        /// `json`.
        Json = "json",
        /// `tlog-proof`.
        TlogProof = "tlog-proof",
        /// `cose`.
        Cose = "cose",
    }
}

/// What was pruned, and why not more.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PrunedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Whether this was a dry run, which prunes nothing.
    pub dry_run: bool,
    /// What is in force.
    pub retention: RetentionBody,
    /// How many payloads were pruned.
    pub let_go: u64,
    /// Whether there may be more: send the request again.
    pub has_more: bool,
    /// The sweep's place in the ledger; absent if there was none.
    pub ledger: Option<LedgerBody>,
    /// What was pruned; absent if nothing was due.
    pub sweep: Option<SweepBody>,
    /// Why nothing is pruned although it may be due; absent if nothing prevents it.
    pub waits_for: Option<String>,
    /// After a dry run: what the next sweep would prune; absent if nothing is due.
    pub would_let_go: Option<WouldLetGoBody>,
}

/// Shows that one read is among those of an entry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReadProofBody {
    /// How many reads the entry has.
    pub count: u64,
    /// The hashes from the read to the entry's payload hash.
    pub hashes: Vec<String>,
    /// The number of the read, counted from 0.
    pub index: u64,
    /// The read, as it is hashed after the salt.
    pub read: Map<String, Value>,
    /// Its salt in hexadecimal digits.
    pub salt: String,
}

/// What came of an advance.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReceiptBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// What fired, and what came of it.
    pub settled: SettledBody,
}

/// Events that were recorded.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RecordedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The ids, in the order given.
    pub event_ids: Vec<String>,
    /// The place of the last one in the ledger; the others come right before it.
    pub ledger: LedgerBody,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
}

/// One refused record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RefusalBody {
    /// Its line, or for `GeoJSON` the number of the feature, counted from 1.
    pub line: u64,
    /// A stable code for the error.
    pub code: String,
    /// What would be right.
    pub detail: String,
    /// The field it is about, if any.
    pub field: Option<String>,
}

/// A lease that has ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReleasedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The id of the lease.
    pub lease_id: String,
}

/// How this service is among others on one PostgreSQL database.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReplicaBody {
    /// The name of this replica.
    pub name: String,
    /// The connections to the database.
    pub connections: ReplicaConnectionsBody,
    /// How often something was decided again since the start because another service wrote first.
    pub retries: u64,
    /// How many commits lost their answer since the start, so that the service had to find out what became of them.
    pub commits_unanswered: u64,
    /// For how many groups of changes it could not find out, so that they were answered `outcome_unknown`.
    pub outcomes_unknown: u64,
    /// The clock of this host, compared with the database's. Left out if they are not compared.
    pub clock: Option<ReplicaClockBody>,
    /// The ledger that stopped this service, because the database has lost or replaced entries of it.
    pub diverged: Option<DivergedBody>,
    /// How many entries of other services were not known here when it was last compared. Left out without
    /// `--replicas`.
    pub lag_positions: Option<u64>,
    /// Seconds since then. Left out without `--replicas`.
    pub lag_seconds: Option<f64>,
}

/// The clock of this host, compared with the database's.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReplicaClockBody {
    /// How far it is ahead, in seconds; negative if it is behind.
    pub offset_seconds: f64,
    /// How far that may be off, in seconds.
    pub uncertainty_seconds: f64,
    /// How far it is behind the newest entry of `system`, in seconds.
    pub behind_newest_seconds: f64,
    /// How far either may be before the service is not ready, in seconds.
    pub max_seconds: f64,
}

/// The connections to the database.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ReplicaConnectionsBody {
    /// How many there can be.
    pub max: u64,
    /// How many are open.
    pub open: u64,
    /// How many are in use.
    pub in_use: u64,
    /// How many requests are waiting for one.
    pub waiting: u64,
    /// How many were made since the start.
    pub made: u64,
}

/// How a location was resolved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ResolvedBody {
    /// `anywhere`, `near`, `box`, `area` or `text`; `event` for an event and what happened at its place.
    pub kind: String,
    /// West, south, east, north in degrees, for `box`.
    pub bbox: Option<Vec<f64>>,
    /// The event, for `event`.
    pub event_id: Option<String>,
    /// Whether the name may mean another place.
    pub is_ambiguous: Option<bool>,
    /// The middle, for `near`.
    pub lat: Option<f64>,
    /// The middle, for `near`.
    pub lon: Option<f64>,
    /// Known places with a similar spelling, if nothing was found.
    pub near_spellings: Option<Vec<String>>,
    /// Other places that the name may mean, most likely first.
    pub others: Option<Vec<String>>,
    /// The known place and its region. Events whose own location is the text are found too.
    pub place: Option<String>,
    /// The radius in metres, for `near`.
    pub radius_m: Option<f64>,
    /// For `text`, the text of the events' own location; for `area`, the area, such as `country:FR`.
    pub text: Option<String>,
}

/// A restriction that was set or lifted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RestrictedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The user.
    pub user_id: String,
    /// The level in force.
    pub restriction_level: String,
    /// Its place in the ledger of `system`.
    pub ledger: LedgerBody,
}

/// One restriction.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RestrictionBody {
    /// The user.
    pub user_id: String,
    /// The level in force.
    pub restriction_level: String,
}

words! {
    /// `full_access` lifts a restriction; `limited_access` allows only moments near host time; `read_only` allows
    /// only reading; `no_access` not even that.
    RestrictionLevel {
        /// `full_access`.
        FullAccess = "full_access",
        /// `limited_access`.
        LimitedAccess = "limited_access",
        /// `read_only`.
        ReadOnly = "read_only",
        /// `no_access`.
        NoAccess = "no_access",
    }
}

/// Every restriction.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RestrictionsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The restrictions, by user. Users not listed have `full_access`.
    pub restrictions: Vec<RestrictionBody>,
}

/// How long the contents of reads and refusals are kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RetentionBody {
    /// For reads; null keeps them forever.
    pub reads: Option<String>,
    /// For refused attempts; null keeps them forever.
    pub refusals: Option<String>,
}

/// A retention that was set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RetentionSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// What applies now. A shorter time applies to what is recorded from now on.
    pub retention: RetentionBody,
    /// Its place in the ledger.
    pub ledger: LedgerBody,
}

/// One page of events, ordered by time or newest first, with what depends on each.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScannedBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The events.
    pub events: Vec<ScannedEventBody>,
    /// How the location was resolved.
    pub location_resolved: ResolvedBody,
    /// Whether there is another page.
    pub has_more: bool,
    /// The last ledger position that all pages of this query take into account.
    pub as_of: Option<u64>,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
    /// The time up to which events were looked through, where the page ends because these were many: there is more to
    /// look through, with `next_cursor`.
    pub searched_to: Option<Instant>,
    /// A summary of all events found; on the first page.
    pub summary: Option<SummaryBody>,
}

/// The checkpoint of the tree that was scanned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScannedCheckpoint {
    /// Entries in the tree.
    pub size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub root: String,
    /// The signed note (C2SP tlog-checkpoint).
    pub note: String,
}

/// An event and what depends on it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScannedEventBody {
    /// The event's id.
    pub event_id: String,
    /// When it happened or started.
    pub time: Instant,
    /// What happened.
    pub description: String,
    /// Position of the ledger entry that created this version.
    pub position: u64,
    /// Its direct consequences: at most 100.
    pub effects: Vec<EffectOfBody>,
    /// What was done to it, in order.
    pub interventions: Vec<String>,
    /// Codes of the kinds of paradoxes that involve it.
    pub paradoxes: Vec<String>,
    /// Who took part.
    pub actors: Option<Vec<String>>,
    /// States that hold while it lasts.
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else.
    pub attributes: Option<Map<String, Value>>,
    /// What it happened because of.
    pub causes: Option<Vec<CauseObject>>,
    /// When it ended.
    pub end_time: Option<Instant>,
    /// Where, on the earth: `lat`, `lon` and maybe `radius_m`.
    pub geo: Option<GeoRecord>,
    /// Whether it was `observed`, is `scheduled` or `predicted`.
    pub kind: Option<String>,
    /// Where, in words.
    pub location: Option<String>,
    /// A short title.
    pub name: Option<String>,
    /// How precisely the times are known.
    pub precision: Option<String>,
    /// The source's own number for the record.
    pub sequence: Option<u64>,
    /// Where the record came from.
    pub source: Option<String>,
    /// The timeline of that ledger, if this timeline was forked from it.
    pub timeline_id: Option<String>,
}

words! {
    /// What a return restores.
    Scope {
        /// `clock`.
        Clock = "clock",
        /// `all`.
        All = "all",
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SessionBody {
    /// Who the caller is, in a sentence.
    pub status: String,
    /// Whether the user administers the service.
    pub operator: bool,
    /// Whether no operator has a password yet: set one with the API key in `admin.key`.
    pub is_first_run: bool,
    /// Host time when the session ends at the latest.
    pub expires_at: Option<Instant>,
    /// Host time when the session ends if it is not used.
    pub idle_expires_at: Option<Instant>,
    /// The user's restriction level; null if not logged in.
    pub restriction_level: Option<String>,
    /// The name of the service, as in every checkpoint; absent if not logged in.
    pub service_name: Option<String>,
    /// The public id of the session; absent if the caller is not in one.
    pub session_id: Option<String>,
    /// The user; null if not logged in.
    pub user_id: Option<String>,
    /// The version of the service; absent if not logged in.
    pub version: Option<String>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SessionItem {
    /// The public id of the session.
    pub session_id: String,
    /// Host time when the user logged in.
    pub created_at: String,
    /// Host time of the last recorded activity.
    pub last_seen_at: String,
    /// Host time when it ends if it is not used.
    pub idle_expires_at: String,
    /// Host time when it ends at the latest.
    pub expires_at: String,
    /// Whether it is the current session.
    pub is_current: bool,
}

/// Active sessions, newest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SessionsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The sessions.
    pub sessions: Vec<SessionItem>,
}

/// What fired while the clock moved, and what came of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SettledBody {
    /// `settled` at the destination, `running` on the way; `stopped` if the clock was paused or somebody held it for
    /// too long, `stuck` if timers kept arming themselves for the same instant.
    pub state: AdvanceState,
    /// The id of the advance.
    pub advance_id: String,
    /// The timeline.
    pub timeline_id: String,
    /// What the clock showed before.
    pub from: Instant,
    /// The destination.
    pub to: Instant,
    /// How far the clock has come.
    pub reached: Instant,
    /// How many instants it stood at.
    pub step: u64,
    /// How many firings there were.
    pub fired: u64,
    /// How many were acknowledged.
    pub acknowledged: u64,
    /// How many failed.
    pub failed: u64,
    /// How many have no outcome yet. While the advance runs, somebody may be at work on them; once it is settled,
    /// their queues have no listener, and they go to the next one.
    pub unheard: u64,
    /// The first 100 firings.
    pub firings: Vec<FiringBody>,
    /// Who held the instant it was stopped at, or whose lease holds it, or which followers have not confirmed it; if
    /// it is stuck, the last timer to fire.
    pub held_by: Option<String>,
}

/// Moments of a rule that came and did not fire, since the timer was set or changed and as far as the newest 4,096
/// entries of the ledger tell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SkippedBody {
    /// How many.
    pub count: u64,
    /// Whether all were counted: at most 100,000 are.
    pub complete: bool,
    /// The first one.
    pub from: Instant,
    /// The last one.
    pub to: Instant,
}

words! {
    /// How a timer stands.
    StandingWord {
        /// `armed`.
        Armed = "armed",
        /// `done`.
        Done = "done",
        /// `cancelled`.
        Cancelled = "cancelled",
    }
}

/// A response that says only that it worked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StatusBody {
    /// A sentence that says what happened.
    pub status: String,
}

/// A summary of all events found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SummaryBody {
    /// How many events match, among at most 100,000 that are checked.
    pub count: u64,
    /// Whether there may be more.
    pub is_cut: bool,
    /// How many occur in each of 24 equal intervals between the first and the last.
    pub histogram: Vec<BucketBody>,
    /// When the first one happens.
    pub first: Option<Instant>,
    /// When the last counted one happens.
    pub last: Option<Instant>,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SweepBody {
    /// Its position in the ledger.
    pub position: u64,
    /// What it prunes: `reads` or `refusals`.
    pub class: String,
    /// How many payloads it lists.
    pub count: u64,
    /// Everything it lists was recorded before this host time.
    pub recorded_before: Instant,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TamperingBody {
    /// The outcome, in a sentence.
    pub status: String,
    /// Whether anything does not match what was signed.
    pub tampering_detected: bool,
    /// The first finding and where it is, in sentences.
    pub details: String,
    /// Everything that does not match what was signed, by position.
    pub findings: Vec<FindingBody>,
    /// Findings that are only counted, because there are too many of one kind.
    pub findings_untold: u64,
    /// What was checked.
    pub checked: Vec<CheckedBody>,
    /// What was not checked, one sentence each.
    pub not_checked: Vec<String>,
    /// The scan's place in the ledger.
    pub ledger: LedgerBody,
    /// The latest checkpoint: keep it to be able to tell later whether history was rolled back.
    pub checkpoint: Option<ScannedCheckpoint>,
}

/// One timeline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimelineBody {
    /// The timeline.
    pub timeline_id: String,
    /// The caller's role: `read`, `write`, `admin`; `operator` for an operator in none of its lists.
    pub role: String,
    /// Host time when it was created.
    pub created_at: Instant,
    /// Anchors set on it; absent for a key with a horizon.
    pub anchors: Option<u64>,
    /// Its clock; absent for `system`, and if a restriction hides clocks from the caller.
    pub clock: Option<ClockBody>,
    /// Its events, not counting cancelled ones; absent for a key with a horizon.
    pub events: Option<u64>,
    /// Host time when it expires; absent if it does not.
    pub expires_at: Option<Instant>,
    /// What it was forked from; absent if it is not a fork, and for a key with a horizon.
    pub fork: Option<ForkBody>,
    /// Its latest signed tree; absent for a key with a horizon.
    pub head: Option<HeadBody>,
    /// Its permissions; only for its admins.
    pub permissions: Option<PermissionsBody>,
    /// How long the contents of reads and refusals are kept; absent if never set, which means forever, and for a key
    /// with a horizon.
    pub retention: Option<RetentionBody>,
    /// Host time when that role expires; absent if it does not.
    pub role_expires_at: Option<String>,
}

/// A timeline that has ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimelineEndedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Its last signed tree, to compare kept checkpoints and proofs with from now on.
    pub head: HeadBody,
    /// Host time after which its contents are deleted.
    pub contents_until: Instant,
    /// Its forks. What they inherit stays as long as one of them exists.
    pub heirs: u64,
    /// The place of its end in the ledger `system`.
    pub ledger: LedgerBody,
}

/// A timeline that was created.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimelineMadeBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The place of its creation in its own ledger.
    pub ledger: LedgerBody,
    /// Host time when it expires; absent if it does not.
    pub expires_at: Option<Instant>,
}

/// One timeline, read by itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimelineReadBody {
    /// The timeline.
    pub timeline_id: String,
    /// The caller's role: `read`, `write`, `admin`; `operator` for an operator in none of its lists.
    pub role: String,
    /// Host time when it was created.
    pub created_at: Instant,
    /// A sentence that sums up the result.
    pub status: String,
    /// Anchors set on it; absent for a key with a horizon.
    pub anchors: Option<u64>,
    /// Its clock; absent for `system`, and if a restriction hides clocks from the caller.
    pub clock: Option<ClockBody>,
    /// Its events, not counting cancelled ones; absent for a key with a horizon.
    pub events: Option<u64>,
    /// Host time when it expires; absent if it does not.
    pub expires_at: Option<Instant>,
    /// What it was forked from; absent if it is not a fork, and for a key with a horizon.
    pub fork: Option<ForkBody>,
    /// Its latest signed tree; absent for a key with a horizon.
    pub head: Option<HeadBody>,
    /// Its permissions; only for its admins.
    pub permissions: Option<PermissionsBody>,
    /// How long the contents of reads and refusals are kept; absent if never set, which means forever, and for a key
    /// with a horizon.
    pub retention: Option<RetentionBody>,
    /// Host time when that role expires; absent if it does not.
    pub role_expires_at: Option<String>,
}

/// One page of timelines, ordered by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimelinesBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timelines.
    pub timelines: Vec<TimelineBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// A timer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimerBody {
    /// The id of the timer.
    pub timer_id: String,
    /// Position of the ledger entry that set it. Of timers that fire at the same moment, earlier ones come first.
    pub position: u64,
    /// `armed`, `done` or `cancelled`.
    pub state: String,
    /// Where firings go.
    pub deliver: DeliverBody,
    /// What is handed to whoever claims a firing.
    pub payload: Value,
    /// Grows when moments that have passed come again.
    pub round: u32,
    /// The user who set it.
    pub set_by: String,
    /// Host time when it was set.
    pub set_at: Instant,
    /// The moment at which it fires, if that is one.
    pub at: Option<Instant>,
    /// The cron expression by which it fires.
    pub cron: Option<CronBody>,
    /// The rule of iCalendar by which it fires.
    pub every: Option<EveryBody>,
    /// What becomes of moments of the rule that come together.
    pub misfire: Option<String>,
    /// When it fires next. Absent unless it is armed.
    pub next: Option<Instant>,
    /// Firings with the same key are worked on one after the other.
    pub order_key: Option<String>,
}

/// A timer that differs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimerDifferenceBody {
    /// The timer.
    pub timer_id: String,
    /// `only_in_a`, `only_in_b`, or `differs`.
    pub change: String,
    /// The timer on `a`, if it is there.
    pub a: Option<TimerBody>,
    /// The timer on `b`, if it is there.
    pub b: Option<TimerBody>,
}

/// An event, without an id and a time of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct TimerEvent {
    /// Who took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actors: Option<Vec<String>>,
    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else, at most 65,536 bytes of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// Its causes. A cause can be recorded later than its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<Vec<CauseRecord>>,
    /// What happened, in a sentence or two. Defaults to empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where, on the earth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<GeoRecord>,
    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKindWord>,
    /// Where, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// A short title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionWord>,
    /// The source's own sequence number for the record, without gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Where the record came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl TimerEvent {
    /// Creates one with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Who took part.
    #[must_use]
    pub fn actors(mut self, actors: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let actors: Vec<String> = actors.into_iter().map(Into::into).collect();
        self.actors = Some(actors);
        self
    }

    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[must_use]
    pub fn asserts(mut self, asserts: impl IntoIterator<Item = AssertionRecord>) -> Self {
        let asserts: Vec<AssertionRecord> = asserts.into_iter().collect();
        self.asserts = Some(asserts);
        self
    }

    /// Anything else, at most 65,536 bytes of JSON.
    #[must_use]
    pub fn attributes(mut self, attributes: Map<String, Value>) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Its causes. A cause can be recorded later than its effect.
    #[must_use]
    pub fn causes(mut self, causes: impl IntoIterator<Item = impl Into<CauseRecord>>) -> Self {
        let causes: Vec<CauseRecord> = causes.into_iter().map(Into::into).collect();
        self.causes = Some(causes);
        self
    }

    /// What happened, in a sentence or two. Defaults to empty.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description: String = description.into();
        self.description = Some(description);
        self
    }

    /// Where, on the earth.
    #[must_use]
    pub fn geo(mut self, geo: GeoRecord) -> Self {
        self.geo = Some(geo);
        self
    }

    /// Whether it was observed, is scheduled or is predicted. Defaults to `observed`.
    #[must_use]
    pub fn kind(mut self, kind: EventKindWord) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Where, in words.
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        let location: String = location.into();
        self.location = Some(location);
        self
    }

    /// A short title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        self.name = Some(name);
        self
    }

    /// How precisely `time` and `end_time` are known. Defaults to microseconds.
    #[must_use]
    pub fn precision(mut self, precision: PrecisionWord) -> Self {
        self.precision = Some(precision);
        self
    }

    /// The source's own sequence number for the record, without gaps.
    #[must_use]
    pub fn sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Where the record came from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        let source: String = source.into();
        self.source = Some(source);
        self
    }
}

/// When a timer would fire.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimerMomentsBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The moments, the earliest first.
    pub moments: Vec<String>,
    /// Whether there are later ones: ask for them with the last one as `after`.
    pub has_more: bool,
}

/// A timer that was set, changed or cancelled.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimerSetBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timer.
    pub timer: TimerBody,
    /// Its place in the ledger.
    pub ledger: LedgerBody,
    /// `true` if this request created the timeline. Absent otherwise.
    pub timeline_created: Option<bool>,
}

/// A timer and its firings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimerShownBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timer.
    pub timer: TimerBody,
    /// Its latest firings, the newest first: at most 100. `GET /v1/firings` lists all.
    pub firings: Vec<FiringBody>,
    /// Moments of its rule that came and did not fire, because 10,000 firings were waiting or as `misfire` says.
    /// Absent if there are none.
    pub skipped: Option<SkippedBody>,
}

/// One page of timers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TimersBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timers.
    pub timers: Vec<TimerBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// One user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UserBody {
    /// The name.
    pub user_id: String,
    /// Whether the user administers the service.
    pub operator: bool,
    /// The user's restriction level.
    pub restriction_level: String,
    /// Host time when the user was created.
    pub created_at: Instant,
}

/// A user that was created or removed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UserChangedBody {
    /// A sentence that says what happened.
    pub status: String,
    /// The user.
    pub user_id: String,
    /// Its place in the ledger of `system`.
    pub ledger: LedgerBody,
}

/// One page of users, by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UsersBody {
    /// A sentence that sums up the result.
    pub status: String,
    /// The users.
    pub users: Vec<UserBody>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// One version of an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct VersionBody {
    /// Position of the ledger entry that created it.
    pub position: u64,
    /// The timeline whose ledger these positions refer to.
    pub timeline_id: String,
    /// The event; absent if this version says it does not occur on this timeline.
    pub event: Option<EventContentBody>,
    /// Position of the ledger entry that replaced it; absent while it is current.
    pub until: Option<u64>,
}

/// The events that would be changed back if history returned to an anchor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldChangeBody {
    /// How many events there would be.
    pub count: u64,
    /// The first 1,000 events.
    pub event_ids: Vec<String>,
}

/// The timers that would not be armed any more if history returned to an anchor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldDisarmBody {
    /// How many timers there would be.
    pub count: u64,
    /// The first 1,000 timers.
    pub timer_ids: Vec<String>,
}

/// What would fire if the clock were moved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldFireBody {
    /// Where the clock would go.
    pub to: Instant,
    /// How many firings there would be. After the dry run of a return: with those that had no outcome at the anchor,
    /// which are handed out again.
    pub count: u64,
    /// Whether all were counted. Timers that handlers would set on the way are not.
    pub complete: bool,
    /// The first 1,000 firings, in their order.
    pub firings: Vec<WouldFireFiringBody>,
    /// How many firings each timer would have.
    pub timers: Vec<WouldFireTimerBody>,
}

/// A firing that would be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldFireFiringBody {
    /// The timer.
    pub timer_id: String,
    /// The moment at which it would fire.
    pub due: Instant,
    /// The queue that the firing would wait in. Absent if it would be recorded as an event.
    pub queue: Option<String>,
}

/// How often a timer would fire.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldFireTimerBody {
    /// The timer.
    pub timer_id: String,
    /// How often.
    pub count: u64,
}

/// What a sweep would prune.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldLetGoBody {
    /// What: `reads` or `refusals`.
    pub class: String,
    /// How many payloads.
    pub count: u64,
    /// All of them were recorded before this host time.
    pub recorded_before: Instant,
}

/// The timers that would be armed again if the clock went back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldRearmBody {
    /// How many timers there would be.
    pub count: u64,
    /// The first 1,000 timers, in the order in which they would fire.
    pub timers: Vec<WouldRearmTimerBody>,
}

/// A timer that would be armed again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldRearmTimerBody {
    /// The timer.
    pub timer_id: String,
    /// When it would fire next.
    pub next: Instant,
}

/// The firings without an outcome that would be superseded if the clock went back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldSupersedeBody {
    /// How many firings there would be.
    pub count: u64,
    /// The first 1,000 firings, in their order.
    pub firings: Vec<WouldSupersedeFiringBody>,
}

/// A firing that would be superseded.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WouldSupersedeFiringBody {
    /// The id of the firing.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The moment at which it fell due.
    pub due: Instant,
    /// The queue that it waits in.
    pub queue: String,
}
