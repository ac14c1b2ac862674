//! How many events stand, as far as that can be told where their payloads are gone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use timenav_core::ledger::{EventsErased, sha256};

use crate::action::Action;
use crate::payload::DataErased;

/// What stands for the id of an event: sixteen bytes of its hash.
pub(super) type EventHash = [u8; 16];

/// What is remembered of the entries of events whose payloads are gone.
#[derive(Default)]
pub(super) struct Unread {
    /// Interventions whose payloads are gone.
    changed: BTreeSet<u64>,
    /// Events whose recording is gone, by the position of it, until an erasure tells of it.
    recorded: BTreeSet<u64>,
    /// Those of them, by their ids: where they were recorded, and the last of their interventions that are gone.
    gone: HashMap<EventHash, (u64, Option<u64>)>,
    /// By how many fewer from an entry on, as an entry told later.
    fewer: BTreeMap<u64, i64>,
}

impl Unread {
    /// Returns by how many fewer events stand from an entry on than was known there.
    pub(super) fn fewer(self) -> BTreeMap<u64, i64> {
        self.fewer
    }

    /// Takes what can be told of how many events stand without payloads. An id is recorded again only once the event that
    /// had it does not stand any more: of one that is gone, the last intervention before that has taken it away.
    pub(super) fn entry(&mut self, (action, position): (Action, u64), event_id: &str, is_gone: bool) {
        let event = event_hash(event_id);
        if action == Action::ManipulateEvent {
            if is_gone {
                self.changed.insert(position);
                self.gone.entry(event).and_modify(|(_, changed)| *changed = Some(position));
            }
            return;
        }
        if let Some((recorded, Some(taken_away))) = self.gone.remove(&event)
            && self.recorded.remove(&recorded)
        {
            *self.fewer.entry(taken_away).or_default() += 1;
        }
        if is_gone {
            self.recorded.insert(position);
            self.gone.insert(event, (position, None));
        }
    }

    /// The last of an event's interventions that are gone has cancelled it, if it did not stand when it was erased.
    pub(super) fn erased_alone(&mut self, erased: &DataErased) {
        let positions = std::iter::once(&erased.position).chain(&erased.also);
        let last = positions.clone().filter(|position| self.changed.contains(position)).max();
        if let Some(last) = last.filter(|_| erased.cancelled) {
            *self.fewer.entry(*last).or_default() += 1;
        }
        for position in positions {
            self.recorded.remove(position);
        }
    }

    /// Of events that were erased together, it is not told which stood. All of them are taken to have, until then.
    pub(super) fn erased_together(&mut self, position: u64, erased: &EventsErased<'_>) {
        for (first, last) in erased.versions.as_slice() {
            let named: Vec<u64> = self.recorded.range(*first..=*last).copied().collect();
            for recorded in named {
                self.recorded.remove(&recorded);
                *self.fewer.entry(position).or_default() += 1;
            }
        }
    }
}

/// Returns what stands for the id of an event.
pub(super) fn event_hash(event_id: &str) -> EventHash {
    let mut short = EventHash::default();
    short.copy_from_slice(&sha256(&[event_id.as_bytes()]).as_bytes()[..size_of::<EventHash>()]);
    short
}
