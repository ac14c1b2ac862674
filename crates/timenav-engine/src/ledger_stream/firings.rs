//! Firings as they are offered, worked on and settled, for those who observe them and claim none.

use std::collections::HashMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::{FiringId, QueueId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::{Fallen, FiringState};

use super::{LedgerStream, News, Seen, Told, WatchLedger, WatchedParadoxes};
use crate::action::{Action, OnTimers};
use crate::caller::Caller;
use crate::engine::Engine;
use crate::event_filter::EventFilter;
use crate::json::read;
use crate::observing::{Attempt, Ear, Heard};
use crate::one_fact::OneFact as _;
use crate::payload::{FiringsSettled, OutcomeOfFiring, TimersFired, TimersRestored, fallen_of};
use crate::refusal::Refusal;
use crate::timer_rows::{FiringRow, TimersWanted};

/// Which firings to observe.
#[derive(Clone, Debug)]
pub struct WatchFirings {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// Of which queue; of all where there is none.
    pub queue: Option<QueueId>,
    /// What was told before; from now on where nothing was.
    pub seen: Option<Seen>,
}

/// What happened to a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FiringNews {
    /// It fell due, and waits for whoever claims it.
    Offered,
    /// It is made again, because the one of the round before has failed.
    Redelivered,
    /// Somebody has claimed it.
    Leased {
        /// Who.
        holder: Arc<str>,
        /// Which attempt it is.
        attempt: u32,
        /// Until when it is leased, by the host.
        until: Instant<Wall>,
    },
    /// Whoever has it keeps it until then, by the host.
    Extended(Instant<Wall>),
    /// An attempt came to nothing. It is tried again, not before that host instant.
    AttemptEnded(Instant<Wall>),
    /// It came to its outcome, and why if it failed.
    Settled(FiringState, Option<String>),
}

/// The queue whose firings are to be observed; those of all where there is none.
pub(super) struct OfQueue(pub(super) Option<QueueId>);

/// Whose firings somebody observes.
pub(super) struct Observing {
    queue: Option<QueueId>,
    ear: Ear,
}

impl Engine {
    /// Observes the firings of a timeline: after what was seen, or from now on. Claims none, and holds up none.
    ///
    /// # Errors
    /// The caller may not, or the ledger cannot be written.
    #[boxed]
    pub async fn watch_firings(&self, caller: &Caller, request: WatchFirings) -> Result<LedgerStream, Refusal> {
        let WatchFirings { timeline, queue, seen } = request;
        let (paradoxes, filter) = (WatchedParadoxes::default(), Arc::new(EventFilter::default()));
        let watch = WatchLedger { timeline, topics: Vec::new(), paradoxes, filter, seen };
        let mut stream = self.open_ledger(caller, watch, Some(OfQueue(queue))).await?;
        // What no ledger keeps happened unheard. Whoever knows nothing, or begins anew, misses nothing by that.
        if let Some(Seen { position, part, .. }) = seen.filter(|_| stream.first.is_empty()) {
            stream.first.push_back(Told { part, ..Told::new(position, News::Gap) });
        }
        Ok(stream)
    }
}

impl Observing {
    pub(super) fn begin(engine: &Engine, timeline: &TimelineId, queue: Option<QueueId>) -> Self {
        Self { queue, ear: engine.timing().observers().listen(timeline) }
    }

    /// Waits until something may be told that no ledger keeps.
    pub(super) async fn told(&self) {
        self.ear.told().await;
    }
}

impl LedgerStream {
    /// Returns what is told next that no ledger keeps.
    pub(super) async fn attempts(&mut self) -> Result<Vec<News>, Refusal> {
        let Some(heard) = self.firings.as_ref().and_then(|observing| observing.ear.next(self.next)) else {
            return Ok(Vec::new());
        };
        let note = match heard {
            Heard::TooMuch => return Ok(vec![News::Gap]),
            Heard::Note(note) => note,
        };
        let news = |attempt: &Attempt| match attempt {
            Attempt::Leased { holder, number, until } => {
                FiringNews::Leased { holder: Arc::clone(holder), attempt: *number, until: *until }
            }
            Attempt::Extended(until) => FiringNews::Extended(*until),
            Attempt::Ended(not_before) => FiringNews::AttemptEnded(*not_before),
        };
        self.of_firings(note.firings.iter().map(|(firing_id, attempt)| (firing_id.clone(), news(attempt))).collect())
            .await
    }

    /// Returns what an entry tells of firings.
    pub(super) async fn firings_of(&self, position: u64, leaf: &[u8]) -> Result<Vec<News>, Refusal> {
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let told = match Action::of(&record).and_then(Action::on_timers) {
            Some(told @ (OnTimers::Fires | OnTimers::Settles | OnTimers::Restores)) => told,
            // A timer alone is no firing.
            Some(OnTimers::Sets | OnTimers::Changes | OnTimers::Cancels) | None => return Ok(Vec::new()),
        };
        let entry = self.engine.store().entry(self.key, position).await?;
        let entry = entry.ok_or_else(|| Refusal::Damaged(format!("entry {position} is missing")))?;
        // What firings of a layer are called that came with a fork is what its entries tell.
        let timeline = self.timeline_id.told();
        let firings = match told {
            OnTimers::Fires => read(&entry.payload).map(|told: TimersFired| offered(&told, &timeline)),
            OnTimers::Settles => read(&entry.payload).and_then(settled),
            OnTimers::Restores => read(&entry.payload).map(|told: TimersRestored<'_>| restored(&told, &timeline)),
            OnTimers::Sets | OnTimers::Changes | OnTimers::Cancels => None,
        };
        let unreadable = || Refusal::Damaged(format!("what entry {position} tells of firings cannot be read"));
        self.of_firings(firings.ok_or_else(unreadable)?).await
    }

    /// Returns what happened to firings, of those that are observed.
    async fn of_firings(&self, happened: Vec<(FiringId, FiringNews)>) -> Result<Vec<News>, Refusal> {
        let Some(observing) = self.firings.as_ref().filter(|_| !happened.is_empty()) else { return Ok(Vec::new()) };
        let named = happened.iter().map(|(firing_id, _)| firing_id.clone()).collect();
        let rows = self.engine.store().timer_rows(self.key, TimersWanted::Firings(named)).await?.firings;
        let rows: HashMap<FiringId, FiringRow> = rows.into_iter().map(|row| (row.firing_id.clone(), row)).collect();
        let is_observed = |row: &FiringRow| observing.queue.as_ref().is_none_or(|queue| row.queue == *queue);
        let told = |(firing_id, news)| {
            let row = rows.get(&firing_id).filter(|row| is_observed(row))?;
            Some(News::Firing(Box::new((row.clone(), news))))
        };
        Ok(happened.into_iter().filter_map(told).collect())
    }
}

fn offered(told: &TimersFired, timeline: &TimelineId) -> Vec<(FiringId, FiringNews)> {
    let fallen = told.fired.iter().filter_map(|&(position, due, round, _)| fallen_of(&(position, due, round)));
    fallen.map(|fallen: Fallen| (fallen.firing_id(timeline), FiringNews::Offered)).collect()
}

fn settled(told: FiringsSettled) -> Option<Vec<(FiringId, FiringNews)>> {
    let outcome = |one: OutcomeOfFiring| {
        let state = FiringState::parse(&one.outcome)?;
        Some((FiringId::new(&one.firing_id).ok()?, FiringNews::Settled(state, one.reason)))
    };
    told.outcomes.into_iter().map(outcome).collect()
}

fn restored(told: &TimersRestored<'_>, timeline: &TimelineId) -> Vec<(FiringId, FiringNews)> {
    let superseded = told.superseded.iter().filter_map(fallen_of);
    let superseded =
        superseded.map(|fallen| (fallen.firing_id(timeline), FiringNews::Settled(FiringState::Superseded, None)));
    // Neither a return nor a fork made it: then somebody asked for it.
    let is_asked_for = told.anchor_id.is_none() && !told.inherited;
    let again = if is_asked_for { FiringNews::Redelivered } else { FiringNews::Offered };
    let fired = told.fired.iter().filter_map(|one| fallen_of(&(one.timer, one.due, one.round)));
    superseded.chain(fired.map(|fallen| (fallen.firing_id(timeline), again.clone()))).collect()
}
