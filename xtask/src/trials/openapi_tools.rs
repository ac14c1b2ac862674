//! `cargo xtask openapi-tools`: reads the OpenAPI document with tools that users are likely to use. None may warn.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::{node, process, tools};

const DOCUMENT: &str = "docs/api/openapi.json";
/// Lock files and configuration of the tools.
const FOLDER: &str = "xtask/openapi";
const PYTHON_CLIENT: &str = "openapi-python-client";

/// Lints the document, and generates a TypeScript and a Python client from it.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    node::require()?;
    // Packages are installed in `target/tools`, outside of any source folder.
    let folder = root.join("target/tools/openapi");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(root.join(FOLDER).join(name), folder.join(name))
            .with_context(|| format!("{name} cannot be copied"))?;
    }
    node::install(&folder)?;
    let document = root.join(DOCUMENT);
    let program = |name: &str| Command::new(folder.join("node_modules/.bin").join(name));
    quiet(
        program("redocly").args(["lint", "--extends", "recommended", "--max-problems", "100"]).arg(&document),
        &["Warning was generated", "Error was generated"],
    )?;
    let types = folder.join("types.d.ts");
    quiet(program("openapi-typescript").arg(&document).arg("--output").arg(&types), &["warn"])?;
    process::run(program("tsc").args(["--noEmit", "--strict"]).arg(&types))?;
    let python = tools::of_python(root, PYTHON_CLIENT, &format!("{FOLDER}/requirements.txt"))?;
    let mut generate = Command::new(&python);
    generate.args(["generate", "--fail-on-warning", "--overwrite", "--path"]).arg(&document);
    generate.arg("--config").arg(root.join(FOLDER).join("python-client.yml"));
    generate.arg("--output-path").arg(folder.join("python-client"));
    // The generator formats its output with a program installed next to it.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = python.parent().context("the generator has no parent folder")?.to_owned();
    let paths = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)))?;
    quiet(generate.env("PATH", paths), &["WARNING", "Unable to"])?;
    println!("redocly, openapi-typescript and openapi-python-client read {DOCUMENT} without a warning");
    Ok(())
}

/// Runs a tool that must succeed without printing any of these words.
fn quiet(command: &mut Command, words: &[&str]) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    // npm's own messages are not about the document.
    let lines = || text.lines().filter(|line| !line.starts_with("npm "));
    if !output.status.success() || lines().any(|line| words.iter().any(|word| line.contains(word))) {
        print!("{text}");
        bail!("{command:?} found something in {DOCUMENT}");
    }
    Ok(())
}
