//! Which programs are put on the clock and which are rejected.

use std::process::Stdio;

use super::{DAY, PATH, Teller, children, done, exec, is_installed, probe, service};
use crate::cli::command;
use crate::support::service::run;
use crate::support::waiting::until;

#[test]
fn programs_in_any_language_see_the_clock() {
    let Some(service) = service() else { return };
    let script = "from subprocess import run; import time; print(int(time.time()), flush=True); run(['date', '+%s'])";
    for (program, twice) in [
        (&["date", "+%s"][..], false),
        (&["sh", "-c", "date +%s; (exec date +%s)"], true),
        (&["bash", "-c", "printf '%(%s)T\\n' -1; x=$(date +%s); echo $x"], true),
        (&["env", "-i", "/bin/date", "+%s"], false),
        (&["python3", "-c", script], true),
        (&["perl", "-e", "print time, qq(\\n)"], false),
        (&["node", "-e", "console.log(Math.floor(Date.now() / 1000))"], false),
        (&["java", "-XshowSettings:none", "-version"], false),
    ] {
        if !is_installed(program[0]) {
            continue;
        }
        if program[0] == "java" {
            // Without a class it prints no time; only its start matters.
            let (code, _, stderr) = run(&mut exec(&service, program), "");
            assert_eq!(code, Some(0), "{stderr}");
            continue;
        }
        let expected = format!("{}\n", DAY.1).repeat(if twice { 2 } else { 1 });
        assert_eq!(done(&service, program), expected, "{program:?}");
    }
    service.audit();
}

/// Every call of the C library and the kernel, and every way to start a program.
#[test]
fn time_calls_and_program_starts_show_one_clock() {
    let Some(service) = service() else { return };
    let seconds = DAY.1.to_string();
    for flags in [&[][..], &["-static"]] {
        let Some((_folder, probe)) = probe(flags) else { continue };
        assert_eq!(done(&service, &[&probe, "readings", &seconds]), "done\n", "{flags:?}");
        assert_eq!(done(&service, &[&probe, "starts", &seconds]), "done\n".repeat(8), "{flags:?}");
    }
    service.audit();
}

/// A single start with host time in thousands would be detected.
#[test]
fn thousand_program_starts_show_virtual_time() {
    let Some(service) = service() else { return };
    let script = "i=0; while [ $i -lt 250 ]; do date +%s; i=$((i+1)); done";
    let in_parallel = format!("for j in 1 2 3 4; do ({script}) & done; wait");
    let stdout = done(&service, &["sh", "-c", &in_parallel]);
    assert_eq!(stdout.lines().count(), 1_000);
    let expected = DAY.1.to_string();
    assert!(stdout.lines().all(|line| line == expected), "{stdout}");
    service.audit();
}

#[test]
fn debuggers_work_in_supervised_programs() {
    let Some(service) = service() else { return };
    for tool in ["strace", "gdb"] {
        if !is_installed(tool) {
            continue;
        }
        // Attaching to a running program works as usual, and it keeps its clock.
        let mut teller = Teller::start(&service, Stdio::inherit());
        assert_eq!(teller.ask(), DAY.1);
        let front = teller.child.id();
        let supervisor = children(front)[0];
        let shell = children(supervisor)[0].to_string();
        let attach = match tool {
            "strace" => format!("timeout 20 strace -o /dev/null -p {shell} & sleep 0.2; kill $!; wait $!; true"),
            _ => format!("gdb -batch -p {shell} -ex detach >/dev/null 2>&1"),
        };
        let (code, _, stderr) = run(&mut exec(&service, &["sh", "-c", &attach]), "");
        assert_eq!(code, Some(0), "{tool}: {stderr}");
        assert_eq!(teller.ask(), DAY.1, "{tool}");
        teller.end();
        // A program started by a debugger has host time, which is reported, or is not started.
        let program = match tool {
            "strace" => ["strace", "-o", "/dev/null", "date", "+%Y"].as_slice(),
            _ => &["gdb", "-batch", "-ex", "set startup-with-shell off", "-ex", "run", "--args", "date", "+%Y"],
        };
        let (_, stdout, stderr) = run(&mut exec(&service, program), "");
        assert!(stderr.contains("runs on host time: another tracer"), "{tool}: {stdout}{stderr}");
        let strict = [&["exec", "--strict", "--"], program].concat();
        let (_, stdout, stderr) = run(command(&service, &strict).env("PATH", PATH), "");
        assert!(stderr.contains("was not started: another tracer"), "{tool}: {stdout}{stderr}");
        assert!(!stdout.lines().any(|line| line.starts_with("20")), "{tool}: {stdout}");
    }
    service.audit();
}

#[test]
fn nested_exec_is_rejected_for_all_methods() {
    let Some(service) = service() else { return };
    // For all methods of the outer and the inner run.
    for outer in ["auto", "exec", "trace", "preload"] {
        for inner in ["auto", "exec", "trace", "preload"] {
            let second = [env!("CARGO_BIN_EXE_timenav"), "exec", "--via", inner, "--", "date"];
            let both = [&["exec", "--via", outer, "--"], &second[..]].concat();
            let (code, stdout, stderr) = run(command(&service, &both).env("PATH", PATH), "");
            assert_eq!((code, stdout.as_str()), (Some(1), ""), "{outer} {inner}: {stderr}");
            assert!(stderr.contains("another `timenav exec`"), "{outer} {inner}: {stderr}");
            assert!(stderr.contains("start both from outside"), "{outer} {inner}: {stderr}");
        }
    }
    service.audit();
}

#[test]
fn unknown_method_timeline_or_missing_command_is_rejected() {
    let Some(service) = service() else { return };
    let (code, stdout, stderr) = run(&mut command(&service, &["exec", "--via", "magic", "--", "date"]), "");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("auto, exec, trace, preload"), "{stderr}");
    let (code, _, stderr) = run(&mut command(&service, &["exec", "--timeline", "nowhere", "--", "date"]), "");
    assert_eq!(code, Some(5), "{stderr}");
    let (code, _, stderr) = run(&mut command(&service, &["exec"]), "");
    assert_eq!(code, Some(2), "{stderr}");
    service.audit();
}

#[test]
fn inspected_command_is_not_started() {
    let Some(service) = service() else { return };
    let inspect =
        |words: &[&str]| run(command(&service, &[&["exec", "--inspect"], words].concat()).env("PATH", PATH), "");
    let (code, stdout, stderr) = inspect(&["--", "sh", "-c", "echo started"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("clock") && stdout.contains("virtual") && !stdout.contains("started"), "{stdout}");
    let (code, stdout, stderr) = inspect(&["--json", "--", "/bin/sh"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&document["clock"], &document["program"]), (&"virtual".into(), &"/bin/sh".into()));
    assert_eq!((&document["via"], &document["ways"][1]["is_possible"]), (&"exec".into(), &true.into()), "{document}");
    let (_, stdout, _) = inspect(&["--json", "--via", "trace", "--", "/bin/sh"]);
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["via"], "trace");
    assert!(document["ways"][0]["why"].as_str().unwrap().contains("--via trace was chosen"), "{document}");
    let (code, _, stderr) = inspect(&["--", "no-such-program"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("PATH"), "{stderr}");
    service.audit();
}

#[test]
fn process_inspection_lists_all_programs_of_its_run() {
    let Some(service) = service() else { return };
    let inspect = |pid: &str| {
        let (code, stdout, stderr) = run(&mut command(&service, &["exec", "--inspect", "--json", pid]), "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let script = "sleep 600 & read -r x; kill $!; exit 5";
    let shell = Teller::of(&mut exec(&service, &["bash", "-c", script]));
    let front = shell.child.id();
    let supervisor = until("a supervisor", || children(front).first().copied());
    let (program, sleep) = until("a program and its child on the clock", || {
        let program = *children(supervisor).first()?;
        let pid = *children(program).first()?;
        let document = inspect(&pid.to_string());
        (document["clock"] == "virtual").then_some((program, pid))
    });
    for pid in [front, supervisor, program, sleep] {
        let document = inspect(&pid.to_string());
        let is_program = pid == program || pid == sleep;
        assert_eq!(document["clock"], if is_program { "virtual" } else { "host" }, "{document}");
        assert_eq!(
            (&document["timeline_id"], &document["current_time"]),
            (&"main".into(), &DAY.0.into()),
            "{document}"
        );
        assert_eq!((&document["state"], &document["supervisor"]), (&"paused".into(), &supervisor.into()), "{document}");
        let processes = document["processes"].as_array().unwrap();
        let pids: Vec<_> = processes.iter().filter_map(|process| process["pid"].as_u64()).collect();
        assert_eq!(pids, [program.min(sleep), program.max(sleep)].map(u64::from), "{document}");
        assert!(processes.iter().all(|process| process["clock"] == "virtual"), "{document}");
    }
    let (code, stdout, _) = run(&mut command(&service, &["exec", "--inspect", &sleep.to_string()]), "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("PROGRAM") && stdout.contains("sleep") && stdout.contains(DAY.0), "{stdout}");
    shell.end();
    assert_eq!(inspect(&std::process::id().to_string())["clock"], "host");
    let (code, _, stderr) = run(&mut command(&service, &["exec", "--inspect", "2147483646"]), "");
    assert_eq!(code, Some(1));
    assert!(stderr.contains("there is no such process"), "{stderr}");
    service.audit();
}
