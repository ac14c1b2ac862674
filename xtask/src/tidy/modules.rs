//! Checks names, lengths and first lines of source files, and how many of them a folder has.

use std::collections::BTreeMap;

use super::Problem;
use super::tree::{Tree, is_test, split};

/// Maximum length of a file, in lines.
const LINES_MAX: usize = 500;
/// Maximum number of modules in one folder below `src`. Tests and the root of a crate do not count. The packages in
/// `clients` are flat.
const MODULES_MAX: usize = 20;
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
    problems.extend(crowded(tree));
    problems
}

fn crowded(tree: &Tree) -> impl Iterator<Item = Problem> {
    let mut modules_count: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, _) in tree.sources(&[".rs", ".ts", ".svelte"]) {
        let (folder, file) = split(path);
        let is_root = matches!(file, "lib.rs" | "main.rs" | "mod.rs");
        if folder.contains("src/") && !folder.starts_with("clients/") && !is_root && !is_test(path) {
            *modules_count.entry(folder).or_default() += 1;
        }
    }
    modules_count.into_iter().filter(|(_, count)| *count > MODULES_MAX).map(|(folder, count)| {
        let message = format!("the folder has {count} modules; group them by topic, the maximum is {MODULES_MAX}");
        Problem::new(folder, 1, message)
    })
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
    fn folders_with_too_many_modules_are_found() {
        let paths: Vec<String> = ["crates/a/src/", "crates/a/src/b/", "crates/a/tests/it/"]
            .iter()
            .flat_map(|folder| (0..20).map(move |number| format!("{folder}m{number}.rs")))
            .collect();
        let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        files.extend([
            ("crates/a/src/lib.rs", "//! A.\n"),
            ("crates/a/src/b/tests.rs", ""),
            ("crates/a/tests/it/x.rs", ""),
        ]);
        assert_found(check, &files, &[]);
        files.push(("crates/a/src/b/one_more.rs", ""));
        assert_found(check, &files, &["crates/a/src/b/:1"]);
    }

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
