//! Views that somebody is told of as they change: kept while somebody listens, within what all views may hold.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::paradox::{Delta, Settings};

use super::own;
use crate::engine::Engine;
use crate::head::{Layer, TimelineState};
use crate::refusal::Refusal;
use crate::view_board::{Behind, DELTAS_KEPT_MAX, Following, Kept};

impl Engine {
    /// Forgets what views of a timeline's forks know of it, because an event of it was erased. Its own view finds
    /// that in the ledger.
    pub(crate) fn forget_in_forks(&self, timeline: &TimelineId) {
        let Some(erased) = self.state(timeline).map(|state| state.head.key) else { return };
        let is_fork = |state: &TimelineState| state.ancestors.iter().any(|layer| layer.timeline == erased);
        let forks = self.keys_where(is_fork);
        self.views().forget(|timeline| forks.contains(&timeline));
    }

    /// Begins to follow the paradoxes of a timeline on which so many events stand.
    ///
    /// # Errors
    /// All views that are followed would hold too much.
    pub(crate) async fn follow(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        events_count: u64,
    ) -> Result<Following, Refusal> {
        let timeline = own(layers)?.timeline;
        if !self.views().is_followed(timeline, &settings) {
            self.check_room(events_count)?;
        }
        let following = self.views().follow(timeline, settings, self.now());
        self.with_followed(layers, settings, |_| ()).await?;
        self.check_room(0)?;
        Ok(following)
    }

    /// Checks that views which cannot be dropped may hold so much more.
    fn check_room(&self, events_count: u64) -> Result<(), Refusal> {
        let max = self.options().views_events_max;
        let room = max.checked_sub(self.views().followed_nodes());
        if room.is_some_and(|room| events_count <= room as u64) {
            return Ok(());
        }
        Err(Refusal::LimitReached { what: "events on timelines whose paradoxes are streamed", max })
    }

    /// Returns what an entry made and healed. Entries are asked for in their order.
    pub(crate) async fn followed_delta(
        &self,
        following: &mut Following,
        layers: &Arc<[Layer]>,
        position: u64,
    ) -> Result<Delta, Refusal> {
        let look = move |kept: &mut Kept| (kept.delta(position), kept.view.nodes_count());
        let (known, nodes) = self.with_followed(layers, following.settings, look).await?;
        self.check_room(0)?;
        if let Some(delta) = known {
            following.behind = None;
            return Ok(delta);
        }
        let (engine, layers, settings) = (self.clone(), Arc::clone(layers), following.settings);
        let behind = following.behind.take();
        let catching_up = async move { engine.caught_up(behind, nodes, &layers, position, settings).await };
        let behind = self.long_work().aside(catching_up).await?;
        let delta = behind.kept.delta(position).unwrap_or_default();
        following.behind = Some(behind);
        Ok(delta)
    }

    /// Lets somebody who listens look at the view that they share, which takes the time of nobody who asks.
    async fn with_followed<T: Send + 'static>(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        look: impl FnOnce(&mut Kept) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(layers));
        self.long_work().aside(async move { engine.with_view_of(&layers, settings, look).await }).await
    }

    /// Returns the view of somebody who is behind, once it knows what an entry made and healed. Where there is none
    /// yet it is made, of about so many nodes.
    async fn caught_up(
        &self,
        behind: Option<Behind>,
        nodes: usize,
        layers: &Arc<[Layer]>,
        position: u64,
        settings: Settings,
    ) -> Result<Behind, Refusal> {
        let size = own(layers)?.as_of;
        let mut behind = if let Some(behind) = behind {
            behind
        } else {
            self.check_room(nodes as u64)?;
            let kept = self.make_view(&up_to(layers, position), settings).await?;
            Behind::new(kept, self.views())
        };
        if behind.kept.size <= position {
            // No further than what is made and healed is remembered.
            let end = size.min(position + DELTAS_KEPT_MAX as u64);
            self.go_on(&mut behind.kept, layers, position, end, settings).await?;
            behind.weigh();
            self.check_room(0)?;
        }
        Ok(behind)
    }

    /// Goes on with a view until what an entry made and healed is known, and some more.
    async fn go_on(
        &self,
        kept: &mut Kept,
        layers: &Arc<[Layer]>,
        position: u64,
        end: u64,
        settings: Settings,
    ) -> Result<(), Refusal> {
        while !self.catch_up(kept, &up_to(layers, end)).await? && kept.size <= position {
            // What is erased is not in the ledger any more, so a view that is made now does not know it.
            let after = kept.size + 1;
            *kept = self.make_view(&up_to(layers, after), settings).await?;
        }
        Ok(())
    }
}

/// Returns layers as they were when the last one had so many entries.
fn up_to(layers: &Arc<[Layer]>, size: u64) -> Arc<[Layer]> {
    let mut layers = layers.to_vec();
    if let Some(own) = layers.last_mut() {
        own.as_of = size;
    }
    layers.into()
}
