use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::{EventId, InterventionId, TimelineId, type_id};
use timenav_core::intervention::Effect;
use timenav_core::ledger::LeafRecord;
use timenav_core::limits::{ACTION_BYTES_MAX, EVENT_CAUSES_MAX, RETURN_EVENTS_MAX};
use timenav_core::time::{Instant, Virtual};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{EventCorrected, EventIntervened};
use crate::ledger::head::{Layer, TimelineState};
use crate::ledger::payload::Reading;
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::{KnownEvent, StoredEntry};
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::expected::Expected;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::history::{Compensation, CorrectEvent, HistoryRestored, Intervene};
use crate::writer::submission::Answer;

const BLOCK_LEAVES: usize = 4_096;

#[derive(Clone, Debug)]
pub struct InterventionRequest {
    pub event_id: EventId,
    pub action: String,
    pub effect: Effect,
    pub time: Instant<Virtual>,
    pub causes: Vec<Cause>,
}

#[derive(Clone, Debug)]
pub struct EventHistory {
    pub timeline_id: TimelineId,
    pub known: KnownEvent,
    pub interventions: Vec<InterventionDetail>,
    pub layers: Vec<TimelineId>,
    pub as_of: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct InterventionDetail {
    pub layer: usize,
    pub position: u64,
    /// The user, as displayed here.
    pub actor: String,
    /// Host time as in the ledger.
    pub recorded_at: String,
    /// The payload of its entry, as JSON; empty if it was erased.
    pub payload: String,
}

impl Engine {
    /// Corrects an event. All versions are kept.
    ///
    /// # Errors
    /// There is no such event, it is canceled, the version with that tag is not current, the caller is not authorized,
    /// or the ledger cannot be written.
    #[boxed]
    pub async fn correct_event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        draft: EventDraft,
        expected: Option<Expected>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventCorrected>, Refusal> {
        let timeline = caller.timeline(timeline);
        draft.check().map_err(|error| Refusal::invalid(&error.field, error.detail))?;
        let event = self.prepare(draft)?;
        self.submit(caller, timeline, CorrectEvent { event, expected }, idempotency).await
    }

    /// Intervenes in an event. All versions are kept.
    ///
    /// # Errors
    /// There is no such event, the event rejects the intervention, the caller is not authorized, or the ledger cannot
    /// be written.
    #[boxed]
    pub async fn manipulate_event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventIntervened>, Refusal> {
        let timeline = caller.timeline(timeline);
        self.manipulate_if_unchanged(caller, timeline, request, None, idempotency).await
    }

    /// Intervenes in an event, unless events have changed since the ledger had a given size.
    pub(crate) async fn manipulate_if_unchanged(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        request: InterventionRequest,
        guard: Option<u64>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventIntervened>, Refusal> {
        request.check()?;
        let InterventionRequest { event_id, action, effect, time, causes } = request;
        let id = self.new_intervention_id()?;
        let one = Intervene { id, event_id, action, time, effect, causes, guard };
        self.submit(caller, timeline, one, idempotency).await
    }

    /// Returns an event with its versions and interventions.
    ///
    /// # Errors
    /// There was no such event in the requested state, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        event_id: &EventId,
        as_of: Option<&AsOf>,
    ) -> Result<EventHistory, Refusal> {
        let read = Reading::Event { event_id: event_id.to_string() };
        let look = self.authorize_read(caller, timeline, Demand::Look, read).await?.at(as_of).await?.look().await?;
        let known = self.versions_of(&look.layers, event_id).await?;
        let known = known.ok_or_else(|| Refusal::NotFound { what: "event", id: event_id.to_string() })?;
        self.history_of(&look, known).await
    }

    pub(crate) async fn history_of(&self, look: &ReadView, known: KnownEvent) -> Result<EventHistory, Refusal> {
        let (layers, as_of) = (look.names(), look.position());
        let mut interventions = Vec::with_capacity(known.interventions.len());
        for (layer, position) in known.interventions.iter().copied() {
            let entry = self.store().entry(look.layers[layer].timeline, position).await?;
            let missing = || Refusal::Damaged(format!("entry {position} is missing"));
            let StoredEntry { leaf, payload, .. } = entry.ok_or_else(missing)?;
            let record = LeafRecord::decode(&leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
            let state = layers.get(layer).and_then(|name| self.state(name));
            let actor = state
                .map_or_else(|| record.actor.to_string(), |state| state.head.displayed_actor(position, &record.actor));
            let payload = String::from_utf8(payload).unwrap_or_default();
            let recorded_at = record.recorded_at.into_owned();
            interventions.push(InterventionDetail { layer, position, actor, recorded_at, payload });
        }
        Ok(EventHistory { timeline_id: look.timeline(), known, interventions, layers, as_of })
    }

    pub(crate) async fn history_at(&self, state: &TimelineState, then: &[Layer]) -> Result<HistoryRestored, Refusal> {
        let guard = state.head.frontier.size();
        let now = state.layers(guard);
        let mut changed = BTreeSet::new();
        for (number, layer) in now.iter().enumerate() {
            let first = then.get(number).map_or(0, |then| then.as_of);
            self.changed_events(layer.timeline, first, layer.as_of, &mut changed).await?;
            if changed.len() > RETURN_EVENTS_MAX {
                return Err(Refusal::LimitReached { what: "events changed since the anchor", max: RETURN_EVENTS_MAX });
            }
        }
        let event_ids: Vec<EventId> = changed.into_iter().collect();
        let known_now = self.store().event_versions(now, event_ids.clone()).await?;
        let known_then = self.store().event_versions(then.into(), event_ids.clone()).await?;
        let mut compensations = Vec::new();
        for event_id in event_ids {
            let current =
                |known: Option<&KnownEvent>| known.and_then(KnownEvent::current).map(|one| one.content.clone());
            let (is, was) = (current(known_now.get(&event_id)), current(known_then.get(&event_id)));
            if is != was {
                let intervention_id = self.new_intervention_id()?;
                compensations.push(Compensation { intervention_id, event_id, content: was });
            }
        }
        Ok(HistoryRestored { compensations, guard })
    }

    /// Adds the ids of all events changed by entries of a ledger from `first` up to `end`.
    pub(crate) async fn changed_events(
        &self,
        timeline: crate::ledger::head::TimelineKey,
        first: u64,
        end: u64,
        changed: &mut BTreeSet<EventId>,
    ) -> Result<(), Refusal> {
        let mut at = first;
        while at < end {
            let items = usize::try_from(end - at).unwrap_or(usize::MAX).min(BLOCK_LEAVES);
            let leaves = self.store().leaves(timeline, at, items).await?;
            if leaves.is_empty() {
                return Err(Refusal::Damaged(format!("entry {at} is missing")));
            }
            at += leaves.len() as u64;
            for leaf in leaves {
                let record = LeafRecord::decode(&leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
                if Action::of(&record).is_some_and(Action::changes_events) {
                    changed.extend(EventId::new(&record.subject));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn new_intervention_id(&self) -> Result<InterventionId, Refusal> {
        InterventionId::new(&type_id("intervention", self.uuid()))
            .map_err(|error| Refusal::id("intervention_id", error))
    }
}

impl InterventionRequest {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.action.is_empty() || self.action.len() > ACTION_BYTES_MAX {
            return Err(Refusal::invalid("action", format!("an action must have 1 to {ACTION_BYTES_MAX} bytes")));
        }
        if self.causes.len() > EVENT_CAUSES_MAX {
            return Err(Refusal::invalid(
                "causes",
                format!("an intervention can have at most {EVENT_CAUSES_MAX} causes"),
            ));
        }
        Ok(())
    }
}
