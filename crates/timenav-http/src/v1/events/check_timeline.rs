use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::{DESCRIPTION_BYTES_MAX, DESCRIPTIONS_SEARCHED_MAX};
use timenav_core::paradox::{Ancestor, EventStatus};
use timenav_engine::{EventHistory, TimelineCheck};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::event_history::EventReadBody;
use crate::v1::events::paradoxes::ParadoxBody;
use crate::v1::ledger::proofs::ProofBody;
use crate::v1::parameters::timeline;
use crate::wire::{self, MomentText, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup("/check-timeline", "check_timeline", "Checks whether an event occurs", check_timeline)
            .takes::<CheckRequest>()
            .gives::<EventCheckBody>()
            .tag("paradoxes"),
    ]
}

/// An event to find.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The id, the name or the exact description of an event, including canceled ones.
    #[schema(min_length = 1, max_length = 16_384, example = "moon-landing")]
    significant_event: String,
    /// As of a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
}

/// Whether an event occurs, with its causes and consequences.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventCheckBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The requested event.
    significant_event: String,
    /// `true` if no event was found, but not all descriptions were searched. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_truncated: Option<bool>,
    /// Whether the event exists and is not canceled.
    active: bool,
    /// The id of the event, if there is one.
    event_id: Option<String>,
    /// The event in its current version, if it occurs.
    #[schema(value_type = Option<crate::v1::events::EventBody>)]
    event: Option<Box<RawValue>>,
    /// Its relation to the timeline's clock: `past`, `present` or `future`.
    relation: Option<&'static str>,
    /// The clock's current time.
    current_time: String,
    /// Its direct and indirect causes, nearest first: at most 100.
    causes: Vec<CauseBody>,
    /// Whether every direct or indirect required cause occurs.
    causes_intact: bool,
    /// Events that require it.
    consequences: ConsequencesBody,
    /// Its interventions, in order.
    #[schema(value_type = Vec<crate::v1::events::event_history::InterventionBody>)]
    interventions: Vec<Box<RawValue>>,
    /// Paradoxes that involve it, not counting observations: at most 100.
    paradoxes: Vec<ParadoxBody>,
    /// Proves that the entry of the current version is in the ledger. Absent if that entry is in the ledger of an
    /// ancestor of this timeline.
    proof: Option<ProofBody>,
    /// Some events with similar ids or names.
    candidates: Vec<CandidateBody>,
}

/// A cause of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CauseBody {
    /// The event or intervention.
    event_id: String,
    /// `active`, `cancelled`, or `unrecorded`.
    #[schema(value_type = String)]
    state: &'static str,
    /// 1 for a direct cause, more for causes of causes.
    distance: usize,
    /// Whether the event requires it through a chain of required causes.
    required: bool,
}

/// Consequences of an event.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct ConsequencesBody {
    /// The number of events that require it, directly or indirectly, counted up to 10,000.
    count: usize,
    /// The first of them, nearest first: up to 100.
    event_ids: Vec<String>,
}

/// An event that may be meant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CandidateBody {
    /// Its id.
    event_id: String,
    /// Its name, if it has one.
    name: Option<String>,
}

async fn check_timeline(Read { app, caller, request }: Read<CheckRequest>) -> Result<Json<EventCheckBody>, Failure> {
    let named = request.significant_event;
    if named.is_empty() || named.len() > DESCRIPTION_BYTES_MAX {
        let detail = format!("give the event's id, name or description, in 1 to {DESCRIPTION_BYTES_MAX} bytes");
        return Err(Failure::invalid("significant_event", detail));
    }
    let as_of = request.as_of.map(|moment| (moment.text, moment.as_of));
    let on = timeline(Some(request.timeline_id));
    let check = app.engine.check_timeline(&caller, on, &named, as_of.as_ref()).await?;
    Ok(Json(EventCheckBody::of(named, check)))
}

impl EventCheckBody {
    fn of(named: String, check: TimelineCheck) -> Self {
        let relation = check.event_time().map(|time| match time.cmp(&check.clock_at) {
            std::cmp::Ordering::Less => "past",
            std::cmp::Ordering::Equal => "present",
            std::cmp::Ordering::Greater => "future",
        });
        let read = check.event.as_ref().map(|(event_id, history)| EventReadBody::of(event_id, history));
        let occurs = relation.is_some();
        let status = match (&check.event, relation) {
            (Some((id, _)), Some(relation)) => format!("The event `{id}` occurs in the {relation} of the clock."),
            (Some((id, history)), None) => cancelled(id, history),
            (None, _) if check.is_cut_off => format!(
                "There is no event with that id or name, and none with that description among \
                 {DESCRIPTIONS_SEARCHED_MAX} versions of events; the others were not searched, so give its id."
            ),
            (None, _) if check.candidates.is_empty() => "No such event.".to_owned(),
            (None, _) => "No such event. Some have similar names.".to_owned(),
        };
        let around = check.surroundings;
        let causes: Vec<CauseBody> = around.iter().flat_map(|around| &around.causes).map(CauseBody::of).collect();
        let (event, interventions) = read.map_or((None, Vec::new()), |read| (read.event, read.interventions));
        Self {
            status,
            timeline_id: check.timeline_id.to_string(),
            significant_event: named,
            search_truncated: check.is_cut_off.then_some(true),
            active: occurs,
            event_id: check.event.as_ref().map(|(event_id, _)| event_id.to_string()),
            event,
            relation,
            current_time: check.clock_at.to_string(),
            causes_intact: causes.iter().all(|cause| !cause.required || cause.state == "active"),
            causes,
            consequences: around.as_ref().map_or_else(ConsequencesBody::default, |around| ConsequencesBody {
                count: around.consequences_count,
                event_ids: around.consequences.iter().map(ToString::to_string).collect(),
            }),
            interventions,
            paradoxes: around.iter().flat_map(|around| &around.paradoxes).map(ParadoxBody::of).collect(),
            proof: check.proof.map(ProofBody::from),
            candidates: check
                .candidates
                .into_iter()
                .map(|(event_id, name)| CandidateBody { event_id: event_id.to_string(), name })
                .collect(),
        }
    }
}

fn cancelled(event_id: &EventId, history: &EventHistory) -> String {
    let ended = history.known.versions.iter().filter_map(|version| Some((version.layer, version.until?)));
    let last = ended.max();
    let by =
        history.interventions.iter().rfind(|intervention| Some((intervention.layer, intervention.position)) == last);
    match by {
        Some(by) => {
            format!("The event `{event_id}` was canceled by `{}` at {} (host time).", by.actor, by.recorded_at)
        }
        None => format!("The event `{event_id}` is canceled."),
    }
}

impl CauseBody {
    fn of(ancestor: &Ancestor) -> Self {
        Self {
            event_id: ancestor.event_id.to_string(),
            state: match ancestor.status {
                EventStatus::Present => "active",
                EventStatus::TakenAway => "cancelled",
                EventStatus::Unrecorded => "unrecorded",
            },
            distance: ancestor.distance,
            required: ancestor.is_required,
        }
    }
}
