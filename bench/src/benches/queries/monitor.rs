//! A hundred events of one place from a given time on, without HTTP, against the bare SQL statement on the same file
//! (goal 5), and the same with ten times as many events (goal 6).

use std::sync::Arc;

use anyhow::Context;
use rusqlite::{Connection, OpenFlags, params};
use timenav_core::place::{BBox, Cell, LocationQuery, Point};
use timenav_core::time::{Instant, TimeRange, Virtual};
use timenav_engine::{Caller, Engine, EventQuery, Layer, MonitorEvents, Pattern, Store, TimelineKey};
use timenav_store::SqliteStore;
use tokio::runtime::Runtime;

use crate::history::History;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports;

const ITEMS: usize = 100;
/// The minimum to find them: one range of the table, in its own order.
const BARE: &str = "SELECT time, position, content FROM events
    WHERE timeline = ?1 AND cell = ?2 AND time >= ?3 AND lat BETWEEN ?4 AND ?5 AND lon BETWEEN ?6 AND ?7
    ORDER BY time, position LIMIT 100";

#[derive(Clone, Copy)]
struct Question {
    bbox: BBox,
    from: Instant<Virtual>,
}

struct Subject {
    engine: Engine,
    caller: Caller,
    store: Arc<SqliteStore>,
    bare: Connection,
    timeline: TimelineKey,
    runtime: Runtime,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let subject = Subject::open(setting, events_count)?;
    let questions = questions(if setting.quick { 1_000 } else { 5_000 })?;
    let finding = |name: &str, goal, rounds| Finding {
        name: format!("monitor-{name}-{events_count}"),
        unit: Unit::Micros,
        rounds,
        ratio_goal: Goal::AtMost(goal),
        own_goal: None,
        floor: "the bare SQL statement on the same file",
    };
    let bare = || subject.ask_bare(&questions);
    let mut findings = vec![
        finding("store", 1.2, Rounds::measure(setting, bare, || subject.ask_store(&questions))?),
        finding("engine", 2.0, Rounds::measure(setting, bare, || subject.ask_engine(&questions))?),
    ];
    if setting.quick || setting.large {
        let large = Subject::open(setting, 10 * events_count)?;
        let rounds = Rounds::measure(setting, || subject.ask_store(&questions), || large.ask_store(&questions))?;
        large.close();
        findings.push(Finding {
            name: format!("monitor-store-{}", 10 * events_count),
            unit: Unit::Micros,
            rounds,
            ratio_goal: Goal::AtMost(1.3),
            own_goal: None,
            floor: "the same query with a tenth of the events",
        });
    }
    subject.close();
    Ok(findings)
}

fn questions(count: u64) -> anyhow::Result<Vec<Question>> {
    let history = History::default();
    let one = |number| Some(Question { bbox: history.bbox(number)?, from: history.moment(number) });
    (0..count).map(one).collect::<Option<_>>().context("a place of the history is no box")
}

impl Subject {
    fn open(setting: &Setting, events_count: u64) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let folder = ports::stored_history(setting, events_count)?;
        let (engine, caller, store) = runtime.block_on(ports::open(&folder))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let bare = Connection::open_with_flags(ports::database_of(&folder), flags)?;
        // The same amount as each of the store's readers.
        bare.pragma_update(None, "cache_size", -8_192)?;
        let timeline = "SELECT timeline FROM timelines WHERE timeline_id = 'main'";
        let timeline = TimelineKey(bare.query_row(timeline, [], |row| row.get(0))?);
        Ok(Self { engine, caller, store, bare, timeline, runtime })
    }

    fn close(self) {
        self.runtime.block_on(self.engine.close());
    }

    fn ask_bare(&self, questions: &[Question]) -> anyhow::Result<f64> {
        let mut select = self.bare.prepare_cached(BARE)?;
        median_micros(questions, |question| {
            let [west, south, east, north] = question.bbox.edges();
            let corner = Point::new(south, west).context("a box has a corner")?;
            let cell = Cell::of(corner).number();
            let key = params![self.timeline.0, cell, question.from.micros(), south, north, west, east];
            let rows = select
                .query_map(key, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?.len())
        })
    }

    fn ask_store(&self, questions: &[Question]) -> anyhow::Result<f64> {
        median_micros(questions, |question| {
            let query = EventQuery {
                layers: [Layer { timeline: self.timeline, as_of: u64::from(u32::MAX), overrides: false }].into(),
                patterns: vec![Pattern::Location(LocationQuery::Within(question.bbox))],
                range: TimeRange::new(Some(question.from), None)?,
                after: None,
                items_max: ITEMS,
                newest_first: false,
                overlapping: false,
            };
            // Like the engine does: immediately if it is fast, otherwise on another thread.
            let found = self.store.events_at_once(&query)?;
            let later = || self.runtime.block_on(self.store.events(query));
            Ok(found.map_or_else(later, Ok)?.len())
        })
    }

    fn ask_engine(&self, questions: &[Question]) -> anyhow::Result<f64> {
        median_micros(questions, |question| {
            let request = MonitorEvents {
                timeline: None,
                location_text: "bbox".to_owned(),
                location: LocationQuery::Within(question.bbox),
                range: TimeRange::new(Some(question.from), None)?,
                as_of: None,
                filter: Arc::default(),
                newest_first: false,
                overlapping: false,
                items_max: ITEMS,
                cursor: None,
            };
            Ok(self.runtime.block_on(self.engine.monitor_events(&self.caller, request))?.events.len())
        })
    }
}

/// Returns the median time of the queries, after checking that they find full pages.
fn median_micros(
    questions: &[Question],
    mut ask: impl FnMut(&Question) -> anyhow::Result<usize>,
) -> anyhow::Result<f64> {
    let mut micros = Vec::with_capacity(questions.len());
    let mut found = 0;
    for question in questions {
        let watch = Stopwatch::start();
        found += ask(question)?;
        micros.push(watch.micros());
    }
    // With ten times fewer events, as in a quick run, some pages are not full.
    anyhow::ensure!(found > questions.len() * ITEMS / 2, "only {found} events were found");
    Ok(Spread::of(&micros).median)
}
