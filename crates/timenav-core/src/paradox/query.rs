use super::cycles::nearest_path;
use super::site::{Set, Site};
use super::view::View;
use crate::event::CauseKind;
use crate::ids::EventId;
use crate::paradox::rules::uncertain::Uncertain;
use crate::time::{Instant, Virtual};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// The event exists, and is not canceled.
    Present,
    TakenAway,
    /// It was named as a cause, and never recorded.
    Unrecorded,
}

/// A direct or indirect cause of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub event_id: EventId,
    pub status: EventStatus,
    /// Length of the path: 1 for a direct cause.
    pub distance: usize,
    /// Whether the event requires it through a chain of required causes.
    pub is_required: bool,
}

/// Number of paradoxes that use as much memory as one event.
const SITES_PER_NODE: usize = 2;

impl View {
    /// Returns the state of an event or intervention; `None` if it was never named.
    #[must_use]
    pub fn status(&self, event_id: &EventId) -> Option<EventStatus> {
        self.ids.find(event_id.as_str().as_bytes()).map(|node| self.status_of(node))
    }

    /// Returns the number of events and interventions that were ever recorded or named.
    #[must_use]
    pub fn nodes_count(&self) -> usize {
        self.ids.count()
    }

    /// Returns the memory use of the view, in units of an event without paradoxes (about 200 bytes).
    #[must_use]
    pub fn weight(&self) -> usize {
        self.ids.count() + self.found.total() / SITES_PER_NODE
    }

    fn status_of(&self, node: u32) -> EventStatus {
        match (self.graph.is_known(node), self.graph.is_live(node)) {
            (false, _) => match self.firings.get(node).map(|firing| firing.taken().is_some()) {
                None => EventStatus::Unrecorded,
                Some(true) => EventStatus::TakenAway,
                Some(false) => EventStatus::Present,
            },
            (true, false) => EventStatus::TakenAway,
            (true, true) => EventStatus::Present,
        }
    }

    /// Returns up to `items_max` direct and indirect causes, nearest first, then by id.
    #[must_use]
    pub fn ancestors(&self, event_id: &EventId, items_max: usize) -> Vec<Ancestor> {
        let Some(start) = self.ids.find(event_id.as_str().as_bytes()) else { return Vec::new() };
        let mut seen: Set<u32> = Set::default();
        seen.insert(start);
        let (mut found, mut level) = (Vec::new(), vec![start]);
        let required = self.required_ancestors(start);
        let mut distance = 0;
        while !level.is_empty() && found.len() < items_max {
            distance += 1;
            let causes = level.iter().flat_map(|node| self.graph.causes(*node)).map(|(cause, _)| cause);
            let mut next: Vec<u32> = causes.filter(|cause| seen.insert(*cause)).collect();
            next.sort_unstable_by_key(|node| self.ids.text(*node));
            found.extend(next.iter().map(|&node| Ancestor {
                event_id: self.id(node),
                status: self.status_of(node),
                distance,
                is_required: required.contains(&node),
            }));
            level = next;
        }
        found.truncate(items_max);
        found
    }

    fn required_ancestors(&self, start: u32) -> Set<u32> {
        let mut seen = Set::default();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            let causes = self.graph.causes(node).filter_map(|(cause, requires)| requires.then_some(cause));
            open.extend(causes.filter(|cause| seen.insert(*cause)));
        }
        seen
    }

    /// Returns up to `items_max` live events and interventions that name an event as a cause, by id.
    #[must_use]
    pub fn effects(&self, event_id: &EventId, items_max: usize) -> Vec<(EventId, CauseKind)> {
        let Some(node) = self.ids.find(event_id.as_str().as_bytes()) else { return Vec::new() };
        let live = self.graph.effects(node).filter(|(effect, _)| self.graph.is_live(*effect));
        let kind = |requires| if requires { CauseKind::Requires } else { CauseKind::Contributes };
        let mut found: Vec<_> = live.map(|(effect, requires)| (self.id(effect), kind(requires))).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found.truncate(items_max);
        found
    }

    /// Returns whether it may have happened between two moments, both included; `false` if never recorded.
    #[must_use]
    pub fn is_within(&self, event_id: &EventId, first: Instant<Virtual>, last: Instant<Virtual>) -> bool {
        let Some(node) = self.ids.find(event_id.as_str().as_bytes()) else { return false };
        if !self.graph.is_known(node) {
            return self.firings.get(node).is_some_and(|firing| firing.due >= first && firing.due <= last);
        }
        let (time, end, precision) = self.graph.times(node);
        let start = Uncertain::new(time, precision);
        let over = end.map_or(start.max, |end| start.max.max(Uncertain::new(end, precision).max));
        start.min <= last && over >= first
    }

    /// Returns how an effect depends on its cause; `None` if it does not name the cause.
    #[must_use]
    pub fn edge(&self, cause: &EventId, effect: &EventId) -> Option<CauseKind> {
        let [cause, effect] = [cause, effect].map(|id| self.ids.find(id.as_str().as_bytes()));
        let (cause, effect) = (cause?, effect?);
        let (_, requires) = self.graph.causes(effect).find(|(other, _)| *other == cause)?;
        Some(if requires { CauseKind::Requires } else { CauseKind::Contributes })
    }

    /// Returns the number of live events that directly or indirectly require an event, up to `count_max`. Without it
    /// they would be orphaned, or depend on an orphan.
    #[must_use]
    pub fn descendants_count(&self, event_id: &EventId, count_max: usize) -> usize {
        let node = self.ids.find(event_id.as_str().as_bytes());
        node.map_or(0, |node| self.count_descendants(node, count_max))
    }

    /// Returns up to `items_max` live events that directly or indirectly require an event, nearest first.
    #[must_use]
    pub fn descendants(&self, event_id: &EventId, items_max: usize) -> Vec<EventId> {
        let Some(node) = self.ids.find(event_id.as_str().as_bytes()) else { return Vec::new() };
        self.all_descendants(node, items_max).into_iter().map(|node| self.id(node)).collect()
    }

    pub(super) fn count_descendants(&self, node: u32, count_max: usize) -> usize {
        self.all_descendants(node, count_max).len()
    }

    fn all_descendants(&self, start: u32, count_max: usize) -> Vec<u32> {
        let mut seen: Set<u32> = Set::default();
        seen.insert(start);
        let mut found: Vec<u32> = Vec::new();
        let (mut node, mut at) = (start, 0);
        loop {
            for (effect, requires) in self.graph.effects(node) {
                if found.len() >= count_max {
                    return found;
                }
                if requires && self.graph.is_live(effect) && seen.insert(effect) {
                    found.push(effect);
                }
            }
            let Some(next) = found.get(at) else { return found };
            (node, at) = (*next, at + 1);
        }
    }

    /// Returns a shortest path of required causes from an event to one of its effects.
    pub(super) fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let back = nearest_path(to, from, usize::MAX, |node, next| {
            next.extend(self.graph.causes(node).filter_map(|(cause, requires)| requires.then_some(cause)));
            next.sort_unstable();
        });
        let mut path = back.0.unwrap_or_default();
        path.reverse();
        path
    }

    /// Returns whether an event has waited for its cause for longer than the grace period.
    pub(super) fn is_overdue(&self, site: Site) -> bool {
        let Site::Dangling { effect, .. } = site else { return false };
        let since = self.graph.rare(effect).and_then(|rare| rare.waiting_since);
        let waits = self.stream.newest.zip(since).map(|(newest, since)| newest.micros().saturating_sub(since));
        self.settings.grace.zip(waits).is_some_and(|(grace, waits)| waits > grace.micros())
    }
}
