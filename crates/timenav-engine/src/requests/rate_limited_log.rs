//! Rate limiting for log lines that clients can trigger: at most one a minute, with the number of suppressed ones.

use parking_lot::Mutex;
use timenav_core::time::{Instant, Wall};

const EVERY_MICROS: i64 = 60_000_000;

#[derive(Debug, Default)]
pub struct RateLimitedLog(Mutex<LogWindow>);

#[derive(Debug, Default)]
struct LogWindow {
    last: Option<Instant<Wall>>,
    suppressed: u64,
}

impl RateLimitedLog {
    /// Counts an occurrence. If a line may be logged, returns the number of suppressed ones since the last line.
    pub fn record(&self, now: Instant<Wall>) -> Option<u64> {
        let mut window = self.0.lock();
        if window.last.is_some_and(|last| now.since(last).micros() < EVERY_MICROS) {
            window.suppressed += 1;
            return None;
        }
        window.last = Some(now);
        Some(std::mem::take(&mut window.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_line_is_written_at_most_once_a_minute() {
        let rate_limited_log = RateLimitedLog::default();
        let record = |seconds: i64| rate_limited_log.record(Instant::from_micros(seconds * 1_000_000).unwrap());
        let logged = [0, 0, 1, 59, 60, 61, 200, 259, 260].map(record);
        assert_eq!(logged, [Some(0), None, None, None, Some(3), None, Some(1), None, Some(1)]);
    }
}
