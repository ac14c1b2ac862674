//! Who follows clocks under a name at this service, and who is woken when that changes.

use parking_lot::{Mutex, MutexGuard};
use timenav_core::followers::Followers;
use tokio::sync::Notify;

/// The followers at this service.
#[derive(Default)]
pub(crate) struct Roll {
    followers: Mutex<Followers>,
    changed: Notify,
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
}
