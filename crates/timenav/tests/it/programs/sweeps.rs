//! `timenav sweep`: a command on many dates.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{PATH, file, service};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::{until, until_so};

/// Fails on leap days, and from 2038 on.
const CLOCKWORK: &str = "date -u +%F; case $(date -u +%m%d) in 0229) echo 'no such day' >&2; exit 3;; esac; \
                         test $(date -u +%Y) -lt 2038 || { echo 'too late'; exit 4; }";

fn sweep(service: &Service, folder: &tempfile::TempDir, options: &[&str], program: &[&str]) -> Command {
    let mut command = command(service, &[&["sweep"], options, &["--"], program].concat());
    command.env("PATH", PATH).current_dir(folder.path());
    command
}

/// Returns the exit code and the JSON output.
#[track_caller]
fn sweep_of(service: &Service, folder: &tempfile::TempDir, options: &[&str], program: &[&str]) -> (Option<i32>, Value) {
    let options = [options, &["--json"]].concat();
    let (code, stdout, stderr) = run(&mut sweep(service, folder, &options, program), "");
    let document = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (code, document)
}

/// Returns whether all timelines of sweeps have ended.
fn nothing_is_left(service: &Service) -> bool {
    let timelines = service.get("/timelines", &[])["timelines"].clone();
    let names = timelines.as_array().unwrap().iter().filter_map(|timeline| timeline["timeline_id"].as_str());
    names.filter(|name| name.starts_with("sweep-")).count() == 0
}

#[test]
fn sweep_reports_the_failing_dates() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dates = ["2028-02-28", "2028-02-29", "2028-03-01", "2037-12-31T23:59:00Z", "2038-06-01"];
    let options: Vec<&str> = dates.iter().flat_map(|date| ["--date", date]).chain(["--junit", "out.xml"]).collect();
    let (code, swept) = sweep_of(&service, &folder, &options, &["sh", "-c", CLOCKWORK]);
    assert_eq!(code, Some(8), "{swept}");
    let runs = swept["runs"].as_array().unwrap();
    let outcomes: Vec<_> = runs.iter().map(|run| (run["outcome"].as_str().unwrap(), &run["exit_code"])).collect();
    let [passed, leap, late] = [("passed", &json!(0)), ("failed", &json!(3)), ("failed", &json!(4))];
    assert_eq!(outcomes, [passed, leap, passed, passed, late], "{swept}");
    assert_eq!((&swept["passed"], &swept["failed"]), (&json!(3), &json!(2)));
    assert_eq!(swept["first_failed"], "2028-02-29T12:00:00Z");
    // Only the output at failed dates is kept.
    let output = |run: &Value| std::fs::read_to_string(folder.path().join(run["output"].as_str().unwrap())).unwrap();
    assert_eq!(output(&runs[1]), "2028-02-29\nno such day\n");
    assert!(runs[0]["output"].is_null(), "{swept}");
    let logs = file(&folder, "timenav-sweep");
    let stored = std::fs::read_dir(&logs).unwrap().flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).unwrap());
    assert_eq!(stored.count(), 2);
    let xml = std::fs::read_to_string(file(&folder, "out.xml")).unwrap();
    assert!(xml.contains("tests=\"5\" failures=\"2\"") && xml.contains("no such day"), "{xml}");
    // Text output: ranges of equal outcomes, and the ends of failed outputs.
    let (code, stdout, stderr) = run(&mut sweep(&service, &folder, &options, &["sh", "-c", CLOCKWORK]), "");
    assert_eq!(code, Some(8), "{stderr}");
    for line in ["2028-03-01T12:00:00Z  2037-12-31T23:59:00Z  2      passed", "no such day", "3 passed, 2 failed."] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    // A sweep without failures leaves no folder and no timeline.
    std::fs::remove_dir_all(&logs).unwrap();
    let fork = ["--date", "2031-01-01", "--date", "1969-07-20", "--fork-of", "main", "--paused"];
    let script = "test $(date -u +%H%M%S) = 120000 && test -n \"$TIMENAV_TIMELINE\"";
    let (code, swept) = sweep_of(&service, &folder, &fork, &["sh", "-c", script]);
    assert_eq!((code, &swept["passed"]), (Some(0), &json!(2)), "{swept}");
    assert!(!logs.exists() && nothing_is_left(&service));
    service.audit();
}

#[test]
fn bisection_finds_the_first_failing_date() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = "test $(date -u +%s) -lt 2145916800 || exit 4";
    let range = ["--bisect", "--from", "2030-01-01", "--until", "2045-01-01", "--every", "1d", "--jobs", "2"];
    let (code, found) = sweep_of(&service, &folder, &range, &["sh", "-c", script]);
    assert_eq!(code, Some(8), "{found}");
    assert_eq!(
        (&found["last_passed"], &found["first_failed"]),
        (&json!("2037-12-31T12:00:00Z"), &json!("2038-01-01T12:00:00Z")),
        "{found}"
    );
    assert!(found["runs"].as_array().unwrap().len() < 25, "{found}");
    let short = ["--bisect", "--from", "2030-01-01", "--until", "P1Y", "--every", "1d"];
    let (code, found) = sweep_of(&service, &folder, &short, &["sh", "-c", script]);
    assert_eq!((code, &found["first_failed"], &found["dates"]), (Some(0), &Value::Null, &json!(366)), "{found}");
    service.audit();
}

#[test]
fn sweep_commands_end_at_timeout_and_ctrl_c() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (code, swept) = sweep_of(&service, &folder, &["--date", "2030-01-01", "--timeout", "4s"], &["sleep", "600"]);
    assert_eq!((code, &swept["runs"][0]["outcome"]), (Some(8), &json!("timed_out")), "{swept}");
    // A command with a child, which records both process ids.
    let script = "sleep 600 & echo $! $$ > $TIMENAV_TIMELINE.pids; wait";
    let dates = ["--date", "2030-01-01", "--date", "2031-01-01", "--date", "2032-01-01", "--jobs", "2", "--json"];
    let mut command = sweep(&service, &folder, &dates, &["sh", "-c", script]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pids = until("two commands that run", || {
        let files = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
        let document = files.filter(|path| path.extension().is_some_and(|name| name == "pids"));
        let document: String = document.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let pids: Vec<u32> = document.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        (pids.len() == 4).then_some(pids)
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let swept: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&swept["interrupted"], &swept["not_run"]), (&json!(true), &json!(3)), "{swept}");
    for pid in pids {
        // The process id may have been reused.
        let is_sleep =
            || std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("600"));
        until_so("what ran to have ended", || !is_sleep());
    }
    assert!(nothing_is_left(&service));
    service.audit();
}

#[test]
fn sweep_that_cannot_start_reports_the_reason() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (options, program, expected, output) in [
        (&["--date", "2030-01-01"][..], "no-such-program", 1, "cannot run `no-such-program`"),
        (&["--date", "2030-02-30"], "true", 2, "--date"),
        (&["--every", "1s"], "true", 1, "at most 20000 dates"),
        (&["--date", "2030-01-01", "--fork-of", "nowhere"], "true", 5, "not_found"),
    ] {
        let (code, stdout, stderr) = run(&mut sweep(&service, &folder, options, &[program]), "");
        assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{options:?}: {stderr}");
        assert!(stderr.contains(output), "{options:?}: {stderr}");
    }
    // Inside another run, programs cannot be put on their own clock.
    let inner = env!("CARGO_BIN_EXE_timenav");
    let nested = ["exec", "--", inner, "sweep", "--date", "2030-01-01", "--", "true"];
    let (code, _, stderr) = run(command(&service, &nested).env("PATH", PATH).current_dir(folder.path()), "");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("this system cannot put programs on a virtual clock"), "{stderr}");
    assert!(nothing_is_left(&service) && !file(&folder, "timenav-sweep").exists());
    service.audit();
}
