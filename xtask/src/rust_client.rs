//! The typed calls of the client for Rust, written from the OpenAPI document.
//!
//! What Rust has a better type for than the document says is in the tables of [`shapes`]; everything else follows from
//! the document alone, so a new field or operation takes no change here.

#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a generator is read by the text that it writes, and runs once"
)]

mod document;
mod text;
mod shapes;
mod schemas;
mod calls;
mod samples;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use document::Document;
use shapes::Shapes;

/// What is written anew.
const WRITTEN_BY: &str = "cargo xtask rust-client";
const DOCUMENT: &str = "docs/api/openapi.json";
const SCHEMAS: &str = "crates/timenav-client/src/schemas.rs";
const CALLS: &str = "crates/timenav-client/src/calls.rs";
const SAMPLES: &str = "crates/timenav/tests/it/rust_client/every_call.rs";

/// Writes the files, or with `check` compares them with those that are there.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<()> {
    for (path, text) in files(root)? {
        let file = root.join(path);
        if !check {
            std::fs::write(&file, text).with_context(|| format!("{path} cannot be written"))?;
        } else if std::fs::read_to_string(&file).unwrap_or_default() != text {
            bail!("{path}: the file is not what {DOCUMENT} says; write it anew with `{WRITTEN_BY}`");
        }
    }
    Ok(())
}

/// Returns each file by its path.
fn files(root: &Path) -> anyhow::Result<[(&'static str, String); 3]> {
    let text = std::fs::read_to_string(root.join(DOCUMENT)).with_context(|| format!("{DOCUMENT} cannot be read"))?;
    let document = Document::read(&text)?;
    let mut shapes = Shapes::new(&document);
    let calls = calls::write(&document, &mut shapes);
    let samples = samples::write(&document, &mut shapes);
    let schemas = schemas::write(&document, &mut shapes);
    Ok([
        (SCHEMAS, formatted(root, &schemas)?),
        (CALLS, formatted(root, &calls)?),
        (SAMPLES, formatted(root, &samples)?),
    ])
}

/// Returns the head of a file.
fn head(title: &str) -> String {
    format!("//! {title}\n//!\n//! Written by `{WRITTEN_BY}` from {DOCUMENT}. Do not edit it.\n\n")
}

/// Returns the text as rustfmt writes it.
fn formatted(root: &Path, text: &str) -> anyhow::Result<String> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.arg("--config-path").arg(root.join("rustfmt.toml")).args(["--edition", "2024"]).current_dir(root);
    let mut child =
        rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("rustfmt cannot be started")?;
    child.stdin.take().context("rustfmt takes nothing")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("rustfmt does not understand what was written for it");
    }
    String::from_utf8(output.stdout).context("rustfmt has not written text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_what_the_document_says() {
        run(&crate::process::repository_root().unwrap(), true).unwrap();
    }
}
