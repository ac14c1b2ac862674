//! The words in the names of columns.

/// Shortest word that is looked for inside of another: `decimallatitude` ends with `latitude`.
const INNER_CHARS_MIN: usize = 3;

/// Returns the words of a name in lower case, the last first: that of `Date.Year` is `year`.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && was_lower;
        if !character.is_alphanumeric() {
            words.push(String::new());
        } else if begins || words.is_empty() {
            words.push(character.to_lowercase().collect());
        } else if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    words.into_iter().rev().filter(|word| !word.is_empty())
}

/// Returns whether a name has one of these words.
pub(super) fn has_word(name: &str, those: &[&str]) -> bool {
    words(name).any(|word| those.contains(&word.as_str()))
}

/// Returns what a name has beside a word: `start` for `start_lat` and `lat`. None if it does not have the word.
pub(super) fn rest_of(name: &str, word: &str) -> Option<Vec<String>> {
    let mut rest: Vec<String> = words(name).collect();
    let place = rest.iter().position(|one| one == word)?;
    rest.remove(place);
    Some(rest)
}

/// Returns what a name has before a word that ends it: `rec` for `reclat` and `lat`.
pub(super) fn start_of(name: &str, word: &str) -> Option<String> {
    let name = name.to_lowercase();
    let start = name.strip_suffix(word).filter(|_| word.chars().count() >= INNER_CHARS_MIN)?;
    Some(start.to_owned())
}
