//! The first page of a search by text, against an FTS5 query on the same texts that returns the same events.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, params};
use timenav_engine::{EventFilter, FilterTexts, MonitorEvents};

use super::{Subject, cache_like_a_reader, first_page, median_micros};
use crate::history::mix;
use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports;

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

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let folder = ports::stored_history(setting, events_count)?;
    let database = ports::database_of(&folder);
    let words = setting.cached_folder(&format!("text-search-{events_count}-v1"), |folder| fill(folder, &database))?;
    let words = Connection::open_with_flags(words.join("words.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    cache_like_a_reader(&words)?;
    let subject = Subject::open(&folder)?;
    wait_for_index(&subject)?;
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
        let rounds = Rounds::measure(setting, || ask_bare(&words, &texts), || ask_engine(&subject, &texts))?;
        findings.push(
            Finding::new(format!("text-search-{kind}"), Unit::Micros, rounds, Goal::AtMost(2.0), FLOOR)
                .with_own_goal(Goal::AtMost(100_000.0)),
        );
    }
    Ok(findings)
}

fn ask_bare(words: &Connection, texts: &[String]) -> anyhow::Result<f64> {
    let mut select = words.prepare_cached(BARE)?;
    median_micros(texts, texts.len(), |text| {
        let prefixes: Vec<String> = text.split(' ').map(|word| format!("\"{word}\"*")).collect();
        let rows = select.query_map([prefixes.join(" AND ")], |row| row.get(0))?;
        Ok(black_box(rows.collect::<Result<Vec<String>, _>>()?).len())
    })
}

fn ask_engine(subject: &Subject, texts: &[String]) -> anyhow::Result<f64> {
    median_micros(texts, texts.len(), |text| {
        let texts = FilterTexts { text: Some(text.clone()), ..FilterTexts::default() };
        let filter = EventFilter::new(texts).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        subject.monitor_events(MonitorEvents { filter: Arc::new(filter), ..first_page() })
    })
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

fn wait_for_index(subject: &Subject) -> anyhow::Result<()> {
    let connection = &subject.bare;
    let select = "SELECT count(*) FROM (SELECT 1 FROM events WHERE timeline = ?1 AND position >=
        (SELECT coalesce(max(end), 0) FROM text_blocks WHERE timeline = ?1 AND state = 0) LIMIT ?2)";
    let unfinished = "SELECT count(*) FROM text_blocks WHERE state <> 0";
    loop {
        interrupt::check()?;
        let left: i64 = connection.query_row(select, params![subject.timeline.0, TAIL_EVENTS], |row| row.get(0))?;
        let unfinished: i64 = connection.query_row(unfinished, [], |row| row.get(0))?;
        if left < TAIL_EVENTS && unfinished == 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
}
