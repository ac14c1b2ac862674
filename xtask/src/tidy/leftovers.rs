//! Unfinished code, lints silenced without a reason, and stray files of tools.

use super::Problem;
use super::tree::Tree;

/// Forbidden words, and what to do instead. Each is split in two, so that this file does not contain them.
const LEFTOVERS: [(&str, &str); 6] = [
    (concat!("to", "do!("), "write it"),
    (concat!("unimple", "mented!("), "write it, or make the case impossible"),
    (concat!("db", "g!("), "remove it"),
    (concat!("FIX", "ME"), "fix it, or describe the state and its reason in a sentence"),
    (concat!("XX", "X"), "fix it, or describe the state and its reason in a sentence"),
    (concat!("TO", "DO"), "do it, or open an issue"),
];

/// Folders that may have binary files. Others are usually downloads left by a tool.
const BINARIES: [&str; 4] = ["console/dist/", "crates/timenav-places/data/", "docs/images/", "fuzz/corpus/"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in tree.binaries().filter(|path| !BINARIES.iter().any(|folder| path.starts_with(folder))) {
        let message = format!("is not text, and is outside {}: remove it", BINARIES.join(", "));
        problems.push(Problem::new(path, 1, message));
    }
    for (path, text) in tree.sources(&[".rs", ".ts", ".svelte", "Cargo.toml"]) {
        for (number, line) in text.lines().enumerate() {
            let found = LEFTOVERS.iter().find(|(leftover, _)| line.contains(leftover));
            problems.extend(found.map(|(leftover, right)| {
                Problem::new(path, number + 1, format!("`{leftover}` is left over; {right}"))
            }));
        }
    }
    for (path, text) in tree.sources(&[".rs"]) {
        problems.extend(silenced(path, text));
    }
    for (path, text) in tree.sources(&[".md", ".rs", ".ts", ".svelte", ".py", ".mjs", ".css", ".toml", ".json"]) {
        let is_conflict = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
        problems.extend(
            text.lines()
                .position(is_conflict)
                .map(|at| Problem::new(path, at + 1, "a merge conflict is unresolved; choose a side")),
        );
    }
    problems
}

/// Finds attributes that silence a lint without a reason.
fn silenced(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (start, _) in text.match_indices('#') {
        let attribute = text[start + 1..].strip_prefix('!').unwrap_or(&text[start + 1..]);
        let Some(word) = ["allow", "expect"].iter().find(|word| {
            attribute
                .strip_prefix('[')
                .and_then(|rest| rest.strip_prefix(**word))
                .is_some_and(|rest| rest.starts_with('('))
        }) else {
            continue;
        };
        let end = attribute.find(")]").unwrap_or(attribute.len());
        if !attribute[..end].contains("reason") {
            let line = text[..start].matches('\n').count() + 1;
            let message = format!("`{word}` without a reason; use `expect` with `reason = \"…\"`");
            problems.push(Problem::new(path, line, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn leftovers_are_found_in_code_and_manifests() {
        let [todo, _, dbg, fixme, ..] = super::LEFTOVERS.map(|(leftover, _)| leftover);
        let code = format!("//! Doc.\nfn a() {{ {todo}) }}\nfn b() {{}}\n// {fixme}: later\n{dbg}1);\n");
        assert_found(check, &[("a.rs", &code)], &["a.rs:2", "a.rs:4", "a.rs:5"]);
        assert_found(
            check,
            &[("console/src/a.ts", &code), ("console/dist/a.ts", &code)],
            &["console/src/a.ts:2", "console/src/a.ts:4", "console/src/a.ts:5"],
        );
        assert_found(check, &[("README.md", &code)], &[]);
    }

    #[test]
    fn binary_files_are_allowed_only_in_certain_folders() {
        let files = [("tool-1.0-py3-none-any.whl", "PK\0"), ("docs/a.zip", "\0"), ("docs/images/a.png", "\0")];
        assert_found(check, &files, &["docs/a.zip:1", "tool-1.0-py3-none-any.whl:1"]);
    }

    #[test]
    fn silenced_lint_requires_a_reason() {
        let silent = concat!("fn a() {}\n#", "[allow(dead_code)]\nfn b() {}\n#", "![expect(\n    unused\n)]\n");
        assert_found(check, &[("a.rs", silent)], &["a.rs:2", "a.rs:4"]);
        let source = concat!("#", "[expect(\n    dead_code,\n    reason = \"kept (for now)\"\n)]\nfn b() {}\n");
        assert_found(check, &[("a.rs", source)], &[]);
    }
}
