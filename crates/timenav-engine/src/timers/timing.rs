//! In-memory state of timers: timelines to check, leases, and change signals.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use timenav_core::ids::{FiringId, QueueId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::leases::{HeldByOther, Leases, Under};
use timenav_core::timers::{FiringState, Timers};
use tokio::sync::Notify;

use crate::ledger::head::TimelineState;
use crate::replication::sharing::Sharing;
use crate::requests::idempotency::Idempotency;
use crate::timers::agenda::Agenda;
use crate::timers::observing::Observers;

#[derive(Default)]
pub(crate) struct Timing {
    /// Timelines with an armed timer or an advance and, if leases are not in memory, with pending firings.
    agenda: Mutex<Agenda>,
    leases: Mutex<Leases>,
    /// Wakes the timekeeper: there may be work earlier than it knows.
    pub(crate) keeper: Notify,
    /// Wakes waiting claims: there may be new firings.
    pub(crate) claims: Notify,
    /// Timekeeping shared with other services; `None` if this is the only one.
    sharing: Option<Sharing>,
    /// Timelines with webhook timers; `None` if the service sends no webhooks.
    webhooks: Option<Mutex<BTreeSet<TimelineId>>>,
    /// Wakes the sender of webhooks: there may be new ones.
    pub(crate) sender: Notify,
    pub(crate) observers: Arc<Observers>,
    /// Serializes repeatable reports of failed attempts.
    failing: FailingTurns,
    /// Cached pending firings at the instants of advances, because each wakeup needs them.
    open: Mutex<HashMap<TimelineId, Open>>,
}

pub(crate) type OpenFirings = Arc<[(FiringId, QueueId)]>;

struct Open {
    /// The position of the last entry that had changed timers or firings when they were read.
    last: Option<u64>,
    firings: OpenFirings,
}

/// Selected by idempotency key: reports with the same key run one after the other.
struct FailingTurns([tokio::sync::Mutex<()>; FAILING_TURNS]);

const FAILING_TURNS: usize = 1 << u8::BITS;

impl Default for FailingTurns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| tokio::sync::Mutex::default()))
    }
}

impl Timing {
    pub(crate) fn shared(service: String) -> Self {
        Self { sharing: Some(Sharing::new(service)), ..Self::default() }
    }

    pub(crate) fn send_webhooks(&mut self) {
        self.webhooks = Some(Mutex::default());
        self.leases.lock().listen_always(QueueId::of_webhooks());
    }

    pub(crate) const fn sends_webhooks(&self) -> bool {
        self.webhooks.is_some()
    }

    /// Returns the timelines with current or future webhook firings, and removes those that have ended.
    pub(crate) fn webhook_timelines(&self, is_there: impl Fn(&TimelineId) -> bool) -> BTreeSet<TimelineId> {
        let Some(timelines) = &self.webhooks else { return BTreeSet::new() };
        let mut found = timelines.lock().clone();
        found.retain(|timeline| is_there(timeline));
        timelines.lock().retain(|timeline| found.contains(timeline) || is_there(timeline));
        found
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

    /// Waits until no other report of failed attempts with the same key is running.
    pub(crate) async fn turn_to_fail(&self, idempotency: &Idempotency) -> tokio::sync::MutexGuard<'_, ()> {
        let [first, ..] = idempotency.key;
        self.failing.0[usize::from(first)].lock().await
    }

    pub(crate) const fn sharing(&self) -> Option<&Sharing> {
        self.sharing.as_ref()
    }

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

    /// `None` unless the cached firings are up to date with the last change, at position `last`.
    pub(crate) fn open_firings(&self, timeline: &TimelineId, last: Option<u64>) -> Option<OpenFirings> {
        let open = self.open.lock();
        open.get(timeline).filter(|open| open.last == last).map(|open| Arc::clone(&open.firings))
    }

    pub(crate) fn forget_open_firings(&self, timeline: &TimelineId) {
        self.open.lock().remove(timeline);
    }

    pub(crate) fn keep_open_firings(&self, timeline: &TimelineId, last: Option<u64>, firings: OpenFirings) {
        self.open.lock().insert(timeline.clone(), Open { last, firings });
    }

    pub(crate) fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock()
    }

    /// Removes a timeline that has ended or has no timers any more.
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
}

/// Firings whose outcome is being recorded.
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

    /// Like [`Settling::begin`], unless other workers hold some of them.
    ///
    /// # Errors
    /// The firings that others hold. Nothing has begun in that case.
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

    /// Ends it: the firings are settled, unless they are still pending.
    pub(crate) fn end(self, settled: &[(FiringId, FiringState)]) {
        let mut leases = self.timing.leases();
        for (firing_id, _) in settled.iter().filter(|(_, state)| *state != FiringState::Pending) {
            leases.settle(firing_id);
        }
    }

    /// Ends it: all firings are settled.
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
        // The next firing with the same order key may be claimed, and an advance may move on.
        self.timing.wake_claims();
        self.timing.wake_keeper();
    }
}

/// While a clock moves to another instant, no firing of the timeline can be claimed and no hold can begin. It can be
/// passed to the writer with a step, and lasts until the outcome of the step is known.
pub(crate) struct Stepping {
    timing: Arc<Timing>,
    timeline: TimelineId,
}

impl Stepping {
    /// Returns the guard after the leases have allowed it.
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
