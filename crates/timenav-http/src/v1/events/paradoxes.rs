//! Paradoxes: contradictions in the history of a timeline.

use std::collections::BTreeMap;

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use timenav_core::ids::{EventId, TimelineId, TimerId};
use timenav_core::paradox::{Jumped, Kind, Paradox, Settings, Step, Taken, TimerDetail, Uncertain, Witness};
use timenav_core::time::{Duration, Instant, TimeRange, Virtual, Zone};
use timenav_engine::{MonitorParadox, ParadoxPage};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::timeline;
use crate::wire::{self, MomentText, Text, Words, items_max};

/// Slightly above the speed of light, in kilometers per hour.
const SPEED_KMH_MAX: f64 = 1_100_000_000.0;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup("/monitor-paradox", "monitor_paradox", "Lists the paradoxes of a timeline", monitor_paradox)
            .takes::<ParadoxRequest>()
            .gives::<ParadoxesBody>()
            .tag("paradoxes"),
    ]
}

/// Paradoxes to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParadoxRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// `<start>/<end>`, both ends included: paradoxes with an event in this range. `../..` for all.
    #[schema(value_type = String, format = "time-range", example = "../..")]
    time_range: Text<TimeRange<Virtual>>,
    /// Only these kinds, by code (`P01`) or name (`effect_before_cause`); as a list, or as words with commas.
    #[schema(schema_with = crate::v1::events::paradoxes::kinds_schema, required = false)]
    kinds: Option<Words>,
    /// What else to list: `observations` about the data.
    #[schema(schema_with = crate::v1::events::paradoxes::include_schema, required = false)]
    include: Option<Words>,
    /// The top speed of actors in km/h, for `P07`. Defaults to 900.
    #[schema(exclusive_minimum = 0.0, maximum = 1_100_000_000.0, example = 900)]
    #[serde(default, deserialize_with = "wire::number")]
    speed_kmh: Option<f64>,
    /// How far clocks may differ before one time counts as earlier than another. Defaults to none.
    #[schema(value_type = Option<String>, format = "duration", example = "90s")]
    tolerance: Option<Text<Duration>>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// As of a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// One page of paradoxes, ordered by the first record that shows them, then by code.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ParadoxesBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The paradoxes.
    paradoxes: Vec<ParadoxBody>,
    /// The number of paradoxes on all pages.
    total: usize,
    /// The number of paradoxes of each kind on the whole timeline, by code, definite or possible.
    #[schema(value_type = Object)]
    counts: BTreeMap<&'static str, CountBody>,
    /// The same for observations about the data, which are not paradoxes.
    #[schema(value_type = Object)]
    observations: BTreeMap<&'static str, CountBody>,
    /// The last ledger position that all pages of this query include.
    as_of: Option<u64>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// How many there are of a kind.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct CountBody {
    /// The name of the kind.
    kind: &'static str,
    /// How many, by grade.
    #[schema(value_type = Object)]
    grades: BTreeMap<&'static str, u64>,
}

/// A paradox, or an observation about the data.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ParadoxBody {
    /// The code of the kind, such as `P01`.
    code: &'static str,
    /// The name of the kind, such as `effect_before_cause`.
    kind: &'static str,
    /// `definite` or `possible`; for duplicates `exact` or `probable`, for clock jumps whether they are explained.
    grade: &'static str,
    /// `critical`, `high`, `medium` or `low`.
    severity: &'static str,
    /// Whether it is only an observation about the data.
    is_observation: bool,
    /// The events, interventions and firings of timers involved, in order.
    events: Vec<String>,
    /// The evidence. Its fields depend on the kind. If a cause is a firing, `timer` names its timer.
    #[schema(value_type = Object)]
    witness: Value,
    /// An explanation in one sentence.
    explanation: String,
    /// Position of the first ledger entry involved.
    first: u64,
    /// Position of the last ledger entry involved. The paradox exists since that entry.
    since: u64,
    /// A key that stays the same while the paradox exists.
    key: String,
}

async fn monitor_paradox(Read { app, caller, request }: Read<ParadoxRequest>) -> Result<Json<ParadoxesBody>, Failure> {
    let settings = settings(request.speed_kmh, request.tolerance.map(|text| text.0))?;
    let request = MonitorParadox {
        timeline: timeline(Some(request.timeline_id)),
        range: request.time_range.0,
        kinds: request.kinds.map(|words| kinds(&words)).transpose()?,
        observations: request.include.map(|words| includes_observations(&words)).transpose()?.unwrap_or(false),
        settings,
        as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
        items_max: items_max(request.limit),
        cursor: request.cursor,
    };
    Ok(Json(app.engine.monitor_paradox(&caller, request).await?.into()))
}

pub(crate) fn settings(speed_kmh: Option<f64>, tolerance: Option<Duration>) -> Result<Option<Settings>, Failure> {
    if speed_kmh.is_none() && tolerance.is_none() {
        return Ok(None);
    }
    let mut settings = Settings::default();
    if let Some(speed_kmh) = speed_kmh {
        if !(speed_kmh > 0.0 && speed_kmh <= SPEED_KMH_MAX) {
            let detail = format!("a speed must be more than 0 and at most {SPEED_KMH_MAX} km/h");
            return Err(Failure::invalid("speed_kmh", detail));
        }
        settings.speed_kmh = speed_kmh;
    }
    if let Some(tolerance) = tolerance {
        // Months and years have the length they had after 1970.
        let end = tolerance.later(Instant::<Virtual>::EPOCH, &Zone::utc());
        let end = end.ok_or_else(|| Failure::out_of_range("tolerance", "that is longer than all of time"))?;
        settings.tolerance = end.since(Instant::EPOCH);
    }
    Ok(Some(settings))
}

#[cfg(feature = "schema")]
pub(crate) fn kinds_schema() -> utoipa::openapi::Schema {
    let description = "Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or \
        separated by commas.";
    wire::words_schema("paradox-kind", description)
}

#[cfg(feature = "schema")]
pub(crate) fn include_schema() -> utoipa::openapi::Schema {
    wire::words_schema("included", "Also include `observations` about the data.")
}

pub(crate) fn kinds(words: &Words) -> Result<Vec<Kind>, Failure> {
    let named = |word: &String| {
        Kind::named(word).ok_or_else(|| {
            let all: Vec<String> = Kind::ALL.iter().map(|kind| format!("{} {}", kind.code(), kind.as_str())).collect();
            Failure::invalid("kinds", format!("unknown kind `{word}`; use {}", all.join(", ")))
        })
    };
    words.0.iter().map(named).collect()
}

pub(crate) fn includes_observations(words: &Words) -> Result<bool, Failure> {
    match words.0.iter().find(|word| *word != "observations") {
        Some(word) => Err(Failure::invalid("include", format!("`{word}` cannot be included; use `observations`"))),
        None => Ok(!words.0.is_empty()),
    }
}

impl From<ParadoxPage> for ParadoxesBody {
    fn from(page: ParadoxPage) -> Self {
        let (mut counts, mut observations) = (BTreeMap::new(), BTreeMap::new());
        for (kind, grade, count) in page.counts {
            let of_kind: &mut BTreeMap<_, CountBody> =
                if kind.is_observation() { &mut observations } else { &mut counts };
            let body = of_kind.entry(kind.code()).or_default();
            body.kind = kind.as_str();
            *body.grades.entry(grade.as_str()).or_default() += count;
        }
        Self {
            status: match page.total {
                0 => "No paradoxes.".to_owned(),
                1 => "1 paradox.".to_owned(),
                total => format!("{total} paradoxes."),
            },
            timeline_id: page.timeline_id.to_string(),
            paradoxes: page.paradoxes.iter().map(ParadoxBody::of).collect(),
            total: page.total,
            counts,
            observations,
            as_of: page.as_of,
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}

impl ParadoxBody {
    pub(crate) fn of(paradox: &Paradox) -> Self {
        Self {
            code: paradox.kind.code(),
            kind: paradox.kind.as_str(),
            grade: paradox.grade.as_str(),
            severity: paradox.severity.as_str(),
            is_observation: paradox.is_observation,
            events: paradox.events.iter().map(ToString::to_string).collect(),
            witness: witness(&paradox.witness),
            explanation: paradox.explanation.clone(),
            first: paradox.first,
            since: paradox.since,
            key: paradox.key.to_string(),
        }
    }
}

fn between(time: Uncertain) -> Value {
    if time.is_exact() { json!(time.min.to_string()) } else { json!([time.min.to_string(), time.max.to_string()]) }
}

fn step(step: &Step) -> Value {
    json!({
        "cause": step.cause.as_str(), "effect": step.effect.as_str(), "kind": step.kind.as_str(),
        "gap_us": step.gap.micros(),
    })
}

fn with_timer(mut document: Value, timer: Option<&TimerDetail>) -> Value {
    if let Some(TimerDetail { timer_id, due, taken }) = timer {
        let timer_id = timer_id.as_ref().map(TimerId::as_str);
        document["timer"] =
            json!({ "timer_id": timer_id, "due": due.to_string(), "taken_back": taken.map(Taken::as_str) });
    }
    document
}

/// Serializes a witness. Spans are in microseconds.
fn witness(witness: &Witness) -> Value {
    match witness {
        Witness::Edge { cause, effect, cause_time, effect_time, gap, timer } => {
            let document = json!({
                "cause": cause.as_str(), "effect": effect.as_str(), "cause_time": between(*cause_time),
                "effect_time": between(*effect_time), "gap_us": gap.micros(),
            });
            with_timer(document, timer.as_ref())
        }
        Witness::Cycle { steps, length, component_size } => json!({
            "cycle": steps.iter().map(step).collect::<Vec<_>>(), "length": length, "component_size": component_size,
        }),
        Witness::Path { event, intervention, path, length } => json!({
            "event": event.as_str(), "intervention": intervention.as_str(),
            "path": path.iter().map(EventId::as_str).collect::<Vec<_>>(), "length": length,
        }),
        Witness::Orphan { effect, cause, cancelled_at, intervention, impact, timer } => {
            let document = json!({
                "effect": effect.as_str(), "cause": cause.as_str(), "cancelled_at": cancelled_at,
                "intervention": intervention.as_ref().map(EventId::as_str), "impact": impact,
            });
            with_timer(document, timer.as_ref())
        }
        Witness::Dangling { effect, cause, is_overdue } => {
            json!({ "effect": effect.as_str(), "cause": cause.as_str(), "is_overdue": is_overdue })
        }
        Witness::Apart { actor, pair, metres, gap, needed_kmh, names } => json!({
            "actor": actor, "pair": [pair[0].as_str(), pair[1].as_str()],
            "km": metres.map(|metres| metres / 1_000.0), "gap_us": gap.micros(),
            "needed_kmh": needed_kmh, "places": names,
        }),
        Witness::Contradiction { pair, subject, predicate, values, from, until } => json!({
            "pair": [pair[0].as_str(), pair[1].as_str()], "subject": subject, "predicate": predicate,
            "values": values.iter().map(|text| serde_json::from_str(text).unwrap_or(Value::Null)).collect::<Vec<Value>>(),
            "from": from.to_string(), "until": until.to_string(),
        }),
        Witness::Duplicate { pair } => json!({ "pair": [pair[0].as_str(), pair[1].as_str()] }),
        Witness::Future { event, time, clock_at } => {
            json!({ "event": event.as_str(), "time": time.to_string(), "clock_at": clock_at.to_string() })
        }
        Witness::Late { previous, event, lateness } => {
            json!({ "previous": previous.as_str(), "event": event.as_str(), "lateness_us": lateness.micros() })
        }
        Witness::Jump { positions, jumped: Jumped::Host { from, to } } => {
            json!({ "positions": positions, "clock": "host", "from": from.to_string(), "to": to.to_string() })
        }
        Witness::Jump { positions, jumped: Jumped::Virtual { from, to } } => {
            json!({ "positions": positions, "clock": "virtual", "from": from.to_string(), "to": to.to_string() })
        }
        Witness::Anchor { anchor_id, timestamp, event, changed_at } => json!({
            "anchor_id": anchor_id.as_str(), "timestamp": timestamp.to_string(), "event": event.as_str(),
            "changed_at": changed_at,
        }),
        Witness::Gap { source, first, last } => json!({ "source": source, "first": first, "last": last }),
        Witness::Repeat { source, sequence, pair } => {
            json!({ "source": source, "sequence": sequence, "pair": [pair[0].as_str(), pair[1].as_str()] })
        }
        Witness::Inverted { event, time, end } => {
            json!({ "event": event.as_str(), "time": time.to_string(), "end_time": end.to_string() })
        }
        Witness::Unlinked { event } => json!({ "event": event.as_str() }),
    }
}
