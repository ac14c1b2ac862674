//! Lines that no window shows whole: of papers, and of the console, where prettier leaves long comments and texts be.

use super::Problem;
use super::links::prose;
use super::tree::Tree;

/// Longest line, in characters. rustfmt holds Rust to the same.
const CHARS_MAX: usize = 120;
/// Papers whose lines are as long as they are.
const NOT_WRAPPED: [&str; 1] = [
    // Written by the program.
    "docs/command-line.md",
];
/// Endings of what the console is made of.
const CONSOLE: [&str; 6] = [".ts", ".svelte", ".css", ".js", ".mjs", ".html"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let papers = tree.sources(&[".md"]).filter(|(path, _)| !NOT_WRAPPED.contains(path));
    let papers = papers.flat_map(|(path, text)| {
        let lines = prose(text).filter(|(_, line)| can_be_wrapped(line));
        lines.filter_map(move |(number, line)| too_long(path, number, line))
    });
    let console = tree.sources(&CONSOLE).filter(|(path, _)| path.starts_with("console/"));
    let console = console.flat_map(|(path, text)| {
        text.lines().enumerate().filter_map(move |(index, line)| too_long(path, index + 1, line))
    });
    papers.chain(console).collect()
}

fn too_long(path: &str, number: usize, line: &str) -> Option<Problem> {
    let chars_count = line.chars().count();
    (chars_count > CHARS_MAX)
        .then(|| Problem::new(path, number, format!("the line has {chars_count} characters; wrap it at {CHARS_MAX}")))
}

/// Returns whether a line of a paper can go on in the next one: a row of a table cannot, nor can indented code, a single
/// word, or a link of which only the address is there.
fn can_be_wrapped(line: &str) -> bool {
    if line.starts_with("    ") {
        return false;
    }
    let line = line.trim();
    let is_row = line.starts_with('|');
    let is_address = line.starts_with('[') && line.contains("]: ");
    let item = line.trim_start_matches(['-', '*', '>', ' ']);
    !is_row && !is_address && item.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::{CHARS_MAX, check};

    #[test]
    fn long_lines_of_papers_are_found_where_they_can_be_wrapped() {
        let long = "long ".repeat(30);
        let edge = format!("{} word\n", "ü".repeat(CHARS_MAX - 5));
        let beyond = format!("{} word\n", "ü".repeat(CHARS_MAX - 4));
        let text = format!("# A\n\n{long}\n\n| {long} |\n\n```\n{long}\n```\n\n- {long}\n\n    {long}\n");
        let address = format!("[here]: https://a.example/{}\n- https://a.example/{0}\n", "a".repeat(120));
        let files = [
            ("README.md", text.as_str()),
            ("docs/edge.md", edge.as_str()),
            ("docs/beyond.md", beyond.as_str()),
            ("docs/link.md", address.as_str()),
            ("docs/command-line.md", text.as_str()),
            ("test-data/README.md", text.as_str()),
        ];
        assert_found(check, &files, &["README.md:3", "README.md:11", "docs/beyond.md:1"]);
    }

    #[test]
    fn long_lines_of_the_console_are_found() {
        let long = format!("a\n{}\n", "x".repeat(CHARS_MAX + 1));
        let enough = "x".repeat(CHARS_MAX);
        let files = [
            ("console/src/App.svelte", long.as_str()),
            ("console/src/app.css", enough.as_str()),
            ("console/dist/assets/app.css", long.as_str()),
            ("examples/page.html", long.as_str()),
        ];
        assert_found(check, &files, &["console/src/App.svelte:2"]);
    }
}
