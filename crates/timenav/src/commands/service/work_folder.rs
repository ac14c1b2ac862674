use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use crate::data_folder::{CHECKPOINTS_FILE, DATABASE_FILE, LOCK_FILE, hold, sync_folder_of};

/// The temporary name of the file that is renamed last.
pub(in crate::commands) const UNFINISHED_FILE: &str = "unfinished";

/// Locked by this process and removed on drop. Leftovers of a killed process are removed before it is used again.
pub(in crate::commands) struct WorkFolder {
    path: PathBuf,
    _lock: File,
}

impl WorkFolder {
    /// Fails if another process uses the folder.
    pub(in crate::commands) fn make(path: PathBuf) -> anyhow::Result<Self> {
        let lock = hold(&path, LOCK_FILE).map_err(|error| anyhow!("the folder {} {error:#}", path.display()))?;
        let folder = Self { path, _lock: lock };
        folder.empty();
        Ok(folder)
    }

    pub(in crate::commands) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Renames a file to its final name durably, replacing an existing file.
    pub(in crate::commands) fn put(&self, name: &str, to: &Path) -> anyhow::Result<()> {
        let moved = std::fs::rename(self.file(name), to).and_then(|()| sync_folder_of(to));
        moved.with_context(|| format!("{} cannot be written", to.display()))
    }

    fn empty(&self) {
        let journal = format!("{DATABASE_FILE}-journal");
        for name in [DATABASE_FILE, &journal, CHECKPOINTS_FILE, "checkpoints.new", UNFINISHED_FILE] {
            // The file may not exist. If it cannot be removed, a later write reports that.
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
