//! The index of words, for searches by `text`.
//!
//! A *block* maps each folded word to the positions of the events that have it, for a range of positions. Blocks of a
//! timeline cover it from position 0 on; the rest, its *tail*, is searched without the index. A thread of the store
//! builds blocks after commits. A search takes its candidates from blocks and tail, and checks each one like a search
//! without the index does, so that a surplus word costs time and a missing one hides an event. Scans compare the words.

use timenav_engine::each_event_word;

pub(crate) mod blocks;
pub(crate) mod candidates;
pub(crate) mod comparing;
pub(crate) mod erasing;
pub(crate) mod filling;
pub(crate) mod pacing;
pub(crate) mod postings;

/// Longer words are indexed by their beginning.
const WORD_BYTES_MAX: usize = 64;

/// Calls `visit` with each indexed word of an event, possibly more than once.
fn each_word(content: &str, visit: &mut dyn FnMut(&str)) {
    each_event_word(content, &mut |word| visit(indexed(word)));
}

/// Returns the part of a folded word that is indexed.
fn indexed(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_BYTES_MAX)]
}

#[cfg(test)]
mod tests;
