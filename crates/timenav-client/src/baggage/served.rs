//! The clock of the request that is being served.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};

use super::header::{HEADER, with_timeline};
use crate::instant::Instant;
use crate::virtual_clock::VirtualClock;

tokio::task_local! {
    static SERVED: RequestClock;
}

/// The clock that a request goes by. It stays open for as long as somebody has it.
///
/// It is an extension of the request, which a handler of axum takes as `Extension(clock): Extension<RequestClock>`.
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

    /// Does something with this clock as [`clock`]. A task that a handler spawns needs it, as it is not part of the request.
    pub async fn serve<F: Future>(self, work: F) -> F::Output {
        SERVED.scope(self, work).await
    }

    /// Names the timeline in the head of a request to another service, with what else is in its baggage as it was.
    pub fn outgoing(&self, headers: &mut HeaderMap) {
        let given = joined(headers);
        let sent = with_timeline(given.as_deref(), &self.timeline_id);
        // What came in one header goes out in one: these are its bytes, or escapes.
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

/// Returns the clock of the request that is being served here; `None` outside a request. Take that for a mistake, and not
/// for a reason to read the host's clock.
#[must_use]
pub fn clock() -> Option<RequestClock> {
    SERVED.try_with(RequestClock::clone).ok()
}

/// Names the timeline of the request that is being served here in the head of a request to another service. Outside a
/// request, the head stays as it is.
pub fn outgoing(headers: &mut HeaderMap) {
    if let Some(clock) = clock() {
        clock.outgoing(headers);
    }
}

/// Returns a moment as PostgreSQL reads it, which knows no year 0 and no sign.
///
/// `SELECT set_config('timenav.now', $1, true)` with it makes `timenav_now()` of `timenav sql-clock` show that moment until
/// the transaction ends.
#[must_use]
pub fn sql_moment(moment: Instant) -> String {
    let text = moment.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |digits| (-1, digits));
    let Some((year, rest)) = digits.split_once('-') else { return text };
    match year.parse::<i64>().map(|year| sign * year) {
        Ok(year) if year <= 0 => format!("{:04}-{rest} BC", 1 - year),
        _ => text,
    }
}

/// Returns the baggage of a head, which may come in several headers.
pub(super) fn joined(headers: &HeaderMap) -> Option<String> {
    let given: Vec<String> = headers
        .get_all(HEADER)
        .iter()
        // Bytes beyond ASCII stand for themselves: they belong to somebody else, and are handed on as they are.
        .map(|value| value.as_bytes().iter().copied().map(char::from).collect())
        .collect();
    (!given.is_empty()).then(|| given.join(","))
}
