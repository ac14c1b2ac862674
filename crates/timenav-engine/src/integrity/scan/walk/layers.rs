//! Scans of adopted layers, which belong only to their fork and are scanned with it.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, LeafRecord, PruneClass};
use timenav_core::scan::{FindingKind, Findings, LedgerScan};

use super::block::{self, Block};
use super::{ScanWalk, stored_anchors};
use crate::integrity::scan::compared::Unplaced;
use crate::integrity::scan::hashing::HashedRow;
use crate::integrity::scan::replay::Replay;
use crate::integrity::scan::report::Checked;
use crate::integrity::scan::{blocks, events, hashing, rows, tree};
use crate::ledger::head::{EndedTimeline, TimelineKey};
use crate::ledger::payload::LaterEntry;
use crate::ports::store_error::StoreError;
use crate::read::long_work::off_thread;

/// Entries that explain erasures in an earlier layer: ledger and positions.
type LaterErasures = Vec<(TimelineKey, Vec<u64>)>;

struct Carried {
    ledger: LedgerScan,
    replay: Replay,
}

impl ScanWalk<'_, '_> {
    /// Compares the adopted layers, from the newest one on: each names its origin in its first entry. `entry_name` are the
    /// entries of the timeline that explain erasures in them.
    pub(super) async fn compare_layers(&mut self, newest: TimelineId, adopted_at: Vec<u64>) -> Result<(), StoreError> {
        let (mut next, mut count) = (Some(newest), 0);
        let mut later_erasures: LaterErasures = vec![(self.snapshot.head.key, adopted_at)];
        while let Some(layer) = next.take() {
            let Some(ended) = self.request.source.ended(&layer).await? else {
                let evidence = format!("the layer `{layer}` of this timeline is missing");
                self.findings.add(FindingKind::StateMismatch, Some(0), evidence);
                break;
            };
            let (replay, findings) = self.walk_layer(&ended, &later_erasures).await?;
            self.findings.append_of(layer.as_str(), findings);
            later_erasures.push((ended.key, replay.recorded_layers.clone()));
            if let Some(fork) = &replay.fork {
                let parent = TimelineId::new(&fork.fork_of).ok();
                next = parent.map(|parent| TimelineId::layer_of(&self.request.timeline, &parent));
            }
            count += 1;
        }
        self.checked.push(Checked { what: "layers", count });
        Ok(())
    }

    async fn walk_layer(
        &mut self,
        ended: &EndedTimeline,
        later_erasures: &LaterErasures,
    ) -> Result<(Replay, Findings), StoreError> {
        let (source, gazetteer) = (self.request.source, self.request.gazetteer.as_ref());
        let (EndedTimeline { key, size, root, .. }, name) = (ended.clone(), ended.id.entry_name());
        let mut findings = Findings::default();
        let ledger = LedgerScan::new(name.as_str(), Vec::new());
        let mut carried = Carried { ledger, replay: Replay::new(&name, 0, None) };
        let (mut at, mut unplaced) = (0, Unplaced::default());
        while at < size {
            let (rows, end) = blocks::read(source, key, at, size).await?;
            let rows = hashing::hash(rows).await?;
            let (back, block) = off_thread(move || carried.take(&rows, end)).await?;
            carried = back;
            tree::compare_tiles(source, key, &mut carried.ledger, block.filled).await?;
            for data in block.data {
                let stored = source.data_rows(key, vec![data.position]).await?.pop().flatten();
                if let Some(by) = rows::compare_data(&mut findings, &data, stored.as_ref()) {
                    carried.replay.add_erased_data(data.position, by);
                }
            }
            let compared = events::compare(source, key, gazetteer, block.events, None).await?;
            findings.append(compared.findings);
            unplaced.append(compared.unplaced);
            for event in compared.missing {
                let evidence = format!("table events, {}: the row is missing", event.event_id);
                findings.add(FindingKind::StateMismatch, Some(event.position), evidence);
            }
            at = end;
        }
        unplaced.report(&mut findings);
        let Carried { mut ledger, mut replay } = carried;
        let partial = ledger.take_partial();
        tree::compare_tiles(source, key, &mut ledger, partial).await?;
        let is_damaged = ledger.is_damaged();
        let frontier = tree::frontier(source, key, size, &mut findings).await?.unwrap_or_default();
        // The row of the layer, including its root, is signed with `system`.
        let signed = Checkpoint { origin: String::new(), size, root, extensions: Vec::new() };
        findings.append(ledger.finish(&frontier, Some(&signed)).0);
        if !is_damaged && replay.blind.is_none() {
            self.compare_rows_of_layer(ended, &mut replay, later_erasures).await?;
        } else {
            replay.compare_needed();
        }
        findings.append(std::mem::take(&mut replay.findings));
        Ok((replay, findings))
    }

    async fn compare_rows_of_layer(
        &mut self,
        ended: &EndedTimeline,
        replay: &mut Replay,
        later_erasures: &LaterErasures,
    ) -> Result<(), StoreError> {
        let (source, key, size) = (self.request.source, ended.key, ended.size);
        let explained_count = self.later_entries(ended, replay, later_erasures).await?;
        if explained_count < self.erased_later(&ended.id).await? {
            self.not_checked.push(format!(
                "Contents of `{}` were erased by later entries, and the version of timenav that adopted it kept no proof \
                 of that: only the bundle it was adopted from proves it.",
                ended.id
            ));
        } else {
            replay.compare_erasures(0);
        }
        replay.compare_anchors(&stored_anchors(source, key).await?);
        self.compare_timers_of_layer(key, replay).await?;
        let (events, interventions) = source.event_rows_count(key, size).await?;
        let data = source.data_rows_count(key, size).await?;
        let pairs = [
            ("events", events, replay.event_rows),
            ("interventions", interventions, replay.interventions_count),
            ("data_records", data, replay.data_count),
        ];
        for (table, found, made) in pairs.into_iter().filter(|(_, found, made)| found != made) {
            let evidence = format!("table {table} has {found} rows, but entries created {made}");
            replay.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        Ok(())
    }

    /// Timer rows of a layer do not change, so they must match its entries.
    async fn compare_timers_of_layer(&mut self, key: TimelineKey, replay: &mut Replay) -> Result<(), StoreError> {
        let Some(expected) = replay.timer_sums() else { return Ok(()) };
        match self.stored_timer_sums(key).await {
            Ok(stored) => {
                expected.compare(&stored, &mut replay.findings);
            }
            Err(StoreError::Damaged(what)) => {
                let evidence = format!("table timers cannot be read: {what}");
                replay.findings.add(FindingKind::StateMismatch, None, evidence);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns the number of entries that explain erasures. Their own payloads are compared elsewhere.
    async fn later_entries(
        &mut self,
        ended: &EndedTimeline,
        replay: &mut Replay,
        later_erasures: &LaterErasures,
    ) -> Result<u64, StoreError> {
        let mut count = 0;
        for (key, positions) in later_erasures {
            for position in positions {
                let row = self.request.source.entry_row(*key, *position).await?;
                let Some(later_entry) = row.and_then(|row| LaterEntry::decode_later(&row.payload).ok()) else {
                    continue;
                };
                let Ok(record) = later_entry.record() else { continue };
                if record.timeline_id == ended.id.entry_name().as_str() && record.seq >= ended.size {
                    replay.later_entry(&record, record.seq, &later_entry.payload);
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    async fn erased_later(&mut self, layer: &TimelineId) -> Result<u64, StoreError> {
        let head = &self.snapshot.head;
        let Some(origin) = head.origins.last() else { return Ok(0) };
        let row = self.request.source.entry_row(head.key, origin.end).await?;
        let adopted = row.as_ref().and_then(|row| timenav_core::ledger::Adopted::decode(&row.payload).ok());
        let adopted_layers = adopted.into_iter().flat_map(|adopted| adopted.layers);
        Ok(adopted_layers.filter(|one| one.timeline_id == layer.entry_name()).map(|one| one.erased_later).sum())
    }
}

impl Carried {
    fn take(mut self, rows: &[HashedRow], end: u64) -> (Self, Block) {
        let Self { ledger, replay } = &mut self;
        let block = block::take((ledger, replay), rows, end, |record, _, is_missing| is_pruned(record, is_missing));
        (self, block)
    }
}

/// The sweep that named it was checked when the layer was adopted.
fn is_pruned(record: &LeafRecord<'_>, is_missing: bool) -> bool {
    is_missing && PruneClass::of(&record.action).is_some()
}
