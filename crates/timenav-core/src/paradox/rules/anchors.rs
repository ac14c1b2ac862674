//! Fixed anchors, and the state of earlier events when they were set (P13).
//!
//! An anchor is broken as long as an event that existed when it was set, and lies before its moment, differs from its
//! state at that time. Restoring the event repairs the anchor.

use crate::ids::AnchorId;
use crate::paradox::graph::{Graph, Row};
use crate::paradox::kinds::Grade;
use crate::paradox::rules::uncertain::{Uncertain, graded};
use crate::paradox::site::{Map, Site};
use crate::time::{Instant, Virtual};

#[derive(Debug, Default)]
pub(in crate::paradox) struct Anchors {
    set: Vec<Anchor>,
    /// The earlier states of events that have changed since.
    pins: Map<u32, Vec<Pin>>,
}

#[derive(Debug)]
pub(in crate::paradox) struct Anchor {
    pub(in crate::paradox) id: AnchorId,
    pub(in crate::paradox) position: u64,
    pub(in crate::paradox) timestamp: Instant<Virtual>,
}

/// The state of an event when an anchor was set.
#[derive(Clone, Copy, Debug)]
struct Pin {
    anchor: u32,
    says: (u64, u32, Option<u64>),
    grade: Grade,
}

/// Returns the comparable content of a row.
fn says(row: &Row) -> (u64, u32, Option<u64>) {
    (row.content, row.source, row.rare.sequence)
}

impl Anchors {
    /// Adds an anchor. Anchors are added in ledger order.
    pub(in crate::paradox) fn push(&mut self, anchor: Anchor) {
        self.set.push(anchor);
    }

    pub(in crate::paradox) fn pop(&mut self) {
        self.set.pop();
    }

    pub(in crate::paradox) fn get(&self, anchor: u32) -> Option<&Anchor> {
        self.set.get(anchor as usize)
    }

    /// Before an event changes, records its state for the anchors set since. Returns its previous number of pins.
    pub(in crate::paradox) fn pin(&mut self, graph: &Graph, event: u32, changes_at: u64) -> usize {
        let before = self.pins.get(&event).map_or(0, Vec::len);
        if self.set.is_empty() || !graph.is_live(event) {
            return before;
        }
        let since = graph.position(event);
        let first = self.set.partition_point(|anchor| anchor.position < since);
        let start: Uncertain = graph.start(event);
        let mut row = None;
        for (number, anchor) in self.set.iter().enumerate().skip(first) {
            if anchor.position >= changes_at {
                break;
            }
            let Some(grade) = graded(start.max <= anchor.timestamp, start.min <= anchor.timestamp) else { continue };
            let says = says(row.get_or_insert_with(|| graph.read(event)));
            let pin = Pin { anchor: u32::try_from(number).unwrap_or(u32::MAX), says, grade };
            self.pins.entry(event).or_default().push(pin);
        }
        before
    }

    /// Removes all pins of an event but the first `count`.
    pub(in crate::paradox) fn unpin(&mut self, event: u32, count: usize) {
        if let Some(pins) = self.pins.get_mut(&event) {
            pins.truncate(count);
        }
    }

    /// Adds the anchors that the current state of an event breaks.
    pub(in crate::paradox) fn sites_of(&self, graph: &Graph, event: u32, sites: &mut Vec<Site>) {
        let Some(pins) = self.pins.get(&event).filter(|pins| !pins.is_empty()) else { return };
        let (is_live, now) = (graph.is_live(event), says(&graph.read(event)));
        let broken = pins.iter().filter(|pin| !is_live || pin.says != now);
        sites.extend(broken.map(|pin| Site::Broken { anchor: pin.anchor, event, grade: pin.grade }));
    }
}
