use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::fs::statfs;

use crate::measure::cores::Cores;

/// File system type of tmpfs (`statfs(2)`).
const TMPFS_MAGIC: i64 = 0x0102_1994;

pub(crate) struct Setting {
    pub(crate) rounds_count: usize,
    pub(crate) measure_time: Duration,
    /// Whether histories are smaller than in the goals.
    pub(crate) quick: bool,
    pub(crate) large: bool,
    pub(crate) folder: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) service: PathBuf,
    pub(crate) cores: Cores,
}

impl Setting {
    /// Finds everything that a run needs. The default number of rounds depends on `quick`.
    pub(crate) fn new(quick: bool, large: bool, rounds: Option<u16>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program does not know where it is")?;
        let release = program.parent().context("this program lies in no folder")?;
        let target = release.parent().context("this program lies in no target folder")?;
        let folder = target.join("bench");
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        refuse_memory(&folder)?;
        Ok(Self {
            rounds_count: rounds.map_or(if quick { 3 } else { 5 }, usize::from),
            measure_time: Duration::from_secs(if quick { 1 } else { 3 }),
            quick,
            large,
            service: release.join("timenav"),
            folder,
            program,
            cores: Cores::of_this_machine(),
        })
    }

    /// Returns the size of a history that has a million events in the goals.
    pub(crate) fn history_events(&self) -> u64 {
        if self.quick { 100_000 } else { 1_000_000 }
    }

    pub(crate) fn empty_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("{} cannot be emptied", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    }

    /// Returns a folder that is expensive to create, which later runs reuse unless it is unfinished.
    pub(crate) fn cached_folder(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        let finished = self.folder.join(format!("{name}.finished"));
        if finished.exists() && folder.exists() {
            return Ok(folder);
        }
        eprintln!("making {name}, once");
        let _ = std::fs::remove_file(&finished);
        let folder = self.empty_folder(name)?;
        make(&folder)?;
        std::fs::write(finished, "")?;
        Ok(folder)
    }
}

/// Rejects a folder in memory, because durable writes are measured.
fn refuse_memory(folder: &Path) -> anyhow::Result<()> {
    let kind = statfs(folder).with_context(|| format!("{} cannot be looked at", folder.display()))?.f_type;
    if kind == TMPFS_MAGIC {
        bail!("{} is kept in memory; set CARGO_TARGET_DIR to a folder on a disk", folder.display());
    }
    Ok(())
}
