//! Programs under filters and in their own namespaces.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::rare_starts::WAYS;
use super::robust::unprivileged;
use super::{DAY, PATH, compiled, done, is_installed, notice, service, under};
use crate::cli::command;
use crate::support::service::run;

const AUXV: &str = include_str!("../../programs/auxv.c");
const DENY: &str = include_str!("../../programs/deny.c");

const COPY_REPORT: &str = "uses host time if it finds the vDSO in the kernel's copy of its auxiliary vector, as programs \
                         with rustix do: changing the kernel's copy of its auxiliary vector failed: Operation not \
                         permitted; further programs are not reported\n";

/// Some programs look for the vDSO in the kernel's copy of the auxiliary vector.
#[test]
fn every_vdso_location_shows_the_virtual_clock() {
    let Some(service) = service() else { return };
    let expected = ["proc", "prctl", "stack"].map(|place| format!("{place}: {}", DAY.1));
    for flags in [&[][..], &["-static"]] {
        let Some((_folder, auxv)) = compiled(AUXV, flags) else { continue };
        for via in ["exec", "trace"] {
            let Some(notice) = notice(&service, via) else { continue };
            let words = ["exec", "--via", via, "--strict", "--", &auxv];
            let (code, stdout, stderr) = run(command(&service, &words).env("PATH", PATH), "");
            assert_eq!((code, stderr), (Some(0), notice), "{via} {flags:?}");
            // Kernels before 6.4 do not return it by `prctl`.
            let has_both = stdout.contains("prctl");
            let expected = expected.iter().filter(|line| has_both || !line.starts_with("prctl"));
            assert!(stdout.lines().eq(expected), "{via} {flags:?}: {stdout}");
        }
    }
    service.audit();
}

/// If the kernel's copy cannot be changed, one warning says so; with --strict, nothing is started.
#[test]
fn vdso_with_host_time_is_reported_and_rejected_if_strict() {
    let (Some(service), Some((_folder, auxv))) = (service(), compiled(AUXV, &[])) else { return };
    let Some((_deny, deny)) = compiled(DENY, &[]) else { return };
    for via in ["exec", "trace"] {
        let Some(notice) = notice(&service, via) else { continue };
        let output_of = |options: &[&str]| {
            let words = [&["exec", "--via", via], options, &["--", "sh", "-c", "\"$0\"; \"$0\"", &auxv]].concat();
            let mut inner = command(&service, &words);
            let (code, stdout, stderr) = run(&mut under(&deny, &["memory maps"], inner.env("PATH", PATH)), "");
            let rest = stderr.strip_prefix(&notice).map(str::to_owned);
            (code, stdout, rest.unwrap_or_else(|| panic!("{via} {options:?}: {stderr}")))
        };
        let (code, stdout, stderr) = output_of(&[]);
        assert_eq!((code, stderr.lines().count()), (Some(0), 1), "{via}: {stderr}");
        assert!(stderr.contains("`sh`") && stderr.ends_with(COPY_REPORT), "{via}: {stderr}");
        // The warning is right: only the stack has the clock.
        assert_eq!(stdout.matches(&format!("stack: {}\n", DAY.1)).count(), 2, "{via}: {stdout}");
        assert_eq!(stdout.matches(&DAY.1.to_string()).count(), 2, "{via}: {stdout}");
        let (code, stdout, stderr) = output_of(&["--strict"]);
        assert_eq!((code, stdout.as_str()), (Some(126), ""), "{via}: {stderr}");
        let reason =
            "was not started: changing the kernel's copy of its auxiliary vector failed: Operation not permitted";
        assert!(stderr.contains(reason), "{via}: {stderr}");
    }
    service.audit();
}

/// A program executed under a filter is on the clock, whichever of the supervisor's calls the filter forbids. Only root
/// can bypass one that kills programs.
#[test]
fn programs_under_own_seccomp_filters_are_on_the_clock() {
    let Some(service) = service() else { return };
    let seconds = DAY.1.to_string();
    for flags in [&[][..], &["-static"]] {
        let Some((folder, ways)) = compiled(WAYS, flags) else { continue };
        let is_root = rustix::process::geteuid().is_root();
        for way in if is_root { &["listed", "forbidden"][..] } else { &["forbidden"] } {
            assert_eq!(done(&service, &[&ways, way, &seconds]), "looked\n", "{way} {flags:?}");
        }
        if let Some(mut command) = unprivileged(&service, &folder, &[], &[&ways, "forbidden", &seconds]) {
            let (code, stdout, stderr) = run(&mut command, "");
            assert_eq!((code, stdout.as_str()), (Some(0), "looked\n"), "{flags:?} {stderr}");
            // The filter forbids `prctl`.
            assert!(stderr.lines().count() == 1 && stderr.contains(COPY_REPORT), "{stderr}");
        }
        if let Some(mut command) = unprivileged(&service, &folder, &[], &[&ways, "listed", &seconds]) {
            let output = command.stdin(Stdio::null()).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.signal(), output.stdout.len()), (Some(31), 0), "{stderr}");
            assert_eq!(stderr.matches("was ended by its own seccomp filter").count(), 1, "{stderr}");
        }
    }
    service.audit();
}

/// Without privileges a set-id program cannot be traced, wherever it is found along `PATH`. It is reported once.
#[test]
fn undumpable_set_id_program_is_reported_once() {
    let (Some(service), Some((folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    let seconds = DAY.1.to_string();
    assert_eq!(done(&service, &[&ways, "undumpable", &seconds]), "");
    if let Some(mut command) = unprivileged(&service, &folder, &[], &[&ways, "undumpable", &seconds]) {
        let (code, stdout, stderr) = run(&mut command, "");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(0), "", 1), "{stderr}");
        assert!(stderr.contains("runs on host time") && stderr.contains("undumpable"), "{stderr}");
    }
    service.audit();
}

/// It was put on the clock before, and waits, sleeps and reads as before.
#[test]
fn program_that_sandboxes_itself_keeps_its_clock() {
    let (Some(service), Some((_folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    assert_eq!(done(&service, &[&ways, "shut-in", &DAY.1.to_string()]), "shut in\nlooked\n");
    service.audit();
}

#[test]
fn programs_in_own_namespaces_are_on_the_clock() {
    let Some(service) = service() else { return };
    let expected = format!("{0}\n{0}\n", DAY.1);
    let script = "date +%s; (date +%s)";
    let shell = ["sh", "-c", script];
    for (tool, words) in [
        ("unshare", &["--user", "--pid", "--fork"][..]),
        ("unshare", &["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]),
        ("unshare", &["--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--cgroup"]),
        ("bwrap", &["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all", "--die-with-parent"]),
    ] {
        let program = [&[tool], words, &shell].concat();
        if !is_installed(tool) {
            continue;
        }
        let (code, _, stderr) = run(Command::new(program[0]).args(&program[1..]), "");
        if code != Some(0) {
            eprintln!("skipped for {program:?}: {stderr}");
            continue;
        }
        assert_eq!(done(&service, &program), expected, "{program:?}");
    }
    service.audit();
}

/// `timenav doctor` probes the same methods.
#[test]
fn doctor_reports_the_available_exec_method() {
    let Some(service) = service() else { return };
    let examined = |denied: &[&str], deny: &str| {
        let mut inner = command(&service, &["doctor", "--json", "--data"]);
        inner.arg(service.data());
        let (_, stdout, stderr) = run(&mut under(deny, denied, &inner), "");
        let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        let check = document["checks"].as_array().unwrap().iter().find(|check| check["name"] == "programs");
        let check = check.unwrap_or_else(|| panic!("{stdout}"));
        (check["outcome"].as_str().unwrap().to_owned(), check["seen"].as_str().unwrap().to_owned())
    };
    let Some((_folder, deny)) = compiled(DENY, &[]) else { return service.audit() };
    for (denied, outcome, seen) in [
        (&[][..], "ok", "can put programs on a clock"),
        (&["listeners"], "warn", "--via trace"),
        (&["ptrace"], "warn", "--via preload"),
    ] {
        let (found, document) = examined(denied, &deny);
        assert_eq!((found.as_str(), document.contains(seen)), (outcome, true), "{denied:?}: {document}");
    }
    service.audit();
}
