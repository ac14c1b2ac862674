//! Import: a file of any size, read as it arrives, in bounded memory.
//!
//! A thread reads records from the body and hands them over in batches; batches are recorded in
//! order, a few of them at the same time. Whoever reads too fast waits for whoever records. Nothing is read and no
//! thread runs before it is clear that the caller may, and that it is their turn.

mod pace;
mod reading;
mod source;
mod undoing;

use std::borrow::Cow;
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
use serde::{Deserialize, Serialize};
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_engine::{Action, Caller, ImportBatch, ImportId, ImportRehearsal, LedgerPosition, Refusal};
use timenav_import::{Format, ImportError, Item, RecordNote};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::parameters::timeline;
use crate::answer::{LedgerBody, created_first};
use crate::auth::{Authenticated, IMPORT_PATH, while_live};
use crate::body::{drain, drain_rest};
use crate::entity_tag::expect_timeline;
use crate::params::QueryParams;
use crate::problem::{Failure, FaultKind, ParameterFault};
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, Text};
pub(crate) use pace::{IMPORT_BYTES_PER_MINUTE_MIN, IMPORT_IDLE_SECONDS_MAX};
use reading::Handed;
pub(crate) use reading::as_it_comes;
use source::{Source, cloud_event_body};

/// Imports that are read at the same time.
pub(crate) const IMPORTS_RUNNING_MAX: usize = 32;
/// Imports of one user that are read at the same time. Further ones wait for their turn.
pub(crate) const IMPORTS_PER_USER_MAX: usize = 8;
/// How long an import waits for its turn, in seconds, and then as long for that of all.
pub(crate) const IMPORT_TURN_SECONDS_MAX: u64 = 60;
/// After how many seconds one is to be tried again that did not get its turn.
const RETRY_SECONDS: u32 = 10;
/// Batches that may be on their way into the ledger at the same time.
const BATCHES_RECORDING_MAX: usize = 4;
/// Refused records that are listed; the others are only counted.
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
    /// `ndjson`, `json`, `logfmt`, `csv`, `geojson`, `cloudevents`, `icalendar`, `zipkin`, `jaeger`, `otlp` or `git`; taken
    /// from the `Content-Type` by default.
    #[schema(format = "file-format", example = "csv")]
    format: Option<String>,
    /// Which column, property or member is which field, and how a table is written, as `field=column` pairs or JSON. For
    /// `csv`, `geojson`, `ndjson`, `json` and `logfmt`.
    #[schema(format = "mapping", example = "time=time,lat=lat,lon=lon,description={status}")]
    map: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// Whether to read and check the whole file, answer what would become of it, and record nothing. The timeline must be
    /// there.
    #[schema(example = false)]
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// `true` where nothing was recorded, and the counts are of what would be. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// What `undo-import` takes to undo this import. Absent if no event is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    import_id: Option<String>,
    /// Events that are new.
    taken: u64,
    /// Events that were already recorded with the same content.
    unchanged: u64,
    /// Records that were refused.
    refused: u64,
    /// The first of them, with the reason.
    refusals: Vec<RefusalBody>,
    /// All reasons, by code and field, those with most records first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    reasons: Vec<ReasonBody>,
    /// The first records that were imported, but not fully, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    notes: Vec<NoteBody>,
    /// How many of these there are, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    noted: Option<u64>,
    /// The place of the last new event in the ledger.
    ledger: LedgerBody,
}

/// One refused record.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RefusalBody {
    /// Its line, or for `GeoJSON` the number of the feature, counted from 1.
    line: u64,
    /// A stable code for the error.
    code: String,
    /// The field it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// What would be right.
    detail: String,
}

/// Why records were refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonBody {
    /// A stable code for the error.
    code: String,
    /// The field it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// How many records were refused for it.
    count: u64,
    /// The line of the first of them.
    line: u64,
    /// What would be right there.
    detail: String,
}

/// A record that was imported, but not fully.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoteBody {
    /// Its line.
    line: u64,
    /// A stable word for what was not done: `line_left_out`. The guide to importing lists them.
    code: &'static str,
    /// What was not done, and what was.
    detail: Cow<'static, str>,
}

/// Records the events of a file on a timeline.
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
        // A batch without records asks whether the caller may.
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
            // The thread has ended, or does so at once: nothing is handed to it any more.
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

/// Where records go.
struct Target<'a> {
    app: &'a App,
    caller: &'a Caller,
    timeline: &'a TimelineId,
}

impl Target<'_> {
    /// Waits until the quota of the user has so many requests left as these records count for.
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

/// Records batches in order, and counts.
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
        // A batch in which nothing can be recorded asks too whether the caller may still.
        under_way.lines.push_back(numbers);
        under_way.batches.push_back(to.app.engine.import_events(to.caller, to.timeline, drafts).boxed());
        under_way.finish(tally, BATCHES_RECORDING_MAX).await?;
    }
    under_way.finish(tally, 0).await
}

/// Batches on their way into the ledger, in their order.
struct UnderWay<'a> {
    batches: FuturesOrdered<BoxFuture<'a, Result<ImportBatch, Refusal>>>,
    /// The lines of each one's records.
    lines: VecDeque<Vec<u64>>,
}

impl UnderWay<'_> {
    fn new() -> Self {
        Self { batches: FuturesOrdered::new(), lines: VecDeque::new() }
    }

    /// Waits until no more than `most` are left, and counts the others. Ends at the first one that fails.
    async fn finish(&mut self, tally: &mut Tally, most: usize) -> Result<(), Failure> {
        while self.batches.len() > most {
            let Some(batch) = self.batches.next().await else { break };
            let numbers = self.lines.pop_front().unwrap_or_default();
            tally.add(batch?, &numbers);
        }
        Ok(())
    }

    /// Counts what still gets recorded after an import has failed: what was on its way goes on by itself.
    async fn settle(&mut self, tally: &mut Tally) {
        while !self.batches.is_empty() {
            // Why it failed has been found out before.
            let _ = self.finish(tally, 0).await;
        }
    }
}

/// Finds out batch by batch what recording them would do, and counts.
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

/// Returns why a file cannot be read to its end.
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

struct Tally {
    /// Whether nothing is recorded.
    is_dry: bool,
    taken: u64,
    /// Where in the ledger the new events begin, and end.
    span: Option<(u64, u64)>,
    unchanged: u64,
    refused: u64,
    refusals: Vec<RefusalBody>,
    reasons: Vec<ReasonBody>,
    noted: u64,
    notes: Vec<NoteBody>,
    /// After the first batch, which makes the timeline if there is none.
    first: LedgerPosition,
    ledger: LedgerPosition,
}

impl Tally {
    fn new(first: LedgerPosition) -> Self {
        let (refusals, notes) = (Vec::new(), Vec::new());
        Self {
            is_dry: false,
            taken: 0,
            span: None,
            unchanged: 0,
            refused: 0,
            refusals,
            reasons: Vec::new(),
            noted: 0,
            notes,
            first,
            ledger: first,
        }
    }

    /// Takes the refused records out of a batch and returns the others, with their lines.
    fn split(&mut self, batch: Vec<Item>) -> (Vec<EventDraft>, Vec<u64>) {
        let mut drafts = Vec::with_capacity(batch.len());
        let mut lines = Vec::with_capacity(batch.len());
        for item in batch {
            match item.event {
                Ok(draft) => {
                    self.note(item.line, item.notes);
                    drafts.push(draft);
                    lines.push(item.line);
                }
                Err(error) => {
                    let (code, field) = (error.code.to_owned(), error.field);
                    self.refuse(RefusalBody { line: item.line, code, field, detail: error.detail });
                }
            }
        }
        (drafts, lines)
    }

    fn add(&mut self, batch: ImportBatch, lines: &[u64]) {
        if batch.taken > 0 && !self.is_dry {
            // The entries of one batch follow each other, and the last one is where the ledger is said to be.
            let end = batch.ledger.position + 1;
            let first = self.span.map_or(end - batch.taken, |(first, _)| first);
            self.span = Some((first, end));
        }
        self.taken += batch.taken;
        self.unchanged += batch.unchanged;
        self.ledger = batch.ledger;
        for refused in batch.refused {
            let detail = if self.is_dry {
                let id = refused.event_id;
                format!("the event `{id}` is recorded already, or comes earlier in the file, with different content")
            } else {
                format!("the event `{}` is already recorded with different content", refused.event_id)
            };
            let line = lines.get(refused.index).copied().unwrap_or_default();
            let (code, field) = ("already_exists".to_owned(), Some("event_id".to_owned()));
            self.refuse(RefusalBody { line, code, field, detail });
        }
    }

    fn note(&mut self, line: u64, notes: Vec<RecordNote>) {
        for RecordNote { code, detail } in notes {
            self.noted += 1;
            if self.notes.len() < REFUSALS_LISTED_MAX {
                self.notes.push(NoteBody { line, code, detail });
            }
        }
    }

    fn refuse(&mut self, refusal: RefusalBody) {
        self.refused += 1;
        let is_same = |reason: &ReasonBody| reason.code == refusal.code && reason.field == refusal.field;
        match self.reasons.iter().position(is_same) {
            Some(at) => self.reasons[at].count += 1,
            None if self.reasons.len() < REFUSALS_LISTED_MAX => {
                let RefusalBody { line, code, field, detail } = refusal.clone();
                self.reasons.push(ReasonBody { code, field, count: 1, line, detail });
            }
            None => {}
        }
        if self.refusals.len() < REFUSALS_LISTED_MAX {
            self.refusals.push(refusal);
        }
    }

    /// Returns the name by which the import can be undone.
    fn import_id(&self) -> Option<String> {
        let (first, end) = self.span?;
        Some(ImportId::new(first, end, self.taken)?.to_string())
    }

    /// Says what became of the records before the import broke off: what is recorded stays.
    fn broken_off(&self, because: Failure) -> Failure {
        if (self.taken, self.unchanged, self.refused) == (0, 0, 0) && !matches!(because, Failure::MalformedFile { .. })
        {
            return because;
        }
        let taken = counted(self.taken, "event", "events");
        let were = match (self.is_dry, self.taken) {
            (true, _) => "would have been",
            (false, 1) => "was",
            (false, _) => "were",
        };
        let refused = counted(self.refused, "record", "records");
        let id = self.import_id().map_or_else(String::new, |id| format!(" (import_id `{id}`)"));
        let before = format!("{taken} {were} imported, {} unchanged and {refused} refused{id}", self.unchanged);
        Failure::BrokenOff { because: Box::new(because), before }
    }

    fn into_body(mut self, timeline_id: &TimelineId) -> ImportedBody {
        self.refusals.sort_by_key(|refusal| refusal.line);
        self.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
        let (known, refused, import_id) = (self.unchanged, self.refused, self.import_id());
        let status = if self.is_dry {
            let taken = counted(self.taken, "event", "events");
            format!("Dry run: nothing was recorded. {taken} would be new, {known} already recorded, {refused} refused.")
        } else {
            let taken = counted(self.taken, "event is", "events are");
            format!("{taken} new, {known} already recorded, {refused} refused.")
        };
        let (status, timeline_created) = created_first(self.first, timeline_id.as_str(), status);
        ImportedBody {
            status,
            timeline_id: timeline_id.to_string(),
            timeline_created,
            dry_run: self.is_dry.then_some(true),
            import_id,
            taken: self.taken,
            unchanged: self.unchanged,
            refused: self.refused,
            refusals: self.refusals,
            reasons: self.reasons,
            notes: self.notes,
            noted: (self.noted > 0).then_some(self.noted),
            ledger: self.ledger.into(),
        }
    }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}
