//! The definitions implemented naively, over every pair and path without an index, as a reference for the view.

use std::collections::{BTreeMap, BTreeSet};

use super::story::Fact;
use crate::event::{CauseKind, EventDraft, EventKind};
use crate::paradox::{Grade, Settings, Stretch, Uncertain, VersionOrigin, is_inverted};
use crate::time::{Instant, Virtual};

/// One paradox: code, grade, ids (sorted if they are a pair) and other distinguishing parts.
pub(super) type Found = (&'static str, &'static str, Vec<String>);

struct Event {
    draft: EventDraft,
    is_live: bool,
    clock_at: Instant<Virtual>,
    is_unlinked: bool,
}

#[derive(Default)]
pub(super) struct Oracle {
    events: BTreeMap<String, Event>,
    interventions: BTreeMap<String, (EventDraft, String, bool)>,
    anchors: Vec<(String, Instant<Virtual>, BTreeMap<String, EventDraft>)>,
    arrivals: Vec<(String, EventDraft)>,
    settings: Settings,
}

impl Oracle {
    pub(super) fn new(settings: Settings, log: &[Fact]) -> Self {
        let mut oracle = Self { settings, ..Self::default() };
        for log in log {
            oracle.append(log);
        }
        oracle
    }

    fn append(&mut self, entry: &Fact) {
        match entry {
            Fact::Version { id, stamp, draft, origin } => {
                let id = id.as_str().to_owned();
                let before = self.events.get(&id);
                let was_live = before.is_some_and(|event| event.is_live);
                let follows = before.is_some() != (*origin == VersionOrigin::Recorded);
                let is_unlinked = !follows || before.is_some_and(|event| event.is_unlinked);
                if !was_live || *origin == VersionOrigin::Restored {
                    for (_, on, negates) in self.interventions.values_mut() {
                        *negates &= *on != id;
                    }
                }
                if *origin == VersionOrigin::Recorded {
                    self.arrivals.push((id.clone(), draft.clone()));
                }
                let draft = EventDraft { event_id: None, ..draft.clone() };
                self.events.insert(id, Event { draft, is_live: true, clock_at: stamp.clock_at, is_unlinked });
            }
            Fact::Cancelled { id, .. } => {
                self.events.get_mut(id.as_str()).into_iter().for_each(|event| event.is_live = false);
            }
            Fact::Intervention { id, time, on, negates, causes, .. } => {
                let draft = EventDraft { causes: causes.clone(), ..EventDraft::at(*time, "") };
                self.interventions.insert(id.as_str().to_owned(), (draft, on.as_str().to_owned(), *negates));
            }
            Fact::Anchor { id, timestamp, is_fixed, .. } if *is_fixed => {
                let live = self.events.iter().filter(|(_, event)| event.is_live);
                let drafts = live.map(|(id, event)| (id.clone(), event.draft.clone())).collect();
                self.anchors.push((id.as_str().to_owned(), *timestamp, drafts));
            }
            Fact::Anchor { .. } | Fact::Clock { .. } | Fact::Timers(_) => {}
        }
    }

    /// Every recorded node: its draft, and whether it is live.
    fn nodes(&self) -> BTreeMap<&str, (&EventDraft, bool)> {
        let events = self.events.iter().map(|(id, event)| (id.as_str(), (&event.draft, event.is_live)));
        let interventions = self.interventions.iter().map(|(id, (draft, ..))| (id.as_str(), (draft, true)));
        events.chain(interventions).collect()
    }

    /// Every edge, cause first.
    fn edges(&self) -> Vec<(&str, CauseKind, &str)> {
        let nodes = self.nodes().into_iter();
        nodes.flat_map(|(id, (draft, _))| draft.causes.iter().map(move |c| (c.event_id.as_str(), c.kind, id))).collect()
    }

    fn live(&self) -> Vec<(&str, &Event)> {
        self.events.iter().filter(|(_, event)| event.is_live).map(|(id, event)| (id.as_str(), event)).collect()
    }

    /// Whether a path of at least one edge exists.
    fn leads(edges: &[(&str, &str)], from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for (_, effect) in edges.iter().filter(|(cause, _)| *cause == node) {
                if *effect == to {
                    return true;
                }
                if seen.insert(*effect) {
                    open.push(effect);
                }
            }
        }
        false
    }

    pub(super) fn all(&self) -> BTreeSet<Found> {
        let mut found = BTreeSet::new();
        self.by_edge(&mut found);
        self.circles(&mut found);
        self.grandfathers(&mut found);
        self.by_pair(&mut found);
        self.by_event(&mut found);
        self.late(&mut found);
        self.numbers(&mut found);
        found
    }

    fn by_edge(&self, found: &mut BTreeSet<Found>) {
        let nodes = self.nodes();
        for (cause, kind, effect) in self.edges() {
            let (effect_draft, effect_lives) = nodes[effect];
            let ids = vec![cause.to_owned(), effect.to_owned()];
            match nodes.get(cause) {
                _ if !effect_lives => {}
                None => _ = found.insert(("P06", "definite", ids)),
                Some((_, false)) if kind == CauseKind::Requires => _ = found.insert(("P05", "definite", ids)),
                Some((_, false)) => {}
                Some((cause_draft, true)) => {
                    let tolerance = self.settings.tolerance.micros();
                    let grade = start(effect_draft).before(start(cause_draft), tolerance);
                    if let Some(grade) = grade.filter(|_| cause != effect) {
                        found.insert(("P01", grade.as_str(), ids));
                    }
                }
            }
        }
    }

    fn circles(&self, found: &mut BTreeSet<Found>) {
        let nodes = self.nodes();
        let lives = |id: &str| nodes.get(id).is_some_and(|(_, is_live)| *is_live);
        let edges: Vec<(&str, &str)> = self.edges().into_iter().map(|(cause, _, effect)| (cause, effect)).collect();
        let edges: Vec<(&str, &str)> =
            edges.into_iter().filter(|(cause, effect)| lives(cause) && lives(effect)).collect();
        for node in nodes.keys().filter(|node| Self::leads(&edges, node, node)) {
            let is_member =
                |other: &str| other == *node || (Self::leads(&edges, node, other) && Self::leads(&edges, other, node));
            let members: Vec<String> = nodes.keys().filter(|id| is_member(id)).map(|id| (*id).to_owned()).collect();
            let enters = edges.iter().any(|(cause, effect)| is_member(effect) && !is_member(cause));
            if !enters && members.len() > 1 {
                found.insert(("P03", "definite", members.clone()));
            }
            found.insert(("P02", "definite", members));
        }
    }

    fn grandfathers(&self, found: &mut BTreeSet<Found>) {
        let requires = |(cause, kind, effect)| (kind == CauseKind::Requires).then_some((cause, effect));
        let edges: Vec<(&str, &str)> = self.edges().into_iter().filter_map(requires).collect();
        for (id, (_, on, negates)) in &self.interventions {
            if *negates && Self::leads(&edges, on, id) {
                found.insert(("P04", "definite", vec![on.clone(), id.clone()]));
            }
        }
    }

    fn by_pair(&self, found: &mut BTreeSet<Found>) {
        let live = self.live();
        for (at, (one, event)) in live.iter().enumerate() {
            for (other, other_event) in &live[at + 1..] {
                let ids = vec![(*one).to_owned(), (*other).to_owned()];
                let (draft, other_draft) = (&event.draft, &other_event.draft);
                for (grade, more) in
                    self.apart(draft, other_draft).into_iter().chain(contradictions(draft, other_draft))
                {
                    let code = if more.len() == 1 { "P07" } else { "P08" };
                    found.insert((code, grade.as_str(), [ids.clone(), more].concat()));
                }
                if let Some(grade) = self.duplicate(draft, other_draft) {
                    found.insert(("P09", grade, ids));
                }
            }
        }
    }

    fn apart(&self, one: &EventDraft, other: &EventDraft) -> Vec<(Grade, Vec<String>)> {
        let (stretch, other_stretch) = (stretch(one), stretch(other));
        let (shortest, longest) = stretch.gap_micros(other_stretch);
        let grade = match (one.geo, other.geo, &one.location, &other.location) {
            (Some(geo), Some(other_geo), ..) => {
                let metres = geo.point.distance_m(other_geo.point)
                    - geo.radius_m.unwrap_or(0.0)
                    - other_geo.radius_m.unwrap_or(0.0);
                let allowed =
                    |micros: i64| crate::paradox::rules::pairs::metres(self.settings.speed_kmh / 3.6e6, micros);
                match (metres > allowed(longest), metres > allowed(shortest)) {
                    (true, _) => Some(Grade::Definite),
                    (_, true) => Some(Grade::Possible),
                    _ => None,
                }
            }
            (None, None, Some(name), Some(other_name)) if name != other_name => {
                stretch.meets(other_stretch).map(|_| Grade::Possible)
            }
            _ => None,
        };
        let shared: BTreeSet<&String> = one.actors.iter().filter(|actor| other.actors.contains(actor)).collect();
        grade.into_iter().flat_map(|grade| shared.iter().map(move |&actor| (grade, vec![actor.clone()]))).collect()
    }

    fn duplicate(&self, one: &EventDraft, other: &EventDraft) -> Option<&'static str> {
        // The default kind is an observation.
        let bare = |draft: &EventDraft| {
            let kind = Some(draft.kind.unwrap_or_default());
            EventDraft { source: None, sequence: None, kind, ..draft.clone() }
        };
        if bare(one) == bare(other) {
            return Some("exact");
        }
        let actors = |draft: &EventDraft| draft.actors.iter().cloned().collect::<BTreeSet<String>>();
        let is_same = actors(one) == actors(other)
            && one.kind.unwrap_or_default() == other.kind.unwrap_or_default()
            && one.name == other.name
            && (!one.actors.is_empty() || one.name.is_some());
        let by = self.settings.duplicate_time.micros();
        let near = |one: Instant<Virtual>, other: Instant<Virtual>| one.since(other).micros().abs() <= by;
        let is_then = near(start(one).min, start(other).min) && near(start(one).max, start(other).max);
        let is_there = match (one.geo, other.geo) {
            (Some(geo), Some(other)) => geo.point.distance_m(other.point) <= self.settings.duplicate_metres,
            (None, None) => one.location.is_some() && one.location == other.location,
            _ => false,
        };
        (is_same && is_then && is_there).then_some("probable")
    }

    fn by_event(&self, found: &mut BTreeSet<Found>) {
        for (id, event) in &self.events {
            let (draft, ids) = (&event.draft, vec![id.clone()]);
            if event.is_unlinked {
                found.insert(("P15", "definite", vec![id.clone(), "P15".to_owned()]));
            }
            if event.is_live && is_inverted(draft.time, draft.end_time, draft.precision) {
                found.insert(("P15", "definite", ids.clone()));
            }
            let is_observed = draft.kind.unwrap_or_default() == EventKind::Observed;
            let ahead = start(draft).min.since(event.clock_at).micros() > self.settings.tolerance.micros();
            if event.is_live && is_observed && ahead {
                found.insert(("P10", "definite", ids));
            }
            for (anchor, timestamp, drafts) in &self.anchors {
                let Some(then) = drafts.get(id).filter(|then| !event.is_live || *then != draft) else { continue };
                let ids = vec![id.clone(), anchor.clone()];
                if start(then).max <= *timestamp {
                    found.insert(("P13", "definite", ids));
                } else if start(then).min <= *timestamp {
                    found.insert(("P13", "possible", ids));
                }
            }
        }
    }

    fn late(&self, found: &mut BTreeSet<Found>) {
        for (at, (id, draft)) in self.arrivals.iter().enumerate() {
            let before = self.arrivals[..at].iter().filter(|(_, other)| other.source == draft.source);
            // The first among the latest.
            let latest = before.rev().max_by_key(|(_, other)| start(other).min);
            if let Some((previous, other)) = latest {
                let lateness = start(other).min.since(start(draft).max).micros();
                if lateness > self.settings.lateness_max.micros() {
                    found.insert(("P11", "definite", vec![previous.clone(), id.clone()]));
                }
            }
        }
    }

    fn numbers(&self, found: &mut BTreeSet<Found>) {
        let mut by_source: BTreeMap<Option<&str>, BTreeMap<u64, usize>> = BTreeMap::new();
        for event in self.events.values() {
            if let Some(sequence) = event.draft.sequence {
                *by_source.entry(event.draft.source.as_deref()).or_default().entry(sequence).or_default() += 1;
            }
        }
        for (source, numbers) in by_source {
            let source = source.unwrap_or_default().to_owned();
            let after = numbers.keys().skip(1);
            for (one, other) in numbers.keys().zip(after).filter(|(one, other)| *one + 1 < **other) {
                let missing = vec![(one + 1).to_string(), (other - 1).to_string(), source.clone()];
                found.insert(("P14", "definite", missing));
            }
            for (number, count) in numbers.iter().filter(|(_, count)| **count > 1) {
                found.insert(("P14", "definite", vec![format!("{count} of {number}"), source.clone()]));
            }
        }
    }
}

pub(super) fn start(draft: &EventDraft) -> Uncertain {
    Uncertain::new(draft.time, draft.precision)
}

pub(super) fn stretch(draft: &EventDraft) -> Stretch {
    Stretch::new(draft.time, draft.end_time, draft.precision)
}

fn contradictions(one: &EventDraft, other: &EventDraft) -> Vec<(Grade, Vec<String>)> {
    let Some(grade) = stretch(one).meets(stretch(other)) else { return Vec::new() };
    let mut found = Vec::new();
    for says in &one.asserts {
        let same = |more: &&crate::event::Assertion| more.subject == says.subject && more.predicate == says.predicate;
        if other.asserts.iter().find(same).is_some_and(|more| more.value != says.value) {
            found.push((grade, vec![says.subject.clone(), says.predicate.clone()]));
        }
    }
    found
}
