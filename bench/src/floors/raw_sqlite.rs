//! The floor of durable writes: bare SQL that writes the same rows.
//!
//! Rows and schema come from a database that the service has written. The floor writes the same bytes into the same
//! tables with the same indexes, and does nothing else.

pub(crate) mod timers;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Transaction, params_from_iter};

use crate::load::count;
use crate::measure::rounds::Spread;
use crate::measure::wall_clock::Stopwatch;

/// Bits of an entry key that hold the position.
const POSITION_BITS: u32 = 40;
/// Columns of a timeline's row that the service never changes.
const FIXED_COLUMNS: [&str; 3] = ["timeline", "timeline_id", "created_at"];
const COMMITS_MAX: usize = 1_000_000;

#[derive(Clone, Debug)]
struct Excerpt {
    table: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// What a database of the service has in any case: its schema, and the row of the timeline `main`.
#[derive(Clone, Debug)]
struct Template {
    schema: Vec<String>,
    page_bytes: i64,
    head: Excerpt,
    /// The key of the timeline.
    key: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Sample {
    template: Template,
    entries: Excerpt,
    /// The events of these entries; `None` if the writes were not events.
    events: Option<Excerpt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Entry,
    Event,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    pub(crate) rate: f64,
    pub(crate) p50_micros: f64,
}

impl Sample {
    /// Samples the last writes on the timeline `main` in a database.
    pub(crate) fn take(database: &Path, write: Write, writes_count: usize) -> anyhow::Result<Self> {
        let connection = Connection::open(database)?;
        let template = Template::of(&connection)?;
        let key = template.key;
        let limit = writes_count;
        let first = key << POSITION_BITS;
        let (entries, events) = match write {
            Write::Entry => {
                let last = format!("WHERE entry >= {first} ORDER BY entry DESC LIMIT {limit}");
                (excerpt(&connection, "entries", &last)?, None)
            }
            Write::Event => {
                let last = format!("WHERE timeline = {key} ORDER BY position DESC LIMIT {limit}");
                let of_events =
                    format!("WHERE entry IN (SELECT {first} + position FROM events {last}) ORDER BY entry DESC");
                (excerpt(&connection, "entries", &of_events)?, Some(excerpt(&connection, "events", &last)?))
            }
        };
        if entries.rows.is_empty() || events.as_ref().is_some_and(|events| events.rows.len() != entries.rows.len()) {
            bail!("{} does not hold the writes to compare with", database.display());
        }
        Ok(Self { template, entries, events })
    }

    pub(crate) fn writes_count(&self) -> usize {
        self.entries.rows.len()
    }
}

impl Template {
    fn of(connection: &Connection) -> anyhow::Result<Self> {
        let query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
        let schema = connection.prepare(query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let page_bytes = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let head = excerpt(connection, "timelines", "WHERE timeline_id = 'main'")?;
        match head.rows.first().and_then(|row| row.first()) {
            Some(Value::Integer(key)) => Ok(Self { schema, page_bytes, key: *key, head }),
            other => bail!("there is no timeline `main` with a key: {other:?}"),
        }
    }

    /// Creates a database with only the timeline in a folder, with the service's durability settings.
    fn create(&self, folder: &Path) -> anyhow::Result<Connection> {
        let connection = Connection::open(folder.join("raw.db"))?;
        connection.pragma_update(None, "page_size", self.page_bytes)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        for statement in &self.schema {
            connection.execute_batch(statement)?;
        }
        let head = self.head.rows.first().context("there is no head")?;
        connection.execute(&self.head.insert(), params_from_iter(head))?;
        Ok(connection)
    }
}

fn excerpt(connection: &Connection, table: &'static str, filter: &str) -> anyhow::Result<Excerpt> {
    let mut select = connection.prepare(&format!("SELECT * FROM {table} {filter}"))?;
    let columns: Vec<String> = select.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let read = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>();
    let rows = select.query_map([], read)?.collect::<Result<_, _>>()?;
    Ok(Excerpt { table, columns, rows })
}

impl Excerpt {
    fn insert(&self) -> String {
        let marks: Vec<String> = (1..=self.columns.len()).map(|place| format!("?{place}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.table, self.columns.join(", "), marks.join(", "))
    }

    fn place(&self, column: &str) -> anyhow::Result<usize> {
        let found = self.columns.iter().position(|known| known == column);
        found.with_context(|| format!("`{}` has no column `{column}`", self.table))
    }
}

pub(crate) struct RawStore<'a> {
    connection: Connection,
    sample: &'a Sample,
    written: usize,
}

impl<'a> RawStore<'a> {
    pub(crate) fn create(folder: &Path, sample: &'a Sample) -> anyhow::Result<Self> {
        Ok(Self { connection: sample.template.create(folder)?, sample, written: 0 })
    }

    /// Commits writes for some time, `writes_per_commit` at a time.
    pub(crate) fn write_for(&mut self, time: Duration, writes_per_commit: usize) -> anyhow::Result<Speed> {
        let watch = Stopwatch::start();
        let mut micros = Vec::new();
        while watch.elapsed() < time && micros.len() < COMMITS_MAX {
            let commit = Stopwatch::start();
            self.commit(writes_per_commit)?;
            micros.push(commit.micros());
        }
        Ok(speed(micros.len() * writes_per_commit, watch, &micros))
    }

    pub(crate) fn write_all(&mut self, writes_per_commit: usize) -> anyhow::Result<Speed> {
        let watch = Stopwatch::start();
        let mut micros = Vec::new();
        while self.written < self.sample.writes_count() {
            let commit = Stopwatch::start();
            self.commit(writes_per_commit.min(self.sample.writes_count() - self.written))?;
            micros.push(commit.micros());
        }
        Ok(speed(self.written, watch, &micros))
    }

    fn commit(&mut self, writes_count: usize) -> anyhow::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut entry = transaction.prepare_cached(&self.sample.entries.insert())?;
            let mut event = match &self.sample.events {
                Some(events) => Some((transaction.prepare_cached(&events.insert())?, events)),
                None => None,
            };
            for number in self.written..self.written + writes_count {
                insert_entry(&mut entry, &self.sample.entries, number)?;
                if let Some((event, events)) = &mut event {
                    insert_event(event, events, number)?;
                }
            }
        }
        update_head(&transaction, &self.sample.template.head, self.written)?;
        transaction.commit()?;
        self.written += writes_count;
        Ok(())
    }
}

fn speed(writes_count: usize, watch: Stopwatch, micros: &[f64]) -> Speed {
    Speed { rate: count(writes_count) / watch.elapsed().as_secs_f64(), p50_micros: Spread::of(micros).median }
}

/// Inserts the bytes of a sampled entry with the next key.
fn insert_entry(insert: &mut CachedStatement<'_>, entries: &Excerpt, number: usize) -> anyhow::Result<()> {
    let row = &entries.rows[number % entries.rows.len()];
    for (place, value) in row.iter().enumerate() {
        if place == 0 {
            insert.raw_bind_parameter(1, (1_i64 << POSITION_BITS) | i64::try_from(number)?)?;
        } else {
            insert.raw_bind_parameter(place + 1, value)?;
        }
    }
    insert.raw_execute()?;
    Ok(())
}

/// Inserts a sampled event with the next position and an id of the same length.
fn insert_event(insert: &mut CachedStatement<'_>, events: &Excerpt, number: usize) -> anyhow::Result<()> {
    let row = &events.rows[number % events.rows.len()];
    let (position, event_id) = (events.place("position")?, events.place("event_id")?);
    for (place, value) in row.iter().enumerate() {
        match value {
            _ if place == position => insert.raw_bind_parameter(place + 1, i64::try_from(number)?)?,
            Value::Text(text) if place == event_id => {
                insert.raw_bind_parameter(place + 1, format!("{number:0>width$}", width = text.len()))?;
            }
            value => insert.raw_bind_parameter(place + 1, value)?,
        }
    }
    insert.raw_execute()?;
    Ok(())
}

/// Updates the columns of the timeline's row that change with each commit.
fn update_head(transaction: &Transaction<'_>, head: &Excerpt, written: usize) -> anyhow::Result<()> {
    let changing: Vec<usize> =
        (0..head.columns.len()).filter(|at| !FIXED_COLUMNS.contains(&&*head.columns[*at])).collect();
    let sets: Vec<String> =
        changing.iter().enumerate().map(|(mark, at)| format!("{} = ?{}", head.columns[*at], mark + 1)).collect();
    let statement = format!("UPDATE timelines SET {} WHERE timeline = ?{}", sets.join(", "), changing.len() + 1);
    let mut update = transaction.prepare_cached(&statement)?;
    let row = head.rows.first().context("there is no head")?;
    let size = head.place("size")?;
    for (mark, at) in changing.iter().enumerate() {
        if *at == size {
            update.raw_bind_parameter(mark + 1, i64::try_from(written)?)?;
        } else {
            update.raw_bind_parameter(mark + 1, &row[*at])?;
        }
    }
    update.raw_bind_parameter(changing.len() + 1, &row[0])?;
    update.raw_execute()?;
    Ok(())
}
