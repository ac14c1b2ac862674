use crate::schema::ToSchema;
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_core::event::Cause;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::intervention::{Effect, Understood, understand};
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{
    Answer, Consequences, EventCorrected, EventHistory, EventIntervened, EventVersion, InterventionDetail,
    InterventionRequest, OnParadox, Refusal,
};

use crate::request::call::{Change, Read};
use crate::request::entity_tag::{etag, if_match};
use crate::request::params::{InPath, malformed};
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::draft;
use crate::v1::events::effect::{EffectBody, EffectRequest};
use crate::v1::events::paradoxes::ParadoxBody;
use crate::v1::events::raw_json::{VersionPlace, raw, raw_with};
use crate::v1::parameters::timeline;
use crate::wire::{self, MomentText, Text};

const TAG: &str = "events";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup("/events/{event_id}", "event", "Reads an event with its versions and interventions", event)
            .takes::<EventRequest>()
            .gives::<EventReadBody>()
            .tag(TAG),
        Route::change("/correct-event", "correct_event", "Corrects an event", correct_event)
            .takes::<CorrectionRequest>()
            .gives::<CorrectedBody>()
            .heeds_if_match("Only if this is still the current version")
            .tag(TAG),
        Route::change("/manipulate-event", "manipulate_event", "Changes an event by an intervention", manipulate_event)
            .takes::<ManipulateRequest>()
            .gives::<ManipulatedBody>()
            .tag(TAG),
    ]
}

/// A moment of the ledger at which to read an event.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// As of a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
}

/// An event as it should have been recorded.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CorrectionRequest {
    /// The complete event: omitted fields are removed. Its `event_id` identifies it.
    #[schema(value_type = crate::v1::events::CorrectedRecord)]
    event: Map<String, Value>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// An intervention in an event.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManipulateRequest {
    /// The event.
    #[schema(value_type = String, format = "id", example = "moon-landing")]
    event_id: Text<EventId>,
    /// The action, in words. Start with a verb: `prevent`, `cancel`, `stop` or `remove`; `restore`; `delay` or
    /// `advance` and a duration; `move` or `reschedule` and a timestamp; `relocate to` a place; `describe` or `rename`
    /// and a text. Anything else is saved as a note.
    #[schema(min_length = 1, max_length = 1_024, example = "delay by 2h")]
    action: String,
    /// The time of the intervention on the timeline's clock.
    #[schema(value_type = String, format = "timestamp", example = "1969-07-16T13:00:00Z")]
    time: Text<Instant<Virtual>>,
    /// The effect, instead of the words in `action`.
    effect: Option<EffectRequest>,
    /// Events that caused the intervention.
    #[schema(max_items = 256)]
    causes: Option<Vec<timenav_import::CauseRecord>>,
    /// Whether to reject an intervention that would create a paradox (`reject`), or only report the paradox (`report`,
    /// the default).
    on_paradox: Option<ParadoxPolicy>,
    /// Whether to report the effect without changing anything.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The reaction to a new paradox.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ParadoxPolicy {
    /// It is reported.
    Report,
    /// The intervention is rejected.
    Reject,
}

/// An event with its history.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventReadBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The event's id.
    event_id: String,
    /// Whether the event occurs: it is not canceled.
    active: bool,
    /// The event in its current version, if it occurs.
    #[schema(value_type = Option<crate::v1::events::EventBody>)]
    pub(crate) event: Option<Box<RawValue>>,
    /// All its versions, oldest first.
    versions: Vec<VersionBody>,
    /// Its interventions, in order.
    #[schema(value_type = Vec<InterventionBody>)]
    pub(crate) interventions: Vec<Box<RawValue>>,
    /// The last position of the timeline's own ledger that the response includes.
    as_of: Option<u64>,
}

/// A version of an event.
#[derive(Serialize, ToSchema)]
pub(crate) struct VersionBody {
    /// Position of the ledger entry that created it.
    position: u64,
    /// Position of the ledger entry that replaced it; absent for the current version.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_at: Option<u64>,
    /// The timeline of the ledger with these positions.
    timeline_id: String,
    /// The event; absent if it does not occur in this version.
    #[schema(value_type = Option<crate::v1::events::EventContentBody>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Box<RawValue>>,
}

/// An intervention in an event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents in OpenAPI the JSON that the engine stores")]
pub(crate) struct InterventionBody {
    /// The id of the intervention.
    intervention_id: String,
    /// The event.
    event_id: String,
    /// The action, as the caller described it.
    action: String,
    /// The virtual time of the intervention.
    time: String,
    /// The effect.
    effect: EffectBody,
    /// The causes.
    causes: Option<Vec<timenav_import::CauseObject>>,
    /// The anchor, if a return to it caused the intervention.
    anchor_id: Option<String>,
    /// The import, if undoing it caused the intervention.
    import_id: Option<String>,
    /// Whether the event occurred before.
    #[schema(rename = "stood")]
    was_active: bool,
    /// Whether the intervention changed the event.
    changed: bool,
    /// Position of the ledger entry.
    position: u64,
    /// The timeline of the ledger with this position. Absent in messages of `GET /v1/stream`, which name it.
    timeline_id: Option<String>,
    /// The user who intervened.
    actor: String,
    /// Host time of the intervention.
    recorded_at: String,
}

/// An event that was corrected.
#[derive(Serialize, ToSchema)]
pub(crate) struct CorrectedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The event's id.
    event_id: String,
    /// The corrected event.
    #[schema(value_type = crate::v1::events::EventContentBody)]
    event: Option<Box<RawValue>>,
    /// Whether this created a new version.
    changed: bool,
    /// The correction's place in the ledger.
    ledger: LedgerBody,
}

/// The outcome of an intervention.
#[derive(Serialize, ToSchema)]
pub(crate) struct ManipulatedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The event's id.
    event_id: String,
    /// The id of the intervention; absent after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervention_id: Option<String>,
    /// The effect.
    effect: EffectBody,
    /// The event before the intervention, if it occurred.
    #[schema(value_type = Option<crate::v1::events::EventContentBody>)]
    before: Option<Box<RawValue>>,
    /// The event in its current version, if it occurs.
    #[schema(value_type = Option<crate::v1::events::EventContentBody>)]
    after: Option<Box<RawValue>>,
    /// Events that require the event, directly or indirectly, nearest first: at most 100.
    downstream: Vec<String>,
    /// The number of these events, counted up to 10,000.
    downstream_count: usize,
    /// Paradoxes that this creates.
    paradoxes_created: Vec<ParadoxBody>,
    /// Paradoxes that this resolves.
    paradoxes_resolved: Vec<ParadoxBody>,
    /// Whether this was a dry run, which changes nothing.
    dry_run: bool,
    /// The intervention's place in the ledger; absent after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

async fn event(
    InPath(event_id): InPath,
    Read { app, caller, request }: Read<EventRequest>,
) -> Result<Response, Failure> {
    // An invalid id names no event.
    let event_id = EventId::new(&event_id).map_err(|_| Refusal::NotFound { what: "event", id: event_id })?;
    let as_of = request.as_of.map(|moment| moment.as_of);
    let history = app.engine.event(&caller, timeline(request.timeline_id), &event_id, as_of.as_ref()).await?;
    let headers = history.known.current().map(|version| etag(&version.tag())).unwrap_or_default();
    Ok((headers, Json(EventReadBody::of(&event_id, &history))).into_response())
}

async fn correct_event(
    Change { app, caller, idempotency, headers, request }: Change<CorrectionRequest>,
) -> Result<Changed<CorrectedBody>, Failure> {
    let event = serde_json::to_vec(&request.event).map_err(|error| malformed(&error))?;
    let draft = draft(&event, "event")?;
    if draft.event_id.is_none() {
        return Err(Failure::missing("event/event_id"));
    }
    let expected = if_match(&headers)?;
    let Answer { timeline_id, change, ledger, replayed } =
        app.engine.correct_event(&caller, timeline(request.timeline_id), draft, expected, idempotency).await?;
    let EventCorrected { event_id, content, changed } = change;
    let body = CorrectedBody {
        status: if changed {
            format!("The event `{event_id}` was corrected.")
        } else {
            format!("The event `{event_id}` already has this content.")
        },
        timeline_id: timeline_id.to_string(),
        event_id: event_id.to_string(),
        event: raw(&content),
        changed,
        ledger: ledger.into(),
    };
    Ok(Changed::ok(body, replayed))
}

async fn manipulate_event(
    Change { app, caller, idempotency, request, .. }: Change<ManipulateRequest>,
) -> Result<Changed<ManipulatedBody>, Failure> {
    let ManipulateRequest { event_id, action, time, effect, causes, on_paradox, dry_run, timeline_id } = request;
    let is_in_words = effect.is_none();
    let Understood { effect, missing } = match effect {
        Some(effect) => Understood { effect: effect.read()?, missing: None },
        None => understand(&action),
    };
    let missing = missing.or((is_in_words && effect == Effect::Note).then_some(VERBS));
    let causes = causes.unwrap_or_default().into_iter().enumerate().map(|(index, cause)| read_cause(cause, index));
    let causes = causes.collect::<Result<_, _>>()?;
    let request = InterventionRequest { event_id: event_id.0, action, effect, time: time.0, causes };
    let timeline = timeline(timeline_id);
    if dry_run == Some(true) {
        let (preview, foreseen) = app.engine.preview_intervention(&caller, timeline, request).await?;
        return Ok(Changed::ok(ManipulatedBody::of(&preview, &foreseen, None, missing), false));
    }
    let on_paradox = match on_paradox {
        None | Some(ParadoxPolicy::Report) => OnParadox::Report,
        Some(ParadoxPolicy::Reject) => OnParadox::Refuse,
    };
    let (done, consequences) = app.engine.intervene(&caller, timeline, request, on_paradox, idempotency).await?;
    let (ledger, replayed) = (done.ledger.into(), done.replayed);
    Ok(Changed::ok(ManipulatedBody::of(&done, &consequences, Some(ledger), missing), replayed))
}

/// The effects of an intervention, for the error if the request names none.
const VERBS: &str = "an effect, starting with `cancel`, `restore`, `delay`, `advance`, `move`, `relocate`, `describe` \
    or `rename`";

fn read_cause(cause: timenav_import::CauseRecord, index: usize) -> Result<Cause, Failure> {
    cause.into_cause(index).map_err(|error| Failure::invalid(error.field.unwrap_or_default(), error.detail))
}

#[derive(Serialize)]
struct InterventionView<'a> {
    position: u64,
    timeline_id: Option<&'a str>,
    actor: &'a str,
    recorded_at: &'a str,
}

impl<'a> InterventionView<'a> {
    fn of(detail: &'a InterventionDetail, history: &'a EventHistory) -> Self {
        let InterventionDetail { layer, position, actor, recorded_at, .. } = detail;
        Self {
            position: *position,
            timeline_id: history.layers.get(*layer).map(TimelineId::as_str),
            actor,
            recorded_at,
        }
    }
}

impl EventReadBody {
    pub(crate) fn of(event_id: &EventId, history: &EventHistory) -> Self {
        let current = history.known.current();
        let status = if current.is_some() {
            format!("The event `{event_id}` occurs.")
        } else {
            format!("The event `{event_id}` is canceled.")
        };
        let name = |layer: usize| history.layers.get(layer).map_or_else(String::new, ToString::to_string);
        let version = |version: &EventVersion| VersionBody {
            position: version.position,
            superseded_at: version.until,
            timeline_id: name(version.layer),
            event: raw(&version.content),
        };
        let interventions = history
            .interventions
            .iter()
            .filter_map(|detail| raw_with(&detail.payload, &InterventionView::of(detail, history)));
        Self {
            status,
            timeline_id: history.timeline_id.to_string(),
            event_id: event_id.to_string(),
            active: current.is_some(),
            event: current.and_then(|version| placed(version, history)),
            versions: history.known.versions.iter().map(version).collect(),
            interventions: interventions.collect(),
            as_of: history.as_of,
        }
    }
}

impl ManipulatedBody {
    fn of(
        done: &Answer<EventIntervened>,
        consequences: &Consequences,
        ledger: Option<LedgerBody>,
        missing: Option<&str>,
    ) -> Self {
        let dry_run = ledger.is_none();
        let EventIntervened { intervention_id, event_id, effect, before, after } = &done.change;
        let changed = before != after;
        let what = match (after, changed, effect.as_str()) {
            (_, false, "note") => "is saved as a note and changes nothing".to_owned(),
            (_, false, _) => "changes nothing: the event already has that state".to_owned(),
            (None, true, _) => "cancels the event".to_owned(),
            (Some(_), true, "restore") => "restores the event".to_owned(),
            (Some(_), true, kind) => format!("changes the event ({kind})"),
        };
        let hint = missing.map_or_else(String::new, |missing| format!(" To change it, name {missing}."));
        let would = if dry_run { "Dry run: nothing was changed. The intervention" } else { "The intervention" };
        Self {
            status: format!("{would} {what}.{hint}"),
            timeline_id: done.timeline_id.to_string(),
            event_id: event_id.to_string(),
            intervention_id: (!dry_run).then(|| intervention_id.to_string()),
            effect: EffectBody::of(effect),
            before: before.as_deref().and_then(raw),
            after: after.as_deref().and_then(raw),
            downstream: consequences.downstream.iter().map(ToString::to_string).collect(),
            downstream_count: consequences.downstream_count,
            paradoxes_created: consequences.created.iter().map(ParadoxBody::of).collect(),
            paradoxes_resolved: consequences.resolved.iter().map(ParadoxBody::of).collect(),
            dry_run,
            ledger,
        }
    }
}

/// Returns an event with its position and, if it is inherited, the timeline whose ledger the position belongs to.
fn placed(version: &EventVersion, history: &EventHistory) -> Option<Box<RawValue>> {
    let of = history.layers.get(version.layer).filter(|of| **of != history.timeline_id);
    raw_with(&version.content, &VersionPlace { position: version.position, timeline_id: of.map(TimelineId::as_str) })
}
