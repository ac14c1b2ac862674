use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::limits::VIEW_IDLE_SECONDS_MAX;
use timenav_core::paradox::{Delta, Settings, View};
use timenav_core::time::{Instant, Wall};

use crate::ledger::head::TimelineKey;

/// Maximum number of remembered paradox changes, which are returned to the requests that caused them.
const DELTAS_CACHED_MAX: usize = 1_024;

/// Each paradox includes its events, and takes as much memory as [`PARADOX_WEIGHT`] events of a view.
const DELTA_PARADOXES_CACHED_MAX: usize = 10_000;
const PARADOX_WEIGHT: usize = 8;

/// Private views on all timelines, for listeners that lag the shared view. Further ones get `reset`.
pub const VIEWS_BEHIND_MAX: usize = 4;

pub(crate) struct CachedView {
    pub(crate) view: View,
    /// How many entries of the timeline itself are included.
    pub(crate) size: u64,
    /// How many entries of its ancestors precede them.
    pub(crate) offset: u64,
    /// The timeline's size after the last entry that changed the view, or a later one.
    pub(crate) changed_at: u64,
    /// Paradoxes created and resolved by entries since the view was built, by position.
    deltas: VecDeque<(u64, Delta)>,
    delta_paradoxes: usize,
    /// Changes by entries before this position are unknown.
    deltas_from: u64,
}

pub(crate) type Slot = Arc<tokio::sync::Mutex<Option<CachedView>>>;

/// All cached views, the most recently used one last.
#[derive(Clone, Default)]
pub(crate) struct Views(Arc<Mutex<Board>>);

#[derive(Default)]
struct Board {
    held: Vec<Held>,
    private_views: usize,
    private_weight: usize,
}

struct Held {
    timeline: TimelineKey,
    settings: Settings,
    slot: Slot,
    weight: usize,
    /// How many listeners follow it. It is not evicted while there is one.
    followers: usize,
    /// Host time of the last use.
    used_at: Instant<Wall>,
}

impl Board {
    fn find(&mut self, timeline: TimelineKey, settings: &Settings) -> Option<usize> {
        self.held.iter().position(|held| held.timeline == timeline && held.settings == *settings)
    }

    /// Returns the view, and marks it as the most recently used one.
    fn take_out(&mut self, timeline: TimelineKey, settings: Settings, now: Instant<Wall>) -> &mut Held {
        let held = match self.find(timeline, &settings) {
            Some(at) => Held { used_at: now, ..self.held.remove(at) },
            None => Held { timeline, settings, slot: Slot::default(), weight: 0, followers: 0, used_at: now },
        };
        let last = self.held.len();
        self.held.push(held);
        &mut self.held[last]
    }
}

impl Views {
    pub(crate) fn slot(&self, timeline: TimelineKey, settings: Settings, now: Instant<Wall>) -> Slot {
        Arc::clone(&self.0.lock().take_out(timeline, settings, now).slot)
    }

    /// Evicts views without followers that were not used for a while: one alone may take gigabytes.
    pub(crate) fn drop_idle(&self, now: Instant<Wall>) {
        let idle =
            |held: &Held| held.followers == 0 && now.since(held.used_at).micros() > VIEW_IDLE_SECONDS_MAX * 1_000_000;
        let mut board = self.0.lock();
        // Tasks that use one have a handle of their own, so it is freed when they are done.
        let (dropped, view): (Vec<Held>, Vec<Held>) = std::mem::take(&mut board.held).into_iter().partition(idle);
        board.held = view;
        drop(board);
        // Freeing memory takes long, so do it after releasing the lock.
        drop(dropped);
    }

    /// Updates the weight of a view, and evicts others if the total is too large.
    pub(crate) fn weigh(&self, timeline: TimelineKey, settings: &Settings, weight: usize, weight_max: usize) {
        let mut board = self.0.lock();
        if let Some(at) = board.find(timeline, settings) {
            board.held[at].weight = weight;
        }
        let mut sum = board.private_weight + board.held.iter().map(|held| held.weight).sum::<usize>();
        // The newest view is the one just updated: it stays, regardless of its weight.
        let newest = board.held.pop();
        board.held.retain(|held| {
            let stays = held.followers > 0 || sum <= weight_max;
            sum -= if stays { 0 } else { held.weight };
            stays
        });
        board.held.extend(newest);
    }

    pub(crate) fn follow(&self, timeline: TimelineKey, settings: Settings, now: Instant<Wall>) -> Following {
        self.0.lock().take_out(timeline, settings, now).followers += 1;
        Following { views: self.clone(), timeline, settings, behind: None }
    }

    /// Returns the weight of the views that cannot be evicted.
    pub(crate) fn followed_weight(&self) -> usize {
        let board = self.0.lock();
        let followed = board.held.iter().filter(|held| held.followers > 0);
        board.private_weight + followed.map(|held| held.weight).sum::<usize>()
    }

    pub(crate) fn is_followed(&self, timeline: TimelineKey, settings: &Settings) -> bool {
        let mut board = self.0.lock();
        board.find(timeline, settings).is_some_and(|at| board.held[at].followers > 0)
    }

    /// Evicts the views of some timelines, because content they include was erased.
    pub(crate) fn forget(&self, is_match: impl Fn(TimelineKey) -> bool) {
        let mut board = self.0.lock();
        for held in board.held.iter_mut().filter(|held| is_match(held.timeline)) {
            (held.slot, held.weight) = Default::default();
        }
        board.held.retain(|held| held.followers > 0 || !is_match(held.timeline));
    }
}

impl CachedView {
    pub(crate) const fn new(view: View, size: u64, offset: u64, changed_at: u64) -> Self {
        Self { view, size, offset, changed_at, deltas: VecDeque::new(), delta_paradoxes: 0, deltas_from: size }
    }

    pub(crate) fn weight(&self) -> usize {
        self.view.weight() + self.delta_paradoxes * PARADOX_WEIGHT
    }

    /// Returns whether the view is valid for a ledger size: later entries that it includes changed nothing.
    pub(crate) const fn can_show(&self, size: u64) -> bool {
        self.size <= size || self.changed_at <= size
    }

    pub(crate) fn delta(&self, position: u64) -> Option<Delta> {
        if position < self.deltas_from || position >= self.size {
            return None;
        }
        let found = self.deltas.iter().find(|(at, _)| *at == position);
        Some(found.map(|(_, delta)| delta.clone()).unwrap_or_default())
    }

    pub(crate) fn remember(&mut self, position: u64, delta: Delta) {
        if delta.is_empty() {
            return;
        }
        let count = |delta: &Delta| delta.created.len() + delta.resolved.len();
        self.delta_paradoxes += count(&delta);
        self.deltas.push_back((position, delta));
        while (self.deltas.len() > DELTAS_CACHED_MAX || self.delta_paradoxes > DELTA_PARADOXES_CACHED_MAX)
            && self.deltas.len() > 1
            && let Some((dropped, delta)) = self.deltas.pop_front()
        {
            self.delta_paradoxes -= count(&delta);
            self.deltas_from = dropped + 1;
        }
    }
}

/// A listener's subscription: the view shared by all with the same settings, which is not evicted in the meantime, and
/// a private view while the listener lags.
pub(crate) struct Following {
    views: Views,
    timeline: TimelineKey,
    pub(crate) settings: Settings,
    pub(crate) behind: Option<Behind>,
}

/// A reserved private view, for a listener that lags the shared view.
pub(crate) struct PlaceBehind {
    views: Views,
    weight: usize,
}

pub(crate) struct Behind {
    pub(crate) view: CachedView,
    place: PlaceBehind,
}

impl Views {
    pub(crate) fn place_behind(&self) -> Option<PlaceBehind> {
        let mut board = self.0.lock();
        if board.private_views == VIEWS_BEHIND_MAX {
            return None;
        }
        board.private_views += 1;
        Some(PlaceBehind { views: self.clone(), weight: 0 })
    }
}

impl PlaceBehind {
    pub(crate) fn take(self, view: CachedView) -> Behind {
        let mut behind = Behind { view, place: self };
        behind.weigh();
        behind
    }
}

impl Behind {
    pub(crate) fn weigh(&mut self) {
        let weight = self.view.weight();
        let mut board = self.place.views.0.lock();
        board.private_weight = board.private_weight - self.place.weight + weight;
        self.place.weight = weight;
    }
}

impl Drop for PlaceBehind {
    fn drop(&mut self) {
        let mut board = self.views.0.lock();
        board.private_views -= 1;
        board.private_weight -= self.weight;
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut board = self.views.0.lock();
        let Some(at) = board.find(self.timeline, &self.settings) else { return };
        board.held[at].followers -= 1;
        // Only listeners use settings other than the defaults more than once.
        if board.held[at].followers == 0 && self.settings != Settings::default() {
            board.held.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_views_are_limited_and_released() {
        let views = Views::default();
        let taken: Vec<_> = std::iter::from_fn(|| views.place_behind()).take(VIEWS_BEHIND_MAX + 1).collect();
        assert_eq!(taken.len(), VIEWS_BEHIND_MAX);
        let view = |place: PlaceBehind| place.take(CachedView::new(View::new(Settings::default()), 0, 0, 0));
        let behind: Vec<Behind> = taken.into_iter().map(view).collect();
        assert!(views.place_behind().is_none());
        drop(behind);
        assert!(views.place_behind().is_some());
        assert_eq!(views.followed_weight(), 0);
    }

    #[test]
    fn idle_view_is_dropped_after_a_timeout() {
        let views = Views::default();
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
        let slot = |timeline, seconds| views.slot(TimelineKey(timeline), Settings::default(), at(seconds));
        let view = [1, 2, 3].map(|timeline| Arc::downgrade(&slot(timeline, 0)));
        let left = || view.each_ref().map(std::sync::Weak::strong_count);
        let following = views.follow(TimelineKey(3), Settings::default(), at(0));
        views.drop_idle(at(VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [1, 1, 1]);
        slot(2, VIEW_IDLE_SECONDS_MAX);
        views.drop_idle(at(VIEW_IDLE_SECONDS_MAX + 1));
        assert_eq!(left(), [0, 1, 1], "one was asked for again, and one is followed");
        // A view in use is freed when its user is done.
        let looked_at = slot(2, VIEW_IDLE_SECONDS_MAX);
        views.drop_idle(at(3 * VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [0, 1, 1]);
        drop(looked_at);
        drop(following);
        views.drop_idle(at(3 * VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [0, 0, 0]);
    }
}
