//! `cargo xtask soak`: runs random and long-running suites in full. `cargo xtask test` runs a small part of them.
//!
//! Parts that have passed at a commit are recorded in the target folder and skipped the next time, so that an
//! interrupted run can be continued.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::ValueEnum;

use crate::process;
use crate::tools;
use crate::trials::engine_on_postgres;

/// Makes tests run their full number of cases and rounds.
const IN_FULL: (&str, &str) = ("TIMENAV_TEST_SOAK", "1");
const SEED: &str = "PROPTEST_RNG_SEED";

/// One part, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Every random case of the stores and the engine.
    Cases,
    /// Kills under load, and data larger than the memory that a service may use.
    Service,
    /// A thousand random lives of a service.
    Histories,
    /// Every request while a second writer comes in between.
    SecondWriter,
    /// The tests of the engine, on PostgreSQL.
    EngineOnPostgres,
    /// Two hundred histories of three services on one database.
    Replicas,
}

impl Part {
    fn call(self, root: &Path) -> Command {
        let tests = |package: &str, filter: &[&str]| {
            process::cargo(root, &[&["test", "--package", package, "--test", "it", "--"], filter].concat())
        };
        let store = |filter: &[&str]| tests("timenav-store", filter);
        let service = |filter: &[&str]| tests("timenav", filter);
        match self {
            Self::Cases => store(&[]),
            Self::Service => service(&["--include-ignored", "kill::", "bundles::memory"]),
            Self::Histories => store(&["--ignored", "engine::timelines::whole_lives::thousand_histories"]),
            Self::SecondWriter => {
                let mut call = store(&["second_writer"]);
                call.env("TIMENAV_TEST_ALL_REQUESTS", "1");
                call
            }
            Self::EngineOnPostgres => engine_on_postgres::call(root),
            Self::Replicas => {
                service(&["--ignored", "--nocapture", "two_hundred_rounds_of_histories_are_linearizable"])
            }
        }
    }
}

/// Runs the chosen parts, or all, unless they have passed at this commit. `seed` repeats an earlier run.
pub(crate) fn run(root: &Path, parts: &[Part], seed: Option<u64>) -> anyhow::Result<()> {
    tools::postgres()?;
    let seed = seed.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs()));
    let chosen = |part: &&Part| parts.is_empty() || parts.contains(part);
    for part in Part::value_variants().iter().filter(chosen) {
        let name = part.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let done = Done::of(root, &name)?;
        if done.is_noted() {
            println!("\n== {name}: passed at this commit");
            continue;
        }
        println!("\n== {name}: seed {seed}");
        let mut call = part.call(root);
        process::run(call.env(IN_FULL.0, IN_FULL.1).env(SEED, seed.to_string()))
            .with_context(|| format!("repeat it with `cargo xtask soak {name} --seed {seed}`"))?;
        done.note()?;
    }
    Ok(())
}

struct Done {
    file: PathBuf,
    /// The commit at which it passed. `None` if there are uncommitted changes.
    commit: Option<String>,
}

impl Done {
    fn of(root: &Path, part: &str) -> anyhow::Result<Self> {
        let git = |arguments: &[&str]| process::output(Command::new("git").args(arguments).current_dir(root));
        let is_clean = git(&["status", "--porcelain"])?.is_empty();
        let commit = String::from_utf8_lossy(&git(&["rev-parse", "HEAD"])?).trim().to_owned();
        let file = process::target_folder(root).join("soak").join(part);
        Ok(Self { file, commit: is_clean.then_some(commit) })
    }

    fn is_noted(&self) -> bool {
        self.commit.is_some() && fs::read_to_string(&self.file).ok() == self.commit
    }

    fn note(&self) -> anyhow::Result<()> {
        let Some(commit) = &self.commit else { return Ok(()) };
        fs::create_dir_all(self.file.parent().context("the note has no parent folder")?)?;
        fs::write(&self.file, commit).with_context(|| format!("{} cannot be written", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soak_part_passes_only_at_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let done =
            |commit: Option<&str>| Done { file: folder.path().join("soak/cases"), commit: commit.map(str::to_owned) };
        assert!(!done(Some("a")).is_noted());
        done(None).note().unwrap();
        assert!(!done(None).is_noted());
        done(Some("a")).note().unwrap();
        assert!(done(Some("a")).is_noted());
        assert!(!done(Some("b")).is_noted());
    }
}
