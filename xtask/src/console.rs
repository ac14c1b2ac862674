//! The step `console`: checks formatting, lints and types of the browser console, builds it, compares it with the
//! committed build, and tests it in a browser.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::node::{self, npm};
use crate::{process, tools};

const CONSOLE: &str = "console";

/// Runs the step. `is_built` says whether the tests have already built the service.
pub(crate) fn run(root: &Path, is_built: bool) -> anyhow::Result<()> {
    let console = root.join(CONSOLE);
    node::generate_client(root)?;
    node::install(&console)?;
    for script in ["format:check", "lint", "check", "test"] {
        process::run(npm(&console).args(["run", "--silent", script]))?;
    }
    compare(root, &console)?;
    let chromium = tools::chromium()?;
    let program = process::service(root, is_built)?;
    let mut browse = npm(&console);
    browse.args(["run", "--silent", "e2e"]).env("TIMENAV_BIN", program).env("CHROMIUM_BIN", chromium);
    process::run(&mut browse)
}

/// Builds the console, compares the result with the committed one, and checks its size.
fn compare(root: &Path, console: &Path) -> anyhow::Result<()> {
    let built = process::target_folder(root).join("console");
    let folder = built.to_str().context("the target folder has a name that is no text")?;
    process::run(
        npm(console)
            .args(["run", "--silent", "build", "--", "--emptyOutDir", "--logLevel", "warn", "--outDir"])
            .arg(folder),
    )?;
    process::run(script(console, "compare-dist.mjs").arg("dist").arg(folder))?;
    process::run(script(console, "first-paint.mjs").arg("dist"))
}

fn script(console: &Path, name: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(Path::new("scripts").join(name)).current_dir(console);
    command
}
