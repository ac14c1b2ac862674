//! The floor of timers: bare SQL that writes the rows of firings and of their outcomes.

use std::path::Path;

use anyhow::{Context, ensure};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{Excerpt, POSITION_BITS, excerpt, number, schema_of, update_head};
use crate::load::count;
use crate::wall_clock::Stopwatch;

/// What the service wrote while timers fired.
pub(crate) struct FiredSample {
    schema: Vec<String>,
    page_bytes: i64,
    /// The timeline's own row.
    head: Excerpt,
    /// What tells of firings and of outcomes, in turn.
    entries: Excerpt,
    timers: Excerpt,
    firings: Excerpt,
    per_instant: usize,
}

impl FiredSample {
    /// Takes all firings of the only timeline of a database, so many of which are at each instant, all of them with their
    /// outcome.
    pub(crate) fn take(database: &Path, per_instant: usize) -> anyhow::Result<Self> {
        let connection = Connection::open(database)?;
        let schema = schema_of(&connection)?;
        let page_bytes = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let head = excerpt(&connection, "timelines", "WHERE timeline_id = 'main'")?;
        let key = number(head.rows.first().and_then(|row| row.first()).context("there is no timeline `main`")?)?;
        let of_timeline = format!("WHERE timeline = {key} ORDER BY position");
        let (timers, firings) =
            (excerpt(&connection, "timers", &of_timeline)?, excerpt(&connection, "firings", &of_timeline)?);
        let first = key << POSITION_BITS;
        let told = |column: &str| format!("SELECT {first} + {column} FROM firings WHERE timeline = {key}");
        let (made, settled) = (told("made"), told("settled"));
        let filter = format!("WHERE entry IN ({made} UNION {settled}) ORDER BY entry");
        let entries = excerpt(&connection, "entries", &filter)?;
        let instants = firings.rows.len() / per_instant;
        ensure!(
            instants > 0 && firings.rows.len() == timers.rows.len() && entries.rows.len() >= 2 * instants,
            "{} does not hold the firings to compare with",
            database.display()
        );
        Ok(Self { schema, page_bytes, head, entries, timers, firings, per_instant })
    }

    fn instants(&self) -> usize {
        self.firings.rows.len() / self.per_instant
    }
}

/// A database in which bare SQL writes firings and their outcomes.
pub(crate) struct RawFirings<'a> {
    connection: Connection,
    sample: &'a FiredSample,
    /// What is written next.
    instant: usize,
    entries: usize,
}

impl<'a> RawFirings<'a> {
    /// Makes a database with armed timers in a folder, with the service's schema and its promise of durability.
    pub(crate) fn create(folder: &Path, sample: &'a FiredSample) -> anyhow::Result<Self> {
        let mut connection = Connection::open(folder.join("raw.db"))?;
        connection.pragma_update(None, "page_size", sample.page_bytes)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        for statement in &sample.schema {
            connection.execute_batch(statement)?;
        }
        let transaction = connection.transaction()?;
        let head = sample.head.rows.first().context("there is no head")?;
        transaction.execute(&sample.head.insert(), params_from_iter(head))?;
        let (next, due) = (sample.timers.place("next")?, sample.firings.place("due")?);
        for (timer, firing) in sample.timers.rows.iter().zip(&sample.firings.rows) {
            let mut row = timer.clone();
            row[next] = firing[due].clone();
            transaction.prepare_cached(&sample.timers.insert())?.execute(params_from_iter(row))?;
        }
        transaction.commit()?;
        Ok(Self { connection, sample, instant: 0, entries: 0 })
    }

    /// Writes all firings and outcomes, and returns how many instants a second these were.
    pub(crate) fn write_all(&mut self) -> anyhow::Result<f64> {
        let (watch, instants) = (Stopwatch::start(), self.sample.instants());
        for _ in 0..instants {
            self.fire()?;
            self.settle()?;
        }
        Ok(count(instants) / watch.elapsed().as_secs_f64())
    }

    /// Commits that the timers of the next instant fire.
    pub(crate) fn fire(&mut self) -> anyhow::Result<()> {
        let (sample, entry) = (self.sample, self.entries);
        let (state, settled) = (sample.firings.place("state")?, sample.firings.place("settled")?);
        let rows = self.rows();
        let transaction = self.connection.transaction()?;
        transaction.prepare_cached(&sample.entries.insert())?.execute(params_from_iter(sample.entry(entry)))?;
        for firing in &rows {
            let mut row = (*firing).clone();
            (row[state], row[settled]) = (Value::Integer(0), Value::Null);
            transaction.prepare_cached(&sample.firings.insert())?.execute(params_from_iter(row))?;
            let moved = "UPDATE timers SET next = NULL WHERE timeline = ?1 AND position = ?2";
            transaction
                .prepare_cached(moved)?
                .execute(params_from_iter(sample.key(firing, &["timeline", "position"])?))?;
        }
        update_head(&transaction, &sample.head, entry)?;
        transaction.commit()?;
        self.entries += 1;
        Ok(())
    }

    /// Commits the outcomes of what has fired last.
    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        let (sample, entry) = (self.sample, self.entries);
        let rows = self.rows();
        let transaction = self.connection.transaction()?;
        transaction.prepare_cached(&sample.entries.insert())?.execute(params_from_iter(sample.entry(entry)))?;
        for firing in &rows {
            let settle = "UPDATE firings SET state = 1, settled = ?5
                WHERE timeline = ?1 AND due = ?2 AND position = ?3 AND round = ?4";
            let key = sample.key(firing, &["timeline", "due", "position", "round", "settled"])?;
            transaction.prepare_cached(settle)?.execute(params_from_iter(key))?;
        }
        update_head(&transaction, &sample.head, entry)?;
        transaction.commit()?;
        self.entries += 1;
        self.instant += 1;
        Ok(())
    }

    fn rows(&self) -> Vec<&'a Vec<Value>> {
        let Self { sample, instant, .. } = self;
        let first = instant % sample.instants() * sample.per_instant;
        sample.firings.rows.iter().skip(first).take(sample.per_instant).collect()
    }
}

impl FiredSample {
    /// Returns the bytes of an entry under the next key.
    fn entry(&self, entry: usize) -> Vec<Value> {
        let mut row = self.entries.rows[entry % self.entries.rows.len()].clone();
        row[0] = Value::Integer((1 << POSITION_BITS) | i64::try_from(entry).unwrap_or(0));
        row
    }

    fn key(&self, firing: &[Value], columns: &[&str]) -> anyhow::Result<Vec<Value>> {
        columns.iter().map(|column| Ok(firing[self.firings.place(column)?].clone())).collect()
    }
}
