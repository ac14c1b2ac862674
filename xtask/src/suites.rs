//! Builds all tests of the workspace with one Cargo call, and runs several test programs at the same time.
//!
//! The tests of the package `timenav` spend most of their time waiting for running clocks, expiring leases and killed
//! programs, while the other ones use the processor. So the two groups run concurrently.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, bail};
use serde::Deserialize;
use tempfile::TempDir;

use crate::{process, room};

/// The features of a released program, which is what the tests cover.
const FEATURES: &str = "timenav/full";
/// The package whose tests start the service.
const SERVICE: &str = "timenav";
/// Test threads per processor for tests of the service. They wait for clocks, leases and programs.
const SERVICE_PER_PROCESSOR: usize = 3;
/// Test threads per processor for other tests. Some wait for PostgreSQL.
const OTHERS_PER_PROCESSOR: usize = 1;
/// Niceness of the tests. The steps that run at the same time have fewer processes, and browsers that must respond.
const NICENESS: &str = "-n10";
/// Part of the name of every documentation test, and of no other test.
const OF_DOCUMENTATION: &str = "(line ";
/// If more tests than this fail at once, none is retried.
const AGAIN_MAX: usize = 6;
const SLOWEST_LISTED: usize = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suite {
    program: PathBuf,
    /// The folder of its package, in which it runs.
    folder: PathBuf,
    starts_service: bool,
}

#[derive(Deserialize)]
struct Built {
    reason: String,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    succeeded: bool,
    failed: Vec<String>,
    /// Duration of each test, in seconds.
    times: Vec<(f64, String)>,
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Tests that failed at first and passed alone.
    unsteady: Vec<String>,
    times: Vec<(f64, String)>,
}

impl Report {
    pub(crate) fn add_unsteady(&mut self, tests: Vec<String>) {
        self.unsteady.extend(tests);
    }

    pub(crate) fn print_unsteady(&self) {
        for name in &self.unsteady {
            println!("unsteady: {name} failed with others and passed alone; find out why (CONTRIBUTING.md)");
        }
    }

    /// Prints the slowest tests, with their duration in seconds.
    pub(crate) fn print_slowest(&self) {
        let mut times: Vec<&(f64, String)> = self.times.iter().collect();
        times.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !times.is_empty() {
            println!("\nslowest tests, s");
        }
        for (seconds, name) in times.iter().take(SLOWEST_LISTED) {
            println!("{seconds:>8.1}  {name}");
        }
    }
}

/// Runs all tests of the workspace and its documentation. A few failed tests are retried alone.
pub(crate) fn run(root: &Path, report: &mut Report) -> anyhow::Result<()> {
    let suites = build(root)?;
    let (waiting, computing): (Vec<Suite>, Vec<Suite>) = suites.into_iter().partition(|suite| suite.starts_service);
    let out = Mutex::new(io::stdout());
    let memory = room::in_memory();
    let temporary = memory.as_ref().map(TempDir::path);
    let (first, second) = thread::scope(|scope| {
        let concurrent = scope.spawn(|| all_of(&computing, temporary, &out));
        (all_of(&waiting, temporary, &out), concurrent.join())
    });
    let second = second.map_err(|_| anyhow::anyhow!("the thread of the computing tests panicked"))?;
    let outcomes: Vec<(Suite, Outcome)> = first?.into_iter().chain(second?).collect();
    report.times.extend(outcomes.iter().flat_map(|(_, outcome)| outcome.times.clone()));
    report.add_unsteady(once_more(&outcomes)?);
    // `--doc` would rebuild the workspace: without its programs, packages have fewer features.
    process::run(&mut linted(
        root,
        &["test", "--workspace", "--features", FEATURES, "--quiet", "--", OF_DOCUMENTATION],
    )?)
}

/// Returns a Cargo command that compiles the workspace with clippy, so that linting needs no second pass. Any warning
/// is an error. Only calls with the same settings can reuse each other's results: a plain `cargo clippy` in between would
/// have the tests compiled again.
pub(crate) fn linted(root: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(root))?;
    let clippy = Path::new(String::from_utf8_lossy(&sysroot).trim()).join("bin/clippy-driver");
    let mut call = process::cargo(root, arguments);
    // As set by `cargo clippy -- -D warnings`.
    call.env("RUSTC_WORKSPACE_WRAPPER", clippy).env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");
    Ok(call)
}

pub(crate) fn build(root: &Path) -> anyhow::Result<Vec<Suite>> {
    let build = ["test", "--workspace", "--features", FEATURES, "--no-run", "--message-format=json-render-diagnostics"];
    let json_lines = process::output(&mut linted(root, &build)?)?;
    let suites = suites_of(&String::from_utf8_lossy(&json_lines))?;
    if suites.is_empty() {
        bail!("cargo built no tests");
    }
    Ok(suites)
}

fn suites_of(output: &str) -> anyhow::Result<Vec<Suite>> {
    let mut suites = Vec::new();
    for line in output.lines().filter(|line| line.starts_with('{')) {
        let built: Built =
            serde_json::from_str(line).with_context(|| format!("cargo printed an unknown message: {line}"))?;
        let Built { manifest_path: Some(manifest), executable: Some(program), target, profile, .. } = built else {
            continue;
        };
        if built.reason != "compiler-artifact" || !profile.is_some_and(|profile| profile.test) {
            continue;
        }
        let folder = manifest.parent().context("a package has no parent folder")?.to_owned();
        let is_integration = target.is_some_and(|target| target.kind.iter().any(|kind| kind == "test"));
        let starts_service = is_integration && folder.file_name().is_some_and(|name| name == SERVICE);
        suites.push(Suite { program, folder, starts_service });
    }
    Ok(suites)
}

/// Runs test programs one after the other, with `temporary` as their temporary folder, and shows their output.
fn all_of(
    suites: &[Suite],
    temporary: Option<&Path>,
    out: &Mutex<impl Write>,
) -> anyhow::Result<Vec<(Suite, Outcome)>> {
    let run = |suite: &Suite| {
        let mut command = suite.command();
        command.envs(temporary.map(|folder| ("TMPDIR", folder)));
        watched(&mut command, &suite.program, out)
    };
    suites.iter().map(|suite| Ok((suite.clone(), run(suite)?))).collect()
}

/// Retries the failed tests, each alone. Returns them if all pass.
fn once_more(outcomes: &[(Suite, Outcome)]) -> anyhow::Result<Vec<String>> {
    if let Some((suite, _)) = outcomes.iter().find(|(_, outcome)| !outcome.succeeded && outcome.failed.is_empty()) {
        bail!("the tests of {} did not finish", suite.program.display());
    }
    let of_suite = |(suite, outcome): &(Suite, Outcome)| {
        outcome.failed.iter().map(|name| (suite.clone(), name.clone())).collect::<Vec<_>>()
    };
    let failed: Vec<(Suite, String)> = outcomes.iter().flat_map(of_suite).collect();
    let names: Vec<String> = failed.iter().map(|(_, name)| name.clone()).collect();
    if failed.len() > AGAIN_MAX {
        bail!("{} tests failed: {}", failed.len(), names.join(", "));
    }
    if !failed.is_empty() {
        println!("\nOnce more, alone: {}", names.join(", "));
    }
    for (suite, name) in &failed {
        let mut alone = suite.command();
        process::run(alone.arg("--exact").arg(name))
            .with_context(|| format!("{name} failed with others, and alone"))?;
    }
    Ok(names)
}

impl Suite {
    fn command(&self) -> Command {
        let mut command = Command::new("nice");
        command.arg(NICENESS).arg(&self.program);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // `--report-time` is unstable and needs this variable.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let each = if self.starts_service { SERVICE_PER_PROCESSOR } else { OTHERS_PER_PROCESSOR };
        command.arg(format!("--test-threads={}", processors * each));
        command
    }
}

/// Runs a program, shows its output line by line, and collects the failed tests.
fn watched(command: &mut Command, program: &Path, out: &Mutex<impl Write>) -> anyhow::Result<Outcome> {
    let program = program.display().to_string();
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("{program} cannot be started"))?;
    let stdout = child.stdout.take().context("a program of tests has no output")?;
    show(out, &format!("     Running {program}"));
    let (mut failed, mut times) = (Vec::new(), Vec::new());
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.with_context(|| format!("the output of {program} cannot be read"))?;
        let line = String::from_utf8_lossy(&line);
        let (stdout, seconds) = timed(&line);
        failed.extend(failure(stdout).map(str::to_owned));
        times.extend(seconds.zip(name(stdout).map(str::to_owned)));
        show(out, &line);
    }
    let status = child.wait().with_context(|| format!("{program} was lost"))?;
    Ok(Outcome { succeeded: status.success(), failed, times })
}

/// Splits a line into its text and the seconds at its end, as in `test a::b ... ok <1.204s>`.
fn timed(line: &str) -> (&str, Option<f64>) {
    let at_end = line.rsplit_once(" <").and_then(|(text, end)| Some((text, end.strip_suffix("s>")?.parse().ok()?)));
    at_end.map_or((line, None), |(text, seconds)| (text, Some(seconds)))
}

fn name(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.split(" ... ").next()
}

/// Prints a line. Errors are ignored, so that tests continue if the reader of the output is gone.
fn show(out: &Mutex<impl Write>, line: &str) {
    if let Ok(mut out) = out.lock() {
        let _ = writeln!(out, "{line}");
    }
}

fn failure(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    // Tests with `should_panic` have this suffix.
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_distinguished_from_other_artifacts() {
        let built = |package: &str, kind: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/{package}/Cargo.toml","target":{{"kind":["{kind}"]}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let output = [
            built("timenav", "bin", false, r#""/t/timenav""#),
            built("timenav", "bin", true, r#""/t/timenav-1""#),
            built("timenav", "test", true, r#""/t/it-2""#),
            built("timenav-core", "lib", false, "null"),
            built("timenav-store", "test", true, r#""/t/it-3""#),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let suites = suites_of(&output.join("\n")).unwrap();
        let seen: Vec<_> = suites.iter().map(|suite| (suite.program.to_str().unwrap(), suite.starts_service)).collect();
        assert_eq!(seen, [("/t/timenav-1", false), ("/t/it-2", true), ("/t/it-3", false)]);
        assert_eq!(suites[2].folder, Path::new("/w/timenav-store"));
    }

    #[test]
    fn failed_test_is_found_in_the_output() {
        let line = "test v1::clock::it_moves ... FAILED";
        assert_eq!(failure(line), Some("v1::clock::it_moves"));
        assert_eq!(failure("test limits::none - should panic ... FAILED"), Some("limits::none"));
        for other in ["test v1::clock::it_moves ... ok", "test result: FAILED. 1 passed; 1 failed", "    it_moves"] {
            assert_eq!(failure(other), None);
        }
    }

    #[test]
    fn test_output_is_watched_to_the_end() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'test a::b ... FAILED <0.250s>'; echo 'test c ... ok <1.500s>'; exit 101"]);
        let out = Mutex::new(Vec::new());
        let outcome = watched(&mut command, Path::new("sh"), &out).unwrap();
        let times = vec![(0.25, "a::b".to_owned()), (1.5, "c".to_owned())];
        assert_eq!(outcome, Outcome { succeeded: false, failed: vec!["a::b".to_owned()], times });
        let out = String::from_utf8(out.into_inner().unwrap()).unwrap();
        assert_eq!(out, "     Running sh\ntest a::b ... FAILED <0.250s>\ntest c ... ok <1.500s>\n");
    }

    #[test]
    fn few_failed_tests_are_run_again() {
        let suite = |script: &str| Suite { program: script.into(), folder: "/".into(), starts_service: false };
        let outcome = |names: &[&str]| Outcome {
            succeeded: names.is_empty(),
            failed: names.iter().map(|name| (*name).to_owned()).collect(),
            times: Vec::new(),
        };
        assert_eq!(once_more(&[(suite("false"), outcome(&[]))]).unwrap(), Vec::<String>::new());
        assert_eq!(once_more(&[(suite("true"), outcome(&["a", "b"]))]).unwrap(), ["a", "b"]);
        let report = once_more(&[(suite("false"), outcome(&["a"]))]).unwrap_err().to_string();
        assert_eq!(report, "a failed with others, and alone");
        let report = once_more(&[(suite("true"), outcome(&["a"; AGAIN_MAX + 1]))]).unwrap_err().to_string();
        assert_eq!(report, "7 tests failed: a, a, a, a, a, a, a");
        let broken = Outcome::default();
        let report = once_more(&[(suite("true"), broken)]).unwrap_err().to_string();
        assert_eq!(report, "the tests of true did not finish");
    }
}
