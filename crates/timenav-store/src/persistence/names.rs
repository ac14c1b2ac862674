use std::collections::HashMap;

use serde::Deserialize;
use timenav_core::ids::EventId;
use timenav_engine::{EventVersion, KnownEvent};

pub(crate) const NAMES_NEAR_MAX: usize = 5;
/// Minimum similarity of a suggested name, from 0 to 1.
pub(crate) const LIKENESS_MIN: f64 = 0.7;
/// Longer names are not compared: the time grows with the product of the lengths, and up to
/// [`NAMES_SEARCHED_MAX`](timenav_core::limits::NAMES_SEARCHED_MAX) names are compared with one.
const COMPARED_BYTES_MAX: usize = 64;

/// Returns the name of an event, with the original capitalization.
pub(crate) fn name_in(content: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    serde_json::from_str::<Named>(content).ok()?.name
}

/// Returns the similarity of two names, from 0 to 1. A name that contains the key scores 0.95.
pub(crate) fn likeness(name: &str, key: &str) -> f64 {
    if !key.is_empty() && name.contains(key) {
        return 0.95;
    }
    if name.len().max(key.len()) > COMPARED_BYTES_MAX {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(name, key)
}

/// Returns the first event that has this description now, or else the first ended one that had it last.
pub(crate) fn described_so(
    ids: &[EventId],
    known: &HashMap<EventId, KnownEvent>,
    description: &str,
) -> Option<EventId> {
    let is_so = |event_id: &&EventId, pick: fn(&KnownEvent) -> Option<&EventVersion>| {
        let version = known.get(*event_id).and_then(pick);
        version.is_some_and(|version| description_in(&version.content).as_deref() == Some(description))
    };
    let active = ids.iter().find(|event_id| is_so(event_id, KnownEvent::current));
    let erased = || {
        let is_missing = |event_id: &&EventId| known.get(*event_id).is_some_and(|known| known.current().is_none());
        ids.iter().filter(is_missing).find(|event_id| is_so(event_id, last_version))
    };
    active.or_else(erased).cloned()
}

/// Returns the last version that has content.
fn last_version(known: &KnownEvent) -> Option<&EventVersion> {
    known.versions.iter().rev().find(|version| !version.content.is_empty())
}

fn description_in(content: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct DescriptionField {
        description: String,
    }
    serde_json::from_str::<DescriptionField>(content).ok().map(|field| field.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_names_are_compared_for_similarity() {
        assert!(likeness("launch", "lanuch") >= LIKENESS_MIN);
        let long = "x".repeat(COMPARED_BYTES_MAX + 1);
        assert!(likeness(&long, &long[1..]) >= LIKENESS_MIN, "it contains the other");
        assert!(likeness(&long, &long.replacen('x', "y", 1)) < LIKENESS_MIN);
    }
}
