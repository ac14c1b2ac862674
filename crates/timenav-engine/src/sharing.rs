//! How a service shares the work on timers with others on its database: which timelines' time it keeps.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use timenav_core::ids::{QueueId, TimelineId};
use timenav_core::time::{Instant, Wall};

use crate::leasing_door::{Keeper, LISTENING_TOLD_MICROS};

/// Who keeps the time of timelines, as far as it is known here. The database knows better: each step looks there. A
/// timeline with timers is in one of these.
#[derive(Default)]
struct Kept {
    /// This service does, since it took each so many times.
    here: HashMap<TimelineId, u64>,
    /// Another one does, or nobody could be asked.
    elsewhere: BTreeSet<TimelineId>,
    /// That is to be found out.
    unknown: BTreeSet<TimelineId>,
}

impl Kept {
    fn remove(&mut self, timeline: &TimelineId) {
        self.here.remove(timeline);
        self.elsewhere.remove(timeline);
        self.unknown.remove(timeline);
    }
}

/// How a service shares the work on timers with others.
pub(crate) struct Sharing {
    /// By which the others know it. Each start has another one, so that none goes on where another one was.
    pub(crate) service: String,
    kept: Mutex<Kept>,
    /// When the others were told last that somebody listens to a queue.
    told: Mutex<HashMap<(TimelineId, QueueId), Instant<Wall>>>,
    /// Whether the others have been told that this service is there.
    is_present: AtomicBool,
    /// Whether it is time to look for leases that have ended.
    looks_for_ended: AtomicBool,
    takeovers: AtomicU64,
}

impl Sharing {
    pub(crate) fn new(service: String) -> Self {
        Self {
            service,
            kept: Mutex::default(),
            told: Mutex::default(),
            is_present: AtomicBool::new(false),
            looks_for_ended: AtomicBool::new(true),
            takeovers: AtomicU64::new(0),
        }
    }

    /// Returns this service as the keeper of a timeline's time, if it is.
    pub(crate) fn keeper(&self, timeline: &TimelineId) -> Option<Keeper> {
        let epoch = self.kept.lock().here.get(timeline).copied()?;
        Some(Keeper { service: self.service.clone(), epoch })
    }

    /// A timeline has timers: who keeps its time is to be found out, unless it is known.
    pub(crate) fn look_for_keeper(&self, timeline: &TimelineId) {
        let mut kept = self.kept.lock();
        if !kept.here.contains_key(timeline) && !kept.elsewhere.contains(timeline) {
            kept.unknown.insert(timeline.clone());
        }
    }

    /// Returns the timelines of which it is not known who keeps their time.
    pub(crate) fn unknown(&self) -> Vec<TimelineId> {
        self.kept.lock().unknown.iter().cloned().collect()
    }

    /// This service keeps the time of a timeline, which it took so many times, counting those of others before it.
    pub(crate) fn keep(&self, timeline: TimelineId, epoch: u64) {
        let mut kept = self.kept.lock();
        kept.remove(&timeline);
        kept.here.insert(timeline, epoch);
        if epoch > 1 {
            self.takeovers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Another service keeps the time of a timeline. It is asked again after a while.
    pub(crate) fn lose(&self, timeline: TimelineId) {
        let mut kept = self.kept.lock();
        kept.remove(&timeline);
        kept.elsewhere.insert(timeline);
    }

    /// A while has passed: others may have gone, and leases may have ended.
    pub(crate) fn look_again(&self) {
        let Kept { elsewhere, unknown, .. } = &mut *self.kept.lock();
        unknown.append(elsewhere);
        self.looks_for_ended.store(true, Ordering::Release);
    }

    /// Returns whether leases that have ended are to be looked for, once each while.
    pub(crate) fn looks_for_ended(&self) -> bool {
        self.looks_for_ended.swap(false, Ordering::AcqRel)
    }

    /// The others may have taken over everything: this service was not there for a while.
    pub(crate) fn forget_all(&self) {
        let Kept { here, elsewhere, unknown } = &mut *self.kept.lock();
        unknown.append(elsewhere);
        unknown.extend(here.drain().map(|(timeline, _)| timeline));
    }

    /// Forgets a timeline that has no timers any more.
    pub(crate) fn forget(&self, timeline: &TimelineId) {
        self.kept.lock().remove(timeline);
    }

    /// Returns the queues of which the others are to be told that somebody listens to them.
    pub(crate) fn to_tell(
        &self,
        waited_for: Vec<(TimelineId, QueueId)>,
        now: Instant<Wall>,
    ) -> Vec<(TimelineId, QueueId)> {
        let mut told = self.told.lock();
        told.retain(|_, at| now.since(*at).micros() < LISTENING_TOLD_MICROS);
        waited_for.into_iter().filter(|queue| !told.contains_key(queue)).collect()
    }

    /// The others were told.
    pub(crate) fn told(&self, queues: Vec<(TimelineId, QueueId)>, now: Instant<Wall>) {
        self.is_present.store(true, Ordering::Release);
        self.told.lock().extend(queues.into_iter().map(|queue| (queue, now)));
    }

    /// Returns whether the others know that this service is there.
    pub(crate) fn is_present(&self) -> bool {
        self.is_present.load(Ordering::Acquire)
    }

    /// Returns of how many timelines this service keeps the time, and how many it took from others since its start.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.kept.lock().here.len() as u64, self.takeovers.load(Ordering::Relaxed))
    }
}
