use std::sync::Arc;

use futures_util::future::OptionFuture;
use timenav_core::anchor::Anchor;
use timenav_core::ledger::{Checkpoint, LeafRecord, MissingPayloads};
use timenav_core::scan::{Depth, FindingKind, Findings, LedgerScan, Mark, compare_checkpoints};

use super::blocks::BLOCK_ENTRIES;
use super::compared::{Compared, MISSING_MAX, Unplaced};
use super::facts::random_key;
use super::hashing::HashedRow;
use super::powers::Powers;
use super::replay::{RecordedData, RecordedEvent, Replay};
use super::report::{self, Checked, Outcome, Scan};
use super::request::{Progress, ScanRequest, ScanStage};
use super::{authority, pass, rows, tree};
use crate::integrity::scan::pruned::{self, Pruned};
use crate::ledger::head::TimelineKey;
use crate::ports::archive::{EntryRow, Orphan, ScanSource, Snapshot};
use crate::ports::store_error::StoreError;

mod block;
mod entries;
mod fork;
mod heads;
mod layers;
mod outcomes;
mod picked;
mod reads;
mod retention;
mod timers;

use block::Block;
use heads::Heads;

/// Sealed records read at a time: the largest has a megabyte.
const BLOCK_DATA: usize = 16;
const BLOCK_ANCHORS: usize = 1_000;

struct ScanWalk<'a, 'b> {
    request: &'a ScanRequest<'b>,
    snapshot: Snapshot,
    signed: Option<Checkpoint>,
    findings: Findings,
    checked: Vec<Checked>,
    not_checked: Vec<String>,
    good: Vec<u64>,
    sampled: u64,
    /// Events without a row, which may have been erased in the meantime.
    missing: Vec<RecordedEvent>,
    /// Reads and rejections of a sample whose payloads are missing.
    missing_sampled: MissingPayloads,
    unplaced: Unplaced,
    heads: Heads,
    progress: Progress,
    report_progress: &'a mut (dyn FnMut(Progress) + Send),
}

struct Carried {
    ledger: LedgerScan,
    replay: Replay,
    pruned: Pruned,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    events: u64,
    interventions: u64,
    data: u64,
}

pub(super) async fn walk(
    request: &ScanRequest<'_>,
    snapshot: Snapshot,
    signed: Option<Checkpoint>,
    marks: Vec<Mark>,
    findings: Findings,
    report_progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Scan, StoreError> {
    let checkpoints = marks.len() as u64 + u64::from(signed.is_some());
    let mut way = ScanWalk {
        request,
        snapshot,
        signed,
        findings,
        checked: vec![Checked { what: "checkpoints", count: checkpoints }],
        not_checked: Vec::new(),
        good: Vec::new(),
        sampled: 0,
        missing: Vec::new(),
        missing_sampled: MissingPayloads::default(),
        unplaced: Unplaced::default(),
        heads: Heads::default(),
        progress: Progress::default(),
        report_progress,
    };
    way.check_beyond_head();
    match request.depth {
        Depth::Full => way.read_from(0, marks).await?,
        Depth::Quick => way.compare_tree(marks).await?,
        Depth::Tail(count) => {
            let first = way.size().saturating_sub(count.get());
            way.read_from(first, marks).await?;
        }
        Depth::Sample(count) => {
            way.compare_tree(marks).await?;
            way.sample(count.get().min(way.size())).await?;
        }
    }
    Ok(way.report())
}

impl ScanWalk<'_, '_> {
    const fn size(&self) -> u64 {
        self.snapshot.head.frontier.size()
    }

    fn enter(&mut self, stage: ScanStage, entries_total: u64) {
        self.progress = Progress { stage, entries_total, ..self.progress };
        (self.report_progress)(self.progress);
    }

    fn advance(&mut self, entries: u64, bytes: u64) {
        self.progress = Progress { entries, bytes: self.progress.bytes + bytes, ..self.progress };
        (self.report_progress)(self.progress);
    }

    /// Checks for entries beyond the head, which are not signed.
    fn check_beyond_head(&mut self) {
        let size = self.size();
        if let Some(last) = self.snapshot.last_position.filter(|last| *last >= size) {
            let evidence = format!("there are entries up to position {last}, but the tree ends before {size}");
            self.findings.add(FindingKind::CheckpointMismatch, Some(size), evidence);
        }
        for table in &self.snapshot.ahead {
            let evidence = format!("table {table} has rows at positions beyond the size of the ledger ({size})");
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        for Orphan { table, timeline } in &self.snapshot.orphans {
            let evidence = format!("table {table} has rows of timeline number {timeline}, which does not exist");
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        for timeline in &self.snapshot.marked {
            let evidence = format!(
                "table arrivals marks timeline number {timeline} as still arriving, but nothing arrives under that number"
            );
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
    }

    async fn compare_tree(&mut self, mut marks: Vec<Mark>) -> Result<(), StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        self.enter(ScanStage::Tree, 0);
        tree::find_marks(source, key, size, &mut marks, &mut self.findings).await?;
        let root = tree::root(source, key, size, &mut self.findings).await?;
        let (findings, good) = compare_checkpoints(&self.snapshot.head.frontier, root, self.signed.as_ref(), &marks);
        self.findings.append(findings);
        self.good.extend(good);
        self.checked.push(Checked { what: "roots", count: 1 + marks.len() as u64 });
        Ok(())
    }

    async fn read_from(&mut self, first: u64, mut marks: Vec<Mark>) -> Result<(), StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        let timeline = &self.request.timeline;
        let ledger = if first == 0 {
            // The root of an empty tree is known without reading.
            for mark in marks.iter_mut().filter(|mark| mark.size == 0) {
                mark.found = Some(timenav_core::ledger::empty_root());
            }
            LedgerScan::new(timeline.as_str(), marks)
        } else {
            tree::find_marks(source, key, first, &mut marks, &mut self.findings).await?;
            match tree::frontier(source, key, first, &mut self.findings).await? {
                Some(frontier) => LedgerScan::after(timeline.as_str(), frontier, marks),
                None => return Ok(()),
            }
        };
        let powers = self.powers().await?;
        let adopted = self.snapshot.head.origins.last().map_or(0, |origin| origin.end);
        // If all entries are read, the rows are compared in one pass.
        let facts = (self.request.depth == Depth::Full).then(|| random_key(self.request.entropy));
        let replay = Replay::new(timeline, first, powers).was_adopted(adopted).with_facts(facts);
        let carried = Carried { ledger, replay, pruned: self.pruned().await? };
        self.enter(ScanStage::Entries, size - first);
        let gazetteer = self.request.gazetteer.clone();
        let passing = facts.map(|facts| Box::pin(pass::pass(source, key, size, facts, gazetteer)));
        let reading = Box::pin(self.read_blocks(carried, first, facts));
        let passing = async { Ok::<_, StoreError>(OptionFuture::from(passing).await) };
        let ((carried, changes), passed) = tokio::try_join!(reading, passing)?;
        if let Some(passed) = passed {
            Box::pin(self.compare_rows(&carried.replay, changes, &passed)).await?;
        }
        std::mem::take(&mut self.unplaced).report(&mut self.findings);
        self.end(carried).await
    }

    /// Returns the history of permissions; `None` if it is not needed, or follows from the scanned entries themselves.
    async fn powers(&mut self) -> Result<Option<Arc<Powers>>, StoreError> {
        if self.request.depth != Depth::Full || self.request.timeline.is_system() {
            return Ok(None);
        }
        match authority::powers(self.request, self.snapshot.head.directory).await? {
            Ok(powers) => Ok(Some(powers)),
            Err(why) => {
                let sentence =
                    "Whether the users named in the entries were allowed to do what they did was not checked";
                self.not_checked.push(format!("{sentence}: {why}."));
                Ok(None)
            }
        }
    }

    /// Returns the block's events, whose comparison takes longer.
    async fn compare_block(&mut self, carried: &mut Carried, block: Block) -> Result<Vec<RecordedEvent>, StoreError> {
        tree::compare_tiles(self.request.source, self.snapshot.head.key, &mut carried.ledger, block.filled).await?;
        if !block.data.is_empty() {
            self.compare_data(&mut carried.replay, &block.data).await?;
        }
        self.compare_outcomes(&block.forgotten).await?;
        self.compare_heads(&block.heads).await?;
        Ok(block.events)
    }

    fn keep(&mut self, compared: Result<Compared, StoreError>) -> Result<(), StoreError> {
        match compared {
            Ok(Compared { findings, missing, unplaced, .. }) => {
                self.findings.append(findings);
                self.unplaced.append(unplaced);
                let room = MISSING_MAX.saturating_sub(self.missing.len());
                self.missing.extend(missing.into_iter().take(room));
                Ok(())
            }
            Err(error) => self.damage(error, "events"),
        }
    }

    async fn compare_data(&mut self, replay: &mut Replay, data: &[RecordedData]) -> Result<(), StoreError> {
        for data in data.chunks(BLOCK_DATA) {
            let positions = data.iter().map(|data| data.position).collect();
            let stored = match self.request.source.data_rows(self.snapshot.head.key, positions).await {
                Ok(stored) => stored,
                Err(error) => return self.damage(error, "data_records"),
            };
            for (data, stored) in data.iter().zip(stored) {
                if let Some(by) = rows::compare_data(&mut self.findings, data, stored.as_ref()) {
                    replay.add_erased_data(data.position, by);
                }
            }
        }
        Ok(())
    }

    /// An unreadable row is a finding; a store that does not respond is an error.
    fn damage(&mut self, error: StoreError, table: &str) -> Result<(), StoreError> {
        match error {
            StoreError::Damaged(what) => {
                self.findings.add(FindingKind::StateMismatch, None, format!("table {table} cannot be read: {what}"));
                Ok(())
            }
            StoreError::Moved(_) | StoreError::Unavailable(_) | StoreError::Unknown(_) => Err(error),
        }
    }

    async fn end(&mut self, mut carried: Carried) -> Result<(), StoreError> {
        self.enter(ScanStage::Tables, self.progress.entries_total);
        let partial = carried.ledger.take_partial();
        tree::compare_tiles(self.request.source, self.snapshot.head.key, &mut carried.ledger, partial).await?;
        let Carried { ledger, mut replay, mut pruned } = carried;
        // Count first: whatever is erased after the count is named by an entry that is read after it.
        let counts = self.count_rows().await?;
        self.look_for_erasures(&mut replay, &mut pruned).await?;
        let sweeps = pruned.positions();
        // The sweeps that name none of the entries that were read.
        self.open_sweeps(&mut pruned, u64::MAX).await?;
        pruned.finish(replay.first, &mut self.findings);
        self.checked.extend([
            Checked { what: "entries", count: ledger.entries_count() },
            Checked { what: "payloads", count: ledger.payloads_count() },
            Checked { what: "erased", count: replay.erased_count() },
            Checked { what: "pruned", count: replay.pruned_count },
            Checked { what: "tiles", count: ledger.tiles_count() },
            Checked { what: "changes", count: replay.changes_count },
            Checked { what: "authorities", count: replay.authorities_count },
        ]);
        let is_full = self.request.depth == Depth::Full;
        let (is_damaged, root) = (ledger.is_damaged(), ledger.root());
        let (findings, good) = ledger.finish(&self.snapshot.head.frontier, self.signed.as_ref());
        self.findings.append(findings);
        self.good.extend(good);
        if is_damaged {
            replay.lose(0);
        }
        let mut rows = replay.finish(&self.snapshot);
        replay.compare_signing_key(&self.request.keys.current);
        if is_full && replay.blind.is_none() {
            let signed = self.signed.as_ref().filter(|signed| signed.root == root);
            let statements = signed.map_or(0, |_| replay.compare_statement(self.request, &self.snapshot, root));
            self.checked.push(Checked { what: "statements", count: statements });
            self.compare_fork(&replay).await?;
            self.compare_ended().await?;
            rows += self.compare_anchors(&mut replay).await?;
            rows += self.compare_timers(&replay).await?;
            rows += replay.compare_retention(&self.snapshot, &sweeps);
            self.compare_counts(&replay, counts);
        }
        self.compare_reads(&replay).await?;
        if replay.blind.is_some() {
            self.not_checked.push(
                "The tables were not compared with the entries, because entries do not match what was signed or cannot be read."
                    .to_owned(),
            );
        }
        self.report_heads(replay.rollback_accepted());
        self.not_checked.extend(replay.take_accepted());
        self.checked.push(Checked { what: "events", count: replay.event_rows });
        self.checked.push(Checked { what: "data_records", count: replay.data_count });
        self.checked.push(Checked { what: "rows", count: rows });
        if is_full && self.request.timeline.is_system() {
            // Checked once for all timelines, because they share the table.
            let outcomes = self.compare_answers().await?;
            self.checked.push(Checked { what: "outcomes", count: outcomes });
            for contradiction in self.request.source.contradictions().await? {
                self.findings.add(FindingKind::StateMismatch, None, contradiction);
            }
        }
        self.findings.append(std::mem::take(&mut replay.findings));
        Ok(())
    }

    /// Reads entries written after the scan began, which explain contents erased or pruned in the meantime. An event
    /// without a row that was not erased is missing.
    async fn look_for_erasures(&mut self, replay: &mut Replay, pruned: &mut Pruned) -> Result<(), StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        let mut at = self.size();
        loop {
            let rows = source.entry_rows(key, at, at + BLOCK_ENTRIES).await?.rows;
            let Some(last) = rows.last() else { break };
            at = last.position + 1;
            for row in &rows {
                let Ok(record) = LeafRecord::decode(&row.leaf) else { continue };
                replay.later_entry(&record, row.position, &row.payload);
                if let Some(retention) = pruned::retention_entry(&record, &row.payload) {
                    let explained = pruned.later(row.position, &retention, &mut self.findings);
                    for position in explained {
                        replay.pruned_later(position);
                    }
                }
            }
        }
        for event in std::mem::take(&mut self.missing) {
            if !replay.is_erased_later(event.position) {
                let evidence = format!("table events, {}: the row is missing", event.event_id);
                self.findings.add(FindingKind::StateMismatch, Some(event.position), evidence);
            }
        }
        Ok(())
    }

    /// Compares the trees of ended timelines with their recorded roots. Their entries can be scanned by name.
    async fn compare_ended(&mut self) -> Result<(), StoreError> {
        let Some(service) = self.snapshot.service.take() else { return Ok(()) };
        for ended in &service.ended {
            self.findings.append(super::ended::compare_tree(self.request.source, ended).await?);
        }
        if !service.ended.is_empty() {
            self.checked.push(Checked { what: "ended_timelines", count: service.ended.len() as u64 });
        }
        Ok(())
    }

    async fn compare_anchors(&mut self, replay: &mut Replay) -> Result<u64, StoreError> {
        let mut stored = match stored_anchors(self.request.source, self.snapshot.head.key).await {
            Ok(stored) => stored,
            Err(error) => return self.damage(error, "anchors").map(|()| 0),
        };
        let size = self.size();
        stored.retain(|anchor| anchor.position < size);
        Ok(replay.compare_anchors(&stored))
    }

    async fn count_rows(&mut self) -> Result<Counts, StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        if self.request.depth != Depth::Full {
            return Ok(Counts::default());
        }
        let (events, interventions) = source.event_rows_count(key, size).await?;
        Ok(Counts { events, interventions, data: source.data_rows_count(key, size).await? })
    }

    /// Each entry has its row, so equal counts mean that there are no other rows.
    fn compare_counts(&mut self, replay: &Replay, Counts { events, interventions, data }: Counts) {
        let recorded = replay.event_rows;
        if events > recorded || events + replay.events_erased_later() < recorded {
            let evidence =
                format!("table events has {events} rows, but entries created {recorded} that were not erased");
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        if interventions != replay.interventions_count {
            let made = replay.interventions_count;
            let evidence = format!("table interventions has {interventions} rows, but there were {made} interventions");
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        if data != replay.data_count {
            let evidence = format!("table data_records has {data} rows, but {} were created", replay.data_count);
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
    }

    fn report(self) -> Scan {
        let Self { request, snapshot, signed, findings, checked, mut not_checked, good, sampled, .. } = self;
        let (size, root) = (snapshot.head.frontier.size(), snapshot.head.frontier.root());
        let signed = signed.filter(|signed| (signed.size, signed.root) == (size, root));
        let outcome = Outcome::new(findings, &good);
        not_checked.extend(report::not_checked(request, size, sampled));
        let checkpoint = signed.as_ref().and_then(|signed| report::reference_note(request, &snapshot.head, signed));
        Scan { checkpoint, signed, root: Some(root), ..report::of(request, outcome, size, (checked, not_checked)) }
    }
}

async fn stored_anchors(source: &dyn ScanSource, key: TimelineKey) -> Result<Vec<Anchor>, StoreError> {
    let mut stored: Vec<Anchor> = Vec::new();
    loop {
        let after = stored.last().map(|anchor| anchor.position);
        let page = source.anchor_rows(key, after, BLOCK_ANCHORS).await?;
        if page.is_empty() {
            return Ok(stored);
        }
        stored.extend(page);
    }
}

impl Carried {
    fn take(mut self, rows: &[HashedRow], end: u64) -> (Self, Block) {
        let Self { ledger, replay, pruned } = &mut self;
        let is_pruned = |record: &LeafRecord<'_>, row: &EntryRow, is_missing| pruned.entry(record, row, is_missing);
        let block = block::take((ledger, replay), rows, end, is_pruned);
        pruned.end_before(end);
        (self, block)
    }
}
