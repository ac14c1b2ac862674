//! Stored information about timelines that moved from one service to another.

use std::fmt::Write as _;
use std::sync::Arc;

use timenav_engine::{Action, Origin, StoreError};

use super::values::damaged;

/// Encodes which services wrote the beginning of a ledger.
pub(crate) fn text(origins: &[Origin]) -> String {
    origins.iter().fold(String::new(), |mut text, Origin { end, origin }| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{end} {origin}");
        text
    })
}

pub(crate) fn read(text: &str) -> Result<Arc<[Origin]>, StoreError> {
    let one = |line: &str| {
        let (end, origin) = line.split_once(' ')?;
        Some(Origin { end: end.parse().ok()?, origin: origin.to_owned() })
    };
    let origins: Option<Arc<[Origin]>> = text.lines().map(one).collect();
    origins.ok_or_else(|| damaged("the origin of a ledger cannot be read"))
}

/// Returns whether the newest entry marks the timeline as handed over. `None` means that the service wrote this entry
/// after the handover, and the entry before it decides.
pub(crate) fn says_handed_over(leaf: &[u8]) -> Option<bool> {
    match action(leaf) {
        Some(Action::RotateSigningKey | Action::AcceptRollback) => None,
        action => Some(action == Some(Action::HandedOver)),
    }
}

/// Returns the action of an entry. A leaf begins with it, so the rest is not parsed.
fn action(leaf: &[u8]) -> Option<Action> {
    let rest = leaf.strip_prefix(b"{\"action\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    Action::parse(std::str::from_utf8(&rest[..end]).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_origins_round_trip_and_malformed_text_is_rejected() {
        let origins = [(7, "a.example/x"), (u64::MAX, "b.example/x")];
        let origins = origins.map(|(end, origin)| Origin { end, origin: origin.to_owned() });
        for count in 0..=2 {
            assert_eq!(*read(&text(&origins[..count])).unwrap(), origins[..count]);
        }
        for wrong in ["7\n", "x a\n", " a\n"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
