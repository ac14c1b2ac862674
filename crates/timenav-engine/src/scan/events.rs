//! The events of a block, looked up and compared while the next block is hashed.

use futures_util::future::try_join_all;
use timenav_core::scan::Findings;

use super::replay::RecordedEvent;
use super::rows;
use super::source::ScanSource;
use crate::store::{StoreError, TimelineKey};

/// Into how many parts the events of a block go. Looking them up takes longer than all else, so
/// these are what keeps several cores busy.
const PARTS: usize = 4;

/// What comparing events with their rows gave.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) findings: Findings,
    /// Events without a row.
    pub(super) missing: Vec<RecordedEvent>,
}

/// Compares events with their rows.
pub(super) async fn compare(
    source: &dyn ScanSource,
    key: TimelineKey,
    mut events: Vec<RecordedEvent>,
) -> Result<Compared, StoreError> {
    let part_length = events.len().div_ceil(PARTS).max(1);
    let mut parts = Vec::with_capacity(PARTS);
    while !events.is_empty() {
        let rest = events.split_off(events.len().min(part_length));
        parts.push(compare_part(source, key, std::mem::replace(&mut events, rest)));
    }
    let mut whole = Compared::default();
    for part in try_join_all(parts).await? {
        whole.findings.append(part.findings);
        whole.missing.extend(part.missing);
    }
    Ok(whole)
}

async fn compare_part(
    source: &dyn ScanSource,
    key: TimelineKey,
    events: Vec<RecordedEvent>,
) -> Result<Compared, StoreError> {
    let event_ids = events.iter().map(|event| event.event_id.clone()).collect();
    let kept = source.event_rows(key, event_ids).await?;
    let comparing = tokio::task::spawn_blocking(move || {
        let mut compared = Compared::default();
        for (event, kept) in events.into_iter().zip(kept) {
            if rows::is_missing(&mut compared.findings, &event, &kept) {
                compared.missing.push(event);
            }
        }
        compared
    });
    comparing.await.map_err(|error| StoreError::Unavailable(error.to_string()))
}
