//! A supervisor that is killed during its work.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use tempfile::TempDir;

use super::{DAY, PATH, Teller, children, compiled, notice, processes, service};
use crate::cli::command;
use crate::support::service::Service;
use crate::support::waiting::until_so;

const CROWD: &str = include_str!("../../programs/crowd.c");
/// Kills of a supervisor per method.
const ROUNDS: u64 = 24;

/// The supervisor serves many programs that fork, wait, sleep and read the time: no process stays stopped, all exits
/// are known, and none has host time.
#[test]
fn killed_supervisor_does_not_disturb_busy_programs() {
    let (Some(service), Some((folder, crowd))) = (service(), compiled(CROWD, &["-static"])) else { return };
    for round in 0..ROUNDS {
        let mut teller = killed(&service, "exec", &crowd, round);
        let mut last = teller.line();
        while last == STARTED {
            last = teller.line();
        }
        assert_eq!(last, "12 ended, 0 wrong\n", "{round}");
        assert_eq!(teller.child.wait().unwrap().code(), Some(3), "{round}");
        until_so("the end of all of them", || of(&folder).is_empty());
    }
    service.audit();
}

/// With this method, pending calls continue in the kernel (docs/program-compatibility.md), so some may wait long; but
/// no process stays stopped.
#[test]
fn killed_tracer_leaves_no_busy_program_stopped() {
    let (Some(service), Some((folder, crowd))) = (service(), compiled(CROWD, &["-static"])) else { return };
    if notice(&service, "trace").is_none() {
        return service.audit();
    }
    for round in 0..ROUNDS {
        let mut teller = killed(&service, "trace", &crowd, round);
        until_so("programs of which none is stopped", || of(&folder).iter().all(|(_, state)| !"tT".contains(*state)));
        // The first of them ends the run.
        until_so("the end of all of them", || {
            for (pid, _) in of(&folder) {
                let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
            }
            of(&folder).is_empty()
        });
        assert!(!teller.child.wait().unwrap().success());
    }
    service.audit();
}

const STARTED: &str = "started\n";

/// Kills the supervisor of a crowd after some starts and part of the next ones.
fn killed(service: &Service, via: &str, crowd: &str, round: u64) -> Teller {
    let mut command = command(service, &["exec", "--via", via, "--", crowd, "churn", &DAY.1.to_string()]);
    let mut teller = Teller::of(command.env("PATH", PATH).stderr(Stdio::null()));
    for _ in 0..=round * 7 % 24 {
        assert_eq!(teller.line(), STARTED, "{via} {round}");
    }
    let supervisor = children(teller.child.id())[0];
    kill_process(Pid::from_raw(supervisor.cast_signed()).unwrap(), Signal::KILL).unwrap();
    until_so("the end of a supervisor", || processes().iter().all(|(pid, ..)| *pid != supervisor));
    teller
}

/// Returns the running programs from a folder with their states.
fn of(folder: &TempDir) -> Vec<(u32, char)> {
    let path = folder.path().to_str().unwrap();
    let is_one =
        |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.starts_with(path));
    processes().into_iter().filter(|(pid, ..)| is_one(*pid)).map(|(pid, state, _)| (pid, state)).collect()
}
