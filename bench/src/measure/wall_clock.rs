//! The only access to clocks in the benchmarks.

#![expect(clippy::disallowed_methods, reason = "this is the one place of the benchmark that reads clocks and waits")]

use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use timenav_core::time::{Instant as Moment, Wall};
use timenav_engine::WallClock;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    pub(crate) fn micros(self) -> f64 {
        self.elapsed().as_secs_f64() * 1e6
    }
}

pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

pub(crate) fn host_now() -> SystemTime {
    SystemTime::now()
}

/// Returns the monotonic clock in nanoseconds, comparable between processes.
pub(crate) fn monotonic() -> i64 {
    let at = clock_gettime(ClockId::Monotonic);
    at.tv_sec * 1_000_000_000 + at.tv_nsec
}

/// Host time that never decreases, like the service's.
pub(crate) struct HostClock {
    origin: i64,
    since: Stopwatch,
}

impl HostClock {
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
