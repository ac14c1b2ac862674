//! A staging folder from which a package is packed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::process;

/// The files of a package, in the order in which they were added.
pub(super) struct Stage {
    folder: TempDir,
    names: Vec<String>,
}

impl Stage {
    /// Creates an empty folder inside another one. It is removed on drop.
    pub(super) fn new(out: &Path) -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::new_in(out)?, names: Vec::new() })
    }

    pub(super) fn write(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.add(name)?;
        fs::write(path, text).with_context(|| format!("{name} cannot be written"))
    }

    /// Adds a copy of a file, with its permissions.
    pub(super) fn copy(&mut self, from: &Path, name: &str) -> anyhow::Result<()> {
        let path = self.add(name)?;
        fs::copy(from, path).with_context(|| format!("{} cannot be copied", from.display()))?;
        Ok(())
    }

    fn add(&mut self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().context("a file has no folder")?)?;
        self.names.push(name.to_owned());
        Ok(path)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, PathBuf)> {
        self.names.iter().map(|name| (name.as_str(), self.folder.path().join(name)))
    }

    /// Returns the name, hexadecimal SHA-256 and length of each file.
    pub(super) fn sums(&self) -> anyhow::Result<Vec<(&str, String, u64)>> {
        let mut sha256sum = Command::new("sha256sum");
        let listed = process::output(sha256sum.arg("--").args(&self.names).current_dir(self.folder.path()))?;
        let listed = String::from_utf8(listed)?;
        let mut sums = Vec::new();
        for ((name, path), line) in self.files().zip(listed.lines()) {
            let Some((sum, _)) = line.split_once(' ') else { bail!("sha256sum reports no sum of {name}") };
            sums.push((name, sum.to_owned(), fs::metadata(path)?.len()));
        }
        Ok(sums)
    }

    /// Packs one folder of the stage. The archive is reproducible: names are sorted, and times and owners are omitted.
    pub(super) fn tar(&self, folder: &str, archive: &Path) -> anyhow::Result<()> {
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
        tar.args(["--use-compress-program=gzip -6n", "--create", "--file"]).arg(std::path::absolute(archive)?);
        process::run(tar.arg(folder).current_dir(self.folder.path()))
    }
}
