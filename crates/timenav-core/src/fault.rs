//! A clock that is wrong, as those of real hosts are: ahead or behind, too fast or too slow, and unsteady.
//!
//! What is shown is the true clock and an error. The error begins with an offset, or is slewed to it, or from it to the
//! right time. It grows or shrinks while virtual time passes: by a drift, and by a jitter, which goes to another value
//! in each second of host time that the clock runs. While the clock is paused the error stays, and so it does when the
//! clock jumps. It is never stepped, so a wrong clock goes back only where the true one does, and at a leap second.
//!
//! All of it follows from the fault and from how long the clock ran: the same fault on a fork makes the same errors. A
//! leap second follows from what the clock shows alone.

mod kept;
mod leap;
mod words;

pub use self::kept::Faults;
pub use self::leap::{FAULT_SMEAR_MAX, FAULT_SMEAR_MIN, Leap, LeapKind};
pub use self::words::{
    FaultError, FaultWritten, fault_drift, fault_jitter, fault_leap, fault_offset, fault_slew, fault_smear,
};
use crate::clock::{Clock, ClockState, Rate};
use crate::ledger::sha256;
use crate::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Instant, Span, Virtual, Wall};

#[cfg(test)]
mod tests;

/// Most by which a wrong clock drifts, in millionths: a tenth.
pub const FAULT_DRIFT_PPM_MAX: i32 = 100_000;
/// Most by which a wrong clock is slewed, in millionths: a tenth, as `chronyd` does at most.
pub const FAULT_SLEW_PPM_MAX: u32 = 100_000;
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
    /// How the offset comes or goes, if it is not there from the beginning to the end.
    pub slew: Option<Slew>,
    /// A leap second that nobody else knows of.
    pub leap: Option<Leap>,
}

/// How an offset comes or goes: by so many millionths of the virtual time that passes. Within [`FAULT_SLEW_PPM_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slew {
    /// The clock is right when it begins, and is slewed until it has the offset.
    To(u32),
    /// The clock has the offset when it begins, and is slewed until it is right.
    From(u32),
}

impl Fault {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.offset == Span::ZERO && self.drift_ppm == 0 && self.jitter_micros == 0 && self.leap.is_none()
    }

    /// Returns the error of a clock that begins, and by how much it is to be slewed then, in microseconds.
    const fn beginning(&self) -> (i64, i64) {
        let offset = self.offset.micros();
        match self.slew {
            None => (offset, 0),
            Some(Slew::To(_)) => (0, offset),
            Some(Slew::From(_)) => (offset, offset.saturating_neg()),
        }
    }

    /// Returns by how much a clock is slewed in a second of those that it runs, if so much is left, in microseconds.
    fn slewed(&self, rate: Rate, left: i64) -> i64 {
        let (Some(Slew::To(ppm) | Slew::From(ppm)), true) = (self.slew, left != 0) else { return 0 };
        let most = u128::from(rate.micros()) * u128::from(ppm) / 1_000_000;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        left.clamp(-most, most)
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

    /// Returns the rate at which a clock shows time in one second of those that it ran, and is slewed by so much.
    fn rate(&self, rate: Rate, second: u64, slewed: i64) -> Rate {
        let slope = i64::from(self.drift_ppm) + self.strayed(second + 1) - self.strayed(second);
        let wrong = i128::from(rate.micros()) * (1_000_000 + i128::from(slope));
        // A rate of so many millionths more makes as many microseconds more in a second.
        let nearest = (wrong + 500_000).div_euclid(1_000_000) + i128::from(slewed);
        let within = nearest.clamp(i128::from(RATE_MICROS_MIN), i128::from(RATE_MICROS_MAX));
        u64::try_from(within).ok().and_then(Rate::from_micros).unwrap_or(rate)
    }
}

/// A clock, and what is shown of it.
#[derive(Clone, Debug)]
pub struct FaultyClock {
    fault: Fault,
    truth: Clock,
    /// The clock with its error, but without a leap second.
    plain: Clock,
    shown: Clock,
    /// Since when the clock has its error like this.
    since: Instant<Wall>,
    /// Since when it is shown like this.
    looked: Instant<Wall>,
    /// How long it had run until `since`, in microseconds of host time.
    ran: i64,
    /// By how much it was still to be slewed then, and by how much it is in this second, in microseconds.
    left: i64,
    slewed: i64,
}

impl FaultyClock {
    /// Returns a clock that is wrong from a host instant on.
    #[must_use]
    pub fn new(fault: Fault, truth: Clock, since: Instant<Wall>) -> Self {
        let (error, left) = fault.beginning();
        let (plain, shown) = (truth.clone(), truth.clone());
        let mut clock = Self { fault, truth, plain, shown, since, looked: since, ran: 0, left, slewed: 0 };
        clock.err(i128::from(error));
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
        let error = self.pass(at);
        self.truth = truth.clone();
        self.err(error);
    }

    /// Returns the host instant at which the clock is to be shown otherwise, if it is.
    #[must_use]
    pub fn next_turn(&self) -> Option<Instant<Wall>> {
        [self.next_piece(), self.next_edge()].into_iter().flatten().min()
    }

    /// Shows the clock as it is to be shown at a host instant. Returns whether that is otherwise than before.
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

    /// Returns when the error is to go on otherwise.
    fn next_piece(&self) -> Option<Instant<Wall>> {
        let is_smeared = self.fault.leap.is_some_and(|leap| leap.is_under_way(&self.plain, self.looked));
        let is_steady = self.fault.jitter_micros == 0 && self.left == 0 && !is_smeared;
        if is_steady || !self.truth.is_running() { None } else { self.end_of_piece() }
    }

    fn end_of_piece(&self) -> Option<Instant<Wall>> {
        let left = PIECE_MICROS - self.ran.rem_euclid(PIECE_MICROS);
        self.since.checked_add(Span::from_micros(left))
    }

    /// Returns when a leap second begins to show.
    fn next_edge(&self) -> Option<Instant<Wall>> {
        let leap = self.fault.leap.filter(|_| self.truth.is_running())?;
        let edge = leap.edge().filter(|edge| self.plain.now(self.looked) < *edge)?;
        self.plain.host_when(edge)
    }

    /// Goes on to a host instant within this piece, and returns the error there, in microseconds.
    fn pass(&mut self, at: Instant<Wall>) -> i128 {
        let error = i128::from(self.plain.now(at).micros()) - i128::from(self.truth.now(at).micros());
        if self.truth.is_running() {
            let passed = at.since(self.since).micros();
            // Rounded as the clocks round.
            let done = (i128::from(self.slewed) * i128::from(passed)).div_euclid(i128::from(PIECE_MICROS));
            self.ran += passed;
            self.left -= i64::try_from(done).unwrap_or(self.left);
        }
        self.since = at;
        error
    }

    /// Has the clock an error, in microseconds, from `since` on.
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

    /// Shows the clock as it is from a host instant on.
    fn look(&mut self, at: Instant<Wall>) {
        self.looked = at;
        let end = self.end_of_piece();
        self.shown = match (self.fault.leap, end) {
            (Some(leap), Some(end)) => leap.shown(&self.plain, at, end),
            _ => self.plain.clone(),
        };
    }
}
