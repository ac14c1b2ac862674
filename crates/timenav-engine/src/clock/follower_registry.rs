use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use timenav_core::followers::Followers;
use timenav_core::ids::{FollowerId, TimelineId};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct FollowerRegistry {
    followers: Mutex<Followers>,
    pub(crate) changed: Notify,
    /// Whether the services on the database share their followers. Never becomes `false` again.
    is_shared: AtomicBool,
    /// Followers to report to other services: new ones, those that have confirmed, and those that are gone.
    pending: Mutex<BTreeSet<(TimelineId, FollowerId)>>,
    /// Locked while followers are reported, so that reports are in order.
    pub(crate) sharing_lock: tokio::sync::Mutex<()>,
    /// Locked while followers elsewhere are read, so that results are applied in order.
    pub(crate) asking: tokio::sync::Mutex<()>,
    waiting: Mutex<BTreeMap<TimelineId, usize>>,
}

/// A response that waits for the followers of a timeline, until this is dropped.
pub(crate) struct WaitingHere<'a> {
    registry: &'a FollowerRegistry,
    timeline: &'a TimelineId,
}

impl FollowerRegistry {
    pub(crate) fn followers(&self) -> MutexGuard<'_, Followers> {
        self.followers.lock()
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Acquire)
    }

    /// Returns whether they were not shared before.
    pub(crate) fn share(&self) -> bool {
        !self.is_shared.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn pending(&self) -> MutexGuard<'_, BTreeSet<(TimelineId, FollowerId)>> {
        self.pending.lock()
    }

    pub(crate) fn wait<'a>(&'a self, timeline: &'a TimelineId) -> WaitingHere<'a> {
        *self.waiting.lock().entry(timeline.clone()).or_default() += 1;
        WaitingHere { registry: self, timeline }
    }

    pub(crate) fn waiting(&self) -> Vec<TimelineId> {
        self.waiting.lock().keys().cloned().collect()
    }
}

impl Drop for WaitingHere<'_> {
    fn drop(&mut self) {
        let mut waiting = self.registry.waiting.lock();
        if let Some(count) = waiting.get_mut(self.timeline) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(self.timeline);
            }
        }
    }
}
