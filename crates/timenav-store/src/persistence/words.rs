//! The words of events that both backends index.

use timenav_engine::each_event_word;

/// Longer words are indexed by their beginning.
const WORD_BYTES_MAX: usize = 64;

/// Calls `visit` with each indexed word of an event, possibly more than once.
pub(crate) fn each_word(content: &str, visit: &mut dyn FnMut(&str)) {
    each_event_word(content, &mut |word| visit(indexed(word)));
}

/// Returns the part of a folded word that is indexed.
fn indexed(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_BYTES_MAX)]
}

/// Returns the distinct prefixes that a search needs, the longest first: it probably has the fewest events.
pub(crate) fn prefixes(words: &[String]) -> Vec<&str> {
    let mut prefixes: Vec<&str> = words.iter().map(|word| indexed(word)).collect();
    prefixes.sort_unstable_by_key(|prefix| (std::cmp::Reverse(prefix.len()), *prefix));
    prefixes.dedup();
    prefixes
}
