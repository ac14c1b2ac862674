//! What every benchmark of a run has in common.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::fs::statfs;

use crate::cores::Cores;

/// The type of a file system that is kept in memory (`statfs(2)`).
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// How a run measures, and where.
pub(crate) struct Setting {
    /// How often floor and subject take turns.
    pub(crate) rounds_count: usize,
    /// How long one measurement of a rate takes.
    pub(crate) measure_time: Duration,
    /// Whether histories are smaller than the goals say.
    pub(crate) quick: bool,
    /// Whether 10 million events are measured too.
    pub(crate) large: bool,
    /// Where data is kept.
    pub(crate) folder: PathBuf,
    /// This very program.
    pub(crate) program: PathBuf,
    /// The service.
    pub(crate) service: PathBuf,
    /// What runs where.
    pub(crate) cores: Cores,
}

impl Setting {
    /// Finds everything that a run needs. It has as many rounds as are usual where no number is given.
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

    /// Returns how many events a history has that should have a million.
    pub(crate) fn history_events(&self) -> u64 {
        if self.quick { 100_000 } else { 1_000_000 }
    }

    /// Returns an empty folder for data.
    pub(crate) fn empty_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("{} cannot be emptied", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    }

    /// Returns a folder of data that is costly to make: the one made by an earlier run, or one
    /// made now. One that was not finished counts as none.
    pub(crate) fn kept_folder(
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

/// What is measured is durable, which memory is not.
fn refuse_memory(folder: &Path) -> anyhow::Result<()> {
    let kind = statfs(folder).with_context(|| format!("{} cannot be looked at", folder.display()))?.f_type;
    if kind == TMPFS_MAGIC {
        bail!("{} is kept in memory; set CARGO_TARGET_DIR to a folder on a disk", folder.display());
    }
    Ok(())
}
