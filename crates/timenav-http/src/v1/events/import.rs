//! Imports a file of any size as it arrives, in bounded memory.
//!
//! A thread parses records from the body and passes them on in batches. Batches are recorded in order, a few
//! concurrently, with backpressure on the parser. Parsing starts only after the caller is authorized and has a slot.

mod pace;
mod reading;
mod source;
mod tally;
mod undoing;

use std::collections::VecDeque;
use std::time::Duration;

use crate::schema::ToSchema;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::{FuturesOrdered, StreamExt};
use http::HeaderMap;
use serde::Deserialize;
use timenav_core::ids::TimelineId;
use timenav_engine::{Action, Caller, ImportBatch, ImportRehearsal, Refusal};
use timenav_import::{Format, ImportError};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::request::auth::{Authenticated, IMPORT_PATH, while_live};
use crate::request::body::{drain, drain_rest};
use crate::request::entity_tag::expect_timeline;
use crate::request::params::QueryParams;
use crate::response::problem::{Failure, FaultKind, ParameterFault};
use crate::route::Route;
use crate::state::App;
use crate::v1::parameters::timeline;
use crate::wire::{self, Text};
pub(crate) use pace::{IMPORT_BYTES_PER_MINUTE_MIN, IMPORT_IDLE_SECONDS_MAX};
use reading::Handed;
use source::{Source, cloud_event_body};
use tally::{ImportedBody, Tally};

pub(crate) const IMPORTS_RUNNING_MAX: usize = 32;
/// Concurrent imports per user. Further ones wait for a slot.
pub(crate) const IMPORTS_PER_USER_MAX: usize = 8;
/// How long an import waits for a slot of its user, and then for a global one, in seconds.
pub(crate) const IMPORT_TURN_SECONDS_MAX: u64 = 60;
const RETRY_SECONDS: u32 = 10;
const BATCHES_RECORDING_MAX: usize = 4;
/// Rejected records that are listed; further ones are only counted.
pub(crate) const REFUSALS_LISTED_MAX: usize = 100;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(IMPORT_PATH, "import_events", "Imports the events of a file, as many as possible", import_events)
            .takes_file::<ImportRequest>(Format::ALL.into_iter().map(Format::content_type).collect())
            .gives::<ImportedBody>()
            .heeds_if_there()
            .tag("events"),
        undoing::route(),
    ]
}

/// How to read the file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportRequest {
    /// `ndjson`, `json`, `logfmt`, `csv`, `geojson`, `cloudevents`, `icalendar`, `zipkin`, `jaeger`, `otlp` or `git`.
    /// Defaults to the format of the `Content-Type`.
    #[schema(format = "file-format", example = "csv")]
    format: Option<String>,
    /// The column, property or member of each field, and the layout of a table, as `field=column` pairs or JSON. For
    /// `csv`, `geojson`, `ndjson`, `json` and `logfmt`.
    #[schema(format = "mapping", example = "time=time,lat=lat,lon=lon,description={status}")]
    map: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// Whether to read and check the whole file and report the result without recording anything. The timeline must
    /// exist.
    #[schema(example = false)]
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
}

async fn import_events(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    QueryParams(request): QueryParams<ImportRequest>,
    body: Body,
) -> Result<Json<ImportedBody>, Failure> {
    let timeline_id = caller.timeline(timeline(request.timeline_id));
    let mut rehearsal = request.dry_run.unwrap_or_default().then(ImportRehearsal::default);
    let may = async {
        expect_timeline(&app, &headers, (&caller, &timeline_id), Action::RecordEvent).await?;
        let source = Source::new(request.format.as_deref(), request.map.as_deref(), &headers)?;
        // An empty batch checks the caller's permission.
        let first = match &mut rehearsal {
            None => app.engine.import_events(&caller, &timeline_id, Vec::new()).await?,
            Some(rehearsal) => app.engine.rehearse_import(&caller, &timeline_id, Vec::new(), rehearsal).await?,
        };
        let wait = Duration::from_secs(IMPORT_TURN_SECONDS_MAX);
        let turn = app.imports.take_within(&caller.user_id, 1, wait).await;
        let full = |spent| Failure::Full { what: "imports", spent, retry_after_seconds: RETRY_SECONDS };
        Ok((source, Tally::new(first.ledger), turn.map_err(full)?))
    };
    let (source, mut tally, turn) = match may.await {
        Ok(may) => may,
        Err(failure) => {
            drain(body).await;
            return Err(failure);
        }
    };
    let body = if source.is_binary_cloud_event {
        cloud_event_body(&app.rooms, &caller.user_id, &headers, body).await?
    } else {
        body
    };
    let (reading, handed) = reading::start(source, turn)
        .map_err(|error| Refusal::Unavailable(format!("an import cannot be read: {error}")))?;
    let to = Target { app: &app, caller: &caller, timeline: &timeline_id };
    let mut body = body.into_data_stream();
    let feeding = Box::pin(reading.feed(&mut body, || app.engine.now()));
    let mut under_way = UnderWay::new();
    let importing = async {
        let recording = async {
            match rehearsal {
                None => record(&to, &mut tally, &mut under_way, handed).await,
                Some(rehearsal) => rehearse(&to, &mut tally, handed, rehearsal).await,
            }
        };
        match select(feeding, Box::pin(recording)).await {
            Either::Left(((), recording)) => recording.await,
            // The thread has ended or is about to: it gets no more input.
            Either::Right((ended, _)) => ended,
        }
    };
    let ended = while_live(&app.engine, &caller, (&timeline_id, "import_events"), importing).await;
    if let Err(failure) = ended {
        under_way.settle(&mut tally).await;
        drain_rest(body).await;
        return Err(tally.broken_off(failure));
    }
    Ok(Json(tally.into_body(&timeline_id)))
}

struct Target<'a> {
    app: &'a App,
    caller: &'a Caller,
    timeline: &'a TimelineId,
}

impl Target<'_> {
    async fn wait_for_quota(&self, records: usize) -> Result<(), Failure> {
        while let Err(left) = self.app.rates.records(&self.caller.user_id, records) {
            let closing = self.app.options.closing.cancelled();
            if timeout(Duration::from_secs(left.seconds()), closing).await.is_ok() {
                return Err(Refusal::Unavailable("the service is stopping".to_owned()).into());
            }
        }
        Ok(())
    }
}

async fn record<'a>(
    to: &'a Target<'a>,
    tally: &mut Tally,
    under_way: &mut UnderWay<'a>,
    mut handed: mpsc::Receiver<Handed>,
) -> Result<(), Failure> {
    while let Some(part) = handed.recv().await {
        let batch = match part {
            Handed::Batch(batch) => batch,
            Handed::End(Ok(())) => break,
            Handed::End(Err(error)) => return Err(unreadable(&error)),
        };
        to.wait_for_quota(batch.len()).await?;
        let (drafts, numbers) = tally.split(batch);
        // A batch without valid records still checks the caller's permission.
        under_way.lines.push_back(numbers);
        under_way.batches.push_back(to.app.engine.import_events(to.caller, to.timeline, drafts).boxed());
        under_way.finish(tally, BATCHES_RECORDING_MAX).await?;
    }
    under_way.finish(tally, 0).await
}

struct UnderWay<'a> {
    batches: FuturesOrdered<BoxFuture<'a, Result<ImportBatch, Refusal>>>,
    lines: VecDeque<Vec<u64>>,
}

impl UnderWay<'_> {
    fn new() -> Self {
        Self { batches: FuturesOrdered::new(), lines: VecDeque::new() }
    }

    /// Waits until at most `most` batches are in progress. Stops at the first failure.
    async fn finish(&mut self, tally: &mut Tally, most: usize) -> Result<(), Failure> {
        while self.batches.len() > most {
            let Some(batch) = self.batches.next().await else { break };
            let numbers = self.lines.pop_front().unwrap_or_default();
            tally.add(batch?, &numbers);
        }
        Ok(())
    }

    /// Counts the batches that are still recorded after an import has failed.
    async fn settle(&mut self, tally: &mut Tally) {
        while !self.batches.is_empty() {
            // The first failure has been reported already.
            let _ = self.finish(tally, 0).await;
        }
    }
}

/// Computes batch by batch what recording would do, and counts the results.
async fn rehearse(
    to: &Target<'_>,
    tally: &mut Tally,
    mut handed: mpsc::Receiver<Handed>,
    mut rehearsal: ImportRehearsal,
) -> Result<(), Failure> {
    tally.is_dry = true;
    while let Some(part) = handed.recv().await {
        let batch = match part {
            Handed::Batch(batch) => batch,
            Handed::End(ended) => return ended.map_err(|error| unreadable(&error)),
        };
        to.wait_for_quota(batch.len()).await?;
        let (drafts, numbers) = tally.split(batch);
        let batch = to.app.engine.rehearse_import(to.caller, to.timeline, drafts, &mut rehearsal).await?;
        tally.add(batch, &numbers);
    }
    Ok(())
}

fn unreadable(error: &ImportError) -> Failure {
    let of_map = |kind| Failure::Parameter(ParameterFault { kind, path: "map".to_owned(), detail: error.to_string() });
    match error {
        ImportError::MappingUnused => of_map(FaultKind::Conflicting),
        ImportError::ColumnUnknown { .. } => of_map(FaultKind::Invalid),
        ImportError::TimeUnmapped { .. } => of_map(FaultKind::Missing),
        ImportError::Io { .. }
        | ImportError::HeaderMissing
        | ImportError::HeaderUnreadable { .. }
        | ImportError::TooManyColumns { .. }
        | ImportError::RowTooLarge { .. }
        | ImportError::NotGeoJson { .. }
        | ImportError::NotOfFormat { .. }
        | ImportError::NotText { .. }
        | ImportError::PartTooLarge { .. }
        | ImportError::TooManySpans { .. }
        | ImportError::FeatureTooLarge { .. }
        | ImportError::MalformedJson { .. } => Failure::MalformedFile { detail: error.to_string() },
    }
}
