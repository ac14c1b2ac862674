use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// Polling interval for a program with a time limit.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn repository_root() -> anyhow::Result<PathBuf> {
    // Cargo's variable has the current path of this crate. The path at compile time is the fallback without Cargo.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&xtask).parent().context("xtask has no parent folder")?;
    Ok(root.to_owned())
}

pub(crate) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_program());
    command.args(arguments).current_dir(root);
    command
}

fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Environment variable with the service to test instead of a freshly built one.
pub(crate) const SERVICE_VARIABLE: &str = "TIMENAV_BIN";

/// Returns the service to test: the one in `TIMENAV_BIN`, or one built now, unless the workspace tests were just built.
/// Built on its own, the package has fewer features enabled than as part of the workspace, so half of its dependencies
/// would be rebuilt, which takes minutes.
pub(crate) fn service(root: &Path, is_built: bool) -> anyhow::Result<PathBuf> {
    if let Some(program) = std::env::var_os(SERVICE_VARIABLE) {
        return Ok(program.into());
    }
    if !is_built {
        run(&mut cargo(root, &["build", "--package", "timenav", "--features", "full"]))?;
    }
    Ok(target_folder(root).join("debug/timenav"))
}

fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned()
}

pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = name(command);
    let status = command.status().with_context(|| format!("{program} cannot be started"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

pub(crate) fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let program = name(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{program} cannot be started"))?;
    if !output.status.success() {
        bail!("{program} ended with {}", output.status);
    }
    Ok(output.stdout)
}

/// Runs a program silently. Returns whether it succeeded within the time limit.
pub(crate) fn succeeds(command: &mut Command, time_max: Duration) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = quiet.spawn() else { return false };
    if let Some(status) = wait(&mut child, time_max) {
        return status.success();
    }
    // Time limit exceeded. Both calls fail harmlessly if it has ended in the meantime.
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Waits for a program to end. Returns `None` after the time limit.
pub(crate) fn wait(child: &mut Child, time_max: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < time_max {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            ended => return ended.ok().flatten(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_program_is_killed_after_its_timeout() {
        let start = Instant::now();
        assert!(!succeeds(Command::new("sleep").arg("30"), Duration::from_millis(100)));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn success_is_distinguished_from_failure() {
        assert!(succeeds(&mut Command::new("true"), Duration::from_secs(20)));
        assert!(!succeeds(&mut Command::new("false"), Duration::from_secs(20)));
        assert!(!succeeds(&mut Command::new("no-such-program-anywhere"), Duration::from_secs(20)));
    }
}
