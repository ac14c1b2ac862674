//! The step `console`: the browser console is formatted, linted, checked, built, compared with what is committed, and
//! driven in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::{process, tools};

/// Where the sources of the console are.
const CONSOLE: &str = "console";
/// Says that npm installed what the lock file of this text names.
const INSTALLED: &str = "node_modules/.timenav-lock.json";

/// Runs the step; `is_built` says whether the tests have built the service.
pub(crate) fn run(root: &Path, is_built: bool) -> anyhow::Result<()> {
    let console = root.join(CONSOLE);
    install(&console)?;
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

/// Installs the packages that the lock file of a folder names, unless they are there already.
pub(crate) fn install(console: &Path) -> anyhow::Result<()> {
    let read = |path: PathBuf| fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()));
    let wanted = read(console.join("package-lock.json"))?;
    if read(console.join(INSTALLED)).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    process::run(npm(console).args(["ci", "--no-fund", "--no-audit", "--loglevel=error"]))
        .with_context(|| format!("the packages of {} cannot be installed", console.display()))?;
    // Written last, so that what broke off is begun anew.
    fs::write(console.join(INSTALLED), wanted).context("node_modules cannot be written to")
}

/// Builds the console anew, compares the result with what is committed, and weighs it.
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

fn npm(console: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(console);
    command
}
