//! The step `clients`: builds the Python and TypeScript clients from the OpenAPI document, checks their formatting,
//! lints and types, and runs their tests against a service.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::node::{self, TYPESCRIPT_CLIENT, npm};
use crate::{dist, process, tools};

const PYTHON: &str = "clients/python";

/// Runs the step. `is_built` says whether the tests have already built the service.
pub(crate) fn run(root: &Path, is_built: bool) -> anyhow::Result<()> {
    let service = process::service(root, is_built)?;
    python(root, &service)?;
    typescript(root, &service)?;
    dist::check_packages(root, &service)
}

fn python(root: &Path, service: &Path) -> anyhow::Result<()> {
    let folder = root.join(PYTHON);
    let packages = tools::python_packages(root, "python-client", &folder.join("requirements.txt"), "ruff")?;
    let call = |arguments: &[&str]| {
        let mut command = Command::new(packages.join("bin/python"));
        command.arg("-m").args(arguments).current_dir(&folder).env("TIMENAV_BIN", service);
        // Keep bytecode out of the source folder.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    // Installed as users do, so that files missing from the package are noticed. The build generates code for mypy.
    let install = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"];
    process::run(call(&install).args(["--force-reinstall", "."]))
        .context("the client for Python cannot be installed")?;
    process::run(&mut call(&["ruff", "format", "--quiet", "--check", "."]))?;
    process::run(&mut call(&["ruff", "check", "--quiet", "--no-cache", "."]))?;
    let cache = packages.join("mypy-cache");
    process::run(call(&["mypy", "--no-error-summary", "--cache-dir"]).arg(cache))?;
    process::run(&mut call(&["pytest", "--quiet"]))
}

fn typescript(root: &Path, service: &Path) -> anyhow::Result<()> {
    let folder = root.join(TYPESCRIPT_CLIENT);
    node::generate_client(root)?;
    let chromium = tools::chromium()?;
    for script in ["format:check", "lint", "check", "test"] {
        let mut call = npm(&folder);
        call.args(["run", "--silent", script]);
        process::run(call.env("TIMENAV_BIN", service).env("CHROMIUM_BIN", &chromium))?;
    }
    Ok(())
}
