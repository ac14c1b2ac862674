use std::collections::HashSet;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, LeafRecord, leaf_hash};
use timenav_core::scan::Findings;

use super::tree;
use crate::ledger::action::Action;
use crate::ledger::head::Head;
use crate::ports::archive::ScanSource;
use crate::ports::store_error::StoreError;

const BLOCK_ENTRIES: u64 = 1_024;

/// Returns those timelines that `system` had recorded by the time it had `size` entries. If that is the size of its
/// last checkpoint outside, theirs were kept with it or before. A timeline created later may not have been kept when
/// the process ended.
///
/// Only entries that lead to the tree of `system` count as a creation.
///
/// # Errors
/// Stored data cannot be read.
#[boxed]
pub async fn made_before(
    source: &dyn ScanSource,
    system: &Head,
    size: u64,
    timelines: Vec<TimelineId>,
) -> Result<Vec<TimelineId>, StoreError> {
    if timelines.is_empty() || size >= system.frontier.size() {
        return Ok(timelines);
    }
    let names: HashSet<&str> = timelines.iter().map(TimelineId::as_str).collect();
    let (root, made) = made_after(source, system, size, &names).await?;
    if root != Some(system.frontier.root()) {
        return Ok(timelines);
    }
    Ok(timelines.iter().filter(|timeline| !made.contains(timeline.as_str())).cloned().collect())
}

/// Returns the root of the entries from `size` on, and which of the timelines they created.
async fn made_after(
    source: &dyn ScanSource,
    system: &Head,
    size: u64,
    names: &HashSet<&str>,
) -> Result<(Option<Hash>, HashSet<String>), StoreError> {
    let mut made = HashSet::new();
    let Some(mut frontier) = tree::frontier(source, system.key, size, &mut Findings::default()).await? else {
        return Ok((None, made));
    };
    let end = system.frontier.size();
    while frontier.size() < end {
        let first = frontier.size();
        let rows = source.entry_rows(system.key, first, end.min(first + BLOCK_ENTRIES)).await?.rows;
        if rows.first().is_none_or(|row| row.position != first) {
            return Ok((None, made));
        }
        for row in rows {
            frontier.push(leaf_hash(&row.leaf));
            let Ok(record) = LeafRecord::decode(&row.leaf) else { continue };
            let is_making = matches!(Action::of(&record), Some(Action::CreateTimeline | Action::Adopt));
            if is_making && names.contains(&*record.subject) {
                made.insert(record.subject.into_owned());
            }
        }
    }
    Ok((Some(frontier.root()), made))
}
