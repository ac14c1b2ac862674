//! `timenav exec`: programs in any language on a virtual clock.

mod agreeing;
mod builds;
mod chromium;
mod corners;
mod databases;
mod demo;
mod ends;
mod faults;
mod following;
mod host_time;
mod killed;
mod matrix;
mod preloaded;
mod rare_starts;
mod robust;
mod sandboxed;
mod schedulers;
mod sleeps;
mod starts;
mod sweeps;
mod traced;
mod waits;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

pub(crate) use agreeing::between;

use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::try_until;

/// The search path for programs, independent of the environment of the tests.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// A day in the future, and its Unix time in seconds.
const DAY: (&str, i64) = ("2031-05-06T07:08:09Z", 1_935_817_689);

/// Errors of `timenav exec` if the system allows none of its methods, or not the requested one.
const REFUSALS: [&str; 3] = [
    "this system does not allow timenav to trace",
    "this system does not allow seccomp listeners",
    "programs cannot load the clock library from any folder",
];

/// Returns the notice of `timenav exec` for a method, which is empty for the best one; prints a message and returns
/// `None` if the system does not allow it.
pub(crate) fn notice(service: &Service, via: &str) -> Option<String> {
    let (code, _, stderr) = run(command(service, &["exec", "--via", via, "--", "true"]).env("PATH", PATH), "");
    if code == Some(0) {
        return Some(stderr);
    }
    assert!(REFUSALS.iter().any(|refusal| stderr.contains(refusal)), "{code:?} {stderr}");
    eprintln!("skipped: {stderr}");
    None
}

/// Returns a service whose clock is paused at [`DAY`], or `None` if the method is not available.
fn service_by(via: &str) -> Option<Service> {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    travel(&service, DAY.0);
    if notice(&service, via).is_none() {
        service.audit();
        return None;
    }
    Some(service)
}

/// Returns a service whose clock is paused at [`DAY`], or `None` if the best method is not available.
fn service() -> Option<Service> {
    service_by("exec")
}

fn travel(service: &Service, to: &str) {
    service.post("/v1/travel", &json!({ "destination_time": to }));
}

/// Returns the command that runs a program on the clock.
fn exec(service: &Service, program: &[&str]) -> Command {
    let mut command = command(service, &[&["exec", "--"], program].concat());
    command.env("PATH", PATH);
    command
}

/// Returns a command under a filter that denies system calls, like the profile of a container. `deny` is a compiled
/// `deny.c`.
fn under(deny: &str, denied: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(deny);
    command.args(denied).arg("--").arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

/// Runs a program on the clock with an empty stderr, and returns its stdout.
#[track_caller]
fn done(service: &Service, program: &[&str]) -> String {
    let (code, stdout, stderr) = run(&mut exec(service, program), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{program:?}: {stdout}");
    stdout
}

/// Returns whether a program is installed; prints a message if not.
fn is_installed(program: &str) -> bool {
    let is_there = PATH.split(':').any(|folder| Path::new(folder).join(program).exists());
    if !is_there {
        eprintln!("skipped for {program}: it is not installed");
    }
    is_there
}

/// Returns whether programs may have mounts of their own, so that a daemon can run without the files of the machine.
pub(crate) fn has_mounts() -> bool {
    let mut mount = Command::new("unshare");
    mount.args(["--mount", "mount", "-t", "tmpfs", "none", "/run"]).stdin(Stdio::null()).stderr(Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}

/// Compiles the probe if there is a compiler. Returns its folder too.
fn probe(flags: &[&str]) -> Option<(TempDir, String)> {
    compiled(include_str!("../programs/probe.c"), flags)
}

/// Compiles a program if there is a compiler. Returns its folder too.
fn compiled(text: &str, flags: &[&str]) -> Option<(TempDir, String)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("program.c"), folder.path().join("program"));
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("gcc");
    compiler.args(["-O1", "-Wall", "-pthread"]).args(flags).arg("-o").arg(&program).arg(&source);
    match compiler.stderr(Stdio::null()).status() {
        Ok(status) if status.success() => {
            let path = program.to_str().unwrap().to_owned();
            Some((folder, path))
        }
        other => {
            eprintln!("skipped for gcc {flags:?}: {other:?}");
            None
        }
    }
}

/// A shell on the clock that prints the time on request.
struct Teller {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Teller {
    fn start(service: &Service, stderr: Stdio) -> Self {
        let script = "while read -r word; do printf '%(%s)T\\n' -1; done; exit 5";
        Self::of(exec(service, &["bash", "-c", script]).stderr(stderr))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (questions, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, questions, answers }
    }

    fn ask(&mut self) -> i64 {
        self.questions.write_all(b"?\n").unwrap();
        self.line().trim_end().parse().unwrap()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    /// Repeats the request until the output is as expected.
    #[track_caller]
    fn ask_until(&mut self, what: &str, is_right: impl Fn(i64) -> bool) -> i64 {
        let mut last = 0;
        let found = try_until(|| {
            last = self.ask();
            Some(last).filter(|answer| is_right(*answer))
        });
        found.unwrap_or_else(|| panic!("waited in vain for {what}: the program still shows {last}"))
    }

    /// Ends the shell, which exits with its own code.
    fn end(self) {
        let Self { mut child, questions, .. } = self;
        drop(questions);
        assert_eq!(child.wait().unwrap().code(), Some(5));
    }
}

/// Returns id, state and parent of all processes.
fn processes() -> Vec<(u32, char, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let mut fields = text[text.rfind(')').unwrap() + 1..].split_whitespace();
        let state = fields.next().and_then(|word| word.chars().next()).unwrap_or('?');
        found.push((pid, state, fields.next().and_then(|word| word.parse().ok()).unwrap_or(0)));
    }
    found
}

/// Returns the children of a process.
fn children(parent: u32) -> Vec<u32> {
    processes().into_iter().filter(|(_, _, of)| *of == parent).map(|(pid, ..)| pid).collect()
}

fn file(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

#[test]
fn programs_follow_each_clock_change() {
    let Some(service) = service() else { return };
    let mut teller = Teller::start(&service, Stdio::inherit());
    assert_eq!(teller.ask(), DAY.1);
    for (to, seconds) in [
        ("2041-01-01T00:00:00Z", 2_240_611_200),
        ("1969-07-20T20:17:40Z", -14_182_940),
        ("2000-02-29T12:00:00Z", 951_825_600),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
        (DAY.0, DAY.1),
    ] {
        travel(&service, to);
        teller.ask_until(to, |answer| answer == seconds);
    }
    // At these rates some virtual time passes in any host time.
    for rate in [3600.0, 0.5] {
        service.post("/v1/set-rate", &json!({ "rate": rate }));
        service.post("/v1/resume-time", &json!({}));
        let before = teller.ask();
        teller.ask_until("a clock that runs", |answer| answer > before);
        service.post("/v1/pause-time", &json!({}));
        let paused = service.get("/v1/clock", &[])["current_time"].as_str().unwrap().to_owned();
        travel(&service, &paused);
        // Until it has applied the pause, it is ahead.
        let paused = matrix::seconds_of(&paused);
        teller.ask_until("a clock that stands", |answer| answer == paused);
        assert!(paused >= before, "{paused} {before}");
    }
    teller.end();
    service.audit();
}

#[test]
fn sleeps_until_a_date_end_when_clock_reaches_it() {
    let (Some(service), Some((_folder, probe))) = (service(), probe(&[])) else { return };
    for way in ["sleep", "timer"] {
        travel(&service, DAY.0);
        let later = (DAY.1 + 3600).to_string();
        let mut sleeper = Teller::of(&mut exec(&service, &[&probe, way, &later]));
        assert_eq!(sleeper.line(), "sleeping\n");
        service.post("/v1/fast-forward", &json!({ "duration": "30m" }));
        assert!(sleeper.child.try_wait().unwrap().is_none(), "it is half an hour too early");
        service.post("/v1/rewind", &json!({ "duration": "10m" }));
        service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
        assert_eq!(sleeper.line(), format!("0 at {later}\n"), "{way}");
        assert!(sleeper.child.wait().unwrap().success());
        // At this rate an hour takes a second.
        service.post("/v1/set-rate", &json!({ "rate": 3600 }));
        service.post("/v1/resume-time", &json!({}));
        let later = (DAY.1 + 3 * 3600).to_string();
        assert_eq!(done(&service, &[&probe, way, &later]), format!("sleeping\n0 at {later}\n"), "{way}");
        // A wait until a past time ends at once.
        assert_eq!(done(&service, &[&probe, way, "5"]), "sleeping\n0 at 5\n", "{way}");
        service.post("/v1/pause-time", &json!({}));
    }
    service.audit();
}
