//! What every stream of messages has: a limit, a sign of life, and a place to go on from.

use std::str::FromStr;
use std::time::Duration;

use http::HeaderMap;
use timenav_core::ids::UserId;
use timenav_engine::Caller;

use crate::problem::Failure;
use crate::shares::Share;
use crate::state::App;

/// Streams that somebody listens to at the same time.
pub(crate) const STREAMS_MAX: usize = 4_000;
/// As above, one user.
pub(crate) const STREAMS_PER_USER_MAX: usize = 200;
/// After how many seconds one is to be tried again for which there was no room.
const RETRY_SECONDS: u32 = 5;

/// A comment is sent after so long without a change, so that nobody takes silence for an end.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Takes a place for one more stream of a user, which is free again once it is dropped.
pub(crate) fn place(app: &App, caller: &Caller) -> Result<Share<UserId>, Failure> {
    let place = app.streams.take(&caller.user_id, 1);
    place.map_err(|spent| Failure::Full { what: "streams", spent, retry_after_seconds: RETRY_SECONDS })
}

/// Reads the id of the last message that a client has seen, where it comes back.
pub(crate) fn last_event_id<T: FromStr>(headers: &HeaderMap) -> Result<Option<T>, Failure> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().unwrap_or("");
    let id =
        text.parse().map_err(|_| Failure::invalid("Last-Event-ID", "send the id of the last message, a number"))?;
    Ok(Some(id))
}
