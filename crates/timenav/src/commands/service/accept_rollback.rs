//! `timenav accept-rollback`: records that data lost by the database is accepted as lost, and why.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use serde_json::json;
use timenav_core::text::counted;
use timenav_engine::Acceptance;

use crate::commands::service::runtime;
use crate::commands::service::stopped_service::{StoppedService, folder_of};
use crate::data_folder::cosigned_files;
use crate::exit::Failure;
use crate::trusted_checkpoint::read_checkpoints;
use crate::{output, wiring};

const BY_CHARS_MAX: usize = 200;
const REASON_CHARS_MAX: usize = 1_000;

/// Accepts that a database was rolled back or has another history.
///
/// A service does not start if its database lacks signed entries or has others. Use this command after you restored a
/// backup, or failed over to a standby that lacked entries. It records the lost checkpoints in signed `accept_rollback`
/// entries, on `system` and on each affected timeline. Services that saw exactly those states start again. For others,
/// run it in their folders too, or pass their checkpoints with `--trusted-checkpoint`.
///
/// Without `--by` and `--reason` it only shows the lost checkpoints. Stop the service first. With `--store`, other
/// services on the database may keep running.
#[derive(Debug, clap::Args)]
pub(crate) struct AcceptRollbackCommand {
    /// Your name, for the ledgers.
    #[arg(long, value_name = "NAME", requires = "reason", value_parser = name)]
    by: Option<String>,
    /// The reason, for the ledgers.
    #[arg(long, value_name = "TEXT", requires = "by", value_parser = reason)]
    reason: Option<String>,
    /// Further checkpoints of the lost history: a `checkpoints.log`, or a signed checkpoint. Repeatable.
    #[arg(long, value_name = "FILE")]
    trusted_checkpoint: Vec<PathBuf>,
    #[command(flatten)]
    service: StoppedService,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// A rollback that is shown but not accepted is an error too.
pub(crate) fn run(command: AcceptRollbackCommand) -> Result<(), Failure> {
    let AcceptRollbackCommand { by, reason, trusted_checkpoint, service, json } = command;
    let settings = service.settings()?;
    let mut of_others = Vec::new();
    for file in &trusted_checkpoint {
        of_others.extend(read_checkpoints(file)?);
    }
    let folder = folder_of(&settings)?;
    for cosigned in cosigned_files(settings.checkpoints.as_deref().unwrap_or(folder.path()))? {
        of_others.extend(read_checkpoints(&cosigned)?);
    }
    let is_accepted = by.is_some();
    let acceptance =
        Acceptance { by: by.unwrap_or_default(), reason: reason.unwrap_or_default(), checkpoints: of_others };
    let lost = runtime()?.block_on(wiring::accept_rollback(&folder, &settings, acceptance, is_accepted))?;
    show(&lost, is_accepted, json)
}

fn show(lost: &[String], is_accepted: bool, as_json: bool) -> Result<(), Failure> {
    let is_written = is_accepted && !lost.is_empty();
    let findings = counted(lost.len(), "finding");
    let status = match (lost.len(), is_written) {
        (0, _) => "Nothing was lost: every ledger continues its signed checkpoints.".to_owned(),
        (_, true) => format!("Accepted: {findings}. Entries `accept_rollback` in `system` record it."),
        (_, false) => format!("{findings} that you could accept:"),
    };
    if as_json {
        output::write_json(&json!({ "status": status, "accepted": is_written, "findings": lost }))?;
    } else {
        let mut text = format!("{status}\n");
        for finding in lost {
            let _ = writeln!(text, "  {}", output::printable(finding));
        }
        output::write(&text)?;
    }
    if lost.is_empty() || is_written {
        return Ok(());
    }
    Err(anyhow!("nothing was written; to accept this, give --by and --reason").into())
}

fn name(text: &str) -> anyhow::Result<String> {
    printable_text(text, BY_CHARS_MAX)
}

fn reason(text: &str) -> anyhow::Result<String> {
    printable_text(text, REASON_CHARS_MAX)
}

fn printable_text(text: &str, chars_max: usize) -> anyhow::Result<String> {
    let count = text.chars().count();
    if text.trim().is_empty() {
        bail!("it must not be empty");
    }
    if count > chars_max {
        bail!("it has {count} characters, but the maximum is {chars_max}");
    }
    if text.chars().any(char::is_control) {
        bail!("it must not contain line breaks or other control characters");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acceptance_name_and_reason_are_limited_to_one_line() {
        for (text, is_right) in [("ada", true), ("", false), (" ", false), ("a\nb", false), ("a\u{1b}b", false)] {
            assert_eq!(name(text).is_ok(), is_right, "{text:?}");
        }
        assert!(name(&"ä".repeat(BY_CHARS_MAX)).is_ok() && name(&"ä".repeat(BY_CHARS_MAX + 1)).is_err());
        assert!(reason(&"x".repeat(REASON_CHARS_MAX)).is_ok() && reason(&"x".repeat(REASON_CHARS_MAX + 1)).is_err());
    }

    #[test]
    fn file_without_a_checkpoint_is_rejected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["", "{", "rubbish", "s/main\n7\nAA==\n"] {
            std::fs::write(file.path(), text).unwrap();
            let read = read_checkpoints(file.path());
            // A line truncated by a crash does not count.
            assert!(if text == "{" {
                read.unwrap().is_empty()
            } else {
                format!("{:#}", read.unwrap_err()).contains("neither")
            });
        }
    }
}
