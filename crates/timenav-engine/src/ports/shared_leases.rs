//! Storage interface for coordination between services that share a database: time keepers of timelines, leases of
//! firings, and queue listeners.
//!
//! None of this is in a ledger. If it is lost, firings are delivered again or later. All instants, and those they are
//! compared with, are readings of the database's clock, so that clocks of two hosts are never compared.

use std::collections::HashSet;

use async_trait::async_trait;
use timenav_core::ids::{FiringId, LeaseId, QueueId};
use timenav_core::limits::{LEASE_SECONDS_MAX, QUEUE_LISTENER_SECONDS};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::leases::HeldByOther;

use crate::ledger::head::TimelineKey;
use crate::ports::store_error::StoreError;
use crate::ports::timer_rows::FiringRow;

/// How long a service counts as present after a heartbeat, in microseconds. It sends ten in that time.
pub const SERVICE_LASTS_MICROS: i64 = 5_000_000;
/// How often a service repeats its list of listeners, in microseconds.
pub(crate) const LISTENING_REPORT_MICROS: i64 = 2_000_000;
/// How long a queue counts as listened to after a heartbeat, in microseconds.
pub const LISTENING_LASTS_MICROS: i64 = QUEUE_LISTENER_SECONDS * 1_000_000 + LISTENING_REPORT_MICROS + 1_000_000;
/// In microseconds. A row with a later end was not written by a service, or by another clock.
pub const LEASE_LASTS_MICROS_MAX: i64 = LEASE_SECONDS_MAX * 1_000_000;
/// Maximum bytes to read of a shared cosigned checkpoint. A note with the maximum number of cosignatures is shorter.
pub const COSIGNED_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of leased firings examined per claim, in addition to the requested number.
pub const OFFERED_BUSY_MAX: usize = 4_096;

/// The stored lease of a firing that was handed out and has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub firing_id: FiringId,
    pub queue: QueueId,
    /// The last claim that it was handed out by.
    pub lease_id: LeaseId,
    pub holder: String,
    /// How often it was handed out.
    pub attempts: u32,
    /// End of the lease; `None` if it is not leased.
    pub until: Option<Instant<Wall>>,
    /// When it may be handed out again.
    pub not_before: Instant<Wall>,
    /// Authenticates the number of attempts.
    pub code: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseQuery {
    /// Pending firings of a queue in the order of delivery: up to the given number, plus the number of leases up to
    /// [`OFFERED_BUSY_MAX`]. Empty if none of them can be handed out.
    Offered(QueueId, usize),
    Named(Vec<FiringId>),
    /// Up to this many whose leases have expired.
    Ended(usize),
    /// Only the holds, which are leases without a firing that keep advances waiting.
    Holds,
}

#[derive(Clone, Debug)]
pub struct LeasesFound {
    /// The reading of the database's clock.
    pub now: Instant<Wall>,
    pub firings: Vec<FiringRow>,
    pub leases: Vec<LeaseRow>,
}

#[derive(Clone, Debug, Default)]
pub struct LeaseChanges {
    /// Leases to insert or to replace by firing.
    pub put: Vec<LeaseRow>,
    pub removed: Vec<FiringId>,
}

/// Decides the changes. Must be fast, because others wait.
pub type ChangeLeases = Box<dyn FnOnce(LeasesFound) -> LeaseChanges + Send>;

/// Heartbeat of a service, with its listeners.
#[derive(Clone, Debug)]
pub struct Presence {
    /// Id of the service, unique per start.
    pub service: String,
    pub name: String,
    pub version: String,
    pub level: u64,
    pub listening: Vec<(TimelineKey, QueueId)>,
}

/// The service that keeps the time of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keeper {
    pub service: String,
    /// Incremented each time that a service takes the timeline.
    pub epoch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityQuery {
    pub timeline: TimelineKey,
    /// Set to find out whether firings that were created at or after that position are held.
    pub open_since: Option<u64>,
    pub firings: Vec<FiringId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub firing_id: FiringId,
    pub lease_id: LeaseId,
    pub holder: String,
}

impl Held {
    /// Returns the part of it that other workers may see.
    pub(crate) fn of_other(&self) -> HeldByOther {
        HeldByOther { firing_id: self.firing_id.clone(), holder: self.holder.clone() }
    }
}

pub(crate) fn lease_row_id(firing_id: &FiringId, queue: &QueueId, holder: Option<&str>) -> String {
    match holder {
        Some(holder) if *queue == QueueId::of_holds() => {
            let (owner, reason) = holder.split_once(' ').unwrap_or((holder, ""));
            format!("the hold `{firing_id}` of {owner}: {reason}")
        }
        Some(holder) => format!("{firing_id} of the queue `{queue}`, claimed by {holder}"),
        None => format!("{firing_id} of the queue `{queue}`, which somebody listens to"),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtWork {
    /// The service that keeps its time; `None` if there never was one.
    pub keeper: Option<Keeper>,
    pub listening: HashSet<QueueId>,
    /// A hold on advances with its name; or the first firing that is leased or whose queue has a listener, with its
    /// queue and holder.
    pub held: Option<(FiringId, QueueId, Option<String>)>,
    pub leased: Vec<Held>,
}

/// Storage for coordination between services that share a database. A store that is not shared implements none of it.
#[async_trait]
pub trait SharedLeases: Send + Sync + 'static {
    /// Changes leases of a timeline. Calls are serialized with each other and with all steps that read leases. `change`
    /// receives the committed state, and its result is committed before the next reader.
    async fn change_leases(
        &self,
        _timeline: TimelineKey,
        _query: LeaseQuery,
        _change: ChangeLeases,
    ) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// Returns whether the service counted as present until now. If not, others may have taken its timelines.
    async fn report_presence(&self, _presence: Presence) -> Result<bool, StoreError> {
        Err(not_shared())
    }

    /// Deletes a service that shuts down.
    async fn leave(&self, _service: &str) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// Assigns to a service those of the timelines that no other present service keeps. Returns them with their epochs.
    async fn keep_timelines(
        &self,
        _service: &str,
        _timelines: Vec<TimelineKey>,
    ) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Err(not_shared())
    }

    /// Returns the timelines kept by a service that have expired leases.
    async fn leases_ended(&self, _service: &str) -> Result<Vec<TimelineKey>, StoreError> {
        Err(not_shared())
    }

    /// Returns the activity on a timeline, which may be outdated when this returns.
    async fn at_work(&self, _query: ActivityQuery) -> Result<AtWork, StoreError> {
        Err(not_shared())
    }

    /// Returns the first [`COSIGNED_BYTES_MAX`] bytes of the checkpoint that services share. It is not verified: any
    /// writer of the database may have stored it.
    async fn cosigned_note(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Err(not_shared())
    }

    /// Stores a shared checkpoint if the stored one is still the one that was read. Returns whether it was stored.
    async fn keep_cosigned_note(&self, _read: Option<Vec<u8>>, _note: Vec<u8>) -> Result<bool, StoreError> {
        Err(not_shared())
    }
}

fn not_shared() -> StoreError {
    StoreError::Unavailable("leases of firings are kept in memory here".to_owned())
}
