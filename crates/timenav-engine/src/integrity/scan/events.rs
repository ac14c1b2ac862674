//! Compares the events of a block with their rows, while the next block is hashed.

use std::sync::Arc;

use futures_util::future::try_join_all;
use timenav_core::scan::FactKey;

use super::compared::Compared;
use super::facts::end_of;
use super::replay::RecordedEvent;
use super::rows;
use crate::ledger::head::TimelineKey;
use crate::ports::archive::ScanSource;
use crate::ports::gazetteer::Gazetteer;
use crate::ports::store_error::StoreError;
use crate::read::long_work::{off_thread, yielding};
use crate::writer::project::EventMade;

/// Number of parts of a block, which are looked up concurrently. Lookups are the slowest part of a scan.
const PARTS: usize = 4;

/// Compares events with their rows. With a key, also collects the ends of preceding versions as facts.
pub(super) async fn compare(
    source: &dyn ScanSource,
    key: TimelineKey,
    gazetteer: Option<&Arc<dyn Gazetteer>>,
    mut events: Vec<RecordedEvent>,
    facts: Option<FactKey>,
) -> Result<Compared, StoreError> {
    let part_length = events.len().div_ceil(PARTS).max(1);
    let mut parts = Vec::with_capacity(PARTS);
    while !events.is_empty() {
        let rest = events.split_off(events.len().min(part_length));
        parts.push(compare_part(source, key, gazetteer, std::mem::replace(&mut events, rest), facts));
    }
    let mut whole = Compared::default();
    for part in try_join_all(parts).await? {
        whole.append(part);
    }
    Ok(whole)
}

async fn compare_part(
    source: &dyn ScanSource,
    key: TimelineKey,
    gazetteer: Option<&Arc<dyn Gazetteer>>,
    events: Vec<RecordedEvent>,
    facts: Option<FactKey>,
) -> Result<Compared, StoreError> {
    let versions = events.iter().map(|event| (event.event_id.clone(), event.position)).collect();
    let stored = source.event_rows(key, versions).await?;
    let gazetteer = gazetteer.cloned();
    off_thread(move || {
        let mut compared = Compared::default();
        for (event, stored) in yielding(events.into_iter().zip(stored)) {
            // The preceding version may have been erased.
            if let Some(key) = facts.filter(|_| event.ends && stored.before.is_some()) {
                compared.ends.add(end_of(&key, event.position, &event.event_id));
            }
            if rows::is_missing(&mut compared, gazetteer.as_deref(), &event, &stored) {
                // A missing row is reported by event id.
                compared.missing.push(RecordedEvent { made: EventMade::Nothing, ..event });
            }
        }
        compared
    })
    .await
}
