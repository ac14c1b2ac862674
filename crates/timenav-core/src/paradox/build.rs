//! A view of all records at once.

use super::record::Record;
use super::settings::Settings;
use super::site::Set;
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

    /// Finds everything in what stands.
    pub(super) fn find_all(&mut self) {
        let mut sites = Vec::new();
        for node in 0..self.graph.count() {
            self.sites_of_node(node, &mut sites);
            self.found.toggle_all(&sites, true);
            sites.clear();
        }
        self.cycles.build(&mut self.graph, &self.ids, &mut self.found);
        self.is_building = false;
        let interventions: Set<u32> = self.negations.keys().copied().collect();
        interventions.into_iter().for_each(|node| self.look_for_grandfather(node));
        let facts = super::pairs::Facts { graph: &self.graph, places: &self.places, settings: &self.settings };
        self.pairs.build(facts, &mut self.found);
        self.sequences.build(&self.graph, &mut self.found);
    }
}
