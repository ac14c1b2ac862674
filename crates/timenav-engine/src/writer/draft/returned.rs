//! Events removed by a return to an anchor or by undoing an import. Their ids can be used again.

use super::{Draft, Ledger};
use crate::ledger::payload::Intervened;
use crate::ports::rows::{KnownEvent, StoredEntry};
use crate::requests::json::read;

impl Draft<'_> {
    pub(crate) fn is_taken_back(&self, ledger: Ledger, event: &KnownEvent) -> bool {
        let Some((layer, position)) = event.ending() else { return false };
        let state = self.state(ledger);
        let key = state.ancestors.get(layer).map_or(state.head.key, |ancestor| ancestor.timeline);
        let steps = self.drafted.steps.iter().chain(self.context.accepted.steps.values());
        let new = steps.filter(|step| step.state.head.key == key).flat_map(|step| &step.entries);
        let entry = new.chain(self.context.known.entries.get(&(key, position))).find(|entry| entry.seq == position);
        let takes_back = |entry: &StoredEntry| {
            let intervened = read::<Intervened<'_>>(&entry.payload);
            intervened.is_some_and(|intervened| intervened.anchor_id.is_some() || intervened.import_id.is_some())
        };
        entry.is_some_and(takes_back)
    }
}
