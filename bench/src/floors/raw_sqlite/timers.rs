//! The floor of timers: bare SQL that writes the rows of firings and their outcomes.

use std::path::Path;

use anyhow::ensure;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use super::{Excerpt, POSITION_BITS, Template, excerpt, update_head};
use crate::load::count;
use crate::measure::wall_clock::Stopwatch;

pub(crate) struct FiredSample {
    template: Template,
    /// Entries of firings and of outcomes, alternately.
    entries: Excerpt,
    timers: Excerpt,
    firings: Excerpt,
    per_instant: usize,
}

impl FiredSample {
    /// Samples all firings of the only timeline, `per_instant` at each instant. All must have an outcome.
    pub(crate) fn take(database: &Path, per_instant: usize) -> anyhow::Result<Self> {
        let connection = Connection::open(database)?;
        let template = Template::of(&connection)?;
        let key = template.key;
        let of_timeline = format!("WHERE timeline = {key} ORDER BY position");
        let (timers, firings) =
            (excerpt(&connection, "timers", &of_timeline)?, excerpt(&connection, "firings", &of_timeline)?);
        let first = key << POSITION_BITS;
        let query = |column: &str| format!("SELECT {first} + {column} FROM firings WHERE timeline = {key}");
        let (made, settled) = (query("made"), query("settled"));
        let filter = format!("WHERE entry IN ({made} UNION {settled}) ORDER BY entry");
        let entries = excerpt(&connection, "entries", &filter)?;
        let instants = firings.rows.len() / per_instant;
        ensure!(
            instants > 0 && firings.rows.len() == timers.rows.len() && entries.rows.len() >= 2 * instants,
            "{} does not hold the firings to compare with",
            database.display()
        );
        Ok(Self { template, entries, timers, firings, per_instant })
    }

    fn instants(&self) -> usize {
        self.firings.rows.len() / self.per_instant
    }
}

/// Writes the rows of one kind for a firing.
type PutRows = fn(&Transaction<'_>, &FiredSample, &[Value]) -> anyhow::Result<()>;

pub(crate) struct RawFirings<'a> {
    connection: Connection,
    sample: &'a FiredSample,
    /// Indexes of the next instant and entry.
    instant: usize,
    entries: usize,
}

impl<'a> RawFirings<'a> {
    /// Creates a database with armed timers in a folder.
    pub(crate) fn create(folder: &Path, sample: &'a FiredSample) -> anyhow::Result<Self> {
        let mut connection = sample.template.create(folder)?;
        let transaction = connection.transaction()?;
        let (next, due) = (sample.timers.place("next")?, sample.firings.place("due")?);
        for (timer, firing) in sample.timers.rows.iter().zip(&sample.firings.rows) {
            let mut row = timer.clone();
            row[next] = firing[due].clone();
            transaction.prepare_cached(&sample.timers.insert())?.execute(params_from_iter(row))?;
        }
        transaction.commit()?;
        Ok(Self { connection, sample, instant: 0, entries: 0 })
    }

    /// Writes all firings and outcomes, one commit per instant, and returns instants per second.
    pub(crate) fn write_all(&mut self) -> anyhow::Result<f64> {
        let (watch, instants) = (Stopwatch::start(), self.sample.instants());
        for _ in 0..instants {
            self.commit(&[Self::put_fired, Self::put_settled])?;
            self.instant += 1;
        }
        Ok(count(instants) / watch.elapsed().as_secs_f64())
    }

    /// Commits the firings of the next instant.
    pub(crate) fn fire(&mut self) -> anyhow::Result<()> {
        self.commit(&[Self::put_fired])
    }

    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        self.commit(&[Self::put_settled])?;
        self.instant += 1;
        Ok(())
    }

    /// Commits rows of the current instant, with one entry per kind.
    fn commit(&mut self, kinds: &[PutRows]) -> anyhow::Result<()> {
        let (sample, rows) = (self.sample, self.rows());
        let transaction = self.connection.transaction()?;
        let mut last = self.entries;
        for (entry, put) in (self.entries..).zip(kinds) {
            transaction.prepare_cached(&sample.entries.insert())?.execute(params_from_iter(sample.entry(entry)))?;
            for firing in &rows {
                put(&transaction, sample, firing)?;
            }
            last = entry;
        }
        update_head(&transaction, &sample.template.head, last)?;
        transaction.commit()?;
        self.entries += kinds.len();
        Ok(())
    }

    fn put_fired(transaction: &Transaction<'_>, sample: &FiredSample, firing: &[Value]) -> anyhow::Result<()> {
        let mut row = firing.to_vec();
        (row[sample.firings.place("state")?], row[sample.firings.place("settled")?]) = (Value::Integer(0), Value::Null);
        transaction.prepare_cached(&sample.firings.insert())?.execute(params_from_iter(row))?;
        let moved = "UPDATE timers SET next = NULL WHERE timeline = ?1 AND position = ?2";
        let key = sample.key(firing, &["timeline", "position"])?;
        transaction.prepare_cached(moved)?.execute(params_from_iter(key))?;
        Ok(())
    }

    fn put_settled(transaction: &Transaction<'_>, sample: &FiredSample, firing: &[Value]) -> anyhow::Result<()> {
        let settle = "UPDATE firings SET state = 1, settled = ?5
            WHERE timeline = ?1 AND due = ?2 AND position = ?3 AND round = ?4";
        let key = sample.key(firing, &["timeline", "due", "position", "round", "settled"])?;
        transaction.prepare_cached(settle)?.execute(params_from_iter(key))?;
        Ok(())
    }

    fn rows(&self) -> Vec<&'a Vec<Value>> {
        let Self { sample, instant, .. } = self;
        let first = instant % sample.instants() * sample.per_instant;
        sample.firings.rows.iter().skip(first).take(sample.per_instant).collect()
    }
}

impl FiredSample {
    fn entry(&self, entry: usize) -> Vec<Value> {
        let mut row = self.entries.rows[entry % self.entries.rows.len()].clone();
        row[0] = Value::Integer((1 << POSITION_BITS) | i64::try_from(entry).unwrap_or(0));
        row
    }

    fn key(&self, firing: &[Value], columns: &[&str]) -> anyhow::Result<Vec<Value>> {
        columns.iter().map(|column| Ok(firing[self.firings.place(column)?].clone())).collect()
    }
}
