//! The end of programs, of the service and of the supervisor.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{DAY, PATH, Teller, children, exec, file, notice, processes, service, travel};
use crate::cli::command;
use crate::support::http::Request;
use crate::support::service::run;
use crate::support::waiting::until;

fn pid(of: u32) -> Pid {
    Pid::from_raw(of.cast_signed()).unwrap()
}

#[test]
fn run_exits_with_the_status_of_its_program() {
    let Some(service) = service() else { return };
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 7", Some(7), None),
        ("exit 255", Some(255), None),
        ("kill -TERM $$", None, Some(15)),
        ("kill -KILL $$", None, Some(9)),
        ("kill -ABRT $$", None, Some(6)),
    ] {
        let status = exec(&service, &["sh", "-c", script]).stderr(Stdio::null()).status().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
    }
    for (program, expected) in [("no-such-program", 127), ("/etc", 126)] {
        let (code, _, stderr) = run(&mut exec(&service, &[program]), "");
        assert_eq!(code, Some(expected), "{stderr}");
        assert!(stderr.contains(&format!("cannot start `{program}`")), "{stderr}");
    }
    // Stdin and stdout belong to the program.
    let (code, stdout, stderr) = run(&mut exec(&service, &["cat"]), "through\n");
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "through\n", ""));
    service.audit();
}

#[test]
fn signals_are_forwarded_to_the_program() {
    let Some(service) = service() else { return };
    // Including graceful shutdown of a web server, stop and continue, and a realtime signal.
    let all = ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "IO", "SEGV", "RTMIN+1", "TSTP", "CONT"];
    let script = format!("trap 'echo caught; exit 9' {}; echo ready; while :; do sleep 0.05; done", all.join(" "));
    // The test runner may ignore some, as `nohup` does, and a shell cannot catch signals that were ignored at its
    // start.
    let program = ["env", "--default-signal", "bash", "-c", &script];
    for signal in all {
        let mut teller = Teller::of(&mut exec(&service, &program));
        assert_eq!(teller.line(), "ready\n");
        let send = format!("kill -s {signal} {}", teller.child.id());
        assert!(std::process::Command::new("bash").args(["-c", &send]).status().unwrap().success());
        assert_eq!(teller.line(), "caught\n", "{signal}");
        assert_eq!(teller.child.wait().unwrap().code(), Some(9), "{signal}");
    }
    service.audit();
}

/// The run represents the program and ends with it; background processes of the program continue, as natively.
#[test]
fn killing_the_run_ends_the_program_not_its_children() {
    let Some(service) = service() else { return };
    let script = "sleep 3600 & echo $!; read -r word";
    for via in ["exec", "trace", "preload"] {
        if notice(&service, via).is_none() {
            continue;
        }
        let mut command = command(&service, &["exec", "--via", via, "--", "bash", "-c", script]);
        let mut teller = Teller::of(command.env("PATH", PATH).stderr(Stdio::null()));
        let started: u32 = teller.line().trim_end().parse().unwrap();
        let supervisor = children(teller.child.id())[0];
        let program = processes().into_iter().find(|(pid, ..)| *pid == started).map(|(_, _, parent)| parent).unwrap();
        kill_process(pid(teller.child.id()), Signal::KILL).unwrap();
        assert_eq!(teller.child.wait().unwrap().signal(), Some(9));
        let is_there = |of: u32| processes().iter().any(|(pid, ..)| *pid == of);
        until(&format!("the end of a program by {via}"), || (!is_there(program)).then_some(()));
        assert!(is_there(started) && is_there(supervisor), "{via}");
        kill_process(pid(started), Signal::KILL).unwrap();
        until(&format!("the end of a supervisor by {via}"), || (!is_there(supervisor)).then_some(()));
    }
    service.audit();
}

/// Stopping the program stops the run, so that a shell regains its terminal; the same for continuing.
#[test]
fn run_stops_and_continues_with_its_program() {
    let Some(service) = service() else { return };
    let mut teller = Teller::start(&service, Stdio::inherit());
    assert_eq!(teller.ask(), DAY.1);
    let front = teller.child.id();
    let program = children(children(front)[0])[0];
    let state = |of: u32| processes().into_iter().find(|(pid, ..)| *pid == of).map(|(_, state, _)| state);
    kill_process(pid(program), Signal::STOP).unwrap();
    until("a stopped program", || (state(program) == Some('T')).then_some(()));
    kill_process(pid(program), Signal::CONT).unwrap();
    kill_process(pid(front), Signal::CONT).unwrap();
    assert_eq!(teller.ask(), DAY.1);
    teller.end();
    service.audit();
}

#[test]
fn programs_keep_the_last_clock_without_the_service() {
    let Some(mut service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let report = file(&folder, "stderr");
    let mut teller = Teller::start(&service, std::fs::File::create(&report).unwrap().into());
    assert_eq!(teller.ask(), DAY.1);
    service.kill();
    let text = until("a line on stderr", || {
        let text = std::fs::read_to_string(&report).unwrap();
        text.ends_with('\n').then_some(text)
    });
    assert!(text.contains("cannot be reached; programs keep the last clock"), "{text}");
    assert_eq!(teller.ask(), DAY.1);
    teller.end();
    assert_eq!(std::fs::read_to_string(&report).unwrap().lines().count(), 1, "it is said once");
    service.start_again();
    service.audit();
}

/// A revoked key is not a lost service, and the message has advice.
#[test]
fn programs_keep_the_last_clock_after_key_revocation() {
    let Some(service) = service() else { return };
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    let permissions = json!({ "admin": ["admin"], "read": ["ada"] });
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }));
    let made = service.post("/v1/api-keys", &json!({ "user_id": "ada" }));
    let folder = tempfile::tempdir().unwrap();
    let report = file(&folder, "stderr");
    let script = "while read -r word; do printf '%(%s)T\\n' -1; done; exit 5";
    let mut command = exec(&service, &["bash", "-c", script]);
    command.env("TIMENAV_API_KEY", made["api_key"].as_str().unwrap());
    let mut teller = Teller::of(command.stderr(std::fs::File::create(&report).unwrap()));
    assert_eq!(teller.ask(), DAY.1);
    let path = format!("/v1/api-keys/{}", made["key_id"].as_str().unwrap());
    service.send(Request::new("DELETE", &path)).expect(200);
    let text = until("a line on stderr", || {
        let text = std::fs::read_to_string(&report).unwrap();
        text.ends_with('\n').then_some(text)
    });
    assert!(text.contains("denies access to the clock; programs keep the last clock: "), "{text}");
    assert!(text.contains("(HTTP 401); start it again with a valid key"), "{text}");
    assert_eq!(teller.ask(), DAY.1);
    teller.end();
    assert_eq!(std::fs::read_to_string(&report).unwrap().lines().count(), 1, "it is said once");
    service.audit();
}

#[test]
fn killed_supervisor_leaves_no_program_stopped() {
    let Some(service) = service() else { return };
    let script = "echo ready; read -r x; printf '%(%s)T\\n' -1; /bin/date; echo $?; read -r x; exit 3";
    let mut command = exec(&service, &["bash", "-c", script]);
    let mut teller = Teller::of(command.stderr(Stdio::piped()));
    assert_eq!(teller.line(), "ready\n");
    let front = teller.child.id();
    let supervisor = children(front)[0];
    let program = children(supervisor)[0];
    kill_process(pid(supervisor), Signal::KILL).unwrap();
    // The program is now a child of the front process.
    until("a child of the front", || children(front).contains(&program).then_some(()));
    teller.questions.write_all(b"?\n").unwrap();
    assert_eq!(teller.line(), format!("{}\n", DAY.1), "it goes on with the last clock");
    let code = teller.line();
    assert_ne!(code, "0\n", "what it starts fails, rather than running on host time");
    for (pid, state, parent) in processes() {
        let is_ours = [front, program].contains(&pid) || parent == program;
        assert!(!is_ours || !matches!(state, 'T' | 't'), "{pid} is stopped");
    }
    teller.questions.write_all(b"?\n").unwrap();
    let output = teller.child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("the supervisor has ended"), "{stderr}");
    service.audit();
}

/// A daemon keeps its clock after the run has ended, and does not block readers of the output.
#[test]
fn daemon_stays_on_the_clock_after_run_ends() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let report = file(&folder, "told");
    let script = format!(
        "(until [ $(date +%s) = 2240611200 ]; do sleep 0.02; done; echo reached > {report}) </dev/null >/dev/null 2>&1 & \
         echo first",
        report = report.display(),
    );
    let (code, stdout, stderr) = run(&mut exec(&service, &["sh", "-c", &script]), "");
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "first\n", ""));
    travel(&service, "2041-01-01T00:00:00Z");
    until("a change of the daemon's clock", || report.exists().then_some(()));
    service.audit();
}
