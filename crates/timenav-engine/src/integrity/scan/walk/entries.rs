use timenav_core::scan::{FactKey, Fingerprint, LedgerScan};

use super::super::compared::Compared;
use super::super::facts::RowFacts;
use super::super::pass::PassResult;
use super::super::replay::Replay;
use super::super::request::ScanStage;
use super::super::{blocks, events, hashing};
use super::{Carried, ScanWalk, block};
use crate::ports::store_error::StoreError;
use crate::read::long_work::off_thread;

impl ScanWalk<'_, '_> {
    /// Reads entries in blocks, and compares their effects. With a key, events that were recorded and not changed are
    /// left to the pass over all rows, and the result of comparing the others is returned; `None` if some of their rows
    /// cannot be read.
    pub(super) async fn read_blocks(
        &mut self,
        mut carried: Carried,
        first: u64,
        facts: Option<FactKey>,
    ) -> Result<(Carried, Option<Compared>), StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        let gazetteer = self.request.gazetteer.as_ref();
        let (rows, mut end) = blocks::read(source, key, first, size).await?;
        let mut hashed = hashing::hash(rows).await?;
        let mut next = blocks::read(source, key, end, size).await?;
        let (mut at, mut events, mut changes) = (first, Vec::new(), Some(Compared::default()));
        while at < size {
            let bytes = hashed.iter().map(|hashed| hashed.row.bytes_count()).sum();
            self.open_sweeps(&mut carried.pruned, end).await?;
            // Pipeline: while this block is replayed, the next one is hashed, the one after that is read, and the
            // events of the last one are compared, not on threads that serve requests.
            let working = off_thread(move || carried.take(&hashed, end));
            let (rows, next_end) = next;
            let reading = blocks::read(source, key, next_end, size);
            let comparing = events::compare(source, key, gazetteer, events, facts);
            let (worked, hashing, read, compared) = tokio::join!(working, hashing::hash(rows), reading, comparing);
            let (back, block) = worked?;
            (carried, hashed, next) = (back, hashing?, read?);
            self.keep_or_collect(compared, &mut changes, facts.is_some())?;
            events = self.compare_block(&mut carried, block).await?;
            (at, end) = (end, next_end);
            self.advance(at - first, bytes);
        }
        let compared = events::compare(source, key, gazetteer, events, facts).await;
        self.keep_or_collect(compared, &mut changes, facts.is_some())?;
        Ok((carried, changes))
    }

    fn keep_or_collect(
        &mut self,
        compared: Result<Compared, StoreError>,
        changes: &mut Option<Compared>,
        is_collected: bool,
    ) -> Result<(), StoreError> {
        if !is_collected {
            return self.keep(compared);
        }
        match (compared, changes) {
            (Ok(compared), Some(changes)) => changes.append(compared),
            (Ok(_), None) => {}
            (Err(StoreError::Damaged(_)), changes) => *changes = None,
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }

    /// Only if the pass over all rows differs from the entries, each row is looked up by its id, to report it.
    pub(super) async fn compare_rows(
        &mut self,
        replay: &Replay,
        changes: Option<Compared>,
        passed: &PassResult,
    ) -> Result<(), StoreError> {
        let mut expected = replay.facts.as_ref().map_or_else(Fingerprint::default, RowFacts::sum);
        match changes {
            Some(changes) => {
                expected.add(changes.ends);
                if passed.is_of(expected) { self.keep(Ok(changes)) } else { self.compare_each().await }
            }
            None => self.compare_each().await,
        }
    }

    /// Reads all entries again, and looks up the rows of each event.
    async fn compare_each(&mut self) -> Result<(), StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        let (timeline, gazetteer) = (&self.request.timeline, self.request.gazetteer.as_ref());
        self.enter(ScanStage::Tables, self.progress.entries_total);
        let mut carried = (LedgerScan::new(timeline.as_str(), Vec::new()), Replay::new(timeline, 0, None));
        let (mut at, mut events) = (0, Vec::new());
        while at < size {
            let (rows, end) = blocks::read(source, key, at, size).await?;
            let hashed = hashing::hash(rows).await?;
            let working = off_thread(move || {
                let (ledger, replay) = &mut carried;
                let block = block::take((ledger, replay), &hashed, end, |_, _, _| false);
                (carried, block)
            });
            let (worked, compared) =
                tokio::join!(working, events::compare(source, key, gazetteer, std::mem::take(&mut events), None));
            self.keep(compared)?;
            let (back, block) = worked?;
            (carried, events) = (back, block.events);
            at = end;
        }
        self.keep(events::compare(source, key, gazetteer, events, None).await)
    }
}
