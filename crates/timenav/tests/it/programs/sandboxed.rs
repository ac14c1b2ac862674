//! Programs under filters and in namespaces of their own.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::rare_starts::WAYS;
use super::robust::unprivileged;
use super::{DAY, compiled, done, is_installed, service};
use crate::service::run;

/// What is executed under a filter is on the clock, whatever of the supervisor's calls the filter forbids. Only root can go
/// around one that ends programs.
#[test]
fn programs_under_filters_of_their_own_are_on_the_clock() {
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
            assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "looked\n", ""), "{flags:?}");
        }
        if let Some(mut command) = unprivileged(&service, &folder, &[], &[&ways, "listed", &seconds]) {
            let output = command.stdin(Stdio::null()).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.signal(), output.stdout.len()), (Some(31), 0), "{stderr}");
            assert_eq!(stderr.matches("was ended by a filter that it runs under").count(), 1, "{stderr}");
        }
    }
    service.audit();
}

/// Without rights nobody may trace it, at whichever place along `PATH` it looks for a program. It is named once.
#[test]
fn an_undumpable_program_is_named_once() {
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

/// It has been put on the clock before, and waits, sleeps and asks as it did.
#[test]
fn a_program_that_shuts_itself_in_keeps_its_clock() {
    let (Some(service), Some((_folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    assert_eq!(done(&service, &[&ways, "shut-in", &DAY.1.to_string()]), "shut in\nlooked\n");
    service.audit();
}

#[test]
fn programs_in_namespaces_of_their_own_are_on_the_clock() {
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
