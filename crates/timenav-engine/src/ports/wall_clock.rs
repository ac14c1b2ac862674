use timenav_core::clock::Clock;
use timenav_core::time::{Instant, Wall};

/// Reads host time. Nothing else in the service reads a clock.
pub trait WallClock: Send + Sync + 'static {
    /// Returns host time. It never decreases within a process, regardless of the host's clock.
    fn now(&self) -> Instant<Wall>;

    /// Returns host time for measuring durations. Independent of a clock that a test controls.
    fn measured(&self) -> Instant<Wall> {
        self.now()
    }

    /// The boot clock that host time follows; `None` if it cannot be identified. It never changes in a process.
    fn boot(&self) -> Option<&BootClock> {
        None
    }
}

/// The boot clock of a kernel, which other programs on the same kernel can read too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootClock {
    /// Identifies this boot of the kernel, and reveals nothing else.
    pub boot_id: String,
    /// How far host time is ahead of the boot clock, in nanoseconds.
    pub host_ahead_nanos: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginBoot {
    pub boot_id: String,
    /// The boot clock's reading at the origin, in nanoseconds. Negative if that was before the boot.
    pub nanos: i128,
}

impl BootClock {
    pub(crate) fn origin_of(&self, clock: &Clock) -> OriginBoot {
        let (origin_host, _) = clock.origin();
        let nanos = i128::from(origin_host.micros()) * 1_000 - self.host_ahead_nanos;
        OriginBoot { boot_id: self.boot_id.clone(), nanos }
    }
}

/// Host time at which something is decided.
pub(crate) type Host = Instant<Wall>;
