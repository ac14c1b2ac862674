//! A hundred events of a place from a given time on, for each way to name a place: the events' location text, a point
//! with a radius, and a country. Each is compared with a plain SQL statement on the same file, and with the same events
//! in memory, sorted by cell and time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hint::black_box;

use anyhow::Context;
use rusqlite::params;
use timenav_core::place::{Cell, LocationQuery, Point, cells_of};
use timenav_core::time::{Instant, TimeRange, Virtual};
use timenav_places::Gazetteer;

use super::{ITEMS, Subject, median_micros};
use crate::history::{History, mix};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports;

const COUNTRIES: [&str; 6] = ["Brazil", "Australia", "Canada", "China", "Algeria", "Argentina"];
/// Search radius around the middle of a place, in meters: beyond its degree on all sides.
const RADIUS_M: f64 = 60_000.0;

const BY_TEXT: &str = "SELECT lat, lon, content FROM events INDEXED BY events_by_place
    WHERE timeline = ?1 AND place = ?2 AND time >= ?3 ORDER BY time, position LIMIT 100";
const BY_CELLS: &str = "SELECT lat, lon, content FROM events
    WHERE timeline = ?1 AND cell IN (SELECT value FROM json_each(?2)) AND time >= ?3 ORDER BY time, position";

struct Question {
    location: LocationQuery,
    /// The cells of the place, as a parameter of the SQL statement.
    cells: String,
    from: Instant<Virtual>,
}

/// An event in memory: time, point, and index of its content.
type Row = (i64, Option<Point>, usize);

/// All events in memory, by cell and by text, each sorted by time.
#[derive(Default)]
struct Sorted {
    cells: HashMap<u32, Vec<Row>>,
    texts: HashMap<String, Vec<Row>>,
    contents: Vec<String>,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let subject = Subject::open(&ports::stored_history(setting, events_count)?)?;
    let sorted = Sorted::of(&subject)?;
    let kinds = [("label", labels(setting)?), ("radius", circles(setting)?), ("country", countries(setting)?)];
    let finding =
        |name: String, rounds, goal, floor| Finding::new(name, Unit::Micros, rounds, Goal::AtMost(goal), floor);
    let mut findings = Vec::new();
    for (kind, questions) in &kinds {
        let ask = || ask_store(&subject, questions);
        let sql = Rounds::measure(setting, || ask_bare(&subject, questions), ask)?;
        findings.push(finding(format!("places-{kind}-sql"), sql, 1.5, "one SQL statement on the same file"));
        let array = Rounds::measure(setting, || sorted.ask(questions), ask)?;
        findings.push(finding(format!("places-{kind}-array"), array, 20.0, "sorted arrays in memory"));
    }
    drop(sorted);
    if setting.quick || setting.large {
        let large = Subject::open(&ports::stored_history(setting, 10 * events_count)?)?;
        for (kind, questions) in &kinds {
            let rounds = Rounds::measure(setting, || ask_store(&subject, questions), || ask_store(&large, questions))?;
            let name = format!("places-{kind}-{}", 10 * events_count);
            findings.push(finding(name, rounds, 1.3, "the same query with a tenth of the events"));
        }
    }
    Ok(findings)
}

const fn questions_count(setting: &Setting) -> u64 {
    if setting.quick { 300 } else { 1_000 }
}

fn labels(setting: &Setting) -> anyhow::Result<Vec<Question>> {
    let label = |number| Ok(LocationQuery::Named(format!("Place {}", mix(number ^ 0xb0c5) % 500)));
    questions(setting, label)
}

fn circles(setting: &Setting) -> anyhow::Result<Vec<Question>> {
    questions(setting, |number| {
        let [west, south, east, north] = History::default().bbox(number).context("a place is no box")?.edges();
        let middle = Point::new(f64::midpoint(south, north), f64::midpoint(west, east));
        Ok(LocationQuery::Near { center: middle.context("a box has a middle")?, radius_m: RADIUS_M })
    })
}

fn countries(setting: &Setting) -> anyhow::Result<Vec<Question>> {
    let gazetteer = Gazetteer::baked();
    questions(setting, |number| {
        let name = COUNTRIES[usize::try_from(number)? % COUNTRIES.len()];
        let found = gazetteer.look_up(name).with_context(|| format!("{name} is not known"))?;
        Ok(gazetteer.location(&found.best))
    })
}

fn questions(setting: &Setting, place: impl Fn(u64) -> anyhow::Result<LocationQuery>) -> anyhow::Result<Vec<Question>> {
    let one = |number| {
        let location = place(number)?;
        let cells: Vec<u32> = cells_of(&location).into_iter().flatten().map(Cell::number).collect();
        Ok(Question { location, cells: serde_json::to_string(&cells)?, from: History::default().moment(number) })
    };
    (0..questions_count(setting)).map(one).collect()
}

fn ask_bare(subject: &Subject, questions: &[Question]) -> anyhow::Result<f64> {
    median(questions, |Question { location, cells, from }| {
        let (statement, place) = match location {
            LocationQuery::Named(text) => (BY_TEXT, text),
            _ => (BY_CELLS, cells),
        };
        let mut select = subject.bare.prepare_cached(statement)?;
        let mut rows = select.query(params![subject.timeline.0, place, from.micros()])?;
        let mut page: Vec<String> = Vec::with_capacity(ITEMS);
        while let Some(row) = rows.next()?.filter(|_| page.len() < ITEMS) {
            let point = row.get::<_, Option<f64>>(0)?.zip(row.get(1)?).and_then(|(lat, lon)| Point::new(lat, lon));
            if matches!(location, LocationQuery::Named(_)) || location.matches(point, None) {
                page.push(row.get(2)?);
            }
        }
        Ok(black_box(page).len())
    })
}

fn ask_store(subject: &Subject, questions: &[Question]) -> anyhow::Result<f64> {
    median(questions, |Question { location, from, .. }| {
        subject.stored_events(location.clone(), TimeRange::new(Some(*from), None)?)
    })
}

impl Sorted {
    fn of(subject: &Subject) -> anyhow::Result<Self> {
        let mut sorted = Self::default();
        let all = "SELECT cell, time, lat, lon, place, content FROM events WHERE timeline = ?1 ORDER BY time, position";
        let mut select = subject.bare.prepare(all)?;
        let mut rows = select.query([subject.timeline.0])?;
        while let Some(row) = rows.next()? {
            let point = row.get::<_, Option<f64>>(2)?.zip(row.get(3)?).and_then(|(lat, lon)| Point::new(lat, lon));
            let event = (row.get(1)?, point, sorted.contents.len());
            sorted.cells.entry(row.get(0)?).or_default().push(event);
            if let Some(text) = row.get::<_, Option<String>>(4)? {
                sorted.texts.entry(text).or_default().push(event);
            }
            sorted.contents.push(row.get(5)?);
        }
        Ok(sorted)
    }

    fn ask(&self, questions: &[Question]) -> anyhow::Result<f64> {
        median(questions, |Question { location, from, .. }| {
            let runs: Vec<&[Row]> = if let LocationQuery::Named(text) = location {
                self.texts.get(text).map(Vec::as_slice).into_iter().collect()
            } else {
                let cells = cells_of(location).unwrap_or_default();
                cells.iter().filter_map(|cell| self.cells.get(&cell.number())).map(Vec::as_slice).collect()
            };
            let first = |run: &[Row]| run.partition_point(|(time, ..)| *time < from.micros());
            let mut heads: BinaryHeap<Reverse<(i64, usize, usize)>> = BinaryHeap::with_capacity(runs.len());
            let push = |heads: &mut BinaryHeap<_>, run: usize, at: usize| {
                heads.extend(runs[run].get(at).map(|(time, ..)| Reverse((*time, run, at))));
            };
            for (number, run) in runs.iter().enumerate() {
                push(&mut heads, number, first(run));
            }
            let mut page: Vec<String> = Vec::with_capacity(ITEMS);
            while page.len() < ITEMS {
                let Some(Reverse((_, run, at))) = heads.pop() else { break };
                let (_, point, content) = runs[run][at];
                if matches!(location, LocationQuery::Named(_)) || location.matches(point, None) {
                    page.push(self.contents[content].clone());
                }
                push(&mut heads, run, at + 1);
            }
            Ok(black_box(page).len())
        })
    }
}

fn median(questions: &[Question], ask: impl FnMut(&Question) -> anyhow::Result<usize>) -> anyhow::Result<f64> {
    median_micros(questions, questions.len() * ITEMS / 2, ask)
}
