//! The door to what is kept.

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

use crate::archive::{Orphan, ScanSource};
use crate::commit_times::OnWritten;
use crate::directory::DirectoryChange;
use crate::event_filter::EventFilter;
use crate::facts::{Asker, Facts, ToldRows, Wanted};
use crate::followers_door::SharedFollowers;
use crate::head::{EndedTimeline, Head, Layer, TimelineKey};
use crate::hint::Hint;
use crate::leasing_door::SharedLeases;
use crate::options::FEATURE_LEVEL;
use crate::rows::{
    DataRecord, Described, Erasure, EventEnd, EventPlace, EventRow, EventSpot, EventStretches, IdempotencyRecord,
    InterventionRow, LogRow, StoredEntry, StoredEvent, SweepMark, SweepRow,
};
use crate::store_error::StoreError;
use crate::timer_rows::TimerRows;

/// Everything the engine needs to start. Its size does not grow with history.
#[derive(Debug, Default)]
pub struct Opened {
    /// The newest state of every timeline.
    pub heads: Vec<Head>,
    /// Timelines that have ended.
    pub ended: Vec<EndedTimeline>,
    /// Users, and what shows who they are.
    pub directory: Directory,
    /// Codes over single rows, where the rows of `system` were never signed together.
    pub seals: CarriedSeals,
}

/// Codes over single rows of passwords and sessions, as versions before there were head statements wrote them. They
/// count until the first statement of `system`.
#[derive(Debug, Default)]
pub struct CarriedSeals {
    /// By user.
    pub passwords: HashMap<UserId, [u8; 32]>,
    /// By session.
    pub sessions: HashMap<SessionId, [u8; 32]>,
}

/// One atomic step: everything in it becomes true, or nothing does.
#[derive(Debug, Default)]
pub struct Commit {
    /// What happens to each timeline, each at most once.
    pub timelines: Vec<TimelineCommit>,
    /// Timelines that the step relies on and does not change, and the sizes that their ledgers must have; `None` where
    /// there must be no such timeline. Empty where no others write.
    pub relied: Vec<(TimelineId, Option<u64>)>,
    /// The version of the directory that the step was decided against, where its heads are locked. It is looked at last,
    /// unless the step changes `system`, which is locked then.
    pub decided_against: Option<u64>,
    /// What happens to users, keys, passwords and sessions.
    pub directory: Vec<DirectoryChange>,
    /// Outcomes that a repeated request is answered with.
    pub outcomes: Vec<IdempotencyRecord>,
    /// Outcomes that are kept, with what is left of them once the content of an event was erased. Each may be one of those
    /// above. One that is not kept any more stays away.
    pub outcomes_erased: Vec<IdempotencyRecord>,
    /// Outcomes that have expired by this instant give way to others under their keys. No other outcome does, where several
    /// write: then the request was done already, and the step is to be decided again.
    pub outcomes_expired_by: Option<Instant<Wall>>,
    /// Whether the fingerprints of all outcomes from before this step become
    /// [`Idempotency::FINGERPRINT_FORGOTTEN`](crate::Idempotency::FINGERPRINT_FORGOTTEN).
    pub forget_fingerprints: bool,
    /// Is called once all of this is written, right before it is made durable.
    pub on_written: OnWritten,
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
    /// New ledger entries, in order: the last ones of the ledger.
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
    /// New policies of retention, with the positions of their entries.
    pub policies: Vec<(u64, Retention)>,
    /// New sweeps. What they name is let go afterwards, by [`Upkeep::sweep`].
    pub sweeps: Vec<SweepRow>,
    /// What happens to timers.
    pub timers: TimerRows,
}

/// A checkpoint that two keys have signed, where one took the place of the other.
#[derive(Clone, Debug)]
pub struct RotationNote {
    /// On which timeline.
    pub timeline: TimelineKey,
    /// The position of the entry that tells of it.
    pub position: u64,
    /// The signed note.
    pub note: Arc<str>,
}

/// Rows under numbers below zero, which timelines that were adopted have: what of them is another hand's doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrayArrivals {
    /// Rows under numbers that no timeline has, and that nothing arrives under: their mark was taken away.
    pub orphans: Vec<Orphan>,
    /// Numbers that are marked as those of timelines that arrive, and are those of a timeline that stands or has ended, or
    /// not below zero.
    pub marked: Vec<i64>,
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
    /// Whether those are meant too that begin before that and last into it. Nobody asks for spots so.
    pub overlapping: bool,
    /// Only events after this time, layer and position, in the order that is asked for.
    pub after: Option<EventPlace>,
    /// At most so many.
    pub items_max: usize,
    /// Whether the last ones come first.
    pub newest_first: bool,
}

/// Events that pass a filter, as far as was looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsPassing {
    /// The events, in the order that was asked for.
    pub events: Vec<StoredEvent>,
    /// How many events were looked through that the filter does not hide.
    pub searched: usize,
    /// Time, layer and position of the last event that was looked at, hidden or not, where there may be more after it.
    pub searched_to: Option<EventPlace>,
}

/// Positions of versions of events, for each layer.
pub type Overridden = Vec<HashSet<u64>>;

/// Which events are asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Those of a place.
    Location(LocationQuery),
    /// That one.
    Event(EventId),
}

/// What is known of ledgers as a step begins, whose heads it has locked.
#[derive(Clone, Debug, Default)]
pub struct Locked {
    /// The sizes of those that were asked for; one that does not stand has none.
    pub sizes: HashMap<TimelineKey, u64>,
    /// The size of `system`, and the version of the directory.
    pub system: (u64, u64),
    /// The feature level of the database.
    pub level: u64,
}

/// The tree of a ledger, as it stands in the store.
#[derive(Clone, Debug)]
pub struct StoredTree {
    /// Of which timeline.
    pub timeline: TimelineKey,
    /// The tree.
    pub frontier: Frontier,
    /// What is kept of the head statement.
    pub statement: Arc<[u8]>,
}

/// How the connections to a database are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionsUse {
    /// Connections there may be.
    pub max: u64,
    /// Connections there are.
    pub open: u64,
    /// Those that somebody uses.
    pub in_use: u64,
    /// How many wait for one.
    pub waiting: u64,
    /// Connections that were made since the start.
    pub made: u64,
    /// Transactions that began anew since the start, because they lost against others.
    pub retries: u64,
    /// Commits since the start whose answer was lost, so that it had to be found out what became of them.
    pub unanswered: u64,
}

/// What is asked of the health of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Whether it answers.
    Answers,
    /// Whether something could be written.
    Writes,
}

/// Keeps ledgers and what follows from them.
///
/// Each method is one atomic step of a use case: durable on `Ok`, without effect on `Err`.
/// Retries that make sense happen inside. Methods may be called from many tasks at once, except
/// [`Store::commit`], which the engine calls from one thread of its own and which may block it.
#[async_trait]
pub trait Store: ScanSource + Upkeep + SharedLeases + SharedFollowers {
    /// Returns what the engine starts from. Its cost does not grow with the ledgers.
    async fn open(&self) -> Result<Opened, StoreError>;

    /// Returns whether others may write to what is kept beside this service. Where none may, a size that is not the
    /// expected one is another hand's doing.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns whether other services may be at work on the same database right now, so that what readers know of it here
    /// may be older than what somebody was answered there.
    fn has_others(&self) -> bool {
        false
    }

    /// Begins a step: locks the heads of timelines, so that nobody moves them until the step ends. What it returns, and
    /// what [`Asker::Writer`] is told from here on, was read after that. The next commit is the step's; without one it ends
    /// by [`Store::release`]. `None` where nobody else writes, and nothing has to be locked.
    async fn lock(&self, _timelines: &[TimelineKey]) -> Result<Option<Locked>, StoreError> {
        Ok(None)
    }

    /// Returns the feature level of the database, now.
    async fn feature_level(&self) -> Result<u64, StoreError> {
        Ok(FEATURE_LEVEL)
    }

    /// Ends a step without effect. Does nothing where none has begun.
    async fn release(&self) {}

    /// Waits until the steps of others have ended that have begun by now. Some of them may have been decided against what
    /// the directory was before.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]: one of them goes on for too long.
    async fn wait_for_open_steps(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the size of each ledger, all of one moment.
    async fn sizes(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Ok(self.open().await?.heads.iter().map(|head| (head.key, head.frontier.size())).collect())
    }

    /// Returns the newest heads of some timelines, and of all whose numbers are outside of a range, by number.
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

    /// Returns what is kept of the passwords of some users, and of some timelines that have ended.
    async fn told_rows(&self, users: Vec<UserId>, ended: Vec<TimelineId>) -> Result<ToldRows, StoreError> {
        let Opened { directory, ended: mut all_ended, .. } = self.open().await?;
        all_ended.retain(|one| ended.contains(&one.id));
        let passwords = users.iter().filter_map(|user_id| directory.passwords.get(user_id));
        Ok(ToldRows { passwords: passwords.map(|password| (**password).clone()).collect(), ended: all_ended })
    }

    /// Returns what [`Store::open`] does, of all timelines that stand with `system` alone.
    async fn open_directory(&self) -> Result<Opened, StoreError> {
        let mut opened = self.open().await?;
        opened.heads.retain(|head| head.id.is_system());
        Ok(opened)
    }

    /// Returns the trees of those of some timelines that stand.
    async fn trees(&self, timelines: Vec<TimelineKey>) -> Result<Vec<StoredTree>, StoreError> {
        let all = TimelineKey(i64::MIN)..=TimelineKey(i64::MAX);
        let heads = self.newest(&timelines, all).await?.into_iter();
        let tree = |head: Head| StoredTree { timeline: head.key, frontier: head.frontier, statement: head.statement };
        Ok(heads.map(tree).collect())
    }

    /// Waits until another service may have written something, and returns where. It is a hint, which may get lost.
    async fn hint(&self) -> Hint {
        std::future::pending().await
    }

    /// Returns what the clock of the machine shows that keeps the store; `None` where that is this one.
    async fn database_clock(&self) -> Result<Option<Instant<Wall>>, StoreError> {
        Ok(None)
    }

    /// Returns how many transactions ago the oldest snapshot was taken that somebody still holds; 0 where nobody can.
    async fn snapshot_age(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Returns how connections to the store are used; `None` where there are none.
    fn connections_use(&self) -> Option<ConnectionsUse> {
        None
    }

    /// Makes one step true. Compares each timeline's size with the expected one first, and those that it relies on.
    ///
    /// A change of the directory is in force once this returns: no step that was decided before it is still to come.
    async fn commit(&self, commit: Commit) -> Result<(), StoreError>;

    /// Returns an answer to each question, all of one moment.
    async fn facts(&self, wanted: Wanted, asker: Asker) -> Result<Facts, StoreError>;

    /// Returns the ids of at most `items_max` events of a name, the earliest first: of those that stand, or else of those
    /// that had the name when they last stood. `key` is what [`crate::name_key`] makes of the name.
    async fn events_named(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError>;

    /// Returns the earliest event of exactly that description: one that stands, or else one that had it when it stood
    /// last. Looks through so many rows of events at most.
    async fn event_described(
        &self,
        layers: Arc<[Layer]>,
        description: String,
        searched_max: usize,
    ) -> Result<Described, StoreError>;

    /// Returns standing events whose ids or names are nearly a key, the nearest first, a few of them,
    /// each with its name if it has one. Looks through so many at most.
    async fn names_near(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        searched_max: usize,
    ) -> Result<Vec<(EventId, Option<String>)>, StoreError>;

    /// Returns the ids of at most `items_max` events that were recorded on a timeline before a position, and that nothing
    /// changed from there on: those after one id, in their order. Cancelled ones are among them. May take long.
    async fn events_unchanged_since(
        &self,
        timeline: TimelineKey,
        position: u64,
        after: Option<EventId>,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError>;

    /// Returns what [`Store::events`] would, on the thread that asks, if that takes no more than a moment. `None` where it
    /// may take longer.
    ///
    /// # Errors
    /// The store does not answer.
    fn events_at_once(&self, query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// Returns events ordered by time, then layer, then position; or the other way round. May take long.
    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError>;

    /// Returns when and where each of the events is that [`Store::events`] would return, in the same order. Where a later
    /// layer has another version of an event, it is returned all the same; [`Store::overridden`] tells of those.
    /// With the source and actors of each, if they are asked for.
    async fn event_spots(&self, query: EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, StoreError>;

    /// Counts the events that [`Store::events`] would return in stretches of time. `None` where that is no quicker than to
    /// ask for their spots: it depends on the query but for [`EventQuery::after`] and [`EventQuery::items_max`].
    async fn event_stretches(&self, query: EventQuery, bucket: Bucket) -> Result<Option<EventStretches>, StoreError>;

    /// Returns whether an index has the source and the actors of events, so that no event is read for them.
    fn keeps_parties(&self) -> bool;

    /// Returns the positions of all versions of events, layer by layer, that do not count because a later layer overrides
    /// them. `None` if later layers have so many versions that more than `rows_max` rows would be looked at.
    async fn overridden(&self, layers: Arc<[Layer]>, rows_max: usize) -> Result<Option<Overridden>, StoreError>;

    /// Returns those of the events that [`Store::events`] would that pass a filter. Looks through so many at most, and
    /// stops where as many pass as are asked for. Events that the filter hides do not count, and many of them are an end
    /// too, so that none of them is looked at in vain for long.
    async fn events_passing(
        &self,
        query: EventQuery,
        filter: Arc<EventFilter>,
        searched_max: usize,
    ) -> Result<EventsPassing, StoreError>;

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

    /// Keeps checkpoints that two keys have signed. Those that are kept already stay.
    async fn keep_rotations(&self, notes: Vec<RotationNote>) -> Result<(), StoreError>;

    /// Returns the leaves of at most `items_max` entries from position `first` on, in order.
    async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the leaves there are at these positions of some timelines, those of each in order.
    async fn leaves_of(&self, of: Vec<(TimelineKey, Range<u64>)>) -> Result<Vec<Vec<Vec<u8>>>, StoreError>;

    /// Returns what entries in a range of positions tell of who did what, in the order of positions or the other way
    /// round: at least one, if there is one, and no more once those that tell of reads have so many bytes.
    async fn log_rows(
        &self,
        timeline: TimelineKey,
        range: Range<u64>,
        newest_first: bool,
        bytes_max: usize,
    ) -> Result<Vec<LogRow>, StoreError>;

    /// Returns the position of the first entry recorded at or after a host instant, among the
    /// first `size` entries; `size` where there is none. Costs the logarithm of `size`.
    async fn first_recorded_at(&self, timeline: TimelineKey, host: Instant<Wall>, size: u64)
    -> Result<u64, StoreError>;

    /// Returns the first `width` hashes of one tile of a timeline's tree. The caller asks only
    /// for hashes of complete subtrees of a tree that was committed.
    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError>;

    /// Returns whether the store answers, or whether a commit would fail: then something that changes nothing is written, as
    /// durable as a commit.
    async fn health(&self, asked: Health) -> Result<(), StoreError>;
}

/// Lets go what is not kept forever, beside the commits, and keeps the time by which that is decided.
///
/// Each method is one atomic step, as those of [`Store`].
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Empties the payloads and salts of at most `items_max` entries of a timeline that has ended, from position `from`
    /// on, or takes away so many of its other rows. Returns from where to go on, and `None` once nothing is left: then the
    /// timeline is marked, and what was erased is in no log any more.
    ///
    /// Nothing happens to a timeline that stands.
    async fn let_go(&self, ended: &EndedTimeline, from: u64, items_max: usize) -> Result<Option<u64>, StoreError>;

    /// Returns the sweeps that are not finished: timelines, and positions of the sweeps' entries.
    async fn sweeps_left(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError>;

    /// Lets payload and salt of entries go, which a sweep that was committed names; their leaves stay. With `finished`, the
    /// sweep at that position is finished by it. The caller hands over few at a time: nothing is committed meanwhile.
    async fn sweep(&self, timeline: TimelineKey, positions: Vec<u64>, finished: Option<u64>) -> Result<(), StoreError>;

    /// Returns how far a timeline is swept.
    async fn sweep_marks(&self, timeline: TimelineKey) -> Result<Vec<SweepMark>, StoreError>;

    /// Keeps how far a timeline is swept, where no sweep has anything to name.
    async fn mark_swept(&self, timeline: TimelineKey, mark: SweepMark) -> Result<(), StoreError>;

    /// Forgets at most so many of the outcomes that expired before an instant. Returns whether there may be more.
    async fn forget_outcomes(&self, before: Instant<Wall>, rows_max: usize) -> Result<bool, StoreError>;

    /// Returns what no service leaves behind. Its cost does not grow with ledgers.
    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError>;

    /// Returns host time when it was last known to be right.
    async fn host_clock(&self) -> Result<Option<Instant<Wall>>, StoreError>;

    /// Keeps that it is known to be right.
    async fn keep_host_clock(&self, now: Instant<Wall>) -> Result<(), StoreError>;
}
