//! `cargo xtask fuzz-api`: sends generated requests to every operation of the OpenAPI document.
//!
//! Schemathesis generates the requests from the document of a running service and checks the responses against it. Its
//! configuration is in `fuzz/api`. The run fails on any finding in the responses, the service's log or its ledgers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail, ensure};

use crate::{process, tools};

/// The complete document. The one for older tools lacks QUERY operations.
const DOCUMENT: &str = "openapi-3.2.json";
const SETTINGS: &str = "fuzz/api/schemathesis.toml";
const END_TIME_MAX: Duration = Duration::from_secs(30);
/// Printed by the service before its address.
const LISTENING: &str = "listening on ";

pub(crate) struct Budget {
    /// Generated requests per operation and phase.
    pub(crate) max_examples: u32,
    /// Seed of the generator. Random by default.
    pub(crate) seed: Option<u32>,
}

/// Runs the service on its own data folder, and tests every operation.
pub(crate) fn run(root: &Path, budget: &Budget) -> anyhow::Result<()> {
    let schemathesis = tools::schemathesis(root)?;
    process::run(&mut process::cargo(root, &["build", "--package", "timenav"]))?;
    let program = process::target_folder(root).join("debug/timenav");
    let folder = process::target_folder(root).join(format!("fuzz-api/{}", std::process::id()));
    // Process ids are reused, so the folder may have data of another run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let seed = budget.seed.unwrap_or_else(any_seed);
    let repeat = format!("cargo xtask fuzz-api --seed {seed} --max-examples {}", budget.max_examples);
    println!("\n== {repeat}");
    let service = Service::start(&program, &folder)?;
    let tried = process::run(&mut attempt(root, &schemathesis, &service, seed, budget.max_examples));
    let ended = service.end();
    let found = tried.and(ended).and_then(|()| look_back(&program, &folder));
    found.with_context(|| format!("there are findings; repeat them with `{repeat}`, and see {}", folder.display()))?;
    // Nothing was found, so the data is no longer needed. A failed removal only costs disk space.
    let _ = fs::remove_dir_all(&folder);
    println!("\nevery operation was tried without findings");
    Ok(())
}

fn any_seed() -> u32 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos())
}

fn attempt(root: &Path, program: &Path, service: &Service, seed: u32, max_examples: u32) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).args(["--config-file", SETTINGS, "run"]);
    command.arg(format!("{}/{DOCUMENT}", service.url)).args(["--checks", "all", "--generation-database", "none"]);
    command.arg("--header").arg(format!("Authorization: Bearer {}", service.key));
    command.args(["--seed".to_owned(), seed.to_string(), "--max-examples".to_owned(), max_examples.to_string()]);
    command
}

struct Service {
    child: Child,
    /// Kept open so that the service can write to it.
    _stdout: BufReader<ChildStdout>,
    url: String,
    key: String,
}

impl Service {
    /// Starts the service in a folder and waits until it accepts requests.
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let log = File::create(log_file(folder)).context("the service's log cannot be created")?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TIMENAV_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-filter", "warn", "--data"]).arg(data_folder(folder));
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().context("the service cannot be started")?;
        let mut stdout = BufReader::new(child.stdout.take().context("the service has no output")?);
        let mut line = String::new();
        stdout.read_line(&mut line).context("the service's output cannot be read")?;
        let Some(url) = line.trim().strip_prefix(LISTENING).map(str::to_owned) else {
            let status = child.wait().context("the service cannot be waited for")?;
            bail!("the service did not start ({status}); see {}", log_file(folder).display());
        };
        match fs::read_to_string(data_folder(folder).join("admin.key")) {
            Ok(key) => Ok(Self { child, _stdout: stdout, url, key: key.trim().to_owned() }),
            Err(error) => {
                child.kill().and_then(|()| child.wait()).context("the service cannot be ended")?;
                Err(error).context("the first key cannot be read")
            }
        }
    }

    fn end(mut self) -> anyhow::Result<()> {
        if let Some(status) = self.child.try_wait().context("the state of the service cannot be read")? {
            bail!("the service exited early ({status})");
        }
        process::run(Command::new("kill").arg(self.child.id().to_string()))?;
        let Some(status) = process::wait(&mut self.child, END_TIME_MAX) else {
            self.child.kill().and_then(|()| self.child.wait()).context("the service cannot be ended")?;
            bail!("the service did not end within {} seconds", END_TIME_MAX.as_secs());
        };
        ensure!(status.success(), "the service ended with {status}");
        Ok(())
    }
}

fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("service.log")
}

/// Checks the log and the ledgers that the service leaves.
fn look_back(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let log = fs::read_to_string(log_file(folder)).context("the service's log cannot be read")?;
    if let Some(line) = first_complaint(&log) {
        bail!("the service logged a problem: {line}");
    }
    process::run(Command::new(program).args(["verify", "--data"]).arg(data_folder(folder)))
}

fn first_complaint(log: &str) -> Option<&str> {
    log.lines().find(|line| [" ERROR ", " WARN ", "panicked at"].iter().any(|mark| line.contains(mark)))
}

#[cfg(test)]
mod expected;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_distinguished_from_other_log_lines() {
        let news = "2026-01-01T00:00:00Z  INFO timenav: accepting requests\n";
        assert_eq!(first_complaint(news), None);
        for complaint in ["2026-01-01T00:00:00Z ERROR a: b", "thread 'x' panicked at src/a.rs:1:1:"] {
            assert_eq!(first_complaint(&format!("{news}{complaint}\n{news}")), Some(complaint));
        }
    }

    #[test]
    fn every_requirement_version_is_pinned() {
        let root = process::repository_root().unwrap();
        let requirements = fs::read_to_string(root.join(tools::SCHEMATHESIS_REQUIREMENTS)).unwrap();
        assert!(requirements.lines().any(|line| line.starts_with("schemathesis==")));
        for line in requirements.lines() {
            let (name, version) = line.split_once("==").unwrap_or_default();
            assert!(!name.is_empty() && version.starts_with(|first: char| first.is_ascii_digit()), "{line}");
        }
    }

    #[test]
    fn no_fuzz_check_is_disabled() {
        let settings = fs::read_to_string(process::repository_root().unwrap().join(SETTINGS)).unwrap();
        let lines: Vec<&str> = settings.lines().filter(|line| !line.starts_with('#')).collect();
        let off: Vec<&&str> = lines.iter().filter(|line| line.contains("false") || line.contains("exclude")).collect();
        assert_eq!(off, [&"cache = { enabled = false }"]);
    }
}
