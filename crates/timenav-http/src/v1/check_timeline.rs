//! Whether an event stands in a timeline, and what is around it.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::{DESCRIPTION_BYTES_MAX, DESCRIPTIONS_SEARCHED_MAX};
use timenav_core::paradox::{Ancestor, Standing};
use timenav_engine::{EventHistory, HorizonUse, TimelineCheck};
use utoipa::ToSchema;

use super::event_history::{EventReadBody, InterventionBody};
use super::events::EventBody;
use super::paradoxes::ParadoxBody;
use super::parameters::timeline;
use super::proofs::ProofBody;
use crate::auth::Authenticated;
use crate::params::Params;
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, MomentText, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/check-timeline",
            "check_timeline",
            "Tells whether an event stands",
            check_timeline,
            HorizonUse::Refused,
        )
        .takes::<CheckRequest>()
        .gives::<CheckBody>()
        .tag("paradoxes"),
    ]
}

/// What to look for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The id, the name or the exact description of an event, which need not stand any more.
    #[schema(min_length = 1, max_length = 16_384, example = "moon-landing")]
    significant_event: String,
    /// As the ledger told it then: a position, the id of an anchor, or a host time. Now if it is left out.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
}

/// Whether an event stands, and what is around it.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckBody {
    /// What was found, in a sentence.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// What was looked for.
    significant_event: String,
    /// `true` where no event was found, and not all of them were looked through for the description. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_cut_off: Option<bool>,
    /// Whether there is such an event and it stands: it is not cancelled.
    occurs: bool,
    /// The id of the event, if there is one.
    event_id: Option<String>,
    /// The event as it stands, if it does.
    #[schema(value_type = Option<EventBody>)]
    event: Option<Box<RawValue>>,
    /// Where it lies from the timeline's clock: `past`, `present` or `future`.
    relation: Option<&'static str>,
    /// What the clock shows.
    current_time: String,
    /// What it happened because of, directly or not, nearest first: at most 100.
    causes: Vec<CauseBody>,
    /// Whether every cause that it requires, directly or not, stands.
    causes_intact: bool,
    /// What hangs on it.
    consequences: ConsequencesBody,
    /// What was done to it, in order.
    #[schema(value_type = Vec<InterventionBody>)]
    interventions: Vec<Box<RawValue>>,
    /// Paradoxes that it is a part of, observations apart: at most 100.
    paradoxes: Vec<ParadoxBody>,
    /// Shows that the entry of the version that stands is in the ledger; absent where that is the ledger of
    /// a timeline that this one was forked from.
    proof: Option<ProofBody>,
    /// Events with similar ids or names: a few.
    candidates: Vec<CandidateBody>,
}

/// Something that an event happened because of.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CauseBody {
    /// The event or intervention.
    event_id: String,
    /// `stands`, `cancelled`, or `unrecorded`.
    #[schema(value_type = String)]
    standing: &'static str,
    /// 1 for a cause of the event itself, more for causes of causes.
    distance: usize,
    /// Whether the event requires it, by causes that are all required.
    required: bool,
}

/// What hangs on an event.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct ConsequencesBody {
    /// How many events stand that require it, directly or not, counted to 10 000.
    count: usize,
    /// Some of them, nearest first: at most 100.
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

/// Tells whether an event stands.
async fn check_timeline(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<CheckRequest>,
) -> Result<Json<CheckBody>, Failure> {
    let named = request.significant_event;
    if named.is_empty() || named.len() > DESCRIPTION_BYTES_MAX {
        let detail =
            format!("an event is named by its id, its name or its description, 1 to {DESCRIPTION_BYTES_MAX} bytes");
        return Err(Failure::invalid("significant_event", detail));
    }
    let as_of = request.as_of.map(|moment| (moment.text, moment.as_of));
    let on = timeline(Some(request.timeline_id));
    let check = app.engine.check_timeline(&caller, on, &named, as_of.as_ref()).await?;
    Ok(Json(CheckBody::of(named, check)))
}

impl CheckBody {
    fn of(named: String, check: TimelineCheck) -> Self {
        let relation = check.event_time().map(|time| match time.cmp(&check.clock_at) {
            std::cmp::Ordering::Less => "past",
            std::cmp::Ordering::Equal => "present",
            std::cmp::Ordering::Greater => "future",
        });
        let read = check.event.as_ref().map(|(event_id, history)| EventReadBody::of(event_id, history));
        let occurs = relation.is_some();
        let status = match (&check.event, relation) {
            (Some((id, _)), Some(relation)) => format!("The event `{id}` stands, in the {relation} of the clock."),
            (Some((id, history)), None) => cancelled(id, history),
            (None, _) if check.is_cut_off => format!(
                "There is no event of that id or name, and none of that description among {DESCRIPTIONS_SEARCHED_MAX} \
                 versions of events; the others were not looked through, so name it by its id."
            ),
            (None, _) if check.candidates.is_empty() => "There is no such event.".to_owned(),
            (None, _) => "There is no such event; some have similar names.".to_owned(),
        };
        let around = check.surroundings;
        let causes: Vec<CauseBody> = around.iter().flat_map(|around| &around.causes).map(CauseBody::of).collect();
        let (event, interventions) = read.map_or((None, Vec::new()), |read| (read.event, read.interventions));
        Self {
            status,
            timeline_id: check.timeline_id.to_string(),
            significant_event: named,
            search_cut_off: check.is_cut_off.then_some(true),
            occurs,
            event_id: check.event.as_ref().map(|(event_id, _)| event_id.to_string()),
            event,
            relation,
            current_time: check.clock_at.to_string(),
            causes_intact: causes.iter().all(|cause| !cause.required || cause.standing == "stands"),
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

/// Says that an event does not stand, and by whom that is so.
fn cancelled(event_id: &EventId, history: &EventHistory) -> String {
    let ended = history.known.versions.iter().filter_map(|version| Some((version.layer, version.until?)));
    let last = ended.max();
    let by = history.interventions.iter().rfind(|told| Some((told.layer, told.position)) == last);
    match by {
        Some(by) => {
            format!("The event `{event_id}` was cancelled by `{}` at {} (host time).", by.actor, by.recorded_at)
        }
        None => format!("The event `{event_id}` is cancelled."),
    }
}

impl CauseBody {
    fn of(ancestor: &Ancestor) -> Self {
        Self {
            event_id: ancestor.event_id.to_string(),
            standing: match ancestor.standing {
                Standing::Stands => "stands",
                Standing::TakenAway => "cancelled",
                Standing::Unrecorded => "unrecorded",
            },
            distance: ancestor.distance,
            required: ancestor.is_required,
        }
    }
}
