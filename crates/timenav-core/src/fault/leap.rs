use crate::clock::{Clock, ClockState, Rate};
use crate::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Instant, Span, Virtual, Wall};

/// Shortest smear of a leap second, in virtual time. A shorter one would appear as a stopped clock.
pub const FAULT_SMEAR_MIN: Span = Span::from_micros(10 * SECOND);
pub const FAULT_SMEAR_MAX: Span = Span::from_micros(10 * 86_400 * SECOND);
const SECOND: i64 = 1_000_000;

/// A second that is repeated or skipped.
///
/// Before it, the clock shows the plain time; after it, one second less or more. This holds after jumps too, in both
/// directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leap {
    pub kind: LeapKind,
    /// The start of the second.
    pub second: Instant<Virtual>,
    /// The virtual time over which the leap second is spread, half before and half after it; [`Span::ZERO`] for a step.
    /// Otherwise from [`FAULT_SMEAR_MIN`] to [`FAULT_SMEAR_MAX`].
    pub smear: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeapKind {
    /// The second is repeated.
    Insert,
    /// The second is skipped.
    Delete,
}

impl Leap {
    /// Returns the change of the clock, in microseconds.
    const fn step(self) -> i64 {
        match self.kind {
            LeapKind::Insert => -SECOND,
            LeapKind::Delete => SECOND,
        }
    }

    /// Returns the plain time at which the clock steps, in microseconds.
    const fn boundary(self) -> i128 {
        // A repeated second has passed once before the step.
        self.second.micros() as i128 + if matches!(self.kind, LeapKind::Insert) { SECOND as i128 } else { 0 }
    }

    /// Returns when the leap second takes effect; `None` beyond the end of the calendar.
    pub(super) fn edge(self) -> Option<Instant<Virtual>> {
        let edge = self.boundary() - i128::from(self.smear.micros() / 2);
        i64::try_from(edge).ok().and_then(Instant::from_micros)
    }

    /// Returns the difference to the plain time `shows`, in microseconds.
    fn ahead(self, shows: Instant<Virtual>) -> i64 {
        let smear = i128::from(self.smear.micros());
        let passed = i128::from(shows.micros()) - (self.boundary() - smear / 2);
        if passed < 0 {
            return 0;
        }
        if passed >= smear {
            return self.step();
        }
        i64::try_from((i128::from(self.step()) * passed).div_euclid(smear)).unwrap_or_default()
    }

    /// Returns whether the clock is within the smear at a host instant.
    pub(super) fn is_under_way(self, plain: &Clock, at: Instant<Wall>) -> bool {
        let passed = i128::from(plain.now(at).micros()) - (self.boundary() - i128::from(self.smear.micros() / 2));
        (0..i128::from(self.smear.micros())).contains(&passed)
    }

    /// Returns the shown clock from a host instant on. During a smear it is valid until `end`.
    pub(super) fn displayed(self, plain: &Clock, at: Instant<Wall>, end: Instant<Wall>) -> Clock {
        let shows = plain.now(at);
        let ahead = self.ahead(shows);
        let state = match plain.state {
            ClockState::Paused { since, at: paused_at, rate } => {
                ClockState::Paused { since, at: moved(paused_at, ahead), rate }
            }
            ClockState::Running { rate, .. } if self.is_under_way(plain, at) => {
                let more = i128::from(self.ahead(plain.now(end)) - ahead);
                let passes = i128::from(end.since(at).micros()).max(1);
                // Rounded down, so that the clock never moves back.
                let wrong = i128::from(rate.micros()) + (more * 1_000_000).div_euclid(passes);
                let within = wrong.clamp(i128::from(RATE_MICROS_MIN), i128::from(RATE_MICROS_MAX));
                let rate = u64::try_from(within).ok().and_then(Rate::from_micros).unwrap_or(rate);
                ClockState::Running { origin_host: at, origin_virtual: moved(shows, ahead), rate }
            }
            // Outside the smear the clock is exact.
            ClockState::Running { origin_host, origin_virtual, rate } => {
                ClockState::Running { origin_host, origin_virtual: moved(origin_virtual, ahead), rate }
            }
        };
        Clock { state, ..plain.clone() }
    }
}

/// Shifts an instant, within the calendar.
fn moved(at: Instant<Virtual>, micros: i64) -> Instant<Virtual> {
    let (first, last) = (Instant::<Virtual>::MIN.micros(), Instant::<Virtual>::MAX.micros());
    Instant::from_micros((at.micros() + micros).clamp(first, last)).unwrap_or(at)
}
