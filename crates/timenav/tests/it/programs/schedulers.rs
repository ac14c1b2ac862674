//! docs/schedulers.md: the jobs that schedulers run, and the entries that caches expire, under `exec --sleeps virtual`.
//!
//! All programs run at the same time on one clock, with one schedule. Each job appends its letter and its time to a
//! file, which is read when the clock is paused at the end. A slow machine delays jobs, which does not change their
//! number.

mod page;
mod rows;
mod ticks;

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use timenav_core::time::{Virtual, parse_timestamp};

use self::page::{check_page, is_update};
use self::rows::{Row, rows};
use super::{service, travel};
use crate::cli::command;
use crate::support::service::Service;
use crate::support::waiting::{Patience, pause, try_until};

/// 2031-05-06T00:00:00Z.
const MIDNIGHT: i64 = 1_935_792_000;
const HOUR: i64 = 3_600;
const MINUTE: i64 = 60;
/// The search path for programs, with those for administrators.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
const LOOK_PAUSE: Duration = Duration::from_millis(50);
/// Host time for libfaketime, at rate 3600: until two hours after the last job of [`HOURLY`].
const FAKED: Duration = Duration::from_secs(36);
const FAKED_FROM: &str = "@2031-05-05 08:00:00 x3600";

/// Jobs that are due every `every` seconds, and the rate at which they are run.
struct Jobs {
    letter: &'static str,
    /// Seconds after [`MIDNIGHT`].
    first: i64,
    every: i64,
    count: i64,
    rate: i64,
}

const MINUTELY: Jobs = Jobs { letter: "a", first: 8 * HOUR, every: 4 * MINUTE, count: 3, rate: 60 };
const AFTER_PAUSE: Jobs = Jobs { letter: "p", first: 8 * HOUR + 20 * MINUTE, every: 0, count: 1, rate: 60 };
const HOURLY: Jobs = Jobs { letter: "b", first: 9 * HOUR + 30 * MINUTE, every: 4 * HOUR, count: 3, rate: 3600 };
/// Jobs of [`HOURLY`] that were due before the programs start, except those with libfaketime.
const EARLIER: Jobs = Jobs { letter: "b", first: HOUR + 30 * MINUTE, every: 4 * HOUR, count: 2, rate: 3600 };
const JUMPED: Jobs = Jobs { letter: "c", first: 36 * HOUR, every: 0, count: 1, rate: 60 };
const AFTER_JUMP: Jobs = Jobs { letter: "d", first: 47 * HOUR + 30 * MINUTE, every: 0, count: 1, rate: 60 };

impl Jobs {
    /// Returns the Unix times at which they are due.
    fn due(&self) -> impl Iterator<Item = i64> {
        (0..self.count).map(|number| MIDNIGHT + self.first + number * self.every)
    }
}

/// A running scheduler.
struct Running {
    row: Row,
    folder: PathBuf,
    child: Child,
}

impl Running {
    /// Starts a program in a folder of its own. The prefix puts it on a clock.
    fn start(mut command: Command, row: &Row, folder: PathBuf, jobs: &[&Jobs]) -> Self {
        std::fs::create_dir(&folder).unwrap();
        // Some servers run as another user.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        File::create(folder.join("jobs")).unwrap();
        let due = jobs.iter().flat_map(|jobs| jobs.due().map(|due| format!("{} {due}\n", jobs.letter)));
        std::fs::write(folder.join("due"), due.collect::<String>()).unwrap();
        command.env("PATH", PATH).env("TZ", "UTC").env("PYTHONDONTWRITEBYTECODE", "1").envs(row.variables.clone());
        let output = File::create(folder.join("output")).unwrap();
        command.current_dir(&folder).process_group(0).stdin(Stdio::null());
        let child = command.stdout(output.try_clone().unwrap()).stderr(output).spawn().unwrap();
        Self { row: row.clone(), folder, child }
    }

    /// Returns the times at which its jobs of this letter ran. A job without a time counts as well.
    fn ran(&self, letter: &str) -> Vec<f64> {
        let text = std::fs::read_to_string(self.folder.join("jobs")).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix(letter)?.strip_prefix(' '));
        lines.map(|time| time.trim().parse().unwrap_or_default()).collect()
    }

    fn is_ready(&self) -> bool {
        !self.ran("ready").is_empty()
    }

    fn has_run(&self, jobs: &Jobs) -> bool {
        i64::try_from(self.ran(jobs.letter).len()).unwrap() >= jobs.count
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.folder.join("output")).unwrap_or_default()
    }

    /// Returns how many jobs ran, and the greatest delay in milliseconds of host time.
    fn cell(&self, jobs: &Jobs) -> String {
        let ran = self.ran(jobs.letter);
        let number = format!("{} of {}", ran.len(), jobs.count);
        #[expect(clippy::cast_precision_loss, reason = "seconds of this century are exact")]
        let late = ran.iter().zip(jobs.due()).map(|(ran, due)| (ran - due as f64) / jobs.rate as f64 * 1000.0);
        let late = late.fold(0.0, f64::max);
        if ran.is_empty() || jobs.letter == JUMPED.letter { number } else { format!("{number} ({late:.0} ms)") }
    }

    /// Ends the program and everything that it started.
    fn end(mut self) {
        let group = Pid::from_child(&self.child);
        let _ = kill_process_group(group, Signal::TERM);
        let patience = Patience::of(Duration::from_secs(5));
        while self.child.try_wait().unwrap().is_none() && patience.lasts() {
            pause(LOOK_PAUSE);
        }
        let _ = kill_process_group(group, Signal::KILL);
        self.child.wait().unwrap();
    }
}

fn now(service: &Service) -> i64 {
    let reading = service.get("/v1/clock", &[])["current_time"].as_str().unwrap().to_owned();
    parse_timestamp::<Virtual>(&reading).unwrap().micros().div_euclid(1_000_000)
}

/// Runs the clock until all jobs have run, or until a time of the clock, and pauses it. Later jobs are not due by then.
fn run_jobs(service: &Service, all: &[Running], jobs: &Jobs, until: i64) {
    service.post("/v1/set-rate", &json!({ "rate": jobs.rate }));
    service.post("/v1/resume-time", &json!({}));
    let _ = try_until(|| {
        pause(LOOK_PAUSE);
        let is_over = now(service) >= MIDNIGHT + until || all.iter().all(|running| running.has_run(jobs));
        is_over.then_some(())
    });
    service.post("/v1/pause-time", &json!({}));
}

/// Starts the programs, and waits until they are ready, while the clock runs at the host's rate.
fn started(service: &Service, rows: &[Row], folder: &Path) -> Vec<Running> {
    travel(service, "2031-05-06T07:31:00Z");
    service.post("/v1/set-rate", &json!({ "rate": 1 }));
    service.post("/v1/resume-time", &json!({}));
    let all: Vec<Running> = rows
        .iter()
        .filter_map(|row| {
            let words: Vec<&str> = row.command.as_ref()?.iter().map(String::as_str).collect();
            let command = command(service, &[&["exec", "--sleeps", "virtual", "--"], &words[..]].concat());
            let jobs = [&MINUTELY, &AFTER_PAUSE, &HOURLY, &JUMPED, &AFTER_JUMP];
            Some(Running::start(command, row, folder.join(row.folder()), &jobs))
        })
        .collect();
    for running in &all {
        let is_ready = try_until(|| running.is_ready().then_some(()));
        assert!(is_ready.is_some(), "{} is not ready: {}", running.row.name, running.output());
    }
    service.post("/v1/pause-time", &json!({}));
    all
}

/// Returns the number of jobs that run with libfaketime, for each program.
fn faked(rows: &[Row], folder: &Path) -> Vec<String> {
    let all: Vec<Option<Running>> = rows
        .iter()
        .map(|row| {
            let mut command = Command::new("faketime");
            command.args(["-f", FAKED_FROM]).args(row.command.as_ref()?);
            let jobs = [&MINUTELY, &AFTER_PAUSE, &EARLIER, &HOURLY, &JUMPED, &AFTER_JUMP];
            Some(Running::start(command, row, folder.join(format!("{}-faked", row.folder())), &jobs))
        })
        .collect();
    let patience = Patience::of(FAKED);
    while patience.lasts() {
        pause(LOOK_PAUSE);
    }
    let number = |running: Option<Running>| {
        let Some(mut running) = running else { return String::new() };
        let has_ended = running.child.try_wait().unwrap().is_some();
        let (ran, is_ready) = (running.ran(HOURLY.letter).len(), running.is_ready());
        println!("with libfaketime: {}: {}", running.row.name, running.output());
        running.end();
        let note = if has_ended && ran == 0 {
            ", ends"
        } else if is_ready {
            ""
        } else {
            ", does not start"
        };
        format!("{ran} of {}{note}", HOURLY.count + EARLIER.count)
    };
    all.into_iter().map(number).collect()
}

#[test]
fn schedulers_run_their_jobs_as_documented() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let rows = rows(folder.path());
    let all = started(&service, &rows, folder.path());
    travel(&service, "2031-05-06T07:59:50Z");
    run_jobs(&service, &all, &MINUTELY, 8 * HOUR + 14 * MINUTE);
    // At this rate, the next job would be due in a twelfth of a second.
    travel(&service, "2031-05-06T08:15:00Z");
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    pause(Duration::from_secs(1));
    let held: Vec<bool> = all.iter().map(|running| running.ran(AFTER_PAUSE.letter).is_empty()).collect();
    run_jobs(&service, &all, &AFTER_PAUSE, 8 * HOUR + 50 * MINUTE);
    run_jobs(&service, &all, &HOURLY, 34 * HOUR);
    travel(&service, "2031-05-07T23:29:30Z");
    run_jobs(&service, &all, &AFTER_JUMP, 48 * HOUR);
    let mut lines = Vec::new();
    for (running, held) in all.iter().zip(held) {
        let after = if held { running.cell(&AFTER_PAUSE) } else { "before it ends".to_owned() };
        let (minutely, hourly) = (running.cell(&MINUTELY), running.cell(&HOURLY));
        let (jumped, after_jump) = (running.cell(&JUMPED), running.cell(&AFTER_JUMP));
        let note = running.output();
        println!("{}: {note}", running.row.name);
        assert!(!note.contains("timenav exec:"), "{}: {note}", running.row.name);
        let name = running.row.name;
        lines.push((name, format!("| {name} | {minutely} | {after} | {hourly} | {jumped} | {after_jump} |")));
    }
    all.into_iter().for_each(Running::end);
    let faked = if is_update() { faked(&rows, folder.path()) } else { vec![String::new(); rows.len()] };
    let tried = rows.iter().zip(faked).filter(|(row, _)| row.command.is_some());
    let lines = lines.into_iter().zip(tried).map(|((name, line), (_, faked))| (name, format!("{line} {faked} |")));
    check_page(&rows.iter().map(|row| row.name).collect::<Vec<_>>(), &lines.collect::<Vec<_>>());
    service.audit();
}
