//! Views of timelines, in which paradoxes are found.
//!
//! A view is built from the entries of a ledger when it is first needed, and updated with new entries on each later
//! use. It is a projection in memory: nothing depends on it, and the committer does not wait for it. If all views
//! together exceed a limit, the least recently used ones are evicted.
use std::sync::Arc;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::paradox::{Builder, Delta, Record, Settings, SizeHint, Stamp};
use timenav_core::time::{Instant, Virtual, Wall};
use tokio::sync::OwnedMutexGuard;

use crate::engine::Engine;
use crate::events::event_content::event_draft;
use crate::events::history::InterventionRequest;
use crate::ledger::head::Layer;
use crate::paradoxes::view_board::CachedView;
use crate::ports::archive::EntryRow;
use crate::read::long_work::yielding;
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

mod feed;
mod following;
mod timers;

const BLOCK_ENTRIES: u64 = 4_096;

impl Engine {
    /// Runs a function on the current view of a timeline. The view includes all entries acknowledged before this call.
    pub(crate) async fn with_view<T: Send + 'static>(
        &self,
        caller: &Caller,
        layers: &Arc<[Layer]>,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(layers));
        let looking = async move { engine.with_view_of(&layers, Settings::default(), look).await };
        self.long_work().in_turn_of_views(caller, looking).await
    }

    /// Like [`Engine::with_view`], with custom settings that others may share, and without taking a turn.
    async fn with_view_of<T: Send + 'static>(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let held = self.shared().views.slot(own(layers)?.timeline, settings, self.now()).lock_owned().await;
        self.with_held(held, layers, settings, look).await
    }

    async fn with_held<T: Send + 'static>(
        &self,
        mut held: OwnedMutexGuard<Option<CachedView>>,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let own = own(layers)?;
        let mut view = match held.take() {
            Some(view) => view,
            None => self.make_view(layers, settings).await?,
        };
        if !self.catch_up(&mut view, layers).await? {
            // An event was erased, so the view must be rebuilt without it.
            view = self.make_view(layers, settings).await?;
        }
        let weight_max = self.options().views_events_max;
        self.shared().views.weigh(own.timeline, &settings, view.weight(), weight_max);
        // This may take long, so do not run it on a thread that serves requests.
        let result = tokio::task::spawn_blocking(move || {
            let found = look(&mut view);
            *held = Some(view);
            found
        });
        result.await.map_err(|error| Refusal::Damaged(format!("a view could not be read: {error}")))
    }

    /// Runs a function on the view of a timeline as of a read, and no later.
    pub(crate) async fn view_of<T: Send + 'static>(
        &self,
        caller: &Caller,
        look: &ReadView,
        what: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(&look.layers));
        // Other callers can use the view of the current state, or of a state equal to it.
        let is_shared = look.is_of_now || look.state.has_layers(&layers);
        let looking = async move {
            if is_shared {
                let own = own(&layers)?;
                let held =
                    engine.shared().views.slot(own.timeline, Settings::default(), engine.now()).lock_owned().await;
                if held.as_ref().is_none_or(|view| view.can_show(own.as_of)) {
                    return engine.with_held(held, &layers, Settings::default(), what).await;
                }
            }
            engine.with_own_view(&layers, Settings::default(), what).await
        };
        self.long_work().in_turn_of_views(caller, looking).await
    }

    pub(crate) async fn look_at<T: Send + 'static>(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        layers: &Arc<[Layer]>,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        if let Some(state) = self.state(timeline).filter(|state| state.has_layers(layers)) {
            return self.with_view(caller, &state.layers_now(), look).await;
        }
        self.look_with(caller, layers, Settings::default(), look).await
    }

    /// Runs a function on a private view: of the past, or with custom settings.
    pub(crate) async fn look_with<T: Send + 'static>(
        &self,
        caller: &Caller,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(layers));
        let looking = async move { engine.with_own_view(&layers, settings, look).await };
        self.long_work().in_turn_of_views(caller, looking).await
    }

    async fn with_own_view<T: Send + 'static>(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut CachedView) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut view = self.make_view(layers, settings).await?;
        spawned(move || look(&mut view)).await
    }

    async fn make_view(&self, layers: &Arc<[Layer]>, settings: Settings) -> Result<CachedView, Refusal> {
        let own = own(layers)?;
        let mut builder = Builder::new(settings, SizeHint::default());
        let (mut offset, mut changed_at) = (0, 0);
        for layer in layers.iter() {
            let mut at = 0;
            while at < layer.as_of {
                let rows = self.read_entries(layer, at).await?;
                at += rows.len() as u64;
                let fed = tokio::task::spawn_blocking(move || {
                    for row in yielding(&rows) {
                        feed::records(row, offset, &mut |records| {
                            // Paradoxes are not tracked while a view is built.
                            if !matches!(records, [Record::Other(_)]) {
                                changed_at = row.position + 1;
                            }
                            for record in records {
                                builder.add(record);
                            }
                        });
                    }
                    (builder, changed_at)
                });
                let fed = fed.await.map_err(|error| Refusal::Damaged(format!("a view could not be built: {error}")))?;
                (builder, changed_at) = fed;
            }
            offset += layer.as_of;
            // Positions refer to the timeline's own layer.
            changed_at = if layer.timeline == own.timeline { changed_at } else { 0 };
        }
        let view = spawned(move || builder.finish()).await?;
        let (size, offset) = (own.as_of, offset - own.as_of);
        Ok(CachedView::new(view, size, offset, changed_at))
    }

    /// Returns whether the view is still valid.
    async fn catch_up(&self, view: &mut CachedView, layers: &Arc<[Layer]>) -> Result<bool, Refusal> {
        let own = own(layers)?;
        while view.size < own.as_of {
            for row in yielding(self.read_entries(&own, view.size).await?) {
                if feed::erases(&row) {
                    return Ok(false);
                }
                let (mut delta, mut is_of_events) = (Delta::default(), false);
                feed::records(&row, view.offset, &mut |records| {
                    delta = view.view.apply_all(records);
                    is_of_events = feed::are_of_events(records);
                });
                view.size = row.position + 1;
                if is_of_events || !delta.is_empty() {
                    view.changed_at = view.size;
                }
                view.remember(row.position, delta);
            }
        }
        Ok(true)
    }

    async fn read_entries(&self, layer: &Layer, first: u64) -> Result<Vec<EntryRow>, Refusal> {
        let rows = self.store().entry_rows(layer.timeline, first, layer.as_of.min(first + BLOCK_ENTRIES)).await?.rows;
        if rows.is_empty() { Err(Refusal::Damaged(format!("entry {first} is missing"))) } else { Ok(rows) }
    }

    pub(crate) async fn delta_at(
        &self,
        caller: &Caller,
        layers: &Arc<[Layer]>,
        position: u64,
    ) -> Result<Delta, Refusal> {
        let known = self.with_view(caller, layers, move |view| view.delta(position)).await?;
        if let Some(delta) = known {
            return Ok(delta);
        }
        // The changes of an old entry, for a repeated request, are recomputed from earlier entries.
        let (engine, layers) = (self.clone(), Arc::clone(layers));
        self.long_work().in_turn_of_views(caller, async move { engine.delta_anew(&layers, position).await }).await
    }

    async fn delta_anew(&self, layers: &Arc<[Layer]>, position: u64) -> Result<Delta, Refusal> {
        let mut before = layers.to_vec();
        if let Some(own) = before.last_mut() {
            own.as_of = position;
        }
        let mut view = self.make_view(&before.into(), Settings::default()).await?;
        let mut after = layers.to_vec();
        if let Some(own) = after.last_mut() {
            own.as_of = position + 1;
        }
        self.catch_up(&mut view, &after.into()).await?;
        Ok(view.delta(position).unwrap_or_default())
    }
}

/// Runs work that does not belong on a thread that serves requests.
async fn spawned<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refusal::Damaged(format!("work on a view failed: {error}")))
}

fn own(layers: &Arc<[Layer]>) -> Result<Layer, Refusal> {
    layers.last().copied().ok_or_else(|| Refusal::Damaged("a timeline without layers".to_owned()))
}

/// Assumes that the intervention is the next entry. `before` and `after` are event JSON, `None` if canceled.
pub(crate) fn what_if(
    view: &mut CachedView,
    request: &InterventionRequest,
    intervention_id: EventId,
    (before, after): (Option<Arc<str>>, Option<Arc<str>>),
    (recorded_at, clock_at): (Instant<Wall>, Instant<Virtual>),
) -> Delta {
    let changed = before != after;
    let done = feed::Done {
        event_id: request.event_id.clone(),
        intervention_id,
        time: request.time,
        causes: request.causes.clone(),
        effect: request.effect.as_str(),
        after: match after.as_deref().and_then(event_draft) {
            _ if !changed => feed::After::Same,
            Some(draft) => feed::After::Present(Box::new(draft)),
            None => feed::After::Cancelled,
        },
    };
    let stamp = Stamp { position: view.offset + view.size, recorded_at, clock_at };
    let mut delta = Delta::default();
    done.records(stamp, &mut |records| delta = view.view.what_if(records));
    delta
}
