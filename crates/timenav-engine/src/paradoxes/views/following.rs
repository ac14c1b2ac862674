//! Views followed by listeners, which are kept as long as there is one, within the limit of all views.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::paradox::{Delta, Settings};

use super::own;
use crate::engine::Engine;
use crate::ledger::head::Layer;
use crate::paradoxes::view_board::{Behind, CachedView, Following, PlaceBehind};
use crate::requests::refusal::Refusal;

/// Entries by which a private view is updated at a time. All their changes are remembered, even if each event has the
/// maximum number of partners for each kind of pair.
const ENTRIES_AHEAD: u64 = 32;

impl Engine {
    /// Called if an event of the timeline was erased. Its own view detects that in the ledger.
    pub(crate) fn drop_views_of_forks(&self, timeline: &TimelineId) {
        let Some(erased) = self.state(timeline).map(|state| state.head.key) else { return };
        let forks = self.forks_of(erased);
        self.shared().views.forget(|timeline| forks.contains(&timeline));
    }

    /// Begins to follow the paradoxes of a timeline with the given number of current events.
    ///
    /// # Errors
    /// All followed views together would exceed the limit.
    pub(crate) async fn follow(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        events_count: u64,
    ) -> Result<Following, Refusal> {
        let timeline = own(layers)?.timeline;
        if !self.shared().views.is_followed(timeline, &settings) {
            self.check_room(events_count)?;
        }
        let following = self.shared().views.follow(timeline, settings, self.now());
        self.with_followed(layers, settings, |_| ()).await?;
        self.check_room(0)?;
        Ok(following)
    }

    /// Checks that the weight of views that cannot be evicted may grow by this much.
    fn check_room(&self, events_count: u64) -> Result<(), Refusal> {
        let max = self.options().views_events_max;
        let room = max.checked_sub(self.shared().views.followed_weight());
        if room.is_some_and(|room| events_count <= room as u64) {
            return Ok(());
        }
        Err(Refusal::LimitReached { what: "events on timelines with streamed paradoxes", max })
    }

    /// Returns the paradoxes created and resolved by an entry. Entries are requested in order. `None` if the shared view
    /// no longer knows them and all private views are taken: the listener then gets `reset`.
    pub(crate) async fn followed_delta(
        &self,
        following: &mut Following,
        layers: &Arc<[Layer]>,
        position: u64,
    ) -> Result<Option<Delta>, Refusal> {
        let look = move |view: &mut CachedView| (view.delta(position), view.weight());
        let (known, weight) = self.with_followed(layers, following.settings, look).await?;
        self.check_room(0)?;
        if let Some(delta) = known {
            following.behind = None;
            return Ok(Some(delta));
        }
        let (engine, layers, settings) = (self.clone(), Arc::clone(layers), following.settings);
        let behind = match following.behind.take() {
            Some(behind) => Ok(behind),
            None => match self.shared().views.place_behind() {
                Some(place) => Err(place),
                None => return Ok(None),
            },
        };
        let catching_up = async move { engine.caught_up(behind, weight, &layers, position, settings).await };
        let behind = self.long_work().without_turn(catching_up).await?;
        let delta = behind.view.delta(position);
        following.behind = Some(behind);
        Ok(delta)
    }

    /// Runs a function on the shared view of a listener, without taking any caller's turn.
    async fn with_followed<T: Send + 'static>(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(layers));
        self.long_work().without_turn(async move { engine.with_view_of(&layers, settings, look).await }).await
    }

    /// Returns the view updated past the entry. A missing private view is built, with about the given weight.
    async fn caught_up(
        &self,
        behind: Result<Behind, PlaceBehind>,
        weight: usize,
        layers: &Arc<[Layer]>,
        position: u64,
        settings: Settings,
    ) -> Result<Behind, Refusal> {
        let size = own(layers)?.as_of;
        let mut behind = match behind {
            Ok(behind) => behind,
            Err(place) => {
                self.check_room(weight as u64)?;
                place.take(self.make_view(&up_to(layers, position), settings).await?)
            }
        };
        if behind.view.size <= position {
            // Stop before remembered changes would be dropped.
            let end = size.min(position + ENTRIES_AHEAD);
            self.go_on(&mut behind.view, layers, position, end, settings).await?;
            behind.weigh();
            self.check_room(0)?;
        }
        Ok(behind)
    }

    /// Updates a view until the changes by an entry are known, and somewhat further.
    async fn go_on(
        &self,
        view: &mut CachedView,
        layers: &Arc<[Layer]>,
        position: u64,
        end: u64,
        settings: Settings,
    ) -> Result<(), Refusal> {
        while !self.catch_up(view, &up_to(layers, end)).await? && view.size <= position {
            // Erased content is no longer in the ledger, so a rebuilt view does not include it.
            let after = view.size + 1;
            *view = self.make_view(&up_to(layers, after), settings).await?;
        }
        Ok(())
    }
}

fn up_to(layers: &Arc<[Layer]>, size: u64) -> Arc<[Layer]> {
    let mut layers = layers.to_vec();
    if let Some(own) = layers.last_mut() {
        own.as_of = size;
    }
    layers.into()
}
