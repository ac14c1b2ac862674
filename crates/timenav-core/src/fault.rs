//! Simulated clock faults, like those of real hosts: offset, drift, jitter, slew, leap seconds.
//!
//! A faulty clock shows the true time plus an error. The error starts as an offset, or is slewed to it, or from it to
//! the correct time. It changes while virtual time passes: by the drift, and by a jitter that takes a new value for
//! each second of host time that the clock runs. The error is unchanged while the clock is paused, and when it jumps.
//! It is never stepped, so a faulty clock moves back only if the true clock does, and at a leap second.
//!
//! The error depends only on the fault and on how long the clock ran: the same fault on a fork gives the same errors. A
//! leap second depends only on what the clock shows.

mod stored;
mod leap;
mod words;

pub use self::leap::{FAULT_SMEAR_MAX, FAULT_SMEAR_MIN, Leap, LeapKind};
pub use self::stored::Faults;
pub use self::words::{
    FaultError, FaultWritten, fault_drift, fault_jitter, fault_leap, fault_offset, fault_slew, fault_smear,
};
use crate::clock::{Clock, ClockState, Rate};
use crate::ledger::sha256;
use crate::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Instant, Span, Virtual, Wall};

#[cfg(test)]
mod tests;

/// Highest drift, in parts per million: 10%.
pub const FAULT_DRIFT_PPM_MAX: i32 = 100_000;
/// Highest slew rate, in parts per million: 10%, which is also the maximum of `chronyd`.
pub const FAULT_SLEW_PPM_MAX: u32 = 100_000;
/// Highest jitter, in microseconds of host time. The clock still moves forward at this value.
pub const FAULT_JITTER_MICROS_MAX: u32 = 250_000;
/// How long a jitter value lasts, in microseconds of host time in which the clock runs. Over one second a rate in whole
/// millionths gives whole microseconds, so there is no rounding error.
const PIECE_MICROS: i64 = 1_000_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Initial offset; negative if the clock is behind.
    pub offset: Span,
    /// Drift in parts per million; negative if the clock is slow. Within [`FAULT_DRIFT_PPM_MAX`].
    pub drift_ppm: i32,
    /// Largest deviation in each direction, in microseconds of host time. Within [`FAULT_JITTER_MICROS_MAX`].
    pub jitter_micros: u32,
    pub seed: u64,
    /// How the offset is slewed. `None` for a constant offset.
    pub slew: Option<Slew>,
    /// A leap second that only this clock has.
    pub leap: Option<Leap>,
}

/// Slewing of the offset, in parts per million of virtual time. Within [`FAULT_SLEW_PPM_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slew {
    /// The clock is correct at first, and is slewed to the offset.
    To(u32),
    /// The clock has the offset at first, and is slewed to the correct time.
    From(u32),
}

impl Fault {
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.offset == Span::ZERO && self.drift_ppm == 0 && self.jitter_micros == 0 && self.leap.is_none()
    }

    /// Returns the initial error, and the amount still to be slewed, in microseconds.
    const fn beginning(&self) -> (i64, i64) {
        let offset = self.offset.micros();
        match self.slew {
            None => (offset, 0),
            Some(Slew::To(_)) => (0, offset),
            Some(Slew::From(_)) => (offset, offset.saturating_neg()),
        }
    }

    /// Returns the amount to slew in one second of running, up to `left`, in microseconds.
    fn slewed(&self, rate: Rate, left: i64) -> i64 {
        let (Some(Slew::To(ppm) | Slew::From(ppm)), true) = (self.slew, left != 0) else { return 0 };
        let most = u128::from(rate.micros()) * u128::from(ppm) / 1_000_000;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        left.clamp(-most, most)
    }

    /// Returns the jitter after that many seconds of running, in microseconds of host time.
    fn strayed(&self, seconds: u64) -> i64 {
        if self.jitter_micros == 0 || seconds == 0 {
            return 0;
        }
        let drawn = sha256(&[&self.seed.to_be_bytes(), &seconds.to_be_bytes()]);
        let Some(drawn) = drawn.as_bytes().first_chunk::<8>() else { return 0 };
        let most = i64::from(self.jitter_micros);
        // The modulo bias is negligible: there are far fewer values than random numbers.
        let among = u64::from(self.jitter_micros) * 2 + 1;
        i64::try_from(u64::from_be_bytes(*drawn) % among).unwrap_or_default() - most
    }

    /// Returns the rate of the faulty clock in one second of running, which includes slewing by `slewed`.
    fn rate(&self, rate: Rate, second: u64, slewed: i64) -> Rate {
        let slope = i64::from(self.drift_ppm) + self.strayed(second + 1) - self.strayed(second);
        let wrong = i128::from(rate.micros()) * (1_000_000 + i128::from(slope));
        // One more millionth of rate is one more microsecond per second.
        let nearest = (wrong + 500_000).div_euclid(1_000_000) + i128::from(slewed);
        let within = nearest.clamp(i128::from(RATE_MICROS_MIN), i128::from(RATE_MICROS_MAX));
        u64::try_from(within).ok().and_then(Rate::from_micros).unwrap_or(rate)
    }
}

#[derive(Clone, Debug)]
pub struct FaultyClock {
    fault: Fault,
    truth: Clock,
    /// The clock with its error, but without the leap second.
    plain: Clock,
    displayed: Clock,
    /// Start of the current error.
    since: Instant<Wall>,
    /// Start of what is currently shown.
    read_at: Instant<Wall>,
    /// How long the clock had run until `since`, in microseconds of host time.
    ran: i64,
    /// The amount still to be slewed at `since`, and the amount of this second, in microseconds.
    left: i64,
    slewed: i64,
}

impl FaultyClock {
    /// Returns a clock that is faulty from a host instant on.
    #[must_use]
    pub fn new(fault: Fault, truth: Clock, since: Instant<Wall>) -> Self {
        let (error, left) = fault.beginning();
        let (plain, displayed) = (truth.clone(), truth.clone());
        let mut clock = Self { fault, truth, plain, displayed, since, read_at: since, ran: 0, left, slewed: 0 };
        clock.err(i128::from(error));
        clock
    }

    #[must_use]
    pub const fn displayed(&self) -> &Clock {
        &self.displayed
    }

    /// Applies a change of the true clock, which became known at a host instant. The error is unchanged.
    pub fn change(&mut self, truth: &Clock, known: Instant<Wall>) {
        if *truth == self.truth {
            return;
        }
        // The change is effective from its own time, except for the time already shown.
        let at = truth.origin().0.max(self.since).min(known.max(self.since));
        self.turn(at);
        let error = self.pass(at);
        self.truth = truth.clone();
        self.err(error);
    }

    /// Returns the next host instant at which the shown clock changes, if any.
    #[must_use]
    pub fn next_turn(&self) -> Option<Instant<Wall>> {
        [self.next_piece(), self.next_edge()].into_iter().flatten().min()
    }

    /// Updates the shown clock to a host instant. Returns whether it changed.
    pub fn turn(&mut self, at: Instant<Wall>) -> bool {
        let mut has_turned = false;
        while let Some(next) = self.next_turn().filter(|next| *next <= at) {
            if Some(next) == self.next_piece() {
                let error = self.pass(next);
                self.err(error);
            } else {
                self.look(next);
            }
            has_turned = true;
        }
        has_turned
    }

    /// Returns when the error changes its course.
    fn next_piece(&self) -> Option<Instant<Wall>> {
        let is_smeared = self.fault.leap.is_some_and(|leap| leap.is_under_way(&self.plain, self.read_at));
        let is_steady = self.fault.jitter_micros == 0 && self.left == 0 && !is_smeared;
        if is_steady || !self.truth.is_running() { None } else { self.end_of_piece() }
    }

    fn end_of_piece(&self) -> Option<Instant<Wall>> {
        let left = PIECE_MICROS - self.ran.rem_euclid(PIECE_MICROS);
        self.since.checked_add(Span::from_micros(left))
    }

    /// Returns when the leap second takes effect.
    fn next_edge(&self) -> Option<Instant<Wall>> {
        let leap = self.fault.leap.filter(|_| self.truth.is_running())?;
        let edge = leap.edge().filter(|edge| self.plain.now(self.read_at) < *edge)?;
        self.plain.host_when(edge)
    }

    /// Advances to a host instant within this second, and returns the error there, in microseconds.
    fn pass(&mut self, at: Instant<Wall>) -> i128 {
        let error = i128::from(self.plain.now(at).micros()) - i128::from(self.truth.now(at).micros());
        if self.truth.is_running() {
            let passed = at.since(self.since).micros();
            // Rounded in the same way as the clocks.
            let done = (i128::from(self.slewed) * i128::from(passed)).div_euclid(i128::from(PIECE_MICROS));
            self.ran += passed;
            self.left -= i64::try_from(done).unwrap_or(self.left);
        }
        self.since = at;
        error
    }

    /// Sets the error from `since` on, in microseconds.
    fn err(&mut self, error: i128) {
        let micros = i128::from(self.truth.now(self.since).micros()) + error;
        let (first, last) = (Instant::<Virtual>::MIN.micros(), Instant::<Virtual>::MAX.micros());
        let within = micros.clamp(i128::from(first), i128::from(last));
        let at = i64::try_from(within).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX);
        let second = u64::try_from(self.ran.div_euclid(PIECE_MICROS)).unwrap_or_default();
        let state = match self.truth.state {
            ClockState::Paused { rate, .. } => ClockState::Paused { since: self.since, at, rate },
            ClockState::Running { rate, .. } => {
                self.slewed = self.fault.slewed(rate, self.left);
                let rate = self.fault.rate(rate, second, self.slewed);
                ClockState::Running { origin_host: self.since, origin_virtual: at, rate }
            }
        };
        self.plain = Clock { state, ..self.truth.clone() };
        self.look(self.since);
    }

    /// Updates the shown clock from a host instant on.
    fn look(&mut self, at: Instant<Wall>) {
        self.read_at = at;
        let end = self.end_of_piece();
        self.displayed = match (self.fault.leap, end) {
            (Some(leap), Some(end)) => leap.displayed(&self.plain, at, end),
            _ => self.plain.clone(),
        };
    }
}
