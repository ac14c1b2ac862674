//! `cargo xtask bench` and `cargo xtask attack`: builds the service and what measures it, and hands over.

use std::path::Path;
use std::process::Command;

use crate::process;

/// Builds both in release, in one go so that nothing they share is built twice, and measures.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    process::run(&mut process::cargo(
        root,
        &["build", "--release", "--package", "timenav", "--package", "timenav-bench"],
    ))?;
    let program = process::target_folder(root).join("release/timenav-bench");
    process::run(Command::new(program).args(arguments).current_dir(root))
}
