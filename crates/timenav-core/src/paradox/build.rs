use super::graph::NEVER;
use super::record::Record;
use super::settings::Settings;
use super::site::{Found, Site};
use super::view::View;
use crate::paradox::rules::pairs::Facts;

/// Approximate sizes, for allocating once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeHint {
    /// Number of events and interventions.
    pub events: usize,
    pub causes: usize,
    pub id_bytes: usize,
}

#[derive(Debug)]
pub struct Builder {
    view: View,
}

impl Builder {
    #[must_use]
    pub fn new(settings: Settings, hint: SizeHint) -> Self {
        let mut view = View::new(settings);
        view.is_building = true;
        view.ids.reserve(hint.events, hint.id_bytes);
        view.graph.reserve(hint.events, hint.causes);
        Self { view }
    }

    pub fn add(&mut self, record: &Record<'_>) {
        self.view.enter(record);
    }

    #[must_use]
    pub fn finish(self) -> View {
        let mut view = self.view;
        view.find_all();
        view
    }
}

impl View {
    /// Returns the view after all of these records, in ledger order.
    #[must_use]
    pub fn build<'a>(settings: Settings, records: impl IntoIterator<Item = Record<'a>>) -> Self {
        let mut builder = Builder::new(settings, SizeHint::default());
        records.into_iter().for_each(|record| builder.add(&record));
        builder.finish()
    }

    /// Finds all paradoxes of the current state again. This changes nothing unless the view is wrong.
    pub fn find_again(&mut self) {
        // Paradoxes that depend on the order of records were found as the records were added.
        let streamed = |site: &Site| matches!(site, Site::Late { .. } | Site::Jump { .. });
        let retained: Vec<Site> = self.found.iter().filter(streamed).collect();
        self.found = Found::default();
        self.found.toggle_all(&retained, true);
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

    /// Returns whether a node exists and comes after all its causes, which also exist. Most nodes do, and this check
    /// touches little memory. Requires exact times.
    fn is_plain(&self, starts: &[i64], node: u32) -> bool {
        let start = starts[node as usize];
        let is_after = |cause: u32| starts[cause as usize] != NEVER && starts[cause as usize] <= start;
        start != NEVER && self.graph.causes(node).all(|(cause, _)| is_after(cause))
    }
}
