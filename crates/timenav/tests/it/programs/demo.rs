//! `timenav demo programs`: the first command of many users.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::notice;
use crate::support::service::{Service, run};
use crate::support::waiting::until_so;

fn demo(step: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timenav"));
    command.args(["demo", "programs", "--step", step]);
    command
}

#[test]
fn demo_moves_programs_of_several_languages_together() {
    let service = Service::start();
    // If the best method is not available, one notice is printed.
    let Some(notice) = notice(&service, "auto") else { return service.audit() };
    service.audit();
    let (code, stdout, stderr) = run(&mut demo("1s"), "");
    assert_eq!((code, stderr), (Some(0), notice), "{stdout}");
    // Each step: the command, and below it the output of each program.
    let mut steps: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for line in stdout.lines() {
        if let Some(typed) = line.strip_prefix("$ timenav ") {
            steps.push((typed, Vec::new()));
        } else if let Some(clock) = line.strip_prefix("  ") {
            steps
                .last_mut()
                .unwrap()
                .1
                .push(clock.split_once(' ').map(|(name, reading)| (name, reading.trim())).unwrap());
        }
    }
    let (_, stand) = steps.iter().find(|(typed, _)| typed.starts_with("clock travel 1969-07-20T20:17:40Z")).unwrap();
    assert!(stand.iter().any(|(name, _)| *name == "bash"), "{stdout}");
    for (name, reading) in stand {
        assert_eq!(*reading, "1969-07-20 20:17:40", "{name}: {stdout}");
    }
    assert_eq!(steps.len(), 8, "{stdout}");
    assert!(stdout.lines().last().unwrap().contains("timenav exec -- COMMAND"), "{stdout}");
    // Ctrl-C ends it in the middle, with all its child processes.
    let mut child = demo("2s").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("$ timenav clock now"));
    let started = descendants(child.id());
    assert!(started.len() > 2, "a service and programs: {started:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    until_so("all have ended", || started.iter().all(|id| !Path::new(&format!("/proc/{id}/exe")).exists()));
}

/// Returns all descendants of a process.
fn descendants(id: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_child = |child: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        // After the name, which may contain anything: state and parent id.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(id.to_string().as_str())
    };
    let children: Vec<u32> = all.filter(is_child).collect();
    children.iter().flat_map(|child| std::iter::once(*child).chain(descendants(*child))).collect()
}
