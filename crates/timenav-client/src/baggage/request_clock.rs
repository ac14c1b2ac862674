use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};

use super::header::{HEADER, with_timeline};
use crate::instant::Instant;
use crate::virtual_clock::VirtualClock;

tokio::task_local! {
    static CURRENT: RequestClock;
}

/// The clock of a request. It stays open while any clone of it exists.
///
/// It is an extension of the request. An axum handler extracts it with `Extension(clock): Extension<RequestClock>`.
#[derive(Clone, Debug)]
pub struct RequestClock {
    pub(super) timeline_id: Arc<str>,
    pub(super) clock: Arc<VirtualClock>,
}

impl RequestClock {
    /// Returns the timeline of the clock.
    #[must_use]
    pub fn timeline_id(&self) -> &str {
        &self.timeline_id
    }

    /// Runs a future in which [`clock`] returns this clock. Tasks that a handler spawns need it, because they do not
    /// inherit the clock.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// Adds the timeline to the `baggage` header of a request to another service. All other members are kept.
    pub fn forward_timeline(&self, headers: &mut HeaderMap) {
        let given = joined(headers);
        let sent = with_timeline(given.as_deref(), &self.timeline_id);
        // Each character of `sent` is one byte (see `joined`).
        let bytes: Vec<u8> = sent.chars().filter_map(|letter| u8::try_from(letter).ok()).collect();
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            headers.insert(HEADER, value);
        }
    }
}

impl Deref for RequestClock {
    type Target = VirtualClock;

    fn deref(&self) -> &VirtualClock {
        &self.clock
    }
}

/// Returns the clock of the current request; `None` outside a request. Do not fall back to the host's time.
#[must_use]
pub fn clock() -> Option<RequestClock> {
    CURRENT.try_with(RequestClock::clone).ok()
}

/// Adds the timeline of the current request to the `baggage` header of a request to another service. Does nothing
/// outside a request.
pub fn forward_timeline(headers: &mut HeaderMap) {
    if let Some(clock) = clock() {
        clock.forward_timeline(headers);
    }
}

/// Formats an instant as a PostgreSQL timestamp, which has neither a year 0 nor signed years.
///
/// After `SELECT set_config('timenav.now', $1, true)` with this value, `timenav_now()` of `timenav sql-clock` returns
/// that instant until the transaction ends.
#[must_use]
pub fn sql_timestamp(instant: Instant) -> String {
    let text = instant.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |digits| (-1, digits));
    let Some((year, rest)) = digits.split_once('-') else { return text };
    match year.parse::<i64>().map(|year| sign * year) {
        Ok(year) if year <= 0 => format!("{:04}-{rest} BC", 1 - year),
        _ => text,
    }
}

/// Returns the values of all `baggage` headers as one. Each byte becomes one character.
pub(super) fn joined(headers: &HeaderMap) -> Option<String> {
    let given: Vec<String> = headers
        .get_all(HEADER)
        .iter()
        // Non-ASCII bytes, which belong to other members, are forwarded unchanged.
        .map(|value| value.as_bytes().iter().copied().map(char::from).collect())
        .collect();
    (!given.is_empty()).then(|| given.join(","))
}
