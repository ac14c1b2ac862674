//! The first page of a search by text, against an FTS5 query on the same texts that returns the same events.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use rusqlite::{Connection, OpenFlags, params};
use timenav_core::place::LocationQuery;
use timenav_core::time::TimeRange;
use timenav_engine::{Caller, Engine, EventFilter, FilterTexts, MonitorEvents};
use tokio::runtime::Runtime;

use crate::history::mix;
use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports;

const ITEMS: usize = 100;
const QUESTIONS: u64 = 200;
/// Events that need not be indexed: a block of the index begins with more.
const TAIL_EVENTS: i64 = 32;
const FLOOR: &str = "FTS5 on the same texts, and the same events by rowid";
const BARE: &str = "SELECT e.content FROM words w CROSS JOIN events e ON e.position = w.rowid
    WHERE w.words MATCH ?1 ORDER BY e.time, e.position LIMIT 100";
const FILL: [&str; 3] = [
    "CREATE TABLE events (position INTEGER PRIMARY KEY, time INTEGER NOT NULL, content TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE words USING fts5(text, content = '', detail = none)",
    "INSERT INTO words (rowid, text) SELECT position, concat_ws(' ', content ->> '$.description',
        content ->> '$.location', content ->> '$.event_id') FROM events",
];

struct Subject {
    engine: Engine,
    caller: Caller,
    bare: Connection,
    runtime: Runtime,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let subject = Subject::open(setting, events_count)?;
    let number = |number: u64| mix(number ^ 0x7e17);
    // Readings have up to five digits, and so have events from 10,000 to 99,999.
    let kinds: [(&str, &dyn Fn(u64) -> String); 3] = [
        ("rare", &|at| format!("{}", 10_000 + number(at) % 90_000)),
        ("prefix", &|at| format!("{}", 1_000 + number(at) % 9_000)),
        ("two-words", &|at| format!("{} {}", 10 + number(at) % 80, 100 + number(at) % 390)),
    ];
    let mut findings = Vec::new();
    for (kind, text) in kinds {
        let texts: Vec<String> = (0..QUESTIONS).map(text).collect();
        let rounds = Rounds::measure(setting, || subject.ask_bare(&texts), || subject.ask_engine(&texts))?;
        findings.push(Finding {
            name: format!("text-search-{kind}"),
            unit: Unit::Micros,
            rounds,
            ratio_goal: Goal::AtMost(2.0),
            own_goal: Some(Goal::AtMost(100_000.0)),
            floor: FLOOR,
        });
    }
    subject.runtime.block_on(subject.engine.close());
    Ok(findings)
}

impl Subject {
    fn open(setting: &Setting, events_count: u64) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let folder = ports::stored_history(setting, events_count)?;
        let database = ports::database_of(&folder);
        let bare =
            setting.cached_folder(&format!("text-search-{events_count}-v1"), |folder| fill(folder, &database))?;
        let bare = Connection::open_with_flags(bare.join("words.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // The same amount as each of the store's readers.
        bare.pragma_update(None, "cache_size", -8_192)?;
        let (engine, caller, store) = runtime.block_on(ports::open(&folder))?;
        wait_for_index(&database)?;
        drop(store);
        Ok(Self { engine, caller, bare, runtime })
    }

    fn ask_bare(&self, texts: &[String]) -> anyhow::Result<f64> {
        let mut select = self.bare.prepare_cached(BARE)?;
        median_micros(texts, |text| {
            let prefixes: Vec<String> = text.split(' ').map(|word| format!("\"{word}\"*")).collect();
            let rows = select.query_map([prefixes.join(" AND ")], |row| row.get(0))?;
            Ok(black_box(rows.collect::<Result<Vec<String>, _>>()?).len())
        })
    }

    fn ask_engine(&self, texts: &[String]) -> anyhow::Result<f64> {
        median_micros(texts, |text| {
            let texts = FilterTexts { text: Some(text.to_owned()), ..FilterTexts::default() };
            let filter = EventFilter::new(texts).map_err(|error| anyhow::anyhow!("{error:?}"))?;
            let request = MonitorEvents {
                timeline: None,
                location_text: "*".to_owned(),
                location: LocationQuery::Anywhere,
                range: TimeRange::everything(),
                as_of: None,
                filter: Arc::new(filter),
                newest_first: false,
                overlapping: false,
                items_max: ITEMS,
                cursor: None,
            };
            Ok(self.runtime.block_on(self.engine.monitor_events(&self.caller, request))?.events.len())
        })
    }
}

/// Copies the events, in the order of recording, and indexes their texts.
fn fill(folder: &Path, database: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(folder.join("words.db"))?;
    let [events, words, index] = FILL;
    connection.execute_batch(&format!("PRAGMA page_size = 8192; {events}; {words}"))?;
    connection.execute("ATTACH ?1 AS service", [database.to_str()])?;
    let copy = "INSERT INTO events SELECT position, time, content FROM service.events
        WHERE timeline = (SELECT timeline FROM service.timelines WHERE timeline_id = 'main') ORDER BY position";
    connection.execute(copy, [])?;
    connection.execute(index, [])?;
    connection.execute_batch("INSERT INTO words (words) VALUES ('optimize')")?;
    Ok(())
}

fn wait_for_index(database: &Path) -> anyhow::Result<()> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let select = "SELECT count(*) FROM (SELECT 1 FROM events WHERE timeline = ?1 AND position >=
        (SELECT coalesce(max(end), 0) FROM text_blocks WHERE timeline = ?1 AND state = 0) LIMIT ?2)";
    let unfinished = "SELECT count(*) FROM text_blocks WHERE state <> 0";
    let timeline = "SELECT timeline FROM timelines WHERE timeline_id = 'main'";
    let timeline: i64 = connection.query_row(timeline, [], |row| row.get(0))?;
    loop {
        interrupt::check()?;
        let left: i64 = connection.query_row(select, params![timeline, TAIL_EVENTS], |row| row.get(0))?;
        let unfinished: i64 = connection.query_row(unfinished, [], |row| row.get(0))?;
        if left < TAIL_EVENTS && unfinished == 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
}

/// Returns the median time of the queries, after checking that most find events.
fn median_micros(texts: &[String], mut ask: impl FnMut(&str) -> anyhow::Result<usize>) -> anyhow::Result<f64> {
    let (mut micros, mut found) = (Vec::with_capacity(texts.len()), 0);
    for text in texts {
        let watch = Stopwatch::start();
        found += ask(text)?;
        micros.push(watch.micros());
    }
    ensure!(found > texts.len(), "only {found} events were found");
    Ok(Spread::of(&micros).median)
}
