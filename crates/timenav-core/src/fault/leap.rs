//! A leap second that one clock has, and that nobody else knows of.

use crate::clock::{Clock, ClockState, Rate};
use crate::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Instant, Span, Virtual, Wall};

/// The shortest time of virtual time over which a leap second is smeared: nobody sees a clock that stands.
pub const FAULT_SMEAR_MIN: Span = Span::from_micros(10 * SECOND);
/// The longest.
pub const FAULT_SMEAR_MAX: Span = Span::from_micros(10 * 86_400 * SECOND);
const SECOND: i64 = 1_000_000;

/// A second that comes twice, or not at all.
///
/// Until then the clock shows what it would without it, and from then on it is a second behind or ahead: after a jump
/// too, to either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leap {
    /// What happens to the second.
    pub kind: LeapKind,
    /// When the second begins.
    pub second: Instant<Virtual>,
    /// Over how much virtual time the clock comes to it, half of it before and half after; [`Span::ZERO`] for a step.
    /// Otherwise from [`FAULT_SMEAR_MIN`] to [`FAULT_SMEAR_MAX`].
    pub smear: Span,
}

/// What happens to a leap second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeapKind {
    /// It comes twice.
    Insert,
    /// It is left out.
    Delete,
}

impl Leap {
    /// Returns by how much the clock is ahead afterwards.
    const fn step(self) -> i64 {
        match self.kind {
            LeapKind::Insert => -SECOND,
            LeapKind::Delete => SECOND,
        }
    }

    /// Returns when the clock would step, by itself without the step, in microseconds.
    const fn boundary(self) -> i128 {
        // A second that comes twice is over once before.
        self.second.micros() as i128 + if matches!(self.kind, LeapKind::Insert) { SECOND as i128 } else { 0 }
    }

    /// Returns when the leap second begins to show; `None` beyond the end of the calendar.
    pub(super) fn edge(self) -> Option<Instant<Virtual>> {
        let edge = self.boundary() - i128::from(self.smear.micros() / 2);
        i64::try_from(edge).ok().and_then(Instant::from_micros)
    }

    /// Returns by how much a clock is ahead that shows so much without the leap second, in microseconds.
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

    /// Returns whether a clock is on its way to the leap second at a host instant.
    pub(super) fn is_under_way(self, plain: &Clock, at: Instant<Wall>) -> bool {
        let passed = i128::from(plain.now(at).micros()) - (self.boundary() - i128::from(self.smear.micros() / 2));
        (0..i128::from(self.smear.micros())).contains(&passed)
    }

    /// Returns what is shown of a clock from a host instant on. Where the second is smeared, that is right until `end`.
    pub(super) fn shown(self, plain: &Clock, at: Instant<Wall>, end: Instant<Wall>) -> Clock {
        let shows = plain.now(at);
        let ahead = self.ahead(shows);
        let state = match plain.state {
            ClockState::Paused { since, at: stands, rate } => {
                ClockState::Paused { since, at: moved(stands, ahead), rate }
            }
            ClockState::Running { rate, .. } if self.is_under_way(plain, at) => {
                let more = i128::from(self.ahead(plain.now(end)) - ahead);
                let passes = i128::from(end.since(at).micros()).max(1);
                // Rounded down, so that the clock goes back nowhere.
                let wrong = i128::from(rate.micros()) + (more * 1_000_000).div_euclid(passes);
                let within = wrong.clamp(i128::from(RATE_MICROS_MIN), i128::from(RATE_MICROS_MAX));
                let rate = u64::try_from(within).ok().and_then(Rate::from_micros).unwrap_or(rate);
                ClockState::Running { origin_host: at, origin_virtual: moved(shows, ahead), rate }
            }
            // As exact as the clock itself.
            ClockState::Running { origin_host, origin_virtual, rate } => {
                ClockState::Running { origin_host, origin_virtual: moved(origin_virtual, ahead), rate }
            }
        };
        Clock { state, ..plain.clone() }
    }
}

/// Returns an instant later or earlier by so much, within the calendar.
fn moved(at: Instant<Virtual>, micros: i64) -> Instant<Virtual> {
    let (first, last) = (Instant::<Virtual>::MIN.micros(), Instant::<Virtual>::MAX.micros());
    Instant::from_micros((at.micros() + micros).clamp(first, last)).unwrap_or(at)
}
