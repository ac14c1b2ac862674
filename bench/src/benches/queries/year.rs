//! Disk space of a team's year: twenty pollers that read the clock once a second, two thousand events a day, and thirty
//! days of retention.
//!
//! The host's clock is simulated, and only one in N seconds of the year is simulated with everything that happens in
//! it, so that all totals are N times smaller. Reads come one by one and each has its own entry. Concurrent pollers
//! would share one and need less space.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Caller, Engine, ReadLog, RetentionPeriod, RetentionRequest, WallClock};

use crate::history::History;
use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports;

const POLLERS: i64 = 20;
const EVENTS_A_DAY: i64 = 2_000;
const RETENTION_DAYS: u32 = 30;
const DAY_SECONDS: i64 = 86_400;
const DAYS: i64 = 365;
/// Start of the year: 2026-01-01.
const START_SECONDS: i64 = 1_767_225_600;

struct YearClock(AtomicI64);

impl WallClock for YearClock {
    fn now(&self) -> Instant<Wall> {
        // Never the same time twice, like the real clock.
        Instant::from_micros(self.0.fetch_add(1, Ordering::Relaxed)).unwrap_or(Instant::MAX)
    }
}

/// Sizes in the data folder, in millions of bytes.
#[derive(Clone, Copy, Default)]
struct Weight {
    folder: f64,
    /// The database file. The checkpoint file next to it is truncated now and then.
    database: f64,
    /// Free pages of the database, which later entries will reuse.
    free: f64,
    /// Data subject to retention or erasure.
    contents: f64,
    entries: i64,
}

impl Weight {
    /// Returns the growth of the database per entry since an earlier measurement, not counting contents.
    fn besides(self, earlier: Self) -> f64 {
        let grown = (self.database - self.contents) - (earlier.database - earlier.contents);
        grown * 1e6 / entries_of(self, earlier)
    }
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let thinned = if setting.quick { 2_000 } else { 200 };
    let folder = setting.empty_folder("year")?;
    let months = ports::runtime()?.block_on(live(&folder, thinned))?;
    println!("one of {thinned} seconds of a year; megabytes, and entries of all ledgers");
    let heads = ["folder", "database", "free", "contents"].map(|head| format!("{head:>10}")).concat();
    println!("{:>5}{heads} {:>12} {:>24}", "day", "entries", "bytes an entry besides");
    let mut before = Weight::default();
    for (day, weight) in &months {
        let Weight { folder, database, free, contents, entries } = *weight;
        let megabytes = [folder, database, free, contents].map(|figure| format!("{figure:>10.2}")).concat();
        println!("{day:>5}{megabytes} {entries:>12} {:>24.0}", weight.besides(before));
        before = *weight;
    }
    let at = |requested: i64| {
        months.iter().find(|(day, _)| *day == requested).map(|(_, weight)| *weight).unwrap_or_default()
    };
    let (early, late) = (at(60), at(360));
    let besides = late.besides(early);
    let finding = |name: &str, subject: f64, floor: f64, goal: f64, of: &'static str| {
        Finding::new(
            name,
            Unit::Megabytes,
            Rounds { floor: vec![floor], subject: vec![subject] },
            Goal::AtMost(goal),
            of,
        )
    };
    Ok(vec![
        finding(
            "year-of-reads-and-refusals",
            late.contents - events_of(&folder, &months)?,
            early.contents,
            1.1,
            "all contents after two months, events included",
        ),
        finding(
            "year-growth-of-the-database",
            besides * entries_of(late, early) / 1e6,
            LEAF_BYTES * entries_of(late, early) / 1e6,
            1.15,
            "a leaf of 50 bytes and its hash in a row and a tile for each entry, forever",
        ),
    ])
}

/// Bytes of a leaf in its short form in its own row (70), its hash (36, because a tile of 8 KiB takes more than a
/// page), and the tree levels above.
const LEAF_BYTES: f64 = 108.0;

#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
fn entries_of(later: Weight, earlier: Weight) -> f64 {
    (later.entries - earlier.entries) as f64
}

/// Returns the size of the events recorded after two months, which are never pruned.
fn events_of(folder: &Path, months: &[(i64, Weight)]) -> anyhow::Result<f64> {
    let connection = ports::open_database(folder)?;
    let sum = "SELECT coalesce(sum(length(payload) + length(salt)), 0) FROM entries JOIN events ON entry = (timeline << 40) + position";
    let all: f64 = connection.query_row(sum, [], |row| row.get::<_, i64>(0)).map(megabytes)?;
    let days = months.last().map_or(1, |(day, _)| *day);
    #[expect(clippy::cast_precision_loss, reason = "days of a year")]
    Ok(all * (days - 60) as f64 / days as f64)
}

/// Simulates the year, and measures the folder every thirty days.
async fn live(folder: &Path, thinned: i64) -> anyhow::Result<Vec<(i64, Weight)>> {
    let clock = Arc::new(YearClock(AtomicI64::new(START_SECONDS * 1_000_000)));
    let (engine, caller, store) =
        ports::open_at(folder, Arc::clone(&clock) as Arc<dyn WallClock>, ReadLog::Durable).await?;
    let main = TimelineId::new(TimelineId::MAIN)?;
    let retention = RetentionPeriod::Seconds(RETENTION_DAYS * 86_400);
    engine
        .set_retention(&caller, main.clone(), RetentionRequest { reads: retention, refusals: retention }, None)
        .await?;
    let mut months = Vec::new();
    let mut events_count = 0;
    for day in 1..=DAYS {
        for second in (0..DAY_SECONDS).step_by(usize::try_from(thinned)?) {
            clock.0.store((START_SECONDS + (day - 1) * DAY_SECONDS + second) * 1_000_000, Ordering::Relaxed);
            for _ in 0..POLLERS {
                engine.read_clock(&caller, None).await?;
            }
            // In proportion to the seconds of the day so far.
            let due = ((day - 1) * DAY_SECONDS + second) * EVENTS_A_DAY / DAY_SECONDS / thinned;
            if events_count < due {
                record(&engine, &caller, events_count..due).await?;
                events_count = due;
            }
        }
        engine.tend().await?;
        while engine.sweep_in_turn().await? {}
        interrupt::check()?;
        if day % 30 == 0 {
            months.push((day, weigh(folder)?));
        }
    }
    engine.close().await;
    drop((engine, store));
    Ok(months)
}

async fn record(engine: &Engine, caller: &Caller, numbers: std::ops::Range<i64>) -> anyhow::Result<()> {
    let drafts = numbers.map(|number| History::default().draft(number.unsigned_abs())).collect();
    engine.record_events(caller, None, drafts, None).await?;
    Ok(())
}

fn weigh(folder: &Path) -> anyhow::Result<Weight> {
    let connection = ports::open_database(folder)?;
    let sum = "SELECT coalesce(sum(length(payload) + length(salt)), 0)
        + (SELECT coalesce(sum(length(payload) + length(salt)), 0) FROM contents), count(*) FROM entries";
    let (contents, entries) = connection.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // The size of the file after a checkpoint of the log.
    let pages = "SELECT page_count * page_size, freelist_count * page_size
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    let (length, free) = connection.query_row(pages, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut bytes = 0;
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        // SQLite never shrinks its log.
        if !file.file_name().to_string_lossy().ends_with("-wal") {
            bytes += i64::try_from(file.metadata()?.len())?;
        }
    }
    let (folder, database, free) = (megabytes(bytes), megabytes(length), megabytes(free));
    Ok(Weight { folder, database, free, contents: megabytes(contents), entries })
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a benchmark are far below 2^52")]
fn megabytes(bytes: i64) -> f64 {
    bytes as f64 / 1e6
}
