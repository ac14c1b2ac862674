use std::time::Duration;

use crate::instant::Instant;
use crate::transport::host::{jitter, wall_seconds};

const DELAY_FIRST: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(5);

/// How often to send a request, and how long to wait in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of attempts; 1 disables retries.
    pub attempts: u32,
    /// The maximum total wait. If `Retry-After` exceeds it, the response is returned immediately.
    pub wait_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 4, wait_max: Duration::from_secs(30) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    NotSent,
    NoResponse,
    /// The status of a response by the service or a proxy.
    Status(u16),
}

impl Outcome {
    const fn is_worth_it(self, is_repeatable: bool) -> bool {
        match self {
            // The request had no effect: it was not sent, or was rejected because of a quota or an overload.
            Self::NotSent | Self::Status(429 | 503) => true,
            // The change may have taken effect; the response was lost here or in a proxy.
            Self::NoResponse | Self::Status(502 | 504) => is_repeatable,
            Self::Status(_) => false,
        }
    }
}

impl RetryPolicy {
    /// Returns the wait before the next attempt; `None` if there is no further attempt.
    ///
    /// `attempt` counts from 1. A request is repeatable if it is safe to send it twice: it only reads, or carries an
    /// idempotency key.
    pub(crate) fn wait(
        self,
        attempt: u32,
        outcome: Outcome,
        is_repeatable: bool,
        (retry_after, waited): (Option<Duration>, Duration),
    ) -> Option<Duration> {
        if attempt >= self.attempts || !outcome.is_worth_it(is_repeatable) {
            return None;
        }
        let wait = retry_after.unwrap_or_else(|| jitter(delay(attempt)));
        Some(wait).filter(|wait| waited.saturating_add(*wait) <= self.wait_max)
    }
}

/// Returns the delay after a number of failed attempts, without jitter.
pub(crate) fn delay(attempt: u32) -> Duration {
    DELAY_FIRST.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1))).min(DELAY_MAX)
}

/// Parses a `Retry-After` header: seconds, or an HTTP date (RFC 9110 §10.2.3).
pub(crate) fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let at = http_date(text)?;
    Some(Duration::from_secs(u64::try_from(at.saturating_sub(wall_seconds())).unwrap_or_default()))
}

/// Parses an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`), in seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let instant: Instant = format!("{year}-{month:02}-{day}T{time}Z").parse().ok()?;
    Some(instant.micros().div_euclid(1_000_000))
}
