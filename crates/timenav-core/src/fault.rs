//! A clock that is wrong, as those of real hosts are: ahead or behind, too fast or too slow, and unsteady.
//!
//! What is shown is the true clock and an error. The error begins with an offset, and grows or shrinks while virtual
//! time passes: by a drift, and by a jitter, which goes to another value in each second of host time that the clock
//! runs. While the clock is paused the error stays, and so it does when the clock jumps. It is never stepped, so a
//! wrong clock goes back only where the true one does.
//!
//! All of it follows from the fault and from how long the clock ran: the same fault on a fork makes the same errors.

use crate::clock::{Clock, ClockState, Rate};
use crate::ledger::sha256;
use crate::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Instant, Span, Virtual, Wall};

#[cfg(test)]
mod tests;

/// Most by which a wrong clock drifts, in millionths: a tenth.
pub const FAULT_DRIFT_PPM_MAX: i32 = 100_000;
/// Most by which a wrong clock is unsteady, in microseconds of host time: it still goes on.
pub const FAULT_JITTER_MICROS_MAX: u32 = 250_000;
/// How long a clock runs from one value of the jitter to the next, in microseconds of host time. In one second, a rate
/// of whole millionths makes whole microseconds, so no error comes from rounding.
const PIECE_MICROS: i64 = 1_000_000;

/// What is wrong with a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// How far it is ahead when it begins; behind where it is negative.
    pub offset: Span,
    /// By how much it is too fast, in millionths; too slow where it is negative. Within [`FAULT_DRIFT_PPM_MAX`].
    pub drift_ppm: i32,
    /// How far it strays to each side, in microseconds of host time. Within [`FAULT_JITTER_MICROS_MAX`].
    pub jitter_micros: u32,
    /// What the jitter is drawn from.
    pub seed: u64,
}

impl Fault {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.offset == Span::ZERO && self.drift_ppm == 0 && self.jitter_micros == 0
    }

    /// Returns how far the clock has strayed after so many seconds, in microseconds of host time.
    fn strayed(&self, seconds: u64) -> i64 {
        if self.jitter_micros == 0 || seconds == 0 {
            return 0;
        }
        let drawn = sha256(&[&self.seed.to_be_bytes(), &seconds.to_be_bytes()]);
        let Some(drawn) = drawn.as_bytes().first_chunk::<8>() else { return 0 };
        let most = i64::from(self.jitter_micros);
        // Far fewer values than numbers drawn: none is seen to be more frequent.
        let among = u64::from(self.jitter_micros) * 2 + 1;
        i64::try_from(u64::from_be_bytes(*drawn) % among).unwrap_or_default() - most
    }

    /// Returns the rate at which a clock shows time in one second of those that it ran.
    fn rate(&self, rate: Rate, second: u64) -> Rate {
        let slope = i64::from(self.drift_ppm) + self.strayed(second + 1) - self.strayed(second);
        let wrong = i128::from(rate.micros()) * (1_000_000 + i128::from(slope));
        let nearest = (wrong + 500_000).div_euclid(1_000_000);
        let within = nearest.clamp(i128::from(RATE_MICROS_MIN), i128::from(RATE_MICROS_MAX));
        u64::try_from(within).ok().and_then(Rate::from_micros).unwrap_or(rate)
    }
}

/// A clock, and what is shown of it.
#[derive(Clone, Debug)]
pub struct FaultyClock {
    fault: Fault,
    truth: Clock,
    shown: Clock,
    /// Since when the clock is shown like this.
    since: Instant<Wall>,
    /// How long it had run until then, in microseconds of host time.
    ran: i64,
}

impl FaultyClock {
    /// Returns a clock that is wrong from a host instant on.
    #[must_use]
    pub fn new(fault: Fault, truth: Clock, since: Instant<Wall>) -> Self {
        let mut clock = Self { fault, shown: truth.clone(), truth, since, ran: 0 };
        clock.show(i128::from(fault.offset.micros()));
        clock
    }

    /// Returns the clock that is shown.
    #[must_use]
    pub const fn shown(&self) -> &Clock {
        &self.shown
    }

    /// Takes over a change of the true clock, which is known at a host instant. The error stays as it is.
    pub fn change(&mut self, truth: &Clock, known: Instant<Wall>) {
        if *truth == self.truth {
            return;
        }
        // It has been as it is since the change, but for what was shown already.
        let at = truth.origin().0.max(self.since).min(known.max(self.since));
        self.turn(at);
        let error = i128::from(self.shown.now(at).micros()) - i128::from(self.truth.now(at).micros());
        if self.truth.is_running() {
            self.ran += at.since(self.since).micros();
        }
        self.since = at;
        self.truth = truth.clone();
        self.show(error);
    }

    /// Returns the host instant at which the clock is to be shown otherwise, if it is.
    #[must_use]
    pub fn next_turn(&self) -> Option<Instant<Wall>> {
        if self.fault.jitter_micros == 0 || !self.truth.is_running() {
            return None;
        }
        let left = PIECE_MICROS - self.ran.rem_euclid(PIECE_MICROS);
        self.since.checked_add(Span::from_micros(left))
    }

    /// Shows the clock as it is to be shown at a host instant. Returns whether that is otherwise than before.
    pub fn turn(&mut self, at: Instant<Wall>) -> bool {
        let mut has_turned = false;
        while let Some(next) = self.next_turn().filter(|next| *next <= at) {
            let error = i128::from(self.shown.now(next).micros()) - i128::from(self.truth.now(next).micros());
            self.ran += next.since(self.since).micros();
            self.since = next;
            self.show(error);
            has_turned = true;
        }
        has_turned
    }

    /// Shows the clock with an error, in microseconds, from `since` on.
    fn show(&mut self, error: i128) {
        let micros = i128::from(self.truth.now(self.since).micros()) + error;
        let (first, last) = (Instant::<Virtual>::MIN.micros(), Instant::<Virtual>::MAX.micros());
        let within = micros.clamp(i128::from(first), i128::from(last));
        let at = i64::try_from(within).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX);
        let second = u64::try_from(self.ran.div_euclid(PIECE_MICROS)).unwrap_or_default();
        let state = match self.truth.state {
            ClockState::Paused { rate, .. } => ClockState::Paused { since: self.since, at, rate },
            ClockState::Running { rate, .. } => {
                let rate = self.fault.rate(rate, second);
                ClockState::Running { origin_host: self.since, origin_virtual: at, rate }
            }
        };
        self.shown = Clock { state, ..self.truth.clone() };
    }
}
