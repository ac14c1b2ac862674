//! Resuming a stream, and detecting that the listener has seen a different history.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use timenav_core::ledger::leaf_hash;

use super::{LedgerMessage, LedgerStream, Seen};
use crate::requests::refusal::Refusal;

/// Distinguishes an entry from any other at the same position, such as after an accepted loss: the first eight bytes of
/// the hash of its leaf, which includes a salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryMark(u64);

impl EntryMark {
    fn of(leaf: &[u8]) -> Self {
        let hash = leaf_hash(leaf);
        Self(u64::from_be_bytes(std::array::from_fn(|at| hash.as_bytes()[at])))
    }
}

impl fmt::Display for EntryMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for EntryMark {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl LedgerStream {
    pub(super) fn note_read(&mut self, position: u64, leaf: &[u8]) {
        self.read_last = Some((position, EntryMark::of(leaf)));
    }

    pub(super) async fn marked(&self, message: LedgerMessage) -> Result<LedgerMessage, Refusal> {
        let entry = match self.read_last {
            Some((position, mark)) if position == message.position => Some(mark),
            Some(_) | None => self.mark_at(message.position).await?,
        };
        Ok(LedgerMessage { entry, ..message })
    }

    /// Whether the last received entry is still at its position. A listener that sent no mark is trusted.
    pub(super) async fn continues(&self, seen: Seen) -> Result<bool, Refusal> {
        let Some(entry) = seen.entry else { return Ok(true) };
        Ok(self.mark_at(seen.position).await? == Some(entry))
    }

    async fn mark_at(&self, position: u64) -> Result<Option<EntryMark>, Refusal> {
        let leaves = self.engine.store().leaves(self.key, position, 1).await?;
        Ok(leaves.first().map(|leaf| EntryMark::of(leaf)))
    }
}

/// Returns the position to resume from, and how many messages about that entry were sent already. `None` to restart:
/// there is no last message, it is beyond the end, or the listener is more than `behind_max` entries behind.
pub(super) fn begin(seen: Option<Seen>, size: u64, behind_max: u64) -> Option<(u64, usize)> {
    let Seen { position, part, .. } = seen?;
    let (next, sent_parts) = match part {
        None => (position.checked_add(1)?, 0),
        Some(_) if position >= size => return None,
        Some(part) => (position, part as usize + 1),
    };
    (next <= size && size - next <= behind_max).then_some((next, sent_parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listener_resumes_unless_it_was_away_too_long() {
        let seen = |position| Seen { position, part: None, passed: None, entry: None };
        let begin = |position: u64, size| begin(Some(seen(position)), size, 100).map(|(next, _)| next);
        assert_eq!(begin(3, 10), Some(4));
        assert_eq!(begin(9, 10), Some(10), "it knows all there is");
        assert_eq!(begin(10, 10), None, "it knows of more than there is");
        assert_eq!(begin(u64::MAX, 10), None);
        assert_eq!(begin(3, 104), Some(4));
        assert_eq!(begin(3, 105), None);
    }

    #[test]
    fn listener_resumes_within_an_entry() {
        let seen = |position, part| Some(Seen { position, part: Some(part), passed: None, entry: None });
        assert_eq!(begin(None, 10, 100), None);
        assert_eq!(begin(seen(3, 1), 10, 100), Some((3, 2)));
        assert_eq!(begin(seen(9, 0), 10, 100), Some((9, 1)));
        assert_eq!(begin(seen(10, 0), 10, 100), None, "it knows of more than there is");
        assert_eq!(begin(seen(u64::MAX, u32::MAX), 10, 100), None);
    }

    #[test]
    fn written_entry_mark_is_read_back() {
        let mark = EntryMark::of(b"an entry");
        assert_eq!(mark.to_string().len(), 16);
        assert_eq!(mark.to_string().parse(), Ok(mark));
        assert_ne!(mark, EntryMark::of(b"another entry"));
        for wrong in ["", "x", "123456789abcdef01"] {
            assert!(wrong.parse::<EntryMark>().is_err(), "{wrong}");
        }
    }
}
