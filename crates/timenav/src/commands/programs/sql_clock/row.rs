//! The row of a clock, in terms of the database's own clock.

use timenav_core::clock::ClockState;

use crate::background::following::Known;

/// How far the database's clock is ahead of the local boot clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Nanoseconds.
    nanos: i128,
    /// The uncertainty, in nanoseconds.
    uncertainty: i128,
}

impl Ahead {
    /// Combines a measurement with the previous one: when the query was sent, the time in the response, and when it
    /// arrived, all in nanoseconds.
    ///
    /// The previous value is kept unless the measurement contradicts it, so that the clock does not jitter.
    pub(super) fn learned(before: Option<Self>, requested_at: i128, database_time: i128, received_at: i128) -> Self {
        let (low, high) = (database_time - received_at, database_time - requested_at);
        let Some(before) = before else {
            let uncertainty = (high - low) / 2;
            return Self { nanos: low + uncertainty, uncertainty };
        };
        let nanos = before.nanos.clamp(low, high);
        // The distance to either bound, and no more than before unless the clock was set.
        let uncertainty = (high - nanos).max(nanos - low);
        Self {
            nanos,
            uncertainty: if nanos == before.nanos { uncertainty.min(before.uncertainty) } else { uncertainty },
        }
    }
}

/// The row of a clock, as texts in the order of the statement that writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    generation: String,
    is_paused: String,
    rate_millionths: String,
    origin_virtual_micros: String,
    origin_here_micros: String,
    uncertainty_micros: String,
}

impl Row {
    pub(super) fn of(known: &Known, ahead: Ahead) -> Self {
        let (origin_host, origin_virtual, rate, is_paused) = match known.clock.state {
            ClockState::Running { origin_host, origin_virtual, rate } => (origin_host, origin_virtual, rate, false),
            ClockState::Paused { since, at, rate } => (since, at, rate, true),
        };
        let origin_boot = i128::from(origin_host.micros()) * 1_000 - known.offset;
        let origin_here = (origin_boot + ahead.nanos).div_euclid(1_000);
        // Without a bound, for example while the clock is paused, there is nothing to add.
        let uncertainty = (i128::from(known.uncertainty.unwrap_or_default()) + ahead.uncertainty) / 1_000;
        Self {
            generation: known.clock.generation.to_string(),
            is_paused: is_paused.to_string(),
            rate_millionths: rate.micros().to_string(),
            origin_virtual_micros: origin_virtual.micros().to_string(),
            origin_here_micros: origin_here.to_string(),
            uncertainty_micros: uncertainty.to_string(),
        }
    }

    pub(super) fn texts(&self) -> [&str; 6] {
        [
            &self.generation,
            &self.is_paused,
            &self.rate_millionths,
            &self.origin_virtual_micros,
            &self.origin_here_micros,
            &self.uncertainty_micros,
        ]
    }
}

#[cfg(test)]
mod tests {
    use timenav_core::clock::{Clock, Rate};
    use timenav_core::time::Instant;

    use super::*;

    #[test]
    fn repeated_measurement_narrows_the_database_clock_bounds() {
        let first = Ahead::learned(None, 100, 1_110, 120);
        assert_eq!(first, Ahead { nanos: 1_000, uncertainty: 10 });
        // A faster response narrows the bounds; a slower one adds nothing.
        let quicker = Ahead::learned(Some(first), 200, 1_205, 204);
        assert_eq!(quicker, Ahead { nanos: 1_001, uncertainty: 4 });
        assert_eq!(Ahead::learned(Some(quicker), 300, 1_340, 380), quicker);
        // A clock that was set is accepted.
        let set = Ahead::learned(Some(quicker), 400, 9_402, 404);
        assert_eq!(set, Ahead { nanos: 8_998, uncertainty: 4 });
    }

    #[test]
    fn clock_origin_is_converted_to_database_time() {
        let rate = Rate::from_factor(60.0).unwrap();
        let [host, displayed] = [5_000_000, -7].map(|micros| micros);
        let state = ClockState::Running {
            origin_host: Instant::from_micros(host).unwrap(),
            origin_virtual: Instant::from_micros(displayed).unwrap(),
            rate,
        };
        let clock = Clock { state, location: None, generation: 3 };
        // The host of the service is four seconds ahead of the local boot clock, and the database two.
        let mut known = Known::certain(clock, 4_000_000_000);
        known.uncertainty = Some(2_000);
        let ahead = Ahead { nanos: 2_000_000_000, uncertainty: 1_000 };
        let row = Row::of(&known, ahead);
        assert_eq!(row.texts(), ["3", "false", "60000000", "-7", "3000000", "3"]);
    }
}
