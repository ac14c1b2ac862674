use std::collections::{BTreeMap, BTreeSet};

use timenav_core::ledger::{EventsErased, LeafRecord, PositionRuns, ReadsEntry, ReadsErased, reads_in};
use timenav_core::scan::{FindingKind, Findings};

use crate::ledger::action::Action;

/// Missing payloads that no sweep named, and erased single reads.
#[derive(Default)]
pub(super) struct MissingData {
    payloads: BTreeMap<u64, MissingPayload>,
    /// Indexes of single reads that no entry has named so far, by the position of their entry.
    reads: BTreeMap<u64, BTreeSet<u64>>,
    reads_count: u64,
    /// Erasing entry, entry of reads, and indexes. Checked after all entries were read.
    reads_of_erasures: Vec<(u64, u64, PositionRuns)>,
    /// Versions of events, and interventions on them, that were erased after the scan began.
    later: Vec<PositionRuns>,
    later_events: u64,
    /// Whether a payload is missing that is needed to compute the state.
    pub(super) is_needed: bool,
}

#[derive(Clone, Copy)]
struct MissingPayload {
    is_event: bool,
    /// Whether an `erase_events` entry names it.
    is_named: bool,
}

impl MissingData {
    pub(super) fn entry(&mut self, record: &LeafRecord<'_>, position: u64, payload: Option<&[u8]>) {
        let Some(payload) = payload else {
            let is_event = Action::of(record).is_some_and(Action::changes_events);
            self.payloads.insert(position, MissingPayload { is_event, is_named: false });
            return;
        };
        // A remainder of reads has a different form.
        let is_left = payload.starts_with(b"[{\"erased\":") || payload.starts_with(b"[{\"read\":");
        if is_left && ReadsEntry::of(record).is_some() {
            let reads = reads_in(payload).unwrap_or_default();
            let numbers: BTreeSet<u64> =
                (0..).zip(&reads).filter(|(_, read)| read.is_none()).map(|(at, _)| at).collect();
            self.reads_count += numbers.len() as u64;
            self.reads.insert(position, numbers);
        }
    }

    /// Entries before `first` were not read.
    pub(super) fn events_erased(
        &mut self,
        (by, first): (u64, u64),
        erased: &EventsErased<'_>,
        findings: &mut Findings,
    ) {
        if !erased.is_possible_at(by) {
            findings.add(FindingKind::StateMismatch, Some(by), "it lists entries that do not come before it");
            return;
        }
        for (from, to) in erased.versions.as_slice().iter().chain(erased.interventions.as_slice()) {
            let mut next = (*from).max(first);
            for (position, payload) in self.payloads.range_mut(next..(*to + 1).max(next)) {
                if *position != next {
                    break;
                }
                next += 1;
                payload.is_named = true;
                if !payload.is_event {
                    let evidence = format!("the entry at position {by} says this was erased, but it is not an event");
                    findings.add(FindingKind::PayloadMismatch, Some(*position), evidence);
                }
            }
            if next <= *to {
                let evidence = format!("the entry at position {by} says this was erased, but it is there");
                findings.add(FindingKind::StateMismatch, Some(next), evidence);
            }
        }
    }

    pub(super) fn reads_erased(&mut self, by: u64, erased: &ReadsErased<'_>) {
        self.explain(erased);
        self.reads_of_erasures.push((by, erased.position, erased.reads.clone()));
    }

    pub(super) fn events_erased_later(&mut self, erased: Option<EventsErased<'_>>) {
        let Some(EventsErased { versions, interventions, events_count, .. }) = erased else { return };
        self.later_events = self.later_events.saturating_add(events_count);
        self.later.extend([versions, interventions]);
    }

    pub(super) fn reads_erased_later(&mut self, erased: &ReadsErased<'_>) {
        self.explain(erased);
    }

    fn explain(&mut self, erased: &ReadsErased<'_>) {
        if let Some(numbers) = self.reads.get_mut(&erased.position) {
            numbers.retain(|number| !erased.reads.contains(*number));
        }
    }

    /// Returns whether the payload was missing.
    pub(super) fn pruned(&mut self, position: u64) -> bool {
        self.payloads.remove(&position).is_some()
    }

    pub(super) fn contains(&self, position: u64) -> bool {
        self.payloads.contains_key(&position)
    }

    pub(super) fn count(&self) -> u64 {
        self.payloads.len() as u64 + self.reads_count
    }

    pub(super) fn unnamed(&self) -> impl Iterator<Item = (u64, bool)> {
        let unnamed = |(position, payload): (&u64, &MissingPayload)| {
            let is_named = payload.is_named || (payload.is_event && self.is_erased_later(*position));
            (!is_named).then_some((*position, payload.is_event))
        };
        self.payloads.iter().filter_map(unnamed)
    }

    pub(super) fn reads_unnamed(&self) -> impl Iterator<Item = u64> {
        self.reads.iter().filter(|(_, numbers)| !numbers.is_empty()).map(|(position, _)| *position)
    }

    /// Returns the erasures of single reads: erasing entry, entry of reads, and indexes.
    pub(super) fn reads_of_erasures(&self) -> &[(u64, u64, PositionRuns)] {
        &self.reads_of_erasures
    }

    pub(super) fn is_erased_later(&self, position: u64) -> bool {
        self.later.iter().any(|runs| runs.contains(position))
    }

    /// Returns how many entries of events were erased after the scan began.
    pub(super) fn positions_erased_later(&self) -> u64 {
        self.later.iter().map(PositionRuns::count).fold(0, u64::saturating_add)
    }

    /// Returns how many events were erased after the scan began, whether they were current or not.
    pub(super) const fn later_events_count(&self) -> u64 {
        self.later_events
    }
}
