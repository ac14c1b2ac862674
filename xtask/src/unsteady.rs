//! Tests that fail beside others, and pass alone: a busy machine is no reason to stop, and none to keep silent.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::process;

/// More tests than this that fail at once are no accident.
const AGAIN_MAX: usize = 3;

/// Runs all tests of a call of Cargo. A few that fail are run once more, alone. Returns those that passed only then.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut all = process::cargo(root, arguments);
    let (succeeded, failed) = watched(all.arg("--no-fail-fast"), &mut std::io::stdout())?;
    if succeeded {
        return Ok(Vec::new());
    }
    if failed.is_empty() {
        bail!("the tests did not run to their end");
    }
    if failed.len() > AGAIN_MAX {
        bail!("{} tests failed: {}", failed.len(), failed.join(", "));
    }
    println!("\nOnce more, alone: {}", failed.join(", "));
    for name in &failed {
        let mut alone = process::cargo(root, arguments);
        alone.args(["--quiet", "--", "--exact"]).arg(name);
        process::run(&mut alone).with_context(|| format!("{name} failed beside others, and alone"))?;
    }
    Ok(failed)
}

/// Tells which tests are unsteady.
pub(crate) fn tell(names: &[String]) {
    for name in names {
        println!("unsteady: {name} failed beside others and passed alone; find out why (CONTRIBUTING.md)");
    }
}

/// Runs a program, shows what it says, and picks out the tests that failed.
fn watched(command: &mut Command, shown: &mut impl Write) -> anyhow::Result<(bool, Vec<String>)> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cargo cannot be started")?;
    let said = child.stdout.take().context("cargo has no output")?;
    let mut failed = Vec::new();
    for line in BufReader::new(said).split(b'\n') {
        let line = line.context("the output of cargo cannot be read")?;
        let line = String::from_utf8_lossy(&line);
        failed.extend(failure(&line).map(str::to_owned));
        // Whoever reads the output may have gone: the tests go on.
        let _ = writeln!(shown, "{line}");
    }
    let status = child.wait().context("cargo was lost")?;
    Ok((status.success(), failed))
}

/// The test whose failure a line tells of.
fn failure(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    // Tests that should panic, and those in documentation that should not compile, have it in brackets behind.
    Some(name.strip_suffix(" - should panic").or_else(|| name.strip_suffix(" - compile fail")).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_picked_out_of_the_output() {
        let line = "test v1::clock::it_moves ... FAILED";
        assert_eq!(failure(line), Some("v1::clock::it_moves"));
        let doc = "test crates/timenav-core/src/lib.rs - duration::parse (line 12) - compile fail ... FAILED";
        assert_eq!(failure(doc), Some("crates/timenav-core/src/lib.rs - duration::parse (line 12)"));
        for other in ["test v1::clock::it_moves ... ok", "test result: FAILED. 1 passed; 1 failed", "    it_moves"] {
            assert_eq!(failure(other), None);
        }
    }

    #[test]
    fn what_is_said_is_watched_to_the_end() {
        let mut told = Command::new("sh");
        told.args(["-c", "echo 'test a::b ... FAILED'; echo 'test c ... ok'; exit 101"]);
        let mut shown = Vec::new();
        assert_eq!(watched(&mut told, &mut shown).unwrap(), (false, vec!["a::b".to_owned()]));
        assert_eq!(shown, b"test a::b ... FAILED\ntest c ... ok\n");
    }
}
