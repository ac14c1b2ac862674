//! `timenav sweep`: runs a command on many dates and finds the first at which it fails.

mod dates;
mod outcome;
mod report;
mod runs;
mod search;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use data_encoding::HEXLOWER;
use timenav_core::time::{Instant, Virtual, parse_duration};
use timenav_engine::{Entropy as _, WallClock as _};

use self::dates::DateOptions;
use self::outcome::{Boundary, Run};
use self::report::{RUNS, Report};
use self::runs::{Plan, Runner};
use self::search::Search;
use crate::client::{Answer, Client, INTERRUPTED_EXIT, ServiceOptions};
use crate::exit::Failure;
use crate::output::{self, OutputFormat};
use crate::wiring::ports::{HostClock, OsEntropy};
use crate::wiring::surroundings::Surroundings;

const JOBS_MAX: i64 = 64;

/// Runs a command at many dates, and reports the dates at which it fails.
///
/// Each date has a temporary timeline, so dates run in parallel. The command runs as under `timenav exec --strict`, on
/// a clock that starts at the date, with its timeline in `TIMENAV_TIMELINE`. By default it runs at the notable dates of
/// four years, such as ends of months, leap days, new years, and the overflows of 2036 and 2038.
///
/// A date passes if the exit code is 0. The output at a failed date is saved, and its end is shown. The exit code is 8
/// if any date failed. Processes that the command leaves running are killed.
#[derive(Debug, clap::Args)]
pub(crate) struct SweepCommand {
    #[command(flatten)]
    dates: DateOptions,
    /// Find the date from which the command fails, with few runs. The first date must pass and the last must fail.
    /// Failures on single days can be missed.
    #[arg(long)]
    bisect: bool,
    /// The number of parallel runs. Defaults to the number of processors.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX))]
    jobs: Option<u16>,
    /// The timeout for each date, in host time. The command is killed and the date has failed.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = host_duration)]
    timeout: Duration,
    /// Start with a paused clock.
    #[arg(long)]
    paused: bool,
    /// Fork this timeline for each date. Defaults to empty timelines.
    #[arg(long, value_name = "TIMELINE_ID")]
    fork_of: Option<String>,
    /// The folder for the output of failed dates, in a new folder for each sweep.
    #[arg(long, value_name = "DIR", default_value = "timenav-sweep")]
    logs: PathBuf,
    /// Also write the results to this JUnit file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceOptions,
    /// The program and its arguments, after `--`.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(command: &SweepCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let dates = command.dates.read(HostClock::start().now())?;
    let name = command.command.first().map(OsString::as_os_str).unwrap_or_default();
    timenav_exec::inspect::inspect(name, &surroundings.program_folders)
        .with_context(|| format!("cannot run `{}`", name.display()))?;
    let client = Client::new(&command.service, surroundings)?;
    let plan = plan(command)?;
    let folder = plan.folder.clone();
    let mut runs = BTreeMap::new();
    let mut runner = Runner::new(&client, plan)?;
    runner.try_out(dates[0])?;
    std::fs::create_dir_all(&folder).with_context(|| format!("the folder {} cannot be created", folder.display()))?;
    let is_people = client.format() == OutputFormat::Table;
    let mut take = |number: usize, run: Run| {
        if is_people && !run.outcome.passes() {
            output::note(&format!("{}  {}", run.date, run.outcome.text()));
        }
        runs.insert(number, run);
    };
    let swept = if command.bisect {
        bisect(&mut runner, &dates, jobs(command), &mut take)
    } else {
        let all: Vec<_> = dates.iter().copied().enumerate().collect();
        runner.run(&all, &mut take).map(|is_done| (is_done, None))
    };
    drop(runner);
    tidy(&folder, &command.logs);
    let (is_done, searched) = swept?;
    let report = Report { runs: runs.values().collect(), dates: dates.len(), is_interrupted: !is_done, searched };
    if let Some(path) = &command.junit {
        std::fs::write(path, report.junit(&command.command))
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let value = report.json();
    client.show_list(&Answer { text: value.to_string(), value }, &RUNS, |_| report.text())?;
    if report.is_interrupted {
        std::process::exit(INTERRUPTED_EXIT);
    }
    match report.failed() {
        0 => Ok(()),
        failed => Err(Failure::DatesFailed(failed)),
    }
}

fn plan(command: &SweepCommand) -> Result<Plan, Failure> {
    let mut id = [0; 4];
    OsEntropy.fill(&mut id);
    let name = format!("sweep-{}", HEXLOWER.encode(&id));
    Ok(Plan {
        command: command.command.clone(),
        program: std::env::current_exe().context("this program cannot be found")?,
        connection: command.service.words(),
        folder: command.logs.join(&name),
        name,
        fork_of: command.fork_of.clone(),
        is_paused: command.paused,
        timeout: command.timeout,
        at_once: jobs(command),
    })
}

fn jobs(command: &SweepCommand) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    command.jobs.map_or_else(processors, usize::from).min(usize::try_from(JOBS_MAX).unwrap_or(1))
}

/// Bisects to the first failing date. Returns whether the search finished, and the result if so.
fn bisect(
    runner: &mut Runner<'_>,
    dates: &[Instant<Virtual>],
    at_once: usize,
    take: &mut dyn FnMut(usize, Run),
) -> Result<(bool, Option<Boundary>), Failure> {
    let mut search = Search::new(dates.len());
    loop {
        let next: Vec<_> = search.next(at_once).into_iter().map(|number| (number, dates[number])).collect();
        if next.is_empty() {
            let (failed, passed) = search.found();
            return Ok((true, Some((failed.map(|at| dates[at]), passed.map(|at| dates[at])))));
        }
        let mut tried = Vec::new();
        let is_done = runner.run(&next, &mut |number, run| {
            tried.push((number, run.outcome.passes()));
            take(number, run);
        })?;
        if !is_done {
            return Ok((false, None));
        }
        search.learn(&tried);
    }
}

/// Removes empty output folders. Folders with files stay, because they cannot be removed.
fn tidy(folder: &Path, parent: &Path) {
    if std::fs::remove_dir(folder).is_ok() {
        let _ = std::fs::remove_dir(parent);
    }
}

fn host_duration(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    let micros = u64::try_from(duration.exact().micros()).unwrap_or_default();
    if duration.months() > 0 || micros < 1_000_000 {
        return Err("write host time of a second or more, such as 90s or 10m, without months".to_owned());
    }
    Ok(Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_duration_rejects_months_and_fractions() {
        assert_eq!(host_duration("1h30m"), Ok(Duration::from_mins(90)));
        for wrong in ["P1M", "0.5s", "soon"] {
            assert!(host_duration(wrong).is_err(), "{wrong}");
        }
    }
}
