/// Shortest word that is searched within another: `decimallatitude` ends with `latitude`.
const INNER_CHARS_MIN: usize = 3;

/// Returns the words of a name in lower case, last first: for `Date.Year`, `year` is first.
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

pub(super) fn has_word(name: &str, those: &[&str]) -> bool {
    words(name).any(|word| those.contains(&word.as_str()))
}

/// Returns the other words of a name: `start` for `start_lat` and `lat`. `None` if it does not contain the word.
pub(super) fn rest_of(name: &str, word: &str) -> Option<Vec<String>> {
    let mut rest: Vec<String> = words(name).collect();
    let place = rest.iter().position(|one| one == word)?;
    rest.remove(place);
    Some(rest)
}

/// Returns the part of a name before its last word: `rec` for `reclat` and `lat`.
pub(super) fn start_of(name: &str, word: &str) -> Option<String> {
    let name = name.to_lowercase();
    let start = name.strip_suffix(word).filter(|_| word.chars().count() >= INNER_CHARS_MIN)?;
    Some(start.to_owned())
}
