//! Erases the words of an event.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Transaction, params};
use timenav_engine::{StoreError, TimelineKey};

use super::blocks::{self, BUILDING, TO_DELETE};
use super::postings::{self, Postings};
use crate::persistence::words::each_word;
use crate::sqlite::values::{failed, sql};

const SELECT_CONTENT: &str = "SELECT content FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";
const SELECT_POSITIONS: &str = "SELECT positions FROM text_words WHERE timeline = ?1 AND block = ?2 AND word = ?3";
const UPDATE_POSITIONS: &str = "UPDATE text_words SET positions = ?4 WHERE timeline = ?1 AND block = ?2 AND word = ?3";
const DELETE_WORD: &str = "DELETE FROM text_words WHERE timeline = ?1 AND block = ?2 AND word = ?3";
const DELETE_WORDS: &str = "DELETE FROM text_words WHERE timeline = ?1 AND block = ?2";
const SET_STATE: &str = "UPDATE text_blocks SET state = ?3 WHERE timeline = ?1 AND block = ?2";

/// Erases the words of an event whose row is about to be deleted.
pub(in crate::sqlite) fn erase(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    (event_id, position): (&str, u64),
) -> Result<(), StoreError> {
    let mut blocks = blocks::all(transaction, timeline)?;
    blocks.retain(|block| block.covers(position));
    if blocks.is_empty() {
        return Ok(());
    }
    let row = params![timeline.0, event_id, sql(position)];
    let content: Option<String> = {
        let mut select = transaction.prepare_cached(SELECT_CONTENT).map_err(failed)?;
        select.query_row(row, |row| row.get(0)).optional().map_err(failed)?
    };
    let mut words = BTreeSet::new();
    each_word(content.as_deref().unwrap_or_default(), &mut |word| {
        if !words.contains(word) {
            words.insert(word.to_owned());
        }
    });
    for block in blocks {
        if block.is_current {
            for word in &words {
                erase_word(transaction, timeline, (block.number, block.first), (word, position))?;
            }
        } else {
            // Its words are not known to this version.
            let mut delete = transaction.prepare_cached(DELETE_WORDS).map_err(failed)?;
            delete.execute(params![timeline.0, block.number]).map_err(failed)?;
        }
        if block.state == BUILDING || !block.is_current {
            // The thread that builds it may have read the event already.
            let mut update = transaction.prepare_cached(SET_STATE).map_err(failed)?;
            update.execute(params![timeline.0, block.number, TO_DELETE]).map_err(failed)?;
        }
    }
    Ok(())
}

fn erase_word(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    (block, first): (i64, u64),
    (word, erased): (&str, u64),
) -> Result<(), StoreError> {
    let key = params![timeline.0, block, word];
    let mut select = transaction.prepare_cached(SELECT_POSITIONS).map_err(failed)?;
    let bytes: Option<Vec<u8>> = select.query_row(key, |row| row.get(0)).optional().map_err(failed)?;
    let Some(bytes) = bytes else { return Ok(()) };
    let (mut left, mut is_there) = (Postings::new(first), false);
    postings::each(&bytes, first, |position| {
        if position == erased {
            is_there = true;
        } else {
            left.add(position);
        }
        true
    })?;
    if is_there && left.bytes().is_empty() {
        transaction.prepare_cached(DELETE_WORD).map_err(failed)?.execute(key).map_err(failed)?;
    } else if is_there {
        let row = params![timeline.0, block, word, left.bytes()];
        transaction.prepare_cached(UPDATE_POSITIONS).map_err(failed)?.execute(row).map_err(failed)?;
    }
    Ok(())
}
