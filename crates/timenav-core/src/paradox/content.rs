use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;

use crate::event::{Cause, EventDraft};
use crate::place::Geo;

fn hasher() -> impl Hasher {
    FixedState::with_seed(0).build_hasher()
}

/// Returns a hash of an event's content. Excludes its id, its source, and the source's sequence number.
pub(super) fn content_of(draft: &EventDraft) -> u64 {
    let EventDraft { event_id: _, time, end_time, precision, description, name, location, geo, .. } = draft;
    let EventDraft { causes, actors, kind, asserts, attributes, source: _, sequence: _, .. } = draft;
    let mut hasher = hasher();
    time.hash(&mut hasher);
    end_time.hash(&mut hasher);
    precision.map(|precision| precision as u8).hash(&mut hasher);
    (description, name, location, actors, attributes).hash(&mut hasher);
    geo.map(|Geo { point, radius_m }| [point.lat(), point.lon(), radius_m.unwrap_or(-1.0)].map(f64::to_bits))
        .hash(&mut hasher);
    for Cause { event_id, kind } in causes {
        (event_id, *kind as u8).hash(&mut hasher);
    }
    (kind.unwrap_or_default() as u8).hash(&mut hasher);
    for assertion in asserts {
        (&assertion.subject, &assertion.predicate, &assertion.value).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns a hash of actors, kind and name. Returns `None` if the event has neither actors nor a name, or no place:
/// that is not enough to consider another event a duplicate.
pub(super) fn who_of(draft: &EventDraft) -> Option<u64> {
    let is_somewhere = draft.geo.is_some() || draft.location.is_some();
    let is_somebody = !draft.actors.is_empty() || draft.name.is_some();
    if !is_somewhere || !is_somebody {
        return None;
    }
    let mut actors: Vec<&str> = draft.actors.iter().map(String::as_str).collect();
    actors.sort_unstable();
    actors.dedup();
    let mut hasher = hasher();
    (actors, draft.kind.unwrap_or_default() as u8, &draft.name).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EventId;
    use crate::time::Instant;

    #[test]
    fn event_ids_are_not_part_of_the_content() {
        let draft = EventDraft::at(Instant::EPOCH, "it rained");
        let named = EventDraft {
            event_id: EventId::new("a").ok(),
            source: Some("gauge".to_owned()),
            sequence: Some(3),
            ..draft.clone()
        };
        assert_eq!(content_of(&draft), content_of(&named));
        assert_ne!(content_of(&draft), content_of(&EventDraft { name: Some("rain".to_owned()), ..draft.clone() }));
        assert_ne!(content_of(&draft), content_of(&EventDraft { actors: vec![String::new()], ..draft.clone() }));
    }

    #[test]
    fn order_of_actors_does_not_matter() {
        let of = |actors: [&str; 2]| {
            let actors = actors.map(str::to_owned).to_vec();
            let location = Some("here".to_owned());
            who_of(&EventDraft { location, actors, ..EventDraft::at(Instant::EPOCH, "") })
        };
        assert_eq!(of(["a", "b"]), of(["b", "a"]));
        assert_ne!(of(["a", "b"]), of(["a", "c"]));
        assert_eq!(who_of(&EventDraft::at(Instant::EPOCH, "")), None);
    }
}
