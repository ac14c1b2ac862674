//! `cargo xtask dist`: the program that users get, in an archive with its sum, the same bytes from the same source.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::process;

/// What the archive holds beside the program.
const PAPERS: [&str; 5] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];

/// Builds the program and packs it. Prints where it is, its size and its sum.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let target = process::target_folder(root);
    let mut build = process::cargo(root, &["build", "--locked", "--profile", "dist", "--package", "timenav"]);
    let places = [(root.to_owned(), "/src"), (target.clone(), "/target"), (cargo_home()?, "/cargo")];
    build.env("RUSTFLAGS", joined(&places, "--remap-path-prefix="));
    // What is compiled from C names its files too.
    build.env("CFLAGS", joined(&places, "-ffile-prefix-map="));
    process::run(&mut build)?;

    let (version, host) = (version(root)?, host()?);
    let name = format!("timenav-{version}-{host}");
    let out = target.join("dist-archives");
    let folder = out.join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let program = target.join("dist/timenav");
    std::fs::copy(&program, folder.join("timenav")).context("the program cannot be copied")?;
    for paper in PAPERS {
        std::fs::copy(root.join(paper), folder.join(paper)).with_context(|| format!("{paper} cannot be copied"))?;
    }
    let archive = format!("{name}.tar.gz");
    // Neither times nor owners, and names in order: the same files make the same archive.
    let pack = "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -c \"$1\" \
                | gzip -9n >\"$1.tar.gz\" && sha256sum timenav-*.tar.gz >SHA256SUMS";
    process::run(Command::new("sh").args(["-euc", pack, "sh", &name]).current_dir(&out))?;
    let bytes = std::fs::metadata(&program)?.len();
    println!("{} ({}.{} MB)", program.display(), bytes / 1_000_000, bytes / 100_000 % 10);
    println!("{}", out.join(archive).display());
    print!("{}", std::fs::read_to_string(out.join("SHA256SUMS"))?);
    Ok(())
}

/// Returns flags that replace each path by a name that is the same everywhere. Where one holds another, the longer one
/// counts if it comes last.
fn joined(places: &[(PathBuf, &str)], flag: &str) -> OsString {
    let mut flags = OsString::new();
    for (path, name) in places {
        if !flags.is_empty() {
            flags.push(" ");
        }
        flags.push(flag);
        flags.push(path);
        flags.push("=");
        flags.push(name);
    }
    flags
}

fn cargo_home() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    home.context("neither CARGO_HOME nor HOME is set")
}

/// Returns the version of the program.
fn version(root: &Path) -> anyhow::Result<String> {
    let id = process::output(&mut process::cargo(root, &["pkgid", "--package", "timenav"]))?;
    let id = String::from_utf8(id)?;
    let version = id.trim().rsplit(['#', '@']).next().context("cargo tells no version")?;
    Ok(version.to_owned())
}

/// Returns the target that is built for.
fn host() -> anyhow::Result<String> {
    let told = String::from_utf8(process::output(Command::new("rustc").arg("-vV"))?)?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc tells no host")?;
    Ok(host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_becomes_a_name() {
        let places = [(PathBuf::from("/home/ada/timenav"), "/src"), (PathBuf::from("/home/ada/.cargo"), "/cargo")];
        let flags = joined(&places, "--remap-path-prefix=");
        let expected = "--remap-path-prefix=/home/ada/timenav=/src --remap-path-prefix=/home/ada/.cargo=/cargo";
        assert_eq!(flags.to_str(), Some(expected));
    }

    #[test]
    fn version_and_host_are_told() {
        let root = process::repository_root().unwrap();
        let version = version(&root).unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        assert_eq!(host().unwrap().split('-').count(), 4);
    }
}
