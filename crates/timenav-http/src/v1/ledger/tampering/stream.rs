//! Source: WHATWG HTML, server-sent events. The stream cannot be resumed: the scan stops when the client disconnects.

use std::convert::Infallible;
use std::time::Duration;

use crate::schema::ToSchema;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use http::header;
use serde::Serialize;
use timenav_engine::{Engine, Progress, ReservedScan};
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;
use tokio_util::task::AbortOnDropHandle;

use super::TamperingBody;
use crate::response::finish::{RequestId, log_once};
use crate::response::problem::Failure;

/// Interval of heartbeat comments, so that clients can distinguish an idle stream from a dead one.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How far a scan has come.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProgressBody {
    /// The timeline that is scanned.
    timeline_id: String,
    /// What is being done: `checkpoints`, `tree`, `entries`, `tables`, in this order.
    #[schema(value_type = String, example = "entries")]
    stage: &'static str,
    /// Entries checked.
    entries: u64,
    /// Entries to be checked; 0 as long as that is not known.
    entries_total: u64,
    /// Bytes of entries and payloads read.
    bytes: u64,
}

pub(super) fn answer(engine: Engine, reserved: ReservedScan, id: RequestId) -> Response {
    let timeline_id = reserved.timeline().to_string();
    // Only the latest progress is kept: a slow client misses steps and delays nobody.
    let (sender, updates) = watch::channel(Progress::default());
    let scan = tokio::spawn(async move {
        let mut sender = |progress| {
            sender.send_replace(progress);
        };
        super::run(&engine, reserved, &mut sender).await
    });
    // Dropped with the stream when the client disconnects.
    let scan = AbortOnDropHandle::new(scan);
    let progress = WatchStream::new(updates).map(move |progress| progress_event(&timeline_id, progress));
    let end = stream::once(async move {
        match scan.await {
            Ok(Ok(found)) => event("result", &TamperingBody::from(found)),
            Ok(Err(refusal)) => problem_event(&refusal.into(), &id),
            Err(_) => problem_event(&Failure::Panicked, &id),
        }
    });
    let stream =
        Sse::new(progress.chain(end).map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    // Replaces the framework's `no-cache`, which allows caches to store the response.
    ([(header::CACHE_CONTROL, "no-store")], stream).into_response()
}

fn progress_event(timeline_id: &str, progress: Progress) -> Event {
    let Progress { stage, entries, entries_total, bytes } = progress;
    event(
        "progress",
        &ProgressBody { timeline_id: timeline_id.to_owned(), stage: stage.as_str(), entries, entries_total, bytes },
    )
}

fn problem_event(failure: &Failure, id: &RequestId) -> Event {
    log_once(failure, id);
    event("error", &failure.problem(id.as_str()))
}

fn event(name: &'static str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    // The data consists of strings, numbers and lists, so serialization cannot fail.
    event.json_data(data).unwrap_or_else(|_| Event::default().event("error"))
}
