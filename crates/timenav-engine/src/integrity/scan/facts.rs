//! Event rows as facts: the expected ones according to entries, and the stored ones.

use timenav_core::scan::{FactKey, Fingerprint};

use crate::ports::entropy::Entropy;
use crate::ports::seen_events::SeenEvent;

/// A version of an event, with its content.
const VERSION: u8 = 1;
/// A row that hides an inherited event.
const TOMBSTONE: u8 = 2;
/// The end of an event version.
const END: u8 = 3;
/// The location of a version's row.
const PLACE: u8 = 4;

pub(super) fn random_key(entropy: &dyn Entropy) -> FactKey {
    let mut bytes = [0; FactKey::BYTES];
    entropy.fill(&mut bytes);
    FactKey::from_bytes(bytes)
}

#[derive(Clone, Debug)]
pub(super) struct RowFacts {
    key: FactKey,
    sum: Fingerprint,
}

impl RowFacts {
    pub(super) fn new(key: FactKey) -> Self {
        Self { key, sum: Fingerprint::default() }
    }

    pub(super) fn version(&mut self, position: u64, event_id: &str, content: &[u8]) {
        self.sum.add(self.key.fact(VERSION, [number(position)], &[event_id.as_bytes(), content]));
    }

    pub(super) fn tombstone(&mut self, position: u64, event_id: &str) {
        self.sum.add(self.key.fact(TOMBSTONE, [number(position)], &[event_id.as_bytes()]));
    }

    pub(super) fn end(&mut self, position: u64, event_id: &str) {
        self.sum.add(end_of(&self.key, position, event_id));
    }

    pub(super) fn is_tombstone(row: &SeenEvent<'_>) -> bool {
        row.until == Some(row.position) && row.content.is_empty()
    }

    pub(super) fn row(&mut self, row: &SeenEvent<'_>) {
        if Self::is_tombstone(row) {
            self.tombstone(row.position, row.event_id);
        } else {
            self.version(row.position, row.event_id, row.content.as_bytes());
        }
    }

    /// Adds the location of a version's row, from the table or an index.
    pub(super) fn place(&mut self, event_id: &str, position: u64, (time_micros, cell): (i64, Option<i64>)) {
        let numbers = [number(position), time_micros, i64::from(cell.is_some()), cell.unwrap_or_default()];
        self.sum.add(self.key.fact(PLACE, numbers, &[event_id.as_bytes()]));
    }

    pub(super) const fn sum(&self) -> Fingerprint {
        self.sum
    }
}

pub(super) fn end_of(key: &FactKey, position: u64, event_id: &str) -> Fingerprint {
    key.fact(END, [number(position)], &[event_id.as_bytes()])
}

const fn number(position: u64) -> i64 {
    position.cast_signed()
}
