//! `timenav exec --offset`, `--drift`, `--jitter`, `--slew` and `--leap`: programs with a faulty clock.

use std::process::Stdio;

use serde_json::json;

use super::agreeing::between;
use super::{DAY, PATH, Teller, is_installed, service, travel};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until;

/// Returns the command that runs a program on a faulty clock.
fn wrong(service: &Service, fault: &[&str], program: &[&str]) -> std::process::Command {
    let mut command = command(service, &[&["exec"], fault, &["--"], program].concat());
    command.env("PATH", PATH);
    command
}

#[track_caller]
fn output_of(service: &Service, fault: &[&str], program: &[&str]) -> String {
    let (code, stdout, stderr) = run(&mut wrong(service, fault, program), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{fault:?}: {stdout}");
    stdout.trim_end().to_owned()
}

#[test]
fn clock_fault_affects_only_one_program() {
    let Some(service) = service() else { return };
    assert_eq!(output_of(&service, &["--offset", "-2s"], &["date", "+%s"]), (DAY.1 - 2).to_string());
    assert_eq!(output_of(&service, &[], &["date", "+%s"]), DAY.1.to_string());
    // The error stays when the clock jumps, and correct followers see the same jump.
    let script = "while read -r word; do printf '%(%s)T\\n' -1; done";
    let ahead = &mut wrong(&service, &["--offset", "1h"], &["bash", "-c", script]);
    let mut ahead = Teller::of(ahead.stderr(Stdio::null()));
    let mut right = Teller::start(&service, Stdio::null());
    assert_eq!((ahead.ask(), right.ask()), (DAY.1 + 3_600, DAY.1));
    travel(&service, "1969-07-20T20:17:40Z");
    ahead.ask_until("the jump", |reading| reading == -14_182_940 + 3_600);
    right.ask_until("the jump", |reading| reading == -14_182_940);
    drop((ahead, right));
    // A tenth more passes than on a correct clock, at any rate and with any jitter.
    if !is_installed("python3") {
        return service.audit();
    }
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let measure = "import time\nv, m = time.time(), time.monotonic()\ntime.sleep(2.5)\n\
                   print((time.time() - v) / (time.monotonic() - m) / 3600)";
    for fault in [&["--drift", "100000ppm"][..], &["--drift", "100000", "--jitter", "5ms", "--jitter-seed", "7"]] {
        let factor: f64 = output_of(&service, fault, &["python3", "-c", measure]).parse().unwrap();
        assert!((1.08..1.12).contains(&factor), "{fault:?}: {factor}");
    }
    for (fault, output) in [
        (["--drift", "fast"], "200ppm"),
        (["--jitter", "1s"], "250 ms"),
        (["--offset", "P1M"], "without months"),
        (["--jitter-seed", "1"], "--jitter"),
        (["--slew", "500ppm"], "--offset"),
        (["--leap", "2028-12-31T23:59:59Z"], "insert@"),
        (["--leap-smear", "24h"], "--leap"),
    ] {
        let (code, stdout, stderr) = run(&mut wrong(&service, &fault, &["date"]), "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{fault:?}");
        assert!(stderr.contains(output), "{fault:?}: {stderr}");
    }
    service.audit();
}

/// A running program is shown a faulty clock, and on a fork from its start; a clock that was started with a fault
/// returns to it once the service sets no other.
#[test]
fn clock_fault_can_be_set_and_cleared_at_runtime() {
    let Some(service) = service() else { return };
    let script = "while read -r word; do printf '%(%s)T\\n' -1; done";
    let start = |timeline: &str, options: &[&str]| {
        let options = [&["exec", "--timeline", timeline, "--follow", "web"], options].concat();
        let mut command = command(&service, &[&options, &["--", "bash", "-c", script][..]].concat());
        Teller::of(command.env("PATH", PATH).stderr(Stdio::null()))
    };
    let mut web = start("main", &["--offset", "-5s"]);
    let mut right = Teller::start(&service, Stdio::null());
    assert_eq!((web.ask(), right.ask()), (DAY.1 - 5, DAY.1));
    let listed = || service.get("/v1/followers", &[("timeline_id", "main")])["followers"][0].clone();
    let follower_id = until("the program to follow", || listed()["follower_id"].as_str().map(str::to_owned));
    let set = |options: &[&str]| {
        let (code, stdout, stderr) = run(&mut command(&service, &[&["fault", &follower_id], options].concat()), "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        stdout
    };
    assert_eq!(set(&["--offset", "1h"]), "`web` shows the clock of `main` with the error in `fault`.\n");
    web.ask_until("the offset", |reading| reading == DAY.1 + 3_600);
    assert_eq!((right.ask(), &listed()["fault"]), (DAY.1, &json!({ "offset": "3600s" })));
    service.post("/timelines", &json!({ "timeline_id": "what-if", "fork_of": "main" }));
    // The error stays when the clock jumps; the correct clock is confirmed.
    let (code, _, stderr) =
        run(&mut command(&service, &["clock", "travel", "1969-07-20T20:17:40Z", "--followers"]), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!((web.ask(), right.ask()), (-14_182_940 + 3_600, -14_182_940));
    assert_eq!(set(&["--none"]), "`web` shows the clock of `main` without an error.\n");
    web.ask_until("the clock that it was started with", |reading| reading == -14_182_940 - 5);
    assert!(listed().get("fault").is_none());
    let mut fork = start("what-if", &[]);
    fork.ask_until("the fault of the fork", |reading| reading == DAY.1 + 3_600);
    drop((web, right, fork));
    service.audit();
}

/// Replaces the first occurrence of a word by one of the same length.
fn replace(output: &mut [u8], word: &str, other: &str) {
    let found = output.windows(word.len()).position(|some| some == word.as_bytes());
    if let Some(at) = found {
        output[at..at + word.len()].copy_from_slice(other.as_bytes());
    }
}

/// During a rolling upgrade, a program may reach a service that rejects an unknown parameter.
#[test]
fn service_without_fault_support_can_be_followed() {
    let Some(service) = service() else { return };
    let request = |output: &mut [u8]| replace(output, "&faults=", "&faultx=");
    let replace_fault = |output: &mut [u8]| replace(output, "\"#/faultx\"", "\"#/faults\"");
    let older = between(&service, request, replace_fault);
    let script = "while read -r word; do printf '%(%s)T\\n' -1; done";
    let mut program = wrong(&service, &["--offset", "-5s", "--follow", "web"], &["bash", "-c", script]);
    let mut web = Teller::of(program.env("TIMENAV_URL", older).stderr(Stdio::null()));
    assert_eq!(web.ask(), DAY.1 - 5, "its options count");
    let states = || service.get("/v1/followers", &[])["followers"][0]["state"].as_str().map(str::to_owned);
    until("the program to follow", || states().filter(|state| state == "up_to_date"));
    travel(&service, "1969-07-20T20:17:40Z");
    web.ask_until("the jump", |reading| reading == -14_182_940 - 5);
    let follower = service.get("/v1/followers", &[])["followers"][0]["follower_id"].as_str().unwrap().to_owned();
    let (code, _, stderr) = run(&mut command(&service, &["fault", &follower, "--offset", "1h"]), "");
    assert!(code == Some(1) && stderr.contains("does not support clock errors"), "{code:?}: {stderr}");
    drop(web);
    service.audit();
}

#[test]
fn clock_slews_to_an_offset_and_back() {
    let Some(service) = service() else { return };
    if !is_installed("python3") {
        return service.audit();
    }
    assert_eq!(output_of(&service, &["--offset", "1h", "--slew", "500ppm"], &["date", "+%s"]), DAY.1.to_string());
    let behind = (DAY.1 - 3_600).to_string();
    assert_eq!(output_of(&service, &["--offset", "-1h", "--slew-back", "500ppm"], &["date", "+%s"]), behind);
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let measure = "import time\nv, m = time.time(), time.monotonic()\ntime.sleep(2.5)\n\
                   print((time.time() - v) / (time.monotonic() - m) / 3600)";
    for (fault, expected) in [
        (["--offset", "10h", "--slew", "100000ppm"], 1.1),
        (["--offset", "-10h", "--slew", "100000ppm"], 0.9),
        (["--offset", "10h", "--slew-back", "100000ppm"], 0.9),
        (["--offset", "1us", "--slew", "100000ppm"], 1.0),
    ] {
        let factor: f64 = output_of(&service, &fault, &["python3", "-c", measure]).parse().unwrap();
        assert!((factor - expected).abs() < 0.02, "{fault:?}: {factor}");
    }
    service.audit();
}

#[test]
fn leap_second_is_inserted_or_deleted_for_one_program() {
    let Some(service) = service() else { return };
    let second = DAY.0;
    let (insert, delete) = (format!("insert@{second}"), format!("delete@{second}"));
    for (leap, before, after) in [(&insert, DAY.1 - 5, DAY.1 + 4), (&delete, DAY.1 - 5, DAY.1 + 6)] {
        travel(&service, "2031-05-06T07:08:04Z");
        assert_eq!(output_of(&service, &["--leap", leap], &["date", "+%s"]), before.to_string());
        travel(&service, "2031-05-06T07:08:14Z");
        assert_eq!(output_of(&service, &["--leap", leap], &["date", "+%s"]), after.to_string());
        let smeared = ["--leap", leap, "--leap-smear", "10s"];
        travel(&service, "2031-05-06T07:08:30Z");
        assert_eq!(output_of(&service, &smeared, &["date", "+%s"]), (after + 16).to_string());
    }
    if !is_installed("python3") {
        return service.audit();
    }
    // Measures how long a program sees each second; the clock must not stop at any.
    let measure = "import time\nshown, last, end = {}, time.monotonic(), time.monotonic() + 5\nwhile last < end:\n  \
                   second, now = int(time.time()), time.monotonic()\n  \
                   shown[second] = shown.get(second, 0) + now - last\n  last = now\n\
                   print(round(shown.get(1935817689, 0)))";
    for (leap, expected) in [(&insert, "2"), (&delete, "0")] {
        travel(&service, "2031-05-06T07:08:07Z");
        let program = ["sh", "-c", "read -r word; exec python3 -c \"$0\"", measure];
        let mut seen = Teller::of(wrong(&service, &["--leap", leap], &program).stderr(Stdio::null()));
        service.post("/v1/resume-time", &json!({}));
        std::io::Write::write_all(&mut seen.questions, b"go\n").unwrap();
        assert_eq!(seen.line().trim_end(), expected, "{leap}");
        seen.child.wait().unwrap();
        service.post("/v1/pause-time", &json!({}));
    }
    service.audit();
}
