//! Polling with a timeout.
//!
//! A limit on the number of polls alone is a hidden time limit, which busy machines exceed. There is therefore a pause
//! between two polls, and a timeout for the slowest machine that only failing tests reach.

use std::time::{Duration, Instant};

/// Initial pause between two polls.
const SHORT_PAUSE: Duration = Duration::from_millis(1);
/// Number of polls with the short pause.
const SHORT_PAUSES: usize = 100;
/// Later pause between two polls.
const LONG_PAUSE: Duration = Duration::from_millis(20);
/// Maximum number of polls: at least two minutes.
const LOOKS_MAX: usize = 6_000;

/// Polls until there is a value and returns it. Panics with the description on timeout.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match try_until(look) {
        Some(found) => found,
        None => panic!("waited in vain for {what}"),
    }
}

/// Polls until a condition holds. Panics with the description on timeout.
#[track_caller]
pub(crate) fn until_so(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

/// Polls until there is a value. Returns `None` on timeout.
pub(crate) fn try_until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..LOOKS_MAX).find_map(|number| {
        let found = look();
        if found.is_none() {
            pause(if number < SHORT_PAUSES { SHORT_PAUSE } else { LONG_PAUSE });
        }
        found
    })
}

/// A span of host time during which the service waits.
pub(crate) struct Patience {
    began: Instant,
    length: Duration,
}

#[expect(clippy::disallowed_methods, reason = "a machine may stand still for longer than the service waits")]
impl Patience {
    pub(crate) fn of(length: Duration) -> Self {
        Self { began: Instant::now(), length }
    }

    /// Returns whether the service is certainly still waiting.
    pub(crate) fn lasts(&self) -> bool {
        self.began.elapsed() < self.length
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing tells from outside how far somebody else has come")]
pub(crate) fn pause(length: Duration) {
    std::thread::sleep(length);
}
