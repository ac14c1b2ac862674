//! Whether the host's clock may be trusted with destroying. All that destroys by time asks here.
//!
//! Within a process host time counts on by a clock that nobody can set, so what is compared is where a start finds it: it
//! may have gone on for so long since it was last known to be right, and no longer. Otherwise an operator has to say that
//! it is right, and until then nothing goes that would not have gone when it was last known.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;
use timenav_core::ledger::{ClockStep, clock_step};
use timenav_core::limits::HOST_CLOCK_STEP_SECONDS_MAX;
use timenav_core::time::{Instant, Span, Wall};

use crate::clock_offset::{ClockFault, ClockOffset};

/// How long it is not kept again that the host's clock is right, in microseconds.
const CLOCK_KEPT_MICROS: i64 = 3_600 * 1_000_000;

/// That the host's clock is not where it was expected. What destroys waits until an operator says that it is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostClockDoubt {
    /// What it said when it was last known to be right.
    pub last: Instant<Wall>,
    /// What it says.
    pub now: Instant<Wall>,
    /// How far it is from the database's, where it is too far. Nobody's word helps against that.
    pub offset: Option<ClockOffset>,
}

/// When the host's clock was last known to be right.
#[derive(Debug)]
pub(crate) struct HostClock {
    /// In microseconds.
    last: AtomicI64,
    /// What the store has of it, in microseconds.
    kept: AtomicI64,
    /// Whether it was told that it is doubted.
    is_told: AtomicBool,
    /// How far it is from the database's, as they were compared last.
    offset: Mutex<Option<ClockOffset>>,
    /// Entries up to that host time say nothing against the clock: an operator has said that it is right. In microseconds.
    accepted_newest: AtomicI64,
    /// When the newest entry from before the start was recorded.
    newest_at_start: Instant<Wall>,
}

impl HostClock {
    /// Returns that it was right at an instant. `kept`: what the store has of it.
    pub(crate) fn known(last: Instant<Wall>, kept: Option<Instant<Wall>>) -> Self {
        Self {
            last: AtomicI64::new(last.micros()),
            kept: AtomicI64::new(kept.map_or(i64::MIN, Instant::micros)),
            is_told: AtomicBool::new(false),
            offset: Mutex::default(),
            accepted_newest: AtomicI64::new(i64::MIN),
            newest_at_start: Instant::MIN,
        }
    }

    /// Sets when the newest entry from before the start was recorded.
    pub(crate) fn after(self, newest_at_start: Instant<Wall>) -> Self {
        Self { newest_at_start, ..self }
    }

    /// Returns the time at which expiry of keys and permissions is decided: host time, or that of the newest entry from before
    /// the start if that is later, so that a clock that was set back revives none. Entries of a clock that had leapt do not
    /// count.
    pub(crate) fn for_expiry(&self, now: Instant<Wall>) -> Instant<Wall> {
        let Some(newest) = self.to_compare(self.newest_at_start) else { return now };
        let last = self.last();
        let usual = Span::from_secs(HOST_CLOCK_STEP_SECONDS_MAX).unwrap_or(Span::ZERO);
        let has_leapt = last.checked_add(usual).is_some_and(|latest| newest > latest);
        now.max(last).max(if has_leapt { last } else { newest })
    }

    /// Takes how far it is from the database's.
    pub(crate) fn compared(&self, offset: ClockOffset) {
        *self.offset.lock() = Some(offset);
    }

    /// Returns how far it is from the database's, as they were compared last.
    pub(crate) fn offset(&self) -> Option<ClockOffset> {
        *self.offset.lock()
    }

    /// Returns how far it is from the database's, where that is too far.
    pub(crate) fn apart(&self) -> Option<ClockOffset> {
        self.offset().filter(|offset| offset.fault().is_some())
    }

    /// As [`HostClock::apart`], of the database's alone: what would be recorded by such a clock would stop all others.
    pub(crate) fn apart_from_database(&self) -> Option<ClockOffset> {
        self.offset().filter(|offset| offset.fault() == Some(ClockFault::Database))
    }

    /// Returns the newest entry, where it may say something against the clock.
    pub(crate) fn to_compare(&self, newest: Instant<Wall>) -> Option<Instant<Wall>> {
        (newest.micros() > self.accepted_newest.load(Ordering::Acquire)).then_some(newest)
    }

    fn last(&self) -> Instant<Wall> {
        Instant::from_micros(self.last.load(Ordering::Acquire)).unwrap_or(Instant::EPOCH)
    }

    /// Returns why nothing may be destroyed by the host's clock, if so: it went back, or further than it does, since it was
    /// last known to be right. Where it did not, it is known to be right now.
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

    /// Returns the host time that destroys: what has not run out by it stays. It is never later than the host's clock says,
    /// and no later than it was known to be right where it has leapt.
    pub(crate) fn sure(&self, now: Instant<Wall>) -> Instant<Wall> {
        self.doubt(now).map_or(now, |doubt| doubt.last.min(now))
    }

    /// Takes that somebody who may has said that the clock is right.
    pub(crate) fn accept(&self, now: Instant<Wall>, newest: Instant<Wall>) {
        self.accepted_newest.fetch_max(newest.micros(), Ordering::AcqRel);
        if self.offset().is_some_and(|offset| offset.fault() == Some(ClockFault::Newest)) {
            *self.offset.lock() = None;
        }
        self.last.store(now.micros(), Ordering::Release);
        self.is_told.store(false, Ordering::Release);
    }

    /// Returns whether it was not told before that the clock is doubted, and takes that it is.
    pub(crate) fn is_first_doubt(&self) -> bool {
        !self.is_told.swap(true, Ordering::AcqRel)
    }

    /// Returns whether what is known is to be kept again, and takes that it is.
    pub(crate) fn is_to_be_kept(&self, now: Instant<Wall>) -> bool {
        let kept = self.kept.load(Ordering::Acquire);
        let is_due = now.micros().saturating_sub(kept) >= CLOCK_KEPT_MICROS || now.micros() < kept;
        is_due && self.kept.compare_exchange(kept, now.micros(), Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_goes_by_newest_entry_unless_clock_had_leapt() {
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
    fn what_destroys_goes_by_the_last_time_that_was_known() {
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
        let clock = HostClock::known(at(1_000), None);
        let week = HOST_CLOCK_STEP_SECONDS_MAX;
        let far = at(1_000 + week + 1);
        assert_eq!((clock.doubt(far).map(|doubt| doubt.last), clock.sure(far)), (Some(at(1_000)), at(1_000)));
        // It went back: what has run out by either of both may go.
        assert_eq!((clock.doubt(at(999)).is_some(), clock.sure(at(999))), (true, at(999)));
        assert_eq!((clock.doubt(at(1_000 + week)), clock.sure(at(1_000 + week))), (None, at(1_000 + week)));
        // Each step counts from the last one.
        assert_eq!(clock.sure(at(1_000 + 2 * week)), at(1_000 + 2 * week));
        let later = at(1_000 + 4 * week);
        assert!(clock.doubt(later).is_some());
        clock.accept(later, later);
        assert_eq!(clock.doubt(later), None);
        assert!(clock.is_to_be_kept(later) && !clock.is_to_be_kept(later), "it is kept once");
    }
}
