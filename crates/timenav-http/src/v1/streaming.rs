use std::convert::Infallible;
use std::future::pending;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::future::select;
use futures_util::stream::{self, StreamExt};
use http::{HeaderMap, header};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::Instant;
use timenav_engine::{Caller, Engine, LedgerMessage, LedgerStream, Seen};
use tokio::time::timeout;

use crate::request::auth::access_end;
use crate::response::problem::Failure;
use crate::shares::Share;
use crate::state::App;

pub(crate) const STREAMS_MAX: usize = 4_000;
pub(crate) const STREAMS_PER_USER_MAX: usize = 200;
const RETRY_SECONDS: u32 = 5;

/// Interval of heartbeat comments, so that clients can distinguish an idle stream from a dead one.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The pattern of ids that [`id_at`] writes and [`Place`] parses. Every number of this length fits its type.
pub(crate) const PLACE_PATTERN: &str = "^[0-9]{1,19}([.][0-9]{1,9})?(@-?[0-9]{1,18})?(~[0-9a-f]{16})?$";

/// Reserves a stream of a user; it is released when dropped.
pub(crate) fn place(app: &App, caller: &Caller) -> Result<Share<UserId>, Failure> {
    let place = app.streams.take(&caller.user_id, 1);
    place.map_err(|spent| Failure::Full { what: "streams", spent, retry_after_seconds: RETRY_SECONDS })
}

/// Returns the last message id of a client that reconnects. An empty id means none (HTML, section 9.2.4).
pub(crate) fn last_event_id<T: FromStr>(headers: &HeaderMap) -> Result<Option<T>, Failure> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    if value.is_empty() {
        return Ok(None);
    }
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    let wrong = || Failure::invalid("Last-Event-ID", "send the id of the last message as the stream sent it");
    id.ok_or_else(wrong).map(Some)
}

pub(super) struct Place(pub(super) Seen);

impl FromStr for Place {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (text, entry) = match text.split_once('~') {
            None => (text, None),
            Some((text, entry)) => (text, Some(entry.parse()?)),
        };
        let (text, passed) = match text.split_once('@') {
            None => (text, None),
            Some((text, passed)) => (text, Some(passed.parse()?)),
        };
        // A time outside the range of clocks is never sent, so it is ignored.
        let passed = passed.and_then(Instant::from_micros);
        let (position, part) = match text.split_once('.') {
            None => (text, None),
            Some((position, part)) => (position, Some(part.parse()?)),
        };
        Ok(Self(Seen { position: position.parse()?, part, passed, entry }))
    }
}

pub(super) fn event_at(message: &LedgerMessage) -> Event {
    Event::default().id(id_at(message))
}

fn id_at(message: &LedgerMessage) -> String {
    let LedgerMessage { position, part, passed, entry, .. } = message;
    let part = part.map_or_else(String::new, |part| format!(".{part}"));
    let passed = passed.map_or_else(String::new, |passed| format!("@{}", passed.micros()));
    let entry = entry.map_or_else(String::new, |entry| format!("~{entry}"));
    format!("{position}{part}{passed}{entry}")
}

/// Streams the messages of a timeline until the client, the permission or the service ends.
pub(super) fn message_stream(
    app: App,
    caller: Caller,
    watched: LedgerStream,
    place: Share<UserId>,
    message: fn(&App, &TimelineId, LedgerMessage) -> Option<Event>,
) -> impl IntoResponse {
    let closing = app.options.closing.clone().cancelled_owned();
    let over = access_end(app.engine.clone(), caller, watched.timeline_id().clone(), Engine::may_watch);
    let end = select(Box::pin(closing), Box::pin(over));
    let watched = watched.waiting_by(Arc::new(|span| {
        let span = Duration::from_micros(u64::try_from(span.micros()).unwrap_or(0));
        Box::pin(async move {
            // The future never completes before the timeout.
            let _ = timeout(span, pending::<()>()).await;
        })
    }));
    // The next entry is read after the last message is sent, so a slow client delays nobody else.
    let messages = stream::unfold((app, watched, place), move |(app, mut watched, place)| async move {
        let sent = watched.next().await?;
        let message = message(&app, watched.timeline_id(), sent)?;
        Some((Ok::<_, Infallible>(message), (app, watched, place)))
    });
    let stream = Sse::new(messages.take_until(end));
    let stream = stream.keep_alive(KeepAlive::new().interval(HEARTBEAT));
    ([(header::CACHE_CONTROL, "no-store")], stream)
}

#[cfg(test)]
mod tests {
    use regex::Regex;
    use timenav_engine::LedgerUpdate;

    use super::*;

    #[test]
    fn stream_id_matches_its_pattern_and_is_read_back() {
        let pattern = Regex::new(PLACE_PATTERN).unwrap();
        let mark = "0085ee332fadb4d5".parse().unwrap();
        let passed = Instant::from_micros(-62_135_596_800_000_000).unwrap();
        for (part, passed, entry, id) in [
            (None, None, None, "17"),
            (None, None, Some(mark), "17~0085ee332fadb4d5"),
            (Some(0), None, Some(mark), "17.0~0085ee332fadb4d5"),
            (None, Some(passed), Some(mark), "17@-62135596800000000~0085ee332fadb4d5"),
            (Some(3), Some(passed), Some(mark), "17.3@-62135596800000000~0085ee332fadb4d5"),
        ] {
            assert_eq!(id_at(&LedgerMessage { position: 17, part, passed, entry, update: LedgerUpdate::Reset }), id);
            assert!(pattern.is_match(id), "{id}");
            let Place(seen) = id.parse().unwrap();
            assert_eq!(seen, Seen { position: 17, part, passed, entry });
        }
    }
}
