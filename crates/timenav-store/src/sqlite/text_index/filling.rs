//! Builds blocks, in small steps between which writers run.
//!
//! The tail of a timeline becomes a block once it has enough events, and consecutive blocks of a level become one of the
//! next level, so that a search reads few blocks. A block is read from events again, not from smaller blocks. Its rows
//! are written in several transactions, while it is not in use; the last one takes it into use. A block that a killed
//! process did not finish is deleted, and built again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use timenav_core::words::WORDS_VERSION;
use timenav_engine::{StoreError, TimelineKey};

use super::blocks::{self, BUILDING, Block, IN_USE, TO_DELETE};
use super::candidates::position_after;
use super::postings::Postings;
use crate::persistence::words::each_word;
use crate::sqlite::Shared;
use crate::sqlite::values::{count, failed, sql};

/// How large blocks and steps are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Events of a block of each level.
    pub(super) levels: [u64; 4],
    /// Blocks of one level that become one of the next.
    pub(super) merged_blocks: usize,
    /// Events read, and rows written or deleted, in a step: about a millisecond.
    pub(super) step_events: u64,
    pub(super) step_rows: usize,
    /// Bytes of different words after which a block ends, to bound memory.
    pub(super) words_bytes: usize,
}

impl Sizes {
    pub(super) const REGULAR: Self = Self {
        levels: [32, 512, 8_192, 131_072],
        merged_blocks: 16,
        step_events: 256,
        step_rows: 512,
        words_bytes: 16 << 20,
    };
}

/// Bytes written in a step, except for a single longer row.
const STEP_BYTES_MAX: usize = 128 << 10;
/// Bytes of memory per word in addition to its text, roughly.
const WORD_OVERHEAD_BYTES: usize = 100;

const SELECT_EVENTS: &str = "SELECT position, content FROM events INDEXED BY events_by_position
    WHERE timeline = ?1 AND position >= ?2 AND position < ?3 ORDER BY position LIMIT ?4";
const IS_ENDED: &str = "SELECT 1 FROM ended_timelines WHERE timeline = ?1";
const SELECT_LAST: &str = "SELECT coalesce(max(block), 0) FROM text_blocks WHERE timeline = ?1";
const INSERT_BLOCK: &str = "INSERT INTO text_blocks (timeline, block, first, end, level, state, words_version)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const SELECT_STATE: &str = "SELECT state FROM text_blocks WHERE timeline = ?1 AND block = ?2";
const INSERT_WORD: &str = "INSERT INTO text_words (timeline, block, word, positions) VALUES (?1, ?2, ?3, ?4)";
const USE_BLOCK: &str = "UPDATE text_blocks SET state = ?3, end = ?4 WHERE timeline = ?1 AND block = ?2";
const SET_STATE: &str = "UPDATE text_blocks SET state = ?3 WHERE timeline = ?1 AND block = ?2";
const SET_LEVEL: &str = "UPDATE text_blocks SET level = ?3 WHERE timeline = ?1 AND block = ?2";
const DELETE_WORDS: &str = "DELETE FROM text_words WHERE timeline = ?1 AND block = ?2 AND word IN
    (SELECT word FROM text_words WHERE timeline = ?1 AND block = ?2 LIMIT ?3)";
const DELETE_BLOCK: &str = "DELETE FROM text_blocks WHERE timeline = ?1 AND block = ?2";

/// A block to build.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    first: u64,
    end: u64,
    level: i64,
    /// The blocks that it replaces.
    replaced: Vec<i64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Job {
    Build(Plan),
    Delete(i64),
}

/// A block in memory.
struct Build {
    timeline: TimelineKey,
    number: i64,
    plan: Plan,
    next: u64,
    words: HashMap<Box<str>, Postings>,
    bytes: usize,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Reading(Build),
    /// The words left to write, the last one first.
    Writing(Build, Vec<(Box<str>, Postings)>),
    Deleting(TimelineKey, i64),
}

/// Indexes timelines step by step. Dropping it at any moment loses nothing but work.
pub(super) struct Filler<'a> {
    shared: &'a Shared,
    sizes: Sizes,
    state: State,
}

impl<'a> Filler<'a> {
    pub(super) fn new(shared: &'a Shared, sizes: Sizes) -> Self {
        Self { shared, sizes, state: State::Idle }
    }

    /// Runs one step for a timeline. Returns `false` if nothing is left to do; only then may another timeline follow.
    pub(super) fn step(&mut self, timeline: TimelineKey) -> Result<bool, StoreError> {
        match std::mem::take(&mut self.state) {
            State::Idle => {
                let sizes = self.sizes;
                let Some(job) = self.read(|connection| next_job(connection, timeline, &sizes))? else {
                    return Ok(false);
                };
                self.state = match job {
                    Job::Delete(block) => State::Deleting(timeline, block),
                    Job::Build(plan) => match self.write(|transaction| begin(transaction, timeline, &plan))? {
                        Some(number) => State::Reading(Build::new(timeline, number, plan)),
                        None => return Ok(false),
                    },
                };
            }
            State::Reading(build) => self.state = self.read_events(build)?,
            State::Writing(build, words) => self.state = self.write_words(build, words)?,
            State::Deleting(timeline, block) => {
                let rows_max = self.sizes.step_rows;
                if !self.write(|transaction| delete(transaction, timeline, block, rows_max))? {
                    self.state = State::Deleting(timeline, block);
                }
            }
        }
        Ok(true)
    }

    fn read_events(&self, mut build: Build) -> Result<State, StoreError> {
        let sizes = self.sizes;
        let is_read = self.read(|connection| build.read(connection, &sizes))?;
        if !is_read {
            return Ok(State::Reading(build));
        }
        if build.next < build.plan.end && !build.plan.replaced.is_empty() {
            // Too large to be merged.
            self.write(|transaction| build.keep_replaced(transaction))?;
            return Ok(State::Deleting(build.timeline, build.number));
        }
        let mut words: Vec<_> = std::mem::take(&mut build.words).into_iter().collect();
        words.sort_unstable_by(|one, next| next.0.cmp(&one.0));
        Ok(State::Writing(build, words))
    }

    fn write_words(&self, build: Build, mut words: Vec<(Box<str>, Postings)>) -> Result<State, StoreError> {
        let mut bytes = 0;
        let is_in_step = |(word, postings): &&(Box<str>, Postings)| {
            let is_first = bytes == 0;
            bytes += word.len() + postings.bytes().len();
            is_first || bytes <= STEP_BYTES_MAX
        };
        let rows_count = words.iter().rev().take(self.sizes.step_rows).take_while(is_in_step).count();
        let some = words.split_off(words.len() - rows_count);
        let is_last = words.is_empty();
        let is_written = self.write(|transaction| build.write(transaction, &some, is_last))?;
        Ok(match (is_written, is_last) {
            (false, _) => State::Deleting(build.timeline, build.number),
            (true, true) => State::Idle,
            (true, false) => State::Writing(build, words),
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let reader = self.shared.reader()?;
        let result = work(&reader);
        self.shared.put_back(reader);
        result
    }

    /// Runs a short transaction. Losing it in a power failure costs only work, so it does not wait for the disk.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.shared.writer.lock();
        let written = {
            let relaxed = Relaxed::new(&mut writer, &self.shared.is_failed)?;
            let begun = relaxed.writer.transaction_with_behavior(TransactionBehavior::Immediate);
            let transaction = begun.map_err(failed)?;
            work(&transaction).and_then(|result| transaction.commit().map_err(failed).map(|()| result))
        };
        self.shared.log.lock().keep(&writer);
        written
    }
}

/// The writer while its commits do not wait for the disk. Dropping this makes them durable again, after a panic too.
struct Relaxed<'a> {
    writer: &'a mut Connection,
    is_failed: &'a AtomicBool,
}

impl<'a> Relaxed<'a> {
    fn new(writer: &'a mut Connection, is_failed: &'a AtomicBool) -> Result<Self, StoreError> {
        let relaxed = Self { writer, is_failed };
        relaxed.writer.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        Ok(relaxed)
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.writer.pragma_update(None, "synchronous", "FULL") {
            self.is_failed.store(true, Ordering::Release);
            tracing::error!(%error, "commits are no longer durable; nothing more is written until a restart");
        }
    }
}

fn next_job(connection: &Connection, timeline: TimelineKey, sizes: &Sizes) -> Result<Option<Job>, StoreError> {
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let all = blocks::all(&moment, timeline)?;
    let used = blocks::in_use(&all);
    if let Some(unused) = all.iter().find(|block| !used.contains(block)) {
        return Ok(Some(Job::Delete(unused.number)));
    }
    if let Some(plan) = merge(&used, sizes) {
        return Ok(Some(Job::Build(plan)));
    }
    let (first, mut plan) = (blocks::indexed_to(&used), None);
    for (level, events_count) in (0..).zip(sizes.levels) {
        let Some(end) = position_after(&moment, timeline, first, events_count)? else { break };
        plan = Some(Plan { first, end, level, replaced: Vec::new() });
    }
    Ok(plan.map(Job::Build))
}

/// Returns the first merge of blocks of one level.
fn merge(used: &[Block], sizes: &Sizes) -> Option<Plan> {
    let top = i64::try_from(sizes.levels.len()).unwrap_or(i64::MAX) - 1;
    let mut runs = used.windows(sizes.merged_blocks);
    let run = runs.find(|run| run.iter().all(|block| block.level == run[0].level && block.level < top))?;
    let (first, last) = (run.first()?, run.last()?);
    let replaced = run.iter().map(|block| block.number).collect();
    Some(Plan { first: first.first, end: last.end, level: first.level + 1, replaced })
}

/// Inserts a block that is being built, before its events are read. `None` if the timeline has ended.
fn begin(transaction: &Transaction<'_>, timeline: TimelineKey, plan: &Plan) -> Result<Option<i64>, StoreError> {
    let ended: Option<i64> =
        transaction.query_row(IS_ENDED, [timeline.0], |row| row.get(0)).optional().map_err(failed)?;
    if ended.is_some() {
        return Ok(None);
    }
    let last: i64 = transaction.query_row(SELECT_LAST, [timeline.0], |row| row.get(0)).map_err(failed)?;
    let (first, end) = (sql(plan.first), sql(plan.end));
    let row = params![timeline.0, last + 1, first, end, plan.level, BUILDING, sql(WORDS_VERSION)];
    transaction.execute(INSERT_BLOCK, row).map_err(failed)?;
    Ok(Some(last + 1))
}

/// Deletes some words of a block, and at the end the block. Returns whether it is the end.
fn delete(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    block: i64,
    rows_max: usize,
) -> Result<bool, StoreError> {
    let limited = params![timeline.0, block, sql(rows_max as u64)];
    let deleted = transaction.prepare_cached(DELETE_WORDS).map_err(failed)?.execute(limited).map_err(failed)?;
    if deleted < rows_max {
        transaction.execute(DELETE_BLOCK, params![timeline.0, block]).map_err(failed)?;
    }
    Ok(deleted < rows_max)
}

impl Build {
    fn new(timeline: TimelineKey, number: i64, plan: Plan) -> Self {
        Self { timeline, number, next: plan.first, plan, words: HashMap::new(), bytes: 0 }
    }

    /// Reads some events. Returns whether the block is complete, or as large as it may become.
    fn read(&mut self, connection: &Connection, sizes: &Sizes) -> Result<bool, StoreError> {
        let mut select = connection.prepare_cached(SELECT_EVENTS).map_err(failed)?;
        let range = params![self.timeline.0, sql(self.next), sql(self.plan.end), sql(sizes.step_events)];
        let mut rows = select.query(range).map_err(failed)?;
        let mut rows_count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let position = count(row.get(0).map_err(failed)?)?;
            // Content that is not text is left to a scan.
            let content = row.get_ref(1).map_err(failed)?.as_str().unwrap_or_default();
            each_word(content, &mut |word| self.add(word, position));
            self.next = position + 1;
            rows_count += 1;
            if self.bytes >= sizes.words_bytes {
                return Ok(true);
            }
        }
        if rows_count < sizes.step_events {
            self.next = self.plan.end;
        }
        Ok(self.next >= self.plan.end)
    }

    fn add(&mut self, word: &str, position: u64) {
        if let Some(postings) = self.words.get_mut(word) {
            postings.add(position);
            return;
        }
        let mut postings = Postings::new(self.plan.first);
        postings.add(position);
        self.bytes += word.len() + WORD_OVERHEAD_BYTES;
        self.words.insert(word.into(), postings);
    }

    /// Writes some words. Returns `false` if the block is to be deleted instead, because an event was erased.
    fn write(
        &self,
        transaction: &Transaction<'_>,
        words: &[(Box<str>, Postings)],
        is_last: bool,
    ) -> Result<bool, StoreError> {
        let key = params![self.timeline.0, self.number];
        let state: Option<i64> =
            transaction.query_row(SELECT_STATE, key, |row| row.get(0)).optional().map_err(failed)?;
        if state != Some(BUILDING) {
            return Ok(false);
        }
        let mut insert = transaction.prepare_cached(INSERT_WORD).map_err(failed)?;
        for (word, postings) in words.iter().rev() {
            insert.execute(params![self.timeline.0, self.number, word, postings.bytes()]).map_err(failed)?;
        }
        if is_last {
            let row = params![self.timeline.0, self.number, IN_USE, sql(self.next)];
            transaction.execute(USE_BLOCK, row).map_err(failed)?;
            for block in &self.plan.replaced {
                transaction.execute(SET_STATE, params![self.timeline.0, block, TO_DELETE]).map_err(failed)?;
            }
        }
        Ok(true)
    }

    /// Moves the blocks that were to be replaced to the next level, so that they are not merged again.
    fn keep_replaced(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        for block in &self.plan.replaced {
            let row = params![self.timeline.0, block, self.plan.level];
            transaction.execute(SET_LEVEL, row).map_err(failed)?;
        }
        Ok(())
    }
}
