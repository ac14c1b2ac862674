//! Protection against formula injection in exported cells.
//!
//! Spreadsheet programs evaluate cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, and the text may
//! come from a stranger. A leading apostrophe makes the cell text; the importer removes it again. Texts with blanks at
//! an end are guarded too, because cells are trimmed on reading.

use std::borrow::Cow;

/// Whether a text needs an apostrophe. Apostrophes already there are ignored, so that every text survives a round trip.
fn needs_guard(text: &str) -> bool {
    let inner = text.trim_start_matches('\'');
    inner.starts_with(['=', '+', '-', '@', '\t', '\r']) || inner.trim().len() != inner.len()
}

pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if needs_guard(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text of a guarded cell; none if the cell is not guarded.
pub(crate) fn unguarded(cell: &str) -> Option<&str> {
    cell.strip_prefix('\'').filter(|text| needs_guard(text))
}

/// The text of any cell.
pub(crate) fn plain(cell: &str) -> Cow<'_, str> {
    Cow::Borrowed(unguarded(cell).unwrap_or(cell))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formula_like_text_is_guarded() {
        let check = |text: &str, expected: &str| {
            assert_eq!(guarded(text), expected);
            assert_eq!(plain(expected), text);
        };
        check("=1+1", "'=1+1");
        check("+1", "'+1");
        check("-000043-03-15T12:00:00Z", "'-000043-03-15T12:00:00Z");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\tx", "'\tx");
        check("\rx", "'\rx");
        check("'=x", "''=x");
        check(" x", "' x");
        check("x\n", "'x\n");
        check("", "");
        check("'tis", "'tis");
        check("''", "''");
        check("a=b", "a=b");
    }

    proptest! {
        #[test]
        fn guarded_text_is_read_back(text in "['=+@a \\t\\r\\n-]{0,6}") {
            let written = guarded(&text);
            prop_assert_eq!(&*plain(&written), &text);
            prop_assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r']));
        }
    }
}
