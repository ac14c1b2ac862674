//! `--via preload`: if a system allows neither listeners nor tracing, programs load a library.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{DAY, PATH, Teller, children, compiled, file, is_installed, probe, processes, travel, under};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until;

const DENY: &str = include_str!("../../programs/deny.c");
const TELLER: &str = include_str!("../../programs/teller.c");
const WAITS: &str = include_str!("../../programs/waits.c");
/// The denials of a system with neither method: no listeners and no tracing.
const DENIED: [&str; 2] = ["listeners", "ptrace"];
const BECAUSE: &str = "timenav exec: programs get the clock from a preloaded library, because this system does not \
                       allow timenav to trace the programs that it starts (Operation not permitted); it does not reach \
                       programs that are statically linked, written in Go, or get privileges from their file\n";

/// A service, and the setup of a restricted system.
struct Bare {
    service: Service,
    deny: String,
    /// A private folder for preloaded files.
    place: TempDir,
    _compiled: TempDir,
}

impl Bare {
    /// `None` without a compiler.
    fn start() -> Option<Self> {
        let (compiled, deny) = compiled(DENY, &[])?;
        let service = Service::start();
        service.post("/v1/pause-time", &json!({}));
        travel(&service, DAY.0);
        Some(Self { service, deny, place: tempfile::tempdir().unwrap(), _compiled: compiled })
    }

    /// Returns the command that runs a program on the clock with these options, on a system that denies everything.
    fn with(&self, options: &[&str], program: &[&str]) -> Command {
        let mut inner = command(&self.service, &[&["exec"], options, &["--"], program].concat());
        inner.env("PATH", PATH).env("TMPDIR", self.place.path());
        under(&self.deny, &DENIED, &inner)
    }

    fn exec(&self, program: &[&str]) -> Command {
        self.with(&[], program)
    }

    /// Runs a program and returns its stdout.
    #[track_caller]
    fn done(&self, program: &[&str]) -> String {
        let (code, stdout, stderr) = run(&mut self.exec(program), "");
        assert_eq!((code, stderr.as_str()), (Some(0), BECAUSE), "{program:?}: {stdout}");
        stdout
    }

    /// Checks that no preloaded files are left after the programs have ended.
    fn end(self) {
        until("an empty folder", || (self.place.path().read_dir().unwrap().count() == 0).then_some(()));
        self.service.audit();
    }
}

fn pid(of: u32) -> Pid {
    Pid::from_raw(of.cast_signed()).unwrap()
}

#[test]
fn preloaded_programs_see_one_clock_in_every_call() {
    let Some(bare) = Bare::start() else { return };
    let seconds = DAY.1.to_string();
    let python = "from subprocess import run; import time; print(int(time.time()), flush=True)\n\
                  run(['date', '+%s'], env={'PATH': '/usr/bin:/bin'})";
    for (program, times) in [
        (&["date", "+%s"][..], 1),
        (&["sh", "-c", "date +%s; (date +%s; (date +%s)); exec date +%s"], 4),
        (&["env", "-i", "/bin/sh", "-c", "/bin/date +%s; exec env -i /bin/date +%s"], 2),
        (&["env", "LD_PRELOAD=", "date", "+%s"], 1),
        (&["sh", "-c", "unset LD_PRELOAD TIMENAV_CLOCK_PAGE; date +%s; env - date +%s"], 2),
        (&["python3", "-c", python], 2),
        (&["perl", "-e", "print time, qq(\\n); system 'date +%s'; exec 'date', '+%s'"], 3),
        (&["node", "-e", "console.log(Math.floor(Date.now() / 1000))"], 1),
    ] {
        if is_installed(program[0]) {
            let stdout = bare.done(program);
            assert!(stdout.ends_with(&format!("{seconds}\n").repeat(times - 1)), "{program:?}: {stdout}");
            assert_eq!(stdout.lines().filter(|line| **line == *seconds).count(), times, "{program:?}: {stdout}");
        }
    }
    if let Some((_folder, probe)) = probe(&[]) {
        assert_eq!(bare.done(&[&probe, "readings", &seconds]), "done\n");
        assert_eq!(bare.done(&[&probe, "starts", &seconds]), "done\n".repeat(8));
    }
    // A library that is opened later.
    let library = "#include <time.h>\nlong shown(void) { return time(0); }";
    if let (Some((_folder, library)), true) = (compiled(library, &["-shared", "-fPIC"]), is_installed("python3")) {
        let script = format!("import ctypes; print(ctypes.CDLL({library:?}).shown())");
        assert_eq!(bare.done(&["python3", "-c", &script]), format!("{seconds}\n"));
    }
    // As many concurrent processes as in a build.
    let many = "i=0; while [ $i -lt 100 ]; do date +%s; i=$((i+1)); done";
    let in_parallel = format!("for j in 1 2 3 4; do ({many}) & done; wait");
    assert_eq!(bare.done(&["sh", "-c", &in_parallel]), format!("{seconds}\n").repeat(400));
    bare.end();
}

/// A static program has no page of its own, and would otherwise use a second clock inside the first.
#[test]
fn nested_run_without_the_library_is_rejected() {
    let Some(bare) = Bare::start() else { return };
    let page = file(&bare.place, "timenav-clock");
    for (is_there, code) in [(false, 0), (true, 1)] {
        if is_there {
            std::fs::write(&page, "").unwrap();
        }
        let (found, _, stderr) = run(bare.exec(&["true"]).env("TIMENAV_CLOCK_PAGE", &page), "");
        assert_eq!(found, Some(code), "{stderr}");
        assert_eq!(stderr.contains("a program can be on one clock only"), is_there, "{stderr}");
    }
    std::fs::remove_file(page).unwrap();
    bare.end();
}

#[test]
fn static_programs_are_reported_and_rejected_in_strict_mode() {
    let (Some(bare), Some((folder, fixed))) = (Bare::start(), compiled(TELLER, &["-static"])) else { return };
    let child = format!("echo | {fixed} | grep -c {}", DAY.1);
    let (code, stdout, stderr) = run(&mut bare.exec(&["sh", "-c", &child]), "");
    let output = format!("`{fixed}` runs on host time: it is statically linked, and loads no library\n");
    assert_eq!((code, stdout.as_str()), (Some(1), "0\n"), "it has host time");
    assert_eq!(stderr, format!("{BECAUSE}timenav exec: {output}"));
    let (code, _, stderr) = run(&mut bare.exec(&[&fixed]), "");
    assert_eq!((code, stderr), (Some(5), format!("{BECAUSE}timenav exec: {output}")), "as the first program");
    for program in [&[&fixed[..]][..], &["sh", "-c", &format!("exec {fixed}")], &["env", &fixed]] {
        let (code, stdout, stderr) = run(&mut bare.with(&["--strict"], program), "");
        assert_eq!((code, stdout.as_str()), (Some(126), ""), "{program:?}: {stderr}");
        assert!(stderr.contains("was not started: it is statically linked"), "{program:?}: {stderr}");
    }
    assert_eq!(run(&mut bare.with(&["--strict"], &["date", "+%s"]), "").1, format!("{}\n", DAY.1));
    // A set-id program; a filter like that of `deny` removes its privileges everywhere.
    if rustix::process::geteuid().is_root() {
        let date = file(&folder, "date");
        std::fs::copy("/bin/date", &date).unwrap();
        std::os::unix::fs::chown(&date, Some(65_534), None).unwrap();
        std::fs::set_permissions(&date, std::fs::Permissions::from_mode(0o4755)).unwrap();
        let date = date.to_str().unwrap();
        let options = ["exec", "--via", "preload", "--strict", "--", "sh", "-c", &format!("{date} +%Y; echo $?")];
        let (code, stdout, stderr) = run(command(&bare.service, &options).env("PATH", PATH), "");
        assert_eq!((code, stdout.as_str()), (Some(0), "126\n"), "{stderr}");
        assert!(stderr.contains(&format!("`{date}` was not started: its file grants privileges")), "{stderr}");
    }
    for (program, kind, clock) in [("date", "dynamic", "virtual"), (&fixed, "static", "host")] {
        let (code, stdout, stderr) = run(&mut bare.with(&["--inspect", "--json"], &[program]), "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&report["via"], &report["kind"]), (&json!("preload"), &json!(kind)), "{report}");
        assert_eq!((&report["clock"], &report["ways"][2]["is_possible"]), (&json!(clock), &json!(true)), "{report}");
    }
    bare.end();
}

#[test]
fn waits_of_preloaded_programs_follow_the_clock() {
    let Some(bare) = Bare::start() else { return };
    let (Some((_waits, waits)), Some((_probe, probe))) = (compiled(WAITS, &[]), probe(&[])) else { return };
    let (later, far) = ((DAY.1 + 3600).to_string(), (DAY.1 + 86_400).to_string());
    let service = &bare.service;
    // A timer descriptor is re-armed by the supervisor, which has a copy of it.
    for (program, how, first) in
        [(&probe, "sleep", "sleeping"), (&probe, "timer", "sleeping"), (&waits, "until", "waiting")]
    {
        travel(service, DAY.0);
        let mut waiting = Teller::of(bare.exec(&[program, how, &later]).stderr(Stdio::null()));
        assert_eq!(waiting.line(), format!("{first}\n"));
        service.post("/v1/fast-forward", &json!({ "duration": "30m" }));
        service.post("/v1/rewind", &json!({ "duration": "10m" }));
        assert!(waiting.child.try_wait().unwrap().is_none(), "it is too early for {how}");
        service.post("/v1/fast-forward", &json!({ "duration": "2h" }));
        let expected = if how == "until" { "done\n".to_owned() } else { format!("0 at {later}\n") };
        assert_eq!(waiting.line(), expected, "{how}");
        assert!(waiting.child.wait().unwrap().success());
    }
    for day in [DAY.0, "1985-10-26T01:21:00Z"] {
        travel(service, day);
        for change in ["/v1/pause-time", "/v1/resume-time"] {
            service.post(change, &json!({}));
            assert_eq!(bare.done(&["timeout", "120", &waits, "length"]), "waiting\ndone\n", "{day} {change}");
        }
        service.post("/v1/pause-time", &json!({}));
    }
    travel(service, DAY.0);
    assert_eq!(bare.done(&["timeout", "120", &waits, "ends", &far, "library"]), "done\n");
    let mut exchange = Teller::of(bare.exec(&["timeout", "120", &waits, "exchange", "2000"]).stderr(Stdio::null()));
    for to in ["2041-01-01T00:00:00Z", "1969-07-20T20:17:40Z", DAY.0] {
        travel(service, to);
    }
    assert_eq!(exchange.line(), "2000 of 2000\n", "no wait is lost beside changes of the clock");
    assert!(exchange.child.wait().unwrap().success());
    // At this rate an hour takes a second.
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    for (program, how, first) in [(&probe, "sleep", "sleeping"), (&probe, "timer", "sleeping")] {
        travel(service, DAY.0);
        let later = (DAY.1 + 3 * 3600).to_string();
        assert_eq!(bare.done(&[program, how, &later]), format!("{first}\n0 at {later}\n"));
    }
    travel(service, DAY.0);
    let later = (DAY.1 + 3 * 3600).to_string();
    let stdout = bare.done(&["timeout", "120", &waits, "timer", &later]);
    assert_eq!(stdout, format!("waiting\nat {later}\n"), "a timer of the kernel");
    bare.end();
}

#[test]
fn preloaded_run_exits_with_its_program_status() {
    let Some(bare) = Bare::start() else { return };
    for (script, code, signal) in
        [("exit 7", Some(7), None), ("kill -TERM $$", None, Some(15)), ("kill -KILL $$", None, Some(9))]
    {
        let status = bare.exec(&["sh", "-c", script]).stderr(Stdio::null()).status().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
    }
    let (code, _, stderr) = run(&mut bare.exec(&["no-such-program"]), "");
    assert_eq!(code, Some(127), "{stderr}");
    let script = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let program = ["env", "--default-signal=TERM", "sh", "-c", script];
    let mut teller = Teller::of(bare.exec(&program).stderr(Stdio::null()));
    assert_eq!(teller.line(), "ready\n");
    kill_process(pid(teller.child.id()), Signal::TERM).unwrap();
    assert_eq!(teller.line(), "caught\n");
    assert_eq!(teller.child.wait().unwrap().code(), Some(9));
    // A daemon keeps its clock and the preloaded files after the run has ended.
    let report = file(&bare.place, "told");
    let wait = format!("until [ $(date +%s) = 2240611200 ]; do sleep 0.02; done; echo reached > {}", report.display());
    let script = format!("({wait}) </dev/null >/dev/null 2>&1 & echo first");
    assert_eq!(bare.done(&["sh", "-c", &script]), "first\n");
    travel(&bare.service, "2041-01-01T00:00:00Z");
    until("a change of the daemon's clock", || report.exists().then_some(()));
    std::fs::remove_file(report).unwrap();
    bare.end();
}

/// Without a supervisor, programs and their children keep the last clock.
#[test]
fn preloaded_programs_outlive_the_supervisor() {
    let Some(bare) = Bare::start() else { return };
    let script = "echo ready; read -r x; printf '%(%s)T\\n' -1; /bin/date +%s; exit 3";
    let mut teller = Teller::of(bare.exec(&["bash", "-c", script]).stderr(Stdio::piped()));
    assert_eq!(teller.line(), "ready\n");
    let front = teller.child.id();
    let supervisor = children(front)[0];
    let program = children(supervisor)[0];
    let look = || run(&mut bare.with(&["--inspect", "--json"], &[&program.to_string()]), "");
    let report: Value = serde_json::from_str(&look().1).unwrap();
    assert_eq!((&report["clock"], &report["is_confirmed"]), (&json!("virtual"), &json!(true)), "{report}");
    assert_eq!((&report["supervisor"], &report["timeline_id"]), (&json!(supervisor), &json!("main")), "{report}");
    // A nested run is rejected, as with every method.
    let (code, _, stderr) = run(&mut bare.exec(&[env!("CARGO_BIN_EXE_timenav"), "exec", "date"]), "");
    assert_eq!(code, Some(1));
    assert!(stderr.contains("a program can be on one clock only"), "{stderr}");
    kill_process(pid(supervisor), Signal::KILL).unwrap();
    until("a child of the front", || children(front).contains(&program).then_some(()));
    assert!(look().1.contains("which is no longer updated"));
    teller.questions.write_all(b"?\n").unwrap();
    let stored = format!("{}\n", DAY.1);
    assert_eq!((teller.line(), teller.line()), (stored.clone(), stored));
    let output = teller.child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("programs and those that they start keep the last clock"), "{stderr}");
    assert!(processes().iter().all(|(pid, ..)| *pid != program), "nothing is left");
    // Its folder stays for programs that may still use it.
    let left: Vec<_> = bare.place.path().read_dir().unwrap().flatten().collect();
    assert!(left.len() == 1 && Path::new(&left[0].path()).join("libtimenav.so").exists(), "{left:?}");
    std::fs::remove_dir_all(left[0].path()).unwrap();
    bare.end();
}
