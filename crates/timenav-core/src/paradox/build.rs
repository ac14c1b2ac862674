//! A view of all records at once.

use super::graph::NEVER;
use super::pairs::Facts;
use super::record::Record;
use super::settings::Settings;
use super::site::{Found, Site};
use super::view::View;

/// About how much there will be, so that room is made once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeHint {
    /// Events and interventions.
    pub events: usize,
    /// Causes that they name.
    pub causes: usize,
    /// Bytes of their ids.
    pub id_bytes: usize,
}

/// A view that is being made of all records at once.
#[derive(Debug)]
pub struct Builder {
    view: View,
}

impl Builder {
    /// Begins a view with room for so much.
    #[must_use]
    pub fn new(settings: Settings, hint: SizeHint) -> Self {
        let mut view = View::new(settings);
        view.is_building = true;
        view.ids.reserve(hint.events, hint.id_bytes);
        view.graph.reserve(hint.events, hint.causes);
        Self { view }
    }

    /// Takes in the next record of the ledger.
    pub fn add(&mut self, record: &Record<'_>) {
        self.view.enter(record);
    }

    /// Returns the view, with all that is to be found in it.
    #[must_use]
    pub fn finish(self) -> View {
        let mut view = self.view;
        view.find_all();
        view
    }
}

impl View {
    /// Returns the view after all of these records, in the order of the ledger.
    #[must_use]
    pub fn build<'a>(settings: Settings, records: impl IntoIterator<Item = Record<'a>>) -> Self {
        let mut builder = Builder::new(settings, SizeHint::default());
        records.into_iter().for_each(|record| builder.add(&record));
        builder.finish()
    }

    /// Finds all paradoxes in what stands once more, all at once. Nothing changes by it, unless the
    /// view is wrong.
    pub fn find_again(&mut self) {
        // What only the order of records showed was found as they came.
        let streamed = |site: &Site| matches!(site, Site::Late { .. } | Site::Jump { .. });
        let kept: Vec<Site> = self.found.iter().filter(streamed).collect();
        self.found = Found::default();
        self.found.toggle_all(&kept, true);
        self.find_all();
    }

    fn find_all(&mut self) {
        let starts = self.graph.starts();
        let is_exact = (0..self.graph.count()).all(|node| self.graph.is_exact(node));
        let can_be_plain = is_exact && !self.settings.requires_complete;
        let mut sites = Vec::new();
        for node in 0..self.graph.count() {
            self.sites_of_node(node, &mut sites);
            if !can_be_plain || !self.is_plain(&starts, node) {
                self.sites_of_causes(node, &mut sites);
            }
            self.found.toggle_all(&sites, true);
            sites.clear();
        }
        self.cycles.build(&mut self.graph, &self.ids, &mut self.found, &starts);
        drop(starts);
        self.is_building = false;
        let interventions: Vec<u32> = self.negations.keys().copied().collect();
        for node in interventions {
            self.look_for_grandfather(node);
        }
        let facts = Facts { graph: &self.graph, places: &self.places, settings: &self.settings };
        self.pairs.build(facts, &mut self.found);
        self.sequences.build(&self.graph, &mut self.found);
    }

    /// Returns whether a node stands after all its causes, and they stand: most do, and are judged
    /// by little memory. That needs times that are known exactly.
    fn is_plain(&self, starts: &[i64], node: u32) -> bool {
        let start = starts[node as usize];
        let is_after = |cause: u32| starts[cause as usize] != NEVER && starts[cause as usize] <= start;
        start != NEVER && self.graph.causes(node).all(|(cause, _)| is_after(cause))
    }
}
