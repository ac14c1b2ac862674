//! Waiting for what must happen.
//!
//! A bound on looks alone is a bound on time in disguise, and a busy machine breaks it. So there is a pause between two
//! looks, and patience enough for the slowest machine: nobody waits that long but for what never happens.

use std::time::{Duration, Instant};

/// The pause between two looks, at first.
const SHORT_PAUSE: Duration = Duration::from_millis(1);
/// How many looks have the short pause after them.
const SHORT_PAUSES: usize = 100;
/// The pause between two looks, later.
const LONG_PAUSE: Duration = Duration::from_millis(20);
/// After so many looks a test gives up: two minutes at least.
const LOOKS_MAX: usize = 6_000;

/// Looks until there is something, and returns it. Panics with what was waited for.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match try_until(look) {
        Some(found) => found,
        None => panic!("waited in vain for {what}"),
    }
}

/// Looks until something is so. Panics with what was waited for.
#[track_caller]
pub(crate) fn until_so(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

/// Looks until there is something, and returns it, or nothing where it never comes.
pub(crate) fn try_until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..LOOKS_MAX).find_map(|number| {
        let found = look();
        if found.is_none() {
            pause(if number < SHORT_PAUSES { SHORT_PAUSE } else { LONG_PAUSE });
        }
        found
    })
}

/// A length of host time during which the service waits for somebody.
pub(crate) struct Patience {
    began: Instant,
    length: Duration,
}

#[expect(clippy::disallowed_methods, reason = "a machine may stand still for longer than the service waits")]
impl Patience {
    pub(crate) fn of(length: Duration) -> Self {
        Self { began: Instant::now(), length }
    }

    /// Returns whether the service surely still waits.
    pub(crate) fn lasts(&self) -> bool {
        self.began.elapsed() < self.length
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing tells from outside how far somebody else has come")]
fn pause(length: Duration) {
    std::thread::sleep(length);
}
