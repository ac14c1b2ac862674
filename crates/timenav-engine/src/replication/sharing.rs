//! The timelines whose time this service keeps, among several services on one database.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use timenav_core::ids::{QueueId, TimelineId};
use timenav_core::time::{Instant, Wall};

use crate::ports::shared_leases::{Keeper, LISTENING_REPORT_MICROS};

/// The known timekeepers. The database is authoritative: each step checks there. Each timeline with timers is in one of
/// these.
#[derive(Default)]
struct KnownTimekeepers {
    /// Kept by this service, with the epoch.
    here: HashMap<TimelineId, u64>,
    /// Kept by another service, or unknown because the store did not respond.
    elsewhere: BTreeSet<TimelineId>,
    unknown: BTreeSet<TimelineId>,
}

impl KnownTimekeepers {
    fn remove(&mut self, timeline: &TimelineId) {
        self.here.remove(timeline);
        self.elsewhere.remove(timeline);
        self.unknown.remove(timeline);
    }
}

pub(crate) struct Sharing {
    /// The id of this service, unique per start, so that none continues for another.
    pub(crate) service: String,
    timekeepers: Mutex<KnownTimekeepers>,
    /// When each listener was last reported to other services.
    listening: Mutex<HashMap<(TimelineId, QueueId), Instant<Wall>>>,
    is_present: AtomicBool,
    looks_for_ended: AtomicBool,
    takeovers: AtomicU64,
}

impl Sharing {
    pub(crate) fn new(service: String) -> Self {
        Self {
            service,
            timekeepers: Mutex::default(),
            listening: Mutex::default(),
            is_present: AtomicBool::new(false),
            looks_for_ended: AtomicBool::new(true),
            takeovers: AtomicU64::new(0),
        }
    }

    pub(crate) fn keeper(&self, timeline: &TimelineId) -> Option<Keeper> {
        let epoch = self.timekeepers.lock().here.get(timeline).copied()?;
        Some(Keeper { service: self.service.clone(), epoch })
    }

    /// Registers a timeline with timers, whose keeper must be determined unless it is known.
    pub(crate) fn look_for_keeper(&self, timeline: &TimelineId) {
        let mut timekeepers = self.timekeepers.lock();
        if !timekeepers.here.contains_key(timeline) && !timekeepers.elsewhere.contains(timeline) {
            timekeepers.unknown.insert(timeline.clone());
        }
    }

    pub(crate) fn unknown(&self) -> Vec<TimelineId> {
        self.timekeepers.lock().unknown.iter().cloned().collect()
    }

    /// `epoch` counts how often the timeline was taken by any service.
    pub(crate) fn keep(&self, timeline: TimelineId, epoch: u64) {
        let mut timekeepers = self.timekeepers.lock();
        timekeepers.remove(&timeline);
        timekeepers.here.insert(timeline, epoch);
        if epoch > 1 {
            self.takeovers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The timeline is checked again later.
    pub(crate) fn lose(&self, timeline: TimelineId) {
        let mut timekeepers = self.timekeepers.lock();
        timekeepers.remove(&timeline);
        timekeepers.elsewhere.insert(timeline);
    }

    /// Schedules another check: services may have gone, and leases may have expired.
    pub(crate) fn look_again(&self) {
        let KnownTimekeepers { elsewhere, unknown, .. } = &mut *self.timekeepers.lock();
        unknown.append(elsewhere);
        self.looks_for_ended.store(true, Ordering::Release);
    }

    /// Returns whether to check for expired leases, once after each `look_again`.
    pub(crate) fn looks_for_ended(&self) -> bool {
        self.looks_for_ended.swap(false, Ordering::AcqRel)
    }

    /// Forgets all timelines: this service was absent, and others may have taken them.
    pub(crate) fn forget_all(&self) {
        let KnownTimekeepers { here, elsewhere, unknown } = &mut *self.timekeepers.lock();
        unknown.append(elsewhere);
        unknown.extend(here.drain().map(|(timeline, _)| timeline));
    }

    pub(crate) fn forget(&self, timeline: &TimelineId) {
        self.timekeepers.lock().remove(timeline);
    }

    /// Returns the queues whose listeners must be reported.
    pub(crate) fn unreported(
        &self,
        waited_for: Vec<(TimelineId, QueueId)>,
        now: Instant<Wall>,
    ) -> Vec<(TimelineId, QueueId)> {
        let mut listening = self.listening.lock();
        listening.retain(|_, at| now.since(*at).micros() < LISTENING_REPORT_MICROS);
        waited_for.into_iter().filter(|queue| !listening.contains_key(queue)).collect()
    }

    pub(crate) fn set_listening(&self, queues: Vec<(TimelineId, QueueId)>, now: Instant<Wall>) {
        self.is_present.store(true, Ordering::Release);
        self.listening.lock().extend(queues.into_iter().map(|queue| (queue, now)));
    }

    pub(crate) fn is_present(&self) -> bool {
        self.is_present.load(Ordering::Acquire)
    }

    /// Returns how many timelines this service keeps, and how many it took over since startup.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.timekeepers.lock().here.len() as u64, self.takeovers.load(Ordering::Relaxed))
    }
}
