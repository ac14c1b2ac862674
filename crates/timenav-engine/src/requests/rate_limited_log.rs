//! Rate limiting for log lines that clients can trigger: at most one a minute, with the number of suppressed ones.

use parking_lot::Mutex;
use timenav_core::time::{Instant, Wall};

const EVERY_MICROS: i64 = 60_000_000;

#[derive(Debug, Default)]
pub struct RateLimitedLog(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    last: Option<Instant<Wall>>,
    untold: u64,
}

impl RateLimitedLog {
    /// Counts an occurrence. If a line may be logged, returns the number of suppressed ones since the last line.
    pub fn tell(&self, now: Instant<Wall>) -> Option<u64> {
        let mut kept = self.0.lock();
        if kept.last.is_some_and(|last| now.since(last).micros() < EVERY_MICROS) {
            kept.untold += 1;
            return None;
        }
        kept.last = Some(now);
        Some(std::mem::take(&mut kept.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_line_is_written_at_most_once_a_minute() {
        let rate_limited_log = RateLimitedLog::default();
        let tell = |seconds: i64| rate_limited_log.tell(Instant::from_micros(seconds * 1_000_000).unwrap());
        let told = [0, 0, 1, 59, 60, 61, 200, 259, 260].map(tell);
        assert_eq!(told, [Some(0), None, None, None, Some(3), None, Some(1), None, Some(1)]);
    }
}
