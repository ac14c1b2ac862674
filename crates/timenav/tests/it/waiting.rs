//! Waiting for what a service does by itself.

use std::time::{Duration, Instant};

/// How long anything may take that is waited for.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long is waited between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again, and returns what is there in the end.
#[expect(clippy::disallowed_methods, reason = "a service of its own process tells nobody that it is done")]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(PAUSE);
    }
}
