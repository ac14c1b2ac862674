//! When the service knows that a clock is followed under a name.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::FollowOption;

/// How long to wait at most until the service knows it. Whatever follows works without, once it comes back.
const OPENING_MAX: Duration = Duration::from_secs(5);

/// Whether the service knows that a clock is followed under a name, or has been found not to answer.
///
/// Whatever shows the clock begins only then: whoever has seen anything of it may change the clock, and count on the
/// service to wait for it.
#[derive(Clone)]
pub(crate) struct Opening(Arc<(Mutex<bool>, Condvar)>);

impl Opening {
    /// Returns the opening of a stream with this name. One without a name is waited for by nobody, and is open from the
    /// beginning.
    pub(crate) fn of(name: &FollowOption) -> Self {
        Self(Arc::new((Mutex::new(!name.is_named()), Condvar::new())))
    }

    /// Says that the service knows it, or cannot be told.
    pub(crate) fn is_over(&self) {
        let (is_over, changed) = &*self.0;
        *is_over.lock() = true;
        changed.notify_all();
    }

    /// Waits until the service knows it or cannot be told, for some seconds at most.
    pub(crate) fn wait(&self) {
        let (is_over, changed) = &*self.0;
        changed.wait_while_for(&mut is_over.lock(), |is_over| !*is_over, OPENING_MAX);
    }
}
