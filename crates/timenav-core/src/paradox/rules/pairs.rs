//! Paradoxes between two events: two places at once (P07), contradictory state (P08), duplicates (P09).
//!
//! For an actor's events with exact times, only neighbors in time are compared: if no two neighbors require more than
//! the allowed speed, no other two do. Events with a duration, an uncertain time or a radius are compared with all
//! events that are near enough in time.

use std::collections::BTreeSet;

use hashbrown::HashTable;

use crate::paradox::graph::Graph;
use crate::paradox::groups::{Entry, Groups};
use crate::paradox::kinds::Grade;
use crate::paradox::rules::places::{Extents, Place, Places, at_most_apart_m};
use crate::paradox::rules::uncertain::graded;
use crate::paradox::settings::{PARTNERS_PER_EVENT_MAX, Settings};
use crate::paradox::site::{Found, Site, pair};

/// Indexes for finding the partners of an event.
#[derive(Debug, Default)]
pub(in crate::paradox) struct Pairs {
    actors: Groups,
    extents: Extents,
    things: Groups,
    contents: HashTable<u32>,
    whos: BTreeSet<(u64, i64, u32)>,
}

#[derive(Clone, Copy)]
pub(in crate::paradox) struct Facts<'a> {
    pub(in crate::paradox) graph: &'a Graph,
    pub(in crate::paradox) places: &'a Places,
    pub(in crate::paradox) settings: &'a Settings,
}

impl Facts<'_> {
    /// Returns how certain it is that one actor cannot have been at both events.
    pub(in crate::paradox) fn apart(self, one: u32, other: u32) -> Option<Grade> {
        let place_of = |event| self.places.place(self.graph.place(event));
        let (stretch, other_stretch) = (self.graph.stretch(one), self.graph.stretch(other));
        match (place_of(one), place_of(other)) {
            (Place::At { point, radius_m }, Place::At { point: other_point, radius_m: other_radius_m }) => {
                let (shortest, longest) = stretch.gap_micros(other_stretch);
                let radii_m = radius_m + other_radius_m;
                let [least_m, most_m] = [shortest, longest].map(|micros| metres(self.settings.speed(), micros));
                if at_most_apart_m(point, other_point) - radii_m <= least_m {
                    return None;
                }
                let apart_m = point.distance_m(other_point) - radii_m;
                graded(apart_m > most_m, apart_m > least_m)
            }
            (Place::Named(name), Place::Named(other_name)) if name != other_name => {
                stretch.meets(other_stretch).map(|_| Grade::Possible)
            }
            _ => None,
        }
    }

    /// Returns whether only the neighbors of an event have to be compared.
    fn is_sharp(self, event: u32) -> bool {
        let is_point =
            matches!(self.places.place(self.graph.place(event)), Place::At { radius_m, .. } if radius_m <= 0.0);
        is_point && self.graph.stretch(event).is_sharp()
    }

    fn value_of(self, event: u32, thing: u32) -> Option<u32> {
        self.graph.asserts(event).find(|[other, _]| *other == thing).map(|[_, value]| value)
    }

    /// Returns whether two events with the same actors, kind and name may be duplicates.
    fn is_near(self, one: u32, other: u32) -> bool {
        let (start, other_start) = (self.graph.start(one), self.graph.start(other));
        let within = |one: i64, other: i64| one.abs_diff(other) <= self.settings.duplicate_time.micros().unsigned_abs();
        let is_then = within(start.min.micros(), other_start.min.micros())
            && within(start.max.micros(), other_start.max.micros());
        let place_of = |event| self.places.place(self.graph.place(event));
        is_then
            && match (place_of(one), place_of(other)) {
                (Place::At { point, .. }, Place::At { point: other_point, .. }) => {
                    point.distance_m(other_point) <= self.settings.duplicate_metres
                }
                (Place::Named(name), Place::Named(other_name)) => name == other_name,
                _ => false,
            }
    }
}

#[expect(clippy::cast_precision_loss, reason = "instants in microseconds have 60 bits, but a distance has at most 53")]
pub(in crate::paradox) fn metres(speed: f64, micros: i64) -> f64 {
    speed * micros as f64
}

/// Returns the time that a distance takes, rounded up.
#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates")]
fn micros(speed: f64, metres: f64) -> i64 {
    (metres / speed).ceil() as i64
}

impl Pairs {
    pub(in crate::paradox) fn insert(&mut self, facts: Facts<'_>, found: &mut Found, event: u32) {
        let graph = facts.graph;
        for entry in self.actor_entries(facts, event) {
            self.actors.insert(entry);
            self.bridge(facts, found, entry, false);
        }
        graph.asserts(event).for_each(|[thing, _]| self.things.insert(Groups::entry(graph, thing, event, false)));
        self.contents.insert_unique(graph.content(event), event, |&event| graph.content(event));
        self.whos.extend(who(graph, event));
    }

    pub(in crate::paradox) fn remove(&mut self, facts: Facts<'_>, found: &mut Found, event: u32) {
        let graph = facts.graph;
        for entry in self.actor_entries(facts, event) {
            self.bridge(facts, found, entry, true);
            self.actors.remove(entry);
        }
        graph.asserts(event).for_each(|[thing, _]| self.things.remove(Groups::entry(graph, thing, event, false)));
        if let Ok(entry) = self.contents.find_entry(graph.content(event), |&other| other == event) {
            entry.remove();
        }
        if let Some(entry) = who(graph, event) {
            self.whos.remove(&entry);
        }
    }

    fn actor_entries(&mut self, facts: Facts<'_>, event: u32) -> Vec<Entry> {
        let place = facts.places.place(facts.graph.place(event));
        if place == Place::Unknown {
            return Vec::new();
        }
        let is_sharp = facts.is_sharp(event);
        let mut entries = Vec::with_capacity(facts.graph.actors(event).len());
        for &actor in facts.graph.actors(event) {
            if let Place::At { point, .. } = place {
                self.extents.add(actor, point);
            }
            entries.push(Groups::entry(facts.graph, actor, event, is_sharp));
        }
        entries
    }

    /// Updates the pair of an event's neighbors, which are compared with each other only without it.
    fn bridge(&self, facts: Facts<'_>, found: &mut Found, (key, start, event): Entry, is_missing: bool) {
        if !is_sharp_key(key) {
            return;
        }
        let [Some(before), Some(after)] = self.actors.neighbors((key, start, event)) else { return };
        let Some(grade) = facts.apart(before.min(after), before.max(after)) else { return };
        found.toggle(Site::Apart { actor: actor_of(key), pair: pair(before, after), grade }, is_missing);
    }

    /// Adds all pairs of an event, with up to `partners_max` partners in each group.
    pub(in crate::paradox) fn sites_of(
        &self,
        facts: Facts<'_>,
        event: u32,
        partners_max: usize,
        sites: &mut Vec<Site>,
    ) {
        let place = facts.places.place(facts.graph.place(event));
        if place != Place::Unknown {
            let is_sharp = facts.is_sharp(event);
            for &actor in facts.graph.actors(event) {
                self.apart_sites(facts, (actor, event, is_sharp), partners_max, sites);
            }
        }
        for [thing, value] in facts.graph.asserts(event) {
            self.contradictions(facts, event, [thing, value], partners_max, sites);
        }
        self.duplicates(facts, event, partners_max, sites);
    }

    fn apart_sites(
        &self,
        facts: Facts<'_>,
        (actor, event, is_sharp): (u32, u32, bool),
        partners_max: usize,
        sites: &mut Vec<Site>,
    ) {
        let stretch = facts.graph.stretch(event);
        let is_point = matches!(facts.places.place(facts.graph.place(event)), Place::At { .. });
        let reach = if is_point { micros(facts.settings.speed(), self.extents.metres(actor)) } else { 0 };
        let (from, to) = (stretch.start.min.micros().saturating_sub(reach), stretch.over_max().saturating_add(reach));
        let neighbors =
            if is_sharp { self.actors.neighbors(Groups::entry(facts.graph, actor, event, true)) } else { [None; 2] };
        let around = self.actors.around(actor, from, to, is_point && !is_sharp);
        let apart = |other: u32| {
            // The result must not depend on the order: distances differ in the last digit.
            let grade = facts.apart(event.min(other), event.max(other))?;
            Some(Site::Apart { actor, pair: pair(event, other), grade })
        };
        let others = neighbors.into_iter().flatten().chain(around.filter(|other| *other != event));
        sites.extend(others.filter_map(apart).take(partners_max));
    }

    fn contradictions(
        &self,
        facts: Facts<'_>,
        event: u32,
        [thing, value]: [u32; 2],
        partners_max: usize,
        sites: &mut Vec<Site>,
    ) {
        let stretch = facts.graph.stretch(event);
        let around = self.things.around(thing, stretch.start.min.micros(), stretch.over_max(), true);
        let contradicts = |other: u32| {
            facts.value_of(other, thing).filter(|other| *other != value)?;
            let grade = stretch.meets(facts.graph.stretch(other))?;
            Some(Site::Contradiction { thing, pair: pair(event, other), grade })
        };
        sites.extend(around.filter(|other| *other != event).filter_map(contradicts).take(partners_max));
    }

    fn duplicates(&self, facts: Facts<'_>, event: u32, partners_max: usize, sites: &mut Vec<Site>) {
        let graph = facts.graph;
        let content = graph.content(event);
        let duplicate = |other: u32, grade| Site::Duplicate { pair: pair(event, other), grade };
        let exact = self.contents.iter_hash(content).copied();
        let exact = exact.filter(|&other| other != event && graph.content(other) == content);
        sites.extend(exact.take(partners_max).map(|other| duplicate(other, Grade::Exact)));
        let Some((who, start, _)) = who(graph, event) else { return };
        let by = facts.settings.duplicate_time.micros();
        let near = self.whos.range((who, start.saturating_sub(by), 0)..=(who, start.saturating_add(by), u32::MAX));
        let near = near.map(|(.., other)| *other).filter(|&other| other != event && graph.content(other) != content);
        let probable = near.filter(|&other| facts.is_near(event.min(other), event.max(other)));
        sites.extend(probable.take(partners_max).map(|other| duplicate(other, Grade::Probable)));
    }

    /// Fills the indexes with all live events, and finds all pairs.
    pub(in crate::paradox) fn build(&mut self, facts: Facts<'_>, found: &mut Found) {
        *self = Self::default();
        let graph = facts.graph;
        let is_event = |node: &u32| graph.is_live(*node) && !graph.is_intervention(*node);
        let (mut actors, mut things, mut whos) = (Vec::new(), Vec::new(), Vec::new());
        self.contents.reserve(graph.count() as usize, |&event| graph.content(event));
        let mut sites = Vec::new();
        for event in (0..graph.count()).filter(is_event) {
            actors.extend(self.actor_entries(facts, event));
            things.extend(graph.asserts(event).map(|[thing, _]| Groups::entry(graph, thing, event, false)));
            whos.extend(who(graph, event));
            let content = graph.content(event);
            let is_equal = |other: &u32| graph.content(*other) == content;
            if self.contents.find(content, is_equal).is_some() {
                let equal = self.contents.iter_hash(content).copied().filter(is_equal);
                let duplicate = |other: u32| Site::Duplicate { pair: pair(event, other), grade: Grade::Exact };
                sites.extend(equal.take(PARTNERS_PER_EVENT_MAX).map(duplicate));
            }
            self.contents.insert_unique(content, event, |&event| graph.content(event));
        }
        actors.sort_unstable();
        things.sort_unstable();
        whos.sort_unstable();
        self.sharp_neighbors(facts, &actors, &mut sites);
        let wide: Vec<Entry> = actors.iter().copied().filter(|(key, ..)| !is_sharp_key(*key)).collect();
        let things_count = things.len();
        self.actors.fill(actors);
        self.things.fill(things);
        self.whos = whos.into_iter().collect();
        for (key, _, event) in wide {
            self.apart_sites(facts, (actor_of(key), event, false), PARTNERS_PER_EVENT_MAX, &mut sites);
        }
        if things_count > 0 {
            for event in (0..graph.count()).filter(is_event) {
                for [thing, value] in graph.asserts(event) {
                    self.contradictions(facts, event, [thing, value], PARTNERS_PER_EVENT_MAX, &mut sites);
                }
            }
        }
        self.probable_duplicates(facts, &mut sites);
        found.toggle_all(&sites, true);
    }

    #[expect(clippy::unused_self, reason = "one of the passes of `build`")]
    fn sharp_neighbors(&self, facts: Facts<'_>, sorted: &[Entry], sites: &mut Vec<Site>) {
        for pairs in sorted.windows(2) {
            let [(key, _, one), (other_key, _, other)] = *pairs else { continue };
            if key == other_key && is_sharp_key(key) {
                let grade = facts.apart(one.min(other), one.max(other));
                sites.extend(grade.map(|grade| Site::Apart { actor: actor_of(key), pair: pair(one, other), grade }));
            }
        }
    }

    fn probable_duplicates(&self, facts: Facts<'_>, sites: &mut Vec<Site>) {
        let by = facts.settings.duplicate_time.micros();
        let mut window: std::collections::VecDeque<(u64, i64, u32)> = std::collections::VecDeque::new();
        for &(who, start, event) in &self.whos {
            while window.front().is_some_and(|(first, at, _)| *first != who || at.saturating_add(by) < start) {
                window.pop_front();
            }
            let is_other = |other: &u32| facts.graph.content(*other) != facts.graph.content(event);
            let near = window.iter().map(|(.., other)| *other).filter(is_other);
            let near = near.filter(|&other| facts.is_near(event.min(other), event.max(other)));
            let site = |other: u32| Site::Duplicate { pair: pair(event, other), grade: Grade::Probable };
            sites.extend(near.take(PARTNERS_PER_EVENT_MAX).map(site));
            window.push_back((who, start, event));
        }
    }
}

fn who(graph: &Graph, event: u32) -> Option<(u64, i64, u32)> {
    let who = graph.rare(event)?.who?;
    Some((who, graph.start_min(event), event))
}

fn is_sharp_key(key: u64) -> bool {
    key & 0xff == u64::from(crate::paradox::groups::SHARP)
}

fn actor_of(key: u64) -> u32 {
    u32::try_from(key >> 8).unwrap_or(u32::MAX)
}
