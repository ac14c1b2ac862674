use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use timenav_import::{Format, GIT_LOG_FORMAT};

use crate::client::{Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::commands::events::import::counts_text;
use crate::exit::Failure;
use crate::output::Unshown;
use crate::wiring::surroundings::Surroundings;

/// How much is read to detect an empty history, in bytes.
const FIRST_BYTES: usize = 4 * 1024;

/// Imports the commits of a Git repository, with their parents as causes.
///
/// Commits that are already recorded stay unchanged. The exit code is 3 if some were rejected.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportGitCommand {
    /// A folder of the repository.
    #[arg(default_value = ".", value_name = "PATH")]
    path: PathBuf,
    /// Only commits reachable from this revision. Defaults to all branches and tags.
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,
    /// The maximum number of commits, newest first.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    #[command(flatten)]
    create: CreateOption,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: &ImportGitCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let log = Log::start(&command.path, command.revision.as_deref(), command.limit)?;
    let mut query = command.timeline.query();
    query.push(("format", Format::Git.as_str().to_owned()));
    let how = (None, command.create.if_match());
    let answer = client.upload(&["v1", "import-events"], &query, Format::Git.content_type(), how, log);
    let answer = command.create.explain(answer)?;
    let mut unshown = Unshown::default();
    unshown.after(client.show(&answer, |answer| counts_text(&command.path, answer)));
    match answer.value["rejected"].as_u64().unwrap_or(0) {
        0 => unshown.end(),
        refused => Err(Failure::Refused(refused)),
    }
}

/// If Git fails, reading ends with an error, so that a partial history is never taken for a complete one.
struct Log {
    child: Child,
    first: io::Cursor<Vec<u8>>,
    output: ChildStdout,
}

impl Log {
    fn start(path: &Path, revision: Option<&str>, limit: Option<u64>) -> anyhow::Result<Self> {
        let mut command = Command::new("git");
        // No shell, pager or prompts. Git prints its own errors.
        command.arg("-C").arg(path).args(["--no-pager", "log", "-z", "--no-color", "--no-show-signature"]);
        // Parents before children, older commits before newer: otherwise all but the first are recorded late (P11).
        command.args(["--reverse", "--date-order"]);
        command.args(["--encoding=UTF-8", &format!("--format={GIT_LOG_FORMAT}")]);
        command.args(limit.map(|limit| format!("--max-count={limit}")));
        match revision {
            None => command.arg("--all"),
            // The following argument cannot be an option.
            Some(revision) => command.args(["--end-of-options", revision]),
        };
        command.arg("--").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                anyhow::anyhow!("git was not found; install it, or import a table of commits as CSV")
            }
            _ => anyhow::Error::new(error).context("git cannot be started"),
        })?;
        let output = child.stdout.take().context("the output of git cannot be read")?;
        let mut log = Self { child, first: io::Cursor::new(Vec::new()), output };
        // An empty history is detected before anything is sent.
        let mut first = vec![0; FIRST_BYTES];
        let bytes =
            log.read(&mut first).with_context(|| format!("the history of {} cannot be read", path.display()))?;
        first.truncate(bytes);
        log.first = io::Cursor::new(first);
        Ok(log)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.child.wait()?.success() {
            return Ok(());
        }
        Err(io::Error::other("git ended with an error"))
    }
}

impl Read for Log {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.first.read(out)?;
        if bytes > 0 || out.is_empty() {
            return Ok(bytes);
        }
        let bytes = self.output.read(out)?;
        if bytes == 0 {
            self.end()?;
        }
        Ok(bytes)
    }
}

impl Drop for Log {
    /// Kills Git if its output is no longer needed.
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_git_repository_is_reported_before_sending() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        for path in [folder.path(), &missing] {
            let error = Log::start(path, None, None).err().unwrap();
            let expected = format!("the history of {} cannot be read", path.display());
            assert_eq!(error.to_string(), expected, "this test needs Git");
        }
    }
}
