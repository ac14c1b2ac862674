//! Dry run of an import: all records are checked and compared, and none is recorded.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap, RandomState};
use std::hash::BuildHasher as _;

use async_recursion::async_recursion as boxed;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId};

use crate::engine::Engine;
use crate::events::commands::{ImportBatch, RefusedRecord};
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::events::CompareEvents;

/// New records remembered by one dry run to find later ones with the same id; takes some megabytes.
pub const IMPORT_DRY_RUN_RECORDS_MAX: usize = 250_000;

/// Keyed hashes of ids and contents. The key is random per process, so collisions cannot be constructed.
#[derive(Debug, Default)]
pub struct ImportRehearsal {
    hasher: RandomState,
    would_be: HashMap<u64, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    None,
    Same,
    Different,
    Full,
}

impl ImportRehearsal {
    fn compare(&mut self, event_id: &EventId, content: &str) -> Before {
        let (id, content) = (self.hasher.hash_one(event_id.as_str()), self.hasher.hash_one(content));
        let is_full = self.would_be.len() >= IMPORT_DRY_RUN_RECORDS_MAX;
        match self.would_be.entry(id) {
            Entry::Occupied(known) if *known.get() == content => Before::Same,
            Entry::Occupied(_) => Before::Different,
            Entry::Vacant(_) if is_full => Before::Full,
            Entry::Vacant(free) => {
                free.insert(content);
                Before::None
            }
        }
    }
}

impl Engine {
    /// Dry run of [`Engine::import_events`] for a batch that follows the previous ones. The timeline must exist.
    ///
    /// # Errors
    /// The caller may not record events there, or there are more new records than can be remembered.
    #[boxed]
    pub async fn rehearse_import(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        drafts: Vec<EventDraft>,
        rehearsal: &mut ImportRehearsal,
    ) -> Result<ImportBatch, Refusal> {
        let events = self.prepare_all(drafts)?;
        let records: Vec<_> = events.iter().map(|event| (event.event_id.clone(), event.content.clone())).collect();
        let compared = self.submit(caller, timeline.clone(), CompareEvents { events }, None).await?;
        let change = compared.change;
        let would_be: HashSet<EventId> = change.event_ids.into_iter().collect();
        let next = compared.ledger.position + 1;
        let mut batch = ImportBatch {
            taken: 0,
            unchanged: 0,
            unchanged_at: change.unchanged_at,
            refused: Vec::new(),
            ledger: compared.ledger,
        };
        let differing: HashSet<usize> = change.differing.into_iter().collect();
        for (index, (event_id, content)) in records.into_iter().enumerate() {
            let would_be = would_be.contains(&event_id);
            let before = if differing.contains(&index) {
                Before::Different
            } else if would_be {
                rehearsal.compare(&event_id, &content)
            } else {
                Before::Same
            };
            match before {
                Before::None => batch.taken += 1,
                Before::Same => {
                    batch.unchanged += 1;
                    batch.unchanged_at.extend(would_be.then_some(next));
                }
                Before::Different => batch.refused.push(RefusedRecord { index, event_id }),
                Before::Full => {
                    let detail = format!(
                        "a dry run remembers {IMPORT_DRY_RUN_RECORDS_MAX} new records, and this file has more; split it"
                    );
                    return Err(Refusal::invalid("dry_run", detail));
                }
            }
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_rehearsal_compares_records_with_earlier_ones() {
        let mut rehearsal = ImportRehearsal::default();
        let id = |number: usize| EventId::new(&format!("e{number}")).unwrap();
        for (content, expected) in [("a", Before::None), ("a", Before::Same), ("b", Before::Different)] {
            assert_eq!(rehearsal.compare(&id(0), content), expected, "{content}");
        }
        for number in 1..IMPORT_DRY_RUN_RECORDS_MAX {
            assert_eq!(rehearsal.compare(&id(number), "a"), Before::None, "{number}");
        }
        assert_eq!(rehearsal.compare(&id(IMPORT_DRY_RUN_RECORDS_MAX), "a"), Before::Full);
        assert_eq!(rehearsal.compare(&id(7), "a"), Before::Same, "what is known is compared all the same");
    }
}
