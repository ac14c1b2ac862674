//! The minimum upload rate. Only time spent waiting for the client counts, not backpressure.

use std::fmt;
use std::time::Duration;

/// Maximum time without data, in seconds.
pub(crate) const IMPORT_IDLE_SECONDS_MAX: u64 = 30;
/// Minimum average rate, in bytes per minute of waiting. The first minute is free.
pub(crate) const IMPORT_BYTES_PER_MINUTE_MIN: u64 = 60 * 1024;

#[derive(Debug, Default)]
pub(super) struct Pace {
    waited: Duration,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooSlow {
    Idle,
    Slow,
}

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => write!(f, "nothing arrived for {IMPORT_IDLE_SECONDS_MAX} seconds"),
            Self::Slow => write!(f, "on average, fewer than {IMPORT_BYTES_PER_MINUTE_MIN} bytes arrived in a minute"),
        }
    }
}

impl Pace {
    /// Returns how long to wait for the next chunk, and the error if it does not arrive.
    pub(super) fn patience(&self) -> (Duration, TooSlow) {
        let idle = Duration::from_secs(IMPORT_IDLE_SECONDS_MAX);
        let earned = Duration::from_millis(self.bytes.saturating_mul(60_000) / IMPORT_BYTES_PER_MINUTE_MIN);
        let left = (Duration::from_mins(1) + earned).saturating_sub(self.waited);
        if left < idle { (left, TooSlow::Slow) } else { (idle, TooSlow::Idle) }
    }

    pub(super) fn arrived(&mut self, bytes: usize, waited: Duration) {
        self.waited += waited;
        self.bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const IDLE: Duration = Duration::from_secs(IMPORT_IDLE_SECONDS_MAX);

    #[test]
    fn idle_sender_times_out() {
        assert_eq!(Pace::default().patience(), (IDLE, TooSlow::Idle));
    }

    #[test]
    fn slow_sender_times_out() {
        let mut pace = Pace::default();
        let mut waited = Duration::ZERO;
        loop {
            let (patience, why) = pace.patience();
            let pause = Duration::from_secs(IMPORT_IDLE_SECONDS_MAX - 1);
            if patience <= pause {
                assert_eq!(why, TooSlow::Slow);
                break;
            }
            pace.arrived(1, pause);
            waited += pause;
        }
        assert!(waited < Duration::from_mins(2), "{waited:?}");
    }

    #[test]
    fn sender_at_the_minimum_pace_never_times_out() {
        let mut pace = Pace::default();
        let a_second = usize::try_from(IMPORT_BYTES_PER_MINUTE_MIN / 60).unwrap();
        for _ in 0..100_000 {
            assert_eq!(pace.patience(), (IDLE, TooSlow::Idle));
            pace.arrived(a_second, SECOND);
        }
        // Fast data earns waiting time, limited by the idle timeout.
        pace.arrived(1_000_000_000, Duration::ZERO);
        assert_eq!(pace.patience(), (IDLE, TooSlow::Idle));
    }
}
