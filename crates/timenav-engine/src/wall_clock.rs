//! The door by which time enters.

use timenav_core::time::{Instant, Wall};

/// Reads host time. Nothing else in the service reads a clock.
pub trait WallClock: Send + Sync + 'static {
    /// Returns host time. Within a process it never goes down, whatever the host's clock does.
    fn now(&self) -> Instant<Wall>;
}

/// Host time at which something is decided.
pub(crate) type Host = Instant<Wall>;
