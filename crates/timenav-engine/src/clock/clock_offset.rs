//! The offset of the host's clock from the database's clock, and from the newest entry of any service.

use std::fmt;

use timenav_core::time::{Instant, Wall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Offset from the database's clock in microseconds; positive if the host's clock is ahead.
    pub micros: i64,
    /// Uncertainty of the offset in microseconds: half of the round-trip time.
    pub uncertainty_micros: i64,
    /// How far the host's clock is behind the newest entry of `system`, in microseconds; 0 if it is not, if there is no
    /// other writer, or if an operator has confirmed the clock.
    pub behind_newest_micros: i64,
    /// The maximum of either, in microseconds.
    pub max_micros: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockFault {
    Database,
    /// The newest entry of `system`, recorded by another service whose clock is ahead.
    Newest,
}

impl ClockOffset {
    /// Compares a reading of the database's clock with readings of the host's before and after it. The newest entry
    /// counts only if it is ahead.
    pub(crate) fn of(
        (before, database, after): (Instant<Wall>, Instant<Wall>, Instant<Wall>),
        newest: Option<Instant<Wall>>,
        max_micros: i64,
    ) -> Self {
        let uncertainty_micros = after.since(before).micros().max(0) / 2;
        let middle = before.micros() + uncertainty_micros;
        let behind = newest.map_or(0, |newest| newest.since(after).micros().max(0));
        Self { micros: middle - database.micros(), uncertainty_micros, behind_newest_micros: behind, max_micros }
    }

    #[must_use]
    pub fn fault(&self) -> Option<ClockFault> {
        if self.micros.saturating_abs().saturating_sub(self.uncertainty_micros) > self.max_micros {
            return Some(ClockFault::Database);
        }
        (self.behind_newest_micros > self.max_micros).then_some(ClockFault::Newest)
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = seconds(self.max_micros);
        if self.fault() == Some(ClockFault::Newest) {
            let behind = seconds(self.behind_newest_micros);
            return write!(
                f,
                "the host's clock is {behind} s behind the newest entry of `system`, which another service has recorded; \
                 at most {max} s are allowed. Correct the clock that is wrong"
            );
        }
        let direction = if self.micros < 0 { "behind" } else { "ahead of" };
        let (offset, uncertainty) = (seconds(self.micros.saturating_abs()), seconds(self.uncertainty_micros));
        write!(
            f,
            "the host's clock is {offset} s (±{uncertainty} s) {direction} the database's; at most {max} s are allowed. \
             Correct the clock that is wrong: a service reads its host's at its start"
        )
    }
}

fn seconds(micros: i64) -> String {
    format!("{}.{:03}", micros / 1_000_000, micros % 1_000_000 / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant<Wall> {
        Instant::from_micros(micros).unwrap()
    }

    #[test]
    fn clock_offset_is_a_fault_only_if_certain() {
        let check = |readings: (i64, i64, i64), newest: Option<i64>, expected: Option<ClockFault>| {
            let readings_at = (at(readings.0), at(readings.1), at(readings.2));
            let offset = ClockOffset::of(readings_at, newest.map(at), 1_000);
            assert_eq!(offset.fault(), expected, "{readings:?} {newest:?}: {offset:?}");
        };
        check((10_000, 10_000, 10_000), None, None);
        check((10_000, 9_000, 10_000), None, None);
        check((10_000, 8_999, 10_000), None, Some(ClockFault::Database));
        check((10_000, 11_001, 10_000), None, Some(ClockFault::Database));
        // The round trip was so long that the clock may be right.
        check((10_000, 8_999, 10_004), None, Some(ClockFault::Database));
        check((10_000, 9_000, 14_000), None, None);
        check((10_000, 10_000, 10_000), Some(9_000), None);
        check((10_000, 10_000, 10_000), Some(11_000), None);
        check((10_000, 10_000, 10_000), Some(11_001), Some(ClockFault::Newest));
    }

    #[test]
    fn clock_offset_is_written_in_seconds() {
        let offset = |database: i64| ClockOffset::of((at(10_000_000), at(database), at(10_001_000)), None, 2_000_000);
        let behind = offset(13_500_000).to_string();
        assert!(behind.contains("is 3.499 s (±0.000 s) behind the database's; at most 2.000 s"), "{behind}");
        assert!(offset(7_000_000).to_string().contains("is 3.000 s (±0.000 s) ahead of the database's"));
    }
}
