//! `cargo xtask build-time`: checks the cost of the README's first command for a newcomer against a budget.
//!
//! It is not part of `cargo xtask test`, because other load on the machine affects the figures and a cold build takes
//! minutes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::cost::Cost;
use crate::{dist, process};

/// Processor time of the cold build, in seconds. With two idle processors, wall time is about half of it.
const PROCESSOR_SECONDS_MAX: f64 = 540.0;
/// Number of packages in the program and its build scripts, including this workspace. `cargo xtask tidy` checks it too,
/// so that a heavy new dependency is noticed at once.
pub(crate) const PACKAGES_MAX: usize = 288;
const LISTED: usize = 25;

/// The target that the budget is for, because dependencies differ between systems.
const SYSTEM: &str = "x86_64-unknown-linux-gnu";

#[derive(Debug, Deserialize)]
struct Unit {
    name: String,
    #[serde(default)]
    target: String,
    duration: f64,
}

/// Builds a fresh clone of the last commit in an empty folder, and prints the cost.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().context("a folder cannot be created")?;
    let clone = folder.path().join("timenav");
    process::run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(&clone))?;
    // Excludes downloads, which depend on the network.
    process::run(&mut process::cargo(&clone, &["fetch", "--locked", "--quiet"]))?;
    let target = folder.path().join("target");
    let start = Cost::now();
    let mut build = process::cargo(&clone, &["build", "--release", "--locked", "--quiet", "--timings"]);
    process::run(build.env("CARGO_TARGET_DIR", &target))?;
    let Cost { wall, processor } = start.until_now();
    let report = target.join("cargo-timings/cargo-timing.html");
    let mut units = units(&fs::read_to_string(&report).with_context(|| format!("{} is missing", report.display()))?)?;
    units.sort_by(|a, b| b.duration.total_cmp(&a.duration));
    println!("longest units, wall s");
    for Unit { name, target, duration } in units.iter().take(LISTED) {
        println!("{duration:>8.1}  {name}{target}");
    }
    println!("packages      {:>8} of {PACKAGES_MAX}", packages(&clone)?.len());
    println!("program       {:>11}", dist::megabytes(&target.join("release/timenav"))?);
    println!("wall time     {wall:>8.1} s");
    println!("processor     {processor:>8.1} s of {PROCESSOR_SECONDS_MAX}");
    if processor > PROCESSOR_SECONDS_MAX {
        bail!("the build takes longer than its budget");
    }
    Ok(())
}

/// Parses the units in Cargo's report, which has them as JSON in a script.
fn units(report: &str) -> anyhow::Result<Vec<Unit>> {
    let start = report.split_once("const UNIT_DATA = ").context("the report has no units")?.1;
    let mut units = serde_json::Deserializer::from_str(start).into_iter();
    units.next().context("the report has no units")?.context("the units of the report are not JSON")
}

pub(crate) fn packages(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let tree = ["tree", "--locked", "--package", "timenav", "--edges", "normal,build", "--target", SYSTEM];
    let tree_text = process::output(process::cargo(root, &tree).args(["--prefix", "none", "--format", "{p}"]))?;
    let package = |line: &str| line.split(" (").next().unwrap_or(line).to_owned();
    Ok(String::from_utf8_lossy(&tree_text).lines().filter(|line| !line.is_empty()).map(package).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_units_are_read_from_the_report() {
        let report = "<script>const UNIT_DATA = [\n{\"i\":0,\"name\":\"serde\",\"version\":\"1\",\"mode\":\"todo\",\
                      \"target\":\" build-script\",\"start\":0.1,\"duration\":2.5}];\nconst OTHER = [];</script>";
        let units = units(report).unwrap();
        assert_eq!(units.len(), 1);
        assert_eq!((units[0].name.as_str(), units[0].target.as_str()), ("serde", " build-script"));
        assert!((units[0].duration - 2.5).abs() < 1e-9);
        assert!(super::units("<html></html>").is_err());
    }
}
