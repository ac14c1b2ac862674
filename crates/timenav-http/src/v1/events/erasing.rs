use std::collections::BTreeSet;

use crate::schema::ToSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use timenav_core::ids::{EventId, TimelineId, UserId};
use timenav_core::ledger::READS_MAX;
use timenav_core::text::counted;
use timenav_core::time::{Duration, TimeRange, Virtual};
use timenav_engine::{
    Answer, ERASE_EVENTS_BATCH_MAX, ErasurePreview, EventErasure, EventsErasureResult, ForkSeen, ReadErasure,
    ReadsErasureResult, WhichEvents, WhichReads,
};
#[cfg(feature = "schema")]
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};

use crate::request::call::Change;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::{Form, Route};
use crate::v1::parameters::timeline;
use crate::wire::{self, Location, Text, Words};

const TAG: &str = "data";

pub(crate) fn routes() -> Vec<Route> {
    let forms = [
        Form::default().with("event_ids").without("location").without("older_than").without("as_of_size"),
        Form::default().with("location").with("time_range").without("event_ids").without("older_than"),
        Form::default().with("older_than").without("event_ids").without("location").without("time_range"),
    ];
    let events = Route::change("/erase-events", "erase_events", "Erases events with all their versions", erase_events)
        .takes::<EraseEventsRequest>()
        .gives::<ErasedEventsBody>()
        .tag(TAG);
    vec![
        forms.into_iter().fold(events, Route::form),
        Route::change("/erase-reads", "erase_reads", "Erases single reads from the access log", erase_reads)
            .takes::<EraseReadsRequest>()
            .either("reads", "user_id")
            .gives::<ErasedReadsBody>()
            .tag(TAG),
    ]
}

/// Events to erase: by `event_ids`, by `location` and `time_range`, or by `older_than`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseEventsRequest {
    /// The events: at most 1,000, fewer if there are forks. As a list, or separated by commas.
    #[schema(schema_with = event_ids_schema, required = false)]
    event_ids: Option<Words>,
    /// The place of the events, as in `monitor-events`. Inherited events are not included.
    #[schema(value_type = Option<String>, format = "location", example = "*")]
    location: Option<Text<Location>>,
    /// The virtual time of the events: `<start>/<end>`, both ends included.
    #[schema(value_type = Option<String>, format = "time-range", example = "../1969-12-31T23:59:59Z")]
    time_range: Option<Text<TimeRange<Virtual>>>,
    /// Events that have not changed for this long in host time, including canceled ones. No months or years.
    #[schema(value_type = Option<String>, format = "retention")]
    older_than: Option<Text<Duration>>,
    /// Whether to report the effect without erasing anything.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    /// The `as_of_size` of a dry run. Required to erase by `location` or `older_than`.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    #[serde(default, deserialize_with = "wire::number")]
    as_of_size: Option<u64>,
    /// Whether to erase the events from forks of this timeline too. You must be an admin of each.
    #[serde(default, deserialize_with = "wire::truth")]
    include_forks: Option<bool>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Reads to erase: by `reads` or by `user_id`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseReadsRequest {
    /// The timeline; can be `system`. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The `position` of the reads in the access log.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    #[serde(deserialize_with = "position")]
    position: u64,
    /// The `index` of each read in the access log.
    #[schema(schema_with = reads_schema, required = false)]
    #[serde(default, deserialize_with = "numbers")]
    reads: Option<BTreeSet<u32>>,
    /// The user who read.
    #[schema(value_type = Option<String>, format = "id")]
    user_id: Option<Text<UserId>>,
}

/// Erased events, or those that a dry run would erase.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasedEventsBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Whether this was a dry run.
    dry_run: bool,
    /// The number of events that were erased by this request, or would be in total.
    events_count: u64,
    /// The number of selected events that remain: send the same request again.
    remaining: u64,
    /// After a dry run: the ids of the first events.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_ids: Option<Vec<String>>,
    /// After a dry run: the evaluated size of the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of_size: Option<u64>,
    /// After a dry run: the forks of this timeline, and their forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    forks: Option<Vec<ErasureForkBody>>,
    /// The number of erased payloads, including those of forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    payloads_count: Option<u64>,
    /// The number of forks with erased changes of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    forks_count: Option<u64>,
    /// The number of deleted responses to requests with an `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes_count: Option<u64>,
    /// The erasure's place in the ledger; absent after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

/// A fork of the timeline on which events are erased.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasureForkBody {
    /// The timeline.
    timeline_id: String,
    /// Whether the caller may erase on the fork.
    may_erase: bool,
}

/// Reads that were erased.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasedReadsBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The position of their entry. Its leaf and all proofs remain.
    position: u64,
    /// The number of erased reads.
    erased: u64,
    /// The number of reads that remain in that entry.
    remaining: u64,
    /// The erasure's place in the ledger.
    ledger: LedgerBody,
}

/// Erases events, one batch at a time, or tells which it would erase.
async fn erase_events(
    Change { app, caller, idempotency, request, .. }: Change<EraseEventsRequest>,
) -> Result<Changed<ErasedEventsBody>, Failure> {
    let is_dry = request.dry_run == Some(true);
    let erasure = request.read()?;
    if is_dry {
        let foreseen = app.engine.preview_erasure(&caller, erasure).await?;
        return Ok(Changed::ok(ErasedEventsBody::foreseen(foreseen), false));
    }
    let erased = app.engine.erase_events(&caller, erasure, idempotency).await?;
    let replayed = erased.replayed;
    Ok(Changed::ok(ErasedEventsBody::erased(erased), replayed))
}

async fn erase_reads(
    Change { app, caller, idempotency, request, .. }: Change<EraseReadsRequest>,
) -> Result<Changed<ErasedReadsBody>, Failure> {
    let EraseReadsRequest { timeline_id, position, reads, user_id } = request;
    let which = match (reads, user_id) {
        (Some(numbers), None) => WhichReads::Numbers(numbers),
        (None, Some(Text(user_id))) => WhichReads::Of(user_id.to_string()),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("reads", "give the reads to erase: `reads` or `user_id`"));
        }
    };
    let erasure = ReadErasure { timeline: timeline(timeline_id), position, which };
    let erased = app.engine.erase_reads(&caller, erasure, idempotency).await?;
    let Answer { timeline_id, change, ledger, replayed } = erased;
    let ReadsErasureResult { position, erased, left } = change;
    let status = format!("{} of entry {position} erased; {left} left.", counted(erased, "read"));
    let body = ErasedReadsBody {
        status,
        timeline_id: timeline_id.to_string(),
        position,
        erased,
        remaining: left,
        ledger: ledger.into(),
    };
    Ok(Changed::ok(body, replayed))
}

impl EraseEventsRequest {
    fn read(self) -> Result<EventErasure, Failure> {
        let Self { event_ids, location, time_range, older_than, as_of_size, include_forks, timeline_id, .. } = self;
        let which = match (event_ids, location, time_range, older_than) {
            (Some(Words(ids)), None, None, None) => WhichEvents::Ids(read_ids(&ids)?),
            (None, Some(Text(location)), Some(Text(range)), None) => {
                WhichEvents::Found { location_text: location.text, location: location.query, range }
            }
            (None, Some(_), None, None) => return Err(Failure::missing("time_range")),
            (None, None, Some(_), None) => return Err(Failure::missing("location")),
            (None, None, None, Some(Text(age))) => {
                if age.months() > 0 {
                    let detail = "months and years differ in length: give days, such as \"P365D\"";
                    return Err(Failure::invalid("older_than", detail));
                }
                WhichEvents::Unchanged { text: age.to_string(), span: age.exact() }
            }
            _ => {
                let detail = "select events in one way: `event_ids`, `location` and `time_range`, or `older_than`";
                return Err(Failure::invalid("event_ids", detail));
            }
        };
        let include_forks = include_forks == Some(true);
        Ok(EventErasure { timeline: timeline(timeline_id), which, include_forks, evaluated_at: as_of_size })
    }
}

fn read_ids(ids: &[String]) -> Result<Vec<EventId>, Failure> {
    if !(1..=ERASE_EVENTS_BATCH_MAX).contains(&ids.len()) {
        let detail = format!("give 1 to {ERASE_EVENTS_BATCH_MAX} ids, not {}", ids.len());
        return Err(Failure::invalid("event_ids", detail));
    }
    let id = |(index, id): (usize, &String)| {
        EventId::new(id).map_err(|error| Failure::invalid(format!("event_ids/{index}"), error.to_string()))
    };
    ids.iter().enumerate().map(id).collect()
}

impl ErasedEventsBody {
    fn foreseen(foreseen: ErasurePreview) -> Self {
        let ErasurePreview { timeline_id, events_count, event_ids, evaluated_at: as_of_size, forks } = foreseen;
        let would = counted(events_count, "event");
        let fork =
            |ForkSeen { timeline_id, may_erase }| ErasureForkBody { timeline_id: timeline_id.to_string(), may_erase };
        Self {
            status: format!("Dry run: nothing was erased. {would} of `{timeline_id}` would be."),
            timeline_id: timeline_id.to_string(),
            dry_run: true,
            events_count,
            remaining: events_count,
            event_ids: Some(event_ids.iter().map(ToString::to_string).collect()),
            as_of_size: Some(as_of_size),
            forks: Some(forks.into_iter().map(fork).collect()),
            payloads_count: None,
            forks_count: None,
            outcomes_count: None,
            ledger: None,
        }
    }

    fn erased(erased: Answer<EventsErasureResult>) -> Self {
        let Answer { timeline_id, change, ledger, .. } = erased;
        let EventsErasureResult { events_count, payloads_count, forks_count, outcomes_count, left } = change;
        let status = match (events_count, left) {
            (0, _) => format!("Nothing on `{timeline_id}` is left to erase."),
            (_, 0) => format!("{} of `{timeline_id}` erased; proofs remain valid.", counted(events_count, "event")),
            (_, _) => format!(
                "{} of `{timeline_id}` erased; {left} left: send the request again.",
                counted(events_count, "event")
            ),
        };
        Self {
            status,
            timeline_id: timeline_id.to_string(),
            dry_run: false,
            events_count,
            remaining: left,
            event_ids: None,
            as_of_size: None,
            forks: None,
            payloads_count: Some(payloads_count),
            forks_count: Some(forks_count),
            outcomes_count: Some(outcomes_count),
            ledger: Some(ledger.into()),
        }
    }
}

/// Reads a position, which is text in a query string.
fn position<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    wire::number(deserializer)?.ok_or_else(|| de::Error::custom("a position must be a number, 0 or more"))
}

/// Reads numbers of reads: a list, or comma-separated text.
fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeSet<u32>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        List(Vec<serde_json::Number>),
    }
    let wrong = || de::Error::custom(format!("give a list of 1 to {READS_MAX} read numbers, counted from 0"));
    let whole = |number: &serde_json::Number| {
        let number = number.as_u64().or_else(|| {
            // In JSON `2.0` is the integer `2` (JSON Schema, Core §4.2.2).
            let decimal = number.as_f64().filter(|decimal| decimal.fract() == 0.0)?;
            (decimal + 0.0).to_string().parse().ok()
        });
        number.and_then(|number| u32::try_from(number).ok())
    };
    let numbers: Option<Vec<u32>> = match Option::<Either>::deserialize(deserializer) {
        Ok(None) => return Ok(None),
        Ok(Some(Either::Text(text))) => text.split(',').map(|word| word.trim().parse().ok()).collect(),
        Ok(Some(Either::List(list))) => list.iter().map(whole).collect(),
        Err(_) => None,
    };
    let numbers = numbers.filter(|numbers| (1..=READS_MAX).contains(&numbers.len()));
    numbers.map(|numbers| Some(numbers.into_iter().collect())).ok_or_else(wrong)
}

#[cfg(feature = "schema")]
fn event_ids_schema() -> utoipa::openapi::Schema {
    let description = "The events: at most 1,000, fewer if there are forks. As a list, or separated by commas.";
    wire::words_schema("event-id", description)
}

#[cfg(feature = "schema")]
fn reads_schema() -> utoipa::openapi::Schema {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u32::MAX));
    let types = SchemaType::from_iter([Type::Array, Type::Null]);
    let description = "The `index` of each read in the access log.";
    let list = ArrayBuilder::new().schema_type(types).items(number).min_items(Some(1)).max_items(Some(READS_MAX));
    list.description(Some(description)).build().into()
}
