//! Taking back what one record did, so that a view can be asked what would be.

use super::graph::Row;
use super::site::{NONE, Site};
use super::stream::Stream;
use super::view::{Negation, View};

/// How to take back one step.
#[derive(Debug)]
pub(super) enum Undo {
    /// A row stood in place of another one, and so many pins were noted before.
    Row { node: u32, row: Box<Row>, pins: usize },
    /// An anchor was set.
    Anchor,
    /// The stream of records went on.
    Stream(Box<Stream>),
    /// A jump was noted.
    Jump,
    /// A source recorded something.
    Watermark { source: u32, before: Option<(i64, u32)>, late: Option<Site> },
    /// A negation came or went.
    Negation { node: u32, before: Option<Negation> },
}

/// How many names there were of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameCounts([usize; 6]);

impl View {
    /// Returns how many names there are now.
    pub(super) fn name_counts(&self) -> NameCounts {
        let [ids, actors, things] = [&self.ids, &self.actors, &self.things].map(super::names::Names::count);
        NameCounts([ids, actors, things, self.values.count(), self.sources.count(), self.places.count()])
    }

    /// Takes back all steps that were noted, and the names that they brought.
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
                // The pins go with the sites that they make, and so between them.
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
