//! The paradoxes that a record creates and resolves, computed before or while applying it. Steps are undone to evaluate
//! hypothetical records.

use super::record::Record;
use super::report::Paradox;
use super::site::{NONE, Site};
use super::view::View;
use crate::paradox::rules::negation::Negation;
use crate::paradox::rules::undo::{NameCounts, Undo};

/// The paradoxes that records create and resolve, both in the order of [`super::List`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    pub created: Vec<Paradox>,
    /// Resolved paradoxes, as they were before.
    pub resolved: Vec<Paradox>,
}

impl Delta {
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.created.is_empty() && self.resolved.is_empty()
    }
}

impl View {
    pub fn apply(&mut self, record: &Record<'_>) -> Delta {
        self.apply_all(std::slice::from_ref(record))
    }

    /// Applies records as one change. A paradox that one creates and another resolves is in neither list.
    pub fn apply_all(&mut self, records: &[Record<'_>]) -> Delta {
        let names = self.name_counts();
        self.undo.clear();
        self.found.note();
        self.enter_all(records);
        let (created, resolved) = self.found.take_net();
        let created = self.describe_all(created);
        if resolved.is_empty() {
            self.undo.clear();
            return Delta { created, resolved: Vec::new() };
        }
        // Resolved paradoxes can only be described in the state before the change.
        self.take_back(names);
        let resolved = self.describe_all(resolved);
        self.enter_all(records);
        self.undo.clear();
        Delta { created, resolved }
    }

    /// Returns the paradoxes that these records would create and resolve. The view is unchanged afterwards.
    pub fn what_if(&mut self, records: &[Record<'_>]) -> Delta {
        let names = self.name_counts();
        self.undo.clear();
        self.found.note();
        self.enter_all(records);
        let (created, resolved) = self.found.take_net();
        let created = self.describe_all(created);
        self.take_back(names);
        let resolved = self.describe_all(resolved);
        Delta { created, resolved }
    }

    fn enter_all(&mut self, records: &[Record<'_>]) {
        for record in records {
            self.enter(record);
        }
    }

    pub(super) fn name_counts(&self) -> NameCounts {
        let [ids, actors, things] = [&self.ids, &self.actors, &self.things].map(super::names::Names::count);
        NameCounts([ids, actors, things, self.values.count(), self.sources.count(), self.places.count()])
    }

    /// Undoes all recorded steps, and removes the names added by them.
    pub(super) fn take_back(&mut self, NameCounts(counts): NameCounts) {
        for undo in std::mem::take(&mut self.undo).into_iter().rev() {
            self.take_back_one(undo);
        }
        let [ids, actors, things, values, sources, places] = counts;
        self.graph.truncate(ids);
        self.ids.truncate(ids);
        self.actors.truncate(actors);
        self.things.truncate(things);
        self.values.truncate(values);
        self.sources.truncate(sources);
        self.places.truncate(places);
    }

    fn take_back_one(&mut self, undo: Undo) {
        match undo {
            Undo::Row { node, row, pins } => {
                // Pins affect sites, so sites are removed before the pins and added after.
                let mut sites = Vec::new();
                self.anchors.sites_of(&self.graph, node, &mut sites);
                self.found.toggle_all(&sites, false);
                self.anchors.unpin(node, pins);
                self.put(node, *row);
            }
            Undo::Anchor => self.anchors.pop(),
            Undo::Stream(stream) => self.stream = *stream,
            Undo::Jump => {
                let number = u32::try_from(self.jumps.len() - 1).unwrap_or(NONE);
                if let Some(jump) = self.jumps.pop() {
                    self.found.toggle(Site::Jump { number, grade: jump.grade() }, false);
                }
            }
            Undo::Watermark { source, before, late } => {
                self.watermarks.put_back(source, before);
                if let Some(late) = late {
                    self.found.toggle(late, false);
                }
            }
            Undo::Negation { node, before } => self.negate(node, before),
            Undo::Firing { node, before } => self.set_firing(node, before),
            Undo::Return(before) => self.firings.returned = before,
        }
    }

    fn negate(&mut self, node: u32, before: Option<Negation>) {
        if let Some(before) = before {
            self.negations.insert(node, before);
            self.look_for_grandfather(node);
        } else if let Some(Negation { event, .. }) = self.negations.remove(&node) {
            self.found.toggle(Site::Grandfather { intervention: node, event }, false);
            if let Some(nodes) = self.negated.get_mut(&event) {
                nodes.pop();
            }
        }
    }
}
