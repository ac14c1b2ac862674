use async_trait::async_trait;
use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use timenav_core::anchor::Anchor;
use timenav_core::directory::{ApiKey, Directory};
use timenav_core::ids::{EventId, KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, Retention, TileId};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Bucket, Instant, TimeRange, Virtual, Wall};

use crate::access::directory::DirectoryChange;
use crate::events::event_filter::EventFilter;
use crate::ledger::head::{EndedTimeline, Head, Layer, TimelineKey};
use crate::ports::archive::{Orphan, ScanSource};
use crate::ports::facts::{Facts, FactsQuery, QueryOrigin, UnloggedRows};
use crate::ports::hint::Hint;
use crate::ports::rows::{
    DataRecord, Described, Erasure, EventEnd, EventPlace, EventRow, EventSpot, EventStretches, IdempotencyRecord,
    InterventionRow, LogRow, StoredEntry, StoredEvent, SweepMark, SweepRow,
};
use crate::ports::shared_leases::SharedLeases;
use crate::ports::store_error::StoreError;
use crate::ports::timer_rows::TimerRows;
use crate::replication::shared_followers::SharedFollowers;
use crate::requests::options::FEATURE_LEVEL;
use crate::writer::commit_times::OnWritten;

/// Everything the engine needs to start. Its size is independent of the length of the history.
#[derive(Debug, Default)]
pub struct Opened {
    pub heads: Vec<Head>,
    pub ended: Vec<EndedTimeline>,
    pub directory: Directory,
    pub seals: CarriedSeals,
}

/// Written by versions before head statements. Valid until the first head statement of `system`.
#[derive(Debug, Default)]
pub struct CarriedSeals {
    pub passwords: HashMap<UserId, [u8; 32]>,
    pub sessions: HashMap<SessionId, [u8; 32]>,
}

/// One atomic step: all of it is applied, or none of it.
#[derive(Debug, Default)]
pub struct Commit {
    /// Changes of timelines, at most one for each.
    pub timelines: Vec<TimelineCommit>,
    /// Timelines that the step depends on without changing them, and the ledger sizes they must have; `None` if the
    /// timeline must not exist. Empty if this service is the only writer.
    pub relied: Vec<(TimelineId, Option<u64>)>,
    /// The version of the directory that the step was decided against, if its heads are locked. It is compared last,
    /// unless the step changes `system`, which is locked in that case.
    pub decided_against: Option<u64>,
    pub directory: Vec<DirectoryChange>,
    pub outcomes: Vec<IdempotencyRecord>,
    /// Stored outcomes, reduced to what remains after the content of an event was erased. They may include outcomes
    /// from `outcomes`. An outcome that is no longer stored is not written again.
    pub outcomes_erased: Vec<IdempotencyRecord>,
    /// Outcomes that expired by this instant may be replaced by others under their keys. With several writers, any
    /// other conflict means that the request was already carried out, and the step must be decided again.
    pub outcomes_expired_by: Option<Instant<Wall>>,
    /// Whether to set the fingerprints of all earlier outcomes to
    /// [`Idempotency::FINGERPRINT_FORGOTTEN`](crate::Idempotency::FINGERPRINT_FORGOTTEN).
    pub forget_fingerprints: bool,
    /// Called once all of this is written, right before it is made durable.
    pub on_written: OnWritten,
}

#[derive(Debug)]
pub struct TimelineCommit {
    /// The ledger's size before the step; `None` for a new timeline.
    pub expected_size: Option<u64>,
    pub head: Head,
    pub permissions_changed: bool,
    pub entries: Vec<StoredEntry>,
    /// Event versions that end. They existed before the step or are created by it.
    pub ends: Vec<EventEnd>,
    pub events: Vec<EventRow>,
    pub interventions: Vec<InterventionRow>,
    pub anchors: Vec<Anchor>,
    pub data: Vec<DataRecord>,
    /// Content to erase, after everything above is written.
    pub erasures: Vec<Erasure>,
    /// New retention policies, with the positions of their entries.
    pub policies: Vec<(u64, Retention)>,
    /// New sweeps. The entries they name are pruned afterwards by [`Upkeep::sweep`].
    pub sweeps: Vec<SweepRow>,
    pub timers: TimerRows,
}

/// A checkpoint signed by two keys, when one replaced the other.
#[derive(Clone, Debug)]
pub struct RotationNote {
    pub timeline: TimelineKey,
    pub position: u64,
    pub note: Arc<str>,
}

/// Rows under negative numbers, which belong to timelines being adopted, that the service cannot have left there
/// itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrayArrivals {
    /// Rows under numbers that belong to no timeline and to no arrival, because the arrival's mark was removed.
    pub orphans: Vec<Orphan>,
    /// Numbers marked as arriving that belong to an existing or ended timeline, or are not negative.
    pub marked: Vec<i64>,
}

/// A query for events on one consistent snapshot.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// The timeline as of some position: its layers, the oldest first.
    pub layers: Arc<[Layer]>,
    /// Events that match any of these.
    pub patterns: Vec<Pattern>,
    pub range: TimeRange<Virtual>,
    /// Whether to include events that begin before the range and last into it. Never set when querying spots.
    pub overlapping: bool,
    /// Only events after this one, in the requested order.
    pub after: Option<EventPlace>,
    pub items_max: usize,
    pub newest_first: bool,
}

/// Events that pass a filter, as far as the search went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilteredEvents {
    pub events: Vec<StoredEvent>,
    /// How many events that the filter does not hide were examined.
    pub searched: usize,
    /// Time, layer and position of the last event examined, hidden or not. `None` if there are no more after it.
    pub searched_until: Option<EventPlace>,
}

/// Positions of event versions by layer.
pub type Overridden = Vec<HashSet<u64>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Location(LocationQuery),
    Event(EventId),
}

/// The state of the locked ledgers at the start of a step.
#[derive(Clone, Debug, Default)]
pub struct Locked {
    /// The sizes of the requested ledgers. A timeline that does not exist is missing.
    pub sizes: HashMap<TimelineKey, u64>,
    /// The size of `system`, and the version of the directory.
    pub system: (u64, u64),
    pub level: u64,
}

#[derive(Clone, Debug)]
pub struct StoredTree {
    pub timeline: TimelineKey,
    pub frontier: Frontier,
    pub statement: Arc<[u8]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionsUse {
    pub max: u64,
    pub open: u64,
    pub in_use: u64,
    pub waiting: u64,
    /// Connections opened since startup.
    pub opened: u64,
    /// Transactions retried since startup after a conflict.
    pub retries: u64,
    /// Commits since startup whose response was lost, so that their outcome had to be looked up.
    pub unanswered: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Whether it responds.
    Answers,
    /// Whether a write would succeed.
    Writes,
}

/// Stores ledgers and everything derived from them.
///
/// Each method is one atomic step of a use case: durable on `Ok`, without effect on `Err`. Retries that make sense
/// happen inside. Methods may be called concurrently, except [`Store::commit`], which the engine calls from one
/// dedicated thread and which may block it.
#[async_trait]
pub trait Store: ScanSource + Upkeep + SharedLeases + SharedFollowers {
    /// Returns the state to start from. Its cost is independent of the size of the ledgers.
    async fn open(&self) -> Result<Opened, StoreError>;

    /// If other services cannot write, an unexpected ledger size means that the store was tampered with.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns whether other services may be using the same database right now, so that state known to readers here may
    /// be older than responses sent there.
    fn has_others(&self) -> bool {
        false
    }

    /// Begins a step: locks the heads of timelines until the step ends. The returned state, and later reads as
    /// [`QueryOrigin::Writer`], are from after the lock was taken. The next commit ends the step; without a commit,
    /// [`Store::release`] does. `None` if this service is the only writer and no lock is needed.
    async fn lock(&self, _timelines: &[TimelineKey]) -> Result<Option<Locked>, StoreError> {
        Ok(None)
    }

    async fn feature_level(&self) -> Result<u64, StoreError> {
        Ok(FEATURE_LEVEL)
    }

    /// Ends a step without effect. Does nothing if none has begun.
    async fn release(&self) {}

    /// Waits until the steps of other services that have begun by now have ended. Some may have been decided against an
    /// older directory.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]: one of them takes too long.
    async fn wait_for_open_steps(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the size of each ledger, from one snapshot.
    async fn sizes(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Ok(self.open().await?.heads.iter().map(|head| (head.key, head.frontier.size())).collect())
    }

    /// Returns the newest heads of some timelines, and of all timelines whose numbers are outside a range, by number.
    async fn newest(
        &self,
        timelines: &[TimelineKey],
        known: RangeInclusive<TimelineKey>,
    ) -> Result<Vec<Head>, StoreError> {
        let mut heads = self.open().await?.heads;
        heads.retain(|head| !known.contains(&head.key) || timelines.contains(&head.key));
        heads.sort_unstable_by_key(|head| head.key);
        Ok(heads)
    }

    /// Returns the password rows of some users, and the rows of some ended timelines.
    async fn unlogged_rows(&self, users: Vec<UserId>, ended: Vec<TimelineId>) -> Result<UnloggedRows, StoreError> {
        let Opened { directory, ended: mut all_ended, .. } = self.open().await?;
        all_ended.retain(|one| ended.contains(&one.id));
        let passwords = users.iter().filter_map(|user_id| directory.passwords.get(user_id));
        Ok(UnloggedRows { passwords: passwords.map(|password| (**password).clone()).collect(), ended: all_ended })
    }

    /// Like [`Store::open`], with `system` as the only timeline that has not ended.
    async fn open_directory(&self) -> Result<Opened, StoreError> {
        let mut opened = self.open().await?;
        opened.heads.retain(|head| head.id.is_system());
        Ok(opened)
    }

    /// Returns the trees of the given timelines, except those that have ended.
    async fn trees(&self, timelines: Vec<TimelineKey>) -> Result<Vec<StoredTree>, StoreError> {
        let all = TimelineKey(i64::MIN)..=TimelineKey(i64::MAX);
        let heads = self.newest(&timelines, all).await?.into_iter();
        let tree = |head: Head| StoredTree { timeline: head.key, frontier: head.frontier, statement: head.statement };
        Ok(heads.map(tree).collect())
    }

    /// Waits until another service may have written, and returns what changed. This is only a hint and may be lost.
    async fn hint(&self) -> Hint {
        std::future::pending().await
    }

    /// Returns the clock of the database's machine; `None` if that is this machine.
    async fn database_clock(&self) -> Result<Option<Instant<Wall>>, StoreError> {
        Ok(None)
    }

    /// Returns the age of the oldest snapshot still in use, in transactions; 0 if the store has no snapshots.
    async fn snapshot_age(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Returns connection usage; `None` if the store has no connections.
    fn connections_use(&self) -> Option<ConnectionsUse> {
        None
    }

    /// Commits one step. Compares the size of each changed timeline and of those it depends on first.
    ///
    /// A change of the directory is in force once this returns: no step decided before it can still be committed.
    async fn commit(&self, commit: Commit) -> Result<(), StoreError>;

    /// Returns the requested facts, from one snapshot.
    async fn facts(&self, query: FactsQuery, origin: QueryOrigin) -> Result<Facts, StoreError>;

    /// Returns the ids of up to `items_max` events of a name, the earliest first: current events or, if there are none,
    /// canceled ones that had the name last. `key` is the result of [`crate::name_key`].
    async fn events_named(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError>;

    /// Returns the earliest event of exactly that description: a current one or, if there is none, one that had it when
    /// it was canceled. Examines a limited number of event rows.
    async fn event_described(
        &self,
        layers: Arc<[Layer]>,
        description: String,
        searched_max: usize,
    ) -> Result<Described, StoreError>;

    /// Returns a few current events whose ids or names are similar to a key, the nearest first, each with its name if
    /// it has one. Examines a limited number of rows.
    async fn names_near(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        searched_max: usize,
    ) -> Result<Vec<(EventId, Option<String>)>, StoreError>;

    /// Returns the ids of up to `items_max` events that were recorded on a timeline before a position and not changed
    /// since, including canceled ones, in id order after a given id. May take long.
    async fn events_unchanged_since(
        &self,
        timeline: TimelineKey,
        position: u64,
        after: Option<EventId>,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError>;

    /// Returns the result of [`Store::events`] synchronously if that is fast, and `None` if it may take longer.
    ///
    /// # Errors
    /// The store does not respond.
    fn events_at_once(&self, query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// Returns events ordered by time, then layer, then position; or in reverse. May take long.
    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError>;

    /// Returns time and place of the events that [`Store::events`] would return, in the same order. Events that a later
    /// layer overrides are included; see [`Store::overridden`]. The source and actors of each event are included on
    /// request.
    async fn event_spots(&self, query: EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, StoreError>;

    /// Counts the events that [`Store::events`] would return, in buckets of time. `None` if that would not be faster
    /// than querying their spots. This depends on the query except for [`EventQuery::after`] and
    /// [`EventQuery::items_max`].
    async fn event_stretches(&self, query: EventQuery, bucket: Bucket) -> Result<Option<EventStretches>, StoreError>;

    /// Returns whether the source and actors of events are in an index, so that events need not be read for them.
    fn stores_parties(&self) -> bool;

    /// Event versions that a later layer overrides. `None` if more than `rows_max` rows would be examined.
    async fn overridden(&self, layers: Arc<[Layer]>, rows_max: usize) -> Result<Option<Overridden>, StoreError>;

    /// Returns the events of [`Store::events`] that pass a filter. Stops after examining a limited number of events, or
    /// when as many pass as were requested. Hidden events are not counted, but a large number of them also ends the
    /// search, so that it does not run for long without a result.
    async fn filtered_events(
        &self,
        query: EventQuery,
        filter: Arc<EventFilter>,
        searched_max: usize,
    ) -> Result<FilteredEvents, StoreError>;

    /// Returns API keys of a user after `after`, newest first.
    async fn api_keys(
        &self,
        user_id: &UserId,
        after: Option<&KeyId>,
        items_max: usize,
    ) -> Result<Vec<ApiKey>, StoreError>;

    /// Returns the newest first, starting with the entry at `last`; at most as many as requested.
    async fn clock_payloads(
        &self,
        timeline: TimelineKey,
        last: u64,
        items_max: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Stores checkpoints signed by two keys. Checkpoints that are already stored are not replaced.
    async fn keep_rotations(&self, notes: Vec<RotationNote>) -> Result<(), StoreError>;

    /// Returns the leaves of up to `items_max` entries from position `first` on, in order.
    async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the existing leaves in these ranges of positions, in order for each timeline.
    async fn leaves_of(&self, of: Vec<(TimelineKey, Range<u64>)>) -> Result<Vec<Vec<Vec<u8>>>, StoreError>;

    /// Returns the log rows of entries in a range of positions, in either order. Returns at least one if there is one,
    /// and stops once the entries of reads exceed a number of bytes.
    async fn log_rows(
        &self,
        timeline: TimelineKey,
        range: Range<u64>,
        newest_first: bool,
        bytes_max: usize,
    ) -> Result<Vec<LogRow>, StoreError>;

    /// Returns the position of the first of the first `size` entries recorded at or after a host instant, or `size` if
    /// there is none. Runs in time logarithmic in `size`.
    async fn first_recorded_at(&self, timeline: TimelineKey, host: Instant<Wall>, size: u64)
    -> Result<u64, StoreError>;

    /// Callers only request hashes of complete subtrees of a committed tree.
    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError>;

    /// Checking whether a commit would succeed makes a write that changes nothing, as durable as a commit.
    async fn health(&self, expected: Health) -> Result<(), StoreError>;
}

/// Prunes data that is not kept forever, separately from commits, and stores the host time by which this is decided.
///
/// Each method is one atomic step, as those of [`Store`].
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Clears the payloads and salts of up to `items_max` entries of an ended timeline, from position `from` on, or
    /// deletes as many of its other rows. Returns the position to continue from. Returns `None` when nothing is left:
    /// the timeline is then marked, and erased data is in no database log any more.
    ///
    /// Does nothing to a timeline that has not ended.
    async fn prune_ended(&self, ended: &EndedTimeline, from: u64, items_max: usize) -> Result<Option<u64>, StoreError>;

    async fn sweeps_left(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError>;

    /// Prunes payload and salt of entries named by a committed sweep; their leaves stay. With `finished`, also marks
    /// the sweep at that position as finished. Pass few positions at a time, because commits wait in the meantime.
    async fn sweep(&self, timeline: TimelineKey, positions: Vec<u64>, finished: Option<u64>) -> Result<(), StoreError>;

    async fn sweep_marks(&self, timeline: TimelineKey) -> Result<Vec<SweepMark>, StoreError>;

    /// Stores how far a timeline is swept, if there is nothing for a sweep to name.
    async fn mark_swept(&self, timeline: TimelineKey, mark: SweepMark) -> Result<(), StoreError>;

    /// Deletes a limited number of outcomes that expired before an instant. Returns whether there may be more.
    async fn forget_outcomes(&self, before: Instant<Wall>, rows_max: usize) -> Result<bool, StoreError>;

    /// Returns rows that no service leaves behind. Its cost is independent of the size of the ledgers.
    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError>;

    async fn host_clock(&self) -> Result<Option<Instant<Wall>>, StoreError>;

    async fn keep_host_clock(&self, now: Instant<Wall>) -> Result<(), StoreError>;
}
