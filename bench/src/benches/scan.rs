//! A full tampering scan on all cores, against hashing the same bytes into a Merkle tree on one core (goal 8).

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Frontier, Salt, leaf_hash, payload_hash};
use timenav_core::scan::Depth;
use timenav_engine::{EntryRow, ScanSource};
use timenav_store::SqliteStore;
use tokio::runtime::Runtime;

use crate::load::count;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::{self, Opened};

/// Maximum number of entries that the floor keeps in memory. Half a gigabyte would measure memory access.
const FLOOR_ENTRIES_MAX: u64 = 100_000;
const LOOK_EVERY_ENTRIES: u64 = 10_000;
const FLOOR: &str = "the same bytes in memory, hashed into a Merkle tree on one core";

struct Subject {
    opened: Opened,
    timeline: TimelineId,
    rows: Vec<EntryRow>,
    entry_bytes: f64,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let entries_count = setting.history_events();
    // For events, their rows are compared too. Reads have only the ledger.
    let events = ports::stored_history(setting, entries_count)?;
    let make = |folder: &Path| make_reads(folder, entries_count);
    let reads = setting.cached_folder(&format!("scan-reads-{entries_count}-v2"), make)?;
    Ok([measure(setting, ("events", 0.35), &events)?, measure(setting, ("reads", 0.8), &reads)?].concat())
}

fn measure(setting: &Setting, (name, goal): (&str, f64), folder: &Path) -> anyhow::Result<[Finding; 2]> {
    let subject = Subject::open(folder)?;
    let floor = || setting.cores.measured(|| subject.hash());
    let rounds = Rounds::measure(setting, floor, || subject.scan())?;
    let megabytes = |figures: &[f64]| figures.iter().map(|rate| rate * subject.entry_bytes / 1e6).collect();
    let in_bytes = Rounds { floor: megabytes(&rounds.floor), subject: megabytes(&rounds.subject) };
    let finding = |unit, rounds| Finding::new(format!("scan-full-{name}"), unit, rounds, Goal::AtLeast(goal), FLOOR);
    Ok([finding(Unit::EntriesPerSecond, rounds), finding(Unit::MegabytesPerSecond, in_bytes)])
}

fn make_reads(folder: &Path, entries_count: u64) -> anyhow::Result<()> {
    let Opened { runtime, engine, caller, .. } = &Opened::on(runtime()?, folder)?;
    for number in 0..entries_count {
        if number % LOOK_EVERY_ENTRIES == 0 {
            crate::measure::interrupt::check()?;
        }
        runtime.block_on(ports::logged_read(engine, caller))?;
    }
    Ok(())
}

impl Subject {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let opened = Opened::on(runtime()?, folder)?;
        let timeline = TimelineId::new(TimelineId::MAIN)?;
        let rows = opened.runtime.block_on(first_rows(&opened.store, &timeline))?;
        ensure!(!rows.is_empty(), "there is nothing to scan in {}", folder.display());
        let bytes: usize = rows.iter().map(|row| row.leaf.len() + row.salt.len() + row.payload.len()).sum();
        let entry_bytes = count(bytes) / count(rows.len());
        warm(&ports::database_of(folder))?;
        Ok(Self { opened, timeline, rows, entry_bytes })
    }

    fn hash(&self) -> anyhow::Result<f64> {
        let watch = Stopwatch::start();
        let mut tree = Frontier::default();
        for row in &self.rows {
            let salt = Salt::from_bytes(row.salt.as_slice().try_into().context("an entry has no salt")?);
            std::hint::black_box(payload_hash(&salt, &row.payload));
            tree.push(leaf_hash(&row.leaf));
        }
        std::hint::black_box(tree.root());
        Ok(count(self.rows.len()) / watch.elapsed().as_secs_f64())
    }

    fn scan(&self) -> anyhow::Result<f64> {
        let watch = Stopwatch::start();
        let mut nobody_asks = |_| ();
        let Opened { runtime, engine, caller, .. } = &self.opened;
        let detecting = engine.detect_tampering(caller, &self.timeline, Depth::Full, &mut nobody_asks);
        let scan = runtime.block_on(detecting)?.scan;
        let seconds = watch.elapsed().as_secs_f64();
        ensure!(!scan.tampering_detected(), "{}", scan.details);
        Ok(count(usize::try_from(scan.size)?) / seconds)
    }
}

/// One worker per core, because a scan may use all of them.
fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

async fn first_rows(store: &Arc<SqliteStore>, timeline: &TimelineId) -> anyhow::Result<Vec<EntryRow>> {
    let snapshot = store.snapshot(timeline).await?.context("there is no such timeline")?;
    let end = snapshot.head.frontier.size().min(FLOOR_ENTRIES_MAX);
    let (mut rows, mut next) = (Vec::new(), 0);
    while next < end {
        let read = store.entry_rows(snapshot.head.key, next, end).await?;
        rows.extend(read.rows);
        next = read.end;
    }
    Ok(rows)
}

/// Reads the whole file once, so that the first round is like the others.
fn warm(database: &Path) -> anyhow::Result<()> {
    std::io::copy(&mut std::fs::File::open(database)?, &mut std::io::sink())?;
    Ok(())
}
