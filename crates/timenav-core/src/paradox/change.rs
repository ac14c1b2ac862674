//! What a record makes and heals, before it happens or as it does.

use super::record::Record;
use super::told::Paradox;
use super::view::View;

/// What some records make and heal. Both are in the order of [`super::List`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// Paradoxes that are there now and were not before.
    pub made: Vec<Paradox>,
    /// Paradoxes that were there before and are not now, as they were.
    pub healed: Vec<Paradox>,
}

impl Delta {
    /// Returns whether nothing was made or healed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.made.is_empty() && self.healed.is_empty()
    }
}

impl View {
    /// Takes in the next record of the ledger.
    pub fn apply(&mut self, record: &Record<'_>) -> Delta {
        self.apply_all(std::slice::from_ref(record))
    }

    /// Takes in the next records of the ledger, as one change: what one of them makes and another
    /// heals is in neither list.
    pub fn apply_all(&mut self, records: &[Record<'_>]) -> Delta {
        let names = self.name_counts();
        self.undo.clear();
        self.found.note();
        self.enter_all(records);
        let (made, healed) = self.found.take_net();
        let made = self.tell_all(made);
        if healed.is_empty() {
            self.undo.clear();
            return Delta { made, healed: Vec::new() };
        }
        // What was healed can be told only while it is there.
        self.take_back(names);
        let healed = self.tell_all(healed);
        self.enter_all(records);
        self.undo.clear();
        Delta { made, healed }
    }

    /// Returns what these records would make and heal, were they the next ones of the ledger.
    /// Afterwards the view is as it was.
    pub fn what_if(&mut self, records: &[Record<'_>]) -> Delta {
        let names = self.name_counts();
        self.undo.clear();
        self.found.note();
        self.enter_all(records);
        let (made, healed) = self.found.take_net();
        let made = self.tell_all(made);
        self.take_back(names);
        let healed = self.tell_all(healed);
        Delta { made, healed }
    }

    fn enter_all(&mut self, records: &[Record<'_>]) {
        for record in records {
            self.enter(record);
        }
    }
}
