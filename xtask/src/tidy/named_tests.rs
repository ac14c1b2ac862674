//! Checks that tests named in the documentation exist, because readers will look for them.

use std::collections::BTreeSet;

use super::Problem;
use super::links::prose;
use super::tree::Tree;

/// A path whose last part has at least this many words is a test name.
const WORDS_MIN: usize = 4;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let functions: BTreeSet<&str> =
        tree.sources(&[".rs"]).flat_map(|(_, text)| text.lines().filter_map(function)).collect();
    let mut problems = Vec::new();
    for (path, text) in tree.sources(&[".md"]) {
        for (line, words) in prose(text) {
            let missing = named(words).filter(|name| !functions.contains(name));
            problems.extend(missing.map(|name| Problem::new(path, line, format!("there is no test `{name}`"))));
        }
    }
    problems
}

fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_plain = before.chars().all(|c| c.is_ascii_lowercase() || matches!(c, ' ' | '(' | ')'));
    rest.split(['(', '<']).next().filter(|_| is_plain)
}

/// Returns the last parts of paths such as `replicas::revoked_key_is_rejected_on_every_replica`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split('`').skip(1).step_by(2);
    let is_name = |name: &&str| {
        let is_snake = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        is_snake && name.split('_').count() >= WORDS_MIN
    };
    code.filter_map(|code| code.rsplit_once("::").map(|(_, name)| name)).filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn tests_named_in_pages_must_exist() {
        let rust = (
            "crates/a/tests/it/main.rs",
            "#[test]\nfn what_is_told_is_kept() {\n}\n    pub(crate) async fn it_is_so_too(a: u8) {\n",
        );
        let page = "`main::what_is_told_is_kept`, `a::it_is_so_too`\n`std::fs`, `rows_per_page_max`, `i::of_so_few`\n";
        assert_found(check, &[rust, ("docs/page.md", page)], &[]);
        let stale = "Words.\n`main::what_is_told_is_lost`\n```\n`main::in_a_fence_it_is`\n```\n";
        assert_found(check, &[rust, ("docs/page.md", stale)], &["docs/page.md:2"]);
    }
}
