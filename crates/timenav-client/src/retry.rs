//! Which requests are sent again, and when.

use std::time::Duration;

use crate::host::{jitter, wall_seconds};
use crate::instant::Instant;

const DELAY_FIRST: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(5);

/// How often a request is sent, and how long all of its waiting may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How often it is sent in all; 1 sends nothing again.
    pub attempts: u32,
    /// Where the service asks for more, its answer is given to the caller at once.
    pub wait_max: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 4, wait_max: Duration::from_secs(30) }
    }
}

/// What came of a request that was not answered with success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was never sent.
    NotSent,
    /// No answer came.
    NoAnswer,
    /// The service, or a proxy before it, answered with this status.
    Status(u16),
}

impl Outcome {
    const fn is_worth_it(self, is_repeatable: bool) -> bool {
        match self {
            // Refused before anything was done: by its quota, for want of room, or because it could not be written.
            Self::NotSent | Self::Status(429 | 503) => true,
            // It may have happened, and the answer was lost, here or in a proxy.
            Self::NoAnswer | Self::Status(502 | 504) => is_repeatable,
            Self::Status(_) => false,
        }
    }
}

impl Retries {
    /// Returns how long to wait before the next attempt; `None` where there is none.
    ///
    /// `attempt` counts from 1. A request is repeatable if sending it twice does no more than sending it once: it only
    /// looks, or carries an idempotency key.
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

/// Returns how long is waited after so many attempts in a row, before it is jittered.
pub(crate) fn delay(attempt: u32) -> Duration {
    DELAY_FIRST.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1))).min(DELAY_MAX)
}

/// Reads a `Retry-After` header: seconds, or an HTTP date (RFC 9110 §10.2.3).
pub(crate) fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let at = http_date(text)?;
    Some(Duration::from_secs(u64::try_from(at.saturating_sub(wall_seconds())).unwrap_or_default()))
}

/// Reads a date as servers write it (`Sun, 06 Nov 1994 08:49:37 GMT`), in seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let instant: Instant = format!("{year}-{month:02}-{day}T{time}Z").parse().ok()?;
    Some(instant.micros().div_euclid(1_000_000))
}
