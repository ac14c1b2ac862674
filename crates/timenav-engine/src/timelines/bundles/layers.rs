//! Adopted layers of a fork that is exported again.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Adopted, AdoptedLayer, LeafRecord};

use super::BLOCK_ENTRIES;
use crate::engine::Engine;
use crate::ledger::action::{Action, Erases};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::lookups::OneFact as _;
use crate::requests::refusal::Refusal;

/// Number of entries of an adoption before the repeated erasures: `adopt`, `pause_time` and `set_access_control`.
const ENTRIES_OF_ADOPTION: u64 = 3;

/// Checks that a bundle can explain the erasures in the adopted layers of a fork. Earlier versions did not store the
/// explaining entries of the other service, and no key of this service vouches for them.
pub(super) async fn check(engine: &Engine, state: &TimelineState) -> Result<(), Refusal> {
    let all = state.lineage.iter().chain([&state.head.id]);
    for fork in all.filter(|id| state.lineage.iter().any(|layer| layer.adopting_fork().as_ref() == Some(id))) {
        let Some(state) = engine.state(fork) else { continue };
        let Some(adopted_at) = state.head.origins.last().map(|origin| origin.end) else { continue };
        let entry = engine.store().entry(state.head.key, adopted_at).await?;
        let adopted = entry.as_ref().and_then(|entry| Adopted::decode(&entry.payload).ok());
        let adopted = adopted
            .ok_or_else(|| Refusal::Damaged(format!("`{fork}` does not name the layers that it was adopted with")))?;
        let Some(layer) = adopted.layers.iter().find(|layer| layer.erased_later > 0) else { continue };
        if !names_layers(engine, state.head.key, adopted_at).await? {
            return Err(unrecorded_layer(fork, layer, &adopted.origin));
        }
    }
    Ok(())
}

/// Returns whether the entries of an adoption explain the erasures in its layers. They follow those that do so for the
/// timeline itself.
async fn names_layers(engine: &Engine, key: TimelineKey, adopted_at: u64) -> Result<bool, Refusal> {
    let mut at = adopted_at + ENTRIES_OF_ADOPTION;
    loop {
        let rows = engine.store().entry_rows(key, at, at + BLOCK_ENTRIES).await?.rows;
        if rows.is_empty() {
            return Ok(false);
        }
        for row in &rows {
            let action = LeafRecord::decode(&row.leaf).ok().and_then(|record| Action::of(&record));
            match action.and_then(Action::erases) {
                Some(Erases::OfLayer) => return Ok(true),
                // These are the only repeated erasures of the timeline itself.
                Some(Erases::Data | Erases::Contents) => {}
                Some(Erases::Events | Erases::Reads) | None => return Ok(false),
            }
        }
        at += rows.len() as u64;
    }
}

fn unrecorded_layer(fork: &TimelineId, layer: &AdoptedLayer, origin: &str) -> Refusal {
    let layer = &layer.timeline_id;
    let detail = format!(
        "`{fork}` continues from `{layer}`. Later entries at the service of `{origin}` erased some contents of that \
         layer, and the version of timenav that adopted the fork kept no proof of it. Use the adopted bundle, or \
         export the fork there"
    );
    Refusal::invalid("timeline_id", detail)
}
