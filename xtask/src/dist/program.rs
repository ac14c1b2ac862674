use std::path::{Path, PathBuf};

use anyhow::Context;

use super::glibc;
use crate::process;

pub(super) const SUMMARY: &str = "The timenav service: a clock that programs and people can control, over HTTP";
/// Folder of files that are only in the packages.
pub(super) const PACKAGES: &str = "deploy/packages";
pub(super) const LICENSES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];

pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) version: String,
    /// The oldest version of glibc that can run it.
    pub(super) glibc: (u32, u32),
    /// The architecture name in Rust and Python.
    pub(super) processor: &'static str,
}

impl Program {
    pub(super) fn read(root: &Path, path: &Path) -> anyhow::Result<Self> {
        let glibc = glibc::required_version(path)?;
        Ok(Self { path: path.to_owned(), version: version(root)?, glibc, processor: std::env::consts::ARCH })
    }
}

fn version(root: &Path) -> anyhow::Result<String> {
    let id = process::output(&mut process::cargo(root, &["pkgid", "--package", "timenav"]))?;
    let id = String::from_utf8(id)?;
    let version = id.trim().rsplit(['#', '@']).next().context("cargo reports no version")?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_version_matches_the_workspace() {
        let root = process::repository_root().unwrap();
        assert_eq!(version(&root).unwrap(), env!("CARGO_PKG_VERSION"));
    }
}
