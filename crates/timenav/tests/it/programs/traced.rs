//! `--via trace`: on systems without seccomp listeners, or without any filters.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{DAY, PATH, Teller, children, compiled, exec, file, probe, processes, service_by, travel, under};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until;

const DENY: &str = include_str!("../../programs/deny.c");
const WAITS: &str = include_str!("../../programs/waits.c");
/// What a system denies, so that programs are traced with a filter, and without one.
const DENIED: [&str; 2] = ["listeners", "filters"];

/// Returns the command that runs a program on the clock, traced as on a system with these denials.
fn traced(service: &Service, deny: &str, denied: &[&str], program: &[&str]) -> Command {
    under(deny, denied, &exec(service, program))
}

/// Runs a traced program and returns its stdout.
#[track_caller]
fn done(service: &Service, deny: &str, denied: &[&str], program: &[&str]) -> String {
    let (code, stdout, stderr) = run(&mut traced(service, deny, denied, program), "");
    assert_eq!(code, Some(0), "{denied:?} {program:?}: {stdout}{stderr}");
    assert!(stderr.contains("programs are traced, because this system has no seccomp listener"), "{stderr}");
    assert!(stderr.contains("debuggers do not work in them") && stderr.lines().count() == 1, "{stderr}");
    stdout
}

fn pid(of: u32) -> Pid {
    Pid::from_raw(of.cast_signed()).unwrap()
}

#[test]
fn traced_programs_see_one_clock_in_every_call() {
    let (Some(service), Some((_folder, deny))) = (service_by("trace"), compiled(DENY, &[])) else { return };
    let seconds = DAY.1.to_string();
    let script = "date +%s; (date +%s; (date +%s)); exec date +%s";
    for denied in [&["listeners"][..], &["filters"], &["listeners", "pidfd_getfd"], &["filters", "pidfd_getfd"]] {
        assert_eq!(
            done(&service, &deny, denied, &["sh", "-c", script]),
            format!("{seconds}\n").repeat(4),
            "{denied:?}"
        );
        for flags in [&[][..], &["-static"]] {
            let Some((_folder, probe)) = probe(flags) else { continue };
            let stdout = done(&service, &deny, denied, &[&probe, "starts", &seconds]);
            assert_eq!(stdout, "done\n".repeat(8), "{denied:?} {flags:?}");
        }
    }
    let many = "i=0; while [ $i -lt 50 ]; do date +%s; i=$((i+1)); done";
    let in_parallel = format!("for j in 1 2 3 4; do ({many}) & done; wait");
    let stdout = done(&service, &deny, &["listeners"], &["sh", "-c", &in_parallel]);
    assert_eq!(stdout, format!("{seconds}\n").repeat(200));
    // By explicit choice, and programs that cannot be put on the clock.
    let chosen = |words: &[&str]| {
        let words = [&["exec", "--via", "trace"], words].concat();
        run(command(&service, &words).env("PATH", PATH), "")
    };
    let (code, stdout, stderr) = chosen(&["--", "date", "+%s"]);
    assert_eq!((code, stdout), (Some(0), format!("{seconds}\n")));
    assert_eq!(stderr, "timenav exec: programs are traced; debuggers do not work in them\n");
    service.audit();
}

#[test]
fn unavailable_exec_methods_are_reported_with_a_reason() {
    let (Some(service), Some((_folder, deny))) = (service_by("trace"), compiled(DENY, &[])) else { return };
    let reasons = |denied: &[&str], words: &[&str]| {
        let mut inner = command(&service, &[&["exec"], words].concat());
        run(&mut under(&deny, denied, inner.env("PATH", PATH)), "")
    };
    for (denied, words, expected) in [
        (&["ptrace"][..], &["--via", "exec", "--", "date"][..], "--cap-add SYS_PTRACE"),
        (&["ptrace"], &["--via", "trace", "--", "date"], "(ptrace: Operation not permitted)"),
        (&["listeners"], &["--via", "exec", "--", "date"], "leave out --via to trace programs instead"),
    ] {
        let (code, stdout, stderr) = reasons(denied, words);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    for (denied, via, clock) in [
        ("listeners", json!("trace"), "virtual"),
        ("filters", json!("trace"), "virtual"),
        ("ptrace", json!("preload"), "virtual"),
    ] {
        let (code, stdout, stderr) = reasons(&[denied], &["--inspect", "--json", "--", "date"]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&report["via"], &report["clock"]), (&via, &clock.into()), "{denied}: {report}");
        assert_eq!(report["ways"][0]["is_possible"], false, "{denied}: {report}");
    }
    service.audit();
}

#[test]
fn traced_waits_end_by_the_clock_and_by_signals() {
    let (Some(service), Some((_folder, deny))) = (service_by("trace"), compiled(DENY, &[])) else { return };
    let (Some((_waits, waits)), Some((_probe, probe))) = (compiled(WAITS, &[]), probe(&[])) else { return };
    let (later, far) = ((DAY.1 + 3600).to_string(), (DAY.1 + 86_400).to_string());
    for denied in DENIED.map(|denied| [denied]) {
        for (program, how, first) in
            [(&probe, "sleep", "sleeping"), (&probe, "timer", "sleeping"), (&waits, "until", "waiting")]
        {
            travel(&service, DAY.0);
            let mut waiting = Teller::of(&mut traced(&service, &deny, &denied, &[program, how, &later]));
            assert_eq!(waiting.line(), format!("{first}\n"), "{denied:?}");
            service.post("/v1/fast-forward", &json!({ "duration": "30m" }));
            assert!(waiting.child.try_wait().unwrap().is_none(), "it is too early for {how}");
            service.post("/v1/fast-forward", &json!({ "duration": "2h" }));
            let expected = if how == "until" { "done\n".to_owned() } else { format!("0 at {later}\n") };
            assert_eq!(waiting.line(), expected, "{denied:?} {how}");
            assert!(waiting.child.wait().unwrap().success());
        }
        travel(&service, DAY.0);
        for words in [&["length"][..], &["ends", &far]] {
            let program = [&["timeout", "120", &waits], words].concat();
            assert!(done(&service, &deny, &denied, &program).ends_with("done\n"), "{denied:?} {words:?}");
        }
        // A kernel timer waits for the host time that is left when it is set: at this rate, a second for an hour.
        service.post("/v1/set-rate", &json!({ "rate": 3600 }));
        service.post("/v1/resume-time", &json!({}));
        let date = (DAY.1 + 3 * 3600).to_string();
        let stdout = done(&service, &deny, &denied, &["timeout", "120", &waits, "timer", &date]);
        assert_eq!(stdout, format!("waiting\nat {date}\n"), "{denied:?}");
        service.post("/v1/pause-time", &json!({}));
        travel(&service, DAY.0);
        // A thread that sleeps until a date is not stopped: signals reach it.
        let mut sleeper = Teller::of(&mut traced(&service, &deny, &denied, &[&probe, "sleep", &far]));
        assert_eq!(sleeper.line(), "sleeping\n");
        kill_process(pid(sleeper.child.id()), Signal::TERM).unwrap();
        assert_eq!(sleeper.child.wait().unwrap().signal(), Some(15), "{denied:?}");
    }
    service.audit();
}

#[test]
fn traced_run_exits_with_its_program_status() {
    let (Some(service), Some((folder, deny))) = (service_by("trace"), compiled(DENY, &[])) else { return };
    for denied in DENIED.map(|denied| [denied]) {
        for (script, code, signal) in
            [("exit 7", Some(7), None), ("kill -TERM $$", None, Some(15)), ("kill -KILL $$", None, Some(9))]
        {
            let mut command = traced(&service, &deny, &denied, &["sh", "-c", script]);
            let status = command.stderr(Stdio::null()).status().unwrap();
            assert_eq!((status.code(), status.signal()), (code, signal), "{denied:?} {script}");
        }
        let (code, _, stderr) = run(&mut traced(&service, &deny, &denied, &["no-such-program"]), "");
        assert_eq!(code, Some(127), "{stderr}");
        signals_and_stops_are_those_of_the_program(&service, &deny, &denied);
        // A daemon keeps its clock after the run has ended.
        let report = file(&folder, denied[0]);
        let wait =
            format!("until [ $(date +%s) = 2240611200 ]; do sleep 0.02; done; echo reached > {}", report.display());
        let script = format!("({wait}) </dev/null >/dev/null 2>&1 & echo first");
        assert_eq!(done(&service, &deny, &denied, &["sh", "-c", &script]), "first\n");
        travel(&service, "2041-01-01T00:00:00Z");
        until("a change of the daemon's clock", || report.exists().then_some(()));
        travel(&service, DAY.0);
        nothing_is_left_stopped(&service, &deny, &denied);
    }
    service.audit();
}

fn signals_and_stops_are_those_of_the_program(service: &Service, deny: &str, denied: &[&str]) {
    let script = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let program = ["env", "--default-signal=TERM", "sh", "-c", script];
    let mut teller = Teller::of(traced(service, deny, denied, &program).stderr(Stdio::null()));
    assert_eq!(teller.line(), "ready\n");
    let front = teller.child.id();
    let program = children(children(front)[0])[0];
    let state = |of: u32| processes().into_iter().find(|(pid, ..)| *pid == of).map(|(_, state, _)| state);
    kill_process(pid(program), Signal::STOP).unwrap();
    // To a tracer's child, a signal stop looks like a tracing stop.
    until("a stopped program", || matches!(state(program), Some('t' | 'T')).then_some(()));
    kill_process(pid(program), Signal::CONT).unwrap();
    until("a program that goes on", || (!matches!(state(program), Some('t' | 'T'))).then_some(()));
    kill_process(pid(front), Signal::TERM).unwrap();
    assert_eq!(teller.line(), "caught\n", "{denied:?}");
    assert_eq!(teller.child.wait().unwrap().code(), Some(9));
}

/// With a filter, programs keep the last clock and start no others; without one they end.
fn nothing_is_left_stopped(service: &Service, deny: &str, denied: &[&str]) {
    let script = "echo ready; read -r x; printf '%(%s)T\\n' -1; /bin/date; echo $?; exit 3";
    let mut command = traced(service, deny, denied, &["bash", "-c", script]);
    let mut teller = Teller::of(command.stderr(Stdio::piped()));
    assert_eq!(teller.line(), "ready\n");
    let front = teller.child.id();
    let supervisor = children(front)[0];
    let program = children(supervisor)[0];
    kill_process(pid(supervisor), Signal::KILL).unwrap();
    if denied == ["filters"] {
        let output = teller.child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "it ends with the supervisor");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("the supervisor has ended, and the programs with it"), "{stderr}");
    } else {
        until("a child of the front", || children(front).contains(&program).then_some(()));
        teller.questions.write_all(b"?\n").unwrap();
        assert_eq!(teller.line(), format!("{}\n", DAY.1), "it goes on with the last clock");
        assert_ne!(teller.line(), "0\n", "what it starts fails, rather than running on host time");
        let output = teller.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
    }
    assert!(processes().iter().all(|(pid, ..)| *pid != program), "nothing is left");
}
