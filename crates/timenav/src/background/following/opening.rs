use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::FollowOption;

/// Maximum wait. Following works without it once the service is back.
const OPENING_MAX: Duration = Duration::from_secs(5);

/// Whether the service knows the named follower, or is unreachable.
///
/// The clock is shown only after that: a program that has seen the clock may change it, and expects the service to wait
/// for this follower.
#[derive(Clone)]
pub(crate) struct Opening(Arc<(Mutex<bool>, Condvar)>);

impl Opening {
    /// Returns the opening of a stream. A stream without a name is open from the start, because nobody waits for it.
    pub(crate) fn of(name: &FollowOption) -> Self {
        Self(Arc::new((Mutex::new(!name.is_named()), Condvar::new())))
    }

    /// Marks the opening as over.
    pub(crate) fn is_over(&self) {
        let (is_over, changed) = &*self.0;
        *is_over.lock() = true;
        changed.notify_all();
    }

    pub(crate) fn wait(&self) {
        let (is_over, changed) = &*self.0;
        changed.wait_while_for(&mut is_over.lock(), |is_over| !*is_over, OPENING_MAX);
    }
}
