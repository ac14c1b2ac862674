//! Followers of clocks known to this service, with change signals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use timenav_core::followers::Followers;
use timenav_core::ids::{FollowerId, TimelineId};
use tokio::sync::Notify;

/// The followers at this service, and those known from other services on its database.
#[derive(Default)]
pub(crate) struct Roll {
    followers: Mutex<Followers>,
    changed: Notify,
    /// Whether the services on the database share their followers. Never becomes `false` again.
    is_shared: AtomicBool,
    /// Followers to report to other services: new ones, those that have confirmed, and those that are gone.
    untold: Mutex<BTreeSet<(TimelineId, FollowerId)>>,
    /// Locked while followers are reported, so that reports are in order.
    telling: tokio::sync::Mutex<()>,
    /// Locked while followers elsewhere are read, so that results are applied in order.
    asking: tokio::sync::Mutex<()>,
    /// The number of responses waiting for the followers of each timeline.
    waiting: Mutex<BTreeMap<TimelineId, usize>>,
}

/// A response that waits for the followers of a timeline, until this is dropped.
pub(crate) struct WaitingHere<'a> {
    roll: &'a Roll,
    timeline: &'a TimelineId,
}

impl Roll {
    pub(crate) fn followers(&self) -> MutexGuard<'_, Followers> {
        self.followers.lock()
    }

    /// Wakes tasks that wait for a confirmation.
    pub(crate) fn tell(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) const fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Returns whether the services on the database are known to share their followers.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Acquire)
    }

    /// Marks the followers as shared. Returns whether they were not before.
    pub(crate) fn share(&self) -> bool {
        !self.is_shared.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn untold(&self) -> MutexGuard<'_, BTreeSet<(TimelineId, FollowerId)>> {
        self.untold.lock()
    }

    pub(crate) const fn telling(&self) -> &tokio::sync::Mutex<()> {
        &self.telling
    }

    pub(crate) const fn asking(&self) -> &tokio::sync::Mutex<()> {
        &self.asking
    }

    /// Registers a response that waits for the followers of a timeline.
    pub(crate) fn wait<'a>(&'a self, timeline: &'a TimelineId) -> WaitingHere<'a> {
        *self.waiting.lock().entry(timeline.clone()).or_default() += 1;
        WaitingHere { roll: self, timeline }
    }

    /// Returns the timelines whose followers a response waits for.
    pub(crate) fn waiting(&self) -> Vec<TimelineId> {
        self.waiting.lock().keys().cloned().collect()
    }
}

impl Drop for WaitingHere<'_> {
    fn drop(&mut self) {
        let mut waiting = self.roll.waiting.lock();
        if let Some(count) = waiting.get_mut(self.timeline) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(self.timeline);
            }
        }
    }
}
