use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::process;

/// The TypeScript client. The console imports its sources.
pub(crate) const TYPESCRIPT_CLIENT: &str = "clients/typescript";
/// A copy of the lock file whose packages npm has installed.
const INSTALLED: &str = "node_modules/.timenav-lock.json";

/// Checks that Node is installed and recent enough for the console's tools.
pub(crate) fn require() -> anyhow::Result<()> {
    let found = Command::new("node").arg("--version").output().ok();
    let version = found.and_then(|found| String::from_utf8(found.stdout).ok()).unwrap_or_default();
    if !is_new_enough(&version) {
        bail!(
            "Node 20.19 or later with npm is missing; install it, or leave out the steps with `--skip console --skip \
             clients`"
        );
    }
    Ok(())
}

pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

/// Installs the packages of a folder's lock file, unless they are already installed.
pub(crate) fn install(folder: &Path) -> anyhow::Result<()> {
    let read = |path: PathBuf| fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()));
    let lockfile = read(folder.join("package-lock.json"))?;
    if read(folder.join(INSTALLED)).is_ok_and(|there| there == lockfile) {
        return Ok(());
    }
    process::run(npm(folder).args(["ci", "--no-fund", "--no-audit", "--loglevel=error"]))
        .with_context(|| format!("the packages of {} cannot be installed", folder.display()))?;
    // Written last, so that an interrupted installation is repeated.
    fs::write(folder.join(INSTALLED), lockfile).context("node_modules is not writable")
}

/// Installs the packages of the TypeScript client, and generates its code from the OpenAPI document.
pub(crate) fn generate_client(root: &Path) -> anyhow::Result<()> {
    let client = root.join(TYPESCRIPT_CLIENT);
    install(&client)?;
    process::run(npm(&client).args(["run", "--silent", "generate"]))
}

/// The oldest Node version that can build the console.
const NODE_VERSION_MIN: (u32, u32) = (20, 19);

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= NODE_VERSION_MIN,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_are_compared() {
        for (version, expected) in [
            ("v20.19.0\n", true),
            ("v22.3.1", true),
            ("v20.9.9", false),
            ("v18.20.4", false),
            ("", false),
            ("next", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
