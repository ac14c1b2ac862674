//! The history of events: corrections, interventions, every version, and states of the past.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::{EventId, InterventionId, TimelineId, type_id};
use timenav_core::intervention::Effect;
use timenav_core::ledger::LeafRecord;
use timenav_core::limits::{ACTION_BYTES_MAX, EVENT_CAUSES_MAX, RETURN_EVENTS_MAX};
use timenav_core::time::{Instant, Virtual};

use crate::action::Action;
use crate::asked::Answer;
use crate::caller::Caller;
use crate::changes::{EventCorrected, EventIntervened, LedgerPosition};
use crate::deciding::history::{Compensation, CorrectEvent, HistoryRestored, Intervene};
use crate::engine::Engine;
use crate::expected::Expected;
use crate::head::{Layer, TimelineState};
use crate::idempotency::Idempotency;
use crate::look::Look;
use crate::one_fact::OneFact as _;
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::rows::{KnownEvent, StoredEntry};

/// Leaves read at a time.
const BLOCK_LEAVES: usize = 4_096;

/// An event that was corrected.
#[derive(Clone, Debug)]
pub struct CorrectedEvent {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// Which event.
    pub event_id: EventId,
    /// The event as it stands, as JSON.
    pub content: Arc<str>,
    /// Whether this created a new version.
    pub changed: bool,
    /// Where the correction stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// What is to be done to an event.
#[derive(Clone, Debug)]
pub struct InterventionRequest {
    /// Which event.
    pub event_id: EventId,
    /// In the words of who intervenes.
    pub action: String,
    /// What it does.
    pub effect: Effect,
    /// The virtual moment of the intervention.
    pub time: Instant<Virtual>,
    /// What the intervention happens because of.
    pub causes: Vec<Cause>,
}

/// What was done to an event.
#[derive(Clone, Debug)]
pub struct IntervenedEvent {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The id of the intervention.
    pub intervention_id: InterventionId,
    /// Which event.
    pub event_id: EventId,
    /// What was done.
    pub effect: Effect,
    /// The event as it stood before, as JSON; `None` if it did not.
    pub before: Option<Arc<str>>,
    /// The event as it stands, as JSON; `None` if it does not.
    pub after: Option<Arc<str>>,
    /// Where the intervention stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// Everything known about one event.
#[derive(Clone, Debug)]
pub struct EventHistory {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// Its versions and the positions of the interventions on it.
    pub known: KnownEvent,
    /// What was done to it, in order.
    pub interventions: Vec<ToldIntervention>,
    /// The layers that versions and interventions are on, each with the name of its timeline.
    pub layers: Vec<TimelineId>,
    /// The last position that counts; `None` where no entry does.
    pub as_of: Option<u64>,
}

/// One intervention, and who made it.
#[derive(Clone, Debug)]
pub struct ToldIntervention {
    /// On which of the layers.
    pub layer: usize,
    /// Position of its entry.
    pub position: u64,
    /// The user, as they are shown here.
    pub actor: String,
    /// When, in host time, as the ledger has it.
    pub recorded_at: String,
    /// The payload of its entry, as JSON; empty where that was erased.
    pub payload: String,
}

impl Engine {
    /// Corrects an event. Every version is kept.
    ///
    /// # Errors
    /// There is no such event, it is cancelled, the version of that tag does not stand, the caller
    /// may not, or the ledger cannot be written.
    #[boxed]
    pub async fn correct_event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        draft: EventDraft,
        expected: Option<Expected>,
        idempotency: Option<Idempotency>,
    ) -> Result<CorrectedEvent, Refusal> {
        let timeline = caller.timeline(timeline);
        draft.check().map_err(|error| Refusal::invalid(&error.field, error.detail))?;
        let event = self.prepare(draft)?;
        let answer = self.submit(caller, timeline, CorrectEvent { event, expected }, idempotency).await?;
        let Answer { timeline_id, change, ledger, replayed } = answer;
        let EventCorrected { event_id, content, changed } = change;
        Ok(CorrectedEvent { timeline_id, event_id, content, changed, ledger, replayed })
    }

    /// Intervenes in an event. Every version is kept.
    ///
    /// # Errors
    /// There is no such event, it says no, the caller may not, or the ledger cannot be written.
    #[boxed]
    pub async fn manipulate_event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<IntervenedEvent, Refusal> {
        let timeline = caller.timeline(timeline);
        self.manipulate_guarded(caller, timeline, request, None, idempotency).await
    }

    /// Intervenes in an event, unless events changed since the ledger had that size.
    pub(crate) async fn manipulate_guarded(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        request: InterventionRequest,
        guard: Option<u64>,
        idempotency: Option<Idempotency>,
    ) -> Result<IntervenedEvent, Refusal> {
        request.check()?;
        let InterventionRequest { event_id, action, effect, time, causes } = request;
        let id = self.new_intervention_id()?;
        let one = Intervene { id, event_id, action, time, effect, causes, guard };
        let answer = self.submit(caller, timeline, one, idempotency).await?;
        Ok(IntervenedEvent::of(answer))
    }

    /// Returns an event with its versions and the interventions on it.
    ///
    /// # Errors
    /// There is no such event at that moment, the caller may not, or the ledger cannot be written.
    #[boxed]
    pub async fn event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        event_id: &EventId,
        as_of: Option<&AsOf>,
    ) -> Result<EventHistory, Refusal> {
        let read = Reading::Event { event_id: event_id.to_string() };
        let look = self.let_on(caller, timeline, Demand::Look, read).await?.at(as_of).await?.look().await?;
        let known = self.versions_of(&look.layers, event_id).await?;
        let known = known.ok_or_else(|| Refusal::NotFound { what: "event", id: event_id.to_string() })?;
        self.history_of(&look, known).await
    }

    /// Reads what was done to an event.
    pub(crate) async fn history_of(&self, look: &Look, known: KnownEvent) -> Result<EventHistory, Refusal> {
        let (layers, as_of) = (look.names(), look.position());
        let mut interventions = Vec::with_capacity(known.interventions.len());
        for (layer, position) in known.interventions.iter().copied() {
            let entry = self.store().entry(look.layers[layer].timeline, position).await?;
            let gone = || Refusal::Damaged(format!("entry {position} is missing"));
            let StoredEntry { leaf, payload, .. } = entry.ok_or_else(gone)?;
            let record = LeafRecord::decode(&leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
            let state = layers.get(layer).and_then(|name| self.state(name));
            let actor =
                state.map_or_else(|| record.actor.to_string(), |state| state.head.actor_shown(position, &record.actor));
            let payload = String::from_utf8(payload).unwrap_or_default();
            let recorded_at = record.recorded_at.into_owned();
            interventions.push(ToldIntervention { layer, position, actor, recorded_at, payload });
        }
        Ok(EventHistory { timeline_id: look.timeline(), known, interventions, layers, as_of })
    }

    /// Works out what has to be done so that events stand as they did on these layers.
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
            let standing =
                |known: Option<&KnownEvent>| known.and_then(KnownEvent::standing).map(|one| one.content.clone());
            let (is, was) = (standing(known_now.get(&event_id)), standing(known_then.get(&event_id)));
            if is != was {
                let intervention_id = self.new_intervention_id()?;
                compensations.push(Compensation { intervention_id, event_id, content: was });
            }
        }
        Ok(HistoryRestored { compensations, guard })
    }

    /// Adds the ids of all events that entries of a ledger from `first` up to `end` changed.
    pub(crate) async fn changed_events(
        &self,
        timeline: crate::head::TimelineKey,
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

impl IntervenedEvent {
    pub(crate) fn of(answer: Answer<EventIntervened>) -> Self {
        let Answer { timeline_id, change, ledger, replayed } = answer;
        let EventIntervened { intervention_id, event_id, effect, before, after } = change;
        Self { timeline_id, intervention_id, event_id, effect, before, after, ledger, replayed }
    }
}
