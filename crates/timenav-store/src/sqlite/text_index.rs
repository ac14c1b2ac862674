//! The index of words, for searches by `text`.
//!
//! A *block* maps each folded word to the positions of the events that have it, for a range of positions. Blocks of a
//! timeline cover it from position 0 on; the rest, its *tail*, is searched without the index. A thread of the store
//! builds blocks after commits. A search takes its candidates from blocks and tail, and checks each one like a search
//! without the index does, so that a surplus word costs time and a missing one hides an event. Scans compare the words.

pub(crate) mod blocks;
pub(crate) mod candidates;
pub(crate) mod comparing;
pub(crate) mod erasing;
pub(crate) mod filling;
pub(crate) mod pacing;
pub(crate) mod postings;

#[cfg(test)]
mod tests;
