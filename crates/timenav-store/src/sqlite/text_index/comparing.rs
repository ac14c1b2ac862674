//! Compares the index of words with the events.
//!
//! Both sides are sums of hashes under a random key, so that memory does not depend on the number of events.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use rusqlite::{Connection, OptionalExtension, params};
use timenav_engine::{StoreError, TimelineKey};

use super::{blocks, postings};
use crate::persistence::words::each_word;
use crate::sqlite::values::{count, failed, sql};

const SELECT_TIMELINES: &str = "SELECT DISTINCT timeline FROM text_blocks";
const SELECT_SIZE: &str = "SELECT size FROM timelines WHERE timeline = ?1";
const SELECT_EVENTS: &str =
    "SELECT position, content FROM events WHERE timeline = ?1 AND position < ?2 ORDER BY cell, time, position";
const SELECT_WORDS: &str = "SELECT word, positions FROM text_words WHERE timeline = ?1 AND block = ?2";

/// Words of positions, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    hashes: [u64; 2],
}

struct Key([RandomState; 2]);

impl Key {
    fn add(&self, sum: &mut Sum, word: &str, position: u64) {
        sum.count += 1;
        for (sum, key) in sum.hashes.iter_mut().zip(&self.0) {
            *sum = sum.wrapping_add(key.hash_one((word, position)));
        }
    }
}

/// Returns a sentence for each timeline whose index does not have the words of its events.
pub(in crate::sqlite) fn differences(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let timelines: Vec<i64> = {
        let mut select = connection.prepare(SELECT_TIMELINES).map_err(failed)?;
        let rows = select.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)?
    };
    let mut found = Vec::new();
    for timeline in timelines.into_iter().map(TimelineKey) {
        let what = match difference(connection, timeline) {
            Ok(None) => continue,
            Ok(Some(what)) | Err(StoreError::Damaged(what)) => what,
            Err(error) => return Err(error),
        };
        found.push(format!("table text_words, timeline {}: {what}", timeline.0));
    }
    Ok(found)
}

fn difference(connection: &Connection, timeline: TimelineKey) -> Result<Option<String>, StoreError> {
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let used = blocks::in_use(&blocks::all(&moment, timeline)?);
    let size: Option<i64> = moment.query_row(SELECT_SIZE, [timeline.0], |row| row.get(0)).optional().map_err(failed)?;
    if size.is_some_and(|size| sql(blocks::indexed_to(&used)) > size) {
        // Later events would not be found.
        return Ok(Some("its blocks end after the ledger".to_owned()));
    }
    let key = Key([RandomState::new(), RandomState::new()]);
    let mut indexed = Sum::default();
    for block in &used {
        let mut select = moment.prepare_cached(SELECT_WORDS).map_err(failed)?;
        let mut rows = select.query(params![timeline.0, block.number]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let word = row.get_ref(0).and_then(|value| Ok(value.as_str()?)).map_err(failed)?;
            let bytes = row.get_ref(1).and_then(|value| Ok(value.as_blob()?)).map_err(failed)?;
            postings::each(bytes, block.first, |position| {
                key.add(&mut indexed, word, position);
                true
            })?;
        }
    }
    let expected = of_events(&moment, timeline, blocks::indexed_to(&used), &key)?;
    Ok((indexed != expected).then(|| {
        format!("its {} positions of words are not the {} that the events have", indexed.count, expected.count)
    }))
}

fn of_events(connection: &Connection, timeline: TimelineKey, end: u64, key: &Key) -> Result<Sum, StoreError> {
    let mut select = connection.prepare_cached(SELECT_EVENTS).map_err(failed)?;
    let mut rows = select.query(params![timeline.0, sql(end)]).map_err(failed)?;
    let (mut sum, mut words) = (Sum::default(), HashSet::<Box<str>>::new());
    while let Some(row) = rows.next().map_err(failed)? {
        let position = count(row.get(0).map_err(failed)?)?;
        let content = row.get_ref(1).map_err(failed)?.as_str().unwrap_or_default();
        words.clear();
        each_word(content, &mut |word| {
            if !words.contains(word) {
                words.insert(word.into());
                key.add(&mut sum, word, position);
            }
        });
    }
    Ok(sum)
}
