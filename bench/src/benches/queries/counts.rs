//! Counting a long history in groups, through the engine, against a bare SQL statement over the same rows.

use std::sync::Arc;

use anyhow::Context;
use timenav_core::limits::{AGGREGATE_EVENTS_MAX, AGGREGATE_EVENTS_READ_MAX};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Bucket, TimeRange, parse_duration};
use timenav_engine::{AggregateEvents, GroupBy};

use super::Subject;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::{self, Opened};

/// The minimum for counting by time or place: a scan of the index by time.
const BARE: &str = "SELECT count(*), count(lat), max(day) FROM (
    SELECT time / 86400000000 AS day, lat FROM events INDEXED BY events_by_time
    WHERE timeline = ?1 AND until IS NULL ORDER BY time, position)";
/// The minimum for reading the events in the same order.
const BARE_READ: &str = "SELECT count(*), max(bytes) FROM (
    SELECT length(content) AS bytes FROM events INDEXED BY events_by_time
    WHERE timeline = ?1 AND until IS NULL ORDER BY time, position)";

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let subject = Subject::open(&ports::stored_history(setting, events_count)?)?;
    let day = Bucket::new(parse_duration("P1D")?).context("a day is a bucket")?;
    let mut findings = Vec::new();
    for (name, by, bare) in [
        ("time", GroupBy::Time(day), BARE),
        ("cell", GroupBy::Cell(10_000_000), BARE),
        ("source", GroupBy::Source, BARE_READ),
        ("actor", GroupBy::Actor, BARE_READ),
    ] {
        findings.push(Finding::new(
            format!("counts-{name}-{events_count}"),
            Unit::Micros,
            Rounds::measure(
                setting,
                || count_bare(&subject, bare, events_count),
                || count(&subject, &by, events_count),
            )?,
            Goal::AtMost(5.0),
            "a pass of the bare statement on the same file, for each event",
        ));
    }
    Ok(findings)
}

/// Returns the time of the bare statement per event, in microseconds.
fn count_bare(subject: &Subject, statement: &str, events_count: u64) -> anyhow::Result<f64> {
    let watch = Stopwatch::start();
    let count: i64 = subject.bare.prepare_cached(statement)?.query_row([subject.timeline.0], |row| row.get(0))?;
    each(watch.micros(), u64::try_from(count)?, events_count)
}

/// Returns the time of the engine per event, in microseconds, including all pages of the result.
fn count(subject: &Subject, by: &GroupBy, events_count: u64) -> anyhow::Result<f64> {
    let Opened { runtime, engine, caller, .. } = &subject.opened;
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
        let counted = runtime.block_on(engine.aggregate_events(caller, request))?;
        count += counted.count as u64;
        cursor = counted.next_cursor;
        if cursor.is_none() {
            return each(watch.micros(), count, events_count);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a history has millions of events at most")]
fn each(micros: f64, count: u64, events_count: u64) -> anyhow::Result<f64> {
    anyhow::ensure!(count == events_count, "{count} of {events_count} events were counted");
    Ok(micros / count as f64)
}
