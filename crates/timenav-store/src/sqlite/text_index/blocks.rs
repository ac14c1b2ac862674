//! The list of blocks.

use rusqlite::{Connection, params};
use timenav_core::words::WORDS_VERSION;
use timenav_engine::{StoreError, TimelineKey};

use crate::sqlite::values::{count, failed, sql};

const SELECT: &str = "SELECT block, first, end, level, state, words_version FROM text_blocks WHERE timeline = ?1";

/// The state of a block, as a column has it.
pub(super) const IN_USE: i64 = 0;
pub(super) const BUILDING: i64 = 1;
pub(super) const TO_DELETE: i64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) number: i64,
    /// Range of positions.
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) level: i64,
    pub(super) state: i64,
    /// Whether it has words of this version of the folding rules.
    pub(super) is_current: bool,
}

impl Block {
    pub(super) const fn covers(&self, position: u64) -> bool {
        self.first <= position && position < self.end
    }
}

/// Returns all blocks of a timeline, in order of their first positions.
pub(super) fn all(connection: &Connection, timeline: TimelineKey) -> Result<Vec<Block>, StoreError> {
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let mut rows = select.query(params![timeline.0]).map_err(failed)?;
    let mut blocks = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let number = |at: usize| row.get::<_, i64>(at).map_err(failed);
        blocks.push(Block {
            number: number(0)?,
            first: count(number(1)?)?,
            end: count(number(2)?)?,
            level: number(3)?,
            state: number(4)?,
            is_current: number(5)? == sql(WORDS_VERSION),
        });
    }
    blocks.sort_by_key(|block| (block.first, block.number));
    Ok(blocks)
}

/// Returns the blocks that searches use: they cover a timeline from position 0 on, without gaps.
pub(super) fn in_use(all: &[Block]) -> Vec<Block> {
    let mut end = 0;
    let mut used: Vec<Block> = Vec::with_capacity(all.len());
    for block in all.iter().filter(|block| block.state == IN_USE && block.is_current) {
        if block.first == end && block.end > end {
            end = block.end;
            used.push(*block);
        }
    }
    used
}

/// Returns the position from which on events are not indexed.
pub(super) fn indexed_to(used: &[Block]) -> u64 {
    used.last().map_or(0, |block| block.end)
}
