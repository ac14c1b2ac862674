//! A folder for files that are not finished, of which nothing is left in the end.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use crate::data_folder::{CHECKPOINTS_FILE, DATABASE_FILE, LOCK_FILE, hold, sync_folder_of};

/// The file that gets its name at the end, before it has it.
pub(super) const UNFINISHED_FILE: &str = "unfinished";

/// A folder that this process alone uses, and takes away when the value is dropped. What a process that was killed
/// left of it is taken away before it is used again.
pub(super) struct WorkFolder {
    path: PathBuf,
    _lock: File,
}

impl WorkFolder {
    /// Makes the folder.
    ///
    /// # Errors
    /// It cannot be made, or another process uses it.
    pub(super) fn make(path: PathBuf) -> anyhow::Result<Self> {
        let lock = hold(&path, LOCK_FILE).map_err(|error| anyhow!("the folder {} {error:#}", path.display()))?;
        let folder = Self { path, _lock: lock };
        folder.empty();
        Ok(folder)
    }

    /// Returns the path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Gives a file in it the name that it is for, durably, in the place of what has that name.
    pub(super) fn put(&self, name: &str, to: &Path) -> anyhow::Result<()> {
        let moved = std::fs::rename(self.file(name), to).and_then(|()| sync_folder_of(to));
        moved.with_context(|| format!("{} cannot be written", to.display()))
    }

    /// Takes away what is in it, if it is of the names that are used here.
    fn empty(&self) {
        let journal = format!("{DATABASE_FILE}-journal");
        for name in [DATABASE_FILE, &journal, CHECKPOINTS_FILE, "checkpoints.new", UNFINISHED_FILE] {
            // What is not there need not go, and what cannot go is told where it is in the way.
            let _ = std::fs::remove_file(self.file(name));
        }
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        self.empty();
        let _ = std::fs::remove_file(self.file(LOCK_FILE));
        let _ = std::fs::remove_dir(&self.path);
    }
}
