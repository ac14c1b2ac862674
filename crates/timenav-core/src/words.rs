//! Word search in texts, ignoring case and accents.
//!
//! A text is split at word boundaries according to Unicode (UAX #29), and at underscores, colons and dots. Words are
//! folded: letters of any script become lower-case ASCII letters, by the same tables as place names, and punctuation is
//! dropped. `Café`, `CAFE` and `cafe\u{301}` are the same word, and so are `Łódź` and `lodz`, `can't` and `cant`.
//! Ideographs are kept, because many of them sound alike; each one is a word. `5.6` is one word, and `U.S.A.` is `usa`.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::limits::{FIND_TEXT_BYTES_MAX, FIND_WORDS_MAX};

/// Version of the folding rules. Raise it if a text may have other words than before: stores index folded words.
pub const WORDS_VERSION: u64 = 1;

/// Words that must all occur in a text, each as a prefix of one of its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordQuery {
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordQueryError {
    #[error("a search text can have at most {FIND_TEXT_BYTES_MAX} bytes")]
    TooLong,
    #[error("a search text can have at most {FIND_WORDS_MAX} words")]
    TooManyWords,
    #[error("it contains no words; write words or the beginnings of words")]
    NoWords,
}

impl WordQuery {
    /// Splits a text into words.
    ///
    /// # Errors
    /// The text is too long, or has no words or too many.
    pub fn new(text: &str) -> Result<Self, WordQueryError> {
        if text.len() > FIND_TEXT_BYTES_MAX {
            return Err(WordQueryError::TooLong);
        }
        let mut words = Vec::new();
        each_word(text, &mut |word| words.push(word.to_owned()));
        match words.len() {
            0 => Err(WordQueryError::NoWords),
            1..=FIND_WORDS_MAX => Ok(Self { words }),
            _ => Err(WordQueryError::TooManyWords),
        }
    }

    /// Returns the folded words.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    #[must_use]
    pub fn search(&self) -> WordSearch<'_> {
        WordSearch { left: self.words.iter().map(String::as_str).collect() }
    }
}

#[derive(Clone, Debug)]
pub struct WordSearch<'a> {
    left: Vec<&'a str>,
}

impl WordSearch<'_> {
    /// Searches a text. Returns whether all words have been found, in this text or an earlier one.
    pub fn look_into(&mut self, text: &str) -> bool {
        if !self.left.is_empty() {
            each_word(text, &mut |word| self.left.retain(|term| !word.starts_with(term)));
        }
        self.left.is_empty()
    }
}

/// Calls `visit` with each folded word of a text. A text matches a [`WordQuery`] if each word of the query is a prefix of
/// one of these.
pub fn each_word(text: &str, visit: &mut dyn FnMut(&str)) {
    let mut folded = String::new();
    // Unicode does not split words at the punctuation of identifiers and addresses.
    for part in text.unicode_words().flat_map(|word| word.split(['_', ':'])) {
        fold(part, &mut folded, visit);
        end(&mut folded, visit);
    }
}

fn end(folded: &mut String, visit: &mut dyn FnMut(&str)) {
    if !folded.is_empty() {
        visit(folded);
        folded.clear();
    }
}

fn fold(word: &str, folded: &mut String, visit: &mut dyn FnMut(&str)) {
    let mut chars = word.chars().peekable();
    let mut before = ' ';
    // Letters since the last dot: dots after single letters join initials, a dot after more letters ends the word.
    let mut letters = 0;
    while let Some(c) = chars.next() {
        let is_in_number = before.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit);
        before = c;
        letters += 1;
        match deunicode::deunicode_char(c) {
            _ if matches!(c, '.' | ',') && is_in_number => folded.push(c),
            _ if c == '.' => {
                if letters > 2 {
                    end(folded, visit);
                }
                letters = 0;
            }
            _ if is_ideograph(c) => folded.push(c),
            Some(ascii) => {
                folded.extend(ascii.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
            }
            None if c.is_alphanumeric() => folded.extend(c.to_lowercase()),
            None => {}
        }
    }
}

/// Returns whether a character is an ideograph (the Unicode blocks of Han characters).
const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, &mut |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_folded_and_split() {
        let check = |text: &str, expected: &[&str]| assert_eq!(words(text), expected, "{text}");
        check("", &[]);
        check("  — … !", &[]);
        check("The Eagle has LANDED.", &["the", "eagle", "has", "landed"]);
        check("São Paulo, Łódź; ÅNGSTRÖM, Straße", &["sao", "paulo", "lodz", "angstrom", "strasse"]);
        check("cafe\u{301} CAFÉ", &["cafe", "cafe"]);
        check("can't rock'n'roll U.S.A. e.g.", &["cant", "rocknroll", "usa", "eg"]);
        check("M 5.6 - 10km, 1,000 m 3.", &["m", "5.6", "10km", "1,000", "m", "3"]);
        check("order_42 a-b a/b urn:isbn", &["order", "42", "a", "b", "a", "b", "urn", "isbn"]);
        check("www.usgs.gov", &["www", "usgs", "gov"]);
        check("Москва Ἀθῆναι", &["moskva", "athenai"]);
        check("東京と大阪", &["東", "京", "to", "大", "阪"]);
        check("𝐁𝐨𝐥𝐝 ﬁne", &["bold", "fine"]);
        check("🚀 launch 🚀", &["launch"]);
    }

    /// If this fails after an update of a dependency, raise [`WORDS_VERSION`]: indexes have words of the former rules.
    #[test]
    fn folding_rules_change_only_with_their_version() {
        let mut all = String::new();
        for c in '\0'..='\u{323af}' {
            each_word(&format!("a{c}b.{c}1"), &mut |word| {
                all.push_str(word);
                all.push(' ');
            });
        }
        let digest = crate::ledger::sha256(&[all.as_bytes()]).to_hex();
        assert_eq!(
            (WORDS_VERSION, digest.as_str()),
            (1, "4e26e3dd2d57b6117dfae8ff4ed962df84b2f00e6b6c024334ca2e224773c476")
        );
    }

    #[test]
    fn query_words_match_prefixes_of_text_words() {
        let check = |word: &str, text: &str, expected: bool| {
            assert_eq!(WordQuery::new(word).unwrap().search().look_into(text), expected, "{word} in {text}");
        };
        check("eag land", "The Eagle has landed", true);
        check("landed eagle", "The Eagle has landed", true);
        check("agle", "The Eagle has landed", false);
        check("eagle lander", "The Eagle has landed", false);
        check("the the", "The Eagle", true);
        check("paulo", "SÃO PAULO", true);
        check("5", "M 5.6", true);
        check("56", "M 5.6", false);
        check("東京", "東京タワー", true);
        check("冬", "東京", false);
        check("word", "", false);
    }

    #[test]
    fn query_words_are_found_across_several_texts() {
        let query = WordQuery::new("one two").unwrap();
        let mut search = query.search();
        assert!(!search.look_into("One"));
        assert!(!search.look_into("three"));
        assert!(search.look_into("twofold"));
        assert!(search.look_into(""));
    }

    #[test]
    fn query_without_words_or_over_the_limit_is_rejected() {
        assert_eq!(WordQuery::new(""), Err(WordQueryError::NoWords));
        assert_eq!(WordQuery::new("*"), Err(WordQueryError::NoWords));
        assert!(WordQuery::new(&"a".repeat(FIND_TEXT_BYTES_MAX)).is_ok());
        assert_eq!(WordQuery::new(&"a".repeat(FIND_TEXT_BYTES_MAX + 1)), Err(WordQueryError::TooLong));
        assert!(WordQuery::new(&"a ".repeat(FIND_WORDS_MAX)).is_ok());
        assert_eq!(WordQuery::new(&"a ".repeat(FIND_WORDS_MAX + 1)), Err(WordQueryError::TooManyWords));
    }

    proptest! {
        #[test]
        fn text_query_matches_its_own_text(text in "\\PC{0,40}", before in "\\PC{0,9}") {
            if let Ok(query) = WordQuery::new(&text) {
                let surrounded = format!("{before} {text} {before}");
                prop_assert!(query.search().look_into(&text));
                prop_assert!(query.search().look_into(&surrounded));
            }
        }

        #[test]
        fn word_search_matches_a_simple_model(term in "[a-cA-C ]{1,6}", text in "[a-cA-C ;-]{0,24}") {
            let Ok(query) = WordQuery::new(&term) else {
                prop_assert!(term.trim().is_empty());
                return Ok(());
            };
            let of = |text: &str| -> Vec<String> {
                let words = text.split([' ', ';', '-']).filter(|word| !word.is_empty());
                words.map(str::to_lowercase).collect()
            };
            let (term, there) = (of(&term), of(&text));
            let expected = term.iter().all(|term| there.iter().any(|word| word.starts_with(term.as_str())));
            prop_assert_eq!(query.search().look_into(&text), expected);
        }
    }
}
