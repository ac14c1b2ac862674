//! Streams of firing state changes, without claiming any.

use std::collections::HashMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::{FiringId, QueueId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::{DueFiring, FiringState};

use super::{LedgerMessage, LedgerStream, LedgerUpdate, Seen, WatchLedger, WatchedParadoxes};
use crate::engine::Engine;
use crate::events::event_filter::EventFilter;
use crate::ledger::action::{Action, OnTimers};
use crate::ledger::payload::{FiringsSettled, OutcomeOfFiring, TimersFired, TimersRestored, due_firing_of};
use crate::ports::lookups::OneFact as _;
use crate::ports::timer_rows::{FiringRow, TimerQuery};
use crate::requests::caller::Caller;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::timers::observing::{Attempt, FiringNotice, FiringSubscription};

#[derive(Clone, Debug)]
pub struct WatchFirings {
    pub timeline: Option<TimelineId>,
    /// `None` for all queues.
    pub queue: Option<QueueId>,
    pub seen: Option<Seen>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FiringUpdate {
    /// It fell due and can be claimed.
    Offered,
    /// It replaces the failed firing of the previous round.
    Redelivered,
    Leased {
        holder: Arc<str>,
        attempt: u32,
        /// End of the lease, in host time.
        until: Instant<Wall>,
    },
    /// The lease was extended until this host time.
    Extended(Instant<Wall>),
    /// An attempt failed. It is not retried before this host time.
    AttemptEnded(Instant<Wall>),
    /// It was settled, with the reason if it failed.
    Settled(FiringState, Option<String>),
}

/// The queue to observe; `None` for all.
pub(super) struct OfQueue(pub(super) Option<QueueId>);

pub(super) struct Observing {
    queue: Option<QueueId>,
    subscription: FiringSubscription,
}

impl Engine {
    /// Observes the firings of a timeline, after the last message that was received or from now on. Neither claims
    /// firings nor delays them.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn watch_firings(&self, caller: &Caller, request: WatchFirings) -> Result<LedgerStream, Refusal> {
        let WatchFirings { timeline, queue, seen } = request;
        let (paradoxes, filter) = (WatchedParadoxes::default(), Arc::new(EventFilter::default()));
        let watch = WatchLedger { timeline, topics: Vec::new(), paradoxes, filter, seen };
        let mut stream = self.open_ledger(caller, watch, Some(OfQueue(queue))).await?;
        // Changes that are not in a ledger may have been missed. A listener that starts or restarts misses none.
        if let Some(Seen { position, part, .. }) = seen.filter(|_| stream.first.is_empty()) {
            stream.first.push_back(LedgerMessage { part, ..LedgerMessage::new(position, LedgerUpdate::Gap) });
        }
        Ok(stream)
    }
}

impl Observing {
    pub(super) fn begin(engine: &Engine, timeline: &TimelineId, queue: Option<QueueId>) -> Self {
        Self { queue, subscription: engine.timing().observers.listen(timeline) }
    }

    /// Waits until there may be a change that is not in the ledger.
    pub(super) async fn notified(&self) {
        self.subscription.notified().await;
    }
}

impl LedgerStream {
    pub(super) async fn attempts(&mut self) -> Result<Vec<LedgerUpdate>, Refusal> {
        let Some(notice) = self.firings.as_ref().and_then(|observing| observing.subscription.next(self.next)) else {
            return Ok(Vec::new());
        };
        let note = match notice {
            FiringNotice::TooMuch => return Ok(vec![LedgerUpdate::Gap]),
            FiringNotice::Note(note) => note,
        };
        let update = |attempt: &Attempt| match attempt {
            Attempt::Leased { holder, number, until } => {
                FiringUpdate::Leased { holder: Arc::clone(holder), attempt: *number, until: *until }
            }
            Attempt::Extended(until) => FiringUpdate::Extended(*until),
            Attempt::Ended(not_before) => FiringUpdate::AttemptEnded(*not_before),
        };
        self.of_firings(note.firings.iter().map(|(firing_id, attempt)| (firing_id.clone(), update(attempt))).collect())
            .await
    }

    pub(super) async fn firings_of(&self, position: u64, leaf: &[u8]) -> Result<Vec<LedgerUpdate>, Refusal> {
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let action = match Action::of(&record).and_then(Action::on_timers) {
            Some(action @ (OnTimers::Fires | OnTimers::Settles | OnTimers::Restores)) => action,
            // These entries are about timers, not firings.
            Some(OnTimers::Sets | OnTimers::Changes | OnTimers::Cancels) | None => return Ok(Vec::new()),
        };
        let entry = self.engine.store().entry(self.key, position).await?;
        let entry = entry.ok_or_else(|| Refusal::Damaged(format!("entry {position} is missing")))?;
        // In a layer that came with a fork, firing ids contain the name that its own entries use.
        let timeline = self.timeline_id.entry_name();
        let firings = match action {
            OnTimers::Fires => read(&entry.payload).map(|payload: TimersFired| offered(&payload, &timeline)),
            OnTimers::Settles => read(&entry.payload).and_then(settled),
            OnTimers::Restores => read(&entry.payload).map(|payload: TimersRestored<'_>| restored(&payload, &timeline)),
            OnTimers::Sets | OnTimers::Changes | OnTimers::Cancels => None,
        };
        let unreadable = || Refusal::Damaged(format!("the firings in entry {position} cannot be read"));
        self.of_firings(firings.ok_or_else(unreadable)?).await
    }

    async fn of_firings(&self, happened: Vec<(FiringId, FiringUpdate)>) -> Result<Vec<LedgerUpdate>, Refusal> {
        let Some(observing) = self.firings.as_ref().filter(|_| !happened.is_empty()) else { return Ok(Vec::new()) };
        let named = happened.iter().map(|(firing_id, _)| firing_id.clone()).collect();
        let rows = self.engine.store().timer_rows(self.key, TimerQuery::Firings(named)).await?.firings;
        let rows: HashMap<FiringId, FiringRow> = rows.into_iter().map(|row| (row.firing_id.clone(), row)).collect();
        let is_observed = |row: &FiringRow| observing.queue.as_ref().is_none_or(|queue| row.queue == *queue);
        let message = |(firing_id, update)| {
            let row = rows.get(&firing_id).filter(|row| is_observed(row))?;
            Some(LedgerUpdate::Firing(Box::new((row.clone(), update))))
        };
        Ok(happened.into_iter().filter_map(message).collect())
    }
}

fn offered(fired: &TimersFired, timeline: &TimelineId) -> Vec<(FiringId, FiringUpdate)> {
    let due_firing = fired.fired.iter().filter_map(|&(position, due, round, _)| due_firing_of(&(position, due, round)));
    due_firing.map(|due_firing: DueFiring| (due_firing.firing_id(timeline), FiringUpdate::Offered)).collect()
}

fn settled(outcomes: FiringsSettled) -> Option<Vec<(FiringId, FiringUpdate)>> {
    let outcome = |one: OutcomeOfFiring| {
        let state = FiringState::parse(&one.outcome)?;
        Some((FiringId::new(&one.firing_id).ok()?, FiringUpdate::Settled(state, one.reason)))
    };
    outcomes.outcomes.into_iter().map(outcome).collect()
}

fn restored(record: &TimersRestored<'_>, timeline: &TimelineId) -> Vec<(FiringId, FiringUpdate)> {
    let superseded = record.superseded.iter().filter_map(due_firing_of);
    let superseded = superseded
        .map(|due_firing| (due_firing.firing_id(timeline), FiringUpdate::Settled(FiringState::Superseded, None)));
    // Without an anchor or a fork as the cause, a redelivery was requested.
    let is_redelivered = record.anchor_id.is_none() && !record.inherited;
    let again = if is_redelivered { FiringUpdate::Redelivered } else { FiringUpdate::Offered };
    let fired = record.fired.iter().filter_map(|one| due_firing_of(&(one.timer, one.due, one.round)));
    superseded.chain(fired.map(|due_firing| (due_firing.firing_id(timeline), again.clone()))).collect()
}
