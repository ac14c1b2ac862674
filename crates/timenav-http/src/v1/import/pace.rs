//! How slowly a file may come. Only the time counts in which more of it is waited for, not that in which it has to wait.

use std::fmt;
use std::time::Duration;

/// How long nothing may arrive, in seconds.
pub(crate) const IMPORT_IDLE_SECONDS_MAX: u64 = 30;
/// Bytes that arrive at least in a minute of waiting, on the average of the whole file. The first minute is free.
pub(crate) const IMPORT_BYTES_PER_MINUTE_MIN: u64 = 60 * 1024;

/// How a file has come so far.
#[derive(Debug, Default)]
pub(super) struct Pace {
    waited: Duration,
    bytes: u64,
}

/// Why no more of a file is waited for.
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
    /// Returns how long to wait for what comes next, and what it means if nothing does.
    pub(super) fn patience(&self) -> (Duration, TooSlow) {
        let idle = Duration::from_secs(IMPORT_IDLE_SECONDS_MAX);
        let earned = Duration::from_millis(self.bytes.saturating_mul(60_000) / IMPORT_BYTES_PER_MINUTE_MIN);
        let left = (Duration::from_mins(1) + earned).saturating_sub(self.waited);
        if left < idle { (left, TooSlow::Slow) } else { (idle, TooSlow::Idle) }
    }

    /// Takes note of what came, and of how long it was waited for.
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
    fn who_sends_nothing_is_waited_for_so_long() {
        assert_eq!(Pace::default().patience(), (IDLE, TooSlow::Idle));
    }

    #[test]
    fn who_sends_a_byte_now_and_then_is_not_waited_for_for_ever() {
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
    fn who_keeps_the_pace_may_send_as_long_as_it_takes() {
        let mut pace = Pace::default();
        let a_second = usize::try_from(IMPORT_BYTES_PER_MINUTE_MIN / 60).unwrap();
        for _ in 0..100_000 {
            assert_eq!(pace.patience(), (IDLE, TooSlow::Idle));
            pace.arrived(a_second, SECOND);
        }
        // What was sent fast earns a rest, which is not longer than that of an idle one.
        pace.arrived(1_000_000_000, Duration::ZERO);
        assert_eq!(pace.patience(), (IDLE, TooSlow::Idle));
    }
}
