use timenav_core::ledger::LeafRecord;
use timenav_core::paradox::{Kind, Paradox, Settings};

use super::{LedgerStream, LedgerUpdate};
use crate::engine::Engine;
use crate::ledger::action::{Action, OnTimers};
use crate::ledger::payload::DataErased;
use crate::paradoxes::view_board::Following;
use crate::ports::lookups::OneFact as _;
use crate::read::read_view::ReadView;
use crate::requests::refusal::Refusal;

#[derive(Clone, Debug, Default)]
pub struct WatchedParadoxes {
    /// The requested kinds. Defaults to all except observations.
    pub kinds: Option<Vec<Kind>>,
    pub observations: bool,
    pub settings: Settings,
}

pub(super) struct Watch {
    watched: WatchedParadoxes,
    following: Following,
}

impl WatchedParadoxes {
    fn includes(&self, paradox: &Paradox) -> bool {
        match &self.kinds {
            Some(kinds) => kinds.contains(&paradox.kind),
            None => self.observations || !paradox.is_observation,
        }
    }

    /// Returns whether entries that are not about an event can match: jumps of the clock can occur in any entry.
    fn is_of_any_entry(&self) -> bool {
        self.kinds.as_ref().map_or(self.observations, |kinds| kinds.contains(&Kind::ClockDiscontinuity))
    }
}

impl Engine {
    pub(super) async fn watch_paradoxes(&self, look: &ReadView, watched: WatchedParadoxes) -> Result<Watch, Refusal> {
        let following = self.follow(&look.layers, watched.settings, look.state.head.events_count).await?;
        Ok(Watch { watched, following })
    }
}

impl LedgerStream {
    /// Prepares the state for the next entry, so that a listener that cannot be served is rejected at once.
    pub(super) async fn prepare(&mut self) -> Result<(), Refusal> {
        let is_behind = self.next < self.size();
        let Some(watch) = self.paradoxes.as_mut().filter(|_| is_behind) else { return Ok(()) };
        let Some(state) = self.engine.state(&self.timeline_id) else { return Ok(()) };
        let known = self.engine.followed_delta(&mut watch.following, &state.layers_now(), self.next).await?;
        if known.is_none() {
            self.start_over(Some(LedgerUpdate::Reset));
        }
        Ok(())
    }

    /// Returns the paradoxes that an entry created and resolved and that match the filter; `None` if they are no longer
    /// known.
    pub(super) async fn paradoxes_of(
        &mut self,
        position: u64,
        leaf: &[u8],
    ) -> Result<Option<Vec<LedgerUpdate>>, Refusal> {
        let Some(watch) = &mut self.paradoxes else { return Ok(Some(Vec::new())) };
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let action = Action::of(&record);
        if action.is_some_and(Action::erases_events) {
            let entry = self.engine.store().entry(self.key, position).await?;
            // Paradoxes of an erased event are no longer reported, so neither is their healing.
            let is_event = entry.is_none_or(|entry| DataErased::may_be_of_event(&entry.payload));
            return Ok(Some(if is_event { vec![LedgerUpdate::Reset] } else { Vec::new() }));
        }
        let changes = |action: Action| action.changes_events() || is_of_firings(action);
        if !action.is_some_and(changes) && !watch.watched.is_of_any_entry() {
            return Ok(Some(Vec::new()));
        }
        let Some(state) = self.engine.state(&self.timeline_id) else { return Ok(Some(Vec::new())) };
        let delta = self.engine.followed_delta(&mut watch.following, &state.layers_now(), position).await?;
        let Some(delta) = delta else { return Ok(None) };
        let update = |is_resolved| move |paradox| LedgerUpdate::Paradox { is_resolved, paradox: Box::new(paradox) };
        let watched = |paradox: &Paradox| watch.watched.includes(paradox);
        // Report resolved paradoxes before created ones, so that the sum of the messages is the current set.
        let resolved = delta.resolved.into_iter().filter(watched).map(update(true));
        let created = delta.created.into_iter().filter(watched).map(update(false));
        Ok(Some(resolved.chain(created).collect()))
    }
}

/// Returns whether an action may create or remove firings, which can be causes of events.
const fn is_of_firings(action: Action) -> bool {
    match action.on_timers() {
        Some(OnTimers::Fires | OnTimers::Changes | OnTimers::Cancels | OnTimers::Restores) => true,
        Some(OnTimers::Sets | OnTimers::Settles) | None => false,
    }
}
