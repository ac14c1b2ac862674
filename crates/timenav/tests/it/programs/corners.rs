//! Undumpable programs, timers that outlive their processes, full descriptor tables, and interrupted calls.

use std::process::{Command, Stdio};

use super::rare_starts::WAYS;
use super::robust::unprivileged;
use super::{DAY, PATH, Teller, compiled, file, notice, probe, service, travel};
use crate::cli::command;
use crate::support::service::{Service, run};

const CAP_SYS_RESOURCE: u64 = 1 << 24;

/// Runs a program with a method. Returns its exit code, stdout, and stderr without the notice of the method.
fn run_on_clock(service: &Service, via: &str, program: &[&str]) -> (Option<i32>, String, String) {
    let words = [&["exec", "--via", via, "--"], program].concat();
    let (code, stdout, stderr) = run(command(service, &words).env("PATH", PATH), "");
    let notice = notice(service, via).unwrap();
    (code, stdout, stderr.strip_prefix(&notice).map_or_else(|| stderr.clone(), str::to_owned))
}

/// Without privileges an undumpable program cannot be inspected: calls outside the vDSO return host time, which is
/// reported once, and no call fails.
#[test]
fn undumpable_program_has_host_time_and_is_reported() {
    let (Some(service), Some((folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    for via in ["exec", "trace"] {
        if notice(&service, via).is_some() {
            let all_is_virtual = (Some(0), "done\n".to_owned(), String::new());
            assert_eq!(run_on_clock(&service, via, &[&ways, "hidden", &DAY.1.to_string()]), all_is_virtual, "{via}");
        }
    }
    let made = std::fs::metadata(file(&folder, "program")).unwrap().modified().unwrap();
    let host = made.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    if let Some(mut command) = unprivileged(&service, &folder, &[], &[&ways, "hidden", &host]) {
        let (code, stdout, stderr) = run(&mut command, "");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(0), "done\n", 1), "{stderr}");
        assert!(stderr.contains("uses host time: only root may inspect it"), "{stderr}");
    }
    service.audit();
}

/// A child still has the timer, under another number.
#[test]
fn inherited_timer_survives_its_first_process() {
    let (Some(service), Some((_folder, probe))) = (service(), probe(&[])) else { return };
    for via in ["exec", "trace", "preload"] {
        if notice(&service, via).is_none() {
            continue;
        }
        travel(&service, DAY.0);
        let later = (DAY.1 + 3600).to_string();
        let mut command = command(&service, &["exec", "--via", via, "--", &probe, "inherited", &later]);
        let mut sleeper = Teller::of(command.env("PATH", PATH).stderr(Stdio::null()));
        assert_eq!(sleeper.line(), "sleeping\n", "{via}");
        assert!(sleeper.child.wait().unwrap().success(), "{via}");
        travel(&service, "2031-05-06T07:30:00Z");
        travel(&service, "2031-05-06T09:08:09Z");
        assert_eq!(sleeper.line(), format!("0 at {later}\n"), "{via}");
    }
    service.audit();
}

/// Returns the same command with `--strict`.
fn strictly(run: &Command) -> Command {
    let mut strict = Command::new(run.get_program());
    for argument in run.get_args() {
        strict.arg(argument).args((argument == "exec").then_some("--strict"));
    }
    for (name, value) in run.get_envs() {
        strict.env(name, value.unwrap_or_default());
    }
    strict.current_dir("/");
    strict
}

/// The page is still handed over, and the program has no additional descriptors afterwards.
#[test]
fn program_with_full_descriptor_table_is_on_the_clock() {
    let (Some(service), Some((folder, ways))) = (service(), compiled(WAYS, &["-static"])) else { return };
    let seconds = DAY.1.to_string();
    for via in ["exec", "trace"] {
        if notice(&service, via).is_some() {
            let expected = (Some(0), "looked\n".to_owned(), String::new());
            assert_eq!(run_on_clock(&service, via, &[&ways, "full", &seconds]), expected, "{via}");
        }
    }
    // Only root can exceed the limits of the program, and not in every environment.
    let bound = |kind: &str| format!("ulimit {kind} 3; exec \"$0\" look {seconds}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    if u64::from_str_radix(rights, 16).unwrap() & CAP_SYS_RESOURCE != 0 {
        for via in ["exec", "trace"] {
            if notice(&service, via).is_some() {
                let expected = (Some(0), "looked\n".to_owned(), String::new());
                assert_eq!(run_on_clock(&service, via, &["sh", "-c", &bound("-n"), &ways]), expected, "{via}");
            }
        }
    }
    for (kind, is_on) in [("-S -n", true), ("-n", false)] {
        if let Some(mut command) = unprivileged(&service, &folder, &[], &["sh", "-c", &bound(kind), &ways]) {
            let (_, stdout, stderr) = run(&mut command, "");
            assert_eq!(stdout == "looked\n", is_on, "{kind}: {stdout}{stderr}");
            let reason = "runs on host time: handing over the clock page failed: Too many open files";
            assert_eq!(stderr.contains(reason), !is_on, "{kind}: {stderr}");
        }
        if let Some(command) = unprivileged(&service, &folder, &[], &["sh", "-c", &bound(kind), &ways]) {
            let (code, stdout, stderr) = run(&mut strictly(&command), "");
            assert_eq!(stdout == "looked\n", is_on, "{kind}: {stdout}{stderr}");
            let reason = "was not started: handing over the clock page failed: Too many open files";
            assert_eq!((code == Some(0), stderr.contains(reason)), (is_on, !is_on), "{kind}: {code:?} {stderr}");
        }
    }
    service.audit();
}

/// While the supervisor responds, a handler without restart interrupts a call that is not interrupted natively. It has
/// no other effect.
#[test]
fn interrupted_calls_have_no_other_effect() {
    let (Some(service), Some((_folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    for via in ["exec", "trace"] {
        if notice(&service, via).is_some() {
            let (code, stdout, stderr) = run_on_clock(&service, via, &[&ways, "shaken", &DAY.1.to_string()]);
            assert_eq!((code, stdout.as_str()), (Some(0), "looked\n"), "{via}: {stderr}");
            // A tracer is only active where nothing interrupts.
            assert!(via == "exec" || stderr.starts_with("0 of "), "{via}: {stderr}");
        }
    }
    service.audit();
}
