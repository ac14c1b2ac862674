//! The events of a block, looked up and compared while the next block is hashed.

use std::sync::Arc;

use futures_util::future::try_join_all;
use timenav_core::scan::{FindingKind, Findings};

use super::replay::RecordedEvent;
use super::rows;
use crate::archive::ScanSource;
use crate::gazetteer::Gazetteer;
use crate::head::TimelineKey;
use crate::long_work::giving_way;
use crate::store_error::StoreError;

/// Into how many parts the events of a block go. Looking them up takes longer than all else, so
/// these are what keeps several cores busy.
const PARTS: usize = 4;
/// Events without the coordinates of their place that are remembered to be told one by one.
const UNPLACED_MAX: usize = 1_000;

/// What comparing events with their rows gave.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) findings: Findings,
    /// Events without a row.
    pub(super) missing: Vec<RecordedEvent>,
    pub(super) unplaced: Unplaced,
}

/// Events that have no coordinates, though the gazetteer knows those of the place that they name. Those that were
/// recorded before there was a gazetteer are so; after the first that got some, none is.
#[derive(Default)]
pub(super) struct Unplaced {
    /// The first event that has its coordinates from the gazetteer.
    first_placed: Option<u64>,
    /// Positions and ids.
    events: Vec<(u64, String)>,
}

impl Unplaced {
    pub(super) fn is_placed(&mut self, position: u64) {
        self.first_placed = Some(self.first_placed.map_or(position, |first| first.min(position)));
    }

    pub(super) fn is_not(&mut self, position: u64, event_id: &str) {
        if self.events.len() < UNPLACED_MAX {
            self.events.push((position, event_id.to_owned()));
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        if let Some(first) = other.first_placed {
            self.is_placed(first);
        }
        let room = UNPLACED_MAX.saturating_sub(self.events.len());
        self.events.extend(other.events.into_iter().take(room));
    }

    /// Tells of those that came after one that was placed.
    pub(super) fn tell(self, findings: &mut Findings) {
        let Some(first) = self.first_placed else { return };
        for (position, event_id) in self.events.into_iter().filter(|(position, _)| *position > first) {
            let evidence = format!("table events, {event_id}: the coordinates of its place are missing");
            findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }
}

/// Compares events with their rows.
pub(super) async fn compare(
    source: &dyn ScanSource,
    key: TimelineKey,
    gazetteer: Option<&Arc<dyn Gazetteer>>,
    mut events: Vec<RecordedEvent>,
) -> Result<Compared, StoreError> {
    let part_length = events.len().div_ceil(PARTS).max(1);
    let mut parts = Vec::with_capacity(PARTS);
    while !events.is_empty() {
        let rest = events.split_off(events.len().min(part_length));
        parts.push(compare_part(source, key, gazetteer, std::mem::replace(&mut events, rest)));
    }
    let mut whole = Compared::default();
    for part in try_join_all(parts).await? {
        whole.findings.append(part.findings);
        whole.missing.extend(part.missing);
        whole.unplaced.append(part.unplaced);
    }
    Ok(whole)
}

async fn compare_part(
    source: &dyn ScanSource,
    key: TimelineKey,
    gazetteer: Option<&Arc<dyn Gazetteer>>,
    events: Vec<RecordedEvent>,
) -> Result<Compared, StoreError> {
    let event_ids = events.iter().map(|event| event.event_id.clone()).collect();
    let kept = source.event_rows(key, event_ids).await?;
    let gazetteer = gazetteer.cloned();
    let comparing = tokio::task::spawn_blocking(move || {
        let mut compared = Compared::default();
        for (event, kept) in giving_way(events.into_iter().zip(kept)) {
            if rows::is_missing(&mut compared, gazetteer.as_deref(), &event, &kept) {
                compared.missing.push(event);
            }
        }
        compared
    });
    comparing.await.map_err(|error| StoreError::Unavailable(error.to_string()))
}
