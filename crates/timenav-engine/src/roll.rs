//! Who follows clocks under a name, and who is woken when that changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use timenav_core::followers::Followers;
use timenav_core::ids::{FollowerId, TimelineId};
use tokio::sync::Notify;

/// The followers at this service, and what it has heard of those at others on its database.
#[derive(Default)]
pub(crate) struct Roll {
    followers: Mutex<Followers>,
    changed: Notify,
    /// Whether the services on the database tell each other who follows. Once they do, they go on.
    is_shared: AtomicBool,
    /// Of whom the others are to be told: they are there, have confirmed something, or are there no more.
    untold: Mutex<BTreeSet<(TimelineId, FollowerId)>>,
    /// Whoever tells the others holds on to it, so that nothing older is told last.
    telling: tokio::sync::Mutex<()>,
    /// Whoever asks who follows elsewhere holds on to it, so that nothing older is taken in last.
    asking: tokio::sync::Mutex<()>,
    /// How many answers wait for the followers of a timeline.
    waiting: Mutex<BTreeMap<TimelineId, usize>>,
}

/// An answer that waits for the followers of a timeline, until this is dropped.
pub(crate) struct WaitingHere<'a> {
    roll: &'a Roll,
    timeline: &'a TimelineId,
}

impl Roll {
    pub(crate) fn followers(&self) -> MutexGuard<'_, Followers> {
        self.followers.lock()
    }

    /// Wakes whoever waits for a confirmation.
    pub(crate) fn tell(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) const fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Returns whether the services on the database are known to tell each other who follows.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Acquire)
    }

    /// The services on the database tell each other who follows from here on. Returns whether they did not until now.
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

    /// Says that an answer waits for the followers of a timeline.
    pub(crate) fn wait<'a>(&'a self, timeline: &'a TimelineId) -> WaitingHere<'a> {
        *self.waiting.lock().entry(timeline.clone()).or_default() += 1;
        WaitingHere { roll: self, timeline }
    }

    /// Returns the timelines for whose followers an answer waits.
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
