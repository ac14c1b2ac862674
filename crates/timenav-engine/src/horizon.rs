//! What a key with a horizon may ask for, and what it asks to see no further than.

use timenav_core::as_of::AsOf;

/// How something that can be asked for treats a key with a horizon. There is no default: who adds an operation decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HorizonUse {
    /// It is answered, and nothing beyond the horizon is in the answer.
    Honored,
    /// It is answered as everybody is, since nothing in the answer depends on what a timeline holds.
    NothingToHide,
    /// It is refused, whatever is asked for.
    Refused,
}

/// The horizon that a new key is to have. By default it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HorizonRequest {
    /// Whether it ends at what the clock shows.
    pub until_clock: bool,
    /// The moment up to which the ledger of the key's timeline counts.
    pub known_at: Option<AsOf>,
}

/// Says what whoever has a key with a horizon does instead of something that it is refused, by the word for that or by
/// its path.
pub(crate) fn instead(operation: &str, is_own_timeline: bool) -> &'static str {
    let word = operation.split('/').rfind(|part| !part.is_empty() && !part.starts_with('{')).unwrap_or_default();
    match word.replace('-', "_").as_str() {
        "stream" => {
            "watch `clock/stream`, and call `monitor-events` when the clock moves: what a stream tells is in no entry, \
             so nobody could certify it"
        }
        "bundle" | "certificate" | "certificates" | "checkpoint" | "entries" | "head" | "head_statement" | "proof"
        | "tile" => "for proofs of what it read, request `GET /v1/certificates` with a key that has no horizon",
        _ if !is_own_timeline => "for other timelines, use another key",
        _ => {
            "it can use `clock`, `clock/stream`, `monitor-events`, `scan-events`, `aggregate-events`, `export-events`, \
             `anchors`, `events/{event_id}`, `monitor-paradox`, `check-timeline`, `timeline/{timeline_id}` and \
             `timelines`; for anything else, use a key that has no horizon"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do_instead() {
        for (operation, is_own, expected) in [
            ("/v1/stream", true, "clock/stream"),
            ("stream", true, "clock/stream"),
            ("/v1/timeline/{timeline_id}/proof", true, "certificates"),
            ("/v1/timeline/{timeline_id}/tile/{*tile}", true, "certificates"),
            ("head_statement", true, "certificates"),
            ("/v1/monitor-events", false, "another key"),
            ("/v1/travel", true, "monitor-events"),
            ("", true, "monitor-events"),
        ] {
            assert!(instead(operation, is_own).contains(expected), "{operation}");
        }
    }
}
