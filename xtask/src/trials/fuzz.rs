//! `cargo xtask fuzz`: runs every parser on generated input, each for a limited time.
//!
//! A target is a file in `fuzz/fuzz_targets`. It starts from a small committed corpus and stores the generated corpus
//! next to it, in a folder that Git ignores.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};

use crate::{process, tools};

const MEMORY_MIB_MAX: u32 = 2_048;
const INPUT_TIME_MAX: Duration = Duration::from_secs(10);
/// Prefixes of the file names of findings. Slow inputs are stored too, but are not findings.
const FINDINGS: [&str; 4] = ["crash-", "leak-", "oom-", "timeout-"];

/// Runs the chosen targets one after the other, and stops at the first finding.
pub(crate) fn run(root: &Path, named: &[String], seconds: u32) -> anyhow::Result<()> {
    let targets = chosen(targets(root)?, named)?;
    tools::require_nightly()?;
    let program = tools::cargo_tool(root, "cargo-fuzz")?;
    // A target that does not compile is not a finding.
    process::run(cargo_fuzz(root, &program).arg("build")).context("the targets cannot be built")?;
    for target in &targets {
        println!("\n== {target}: {seconds} s");
        run_target(root, &program, target, seconds)?;
    }
    println!("\n{} of {} targets ran without findings", targets.len(), targets.len());
    Ok(())
}

pub(crate) fn list(root: &Path) -> anyhow::Result<()> {
    for target in targets(root)? {
        println!("{target}");
    }
    Ok(())
}

fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut targets = Vec::new();
    for path in files(&root.join("fuzz/fuzz_targets"))? {
        let stem = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".rs"));
        targets.extend(stem.map(str::to_owned));
    }
    targets.sort();
    Ok(targets)
}

/// Returns the wanted targets, in sorted order, or all of them if none is named.
fn chosen(all: Vec<String>, targets: &[String]) -> anyhow::Result<Vec<String>> {
    if let Some(stranger) = targets.iter().find(|name| !all.contains(name)) {
        bail!("there is no target `{stranger}`; the targets are {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|name| targets.is_empty() || targets.contains(name)).collect())
}

fn cargo_fuzz(root: &Path, program: &Path) -> Command {
    let mut command = tools::nightly();
    command.arg(program).current_dir(root);
    command
}

fn run_target(root: &Path, program: &Path, target: &str, seconds: u32) -> anyhow::Result<()> {
    let [grown, committed] = ["grown", "corpus"].map(|kind| format!("fuzz/{kind}/{target}"));
    for folder in [&grown, &committed] {
        fs::create_dir_all(root.join(folder)).with_context(|| format!("{folder} cannot be created"))?;
    }
    let mut command = cargo_fuzz(root, program);
    // libFuzzer writes new inputs to the first folder.
    command.args(["run", target, &grown, &committed, "--"]).args(limits(seconds));
    if let Err(error) = process::run(&mut command) {
        let found = newest_finding(&files(&root.join("fuzz/artifacts").join(target)).unwrap_or_default());
        let found = found.as_deref().map(|path| path.strip_prefix(root).unwrap_or(path));
        return Err(error.context(verdict(target, program.strip_prefix(root).unwrap_or(program), found)));
    }
    Ok(())
}

fn limits(seconds: u32) -> [String; 4] {
    [
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY_MIB_MAX}"),
        format!("-timeout={}", INPUT_TIME_MAX.as_secs()),
        "-print_final_stats=1".to_owned(),
    ]
}

/// Describes why a target failed, and how to reproduce it.
fn verdict(target: &str, program: &Path, found: Option<&Path>) -> String {
    match found {
        Some(found) => format!(
            "target {target} has a finding; repeat it with `rustup run nightly {} run {target} {}`",
            program.display(),
            found.display()
        ),
        None => format!("target {target} failed and kept no input; repeat it with `cargo xtask fuzz {target}`"),
    }
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn newest_finding(files: &[PathBuf]) -> Option<PathBuf> {
    let is_finding = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        FINDINGS.iter().any(|start| name.starts_with(start))
    };
    let changed = |path: &&PathBuf| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    files.iter().filter(is_finding).max_by_key(changed).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn fuzz_targets_are_chosen_in_declaration_order() {
        let all = names(&["duration", "leaf", "note"]);
        assert_eq!(chosen(all.clone(), &[]).unwrap(), all);
        assert_eq!(chosen(all.clone(), &names(&["note", "duration"])).unwrap(), ["duration", "note"]);
        let error = chosen(all, &names(&["laef"])).unwrap_err().to_string();
        assert_eq!(error, "there is no target `laef`; the targets are duration, leaf, note");
    }

    #[test]
    fn fuzz_finding_is_reported_with_its_repeat_command() {
        let program = Path::new("target/tools/bin/cargo-fuzz");
        let verdict_of = |found| verdict("leaf", program, found);
        assert_eq!(
            verdict_of(Some(Path::new("fuzz/artifacts/leaf/crash-1"))),
            "target leaf has a finding; repeat it with \
             `rustup run nightly target/tools/bin/cargo-fuzz run leaf fuzz/artifacts/leaf/crash-1`"
        );
        assert!(verdict_of(None).contains("`cargo xtask fuzz leaf`"));
    }

    #[test]
    fn slow_inputs_are_not_findings() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let newest = |names: &[&str]| newest_finding(&paths(names));
        assert_eq!(newest(&["a/slow-unit-1", "a/oom-2"]), Some(PathBuf::from("a/oom-2")));
        assert_eq!(newest(&["a/slow-unit-1", "a/minimized-from-crash-1"]), None);
    }

    #[test]
    fn fuzz_limits_match_libfuzzer_options() {
        assert_eq!(limits(60)[..3], ["-max_total_time=60", "-rss_limit_mb=2048", "-timeout=10"]);
    }

    #[test]
    fn every_fuzz_target_is_compiled_and_has_inputs() {
        let root = process::repository_root().unwrap();
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(&root).unwrap();
        for target in &targets {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target} is not compiled");
            let inputs = files(&root.join("fuzz/corpus").join(target)).unwrap_or_default();
            assert!(!inputs.is_empty(), "{target} has no inputs to start from");
        }
        let inputs = files(&root.join("fuzz/corpus")).unwrap();
        assert_eq!(inputs.len(), targets.len(), "inputs are left over of a target that is gone");
    }
}
