//! The door to what is kept.

use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Arc;
use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::data::SealedData;
use timenav_core::event::EventDraft;
use timenav_core::ids::{AnchorId, DataId, EventId, InterventionId, KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, Salt, TileId};
use timenav_core::place::{LocationQuery, Point};
use timenav_core::time::{Instant, TimeRange, Virtual, Wall};

use crate::directory::Directory;
use crate::scan::ScanSource;
use crate::state::{Anchor, ApiKey, KeptPassword, Session, User};

/// Why the store did not do what was asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer moved a timeline on since its state was read.
    #[error("timeline `{0}` was changed by another writer")]
    Moved(TimelineId),
    /// There is no room, the disk fails, the connection is lost.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is kept does not make sense: damage or tampering.
    #[error("the store holds something that it cannot hold: {0}")]
    Damaged(String),
}

/// Names a timeline inside the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimelineKey(pub i64);

/// The newest state of one timeline: all that is kept in memory, and nothing that grows.
#[derive(Clone, Debug)]
pub struct Head {
    /// Names the timeline inside the store.
    pub key: TimelineKey,
    /// Names the timeline.
    pub id: TimelineId,
    /// When it was made.
    pub created_at: Instant<Wall>,
    /// Its clock.
    pub clock: Clock,
    /// Who may do what.
    pub permissions: Arc<Permissions>,
    /// The right edge of its Merkle tree; holds the size.
    pub frontier: Frontier,
    /// The signed note over that size and its root.
    pub checkpoint: Arc<str>,
    /// Host time of the last entry. Never goes down.
    pub recorded_at: Instant<Wall>,
    /// How many events stand.
    pub events_count: u64,
    /// How many anchors are set.
    pub anchors_count: u64,
    /// Position of the entry whose payload tells of the clock.
    pub clock_entry: u64,
    /// Where the timeline came from, if it was forked.
    pub fork: Option<Fork>,
    /// How many events of the timelines it came from were changed on this one.
    pub overrides_count: u64,
    /// Who made it: a user, or the service.
    pub created_by: UserId,
    /// How many records were sealed on it, erased ones too.
    pub data_count: u64,
}

/// Where a timeline was forked from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The other timeline.
    pub of: TimelineKey,
    /// How many of its entries the fork goes on from.
    pub size: u64,
}

/// Everything the engine needs to start. Its size does not grow with history.
#[derive(Debug, Default)]
pub struct Opened {
    /// The newest state of every timeline.
    pub heads: Vec<Head>,
    /// Users, and what shows who they are.
    pub directory: Directory,
}

/// One atomic step: everything in it becomes true, or nothing does.
#[derive(Debug, Default)]
pub struct Commit {
    /// What happens to each timeline, each at most once.
    pub timelines: Vec<TimelineCommit>,
    /// What happens to users, keys, passwords and sessions.
    pub directory: Vec<DirectoryChange>,
    /// Outcomes that a repeated request is answered with.
    pub outcomes: Vec<IdempotencyRecord>,
    /// Outcomes that expired before this instant are forgotten.
    pub forget_outcomes_before: Option<Instant<Wall>>,
    /// Whether the fingerprints of all outcomes from before this step become
    /// [`Idempotency::FINGERPRINT_FORGOTTEN`](crate::Idempotency::FINGERPRINT_FORGOTTEN).
    pub forget_fingerprints: bool,
}

/// What happens to one timeline in one step.
#[derive(Debug)]
pub struct TimelineCommit {
    /// The ledger's size before the step; `None` for a new timeline.
    pub expected_size: Option<u64>,
    /// The state after the step.
    pub head: Head,
    /// Whether the permissions are to be written.
    pub permissions_changed: bool,
    /// New ledger entries, in order.
    pub entries: Vec<StoredEntry>,
    /// Versions of events that cease to stand. They were there before the step, or are in it.
    pub ends: Vec<EventEnd>,
    /// New versions of events.
    pub events: Vec<EventRow>,
    /// New interventions.
    pub interventions: Vec<InterventionRow>,
    /// New anchors.
    pub anchors: Vec<Anchor>,
    /// New sealed records.
    pub data: Vec<DataRecord>,
    /// Contents to be erased, after everything above is written.
    pub erasures: Vec<Erasure>,
}

/// One sealed record as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRecord {
    /// Its id, unique among all timelines.
    pub data_id: DataId,
    /// Position of the entry that tells of it.
    pub position: u64,
    /// Position of the entry that erased it. Its salt, nonce, commitment and ciphertext are empty then.
    pub erased: Option<u64>,
    /// What was sealed.
    pub sealed: SealedData,
}

/// Content to be taken out of what is kept. The leaf of its entry stays, and so does every proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Position of the entry that tells of the content.
    pub position: u64,
    /// Position of the entry that tells of the erasure.
    pub by: u64,
    /// What is erased.
    pub content: ErasedContent,
}

/// What is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasedContent {
    /// A sealed record: salt, nonce, commitment and ciphertext become empty. The payload of its
    /// entry stays, which tells nothing of the data but its length.
    Data(DataId),
    /// A version of an event: its row goes, the payload and the salt of its entry become empty. An
    /// intervention at that position stays as a row, without its payload.
    Event(EventId),
}

/// One ledger entry as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its position, from 0.
    pub seq: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Hashed before the payload.
    pub salt: Salt,
    /// What happened, as JSON. What is hashed is what is stored. Empty if it was erased, with a
    /// salt of zero bytes; no other payload is empty.
    pub payload: Vec<u8>,
    /// How many events stand after the entry.
    pub events_count: u64,
    /// Position of the entry whose payload tells of the clock after this one.
    pub clock_entry: u64,
}

impl StoredEntry {
    /// Returns whether the payload was erased. A later entry `erase_data` names the position then.
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        self.payload.is_empty()
    }
}

/// One version of an event as it is kept for queries.
#[derive(Clone, Debug)]
pub struct EventRow {
    /// Position of the entry that made it.
    pub position: u64,
    /// Whether it never stood: it says that an event of the timeline that this one was forked
    /// from does not stand on this one. Its content is empty.
    pub is_tombstone: bool,
    /// The event's id.
    pub event_id: EventId,
    /// What can be asked for.
    pub draft: Arc<EventDraft>,
    /// The point that it is found by: its own, or that of the place it names.
    pub point: Option<Point>,
    /// The whole event as JSON, in the shape in which it is answered.
    pub content: Arc<str>,
}

/// A version of an event that ceases to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnd {
    /// The event.
    pub event_id: EventId,
    /// Position of the entry that made the version.
    pub position: u64,
    /// Position of the entry that ends it.
    pub until: u64,
}

/// One intervention as it is kept: what happened is in the payload of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterventionRow {
    /// Position of its entry.
    pub position: u64,
    /// The event.
    pub event_id: EventId,
    /// Its id.
    pub intervention_id: InterventionId,
}

/// A change to users, keys, passwords or sessions.
#[derive(Clone, Debug)]
pub enum DirectoryChange {
    /// A user is new or changed.
    PutUser(User),
    /// A user is gone, with password and sessions.
    DeleteUser(UserId),
    /// A key is new.
    PutKey(ApiKey),
    /// A key stops working.
    RevokeKey {
        /// Which.
        key_id: KeyId,
        /// Since when.
        at: Instant<Wall>,
    },
    /// A password is new or changed.
    PutPassword(KeptPassword),
    /// A session is new or goes on.
    PutSession(Session),
    /// A session has ended.
    EndSession(SessionId),
}

/// The outcome of a request that carried an idempotency key.
#[derive(Clone, Debug)]
pub struct IdempotencyRecord {
    /// Digest of user, method, route and key.
    pub key: [u8; 32],
    /// Digest of the request.
    pub fingerprint: [u8; 32],
    /// When it may be forgotten, by the host.
    pub expires_at: Instant<Wall>,
    /// The answer, as JSON.
    pub outcome: String,
}

/// A stretch of a ledger that a question is about: a timeline up to a size. A fork is read as
/// layers, the timeline it came from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The timeline.
    pub timeline: TimelineKey,
    /// The ledger's size that counts; later entries do not exist.
    pub as_of: u64,
    /// Whether events of earlier layers may have been changed on this one.
    pub overrides: bool,
}

/// An event found by its id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownEvent {
    /// Every version there is, in the order in which they were made.
    pub versions: Vec<EventVersion>,
    /// Positions of the interventions on it, by layer, in the same order.
    pub interventions: Vec<(usize, u64)>,
}

/// One version of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventVersion {
    /// Which layer it is on.
    pub layer: usize,
    /// The position that made it.
    pub position: u64,
    /// The position at which it ceased to stand, on its own layer.
    pub until: Option<u64>,
    /// The event as JSON; empty where it says that the event does not stand on this layer.
    pub content: Arc<str>,
}

impl EventVersion {
    /// Returns the tag of a version, which no other version of the event has: its position, and before
    /// it the layer where that is not the first.
    #[must_use]
    pub fn tag(&self) -> String {
        if self.layer == 0 { self.position.to_string() } else { format!("{}.{}", self.layer, self.position) }
    }
}

impl KnownEvent {
    /// Returns the version that stands, and `None` where the event is cancelled.
    #[must_use]
    pub fn standing(&self) -> Option<&EventVersion> {
        self.versions.last().filter(|version| version.until.is_none())
    }

    /// Returns the last version that was recorded or corrected, and not made by an intervention.
    #[must_use]
    pub fn recorded(&self) -> Option<&EventVersion> {
        let by_intervention =
            |version: &EventVersion| self.interventions.binary_search(&(version.layer, version.position)).is_ok();
        self.versions.iter().rev().find(|version| !version.content.is_empty() && !by_intervention(version))
    }
}

/// Which events are asked for, on one consistent snapshot.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// On which timeline, as of when: its layers, the oldest first.
    pub layers: Arc<[Layer]>,
    /// Which: those that fit any of them.
    pub patterns: Vec<Pattern>,
    /// When.
    pub range: TimeRange<Virtual>,
    /// Only events after this time, layer and position.
    pub after: Option<(Instant<Virtual>, usize, u64)>,
    /// At most so many.
    pub items_max: usize,
}

/// Which events are asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Those of a place.
    Location(LocationQuery),
    /// That one.
    Event(EventId),
}

/// One event found by a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// When it happened.
    pub time: Instant<Virtual>,
    /// Which layer it is on.
    pub layer: usize,
    /// The position that made the version that stands.
    pub position: u64,
    /// The whole event as JSON.
    pub content: String,
}

/// Keeps ledgers and what follows from them.
///
/// Each method is one atomic step of a use case: durable on `Ok`, without effect on `Err`.
/// Retries that make sense happen inside. Methods may be called from many tasks at once, except
/// [`Store::commit`], which the engine calls from one thread of its own and which may block it.
#[async_trait]
pub trait Store: ScanSource + Send + Sync + 'static {
    /// Returns what the engine starts from. Its cost does not grow with the ledgers.
    async fn open(&self) -> Result<Opened, StoreError>;

    /// Makes one step true. Compares each timeline's size with the expected one first.
    async fn commit(&self, commit: Commit) -> Result<(), StoreError>;

    /// Returns which of these events are known on these layers. For the committer, which asks for
    /// what is about to be written to.
    async fn known_events(
        &self,
        layers: &[Layer],
        event_ids: &[EventId],
    ) -> Result<HashMap<EventId, KnownEvent>, StoreError>;

    /// Returns the same for those who only read.
    async fn event_versions(
        &self,
        layers: Arc<[Layer]>,
        event_ids: Vec<EventId>,
    ) -> Result<HashMap<EventId, KnownEvent>, StoreError>;

    /// Returns the ids of at most `items_max` standing events of a name, the earliest first. `key` is
    /// what [`crate::name_key`] makes of the name.
    async fn events_named(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError>;

    /// Returns standing events whose ids or names are nearly a key, the nearest first, a few of them,
    /// each with its name if it has one. Looks through so many at most.
    async fn names_near(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        searched_max: usize,
    ) -> Result<Vec<(EventId, Option<String>)>, StoreError>;

    /// Returns the outcomes kept under these keys.
    async fn outcomes(&self, keys: &[[u8; 32]]) -> Result<Vec<IdempotencyRecord>, StoreError>;

    /// Returns what [`Store::events`] would, on the thread that asks, if that takes no more than a moment. `None` where it
    /// may take longer.
    ///
    /// # Errors
    /// The store does not answer.
    fn events_at_once(&self, query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// Returns events ordered by time, then layer, then position. May take long.
    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError>;

    /// Returns anchors in the order in which they were set, from the one after `after` on.
    async fn anchors(
        &self,
        timeline: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError>;

    /// Returns one anchor.
    async fn anchor(&self, timeline: TimelineKey, id: &AnchorId) -> Result<Option<Anchor>, StoreError>;

    /// Returns one API key, whether it works or not.
    async fn api_key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Returns API keys of a user, newest first, from the one after `after` on.
    async fn api_keys(
        &self,
        user_id: &UserId,
        after: Option<&KeyId>,
        items_max: usize,
    ) -> Result<Vec<ApiKey>, StoreError>;

    /// Returns the payloads of entries that tell of a timeline's clock, the newest first: that of the entry at `last`,
    /// then of those before it. At most so many.
    async fn clock_payloads(
        &self,
        timeline: TimelineKey,
        last: u64,
        items_max: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns one sealed record, and the name of its timeline.
    async fn data_record(&self, id: &DataId) -> Result<Option<(TimelineId, DataRecord)>, StoreError>;

    /// Returns one ledger entry.
    async fn entry(&self, timeline: TimelineKey, seq: u64) -> Result<Option<StoredEntry>, StoreError>;

    /// Returns the leaves of at most `items_max` entries from position `first` on, in order.
    async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the position of the first entry recorded at or after a host instant, among the
    /// first `size` entries; `size` where there is none. Costs the logarithm of `size`.
    async fn first_recorded_at(&self, timeline: TimelineKey, host: Instant<Wall>, size: u64)
    -> Result<u64, StoreError>;

    /// Returns the first `width` hashes of one tile of a timeline's tree. The caller asks only
    /// for hashes of complete subtrees of a tree that was committed.
    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError>;

    /// Returns whether the store answers at all.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Writes something that changes nothing, as durable as a commit: to see whether one would fail.
    async fn try_writing(&self) -> Result<(), StoreError>;
}
