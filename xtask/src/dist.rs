//! `cargo xtask dist`: packs the released program as an archive, a Python wheel and an npm package, with checksums. The
//! output is reproducible.

mod glibc;
mod installation;
mod npm;
mod program;
mod stage;
mod wheel;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::{process, tools};
use program::{PACKAGES, Program};
use stage::Stage;

/// Files in the archive in addition to the program.
const PAPERS: [&str; 5] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];

/// Builds the program unless given, packs it, installs the packages, and prints paths, sizes and checksums.
pub(crate) fn run(root: &Path, program: Option<&Path>) -> anyhow::Result<()> {
    let path = program.map_or_else(|| build(root), |path| Ok(path.to_owned()))?;
    let program = Program::read(root, &path)?;
    let out = process::target_folder(root).join("dist-archives");
    std::fs::create_dir_all(&out)?;
    let archive = archive(root, &program, &out)?;
    let (wheel, package) = (wheel::pack(root, &program, &out)?, npm::pack(root, &program, &out)?);
    let packed = [&archive, &wheel, &package].map(|path| path.file_name().unwrap_or_default().to_owned());
    let sums = process::output(Command::new("sha256sum").arg("--").args(packed).current_dir(&out))?;
    std::fs::write(out.join("SHA256SUMS"), &sums)?;
    println!("{} ({})", path.display(), megabytes(&path)?);
    for path in [&archive, &wheel, &package] {
        println!("{} ({})", path.display(), megabytes(path)?);
    }
    print!("{}", String::from_utf8(sums)?);
    installation::check_wheel(&wheel, &program.version)?;
    installation::check_npm(&package, &program.version)
}

/// Packs the program that the tests use, and installs the packages.
pub(crate) fn check_packages(root: &Path, program: &Path) -> anyhow::Result<()> {
    lint_python(root)?;
    let out = tempfile::tempdir()?;
    // Without debug symbols, which are most of the program and take a minute to pack.
    let stripped = out.path().join("timenav");
    process::run(Command::new("strip").arg("--strip-all").arg("-o").arg(&stripped).arg(program))?;
    let program = Program::read(root, &stripped)?;
    installation::check_wheel(&wheel::pack(root, &program, out.path())?, &program.version)?;
    installation::check_npm(&npm::pack(root, &program, out.path())?, &program.version)
}

/// Checks the Python modules of the wheel in the same way as those of the client.
fn lint_python(root: &Path) -> anyhow::Result<()> {
    let client = root.join("clients/python");
    let tools = tools::python_packages(root, "python-client", &client.join("requirements.txt"), "ruff")?;
    for check in [["format", "--check"].as_slice(), &["check", "--no-cache"]] {
        let mut ruff = Command::new(tools.join("bin/ruff"));
        ruff.args(check).args(["--quiet", "--config"]).arg(client.join("pyproject.toml")).arg(root.join(PACKAGES));
        process::run(&mut ruff)?;
    }
    Ok(())
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let target = process::target_folder(root);
    let mut build =
        process::cargo(root, &["build", "--locked", "--profile", "dist", "--package", "timenav", "--features", "full"]);
    let places = [(root.to_owned(), "/src"), (target.clone(), "/target"), (cargo_home()?, "/cargo")];
    build.env("RUSTFLAGS", joined(&places, "--remap-path-prefix="));
    // Compiled C code contains file names too.
    build.env("CFLAGS", joined(&places, "-ffile-prefix-map="));
    process::run(&mut build)?;
    Ok(target.join("dist/timenav"))
}

/// Packs the program with its documents and licenses, and returns the path of the archive.
fn archive(root: &Path, program: &Program, out: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("timenav-{}-{}", program.version, host()?);
    let mut stage = Stage::new(out)?;
    stage.copy(&program.path, &format!("{name}/timenav"))?;
    for paper in PAPERS {
        stage.copy(&root.join(paper), &format!("{name}/{paper}"))?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    stage.tar(&name, &archive)?;
    Ok(archive)
}

pub(crate) fn megabytes(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::metadata(path)?.len();
    Ok(format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10))
}

/// Returns flags that replace paths with fixed names. Of nested paths, the longer one must come last to take effect.
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

/// Returns the host's target triple.
fn host() -> anyhow::Result<String> {
    let version = String::from_utf8(process::output(Command::new("rustc").arg("-vV"))?)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc reports no host")?;
    Ok(host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_remapped_by_flags() {
        let places = [(PathBuf::from("/home/ada/timenav"), "/src"), (PathBuf::from("/home/ada/.cargo"), "/cargo")];
        let flags = joined(&places, "--remap-path-prefix=");
        let expected = "--remap-path-prefix=/home/ada/timenav=/src --remap-path-prefix=/home/ada/.cargo=/cargo";
        assert_eq!(flags.to_str(), Some(expected));
    }

    #[test]
    fn host_triple_has_four_parts() {
        assert_eq!(host().unwrap().split('-').count(), 4);
    }
}
