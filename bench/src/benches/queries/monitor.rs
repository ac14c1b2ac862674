//! A hundred events of one place from a given time on, without HTTP, against the bare SQL statement on the same file
//! (goal 5), and the same with ten times as many events (goal 6).

use anyhow::Context;
use rusqlite::params;
use timenav_core::place::{BBox, Cell, LocationQuery, Point};
use timenav_core::time::{Instant, TimeRange, Virtual};
use timenav_engine::MonitorEvents;

use super::{ITEMS, Subject, first_page, median_micros};
use crate::history::History;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports;

/// The minimum to find them: one range of the table, in its own order.
const BARE: &str = "SELECT time, position, content FROM events
    WHERE timeline = ?1 AND cell = ?2 AND time >= ?3 AND lat BETWEEN ?4 AND ?5 AND lon BETWEEN ?6 AND ?7
    ORDER BY time, position LIMIT 100";

#[derive(Clone, Copy)]
struct Question {
    bbox: BBox,
    from: Instant<Virtual>,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let subject = Subject::open(&ports::stored_history(setting, events_count)?)?;
    let questions = questions(if setting.quick { 1_000 } else { 5_000 })?;
    let finding = |name: &str, goal, rounds| {
        Finding::new(
            format!("monitor-{name}-{events_count}"),
            Unit::Micros,
            rounds,
            Goal::AtMost(goal),
            "the bare SQL statement on the same file",
        )
    };
    let bare = || ask_bare(&subject, &questions);
    let mut findings = vec![
        finding("store", 1.2, Rounds::measure(setting, bare, || ask_store(&subject, &questions))?),
        finding("engine", 2.0, Rounds::measure(setting, bare, || ask_engine(&subject, &questions))?),
    ];
    if setting.quick || setting.large {
        let large = Subject::open(&ports::stored_history(setting, 10 * events_count)?)?;
        let rounds = Rounds::measure(setting, || ask_store(&subject, &questions), || ask_store(&large, &questions))?;
        findings.push(Finding::new(
            format!("monitor-store-{}", 10 * events_count),
            Unit::Micros,
            rounds,
            Goal::AtMost(1.3),
            "the same query with a tenth of the events",
        ));
    }
    Ok(findings)
}

fn questions(count: u64) -> anyhow::Result<Vec<Question>> {
    let history = History::default();
    let one = |number| Some(Question { bbox: history.bbox(number)?, from: history.moment(number) });
    (0..count).map(one).collect::<Option<_>>().context("a place of the history is no box")
}

fn ask_bare(subject: &Subject, questions: &[Question]) -> anyhow::Result<f64> {
    let mut select = subject.bare.prepare_cached(BARE)?;
    median(questions, |question| {
        let [west, south, east, north] = question.bbox.edges();
        let corner = Point::new(south, west).context("a box has a corner")?;
        let cell = Cell::of(corner).number();
        let key = params![subject.timeline.0, cell, question.from.micros(), south, north, west, east];
        let rows = select
            .query_map(key, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)))?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?.len())
    })
}

fn ask_store(subject: &Subject, questions: &[Question]) -> anyhow::Result<f64> {
    median(questions, |question| subject.stored_events(LocationQuery::Within(question.bbox), question.range()?))
}

fn ask_engine(subject: &Subject, questions: &[Question]) -> anyhow::Result<f64> {
    median(questions, |question| {
        subject.monitor_events(MonitorEvents {
            location_text: "bbox".to_owned(),
            location: LocationQuery::Within(question.bbox),
            range: question.range()?,
            ..first_page()
        })
    })
}

impl Question {
    fn range(&self) -> anyhow::Result<TimeRange<Virtual>> {
        Ok(TimeRange::new(Some(self.from), None)?)
    }
}

/// With ten times fewer events, as in a quick run, some pages are not full.
fn median(questions: &[Question], ask: impl FnMut(&Question) -> anyhow::Result<usize>) -> anyhow::Result<f64> {
    median_micros(questions, questions.len() * ITEMS / 2, ask)
}
