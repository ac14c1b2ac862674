//! `cargo xtask test`: runs all checks that a change must pass.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use tempfile::NamedTempFile;

use crate::cost::Cost;
use crate::step::{FUZZ, Step};
use crate::suites::Report;
use crate::{clients, console, process, room, suites, tidy, tools};

const FETCH_TIME_MAX: Duration = Duration::from_mins(1);

/// An architecture on which programs cannot be put on a clock, for a cross-compilation check.
const ELSEWHERE: &str = "aarch64-unknown-linux-gnu";

/// Environment variable with a prebuilt libFuzzer. Building it would take a C++ compiler.
const LIBFUZZER: &str = "CUSTOM_LIBFUZZER_PATH";

/// Runs the chosen steps, and stops at the first failure. The steps after [`Step::Test`] run at the same time as it:
/// both wait for clocks, browsers and programs half of the time. If one of them fails, they run again alone.
pub(crate) fn run(root: &Path, only: &[Step], skip: &[Step]) -> anyhow::Result<()> {
    let steps = chosen(only, skip);
    tools::require(&steps)?;
    room::require(root, &steps)?;
    let count = steps.iter().position(|step| *step == Step::Test).map_or(steps.len(), |test| test + 1);
    let (steps, concurrent) = steps.split_at(count);
    let mut times: Vec<(Step, Cost)> = Vec::with_capacity(steps.len());
    let mut report = Report::default();
    let mut run_timed = |step: Step, report: &mut Report| {
        println!("\n== {step}: {}", headline(step));
        let start = Cost::now();
        let others = if step == Step::Test && !concurrent.is_empty() {
            Some(ParallelSteps::start(root, concurrent)?)
        } else {
            None
        };
        let is_built = times.iter().any(|(done, _)| *done == Step::Build);
        let result = run_step(root, step, is_built, report);
        let are_others_done = others.map_or(Ok(true), ParallelSteps::finish);
        times.push((step, start.until_now()));
        result.with_context(|| format!("step {step} failed; repeat it with `cargo xtask test --only {step}`"))?;
        are_others_done
    };
    let done = steps.iter().try_for_each(|&step| {
        if run_timed(step, &mut report)? {
            return Ok(());
        }
        println!("\na step failed while the tests ran: these steps run again, alone");
        concurrent.iter().try_for_each(|&step| run_timed(step, &mut report).map(|_| ()))?;
        report.add_unsteady(vec!["a step after the tests".to_owned()]);
        anyhow::Ok(())
    });
    report.print_slowest();
    print_times(&times);
    if done.is_ok() {
        report.print_unsteady();
    }
    done
}

/// Steps in another process, whose output is shown when it ends.
struct ParallelSteps {
    child: Child,
    output: NamedTempFile,
}

impl ParallelSteps {
    /// Starts steps, with the service that is built.
    fn start(root: &Path, steps: &[Step]) -> anyhow::Result<Self> {
        let output = NamedTempFile::new()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("test").args(steps.iter().map(|step| format!("--only={step}"))).current_dir(root);
        // Without `build`, the tests are built here first, and the service with them.
        suites::build(root)?;
        command.env(process::SERVICE_VARIABLE, process::service(root, true)?);
        let (stdout, stderr) = (output.reopen()?, output.as_file().try_clone()?);
        let child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn()?;
        Ok(Self { child, output })
    }

    /// Returns whether all steps succeeded.
    fn finish(mut self) -> anyhow::Result<bool> {
        let status = self.child.wait()?;
        io::copy(&mut File::open(self.output.path())?, &mut io::stdout())?;
        Ok(status.success())
    }
}

fn chosen(only: &[Step], skip: &[Step]) -> Vec<Step> {
    let all = Step::value_variants().iter().copied();
    all.filter(|step| (only.is_empty() || only.contains(step)) && !skip.contains(step)).collect()
}

fn headline(step: Step) -> String {
    match step {
        Step::Console => "npm run check && npm test && npm run build && npm run e2e, in console/".to_owned(),
        Step::Clients => {
            "ruff, mypy and pytest in clients/python, npm run … and npm test in clients/typescript, both packages"
                .to_owned()
        }
        Step::Deny => "cargo deny check licenses bans sources advisories".to_owned(),
        Step::Shear => "cargo shear".to_owned(),
        Step::Tidy => "cargo xtask tidy".to_owned(),
        Step::Test => "the test programs of the workspace, and the tests in documentation".to_owned(),
        Step::Build => "cargo test --workspace --no-run, with clippy as the compiler, and clippy in fuzz/".to_owned(),
        Step::Fmt | Step::Doc => {
            let calls: Vec<String> =
                step.cargo_calls().iter().map(|arguments| format!("cargo {}", arguments.join(" "))).collect();
            calls.join(" && ")
        }
    }
}

fn print_times(times: &[(Step, Cost)]) {
    println!("\n{:<8}{:>10}{:>12}", "step", "wall s", "processor s");
    for (step, Cost { wall, processor }) in times {
        println!("{:<8}{wall:>10.1}{processor:>12.1}", step.to_string());
    }
}

/// Runs a step. `is_built` says whether an earlier step has built the service.
fn run_step(root: &Path, step: Step, is_built: bool, report: &mut Report) -> anyhow::Result<()> {
    match step {
        Step::Build => suites::build(root).map(|_| ())?,
        Step::Test => {
            tools::postgres()?;
            tools::programs_to_try(root);
            return suites::run(root, report);
        }
        _ => {}
    }
    for arguments in step.cargo_calls() {
        let mut call = match step {
            Step::Build | Step::Doc => suites::linted(root, arguments)?,
            _ => process::cargo(root, arguments),
        };
        if step == Step::Doc {
            call.env("RUSTDOCFLAGS", "-D warnings");
        }
        if arguments.contains(&FUZZ) {
            // Any file will do, because lints do not link. The target folder is shared with the step `doc`.
            call.env(LIBFUZZER, root.join(FUZZ)).env("CARGO_TARGET_DIR", process::target_folder(root));
        }
        process::run(&mut call)?;
    }
    match step {
        Step::Console => console::run(root, is_built).map(|unsteady| report.add_unsteady(unsteady)),
        Step::Clients => clients::run(root, is_built),
        Step::Deny => deny(root),
        Step::Shear => shear(root),
        Step::Tidy => tidy::run(root),
        Step::Build => elsewhere(root),
        Step::Fmt | Step::Test | Step::Doc => Ok(()),
    }
}

/// Compiles the fallback code for other architectures, if the compiler has that target.
fn elsewhere(root: &Path) -> anyhow::Result<()> {
    let known = process::output(Command::new("rustup").args(["target", "list", "--installed"])).unwrap_or_default();
    if !String::from_utf8_lossy(&known).lines().any(|target| target == ELSEWHERE) {
        println!("other processors skipped: `rustup target add {ELSEWHERE}` enables the check");
        return Ok(());
    }
    let call = ["check", "-p", "timenav-exec", "--target", ELSEWHERE];
    process::run(&mut suites::linted(root, &call)?)
        .context("the code for systems without `timenav exec` does not compile")
}

fn deny(root: &Path) -> anyhow::Result<()> {
    let program = tools::cargo_tool(root, "cargo-deny")?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(root);
        command
    };
    // Duplicate versions of a crate are only reported by `cargo deny check bans`, not by every run.
    process::run(&mut deny(&["--log-level", "error", "check", "licenses", "bans", "sources"]))
        .context("see deny.toml for what is allowed, and why")?;
    if !process::succeeds(&mut deny(&["fetch", "db"]), FETCH_TIME_MAX) {
        println!("advisories skipped: their database cannot be fetched from this machine");
        return Ok(());
    }
    if process::run(&mut deny(&["--log-level", "error", "check", "--disable-fetch", "advisories"])).is_err() {
        bail!("a dependency has a known defect: update it, or list the advisory in deny.toml with a reason");
    }
    Ok(())
}

fn shear(root: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(tools::cargo_tool(root, "cargo-shear")?);
    process::run(command.arg("--deny-warnings").current_dir(root))
        .context("a dependency in a manifest is unused, or a file is not compiled: remove it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_in_declaration_order() {
        assert_eq!(chosen(&[], &[]), Step::value_variants());
        assert_eq!(chosen(&[Step::Tidy, Step::Fmt], &[]), [Step::Fmt, Step::Tidy]);
        let rest = [Step::Fmt, Step::Build, Step::Test, Step::Tidy];
        assert_eq!(chosen(&[], &[Step::Deny, Step::Shear, Step::Doc, Step::Console, Step::Clients]), rest);
    }

    #[test]
    fn step_is_named_as_typed() {
        assert_eq!(Step::Fmt.to_string(), "fmt");
        assert_eq!(headline(Step::Fmt), "cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check");
    }
}
