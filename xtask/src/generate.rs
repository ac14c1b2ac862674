//! Documents that the program generates about itself, committed so that changes are visible in review.

use std::path::Path;

use anyhow::{Context, bail};

use crate::process;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Document {
    /// The description of the HTTP API, in two files.
    Openapi,
    CommandLine,
}

type Printed = &'static [&'static str];

const OPENAPI: Printed =
    &["run", "--quiet", "--package", "timenav-http", "--features", "schema", "--example", "openapi", "--"];
const COMMAND_LINE: Printed = &["run", "--quiet", "--package", "timenav", "--", "markdown-help"];

impl Document {
    /// Returns the command that prints a document, and its files, each with a further argument.
    const fn files(self) -> (Printed, &'static [(&'static str, Option<&'static str>)]) {
        match self {
            Self::Openapi => {
                (OPENAPI, &[("docs/api/openapi.json", None), ("docs/api/openapi-3.2.patch.json", Some("--3.2-patch"))])
            }
            Self::CommandLine => (COMMAND_LINE, &[("docs/command-line.md", None)]),
        }
    }

    const fn written_by(self) -> &'static str {
        match self {
            Self::Openapi => "cargo xtask openapi",
            Self::CommandLine => "cargo xtask cli-docs",
        }
    }
}

/// Writes a document, or with `check` compares it with the existing one.
pub(crate) fn run(root: &Path, document: Document, check: bool) -> anyhow::Result<()> {
    let (call, files) = document.files();
    for (file, further) in files {
        let printed = String::from_utf8(process::output(process::cargo(root, call).args(further))?)?;
        let path = root.join(file);
        if check {
            let current = std::fs::read_to_string(&path).unwrap_or_default();
            compare(&current, &printed, file, document)?;
        } else {
            std::fs::write(&path, printed).with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(())
}

fn compare(current: &str, printed: &str, path: &str, document: Document) -> anyhow::Result<()> {
    if current == printed {
        return Ok(());
    }
    let same = current.lines().zip(printed.lines()).take_while(|(current, printed)| current == printed).count();
    let command = document.written_by();
    bail!("{path}:{}: the file differs from the program's output; write it again with `{command}`", same + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_differing_line_is_named() {
        let file = "docs/api/openapi.json";
        assert!(compare("a\nb\n", "a\nb\n", file, Document::Openapi).is_ok());
        let error = compare("a\nb\nc\n", "a\nB\nc\n", file, Document::Openapi).unwrap_err().to_string();
        assert!(error.starts_with("docs/api/openapi.json:2: "), "{error}");
        let error = compare("", "a\n", "docs/command-line.md", Document::CommandLine).unwrap_err().to_string();
        assert!(error.starts_with("docs/command-line.md:1: "), "{error}");
    }
}
