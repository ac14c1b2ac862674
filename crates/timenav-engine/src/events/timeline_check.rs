use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::event::CauseKind;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::{DESCRIPTIONS_SEARCHED_MAX, EVENT_RELATIONS_MAX, NAMES_SEARCHED_MAX};
use timenav_core::paradox::{Ancestor, IMPACT_EVENTS_MAX, Paradox};
use timenav_core::time::{Instant, Virtual};

use crate::engine::Engine;
use crate::events::event_columns::name_key;
use crate::events::event_content::event_draft;
use crate::events::history::EventHistory;
use crate::ledger::head::Layer;
use crate::ledger::payload::Reading;
use crate::ledger::proofs::InclusionProof;
use crate::paradoxes::view_board::CachedView;
use crate::ports::rows::{Described, KnownEvent};
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Some of its causes, nearest first.
    pub causes: Vec<Ancestor>,
    pub effects: Vec<(EventId, CauseKind)>,
    /// The number of current events that require it, directly or indirectly, counted up to [`IMPACT_EVENTS_MAX`].
    pub consequences_count: usize,
    /// Some of them, nearest first.
    pub consequences: Vec<EventId>,
    pub paradoxes: Vec<Paradox>,
}

#[derive(Clone, Debug)]
pub struct TimelineCheck {
    pub timeline_id: TimelineId,
    /// The event with its versions and interventions, if there is one with that id, name or description.
    pub event: Option<(EventId, EventHistory)>,
    /// Whether none was found before the search for the description stopped at its limit.
    pub is_cut_off: bool,
    pub clock_at: Instant<Virtual>,
    pub surroundings: Option<Surroundings>,
    /// Proves that the entry of the current version is in the ledger; `None` if that is the ledger of an ancestor.
    pub proof: Option<InclusionProof>,
    /// Events with similar or identical ids or names: id, and name if there is one.
    pub candidates: Vec<(EventId, Option<String>)>,
}

impl Engine {
    /// Checks whether an event is current, and returns its relations.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn check_timeline(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        significant_event: &str,
        as_of: Option<&(String, AsOf)>,
    ) -> Result<TimelineCheck, Refusal> {
        let read = Reading::CheckTimeline {
            as_of: as_of.map(|(text, _)| (*text).clone()),
            significant_event: significant_event.to_owned(),
        };
        let admitted = self.authorize_read(caller, timeline, Demand::Look, read).await?;
        let _turn = self.long_work().turn_to_search(caller).await;
        let look = admitted.at(as_of.map(|(_, as_of)| as_of)).await?.look().await?;
        let clock_at = look.state.head.clock.now(look.host);
        let found = self.event_called(&look.layers, significant_event).await?;
        let (found, is_cut_off) = match found {
            Some(found) => (Some(found), false),
            None => self.event_described(caller, &look.layers, significant_event).await?,
        };
        let event = match found {
            Some((event_id, known)) => {
                let history = self.history_of(&look, known).await?;
                Some((event_id, history))
            }
            None => None,
        };
        let surroundings = match &event {
            Some((event_id, _)) => Some(self.surroundings(caller, &look, event_id.clone()).await?),
            None => None,
        };
        let near = self.names_near(caller, &look, significant_event).await?;
        let candidates = near.into_iter().filter(|(event_id, _)| event.as_ref().is_none_or(|(id, _)| id != event_id));
        let candidates = candidates.collect();
        let current = event.as_ref().and_then(|(_, history)| history.known.current());
        let own = current.filter(|version| version.layer == look.state.ancestors.len()).map(|version| version.position);
        let proof = match own {
            Some(position) => Some(self.prove_entry(&look.state, position).await?),
            None => None,
        };
        Ok(TimelineCheck { timeline_id: look.timeline(), event, is_cut_off, clock_at, surroundings, proof, candidates })
    }

    /// Runs in the caller's turn. Also returns whether the search stopped at its limit.
    async fn event_described(
        &self,
        caller: &Caller,
        layers: &Arc<[Layer]>,
        description: &str,
    ) -> Result<(Option<(EventId, KnownEvent)>, bool), Refusal> {
        let (engine, on, text) = (self.clone(), Arc::clone(layers), description.to_owned());
        let searching = async move { Ok(engine.store().event_described(on, text, DESCRIPTIONS_SEARCHED_MAX).await?) };
        let Described { event_id, is_cut_off } = self.long_work().in_turn(caller, searching).await?;
        let Some(event_id) = event_id else { return Ok((None, is_cut_off)) };
        let known = self.versions_of(layers, &event_id).await?;
        Ok((known.map(|known| (event_id, known)), false))
    }

    async fn names_near(
        &self,
        caller: &Caller,
        look: &ReadView,
        name: &str,
    ) -> Result<Vec<(EventId, Option<String>)>, Refusal> {
        let (engine, layers, key) = (self.clone(), Arc::clone(&look.layers), name_key(name));
        let searching = async move { Ok(engine.store().names_near(layers, key, NAMES_SEARCHED_MAX).await?) };
        self.long_work().in_turn(caller, searching).await
    }

    async fn surroundings(&self, caller: &Caller, look: &ReadView, event_id: EventId) -> Result<Surroundings, Refusal> {
        let around = move |cached: &mut CachedView| {
            let view = &cached.view;
            Surroundings {
                causes: view.ancestors(&event_id, EVENT_RELATIONS_MAX),
                effects: view.effects(&event_id, EVENT_RELATIONS_MAX),
                consequences_count: view.descendants_count(&event_id, IMPACT_EVENTS_MAX),
                consequences: view.descendants(&event_id, EVENT_RELATIONS_MAX),
                paradoxes: view.touching(&event_id, |heading| !heading.is_observation).page(0, EVENT_RELATIONS_MAX),
            }
        };
        self.view_of(caller, look, around).await
    }
}

impl TimelineCheck {
    #[must_use]
    pub fn event_time(&self) -> Option<Instant<Virtual>> {
        let (_, history) = self.event.as_ref()?;
        event_draft(&history.known.current()?.content).map(|draft| draft.time)
    }
}
