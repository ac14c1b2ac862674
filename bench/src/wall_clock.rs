//! The door by which time enters the benchmark.

#![expect(clippy::disallowed_methods, reason = "this is the one place of the benchmark that reads clocks and waits")]

use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use timenav_core::time::{Instant as Moment, Wall};
use timenav_engine::WallClock;

/// Tells how long something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Returns the time since the start, in microseconds.
    pub(crate) fn micros(self) -> f64 {
        self.elapsed().as_secs_f64() * 1e6
    }
}

/// Waits for a while, between two looks at something that tells nothing by itself.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns the host's time, as a program asks for it.
pub(crate) fn host_now() -> SystemTime {
    SystemTime::now()
}

/// Returns what the monotonic clock shows, in nanoseconds, to be compared with that of another process.
pub(crate) fn monotonic() -> i64 {
    let at = clock_gettime(ClockId::Monotonic);
    at.tv_sec * 1_000_000_000 + at.tv_nsec
}

/// Host time that never goes down, as the service has it.
pub(crate) struct HostClock {
    origin: i64,
    since: Stopwatch,
}

impl HostClock {
    /// Starts from the host's time now.
    pub(crate) fn new() -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { origin: i64::try_from(since_1970.as_micros()).unwrap_or(0), since: Stopwatch::start() }
    }
}

impl WallClock for HostClock {
    fn now(&self) -> Moment<Wall> {
        let passed = i64::try_from(self.since.elapsed().as_micros()).unwrap_or(i64::MAX);
        Moment::from_micros(self.origin.saturating_add(passed)).unwrap_or(Moment::MAX)
    }
}
