use csv::StringRecord;
use regex::bytes::{Regex, RegexBuilder};

use crate::RecordError;
use crate::limits::{CSV_COLUMNS_MAX, PATTERN_COMPILED_BYTES_MAX, PATTERN_LINE_BYTES_MAX};

/// A regular expression whose named groups are columns. Character classes and case folding are ASCII only. Matching
/// takes time linear in the line length.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    regex: Regex,
    groups: Vec<usize>,
}

impl PartialEq for LinePattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

impl Eq for LinePattern {}

impl LinePattern {
    /// Fails if the pattern is invalid, too large, or has no named group. The error describes what is allowed.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(text).unicode(false).size_limit(PATTERN_COMPILED_BYTES_MAX).build();
        let regex = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(max) => format!("a compiled pattern can have at most {max} bytes"),
            // The last line of the message states the error; the others show its position.
            other => {
                let reason = other.to_string();
                let what = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("a pattern is a regular expression: {what}")
            }
        })?;
        let is_named = |(number, name): (usize, Option<&str>)| name.map(|_| number);
        let groups: Vec<usize> = regex.capture_names().enumerate().filter_map(is_named).collect();
        match groups.len() {
            0 => Err("the columns of a pattern are its named groups, such as `(?<time>\\S+)`".to_owned()),
            1..=CSV_COLUMNS_MAX => Ok(Self { regex, groups }),
            _ => Err("there are too many columns".to_owned()),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.regex.capture_names().flatten()
    }

    /// Fills a row with the groups of a line; a group that does not take part is empty. Fails if the line does not
    /// match.
    pub(crate) fn cut(&self, line: &str, row: &mut StringRecord) -> Result<(), RecordError> {
        let wrong = |detail: String| Err(RecordError::whole(RecordError::MALFORMED_CSV, detail));
        if line.len() > PATTERN_LINE_BYTES_MAX {
            return wrong(format!("a line for `pattern` can have at most {PATTERN_LINE_BYTES_MAX} bytes"));
        }
        let Some(found) = self.regex.captures(line.as_bytes()) else {
            return wrong("the line does not match `pattern`".to_owned());
        };
        for group in &self.groups {
            let cell = found.get(*group).map_or(&b""[..], |cell| cell.as_bytes());
            let Ok(cell) = str::from_utf8(cell) else {
                return wrong(
                    "`pattern` splits a character: outside of ASCII, a character has several bytes".to_owned(),
                );
            };
            row.push_field(cell.trim());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_pattern_is_reported() {
        let check = |text: &str, expected: &str| assert_eq!(LinePattern::new(text).unwrap_err(), expected, "{text}");
        check("(?<a>x", "a pattern is a regular expression: unclosed group");
        check("(x)", "the columns of a pattern are its named groups, such as `(?<time>\\S+)`");
        check("(?<a>x{1000}){1000}", "a compiled pattern can have at most 16384 bytes");
        check("(?<a>x)(?<a>y)", "a pattern is a regular expression: duplicate capture group name");
    }

    #[test]
    fn named_groups_are_columns() {
        let pattern = LinePattern::new(r"^(?<b>\w+)( \[(?<c>[^\]]*)\])? (?<a>.*)$").unwrap();
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["b", "c", "a"]);
        let cut = |line: &str| {
            let mut row = StringRecord::new();
            pattern.cut(line, &mut row).map(|()| row.iter().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(cut("one [two] three \u{e9}").unwrap(), ["one", "two", "three \u{e9}"]);
        assert_eq!(cut("one three ").unwrap(), ["one", "", "three"]);
        assert_eq!(cut("[two]").unwrap_err().detail, "the line does not match `pattern`");
        let long = "x".repeat(PATTERN_LINE_BYTES_MAX);
        assert!(cut(&format!("{}{long}", "x ")).unwrap_err().detail.contains("at most 65536 bytes"));
        assert_eq!(cut(&format!("x {}", &long[2..])).unwrap()[2].len(), PATTERN_LINE_BYTES_MAX - 2);
    }

    #[test]
    fn pattern_that_splits_a_character_is_rejected() {
        let mut row = StringRecord::new();
        let pattern = LinePattern::new("^(?<a>.)").unwrap();
        assert!(pattern.cut("\u{e9}", &mut row).unwrap_err().detail.starts_with("`pattern` splits a character"));
    }
}
