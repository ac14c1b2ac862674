//! Where timelines of other services arrive, batch by batch, before they stand.

use async_trait::async_trait;
use timenav_core::anchor::Anchor;
use timenav_core::ids::TimelineId;

use crate::archive::Orphan;
use crate::head::TimelineKey;
use crate::rows::{DataRecord, EventEnd, EventRow, InterventionRow, StoredEntry, SweepRow};
use crate::store_error::StoreError;
use crate::timer_rows::TimerRows;

/// How long others wait for the next batch of a bundle until they take it for one that nobody goes on with, in
/// microseconds of the database's clock. Only where several services share a database.
pub const ARRIVAL_LASTS_MICROS: i64 = 60_000_000;

/// Some of the rows of a timeline that arrives: as many as fit into one transaction that others wait for.
#[derive(Debug, Default)]
pub struct ArrivingRows {
    /// Entries, in order.
    pub entries: Vec<StoredEntry>,
    /// Versions of events that ceased to stand: they are here, or were handed over before.
    pub ends: Vec<EventEnd>,
    /// Versions of events.
    pub events: Vec<EventRow>,
    /// Interventions.
    pub interventions: Vec<InterventionRow>,
    /// Anchors.
    pub anchors: Vec<Anchor>,
    /// Sealed records.
    pub data: Vec<DataRecord>,
    /// Sweeps.
    pub sweeps: Vec<SweepRow>,
    /// What happens to timers, in this order: the same row may be written by each.
    pub timers: Vec<TimerRows>,
}

impl ArrivingRows {
    /// Goes on with what happens to timers later.
    pub(crate) fn add_timers(&mut self, later: TimerRows) {
        match self.timers.last_mut().filter(|rows| rows.is_followed_by(&later)) {
            Some(rows) => rows.extend(later),
            None => self.timers.push(later),
        }
    }
}

/// What another hand has made of timelines that arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrayArrivals {
    /// Rows under numbers below zero that no timeline has, and that nothing arrives under: their mark was taken away.
    pub orphans: Vec<Orphan>,
    /// Numbers that are marked, and are those of a timeline that stands or has ended, or not below zero.
    pub marked: Vec<i64>,
}

/// Keeps rows of timelines that do not stand yet.
///
/// A bundle arrives under numbers that no timeline has, so nothing finds its rows: readers ask by the numbers of
/// timelines that stand. A mark says of each number that it arrives. It goes in the commit that makes the timelines
/// stand ([`ArrivalCommit`](crate::ArrivalCommit)), or after the last of the rows, where nobody goes on with the
/// bundle.
///
/// Each method is one atomic step, as those of [`Store`](crate::Store), and may be called from any task. None of them
/// is a step of a ledger, so commits go on between them.
#[async_trait]
pub trait Arrivals: Send + Sync + 'static {
    /// Marks numbers for timelines that arrive together, all of them below zero and without any row. Returns them in
    /// the order of the names.
    ///
    /// # Errors
    /// No number is left, or the store does not answer.
    async fn begin_arrival(&self, arrival: &str, timelines: Vec<TimelineId>) -> Result<Vec<TimelineKey>, StoreError>;

    /// Keeps rows of a timeline of which so many entries are there. Others know from this too that the bundle is still
    /// arriving.
    ///
    /// # Errors
    /// The bundle is taken for one that nobody goes on with, or the store does not answer.
    async fn put_arriving(
        &self,
        arrival: &str,
        timeline: TimelineKey,
        size: u64,
        rows: ArrivingRows,
    ) -> Result<(), StoreError>;

    /// Lets others know that a bundle is still arriving.
    ///
    /// # Errors
    /// It is taken for one that nobody goes on with, or the store does not answer.
    async fn keep_arrival(&self, arrival: &str) -> Result<(), StoreError>;

    /// Returns the bundles that are arriving, or have been given up. Where others share the store, only those of which
    /// they were not heard for [`ARRIVAL_LASTS_MICROS`], or that were given up. Costs nothing where nothing is
    /// arriving.
    async fn arrivals_left(&self) -> Result<Vec<String>, StoreError>;

    /// Gives up a bundle, and takes away some of its rows, at most so many of a table; its marks in the end. Returns
    /// whether anything is left. Does nothing to one that has stood up, or that others let themselves be heard of
    /// meanwhile.
    ///
    /// From the first call on nothing is added to it and it never stands. The caller does not call this for one that
    /// it has in hand.
    ///
    /// # Errors
    /// A timeline stands or has ended under one of its numbers, so that its rows are kept; or the store does not
    /// answer.
    async fn clear_arrival(&self, arrival: &str, items_max: usize) -> Result<bool, StoreError>;

    /// Returns what no service leaves behind. Its cost does not grow with ledgers.
    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError>;
}
