//! The views that are kept, and who follows them.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::limits::VIEW_IDLE_SECONDS_MAX;
use timenav_core::paradox::{Delta, Settings, View};
use timenav_core::time::{Instant, Wall};

use crate::head::TimelineKey;

/// Changes of paradoxes that are remembered, to be told to whoever made them.
const DELTAS_KEPT_MAX: usize = 1_024;

/// Limit of the paradoxes in these changes. Each includes its events, and takes as much memory as [`PARADOX_WEIGHT`] events of
/// a view.
const DELTA_PARADOXES_KEPT_MAX: usize = 10_000;
const PARADOX_WEIGHT: usize = 8;

/// Limit of private views, of all timelines, for listeners that are behind the shared view. Further listeners that are behind
/// get `reset`.
pub const VIEWS_BEHIND_MAX: usize = 4;

/// A view, and how far into the ledger it goes.
pub(crate) struct Kept {
    pub(crate) view: View,
    /// How many entries of the timeline itself it has taken in.
    pub(crate) size: u64,
    /// How many entries of the timelines it was forked from come before them.
    pub(crate) offset: u64,
    /// The timeline's size after the last entry that changed anything in it, or a later one.
    pub(crate) changed_at: u64,
    /// What entries made and healed since it was made, by position.
    deltas: VecDeque<(u64, Delta)>,
    /// Number of paradoxes in them.
    delta_paradoxes: usize,
    /// Changes of entries before this position are not known.
    deltas_from: u64,
}

/// A view that others may wait for.
pub(crate) type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// Every view that is kept, the one asked for last at the end.
#[derive(Clone, Default)]
pub(crate) struct Views(Arc<Mutex<Board>>);

#[derive(Default)]
struct Board {
    held: Vec<Held>,
    /// Number of private views of listeners that are behind.
    private_views: usize,
    /// The weight of the private views.
    private_weight: usize,
}

/// One view that is kept.
struct Held {
    timeline: TimelineKey,
    /// What counts as a paradox in it.
    settings: Settings,
    slot: Slot,
    weight: usize,
    /// How many listeners are told what it finds. While there is one, it is not dropped.
    followers: usize,
    /// Host time at which somebody asked for it last.
    asked: Instant<Wall>,
}

impl Board {
    fn find(&mut self, timeline: TimelineKey, settings: &Settings) -> Option<usize> {
        self.held.iter().position(|held| held.timeline == timeline && held.settings == *settings)
    }

    /// Returns the view, which becomes the one that was asked for last.
    fn take_out(&mut self, timeline: TimelineKey, settings: Settings, now: Instant<Wall>) -> &mut Held {
        let held = match self.find(timeline, &settings) {
            Some(at) => Held { asked: now, ..self.held.remove(at) },
            None => Held { timeline, settings, slot: Slot::default(), weight: 0, followers: 0, asked: now },
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

    /// Drops views that nobody follows and nobody has asked for in a while: one alone may hold gigabytes.
    pub(crate) fn drop_idle(&self, now: Instant<Wall>) {
        let idle =
            |held: &Held| held.followers == 0 && now.since(held.asked).micros() > VIEW_IDLE_SECONDS_MAX * 1_000_000;
        let mut board = self.0.lock();
        // Whoever is looking at one has a handle of their own. It goes when they are done.
        let (dropped, kept): (Vec<Held>, Vec<Held>) = std::mem::take(&mut board.held).into_iter().partition(idle);
        board.held = kept;
        drop(board);
        // What takes long to drop holds up nobody who asks for another one.
        drop(dropped);
    }

    /// Says how much a view holds, and drops others where all hold too much.
    pub(crate) fn weigh(&self, timeline: TimelineKey, settings: &Settings, weight: usize, weight_max: usize) {
        let mut board = self.0.lock();
        if let Some(at) = board.find(timeline, settings) {
            board.held[at].weight = weight;
        }
        let mut sum = board.private_weight + board.held.iter().map(|held| held.weight).sum::<usize>();
        // The newest is the one that is weighed: it stays, however much it holds.
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

    /// Returns how much the views hold that cannot be dropped.
    pub(crate) fn followed_weight(&self) -> usize {
        let board = self.0.lock();
        let followed = board.held.iter().filter(|held| held.followers > 0);
        board.private_weight + followed.map(|held| held.weight).sum::<usize>()
    }

    pub(crate) fn is_followed(&self, timeline: TimelineKey, settings: &Settings) -> bool {
        let mut board = self.0.lock();
        board.find(timeline, settings).is_some_and(|at| board.held[at].followers > 0)
    }

    /// Forgets what is known of some timelines, because something that they tell of was erased.
    pub(crate) fn forget(&self, is_meant: impl Fn(TimelineKey) -> bool) {
        let mut board = self.0.lock();
        for held in board.held.iter_mut().filter(|held| is_meant(held.timeline)) {
            (held.slot, held.weight) = Default::default();
        }
        board.held.retain(|held| held.followers > 0 || !is_meant(held.timeline));
    }
}

impl Kept {
    /// Returns a view of so many entries, of which no changes are known.
    pub(crate) const fn new(view: View, size: u64, offset: u64, changed_at: u64) -> Self {
        Self { view, size, offset, changed_at, deltas: VecDeque::new(), delta_paradoxes: 0, deltas_from: size }
    }

    /// Returns its weight, in events of a view.
    pub(crate) fn weight(&self) -> usize {
        self.view.weight() + self.delta_paradoxes * PARADOX_WEIGHT
    }

    /// Returns whether the view can show how things stood when the timeline had so many entries: what it has taken in of
    /// later ones changed nothing.
    pub(crate) const fn can_show(&self, size: u64) -> bool {
        self.size <= size || self.changed_at <= size
    }

    /// Returns what an entry made and healed, if that is still known.
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
        let count = |delta: &Delta| delta.made.len() + delta.healed.len();
        self.delta_paradoxes += count(&delta);
        self.deltas.push_back((position, delta));
        while (self.deltas.len() > DELTAS_KEPT_MAX || self.delta_paradoxes > DELTA_PARADOXES_KEPT_MAX)
            && self.deltas.len() > 1
            && let Some((dropped, delta)) = self.deltas.pop_front()
        {
            self.delta_paradoxes -= count(&delta);
            self.deltas_from = dropped + 1;
        }
    }
}

/// What somebody who listens to paradoxes holds: the view that all with the same settings share, which is not
/// dropped meanwhile, and one of their own while they are behind it.
pub(crate) struct Following {
    views: Views,
    timeline: TimelineKey,
    pub(crate) settings: Settings,
    pub(crate) behind: Option<Behind>,
}

/// A reserved private view, for a listener that is behind the shared view.
pub(crate) struct PlaceBehind {
    views: Views,
    weight: usize,
}

/// The view of somebody who is behind the shared one, and how much of what all may hold it takes.
pub(crate) struct Behind {
    pub(crate) kept: Kept,
    place: PlaceBehind,
}

impl Views {
    /// Reserves a private view, unless all are taken.
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
    pub(crate) fn take(self, kept: Kept) -> Behind {
        let mut behind = Behind { kept, place: self };
        behind.weigh();
        behind
    }
}

impl Behind {
    pub(crate) fn weigh(&mut self) {
        let weight = self.kept.weight();
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
        // Nobody but listeners asks for settings of their own again.
        if board.held[at].followers == 0 && self.settings != Settings::default() {
            board.held.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_are_few_and_come_free() {
        let views = Views::default();
        let taken: Vec<_> = std::iter::from_fn(|| views.place_behind()).take(VIEWS_BEHIND_MAX + 1).collect();
        assert_eq!(taken.len(), VIEWS_BEHIND_MAX);
        let view = |place: PlaceBehind| place.take(Kept::new(View::new(Settings::default()), 0, 0, 0));
        let behind: Vec<Behind> = taken.into_iter().map(view).collect();
        assert!(views.place_behind().is_none());
        drop(behind);
        assert!(views.place_behind().is_some());
        assert_eq!(views.followed_weight(), 0);
    }

    #[test]
    fn a_view_that_nobody_asks_for_is_dropped_after_a_while() {
        let views = Views::default();
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
        let slot = |timeline, seconds| views.slot(TimelineKey(timeline), Settings::default(), at(seconds));
        let kept = [1, 2, 3].map(|timeline| Arc::downgrade(&slot(timeline, 0)));
        let left = || kept.each_ref().map(std::sync::Weak::strong_count);
        let following = views.follow(TimelineKey(3), Settings::default(), at(0));
        views.drop_idle(at(VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [1, 1, 1]);
        slot(2, VIEW_IDLE_SECONDS_MAX);
        views.drop_idle(at(VIEW_IDLE_SECONDS_MAX + 1));
        assert_eq!(left(), [0, 1, 1], "one was asked for again, and one is followed");
        // Whoever looks at one is not disturbed, and it goes when they are done.
        let looked_at = slot(2, VIEW_IDLE_SECONDS_MAX);
        views.drop_idle(at(3 * VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [0, 1, 1]);
        drop(looked_at);
        drop(following);
        views.drop_idle(at(3 * VIEW_IDLE_SECONDS_MAX));
        assert_eq!(left(), [0, 0, 0]);
    }
}
