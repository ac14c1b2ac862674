//! Source files: their names, their length, their first line, and whether anything compiles them.

use super::Problem;
use super::tree::{Tree, is_test, split};

/// Longest file, in lines.
const LINES_MAX: usize = 500;
/// Names that say nothing about what is in a file.
const EMPTY_NAMES: [&str; 9] = ["utils", "util", "common", "helpers", "helper", "types", "models", "misc", "prelude"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.sources(&[".rs", ".ts", ".svelte", ".js"]) {
        problems.extend(name(path));
        let lines_count = text.lines().count();
        if lines_count > LINES_MAX && !is_test(path) {
            let message =
                format!("the file has {lines_count} lines; split it by what is in it, {LINES_MAX} are enough");
            problems.push(Problem::new(path, LINES_MAX + 1, message));
        }
    }
    for (path, text) in tree.sources(&[".rs"]) {
        let is_root = matches!(split(path), (folder, "lib.rs" | "main.rs") if folder.ends_with("src/"));
        if is_root && !text.starts_with("//!") {
            problems.push(Problem::new(path, 1, "the crate does not say what it is; begin with a `//!` comment"));
        }
        problems.extend(forgotten(tree, path));
    }
    problems
}

fn name(path: &str) -> Option<Problem> {
    let parts = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    Some(Problem::new(path, 1, format!("`{empty}` says nothing; name it after what is in it")))
}

/// Says if no other file of the crate names this one as a module: then nothing compiles it, and
/// its tests do not run.
fn forgotten(tree: &Tree, path: &str) -> Option<Problem> {
    let (folder, file) = split(path);
    let stem = file.strip_suffix(".rs")?;
    let is_root = matches!(stem, "lib" | "main" | "build") || is_target_folder(folder);
    if is_root {
        return None;
    }
    // `a/b.rs` is named in `a.rs` or `a/mod.rs`, `a/b/mod.rs` just so; next to the root, in the root.
    let (module, home) = if stem == "mod" {
        let (home, module) = split(folder.trim_end_matches('/'));
        (module, home)
    } else {
        (stem, folder)
    };
    let beside = format!("{}.rs", home.trim_end_matches('/'));
    let parents = [format!("{home}mod.rs"), format!("{home}lib.rs"), format!("{home}main.rs"), beside];
    let named = parents.iter().filter_map(|parent| tree.text(parent)).any(|text| names_module(text, module));
    if named {
        return None;
    }
    let message = format!("nothing compiles this file; write `mod {module};` in the module above it, or remove it");
    Some(Problem::new(path, 1, message))
}

/// Returns whether each file of the folder is a program of its own.
fn is_target_folder(folder: &str) -> bool {
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    let (last, above) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    matches!(last, "examples" | "benches" | "fuzz_targets")
        || (last == "bin" && above == "src")
        // `tests/` beside `src/` holds programs; a folder `tests` inside `src/` holds modules.
        || (last == "tests" && !folder.contains("/src/") && !folder.starts_with("src/"))
}

fn names_module(text: &str, module: &str) -> bool {
    let declaration = format!("mod {module};");
    text.lines().any(|line| {
        let before = line.trim().strip_suffix(&declaration);
        before.is_some_and(|before| before.is_empty() || before.ends_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
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
    fn a_crate_says_what_it_is() {
        assert_found(check, &[("crates/a/src/lib.rs", "mod a;\n")], &["crates/a/src/lib.rs:1"]);
        assert_found(check, &[("crates/a/src/main.rs", "//! The program.\nfn main() {}\n")], &[]);
    }

    #[test]
    fn a_file_that_nothing_compiles_is_found() {
        let files = [
            ("a/src/lib.rs", "//! A.\npub(crate) mod deep;\nmod one; // said\nmod flat;\n"),
            ("a/src/deep/mod.rs", "mod inner;\n"),
            ("a/src/deep/inner.rs", "#[cfg(test)]\nmod tests;\n"),
            ("a/src/deep/inner/tests.rs", ""),
            ("a/src/flat.rs", "// mod lost is not here\n"),
            ("a/src/flat/lost.rs", ""),
            ("a/src/bin/other.rs", ""),
            ("a/tests/it/main.rs", "mod clock;\n"),
            ("a/tests/it/clock.rs", ""),
            ("a/tests/it/forgotten.rs", ""),
            ("a/tests/cli.rs", ""),
            ("a/build.rs", ""),
        ];
        assert_found(check, &files, &["a/src/flat/lost.rs:1", "a/tests/it/forgotten.rs:1"]);
    }
}
