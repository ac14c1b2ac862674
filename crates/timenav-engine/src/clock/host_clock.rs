//! Decides whether the host's clock can be trusted for destructive work. Everything that deletes data by time must ask
//! here.
//!
//! Within a process, host time advances by a monotonic clock. Only the reading at startup needs a check: the clock may
//! have advanced by a limited time since it was last known to be right, and not gone back. Otherwise an operator has to
//! confirm it. Until then, only data that had expired by the last trusted time is deleted.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;
use timenav_core::ledger::{ClockStep, clock_step};
use timenav_core::limits::HOST_CLOCK_STEP_SECONDS_MAX;
use timenav_core::time::{Instant, Span, Wall};

use crate::clock::clock_offset::{ClockFault, ClockOffset};

/// Minimum interval for storing that the host's clock is right, in microseconds.
const CLOCK_STORED_MICROS: i64 = 3_600 * 1_000_000;

/// The host's clock is not where it was expected. Destructive work waits until an operator confirms it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostClockDoubt {
    pub last: Instant<Wall>,
    pub now: Instant<Wall>,
    /// The offset from the database's clock, if that is too large. A confirmation cannot override this.
    pub offset: Option<ClockOffset>,
}

#[derive(Debug)]
pub(crate) struct HostClock {
    /// In microseconds.
    last: AtomicI64,
    /// The stored value, in microseconds.
    stored: AtomicI64,
    is_logged: AtomicBool,
    offset: Mutex<Option<ClockOffset>>,
    /// Entries up to this host time are ignored, because an operator has confirmed the clock. In microseconds.
    accepted_newest: AtomicI64,
    newest_at_start: Instant<Wall>,
}

impl HostClock {
    pub(crate) fn known(last: Instant<Wall>, stored: Option<Instant<Wall>>) -> Self {
        Self {
            last: AtomicI64::new(last.micros()),
            stored: AtomicI64::new(stored.map_or(i64::MIN, Instant::micros)),
            is_logged: AtomicBool::new(false),
            offset: Mutex::default(),
            accepted_newest: AtomicI64::new(i64::MIN),
            newest_at_start: Instant::MIN,
        }
    }

    pub(crate) fn after(self, newest_at_start: Instant<Wall>) -> Self {
        Self { newest_at_start, ..self }
    }

    /// Returns the time at which expiry of keys and permissions is decided: host time, or that of the newest entry from
    /// before the start if that is later, so that a clock that was set back revives none. Entries of a clock that had
    /// jumped ahead are ignored.
    pub(crate) fn for_expiry(&self, now: Instant<Wall>) -> Instant<Wall> {
        let Some(newest) = self.to_compare(self.newest_at_start) else { return now };
        let last = self.last();
        let usual = Span::from_secs(HOST_CLOCK_STEP_SECONDS_MAX).unwrap_or(Span::ZERO);
        let has_leapt = last.checked_add(usual).is_some_and(|latest| newest > latest);
        now.max(last).max(if has_leapt { last } else { newest })
    }

    pub(crate) fn compared(&self, offset: ClockOffset) {
        *self.offset.lock() = Some(offset);
    }

    pub(crate) fn offset(&self) -> Option<ClockOffset> {
        *self.offset.lock()
    }

    pub(crate) fn apart(&self) -> Option<ClockOffset> {
        self.offset().filter(|offset| offset.fault().is_some())
    }

    /// Compares with the database's clock only. Entries recorded by such a clock would stop all other services.
    pub(crate) fn apart_from_database(&self) -> Option<ClockOffset> {
        self.offset().filter(|offset| offset.fault() == Some(ClockFault::Database))
    }

    /// Returns the newest entry's time, unless an operator has confirmed the clock since.
    pub(crate) fn to_compare(&self, newest: Instant<Wall>) -> Option<Instant<Wall>> {
        (newest.micros() > self.accepted_newest.load(Ordering::Acquire)).then_some(newest)
    }

    fn last(&self) -> Instant<Wall> {
        Instant::from_micros(self.last.load(Ordering::Acquire)).unwrap_or(Instant::EPOCH)
    }

    /// Returns why nothing may be destroyed by the host's clock, if so: since it was last known to be right, it went
    /// back or jumped ahead. Otherwise the current reading becomes the last one known to be right.
    pub(crate) fn doubt(&self, now: Instant<Wall>) -> Option<HostClockDoubt> {
        let last = self.last();
        if let Some(offset) = self.apart() {
            return Some(HostClockDoubt { last, now, offset: Some(offset) });
        }
        let usual = Span::from_secs(HOST_CLOCK_STEP_SECONDS_MAX).unwrap_or(Span::ZERO);
        match clock_step(Some(last), now, usual) {
            ClockStep::Usual => {
                self.last.fetch_max(now.micros(), Ordering::AcqRel);
                None
            }
            ClockStep::First | ClockStep::Back | ClockStep::Leap => Some(HostClockDoubt { last, now, offset: None }),
        }
    }

    /// Returns the host time for destructive decisions: anything that has not expired by then is kept. It is never
    /// later than the host's clock and, after a jump, not later than the last reading known to be right.
    pub(crate) fn sure(&self, now: Instant<Wall>) -> Instant<Wall> {
        self.doubt(now).map_or(now, |doubt| doubt.last.min(now))
    }

    pub(crate) fn accept(&self, now: Instant<Wall>, newest: Instant<Wall>) {
        self.accepted_newest.fetch_max(newest.micros(), Ordering::AcqRel);
        if self.offset().is_some_and(|offset| offset.fault() == Some(ClockFault::Newest)) {
            *self.offset.lock() = None;
        }
        self.last.store(now.micros(), Ordering::Release);
        self.is_logged.store(false, Ordering::Release);
    }

    /// Returns whether a doubt was not logged before, and marks it as logged.
    pub(crate) fn is_first_doubt(&self) -> bool {
        !self.is_logged.swap(true, Ordering::AcqRel)
    }

    /// Returns whether the value should be stored again, and marks it as stored.
    pub(crate) fn should_be_stored(&self, now: Instant<Wall>) -> bool {
        let stored = self.stored.load(Ordering::Acquire);
        let is_due = now.micros().saturating_sub(stored) >= CLOCK_STORED_MICROS || now.micros() < stored;
        is_due && self.stored.compare_exchange(stored, now.micros(), Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_uses_newest_entry_unless_clock_leapt() {
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
        let week = HOST_CLOCK_STEP_SECONDS_MAX;
        let started = |newest: i64| HostClock::known(at(1_000), Some(at(1_000))).after(at(newest));
        assert_eq!(started(4_000).for_expiry(at(2_000)), at(4_000));
        assert_eq!(started(4_000).for_expiry(at(5_000)), at(5_000));
        assert_eq!(started(4_000).for_expiry(at(500)), at(4_000));
        assert_eq!(started(1_001 + week).for_expiry(at(2_000)), at(2_000));
        assert_eq!(started(1_001 + week).for_expiry(at(500)), at(1_000));
        let accepted = started(4_000);
        accepted.accept(at(500), at(4_000));
        assert_eq!(accepted.for_expiry(at(500)), at(500));
    }

    #[test]
    fn destructive_decisions_use_the_last_known_time() {
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
        let clock = HostClock::known(at(1_000), None);
        let week = HOST_CLOCK_STEP_SECONDS_MAX;
        let far = at(1_000 + week + 1);
        assert_eq!((clock.doubt(far).map(|doubt| doubt.last), clock.sure(far)), (Some(at(1_000)), at(1_000)));
        // The clock went back: only data expired by both readings may be deleted.
        assert_eq!((clock.doubt(at(999)).is_some(), clock.sure(at(999))), (true, at(999)));
        assert_eq!((clock.doubt(at(1_000 + week)), clock.sure(at(1_000 + week))), (None, at(1_000 + week)));
        // Each step counts from the last one.
        assert_eq!(clock.sure(at(1_000 + 2 * week)), at(1_000 + 2 * week));
        let later = at(1_000 + 4 * week);
        assert!(clock.doubt(later).is_some());
        clock.accept(later, later);
        assert_eq!(clock.doubt(later), None);
        assert!(clock.should_be_stored(later) && !clock.should_be_stored(later), "it is kept once");
    }
}
