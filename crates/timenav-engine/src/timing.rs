//! Which timelines have timers, who is at work on their firings, and who is told when that changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use timenav_core::ids::{FiringId, QueueId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::leases::{HeldByOther, Leases, Under};
use timenav_core::timers::{FiringState, Timers};
use tokio::sync::Notify;

use crate::agenda::Agenda;
use crate::head::TimelineState;
use crate::idempotency::Idempotency;
use crate::observing::Observers;
use crate::sharing::Sharing;

/// What is kept in memory of timers, beside what the heads know.
#[derive(Default)]
pub(crate) struct Timing {
    /// Timelines with an armed timer, or with an advance that goes on, and when each is looked at again. Where leases are
    /// not in memory, also those with firings that have no outcome.
    agenda: Mutex<Agenda>,
    leases: Mutex<Leases>,
    /// Whoever keeps the time is woken: something may have to be done earlier than it knows.
    keeper: Notify,
    /// Whoever waits for firings is woken: some may be ready that were not.
    claims: Notify,
    /// How the work is shared with others; `None` where this service is alone.
    sharing: Option<Sharing>,
    /// Timelines with timers whose firings the service sends to webhooks; `None` where it sends none.
    webhooks: Option<Mutex<BTreeSet<TimelineId>>>,
    /// Whoever sends them is woken: there are others.
    sender: Notify,
    /// Those who observe firings.
    observers: Arc<Observers>,
    /// Held by whoever says that attempts failed, and may say so again.
    failing: FailingTurns,
    /// The firings without an outcome at the instants of advances, as they were read last: each wake asks for them.
    open: Mutex<HashMap<TimelineId, Open>>,
}

/// Firings without an outcome, each with its queue.
pub(crate) type OpenFirings = Arc<[(FiringId, QueueId)]>;

/// Firings as they were read.
struct Open {
    /// The position of the last entry that had changed timers or firings by then.
    last: Option<u64>,
    firings: OpenFirings,
}

/// Turns of those who say that attempts failed, with a key to say it again by. Those with the same key come one after the
/// other.
struct FailingTurns([tokio::sync::Mutex<()>; FAILING_TURNS]);

/// How many can say at once that attempts failed: one of so many that a key leads to.
const FAILING_TURNS: usize = 1 << u8::BITS;

impl Default for FailingTurns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| tokio::sync::Mutex::default()))
    }
}

impl Timing {
    /// Returns what is kept where the work is shared with other services.
    pub(crate) fn shared(service: String) -> Self {
        Self { sharing: Some(Sharing::new(service)), ..Self::default() }
    }

    /// From here on the service sends firings to webhooks.
    pub(crate) fn send_webhooks(&mut self) {
        self.webhooks = Some(Mutex::default());
        self.leases.lock().listen_always(QueueId::of_webhooks());
    }

    /// Returns whether the service sends firings to webhooks.
    pub(crate) const fn sends_webhooks(&self) -> bool {
        self.webhooks.is_some()
    }

    /// Returns the timelines with firings for webhooks, now or later, and forgets those that have ended.
    pub(crate) fn webhook_timelines(&self, is_there: impl Fn(&TimelineId) -> bool) -> BTreeSet<TimelineId> {
        let Some(timelines) = &self.webhooks else { return BTreeSet::new() };
        let mut found = timelines.lock().clone();
        found.retain(|timeline| is_there(timeline));
        timelines.lock().retain(|timeline| found.contains(timeline) || is_there(timeline));
        found
    }

    /// Waits until there are others.
    pub(crate) const fn sender(&self) -> &Notify {
        &self.sender
    }

    fn note_webhooks(&self, timeline: &TimelineId, timers: &Timers) {
        let Some(timelines) = self.webhooks.as_ref().filter(|_| timers.webhooks) else { return };
        let is_on = timers.next.is_some() || timers.advance.is_some() || timers.pending > 0;
        let mut timelines = timelines.lock();
        if timelines.contains(timeline) != is_on {
            if is_on {
                timelines.insert(timeline.clone());
            } else {
                timelines.remove(timeline);
            }
            self.sender.notify_one();
        }
    }

    /// Waits until nobody else says with the same key that attempts failed.
    pub(crate) async fn turn_to_fail(&self, idempotency: &Idempotency) -> tokio::sync::MutexGuard<'_, ()> {
        let [first, ..] = idempotency.key;
        self.failing.0[usize::from(first)].lock().await
    }

    pub(crate) const fn observers(&self) -> &Arc<Observers> {
        &self.observers
    }

    pub(crate) const fn sharing(&self) -> Option<&Sharing> {
        self.sharing.as_ref()
    }

    /// A timeline is seen in another state.
    pub(crate) fn published(&self, before: Option<&Arc<TimelineState>>, state: &TimelineState) {
        let (head, timers) = (&state.head, &state.head.timers);
        self.note_webhooks(&head.id, timers);
        let is_same =
            before.is_some_and(|before| Arc::ptr_eq(&before.head.timers, timers) && before.head.clock == head.clock);
        let is_leased_elsewhere = self.sharing.is_some() && timers.pending > 0;
        let is_on = timers.next.is_some() || timers.advance.is_some() || is_leased_elsewhere;
        if is_same || (!is_on && before.is_none_or(|before| Arc::ptr_eq(&before.head.timers, timers))) {
            return;
        }
        if is_on {
            self.agenda.lock().changed(&head.id);
            if let Some(sharing) = &self.sharing {
                sharing.look_for_keeper(&head.id);
            }
        } else {
            self.forget(&head.id);
        }
        self.wake_keeper();
    }

    /// Returns the firings without an outcome at the instant of a timeline's advance, if they were read since timers or firings
    /// have changed there, by the entry at a position.
    pub(crate) fn open_firings(&self, timeline: &TimelineId, last: Option<u64>) -> Option<OpenFirings> {
        let open = self.open.lock();
        open.get(timeline).filter(|open| open.last == last).map(|open| Arc::clone(&open.firings))
    }

    /// Forgets them: nobody asks for them here any more.
    pub(crate) fn forget_open_firings(&self, timeline: &TimelineId) {
        self.open.lock().remove(timeline);
    }

    /// Keeps what was read.
    pub(crate) fn keep_open_firings(&self, timeline: &TimelineId, last: Option<u64>, firings: OpenFirings) {
        self.open.lock().insert(timeline.clone(), Open { last, firings });
    }

    pub(crate) fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock()
    }

    /// Forgets a timeline that has ended, or has no timers any more.
    pub(crate) fn forget(&self, timeline: &TimelineId) {
        self.agenda.lock().forget(timeline);
        self.forget_open_firings(timeline);
        if let Some(sharing) = &self.sharing {
            sharing.forget(timeline);
        }
    }

    pub(crate) fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock()
    }

    pub(crate) fn wake_keeper(&self) {
        self.keeper.notify_one();
    }

    pub(crate) fn wake_claims(&self) {
        self.claims.notify_waiters();
    }

    pub(crate) const fn keeper(&self) -> &Notify {
        &self.keeper
    }

    pub(crate) const fn claims(&self) -> &Notify {
        &self.claims
    }
}

/// Firings whose outcome is on its way to the ledger.
pub(crate) struct Settling<'a> {
    timing: &'a Timing,
    timeline: &'a TimelineId,
    firing_ids: Vec<FiringId>,
}

impl<'a> Settling<'a> {
    pub(crate) fn begin(timing: &'a Timing, timeline: &'a TimelineId, firing_ids: Vec<FiringId>) -> Self {
        timing.leases().begin_settling(timeline, &firing_ids);
        Self { timing, timeline, firing_ids }
    }

    /// As [`Settling::begin`], where nobody else has one of them.
    ///
    /// # Errors
    /// Those that others have. Nothing has begun then.
    pub(crate) fn begin_under(
        timing: &'a Timing,
        timeline: &'a TimelineId,
        firing_ids: Vec<FiringId>,
        under: (&Under, Instant<Wall>),
    ) -> Result<Self, Vec<HeldByOther>> {
        let mut leases = timing.leases();
        let of_others = leases.of_others(timeline, &firing_ids, under);
        if !of_others.is_empty() {
            return Err(of_others);
        }
        leases.begin_settling(timeline, &firing_ids);
        drop(leases);
        Ok(Self { timing, timeline, firing_ids })
    }

    /// They came to their outcomes, unless they are still pending.
    pub(crate) fn end(self, settled: &[(FiringId, FiringState)]) {
        let mut leases = self.timing.leases();
        for (firing_id, _) in settled.iter().filter(|(_, state)| *state != FiringState::Pending) {
            leases.settle(firing_id);
        }
    }

    /// All of them came to their outcomes.
    pub(crate) fn end_all(self) {
        let mut leases = self.timing.leases();
        for firing_id in &self.firing_ids {
            leases.settle(firing_id);
        }
    }
}

impl Drop for Settling<'_> {
    fn drop(&mut self) {
        self.timing.leases().end_settling(self.timeline, &self.firing_ids);
        // The next of an order may be claimed, and an advance may go on.
        self.timing.wake_claims();
        self.timing.wake_keeper();
    }
}

/// Nothing is handed out on a timeline, and nobody begins to hold its advances, while its clock goes to another instant. It
/// may go with a step to the writer, and lasts until it is known what came of that.
pub(crate) struct Stepping {
    timing: Arc<Timing>,
    timeline: TimelineId,
}

impl Stepping {
    /// Its leases have let it begin.
    pub(crate) fn begun(timing: &Arc<Timing>, timeline: &TimelineId) -> Self {
        Self { timing: Arc::clone(timing), timeline: timeline.clone() }
    }
}

impl Drop for Stepping {
    fn drop(&mut self) {
        self.timing.leases().end_step(&self.timeline);
        self.timing.wake_claims();
    }
}
