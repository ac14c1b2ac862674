//! Texts in cells that programs for tables would take for formulas.
//!
//! Such a program calculates what begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and what
//! it calculates may come from a stranger. An apostrophe before it makes it a text. Reading a cell
//! takes the apostrophe back, so that what was written is read. Texts with blanks at an end are
//! guarded too, because cells are read without them.

use std::borrow::Cow;

/// Returns whether a text needs an apostrophe before it. One that has some already does so when it
/// would without them, so that writing and reading again gives the same.
fn needs_guard(text: &str) -> bool {
    let inner = text.trim_start_matches('\'');
    inner.starts_with(['=', '+', '-', '@', '\t', '\r']) || inner.trim().len() != inner.len()
}

/// Returns the text as it is written in a cell.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if needs_guard(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Returns the text of a cell that has an apostrophe before it for that reason.
pub(crate) fn unguarded(cell: &str) -> Option<&str> {
    cell.strip_prefix('\'').filter(|text| needs_guard(text))
}

/// Returns the text of any cell.
pub(crate) fn plain(cell: &str) -> Cow<'_, str> {
    Cow::Borrowed(unguarded(cell).unwrap_or(cell))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_like_a_formula_is_guarded() {
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
        fn what_is_written_is_read(text in "['=+@a \\t\\r\\n-]{0,6}") {
            let written = guarded(&text);
            prop_assert_eq!(&*plain(&written), &text);
            prop_assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r']));
        }
    }
}
