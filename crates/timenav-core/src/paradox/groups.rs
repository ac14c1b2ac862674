use std::collections::BTreeSet;

use super::graph::Graph;
use super::site::Map;

/// Events in groups, found by the time at which they may have happened.
///
/// Within a group, events are divided by their possible duration, in powers of two. Events that may cover a moment are
/// thus found without reading all that started before it.
#[derive(Debug, Default)]
pub(super) struct Groups {
    entries: BTreeSet<Entry>,
    /// The existing duration classes of each group, one bit each.
    lengths: Map<u32, u64>,
}

/// Group and duration class, earliest start, event.
pub(super) type Entry = (u64, i64, u32);

/// The duration class of events with an exact time and place and no duration.
pub(super) const SHARP: u32 = 0;

/// Returns the duration class of an event: the power of two that covers all its possible times.
fn length_of(graph: &Graph, event: u32) -> (u32, i64) {
    let stretch = graph.stretch(event);
    let start = stretch.start.min.micros();
    (64 - (stretch.over_max() - start).unsigned_abs().leading_zeros(), start)
}

fn key(group: u32, length: u32) -> u64 {
    (u64::from(group) << 8) | u64::from(length)
}

impl Groups {
    pub(super) fn entry(graph: &Graph, group: u32, event: u32, is_sharp: bool) -> Entry {
        let (length, start) = length_of(graph, event);
        (key(group, if is_sharp { SHARP } else { length }), start, event)
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let (key, ..) = entry;
        *self.lengths.entry(group_of(key)).or_default() |= 1 << (key & 0xff);
        self.entries.insert(entry);
    }

    pub(super) fn remove(&mut self, entry: Entry) {
        self.entries.remove(&entry);
    }

    /// Replaces all entries. They must be sorted.
    pub(super) fn fill(&mut self, sorted: Vec<Entry>) {
        self.lengths.clear();
        for (key, ..) in &sorted {
            *self.lengths.entry(group_of(*key)).or_default() |= 1 << (key & 0xff);
        }
        self.entries = sorted.into_iter().collect();
    }

    /// Returns the sharp events right before and after a sharp event of the same group.
    pub(super) fn neighbors(&self, entry: Entry) -> [Option<u32>; 2] {
        let same = |other: &&Entry| other.0 == entry.0;
        let before = self.entries.range(..entry).next_back().filter(same);
        let after = self.entries.range((std::ops::Bound::Excluded(entry), std::ops::Bound::Unbounded)).next();
        [before, after.filter(same)].map(|other| other.map(|(.., event)| *event))
    }

    /// Returns the events of a group that may overlap the time from `from` to `to`, both included, and some others.
    /// Sharp events are only included on request.
    pub(super) fn around(&self, group: u32, from: i64, to: i64, with_sharp: bool) -> impl Iterator<Item = u32> {
        let lengths = self.lengths.get(&group).copied().unwrap_or(0);
        let first = if with_sharp { SHARP } else { SHARP + 1 };
        (first..64).filter(move |length| lengths & (1 << length) != 0).flat_map(move |length| {
            let reach = if length == SHARP { 0 } else { 1_i64.checked_shl(length).unwrap_or(i64::MAX) };
            let key = key(group, length);
            let range = (key, from.saturating_sub(reach), 0)..=(key, to.max(from.saturating_sub(reach)), u32::MAX);
            self.entries.range(range).map(|(.., event)| *event)
        })
    }
}

fn group_of(key: u64) -> u32 {
    u32::try_from(key >> 8).unwrap_or(u32::MAX)
}
