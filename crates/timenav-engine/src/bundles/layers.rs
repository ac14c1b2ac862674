//! Layers that came from another service, where a bundle of their fork is asked for again.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Adopted, AdoptedLayer, LeafRecord};

use super::BLOCK_ENTRIES;
use crate::action::{Action, Erases};
use crate::engine::Engine;
use crate::head::{TimelineKey, TimelineState};
use crate::one_fact::OneFact as _;
use crate::refusal::Refusal;

/// Entries of an adoption before those of what it tells again: `adopt`, `pause_time` and `set_access_control`.
const ENTRIES_OF_ADOPTION: u64 = 3;

/// Makes sure that a bundle can show why something of the layers is gone that a fork came here with. Earlier versions kept
/// nothing of what later entries at the other service said of them, which no key of this service vouches for.
pub(super) async fn check(engine: &Engine, state: &TimelineState) -> Result<(), Refusal> {
    let all = state.lineage.iter().chain([&state.head.id]);
    for fork in all.filter(|id| state.lineage.iter().any(|layer| layer.came_with().as_ref() == Some(id))) {
        let Some(state) = engine.state(fork) else { continue };
        let Some(adopted_at) = state.head.origins.last().map(|origin| origin.end) else { continue };
        let entry = engine.store().entry(state.head.key, adopted_at).await?;
        let told = entry.as_ref().and_then(|entry| Adopted::decode(&entry.payload).ok());
        let told = told.ok_or_else(|| Refusal::Damaged(format!("`{fork}` does not say what it came with")))?;
        let Some(layer) = told.layers.iter().find(|layer| layer.erased_later > 0) else { continue };
        if !tells_of_layers(engine, state.head.key, adopted_at).await? {
            return Err(untold(fork, layer, &told.origin));
        }
    }
    Ok(())
}

/// Returns whether the entries of an adoption say why something of the layers is gone. They come after those that say the
/// same of the timeline itself.
async fn tells_of_layers(engine: &Engine, key: TimelineKey, adopted_at: u64) -> Result<bool, Refusal> {
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
                // These two are all that an adoption tells again of the timeline itself.
                Some(Erases::Data | Erases::Contents) => {}
                Some(Erases::Events | Erases::Reads) | None => return Ok(false),
            }
        }
        at += rows.len() as u64;
    }
}

fn untold(fork: &TimelineId, layer: &AdoptedLayer, origin: &str) -> Refusal {
    let layer = &layer.timeline_id;
    let detail = format!(
        "`{fork}` continues from `{layer}`, later entries at the service of `{origin}` erased some of its contents, and an \
         earlier version of timenav adopted it, which kept no proof of that. Use the bundle that was adopted, or export \
         the fork there"
    );
    Refusal::invalid("timeline_id", detail)
}
