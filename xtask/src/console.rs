//! The step `console`: checks formatting, lints and types of the browser console, builds it, compares it with the
//! committed build, and tests it in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::node::{self, npm};
use crate::{process, tools};

const CONSOLE: &str = "console";
/// If browser tests of more files than this fail, none is repeated.
const FILES_AGAIN_MAX: usize = 3;
/// So many lines of the messages of failed browser tests are in the error, which is the end of the output.
const MESSAGE_LINES_MAX: usize = 30;

/// What Vitest writes about a run, reduced to the fields used here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserRun {
    success: bool,
    test_results: Vec<BrowserFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserFile {
    name: PathBuf,
    status: String,
    assertion_results: Vec<BrowserTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserTest {
    full_name: String,
    status: String,
    #[serde(default)]
    failure_messages: Vec<String>,
}

/// Runs the step, and returns the browser tests that failed at first and passed alone. `is_built` says whether the
/// tests have already built the service.
pub(crate) fn run(root: &Path, is_built: bool) -> anyhow::Result<Vec<String>> {
    let console = root.join(CONSOLE);
    node::generate_client(root)?;
    node::install(&console)?;
    for script in ["format:check", "lint", "check", "test"] {
        process::run(npm(&console).args(["run", "--silent", script]))?;
    }
    compare(root, &console)?;
    let chromium = tools::chromium()?;
    let program = process::service(root, is_built)?;
    browse_twice(|files| {
        let report = process::target_folder(root).join("browser-tests.json");
        let mut browse = npm(&console);
        browse.args(["run", "--silent", "e2e", "--", "--reporter=default", "--reporter=json"]);
        browse.arg(format!("--outputFile.json={}", report.display()));
        if !files.is_empty() {
            browse.arg("--maxWorkers=1").args(files);
        }
        browse.env("TIMENAV_BIN", &program).env("CHROMIUM_BIN", &chromium);
        // A report of an earlier run must not be taken for the one of this run.
        let _ = fs::remove_file(&report);
        let ended = process::run(&mut browse);
        let Ok(bytes) = fs::read(&report) else {
            ended?;
            bail!("the browser tests wrote no report");
        };
        let run = serde_json::from_slice(&bytes).context("the report of the browser tests cannot be read")?;
        passed_whole(run, ended)
    })
}

/// Returns the run, or the error of Vitest if all tests passed: a fault outside the tests is only in its exit status.
fn passed_whole(run: BrowserRun, ended: anyhow::Result<()>) -> anyhow::Result<BrowserRun> {
    if run.success {
        ended.context("the browser tests passed, but Vitest reports a fault outside them")?;
    }
    Ok(run)
}

/// Runs all browser tests, and files with failed tests a second time, with a service of their own. Returns the tests
/// that failed only the first time.
fn browse_twice(mut browse: impl FnMut(&[PathBuf]) -> anyhow::Result<BrowserRun>) -> anyhow::Result<Vec<String>> {
    let first = browse(&[])?;
    if first.success {
        return Ok(Vec::new());
    }
    let (files, tests) = first.failed();
    if files.is_empty() {
        bail!("Vitest failed outside the browser tests");
    }
    if files.len() > FILES_AGAIN_MAX {
        bail!("browser tests failed: {}", tests.join(", "));
    }
    println!("\nOnce more, alone: {}", tests.join(", "));
    let second = browse(&files)?;
    if !second.success {
        let (_, alone) = second.failed();
        bail!(
            "browser tests failed with others ({}), and alone ({}):\n{}",
            tests.join(", "),
            alone.join(", "),
            second.messages()
        );
    }
    Ok(tests)
}

impl BrowserRun {
    /// Returns the files that failed, and the names of their failed tests.
    fn failed(&self) -> (Vec<PathBuf>, Vec<String>) {
        let files: Vec<&BrowserFile> = self.test_results.iter().filter(|file| file.status != "passed").collect();
        let names = files.iter().flat_map(|file| file.failed());
        (files.iter().map(|file| file.name.clone()).collect(), names.collect())
    }

    /// Returns the beginning of what failed tests say.
    fn messages(&self) -> String {
        let tests = self.test_results.iter().flat_map(|file| &file.assertion_results);
        let lines = tests.flat_map(|test| &test.failure_messages).flat_map(|message| message.lines());
        lines.take(MESSAGE_LINES_MAX).collect::<Vec<&str>>().join("\n")
    }
}

impl BrowserFile {
    /// Returns the names of the failed tests, or the file's own if it failed outside its tests.
    fn failed(&self) -> Vec<String> {
        let file = self.name.file_name().unwrap_or_default().to_string_lossy();
        let tests = self.assertion_results.iter().filter(|test| test.status == "failed");
        let names: Vec<String> = tests.map(|test| format!("{file}: {}", test.full_name)).collect();
        if names.is_empty() { vec![file.into_owned()] } else { names }
    }
}

/// Builds the console, compares the result with the committed one, and checks its size.
fn compare(root: &Path, console: &Path) -> anyhow::Result<()> {
    let built = process::target_folder(root).join("console");
    let folder = built.to_str().context("the name of the target folder is not UTF-8")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: &str = r#"{"success":true,"testResults":[{"name":"/c/a.spec.ts","status":"passed","assertionResults":[{"fullName":"opens","status":"passed"}]}]}"#;

    fn failed(files: &[&str]) -> BrowserRun {
        let of = |name: &&str| {
            let tests = vec![BrowserTest {
                full_name: "a page opens".to_owned(),
                status: "failed".to_owned(),
                failure_messages: vec!["Error: no page".to_owned()],
            }];
            BrowserFile { name: PathBuf::from(name), status: "failed".to_owned(), assertion_results: tests }
        };
        BrowserRun { success: false, test_results: files.iter().map(of).collect() }
    }

    #[test]
    fn browser_tests_that_pass_run_once() {
        let mut runs = 0;
        let unsteady = browse_twice(|_| {
            runs += 1;
            Ok(serde_json::from_str(PASSED).unwrap())
        });
        assert_eq!((unsteady.unwrap(), runs), (Vec::new(), 1));
    }

    #[test]
    fn fault_outside_passed_tests_is_an_error() {
        let passed = || serde_json::from_str::<BrowserRun>(PASSED).unwrap();
        assert!(passed_whole(passed(), Err(anyhow::anyhow!("npm ended with exit status: 1"))).is_err());
        assert!(passed_whole(passed(), Ok(())).is_ok());
        let failed = passed_whole(failed(&["a"]), Err(anyhow::anyhow!("npm ended with exit status: 1")));
        assert!(!failed.unwrap().success);
    }

    #[test]
    fn failed_files_run_again_and_are_reported_as_unsteady() {
        let unsteady = browse_twice(|files| match files {
            [] => Ok(failed(&["/c/b.spec.ts"])),
            [file] => {
                assert_eq!(file, Path::new("/c/b.spec.ts"));
                Ok(serde_json::from_str(PASSED).unwrap())
            }
            _ => bail!("too many files"),
        });
        assert_eq!(unsteady.unwrap(), ["b.spec.ts: a page opens"]);
    }

    #[test]
    fn browser_tests_that_fail_twice_are_named_in_the_error() {
        let error = browse_twice(|_| Ok(failed(&["/c/b.spec.ts"]))).unwrap_err().to_string();
        let named = "b.spec.ts: a page opens";
        assert_eq!(error, format!("browser tests failed with others ({named}), and alone ({named}):\nError: no page"));
    }

    #[test]
    fn many_failed_files_are_not_repeated() {
        let mut runs = 0;
        let error = browse_twice(|_| {
            runs += 1;
            Ok(failed(&["a", "b", "c", "d"]))
        });
        assert_eq!(
            (error.unwrap_err().to_string().starts_with("browser tests failed: a: a page opens"), runs),
            (true, 1)
        );
    }

    #[test]
    fn file_that_fails_outside_its_tests_is_named() {
        let mut run = failed(&["/c/b.spec.ts"]);
        run.test_results[0].assertion_results.clear();
        assert_eq!(run.failed(), (vec![PathBuf::from("/c/b.spec.ts")], vec!["b.spec.ts".to_owned()]));
    }
}
