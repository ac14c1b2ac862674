//! Checks names, lengths and first lines of source files.

use super::Problem;
use super::tree::{Tree, is_test, split};

/// Maximum length of a file, in lines.
const LINES_MAX: usize = 500;
/// Names that say nothing about the contents of a file.
const EMPTY_NAMES: [&str; 9] = ["utils", "util", "common", "helpers", "helper", "types", "models", "misc", "prelude"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.sources(&[".rs", ".ts", ".svelte", ".js"]) {
        problems.extend(name(path));
        let lines_count = text.lines().count();
        if lines_count > LINES_MAX && !is_test(path) {
            let message = format!("the file has {lines_count} lines; split it by topic, the maximum is {LINES_MAX}");
            problems.push(Problem::new(path, LINES_MAX + 1, message));
        }
    }
    for (path, text) in tree.sources(&[".rs"]) {
        let is_root = matches!(split(path), (folder, "lib.rs" | "main.rs") if folder.ends_with("src/"));
        if is_root && !text.starts_with("//!") {
            problems.push(Problem::new(path, 1, "the crate has no description; begin with a `//!` comment"));
        }
    }
    problems
}

fn name(path: &str) -> Option<Problem> {
    let parts = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    Some(Problem::new(path, 1, format!("the name `{empty}` is too general; name it after its contents")))
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn meaningless_module_names_are_found() {
        let lib = ("crates/a/src/lib.rs", "//! A.\nmod utils;\nmod clock;\npub mod common;\n");
        let files = [
            lib,
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/clock.rs", ""),
            ("crates/a/src/common/mod.rs", ""),
            ("console/src/types.ts", ""),
        ];
        let expected = ["console/src/types.ts:1", "crates/a/src/common/mod.rs:1", "crates/a/src/utils.rs:1"];
        assert_found(check, &files, &expected);
    }

    #[test]
    fn long_files_are_found_unless_they_hold_tests() {
        let (long, enough) = ("x\n".repeat(501), "x\n".repeat(500));
        let named = ("src/lib.rs", "//! A.\nmod a;\nmod b;\nmod tests;\n");
        assert_found(
            check,
            &[named, ("src/a.rs", &long), ("src/b.rs", &enough), ("src/tests.rs", &long)],
            &["src/a.rs:501"],
        );
    }

    #[test]
    fn crate_must_begin_with_documentation() {
        assert_found(check, &[("crates/a/src/lib.rs", "mod a;\n")], &["crates/a/src/lib.rs:1"]);
        assert_found(check, &[("crates/a/src/main.rs", "//! The program.\nfn main() {}\n")], &[]);
    }
}
