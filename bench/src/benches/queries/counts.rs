//! Counting a long history in groups, through the engine, against a bare SQL statement over the same rows.

use std::sync::Arc;

use anyhow::Context;
use rusqlite::{Connection, OpenFlags};
use timenav_core::limits::{AGGREGATE_EVENTS_MAX, AGGREGATE_EVENTS_READ_MAX};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Bucket, TimeRange, parse_duration};
use timenav_engine::{AggregateEvents, Caller, Engine, GroupBy};
use tokio::runtime::Runtime;

use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports;

/// The minimum for counting by time or place: a scan of the index by time.
const BARE: &str = "SELECT count(*), count(lat), max(day) FROM (
    SELECT time / 86400000000 AS day, lat FROM events INDEXED BY events_by_time
    WHERE timeline = ?1 AND until IS NULL ORDER BY time, position)";
/// The minimum for reading the events in the same order.
const BARE_READ: &str = "SELECT count(*), max(bytes) FROM (
    SELECT length(content) AS bytes FROM events INDEXED BY events_by_time
    WHERE timeline = ?1 AND until IS NULL ORDER BY time, position)";

struct Subject {
    engine: Engine,
    caller: Caller,
    bare: Connection,
    timeline: i64,
    events_count: u64,
    runtime: Runtime,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let subject = Subject::open(setting)?;
    let day = Bucket::new(parse_duration("P1D")?).context("a day is a bucket")?;
    let mut findings = Vec::new();
    for (name, by, bare) in [
        ("time", GroupBy::Time(day), BARE),
        ("cell", GroupBy::Cell(10_000_000), BARE),
        ("source", GroupBy::Source, BARE_READ),
        ("actor", GroupBy::Actor, BARE_READ),
    ] {
        findings.push(Finding {
            name: format!("counts-{name}-{}", subject.events_count),
            unit: Unit::Micros,
            rounds: Rounds::measure(setting, || subject.count_bare(bare), || subject.count(&by))?,
            ratio_goal: Goal::AtMost(5.0),
            own_goal: None,
            floor: "a pass of the bare statement on the same file, for each event",
        });
    }
    subject.runtime.block_on(subject.engine.close());
    Ok(findings)
}

impl Subject {
    fn open(setting: &Setting) -> anyhow::Result<Self> {
        let events_count = setting.history_events();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let folder = ports::stored_history(setting, events_count)?;
        let (engine, caller, _) = runtime.block_on(ports::open(&folder))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let bare = Connection::open_with_flags(ports::database_of(&folder), flags)?;
        // The same amount as each of the store's readers.
        bare.pragma_update(None, "cache_size", -8_192)?;
        let timeline = "SELECT timeline FROM timelines WHERE timeline_id = 'main'";
        let timeline = bare.query_row(timeline, [], |row| row.get(0))?;
        Ok(Self { engine, caller, bare, timeline, events_count, runtime })
    }

    /// Returns the time of the bare statement per event, in microseconds.
    fn count_bare(&self, statement: &str) -> anyhow::Result<f64> {
        let watch = Stopwatch::start();
        let count: i64 = self.bare.prepare_cached(statement)?.query_row([self.timeline], |row| row.get(0))?;
        self.each(watch.micros(), u64::try_from(count)?)
    }

    /// Returns the time of the engine per event, in microseconds, including all pages of the result.
    fn count(&self, by: &GroupBy) -> anyhow::Result<f64> {
        let (watch, mut count, mut cursor) = (Stopwatch::start(), 0, None);
        loop {
            let request = AggregateEvents {
                timeline: None,
                location_text: "*".to_owned(),
                location: LocationQuery::Anywhere,
                range: TimeRange::everything(),
                as_of: None,
                filter: Arc::default(),
                by_text: "all".to_owned(),
                by: by.clone(),
                second: None,
                values: None,
                groups_max: 1_000,
                events_max: AGGREGATE_EVENTS_MAX,
                events_read_max: AGGREGATE_EVENTS_READ_MAX,
                cursor,
            };
            let counted = self.runtime.block_on(self.engine.aggregate_events(&self.caller, request))?;
            count += counted.count as u64;
            cursor = counted.next_cursor;
            if cursor.is_none() {
                return self.each(watch.micros(), count);
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a history has millions of events at most")]
    fn each(&self, micros: f64, count: u64) -> anyhow::Result<f64> {
        anyhow::ensure!(count == self.events_count, "{count} of {} events were counted", self.events_count);
        Ok(micros / count as f64)
    }
}
