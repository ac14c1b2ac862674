//! The history of events: corrections, interventions, every version, and states of the past.

use std::collections::BTreeSet;
use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::{AnchorId, EventId, InterventionId, TimelineId, type_id};
use timenav_core::intervention::Effect;
use timenav_core::ledger::LeafRecord;
use timenav_core::limits::{ACTION_BYTES_MAX, EVENT_CAUSES_MAX, RETURN_EVENTS_MAX};
use timenav_core::time::{Instant, Span, Virtual, Wall};

use crate::action::{Action, OnEvents};
use crate::anchor::Anchor;
use crate::asked::Answer;
use crate::becoming::preview;
use crate::caller::Caller;
use crate::changes::{EventCorrected, EventIntervened, LedgerPosition};
use crate::deciding::history::{Compensation, CorrectEvent, HistoryRestored, Intervene};
use crate::engine::Engine;
use crate::head::{Layer, TimelineState};
use crate::idempotency::Idempotency;
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::rows::KnownEvent;

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
    /// Whether that is another version than before.
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
    /// Names the intervention.
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
    /// The payloads of the interventions, as JSON, each with its layer and position.
    pub interventions: Vec<(usize, u64, String)>,
    /// The layers that versions and interventions are on, each with the name of its timeline.
    pub layers: Vec<TimelineId>,
    /// The last position that counts; `None` where no entry does.
    pub as_of: Option<u64>,
}

impl Engine {
    /// Replaces how an event was recorded. Every version is kept.
    ///
    /// # Errors
    /// There is no such event, it is cancelled, the version of that tag does not stand, the caller
    /// may not, or the ledger cannot be written.
    pub async fn correct_event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        draft: EventDraft,
        expected: Option<String>,
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

    /// Does something to an event. Every version is kept.
    ///
    /// # Errors
    /// There is no such event, it says no, the caller may not, or the ledger cannot be written.
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

    /// Does something to an event, unless events changed since the ledger had that size.
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

    /// Returns what an intervention would do, and changes nothing.
    ///
    /// # Errors
    /// As [`Engine::manipulate_event`].
    pub async fn preview_intervention(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
    ) -> Result<IntervenedEvent, Refusal> {
        let timeline = caller.timeline(timeline);
        request.check()?;
        let state = self.admit(caller, &timeline, Demand::Intervene, Action::ManipulateEvent.word()).await?;
        let InterventionRequest { event_id, effect, .. } = request;
        let read = Reading::ManipulateEvent { dry_run: true, event_id: event_id.to_string() };
        self.log_read(caller, &timeline, read).await?;
        let layers = state.layers(state.head.frontier.size());
        let known = self.store().event_versions(layers, vec![event_id.clone()]).await?.remove(&event_id);
        let known = known.ok_or_else(|| Refusal::NotFound { what: "event", id: event_id.to_string() })?;
        let after = preview(&known, &event_id, &effect)?;
        let before = known.standing().map(|version| Arc::clone(&version.content));
        let size = state.head.frontier.size();
        let ledger = LedgerPosition { position: size.saturating_sub(1), size, root: state.root };
        let intervention_id = self.new_intervention_id()?;
        Ok(IntervenedEvent {
            timeline_id: timeline,
            intervention_id,
            event_id,
            effect,
            before,
            after,
            ledger,
            replayed: false,
        })
    }

    /// Returns an event with its versions and the interventions on it.
    ///
    /// # Errors
    /// There is no such event at that moment, the caller may not, or the ledger cannot be written.
    pub async fn event(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        event_id: &EventId,
        as_of: Option<&AsOf>,
    ) -> Result<EventHistory, Refusal> {
        let timeline = caller.timeline(timeline);
        let state = self.admit(caller, &timeline, Demand::Look, "event").await?;
        let layers = self.layers_at(&state, as_of).await?;
        self.log_read(caller, &timeline, Reading::Event { event_id: event_id.to_string() }).await?;
        let known = self.store().event_versions(Arc::clone(&layers), vec![event_id.clone()]).await?.remove(event_id);
        let known = known.ok_or_else(|| Refusal::NotFound { what: "event", id: event_id.to_string() })?;
        self.history_of(&timeline, &layers, known).await
    }

    /// Reads what was done to an event.
    pub(crate) async fn history_of(
        &self,
        timeline: &TimelineId,
        layers: &Arc<[Layer]>,
        known: KnownEvent,
    ) -> Result<EventHistory, Refusal> {
        let mut interventions = Vec::with_capacity(known.interventions.len());
        for (layer, position) in &known.interventions {
            let entry = self.store().entry(layers[*layer].timeline, *position).await?;
            let payload = entry.and_then(|entry| String::from_utf8(entry.payload).ok()).unwrap_or_default();
            interventions.push((*layer, *position, payload));
        }
        let state = self.state(timeline);
        let names = state.map_or_else(Vec::new, |state| state.names_of(layers));
        let as_of = self.position_shown(timeline, layers);
        Ok(EventHistory { timeline_id: timeline.clone(), known, interventions, layers: names, as_of })
    }

    /// Returns the layers that a timeline is read with at a moment; now, if none is named.
    pub(crate) async fn layers_at(&self, state: &TimelineState, as_of: Option<&AsOf>) -> Result<Arc<[Layer]>, Refusal> {
        let size = state.head.frontier.size();
        let (layer, size) = match as_of {
            None => return Ok(state.layers(size)),
            Some(AsOf::Position(position)) if *position < size => (state.ancestors.len(), position + 1),
            Some(AsOf::Position(_)) => {
                let detail = format!("the last position of the ledger is {}", size.saturating_sub(1));
                return Err(Refusal::invalid("as_of", detail));
            }
            Some(AsOf::Host(host)) => self.layer_at(&state.layers(size), *host).await?,
            Some(AsOf::Anchor(anchor_id)) => {
                let (layer, anchor) = self.find_anchor(state, anchor_id).await?;
                (layer, anchor.position + 1)
            }
        };
        let mut layers = state.layers(size)[..=layer].to_vec();
        layers[layer].as_of = size;
        Ok(layers.into())
    }

    /// Returns the layer that was the last one at a host time, and its size then: before it was forked, a
    /// timeline is the one that it was forked from.
    async fn layer_at(&self, layers: &[Layer], host: Instant<Wall>) -> Result<(usize, u64), Refusal> {
        let after = host.checked_add(Span::from_micros(1)).unwrap_or(Instant::MAX);
        for (number, layer) in layers.iter().enumerate().rev() {
            let size = self.store().first_recorded_at(layer.timeline, after, layer.as_of).await?;
            if size > 0 {
                return Ok((number, size));
            }
        }
        Ok((0, 0))
    }

    /// Finds an anchor of a timeline, or of one that it was forked from after the anchor was set.
    pub(crate) async fn find_anchor(
        &self,
        state: &TimelineState,
        anchor_id: &AnchorId,
    ) -> Result<(usize, Anchor), Refusal> {
        let layers = state.layers(u64::MAX);
        for (number, layer) in layers.iter().enumerate().rev() {
            let found = self.store().anchor(layer.timeline, anchor_id).await?;
            if let Some(anchor) = found.filter(|anchor| anchor.position < layer.as_of) {
                return Ok((number, anchor));
            }
        }
        Err(Refusal::NotFound { what: "anchor", id: anchor_id.to_string() })
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
                if Action::of(&record).is_some_and(|action| action.on_events() == OnEvents::Changes) {
                    changed.extend(EventId::new(&record.subject));
                }
            }
        }
        Ok(())
    }

    /// Returns the last position of a timeline's own ledger that layers show.
    pub(crate) fn position_shown(&self, timeline: &TimelineId, layers: &[Layer]) -> Option<u64> {
        let own = self.state(timeline)?.head.key;
        layers.last().filter(|layer| layer.timeline == own)?.as_of.checked_sub(1)
    }

    pub(crate) fn new_intervention_id(&self) -> Result<InterventionId, Refusal> {
        InterventionId::new(&type_id("intervention", self.uuid()))
            .map_err(|error| Refusal::id("intervention_id", error))
    }
}

impl InterventionRequest {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.action.is_empty() || self.action.len() > ACTION_BYTES_MAX {
            return Err(Refusal::invalid("action", format!("an action has 1 to {ACTION_BYTES_MAX} bytes")));
        }
        if self.causes.len() > EVENT_CAUSES_MAX {
            return Err(Refusal::invalid("causes", format!("an intervention has at most {EVENT_CAUSES_MAX} causes")));
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
