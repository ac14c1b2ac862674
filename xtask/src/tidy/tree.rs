use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::process;

/// Folders with generated files, or with fixtures that must not change.
const NOT_WRITTEN_BY_HAND: [&str; 6] =
    ["console/dist/", "crates/timenav-places/data/", "fuzz/corpus/", "test-data/", "target/", "clients/vectors/"];

#[derive(Debug)]
pub(super) struct Tree {
    /// `None` for binary files.
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the files that Git tracks or would add, as they are in the work tree.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = process::output(Command::new("git").args(arguments).current_dir(root))?;
        let listed = String::from_utf8(listed).context("a path is not text")?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            // Git still lists files that were deleted.
            if let Ok(bytes) = std::fs::read(root.join(path)) {
                files.insert(path.to_owned(), text_of(bytes));
            }
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), text_of(text.as_bytes().to_vec()));
        Self { files: files.iter().map(own).collect() }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn binaries(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, text)| text.is_none()).map(|(path, _)| path.as_str())
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    pub(super) fn sources(&self, endings: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| is_written_by_hand(path) && endings.iter().any(|ending| path.ends_with(ending)))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

pub(super) fn is_written_by_hand(path: &str) -> bool {
    !NOT_WRITTEN_BY_HAND.iter().any(|folder| path.starts_with(folder))
}

pub(super) fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    let is_test_file =
        matches!(file.split('.').next(), Some("test" | "tests")) || file.contains(".test.") || file.contains(".spec.");
    is_test_file || parts.any(|folder| matches!(folder, "test" | "tests" | "benches"))
}

pub(super) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Splits a path into its folder, with the slash, and its file name.
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
    fn test_paths_are_distinguished_from_others() {
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
