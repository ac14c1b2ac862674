//! Clock arithmetic, identical to the service's: whole microseconds, rates in millionths, no double rounding.

use crate::instant::Instant;
use crate::operations::clock::{Clock, RunState};

const MILLION: i128 = 1_000_000;

/// The state of a clock: the values from which readings are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// The timeline of the clock.
    pub timeline_id: String,
    /// The number of changes of the clock.
    pub generation: u64,
    /// Whether virtual time passes.
    pub is_running: bool,
    /// Virtual microseconds per host second.
    pub rate_micros: i64,
    /// Host time since which the clock has been running or paused.
    pub origin_host: Instant,
    /// Virtual time at `origin_host`.
    pub origin_virtual: Instant,
    /// The place last traveled to.
    pub location: Option<String>,
}

impl ClockState {
    /// Returns virtual seconds per host second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates have at most twelve digits")]
    pub fn rate(&self) -> f64 {
        self.rate_micros as f64 / 1e6
    }

    /// Returns the reading at a host time in microseconds since 1970. A clock that reaches an end of the range −9999 to
    /// 9999 stops there.
    #[must_use]
    pub fn at(&self, host_micros: i64) -> Instant {
        if !self.is_running {
            return self.origin_virtual;
        }
        let elapsed = i128::from(host_micros) - i128::from(self.origin_host.micros());
        let passed = (elapsed * i128::from(self.rate_micros)).div_euclid(MILLION);
        Instant::clamped(i128::from(self.origin_virtual.micros()) + passed)
    }

    /// Returns the first host time, in microseconds since 1970, at which the clock shows this instant or a later one;
    /// `None` if it never does.
    #[must_use]
    pub fn host_time_at(&self, virtual_micros: i64) -> Option<i64> {
        if !self.is_running {
            return (self.origin_virtual.micros() >= virtual_micros).then_some(self.origin_host.micros());
        }
        if virtual_micros > Instant::MAX.micros() || self.rate_micros <= 0 {
            return None;
        }
        let distance = i128::from(virtual_micros) - i128::from(self.origin_virtual.micros());
        let passed = -((-distance * MILLION).div_euclid(i128::from(self.rate_micros)));
        i64::try_from(i128::from(self.origin_host.micros()) + passed).ok()
    }
}

impl Clock {
    /// Returns the state in a response.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a rate has at most twelve digits, so the cast is exact")]
    pub fn clock_state(&self) -> ClockState {
        ClockState {
            timeline_id: self.timeline_id.clone(),
            generation: self.generation,
            is_running: self.state == RunState::Running,
            rate_micros: (self.rate * 1e6).round() as i64,
            origin_host: self.origin_host,
            origin_virtual: self.origin_virtual,
            location: self.location.clone(),
        }
    }
}
