//! Wording that several crates share.

use std::fmt::Display;

#[macro_use]
mod named;

/// Returns a count and a noun with a regular plural, such as `1 event` or `2 events`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noun_agrees_with_its_count() {
        let texts = [0, 1, 2].map(|count: u64| counted(count, "second"));
        assert_eq!(texts, ["0 seconds", "1 second", "2 seconds"]);
    }
}
