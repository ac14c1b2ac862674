//! Documents that the program writes about itself, kept in the repository so that a change to
//! them is seen in review.

use std::path::Path;

use anyhow::{Context, bail};

use crate::process;

/// A document made by the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Document {
    /// The description of the HTTP interface.
    Openapi,
    /// The description of the command line.
    CommandLine,
}

impl Document {
    const fn path(self) -> &'static str {
        match self {
            Self::Openapi => "docs/api/openapi.json",
            Self::CommandLine => "docs/command-line.md",
        }
    }

    /// Returns the program's own command that prints the document.
    const fn printed_by(self) -> &'static str {
        match self {
            Self::Openapi => "openapi",
            Self::CommandLine => "markdown-help",
        }
    }

    /// Returns the command that writes the document anew.
    const fn written_by(self) -> &'static str {
        match self {
            Self::Openapi => "cargo xtask openapi",
            Self::CommandLine => "cargo xtask cli-docs",
        }
    }
}

/// Writes a document, or with `check` compares it with the one that is there.
pub(crate) fn run(root: &Path, document: Document, check: bool) -> anyhow::Result<()> {
    let arguments = ["run", "--quiet", "--package", "timenav", "--", document.printed_by()];
    let printed = process::output(&mut process::cargo(root, &arguments))?;
    let printed = String::from_utf8(printed).context("the document is not text")?;
    let path = root.join(document.path());
    if check {
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        return compare(&kept, &printed, document);
    }
    let folder = path.parent().context("the document lies in no folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(&path, printed).with_context(|| format!("{} cannot be written", path.display()))
}

fn compare(kept: &str, printed: &str, document: Document) -> anyhow::Result<()> {
    if kept == printed {
        return Ok(());
    }
    let same = kept.lines().zip(printed.lines()).take_while(|(kept, printed)| kept == printed).count();
    let (path, command) = (document.path(), document.written_by());
    bail!("{path}:{}: the file is not what the program says; write it anew with `{command}`", same + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert!(compare("a\nb\n", "a\nb\n", Document::Openapi).is_ok());
        let error = compare("a\nb\nc\n", "a\nB\nc\n", Document::Openapi).unwrap_err().to_string();
        assert!(error.starts_with("docs/api/openapi.json:2: "), "{error}");
        let error = compare("", "a\n", Document::CommandLine).unwrap_err().to_string();
        assert!(error.starts_with("docs/command-line.md:1: "), "{error}");
    }
}
