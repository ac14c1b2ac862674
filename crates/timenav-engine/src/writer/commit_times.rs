//! Durations of commits and their parts, and of the oldest waiting write.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use timenav_core::time::{Instant, Wall};

/// The service is not ready if the oldest write has waited for longer than this, in seconds. A commit takes
/// milliseconds; a store that needs seconds is stalled, or waits for a standby.
pub const WRITE_WAIT_READY_SECONDS_MAX: u32 = 5;

/// Upper bounds of the buckets of durations, in microseconds: 100 µs to 26 s.
const DURATION_BOUNDS: [u64; 10] = [100, 400, 1_600, 6_400, 25_600, 102_400, 409_600, 1_638_400, 6_553_600, 26_214_400];
/// Upper bounds of the buckets of group sizes, in requests.
const SIZE_BOUNDS: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPart {
    /// Waiting for the locks of heads, if several services share the store.
    Lock,
    /// Reading and verifying the commits of other services.
    CatchUp,
    /// Reading state for the requests, deciding them, and signing.
    Decide,
    Write,
    /// Making the transaction durable, including a synchronous standby.
    Commit,
    /// Signing the checkpoints, and appending them to the file outside the store.
    Checkpoint,
}

impl CommitPart {
    /// All parts in order.
    pub const ALL: [Self; 6] = [Self::Lock, Self::CatchUp, Self::Decide, Self::Write, Self::Commit, Self::Checkpoint];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::CatchUp => "catch_up",
            Self::Decide => "decide",
            Self::Write => "write",
            Self::Commit => "commit",
            Self::Checkpoint => "checkpoint",
        }
    }
}

#[derive(Debug)]
struct Histogram {
    bounds: &'static [u64; 10],
    /// Number of values in each bucket; the last bucket has no upper bound.
    counts: [AtomicU64; 11],
    sum: AtomicU64,
}

impl Histogram {
    fn new(bounds: &'static [u64; 10]) -> Self {
        Self { bounds, counts: Default::default(), sum: AtomicU64::new(0) }
    }

    fn observe(&self, value: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    fn read(&self) -> Distribution {
        let mut count = 0;
        let mut up_to = |at: usize| {
            count += self.counts[at].load(Ordering::Relaxed);
            count
        };
        let buckets = self.bounds.iter().enumerate().map(|(at, bound)| (*bound, up_to(at))).collect();
        let count = up_to(self.bounds.len());
        Distribution { buckets, count, sum: self.sum.load(Ordering::Relaxed) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Upper bounds with cumulative counts.
    pub buckets: Vec<(u64, u64)>,
    pub count: u64,
    pub sum: u64,
}

/// Durations of commits since startup, in microseconds.
#[derive(Clone, Debug)]
pub struct CommitStats {
    /// From the start of a group until it is durable.
    pub total: Distribution,
    /// Each part, in the order of [`CommitPart::ALL`].
    pub parts: Vec<(CommitPart, Distribution)>,
    /// Requests in a group.
    pub requests: Distribution,
}

#[derive(Debug)]
pub(crate) struct CommitTimes {
    total: Histogram,
    parts: [Histogram; CommitPart::ALL.len()],
    requests: Histogram,
    /// Start times of the group being committed, and of the one being sealed.
    committing: Since,
    sealing: Since,
}

impl CommitTimes {
    pub(crate) fn new() -> Self {
        Self {
            total: Histogram::new(&DURATION_BOUNDS),
            parts: CommitPart::ALL.map(|_| Histogram::new(&DURATION_BOUNDS)),
            requests: Histogram::new(&SIZE_BOUNDS),
            committing: Since::default(),
            sealing: Since::default(),
        }
    }

    pub(crate) fn note_part(&self, part: CommitPart, began: Instant<Wall>, ended: Instant<Wall>) {
        self.parts[part as usize].observe(micros(began, ended));
    }

    pub(crate) fn note_commit(&self, requests: usize, began: Instant<Wall>, ended: Instant<Wall>) {
        self.total.observe(micros(began, ended));
        self.requests.observe(requests as u64);
    }

    /// Marks a group as being committed, until the result is dropped.
    pub(crate) fn begin_commit(&self, now: Instant<Wall>) -> Waiting<'_> {
        self.committing.begin(now)
    }

    pub(crate) fn begin_seal(&self, now: Instant<Wall>) -> Waiting<'_> {
        self.sealing.begin(now)
    }

    /// Returns how many seconds the oldest write has waited, if that is too long.
    pub(crate) fn stalled_seconds(&self, now: Instant<Wall>) -> Option<u64> {
        let since = [self.committing.get(), self.sealing.get()].into_iter().flatten().min()?;
        let seconds = u64::try_from(now.micros().saturating_sub(since)).unwrap_or(0) / 1_000_000;
        (seconds >= u64::from(WRITE_WAIT_READY_SECONDS_MAX)).then_some(seconds)
    }

    pub(crate) fn read(&self) -> CommitStats {
        let part = |part| (part, self.parts[part as usize].read());
        let parts = CommitPart::ALL.map(part).to_vec();
        CommitStats { total: self.total.read(), parts, requests: self.requests.read() }
    }
}

fn micros(began: Instant<Wall>, ended: Instant<Wall>) -> u64 {
    u64::try_from(ended.since(began).micros()).unwrap_or(0)
}

/// Start time of running work, in microseconds of host time.
#[derive(Debug)]
struct Since(AtomicI64);

impl Since {
    const NEVER: i64 = i64::MAX;

    fn begin(&self, now: Instant<Wall>) -> Waiting<'_> {
        self.0.store(now.micros(), Ordering::Release);
        Waiting(self)
    }

    fn get(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Acquire)).filter(|since| *since != Self::NEVER)
    }
}

impl Default for Since {
    fn default() -> Self {
        Self(AtomicI64::new(Self::NEVER))
    }
}

pub(crate) struct Waiting<'a>(&'a Since);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.0.store(Since::NEVER, Ordering::Release);
    }
}

/// Called by the store after the rows of a step are written, right before they are made durable.
#[derive(Clone, Default)]
pub struct OnWritten(Option<Arc<dyn Fn() + Send + Sync>>);

impl OnWritten {
    pub(crate) fn new(call: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(call)))
    }

    pub fn call(&self) {
        if let Some(call) = &self.0 {
            call();
        }
    }
}

impl fmt::Debug for OnWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnWritten")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant<Wall> {
        Instant::from_micros(micros).expect("the instant is within the calendar")
    }

    #[test]
    fn values_are_counted_up_to_each_bound() {
        let histogram = Histogram::new(&SIZE_BOUNDS);
        for value in [1, 2, 3, 512, 513] {
            histogram.observe(value);
        }
        let Distribution { buckets, count, sum } = histogram.read();
        assert_eq!(buckets[..4], [(1, 1), (2, 2), (4, 3), (8, 3)]);
        assert_eq!((buckets[9], count, sum), ((512, 4), 5, 1_031));
    }

    #[test]
    fn write_that_waits_too_long_is_stalled() {
        let (times, limit) = (CommitTimes::new(), i64::from(WRITE_WAIT_READY_SECONDS_MAX) * 1_000_000);
        assert_eq!(times.stalled_seconds(at(limit * 9)), None);
        let committing = times.begin_commit(at(7));
        assert_eq!(times.stalled_seconds(at(7 + limit - 1)), None);
        assert_eq!(times.stalled_seconds(at(7 + limit)), Some(5));
        let sealing = times.begin_seal(at(3));
        assert_eq!(times.stalled_seconds(at(3 + limit)), Some(5), "the older one counts");
        drop(sealing);
        assert_eq!(times.stalled_seconds(at(3 + limit)), None);
        drop(committing);
        assert_eq!(times.stalled_seconds(at(limit * 9)), None);
    }
}
