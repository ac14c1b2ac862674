use std::collections::BTreeSet;

use crate::paradox::graph::Graph;
use crate::paradox::site::{Found, Site};

/// The numbers of each source, with their events. Canceled events count, because the source did send them.
#[derive(Debug, Default)]
pub(in crate::paradox) struct Sequences {
    entries: BTreeSet<Entry>,
}

type Entry = (u32, u64, u32);

fn entry(graph: &Graph, event: u32) -> Option<Entry> {
    let sequence = graph.rare(event)?.sequence?;
    Some((graph.source(event), sequence, event))
}

fn between((source, number, event): Entry, (other_source, other_number, other): Entry) -> Option<Site> {
    if source != other_source {
        None
    } else if number == other_number {
        Some(Site::Repeat { source, pair: crate::paradox::site::pair(event, other) })
    } else {
        (other_number > number + 1).then_some(Site::Gap { source, after: number, before: other_number })
    }
}

impl Sequences {
    pub(in crate::paradox) fn insert(&mut self, graph: &Graph, found: &mut Found, event: u32) {
        let Some(entry) = entry(graph, event) else { return };
        self.toggle(found, entry, false);
        self.entries.insert(entry);
    }

    pub(in crate::paradox) fn remove(&mut self, graph: &Graph, found: &mut Found, event: u32) {
        let Some(entry) = entry(graph, event) else { return };
        self.entries.remove(&entry);
        self.toggle(found, entry, true);
    }

    /// Updates the paradoxes around a number: either between its two neighbors, or between each of them and it.
    fn toggle(&self, found: &mut Found, entry: Entry, is_missing: bool) {
        let before = self.entries.range(..entry).next_back().copied();
        let after = self.entries.range(entry..).next().copied();
        let across = before.zip(after).and_then(|(before, after)| between(before, after));
        let adjacent =
            [before.and_then(|before| between(before, entry)), after.and_then(|after| between(entry, after))];
        let (old, new) = if is_missing { (adjacent, [across, None]) } else { ([across, None], adjacent) };
        old.into_iter().flatten().for_each(|site| found.toggle(site, false));
        new.into_iter().flatten().for_each(|site| found.toggle(site, true));
    }

    pub(in crate::paradox) fn build(&mut self, graph: &Graph, found: &mut Found) {
        self.entries = (0..graph.count()).filter_map(|event| entry(graph, event)).collect();
        let after = self.entries.iter().skip(1);
        for site in self.entries.iter().zip(after).filter_map(|(one, other)| between(*one, *other)) {
            found.toggle(site, true);
        }
    }

    pub(in crate::paradox) fn ends(&self, source: u32, after: u64, before: u64) -> [Option<u32>; 2] {
        let of = |number: u64| self.entries.range((source, number, 0)..=(source, number, u32::MAX));
        [of(after).next_back(), of(before).next()].map(|entry| entry.map(|(.., event)| *event))
    }
}
