//! Who keeps the time of a timeline, who is at work on its firings, and who listens to its queues, where several services
//! share one database: what is kept of that, and what can be asked.
//!
//! None of it is in a ledger, and nothing is lost with it: then a firing is handed out once more, or later. All instants
//! are by the database's clock, and what an instant is compared with is too, so that no two hosts' clocks ever are.

use std::collections::HashSet;

use async_trait::async_trait;
use timenav_core::ids::{FiringId, LeaseId, QueueId};
use timenav_core::limits::{LEASE_SECONDS_MAX, QUEUE_HEARD_SECONDS};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::leases::HeldByOther;

use crate::head::TimelineKey;
use crate::store_error::StoreError;
use crate::timer_rows::FiringRow;

/// How long a service counts as being there after it said so, in microseconds. It says so ten times meanwhile.
pub const SERVICE_LASTS_MICROS: i64 = 5_000_000;
/// How long a service knows that it has said who listens until it says so again, in microseconds.
pub(crate) const LISTENING_TOLD_MICROS: i64 = 2_000_000;
/// How long a queue counts as heard after a service said so, in microseconds.
pub const HEARD_LASTS_MICROS: i64 = QUEUE_HEARD_SECONDS * 1_000_000 + LISTENING_TOLD_MICROS + 1_000_000;
/// How long a lease lasts at most, in microseconds. What ends later was not written by a service, or by another clock.
pub const LEASE_LASTS_MICROS_MAX: i64 = LEASE_SECONDS_MAX * 1_000_000;
/// Bytes that are read of a cosigned checkpoint that services share. One with as many cosignatures as a note may have is
/// shorter.
pub const COSIGNED_BYTES_MAX: usize = 64 * 1024;
/// Firings that are looked through for one claim, beside those that are asked for.
pub const OFFERED_BUSY_MAX: usize = 4_096;

/// What is kept of a firing that was handed out and has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    /// Which.
    pub firing_id: FiringId,
    /// The queue that it waits in.
    pub queue: QueueId,
    /// The claim that it was handed out by last.
    pub lease_id: LeaseId,
    /// Who has it, or had it last.
    pub holder: String,
    /// How often it was handed out.
    pub attempts: u32,
    /// Until when it is leased; `None` where nobody has it.
    pub until: Option<Instant<Wall>>,
    /// When it may be handed out again.
    pub not_before: Instant<Wall>,
    /// Shows that a service wrote how often it was handed out.
    pub code: [u8; 32],
}

/// Which firings of a timeline are meant, with what is kept of their leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeasesWanted {
    /// Those of a queue that have no outcome, in the order in which they are offered: at most so many, and as many more as
    /// there are leases, up to [`OFFERED_BUSY_MAX`]. None at all where none of them can be handed out.
    Offered(QueueId, usize),
    /// Those of these names.
    Named(Vec<FiringId>),
    /// At most so many whose leases have ended.
    Ended(usize),
    /// None, but the leases that hold advances without one.
    Holds,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct LeasesFound {
    /// What the database's clock shows.
    pub now: Instant<Wall>,
    /// The firings, where those of a queue were asked for.
    pub firings: Vec<FiringRow>,
    /// What is kept of their leases.
    pub leases: Vec<LeaseRow>,
}

/// What becomes of leases.
#[derive(Clone, Debug, Default)]
pub struct LeaseChanges {
    /// New ones, or in the place of those of the same firings.
    pub put: Vec<LeaseRow>,
    /// Firings of which nothing is kept any more.
    pub removed: Vec<FiringId>,
}

/// Decides what becomes of leases. It may take no time: others wait.
pub type ChangeLeases = Box<dyn FnOnce(LeasesFound) -> LeaseChanges + Send>;

/// That a service is there, and who listens through it.
#[derive(Clone, Debug)]
pub struct Presence {
    /// Which service, by an id that no other start has.
    pub service: String,
    /// By which name the operator knows it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The feature level that it knows.
    pub level: u64,
    /// The queues that somebody listens to.
    pub listening: Vec<(TimelineKey, QueueId)>,
}

/// Who keeps the time of a timeline. Grows by one each time that somebody takes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keeper {
    /// Which service.
    pub service: String,
    /// How often the timeline was taken.
    pub epoch: u64,
}

/// What is asked of who is at work on a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWorkWanted {
    /// On which.
    pub timeline: TimelineKey,
    /// Whether something holds firings that were made by an entry at that position or a later one.
    pub open_since: Option<u64>,
    /// Firings of which it is asked who has them.
    pub firings: Vec<FiringId>,
}

/// Somebody has a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which.
    pub firing_id: FiringId,
    /// By which claim.
    pub lease_id: LeaseId,
    /// Who.
    pub holder: String,
}

impl Held {
    /// Returns what is told of it to somebody who does not have it.
    pub(crate) fn of_other(&self) -> HeldByOther {
        HeldByOther { firing_id: self.firing_id.clone(), holder: self.holder.clone() }
    }
}

/// Says who has a firing, or what holds an advance without one.
pub(crate) fn told_of(firing_id: &FiringId, queue: &QueueId, holder: Option<&str>) -> String {
    match holder {
        Some(holder) if *queue == QueueId::of_holds() => {
            let (owner, reason) = holder.split_once(' ').unwrap_or((holder, ""));
            format!("the lease `{firing_id}` of {owner}: {reason}")
        }
        Some(holder) => format!("{firing_id} of the queue `{queue}`, claimed by {holder}"),
        None => format!("{firing_id} of the queue `{queue}`, which somebody listens to"),
    }
}

/// Who is at work on a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtWork {
    /// Who keeps its time; `None` where nobody ever did.
    pub keeper: Option<Keeper>,
    /// The queues that somebody listens to.
    pub heard: HashSet<QueueId>,
    /// A lease that holds advances, by its name, or the first firing that somebody holds, or whose queue is heard: its queue,
    /// and who has it.
    pub held: Option<(FiringId, QueueId, Option<String>)>,
    /// Those of the firings that were asked for which somebody has.
    pub leased: Vec<Held>,
}

/// Where services that share a database keep who is at work on what. A store that nobody shares keeps nothing of it.
#[async_trait]
pub trait SharedLeases: Send + Sync + 'static {
    /// Changes leases of a timeline, one after the other with all who do, and with all steps that look at them: `change` is
    /// told what is committed by then, and what it returns is committed before anybody else is told.
    async fn change_leases(
        &self,
        _timeline: TimelineKey,
        _wanted: LeasesWanted,
        _change: ChangeLeases,
    ) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// Keeps that a service is there, and who listens through it. Returns whether it was known to be there until now:
    /// otherwise others may have taken over what it looked after.
    async fn tell_presence(&self, _presence: Presence) -> Result<bool, StoreError> {
        Err(not_shared())
    }

    /// Forgets a service that ends.
    async fn leave(&self, _service: &str) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// Gives a service those of some timelines whose time no other service keeps that is still there. Returns them, each
    /// with its epoch.
    async fn keep_timelines(
        &self,
        _service: &str,
        _timelines: Vec<TimelineKey>,
    ) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Err(not_shared())
    }

    /// Returns the timelines with leases that have ended, of those whose time a service keeps.
    async fn leases_ended(&self, _service: &str) -> Result<Vec<TimelineKey>, StoreError> {
        Err(not_shared())
    }

    /// Returns who is at work on a timeline. Others may be by the time that this is known.
    async fn at_work(&self, _wanted: AtWorkWanted) -> Result<AtWork, StoreError> {
        Err(not_shared())
    }

    /// Returns the checkpoint that a service has put there for the others, as it stands there: the first
    /// [`COSIGNED_BYTES_MAX`] bytes of it. Whoever may write to the database may have put anything there.
    async fn cosigned_note(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Err(not_shared())
    }

    /// Puts a checkpoint there, if what is there is still what this service has read. Returns whether it did.
    async fn keep_cosigned_note(&self, _read: Option<Vec<u8>>, _note: Vec<u8>) -> Result<bool, StoreError> {
        Err(not_shared())
    }
}

fn not_shared() -> StoreError {
    StoreError::Unavailable("leases of firings are kept in memory here".to_owned())
}
