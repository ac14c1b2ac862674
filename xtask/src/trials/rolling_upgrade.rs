//! `cargo xtask rolling-upgrade`: replaces an older build of the service by the current one under load.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{process, tools};

/// The oldest commit with the oldest feature level that this version supports: 2.
pub(crate) const OLDEST: &str = "ff22dd39977e2c12135e374e0f262955fd46ded1";

/// The test, which `cargo test` does not run.
const TEST: &[&str] = &[
    "test",
    "--package",
    "timenav",
    "--test",
    "it",
    "process::replicas::rolling_upgrade::rolling_upgrade_under_load_replaces_older_replicas",
    "--",
    "--ignored",
    "--nocapture",
];

/// Builds the service at a commit, and runs the upgrade from it to the current build.
pub(crate) fn run(root: &Path, from: &str) -> anyhow::Result<()> {
    tools::postgres()?;
    let older = build(root, from)?;
    println!("from {} to the present build", older.display());
    process::run(process::cargo(root, TEST).env("TIMENAV_UPGRADE_FROM", older))
}

/// Builds the program of a commit in a separate folder, which is reused by the next run.
fn build(root: &Path, from: &str) -> anyhow::Result<PathBuf> {
    let folder = process::target_folder(root).join("rolling-upgrade");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let mut ask = git(root);
    let id = process::output(ask.args(["rev-parse", "--verify", "--end-of-options", &format!("{from}^{{commit}}")]))?;
    let id = String::from_utf8(id)?.trim().to_owned();
    let Some(short) = id.get(..8) else { bail!("`{from}` is not a commit") };
    let source = folder.join(short);
    if !source.join("Cargo.toml").exists() {
        let packed = folder.join(format!("{short}.tar"));
        fs::create_dir_all(&source)?;
        process::run(git(root).args(["archive", "--format=tar", &id, "--output"]).arg(&packed))?;
        process::run(Command::new("tar").arg("--extract").arg("--file").arg(&packed).arg("--directory").arg(&source))?;
        fs::remove_file(&packed)?;
    }
    // A separate target folder: Cargo would consider another commit's artifacts up to date by the files' dates.
    let target = source.join("target");
    let arguments = ["build", "--locked", "--package", "timenav", "--bin", "timenav"];
    process::run(process::cargo(&source, &arguments).env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("debug/timenav"))
}

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root);
    command
}
