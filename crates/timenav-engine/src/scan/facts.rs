//! The rows of events as facts: those that entries lead to, and those that there are.

use timenav_core::scan::{FactKey, Fingerprint};

use crate::entropy::Entropy;
use crate::seen_events::SeenEvent;

/// A version of an event, with its content.
const VERSION: u8 = 1;
/// That an inherited event does not stand here.
const TOMBSTONE: u8 = 2;
/// That a version of an event ceased to stand.
const END: u8 = 3;
/// Where the row of a version is.
const PLACE: u8 = 4;

/// Returns a key that nobody knows.
pub(super) fn random_key(entropy: &dyn Entropy) -> FactKey {
    let mut bytes = [0; FactKey::BYTES];
    entropy.fill(&mut bytes);
    FactKey::from_bytes(bytes)
}

/// The facts of rows of events.
#[derive(Clone, Debug)]
pub(super) struct RowFacts {
    key: FactKey,
    sum: Fingerprint,
}

impl RowFacts {
    pub(super) fn new(key: FactKey) -> Self {
        Self { key, sum: Fingerprint::default() }
    }

    /// The entry at a position makes a version of an event.
    pub(super) fn version(&mut self, position: u64, event_id: &str, content: &[u8]) {
        self.sum.add(self.key.fact(VERSION, [number(position)], &[event_id.as_bytes(), content]));
    }

    /// The entry at a position says that an inherited event does not stand here.
    pub(super) fn tombstone(&mut self, position: u64, event_id: &str) {
        self.sum.add(self.key.fact(TOMBSTONE, [number(position)], &[event_id.as_bytes()]));
    }

    /// A version of an event ceases to stand at a position.
    pub(super) fn end(&mut self, position: u64, event_id: &str) {
        self.sum.add(end_of(&self.key, position, event_id));
    }

    /// Returns whether a row says that an inherited event does not stand here.
    pub(super) fn is_tombstone(row: &SeenEvent<'_>) -> bool {
        row.until == Some(row.position) && row.content.is_empty()
    }

    /// Takes that there is a row.
    pub(super) fn row(&mut self, row: &SeenEvent<'_>) {
        if Self::is_tombstone(row) {
            self.tombstone(row.position, row.event_id);
        } else {
            self.version(row.position, row.event_id, row.content.as_bytes());
        }
    }

    /// Takes that there is the row of a version, or that something leads there.
    pub(super) fn place(&mut self, event_id: &str, position: u64, (time_micros, cell): (i64, Option<i64>)) {
        let numbers = [number(position), time_micros, i64::from(cell.is_some()), cell.unwrap_or_default()];
        self.sum.add(self.key.fact(PLACE, numbers, &[event_id.as_bytes()]));
    }

    pub(super) const fn sum(&self) -> Fingerprint {
        self.sum
    }
}

/// Returns the fact that a version of an event ceases to stand at a position.
pub(super) fn end_of(key: &FactKey, position: u64, event_id: &str) -> Fingerprint {
    key.fact(END, [number(position)], &[event_id.as_bytes()])
}

const fn number(position: u64) -> i64 {
    position.cast_signed()
}
