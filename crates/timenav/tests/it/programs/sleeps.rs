//! `exec --sleeps virtual`: sleeps, timeouts and monotonic clocks follow the virtual clock.

use std::fmt::Write as _;
use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{DAY, PATH, REFUSALS, Teller, compiled, is_installed, notice, service, travel};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::try_until;

const SOURCE: &str = include_str!("../../programs/sleeps.c");
const WAYS: [&str; 2] = ["exec", "trace"];
const PAUSED: &str = "timenav exec: the clock of `main` is paused; sleeps wait until it resumes or moves\n";
const GO: &str = include_str!("../../programs/sleeper.go");

/// Returns the command that runs a program with virtual sleeps.
fn sleeping(service: &Service, via: &str, options: &[&str], program: &[&str]) -> Command {
    let words = [&["exec", "--via", via, "--sleeps", "virtual"], options, &["--"], program].concat();
    let mut command = command(service, &words);
    command.env("PATH", PATH).stderr(Stdio::null());
    command
}

fn forward(service: &Service, duration: &str) {
    service.post("/v1/fast-forward", &json!({ "duration": duration }));
}

/// Moves the clock forward again and again until a program has ended, and returns its output. Waits that begin after a
/// jump are ended by the next one.
fn forwarded(service: &Service, mut program: Teller) -> String {
    let ended = try_until(|| {
        forward(service, "1h");
        program.child.try_wait().unwrap()
    });
    assert!(ended.is_some(), "a program whose waits are over still waits:\n{}", system_calls());
    let mut output = String::new();
    program.answers.read_to_string(&mut output).unwrap();
    output
}

/// Returns the system call of each thread of the test programs that run.
fn system_calls() -> String {
    let mut calls = String::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |path: &str| std::fs::read_to_string(process.path().join(path)).unwrap_or_default();
        if !matches!(read("comm").trim(), "program" | "timenav") {
            continue;
        }
        for thread in std::fs::read_dir(process.path().join("task")).into_iter().flatten().flatten() {
            let id = thread.file_name();
            let of_thread = |name: &str| read(&format!("task/{}/{name}", id.display()));
            let (comm, call) = (of_thread("comm"), of_thread("syscall"));
            let _ = writeln!(calls, "{} {} {}", id.display(), comm.trim(), call.trim());
        }
    }
    calls
}

#[test]
fn waits_of_all_kinds_are_shorter_at_a_higher_rate() {
    let Some(service) = service() else { return };
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    for via in WAYS {
        if notice(&service, via).is_none() {
            continue;
        }
        for flags in [&[][..], &["-static"]] {
            let Some((_folder, sleeps)) = compiled(SOURCE, flags) else { continue };
            // Natively this takes two hours.
            let (code, stdout, _) = run(&mut sleeping(&service, via, &[], &[&sleeps, "all", "7200"]), "");
            assert_eq!((code, stdout.as_str()), (Some(0), "waiting\ndone\n"), "{via} {flags:?}");
            let (code, stdout, _) = run(&mut sleeping(&service, via, &[], &[&sleeps, "ticks", "4", "900"]), "");
            assert_eq!((code, stdout.as_str()), (Some(0), "ticking\ndone\n"), "{via} {flags:?}");
        }
    }
    service.audit();
}

#[test]
fn jumps_forward_end_waits_and_jumps_back_do_not_prolong_them() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    for via in WAYS {
        if notice(&service, via).is_none() {
            continue;
        }
        for words in [&["all", "7200"][..], &["ticks", "3", "7200"]] {
            travel(&service, DAY.0);
            let program = [&[sleeps.as_str()], words].concat();
            let mut waiting = Teller::of(&mut sleeping(&service, via, &[], &program));
            assert!(waiting.line().ends_with("ing\n"));
            forward(&service, "30m");
            service.post("/v1/rewind", &json!({ "duration": "10d" }));
            assert!(waiting.child.try_wait().unwrap().is_none(), "it is too early for {words:?} by {via}");
            assert_eq!(forwarded(&service, waiting), "done\n", "{words:?} by {via}");
        }
    }
    service.audit();
}

#[test]
fn timers_set_during_clock_changes_expire() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    for via in WAYS {
        if notice(&service, via).is_none() {
            continue;
        }
        travel(&service, DAY.0);
        let program = [sleeps.as_str(), "timers", "100", "3600"];
        let mut setting = Teller::of(&mut sleeping(&service, via, &[], &program));
        assert_eq!(setting.line(), "setting\n");
        assert_eq!(forwarded(&service, setting), "done\n", "{via}");
    }
    service.audit();
}

#[test]
fn pause_holds_a_sleep_and_resuming_continues_it() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    for via in WAYS {
        if notice(&service, via).is_none() {
            continue;
        }
        service.post("/v1/set-rate", &json!({ "rate": 0.001 }));
        let mut waiting = Teller::of(&mut sleeping(&service, via, &[], &[&sleeps, "one", "3600"]));
        assert_eq!(waiting.line(), "sleeping\n");
        service.post("/v1/resume-time", &json!({}));
        service.post("/v1/pause-time", &json!({}));
        assert!(waiting.child.try_wait().unwrap().is_none());
        service.post("/v1/set-rate", &json!({ "rate": 10_000 }));
        assert!(waiting.child.try_wait().unwrap().is_none());
        service.post("/v1/resume-time", &json!({}));
        let slept: i64 = waiting.line().trim().parse().unwrap();
        assert!(slept >= 3600, "{slept} by {via}");
        assert!(waiting.child.wait().unwrap().success());
        service.post("/v1/pause-time", &json!({}));
        travel(&service, DAY.0);
    }
    service.audit();
}

#[test]
fn monotonic_clocks_follow_jumps_forward_and_never_go_back() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    let mut clocks = Teller::of(&mut sleeping(&service, "auto", &[], &[&sleeps, "clocks"]));
    assert_eq!(clocks.ask(), 0, "it is paused");
    forward(&service, "1h");
    clocks.ask_until("an hour more", |passed| passed == 3600);
    service.post("/v1/rewind", &json!({ "duration": "10d" }));
    assert_eq!(clocks.ask(), 0);
    forward(&service, "1d");
    clocks.ask_until("a day more", |passed| passed == 86_400);
    // Each change makes the clock faster or slower, or stops it.
    for rate in [3600.0, 0.5, 10_000.0, 1.0] {
        service.post("/v1/set-rate", &json!({ "rate": rate }));
        service.post("/v1/resume-time", &json!({}));
        for _ in 0..50 {
            assert!(clocks.ask() >= 0);
        }
        service.post("/v1/pause-time", &json!({}));
        for _ in 0..50 {
            assert!(clocks.ask() >= 0);
        }
    }
    drop(clocks.questions);
    assert!(clocks.child.wait().unwrap().success());
    service.audit();
}

#[test]
fn interrupted_waits_report_the_virtual_time_left() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    for rate in [1, 60] {
        service.post("/v1/set-rate", &json!({ "rate": rate }));
        service.post("/v1/resume-time", &json!({}));
        let (code, stdout, _) = run(&mut sleeping(&service, "auto", &[], &[&sleeps, "left", "3600"]), "");
        assert_eq!((code, stdout.as_str()), (Some(0), "-1 1 1\n-1 1 1\n1\n"), "{rate}");
        service.post("/v1/pause-time", &json!({}));
    }
    service.audit();
}

#[test]
fn short_timeouts_are_native_below_the_limit() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    // The clock is paused: a virtual sleep would not end.
    let native = ["--native-timeouts-below", "5s"];
    for words in [["one", "1"], ["all", "1"]] {
        let (code, stdout, _) = run(&mut sleeping(&service, "auto", &native, &[&sleeps, words[0], words[1]]), "");
        assert_eq!(code, Some(0), "{stdout}");
    }
    let mut waiting = Teller::of(&mut sleeping(&service, "auto", &native, &[&sleeps, "one", "3600"]));
    assert_eq!(waiting.line(), "sleeping\n");
    assert!(forwarded(&service, waiting).trim().parse::<i64>().unwrap() >= 3600);
    let (code, _, stderr) = run(&mut command(&service, &["exec", "--native-timeouts-below", "5s", "--", "true"]), "");
    assert_eq!(code, Some(1));
    assert!(stderr.contains("--native-timeouts-below needs --sleeps virtual"), "{stderr}");
    service.audit();
}

#[test]
fn virtual_sleeps_on_a_paused_clock_are_noted() {
    let Some(service) = service() else { return };
    let stderr = |options: &[&str]| {
        let words = [&["exec"], options, &["--", "true"]].concat();
        let (code, _, stderr) = run(command(&service, &words).env("PATH", PATH), "");
        assert_eq!(code, Some(0), "{stderr}");
        stderr
    };
    assert!(stderr(&["--sleeps", "virtual"]).contains(PAUSED));
    assert!(!stderr(&[]).contains("is paused"));
    service.post("/v1/resume-time", &json!({}));
    assert!(!stderr(&["--sleeps", "virtual"]).contains("is paused"));
    service.audit();
}

/// Runtimes sleep in their own ways, and measure it by the monotonic clock.
#[test]
fn runtimes_sleep_on_the_virtual_clock() {
    let Some(service) = service() else { return };
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let python = "import asyncio, threading, time, select, queue\n\
                  start = time.monotonic()\n\
                  time.sleep(3600)\n\
                  asyncio.run(asyncio.sleep(3600))\n\
                  threading.Event().wait(3600)\n\
                  threading.Thread(target=time.sleep, args=(3600,)).start()\n\
                  select.select([], [], [], 3600)\n\
                  try: queue.Queue().get(timeout=3600)\n\
                  except queue.Empty: pass\n\
                  print(time.monotonic() - start >= 18000)";
    let node = "const start = performance.now(); const begun = Date.now();\
                setTimeout(() => console.log(performance.now() - start >= 3599000 && Date.now() > begun), 3600000)";
    let perl = "$start = time; sleep 3600; select undef, undef, undef, 3600; $SIG{ALRM} = sub {}; alarm 3600; sleep; \
                print time - $start >= 10799 ? \"True\\n\" : \"False\\n\"";
    for (program, words, expected) in [
        ("sleep", &["86400"][..], ""),
        ("sh", &["-c", "sleep 43200; sleep 43200 & wait; echo True"], "True\n"),
        ("timeout", &["3600", "sleep", "86400"], ""),
        ("python3", &["-c", python], "True\n"),
        ("node", &["-e", node], "true\n"),
        ("perl", &["-e", perl], "True\n"),
    ] {
        if !is_installed(program) {
            continue;
        }
        let (code, stdout, _) = run(&mut sleeping(&service, "auto", &[], &[&[program], words].concat()), "");
        let expected_code = if program == "timeout" { 124 } else { 0 };
        assert_eq!((code, stdout.as_str()), (Some(expected_code), expected), "{program}");
    }
    service.audit();
}

#[test]
fn go_timers_follow_the_virtual_clock() {
    let Some(service) = service() else { return };
    if !is_installed("go") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("sleeper.go"), folder.path().join("sleeper"));
    std::fs::write(&source, GO).unwrap();
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).arg(&source).env("CGO_ENABLED", "0").env("HOME", folder.path());
    if !build.env("GOCACHE", folder.path().join("cache")).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped for go: it does not compile");
        return;
    }
    let program = program.to_str().unwrap();
    let waiting = Teller::of(&mut sleeping(&service, "auto", &[], &[program]));
    assert_eq!(forwarded(&service, waiting), "after\nticks\ncontext\n");
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let (code, stdout, _) = run(&mut sleeping(&service, "auto", &[], &[program]), "");
    assert_eq!((code, stdout.as_str()), (Some(0), "after\nticks\ncontext\n"));
    service.audit();
}

/// Signals and messages end waits while the clock changes, and none is lost.
#[test]
fn clock_changes_lose_no_messages_between_waiting_threads() {
    let (Some(service), Some((_folder, waits))) = (service(), compiled(include_str!("../../programs/waits.c"), &[]))
    else {
        return;
    };
    for via in WAYS {
        if notice(&service, via).is_none() {
            continue;
        }
        let mut exchange = Teller::of(&mut sleeping(&service, via, &[], &[&waits, "exchange", "2000"]));
        for to in ["2041-01-01T00:00:00Z", "1969-07-20T20:17:40Z", DAY.0].iter().cycle().take(30) {
            travel(&service, to);
        }
        assert_eq!(exchange.line(), "2000 of 2000\n", "{via}");
        assert!(exchange.child.wait().unwrap().success());
    }
    service.audit();
}

/// A signal can end a call after its report and before the thread is stopped. Then the next call is reported early.
#[test]
fn waits_ended_by_signals_are_not_reported_as_traced() {
    let (Some(service), Some((_folder, sleeps))) = (service(), compiled(SOURCE, &[])) else { return };
    for via in WAYS {
        let Some(notice) = notice(&service, via) else { continue };
        let (code, stdout, stderr) = run(&mut sleeping(&service, via, &[], &[&sleeps, "signals", "1000", "3600"]), "");
        assert_eq!((code, stdout.as_str(), stderr.replace(PAUSED, "")), (Some(0), "done\n", notice), "{via}");
    }
    service.audit();
}

#[test]
fn preloaded_libraries_unknown_options_and_timelines_are_rejected() {
    let Some(service) = service() else { return };
    let exec = |words: &[&str]| run(command(&service, &[&["exec"], words].concat()).env("PATH", PATH), "");
    let (code, _, stderr) = exec(&["--via", "preload", "--sleeps", "virtual", "--", "true"]);
    assert_eq!(code, Some(1), "{stderr}");
    let is_refused = stderr.contains("--sleeps virtual needs --via exec or --via trace");
    assert!(is_refused || REFUSALS.iter().any(|refusal| stderr.contains(refusal)), "{stderr}");
    for words in [&["--sleep", "virtual", "--", "date"][..], &["--no-such-option", "--", "date"], &["--nothing"]] {
        let (code, _, stderr) = exec(words);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(words[0]), "{stderr}");
    }
    let create = ["--timeline", "new-one", "--create", "--", "date", "-u", "+%Y"];
    let (code, _, stderr) = exec(&["--timeline", "new-one", "--", "date"]);
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("to create a new timeline, add --create"), "{stderr}");
    for _ in 0..2 {
        let (code, _, stderr) = exec(&create);
        assert_eq!(code, Some(0), "{stderr}");
    }
    // Options after the program are its own, and a hyphen may begin its name after `--`.
    assert_eq!(exec(&["date", "-u", "+%Y"]).1, "2031\n");
    assert_eq!(exec(&["--", "date", "--utc", "+%Y"]).1, "2031\n");
    let (code, _, stderr) = exec(&["--", "-no-such-program"]);
    assert_eq!(code, Some(127), "{stderr}");
    service.audit();
}

#[test]
fn shells_with_virtual_sleeps_start_programs_through_changes() {
    let Some(service) = service() else { return };
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60; date -u +%Y; done";
    let shell = Teller::of(&mut sleeping(&service, "auto", &[], &["bash", "-c", script]));
    assert_eq!(forwarded(&service, shell), "2031\n".repeat(10));
    service.audit();
}
