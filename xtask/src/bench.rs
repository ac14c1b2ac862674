//! `cargo xtask bench` and `cargo xtask attack`: build the service and the benchmark program, and run the latter.

use std::path::Path;
use std::process::Command;

use crate::process;

/// Builds both in release mode with one call, so that shared code is built once, and runs the benchmark.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    process::run(&mut process::cargo(
        root,
        &["build", "--release", "--package", "timenav", "--package", "timenav-bench"],
    ))?;
    let program = process::target_folder(root).join("release/timenav-bench");
    process::run(Command::new(program).args(arguments).current_dir(root))
}
