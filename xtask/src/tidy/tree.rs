//! The files that are checked.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::process;

/// Folders whose files are made by a program, or are fixtures that keep their bytes.
const NOT_WRITTEN_BY_HAND: [&str; 6] =
    ["console/dist/", "crates/timenav-places/data/", "fuzz/corpus/", "test-data/", "target/", "clients/vectors/"];

/// The files of a repository, each by its path from the root.
#[derive(Debug)]
pub(super) struct Tree {
    /// `None` for what is no text.
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the files that Git knows or would take, as they are in the work tree.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = process::output(Command::new("git").args(arguments).current_dir(root))?;
        let listed = String::from_utf8(listed).context("a path is not text")?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            // One that was deleted and is still known to Git is no file any more.
            if let Ok(bytes) = std::fs::read(root.join(path)) {
                files.insert(path.to_owned(), text_of(bytes));
            }
        }
        Ok(Self { files })
    }

    /// Returns a tree of these files.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), text_of(text.as_bytes().to_vec()));
        Self { files: files.iter().map(own).collect() }
    }

    /// Returns every path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the path of every file that is no text.
    pub(super) fn binaries(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, text)| text.is_none()).map(|(path, _)| path.as_str())
    }

    /// Returns every text with its path.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns every text that people write, with its path, if its name ends in one of these.
    pub(super) fn sources(&self, endings: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| is_written_by_hand(path) && endings.iter().any(|ending| path.ends_with(ending)))
    }

    /// Returns the text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Returns whether there is a file or a folder of that path.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Returns whether people write the file.
pub(super) fn is_written_by_hand(path: &str) -> bool {
    !NOT_WRITTEN_BY_HAND.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether the file holds tests and nothing else.
pub(super) fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    let is_test_file =
        matches!(file.split('.').next(), Some("test" | "tests")) || file.contains(".test.") || file.contains(".spec.");
    is_test_file || parts.any(|folder| matches!(folder, "test" | "tests" | "benches"))
}

/// Returns what follows the last dot of a path.
pub(super) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Splits a path into its folder, with the slash, and the name of its file.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rfind('/').map_or(("", path), |slash| path.split_at(slash + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_found() {
        let tree = Tree::of(&[("docs/api/a.md", "a"), ("docs-old.md", "b"), ("c.bin", "\0")]);
        for (path, expected) in [
            ("docs", true),
            ("docs/api", true),
            ("docs/api/a.md", true),
            ("c.bin", true),
            ("doc", false),
            ("docs/ap", false),
            ("docs-old", false),
        ] {
            assert_eq!(tree.has(path), expected, "{path}");
        }
        assert_eq!(tree.texts().count(), 2);
    }

    #[test]
    fn tests_are_told_from_the_rest() {
        for (path, expected) in [
            ("crates/a/src/clock/tests.rs", true),
            ("crates/a/src/clock/tests/properties.rs", true),
            ("crates/a/tests/it/main.rs", true),
            ("console/src/time.test.ts", true),
            ("console/e2e/time.spec.ts", true),
            ("crates/a/src/clock.rs", false),
            ("crates/a/src/contests.rs", false),
            ("crates/a/src/attest/mod.rs", false),
        ] {
            assert_eq!(is_test(path), expected, "{path}");
        }
    }
}
