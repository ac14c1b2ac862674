//! Erasure of content outside of rows and payloads.

use std::collections::BTreeSet;

use timenav_core::ids::{EventId, TimelineId};

use super::{DecisionContext, Draft, Ledger};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::rows::{KnownEvent, StoredEntry};

impl Draft<'_> {
    /// Returns the names of the timelines forked from another one, directly or indirectly, that have not ended.
    pub(crate) fn forks_of(&self, timeline: TimelineKey) -> BTreeSet<TimelineId> {
        let DecisionContext { heads, accepted, .. } = self.context;
        let before = heads.all().map(|state| &**state);
        let since = accepted.steps.values().map(|step| &step.state);
        let forks = before.chain(since).filter(|state| state.is_fork_of(timeline)).map(|state| &state.head.id);
        forks.filter(|id| !accepted.ended.contains(*id)).cloned().collect()
    }

    /// Hides an event from later decisions, on the timeline and its forks.
    pub(crate) fn forget_event(&mut self, ledger: Ledger, event_id: &EventId, forks: &BTreeSet<TimelineId>) {
        let erased = self.state(ledger).head.key;
        *self.known_event_mut(ledger, event_id) = KnownEvent::default();
        for fork in forks {
            let Some(state) = self.look(fork) else { continue };
            let of_erased: Vec<usize> = state
                .ancestors
                .iter()
                .enumerate()
                .filter_map(|(number, layer)| (layer.timeline == erased).then_some(number))
                .collect();
            let key = (state.head.key, event_id.clone());
            let DecisionContext { known, accepted, .. } = self.context;
            let found = self.drafted.events.get(&key).or_else(|| accepted.events.get(&key));
            let Some(mut event) = found.or_else(|| known.events.get(&key)).cloned() else { continue };
            event.versions.retain(|version| !of_erased.contains(&version.layer));
            event.interventions.retain(|(layer, _)| !of_erased.contains(layer));
            self.drafted.events.insert(key, event);
        }
    }

    /// Erases the content of an event from stored outcomes. Returns the keys of these outcomes.
    pub(crate) fn forget_outcomes(&mut self, timeline: &TimelineId, event_id: &EventId) -> Vec<[u8; 32]> {
        let key = (timeline.clone(), event_id.clone());
        let DecisionContext { known, accepted, .. } = self.context;
        let before = known.outcomes_of.get(&key).into_iter().flatten();
        let before = before.map(|record| (record.key, Some(record.clone())));
        let since = accepted.outcomes_of.get(&key).into_iter().flatten().map(|key| (*key, None));
        let is_new = |(key, _): &([u8; 32], Option<_>)| !accepted.outcomes_erased.contains_key(key);
        let erased: Vec<_> = before.chain(since).filter(is_new).collect();
        let keys = erased.iter().map(|(key, _)| *key).collect();
        self.drafted.outcomes_erased.extend(erased);
        keys
    }

    /// Returns a recorded event of a timeline that this draft has not opened.
    pub(crate) fn known_on(&self, state: &TimelineState, event_id: &EventId) -> Option<&KnownEvent> {
        let key = (state.head.key, event_id.clone());
        let DecisionContext { known, accepted, .. } = self.context;
        let found = self.drafted.events.get(&key).or_else(|| accepted.events.get(&key));
        found.or_else(|| known.events.get(&key)).filter(|event| !event.versions.is_empty())
    }

    /// Returns an entry from before the group, with the remainder of its payload.
    pub(crate) fn known_entry(&self, ledger: Ledger, position: u64) -> Option<StoredEntry> {
        let key = (self.state(ledger).head.key, position);
        let DecisionContext { known, accepted, .. } = self.context;
        let mut entry = known.entries.get(&key)?.clone();
        if let Some(left) = accepted.reads_left.get(&key) {
            entry.salt = timenav_core::ledger::Salt::from_bytes([0; timenav_core::ledger::Salt::BYTES]);
            entry.payload.clone_from(left);
        }
        Some(entry)
    }

    pub(crate) fn leave_reads(&mut self, ledger: Ledger, position: u64, left: Vec<u8>) {
        let key = (self.state(ledger).head.key, position);
        self.drafted.reads_left.insert(key, left);
    }
}
