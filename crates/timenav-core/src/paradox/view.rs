use super::cycles::{Cycles, Sides, reaches};
use super::graph::{Graph, Rare, Row};
use super::names::Names;
use super::record::{Cancelled, Intervention, Record, Stamp, Version, VersionOrigin};
use super::settings::{PARTNERS_PER_EVENT_MAX, Settings};
use super::site::{Found, Map, NONE, Site};
use crate::event::{Cause, CauseKind, EventDraft, EventKind};
use crate::ids::EventId;
use crate::paradox::content;
use crate::paradox::rules::anchors::{Anchor, Anchors};
use crate::paradox::rules::firings::Firings;
use crate::paradox::rules::negation::Negation;
use crate::paradox::rules::pairs::{Facts, Pairs};
use crate::paradox::rules::places::Places;
use crate::paradox::rules::sequences::Sequences;
use crate::paradox::rules::stream::{Jump, Stream, Watermarks};
use crate::paradox::rules::uncertain;
use crate::paradox::rules::undo::Undo;
use crate::time::{Instant, Virtual};

/// The state of one timeline after some of its records, and all paradoxes in it.
///
/// It is built from all records at once ([`View::build`]) or record by record ([`View::apply`]), with the same result.
/// Records come in ledger order.
#[derive(Debug, Default)]
pub struct View {
    pub(super) settings: Settings,
    pub(super) ids: Names,
    pub(super) actors: Names,
    pub(super) things: Names,
    pub(super) values: Names,
    pub(super) sources: Names,
    pub(super) places: Places,
    pub(super) graph: Graph,
    pub(super) cycles: Cycles,
    pub(super) pairs: Pairs,
    pub(super) sequences: Sequences,
    pub(super) anchors: Anchors,
    pub(super) firings: Firings,
    pub(super) negations: Map<u32, Negation>,
    pub(super) negated: Map<u32, Vec<u32>>,
    pub(super) stream: Stream,
    pub(super) watermarks: Watermarks,
    pub(super) jumps: Vec<Jump>,
    pub(super) found: Found,
    /// While the view is built from all records, the search for pairs and cycles is deferred to the end.
    pub(super) is_building: bool,
    /// Steps to undo the last records, if that is needed.
    pub(super) undo: Vec<Undo>,
}

impl View {
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    pub(super) fn enter(&mut self, record: &Record<'_>) {
        match record {
            Record::Version(version) => self.version(version),
            Record::Cancelled(cancelled) => self.cancelled(cancelled),
            Record::Intervention(intervention) => self.intervention(intervention),
            Record::AnchorSet(anchor) => {
                let (position, timestamp) = (anchor.position, anchor.timestamp);
                self.firings.anchor_set(anchor.anchor_id, position);
                if anchor.is_fixed {
                    self.anchors.push(Anchor { id: anchor.anchor_id.clone(), position, timestamp });
                    self.note(|_| Undo::Anchor);
                }
            }
            Record::Timers(record) => self.of_timers(record),
            Record::ClockMoved { position, moved } => {
                self.note(|view| Undo::Stream(Box::new(view.stream.clone())));
                let jumps = self.stream.moved(*position, moved, self.settings.tolerance);
                self.jumped(jumps);
            }
            Record::Other(stamp) => self.stamp(*stamp),
        }
    }

    pub(super) fn note(&mut self, undo: impl FnOnce(&Self) -> Undo) {
        if !self.is_building {
            let undo = undo(self);
            self.undo.push(undo);
        }
    }

    fn stamp(&mut self, stamp: Stamp) {
        self.note(|view| Undo::Stream(Box::new(view.stream.clone())));
        let jumps = self.stream.record(stamp, self.settings.tolerance);
        self.jumped(jumps);
    }

    fn jumped(&mut self, jumps: Vec<Jump>) {
        for jump in jumps {
            let (number, grade) = (u32::try_from(self.jumps.len()).unwrap_or(NONE), jump.grade());
            self.jumps.push(jump);
            self.note(|_| Undo::Jump);
            self.found.toggle(Site::Jump { number, grade }, true);
        }
    }

    fn version(&mut self, version: &Version<'_>) {
        let Version { event_id, stamp, draft, origin } = version;
        self.stamp(*stamp);
        let event = self.node(event_id);
        let row = self.row(event, version);
        // An event recorded again after a return removed it has arrived before.
        if *origin == VersionOrigin::Recorded && !self.graph.is_known(event) {
            self.arrived(event, row.source, draft);
        }
        if *origin == VersionOrigin::Restored || !self.graph.is_live(event) {
            self.restore(event);
        }
        self.replace(event, row, stamp.position);
    }

    fn arrived(&mut self, event: u32, source: u32, draft: &EventDraft) {
        let start = uncertain::Uncertain::new(draft.time, draft.precision);
        let (before, late) = self.watermarks.record((source, event), start, self.settings.lateness_max);
        self.note(|_| Undo::Watermark { source, before, late });
        if let Some(late) = late {
            self.found.toggle(late, true);
        }
    }

    /// Returns the state of an event after this version becomes current.
    fn row(&mut self, event: u32, version: &Version<'_>) -> Row {
        let Version { stamp, draft, origin, .. } = version;
        let causes = self.causes(&draft.causes);
        let is_waiting =
            causes.iter().any(|(cause, _)| !self.graph.is_known(*cause) && self.firings.get(*cause).is_none());
        let is_future = draft.kind.unwrap_or_default() == EventKind::Observed
            && stamp.clock_at.micros().saturating_add(self.settings.tolerance.micros())
                < uncertain::Uncertain::new(draft.time, draft.precision).min.micros();
        let is_known = self.graph.is_known(event);
        // An event is recorded if it does not exist, or not anymore. All other changes require that it was recorded.
        let may_be_recorded = !is_known || !self.graph.is_live(event);
        let comes_next = if *origin == VersionOrigin::Recorded { may_be_recorded } else { is_known };
        let follows = comes_next && self.graph.position(event) <= stamp.position;
        let assertion = |view: &mut Self, assertion: &crate::event::Assertion| {
            let subject_bytes = u32::try_from(assertion.subject.len()).unwrap_or(NONE).to_le_bytes();
            let thing = [&subject_bytes, assertion.subject.as_bytes(), assertion.predicate.as_bytes()].concat();
            [view.things.number(&thing), view.values.number(assertion.value.as_bytes())]
        };
        Row {
            is_known: true,
            is_live: true,
            is_intervention: false,
            is_unlinked: self.graph.is_unlinked(event) || !follows,
            time: draft.time,
            end: draft.end_time,
            precision: draft.precision,
            position: stamp.position,
            content: content::content_of(draft),
            place: self.places.number(draft),
            source: draft.source.as_ref().map_or(NONE, |source| self.sources.number(source.as_bytes())),
            causes,
            actors: draft.actors.iter().map(|actor| self.actors.number(actor.as_bytes())).collect(),
            asserts: draft.asserts.iter().map(|given| assertion(self, given)).collect(),
            rare: Rare {
                who: content::who_of(draft),
                sequence: draft.sequence,
                future: is_future.then_some(stamp.clock_at),
                waiting_since: is_waiting.then_some(stamp.recorded_at.micros()),
                cancelled: None,
            },
        }
    }

    fn node(&mut self, id: &EventId) -> u32 {
        let node = self.ids.number(id.as_str().as_bytes());
        self.graph.grow(self.ids.count());
        node
    }

    /// Returns the causes by number, without duplicates.
    fn causes(&mut self, causes: &[Cause]) -> Vec<(u32, bool)> {
        let mut numbered: Vec<(u32, bool)> = Vec::with_capacity(causes.len());
        for cause in causes {
            let (number, requires) = (self.node(&cause.event_id), cause.kind == CauseKind::Requires);
            match numbered.iter_mut().find(|(other, _)| *other == number) {
                Some((_, known)) => *known |= requires,
                None => numbered.push((number, requires)),
            }
        }
        numbered
    }

    fn cancelled(&mut self, cancelled: &Cancelled<'_>) {
        let Cancelled { event_id, stamp, intervention_id } = cancelled;
        self.stamp(*stamp);
        let event = self.node(event_id);
        if !self.graph.is_live(event) {
            return;
        }
        let by = intervention_id.map_or(NONE, |id| self.node(id));
        let mut row = self.graph.read(event);
        row.is_live = false;
        row.rare.cancelled = Some((stamp.position, by));
        self.replace(event, row, stamp.position);
    }

    fn intervention(&mut self, given: &Intervention<'_>) {
        self.stamp(given.stamp);
        let node = self.node(given.intervention_id);
        let event = self.node(given.event_id);
        let row = Row {
            is_known: true,
            is_live: true,
            is_intervention: true,
            time: given.time,
            position: given.stamp.position,
            causes: self.causes(given.causes),
            ..Row::unknown()
        };
        self.replace(node, row, given.stamp.position);
        if given.negates {
            self.note(|view| Undo::Negation { node, before: view.negations.get(&node).copied() });
            self.negations.insert(node, Negation { event, is_active: true });
            self.negated.entry(event).or_default().push(node);
            self.look_for_grandfather(node);
        }
    }

    /// Deactivates all interventions that remove an event.
    fn restore(&mut self, event: u32) {
        let Some(nodes) = self.negated.get(&event).cloned() else { return };
        for node in nodes {
            let Some(negation) = self.negations.get(&node).copied().filter(|negation| negation.is_active) else {
                continue;
            };
            self.note(|_| Undo::Negation { node, before: Some(negation) });
            self.negations.insert(node, Negation { is_active: false, ..negation });
            self.found.toggle(Site::Grandfather { intervention: node, event }, false);
        }
    }

    pub(super) fn look_for_grandfather(&mut self, intervention: u32) {
        let Some(Negation { event, is_active }) = self.negations.get(&intervention).copied() else { return };
        let requires = |(node, requires): (u32, bool)| requires.then_some(node);
        let is_caused = is_active
            && !self.is_building
            && reaches(
                event,
                intervention,
                |node, next| next.extend(self.graph.effects(node).filter_map(requires)),
                |node, next| next.extend(self.graph.causes(node).filter_map(requires)),
            );
        if !self.is_building {
            self.found.toggle(Site::Grandfather { intervention, event }, is_caused);
        }
    }

    /// Checks all interventions caused by an event again.
    fn look_for_grandfathers(&mut self, event: u32) {
        if self.negations.is_empty() {
            return;
        }
        let mut seen = super::site::Set::default();
        seen.insert(event);
        let mut open = vec![event];
        while let Some(node) = open.pop() {
            if self.negations.contains_key(&node) {
                self.look_for_grandfather(node);
            }
            let next = self.graph.effects(node).filter_map(|(next, requires)| requires.then_some(next));
            open.extend(next.filter(|next| seen.insert(*next)));
        }
    }

    /// Replaces the state of a node, and updates its paradoxes.
    pub(super) fn replace(&mut self, node: u32, row: Row, position: u64) {
        let pins = self.anchors.pin(&self.graph, node, position);
        if self.is_building {
            self.graph.write(node, row);
            return;
        }
        self.note(|view| Undo::Row { node, row: Box::new(view.graph.read(node)), pins });
        self.put(node, row);
    }

    pub(super) fn put(&mut self, node: u32, row: Row) {
        self.toggle_all(node, usize::MAX, false);
        self.index(node, false);
        let (was_live, is_live) = (self.graph.is_live(node), row.is_live);
        let causes_changed = !self.graph.causes(node).eq(row.causes.iter().copied());
        let sides = match (was_live != is_live, is_live && causes_changed) {
            (true, _) => Some(Sides::Both),
            (false, true) => Some(Sides::Causes),
            (false, false) => None,
        };
        let cut = sides.filter(|_| was_live);
        let dissolved = cut.map(|sides| self.cycles.cut(&self.graph, &mut self.found, node, sides));
        self.graph.write(node, row);
        if let Some(sides) = sides {
            let dissolved = dissolved.unwrap_or_default();
            self.cycles.tie(&mut self.graph, &self.ids, &mut self.found, node, (sides, &dissolved));
        }
        self.index(node, true);
        self.toggle_all(node, PARTNERS_PER_EVENT_MAX, true);
        if causes_changed {
            self.look_for_grandfathers(node);
        }
    }

    fn index(&mut self, node: u32, is_there: bool) {
        let facts = Facts { graph: &self.graph, places: &self.places, settings: &self.settings };
        if is_there {
            self.sequences.insert(&self.graph, &mut self.found, node);
        } else {
            self.sequences.remove(&self.graph, &mut self.found, node);
        }
        if !self.graph.is_live(node) || self.graph.is_intervention(node) {
            return;
        }
        if is_there {
            self.pairs.insert(facts, &mut self.found, node);
        } else {
            self.pairs.remove(facts, &mut self.found, node);
        }
    }

    fn toggle_all(&mut self, node: u32, partners_max: usize, is_there: bool) {
        let mut sites = Vec::new();
        self.sites_of(node, &mut sites);
        if self.graph.is_live(node) && !self.graph.is_intervention(node) {
            self.pairs.sites_of(self.facts(), node, partners_max, &mut sites);
        }
        self.found.toggle_all(&sites, is_there);
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        Facts { graph: &self.graph, places: &self.places, settings: &self.settings }
    }

    /// Adds all paradoxes of a node and its edges.
    pub(super) fn sites_of(&self, node: u32, sites: &mut Vec<Site>) {
        self.sites_of_node(node, sites);
        self.sites_of_causes(node, sites);
        sites.extend(self.graph.effects(node).filter_map(|(effect, requires)| self.edge_site(node, requires, effect)));
    }

    pub(super) fn sites_of_causes(&self, node: u32, sites: &mut Vec<Site>) {
        sites.extend(self.graph.causes(node).filter_map(|(cause, requires)| self.edge_site(cause, requires, node)));
    }

    pub(super) fn sites_of_node(&self, node: u32, sites: &mut Vec<Site>) {
        let graph = &self.graph;
        if graph.is_live(node) {
            let (time, end, precision) = graph.times(node);
            let is_inverted = uncertain::is_inverted(time, end, precision);
            sites.extend(is_inverted.then_some(Site::Inverted { event: node }));
            sites.extend(graph.rare(node).and_then(|rare| rare.future).map(|_| Site::Future { event: node }));
        }
        sites.extend(self.own_firing_site(node));
        sites.extend(graph.is_unlinked(node).then_some(Site::Unlinked { event: node }));
        self.anchors.sites_of(graph, node, sites);
    }

    pub(super) fn edge_site(&self, cause: u32, requires: bool, effect: u32) -> Option<Site> {
        let graph = &self.graph;
        if !graph.is_live(effect) {
            None
        } else if !graph.is_known(cause) {
            match self.firings.get(cause) {
                Some(firing) => self.effect_site(firing, cause, requires, effect),
                None => Some(Site::Dangling { cause, effect }),
            }
        } else if !graph.is_live(cause) {
            requires.then_some(Site::Orphan { cause, effect })
        } else if cause == effect {
            // This is a cycle, whatever the time.
            None
        } else {
            let grade = self.early(cause, requires, effect)?;
            Some(Site::Early { cause, effect, grade })
        }
    }

    fn early(&self, cause: u32, requires: bool, effect: u32) -> Option<super::kinds::Grade> {
        self.graph.start(effect).before(self.due(cause, requires), self.settings.tolerance.micros())
    }

    /// Returns the time that an effect must not precede.
    pub(super) fn due(&self, cause: u32, requires: bool) -> uncertain::Uncertain {
        if requires && self.settings.requires_complete {
            self.graph.stretch(cause).end
        } else {
            self.graph.start(cause)
        }
    }

    pub(super) fn time(&self, node: u32) -> Instant<Virtual> {
        self.graph.times(node).0
    }
}
