use std::hint::spin_loop;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

use crate::instant::Instant;
use crate::virtual_clock::follower::Line;

/// The end of validity of a clock that cannot be read: earlier than any time.
const NEVER: i64 = i64::MIN;

/// The parameters of readings, replaced by one writer and read by any number of readers: a seqlock of atomics.
#[derive(Debug)]
pub(crate) struct ClockParameters {
    /// Odd while the parameters are being replaced.
    sequence: AtomicU64,
    start: AtomicI64,
    origin: AtomicI64,
    rate_micros: AtomicI64,
    valid_until: AtomicI64,
}

impl ClockParameters {
    pub(crate) const fn new() -> Self {
        Self {
            sequence: AtomicU64::new(0),
            start: AtomicI64::new(0),
            origin: AtomicI64::new(0),
            rate_micros: AtomicI64::new(0),
            valid_until: AtomicI64::new(NEVER),
        }
    }

    /// Replaces the parameters. Invariant: the lock of the follower allows only one writer at a time.
    pub(crate) fn set(&self, line: Option<Line>) {
        let line = line.unwrap_or(Line { start: 0, origin: 0, rate_micros: 0, valid_until: NEVER });
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(line.start, Ordering::Relaxed);
        self.origin.store(line.origin, Ordering::Relaxed);
        self.rate_micros.store(line.rate_micros, Ordering::Relaxed);
        self.valid_until.store(line.valid_until, Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    fn line(&self) -> Line {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            let line = Line {
                start: self.start.load(Ordering::Relaxed),
                origin: self.origin.load(Ordering::Relaxed),
                rate_micros: self.rate_micros.load(Ordering::Relaxed),
                valid_until: self.valid_until.load(Ordering::Relaxed),
            };
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before {
                return line;
            }
            spin_loop();
        }
    }

    /// Returns the reading at a local monotonic time; `None` if the clock is not valid then, or the result is out of
    /// range.
    pub(crate) fn at(&self, now: i64) -> Option<Instant> {
        let line = self.line();
        if now > line.valid_until {
            return None;
        }
        let passed = now.checked_sub(line.start)?.checked_mul(line.rate_micros)?.div_euclid(1_000_000);
        Instant::from_micros(line.origin.checked_add(passed)?)
    }
}
