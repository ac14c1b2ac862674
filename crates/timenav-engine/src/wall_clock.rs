//! The door by which time enters.

use timenav_core::clock::Clock;
use timenav_core::time::{Instant, Wall};

/// Reads host time. Nothing else in the service reads a clock.
pub trait WallClock: Send + Sync + 'static {
    /// Returns host time. Within a process it never goes down, whatever the host's clock does.
    fn now(&self) -> Instant<Wall>;

    /// Returns host time, to measure how long something takes. A clock that a test moves does not move by this.
    fn measured(&self) -> Instant<Wall> {
        self.now()
    }

    /// Returns the clock of the kernel by which host time goes on, if it can be told apart from those of other kernels.
    /// It is the same for as long as the process runs.
    fn boot(&self) -> Option<&BootClock> {
        None
    }
}

/// The boot clock of a kernel: programs that run on the same one can read it too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootClock {
    /// Names this start of the kernel, and says nothing else of it.
    pub boot_id: String,
    /// By how much host time is ahead of the boot clock, in nanoseconds.
    pub host_ahead_nanos: i128,
}

/// The origin of a clock on the boot clock of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginBoot {
    /// Names the start of the kernel.
    pub boot_id: String,
    /// What its boot clock showed then, in nanoseconds. It is negative where that was before the kernel started.
    pub nanos: i128,
}

impl BootClock {
    /// Returns the origin of a clock on this one.
    pub(crate) fn origin_of(&self, clock: &Clock) -> OriginBoot {
        let (origin_host, _) = clock.origin();
        let nanos = i128::from(origin_host.micros()) * 1_000 - self.host_ahead_nanos;
        OriginBoot { boot_id: self.boot_id.clone(), nanos }
    }
}

/// Host time at which something is decided.
pub(crate) type Host = Instant<Wall>;
