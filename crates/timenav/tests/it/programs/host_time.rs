//! What stays on host time, according to docs/program-compatibility.md: file times, `io_uring` timeouts and timers that
//! are never canceled; and surprising consequences.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use super::databases::{make_data, single};
use super::{DAY, PATH, Teller, compiled, done, exec, file, is_installed, service, travel};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until_so;

const SOURCE: &str = include_str!("../../programs/host.c");
const RING_REPORT: &str = "uses host time: it is in an io_uring ring, which only the kernel reads\n";

#[test]
fn documented_host_time_uses_stay_on_host_time() {
    let (Some(service), Some((folder, host))) = (service(), compiled(SOURCE, &[])) else { return };
    let made = file(&folder, "made");
    let now = host_seconds(&folder);
    let reading = DAY.1.to_string();
    let words = [host.as_str(), &now, &reading, made.to_str().unwrap()];
    let report = file(&folder, "told");
    let mut program = Teller::of(exec(&service, &words).stderr(std::fs::File::create(&report).unwrap()));
    let mut line = program.line();
    let has_rings = line != "no rings\n";
    if !has_rings {
        eprintln!("skipped for io_uring: this system has none");
        line = program.line();
    }
    assert_eq!(line, "ready\n");
    travel(&service, "2031-05-06T07:30:00Z");
    program.questions.write_all(b"\n").unwrap();
    assert_eq!(program.line(), "done\n");
    assert!(program.child.wait().unwrap().success());
    let report = std::fs::read_to_string(&report).unwrap();
    assert_eq!(report.matches(RING_REPORT).count(), usize::from(has_rings), "{report}");
    // A file created a second ago is years old compared with the clock; `touch` does not help.
    let made = made.to_str().unwrap();
    assert_eq!(done(&service, &["find", made, "-mtime", "+30"]), format!("{made}\n"));
    assert_eq!(done(&service, &["sh", "-c", "touch \"$0\"; find \"$0\" -mtime +30", made]), format!("{made}\n"));
    what_archives_and_processes_tell(&service, &folder);
    if is_installed("make") {
        let rule = format!("all: {made}\n\t@echo made\n");
        std::fs::write(file(&folder, "Makefile"), rule).unwrap();
        travel(&service, "1985-10-26T01:21:00Z");
        let folder = folder.path().to_str().unwrap();
        let (code, stdout, stderr) = run(&mut exec(&service, &["make", "-C", folder]), "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        assert!(stderr.contains("modification time") && stderr.contains("in the future"), "{stderr}");
    }
    service.audit();
}

/// A 32-bit program (ELF, i386) that reads the time by `int 0x80`, writes its four bytes, and exits.
fn narrow_program() -> Vec<u8> {
    const AT: u32 = 0x0804_8000;
    const HEADERS: u32 = 52 + 32;
    #[rustfmt::skip]
    let code = [
        0xb8, 13, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80, // time(0)
        0x50, 0x89, 0xe1, 0xba, 4, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0xb8, 4, 0, 0, 0, 0xcd, 0x80, // write(1, esp, 4)
        0x31, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80, // exit(0)
    ];
    let length = HEADERS + u32::try_from(code.len()).unwrap();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let identity = [&b"\x7fELF\x01\x01\x01"[..], &[0; 9]].concat();
    // An i386 executable: entry point, position of program headers, header sizes.
    let head = words(&[3 << 16 | 2, 1, AT + HEADERS, 52, 0, 0, 0x20_0034, 1, 0]);
    // One loadable segment, readable and executable.
    let part = words(&[1, 0, AT, AT, length, length, 5, 4096]);
    [identity, head, part, code.to_vec()].concat()
}

/// A 32-bit program has host time, with a warning; with --strict it is not started.
#[test]
fn thirty_two_bit_programs_have_host_time_or_are_rejected() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = file(&folder, "narrow");
    std::fs::write(&program, narrow_program()).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let seconds = |output: &std::process::Output| output.stdout.clone().try_into().map(u32::from_le_bytes);
    let Some(before) = Command::new(&program).output().ok().and_then(|output| seconds(&output).ok()) else {
        eprintln!("skipped: this system runs no 32-bit programs");
        return service.audit();
    };
    let program = program.to_str().unwrap();
    let output = exec(&service, &[program]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && (before..before + 600).contains(&seconds(&output).unwrap()), "{output:?}");
    assert!(stderr.ends_with("runs on host time: it is a 32-bit program\n") && stderr.lines().count() == 1, "{stderr}");
    let mut strict = command(&service, &["exec", "--strict", "--", program]);
    let output = strict.env("PATH", PATH).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.stdout.len(), output.status.signal()), (0, Some(9)), "{stderr}");
    assert!(stderr.contains("was not started: it is a 32-bit program\n"), "{stderr}");
    service.audit();
}

/// Returns the host's time, from the timestamp of a new folder.
fn host_seconds(folder: &TempDir) -> String {
    let made = folder.path().metadata().unwrap().modified().unwrap();
    made.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string()
}

/// A realtime timeout in a ring is reported once, even if the clock never changes; other uses of rings work without a
/// warning.
#[test]
fn io_uring_is_reported_only_for_realtime_timeouts() {
    let (Some(service), Some((folder, host))) = (service(), compiled(SOURCE, &[])) else { return };
    let made = file(&folder, "made").to_str().unwrap().to_owned();
    let (now, reading, report) = (host_seconds(&folder), DAY.1.to_string(), file(&folder, "told"));
    let kinds = [(&["otherwise"][..], 0), (&[&now, &reading, &made], 1)];
    for (via, (words, count)) in ["exec", "trace"].into_iter().flat_map(|via| kinds.map(|kind| (via, kind))) {
        let mut with = command(&service, &[&["exec", "--via", via, "--", &host], words].concat());
        let mut program = Teller::of(with.env("PATH", PATH).stderr(std::fs::File::create(&report).unwrap()));
        let line = program.line();
        if line == "no rings\n" {
            eprintln!("skipped: this system has no io_uring");
            return service.audit();
        }
        assert_eq!(line, "ready\n", "{via}");
        let is_named = || std::fs::read_to_string(&report).unwrap().matches(RING_REPORT).count() == count;
        until_so("a word about a ring", is_named);
        travel(&service, "2031-05-06T07:30:00Z");
        program.questions.write_all(b"\n").unwrap();
        assert!(program.child.wait().unwrap().success());
        assert!(is_named(), "{via} {words:?}: {}", std::fs::read_to_string(&report).unwrap());
        travel(&service, DAY.0);
    }
    service.audit();
}

/// `tar` compares archive times with the clock, `ps` shows kernel times, and `uptime` subtracts one from the other.
fn what_archives_and_processes_tell(service: &Service, folder: &TempDir) {
    let at = folder.path().to_str().unwrap();
    if is_installed("tar") {
        let packed = Command::new("tar").args(["-C", at, "-cf", &format!("{at}/packed.tar"), "made"]).status();
        assert!(packed.unwrap().success());
        travel(service, "1985-10-26T01:21:00Z");
        let unpack = ["tar", "-C", at, "-xf", &format!("{at}/packed.tar")];
        let (code, _, stderr) = run(&mut exec(service, &unpack), "");
        assert!(code == Some(0) && stderr.contains("in the future"), "{stderr}");
        travel(service, DAY.0);
    }
    if is_installed("ps") && is_installed("uptime") {
        let host = |words: &[&str]| run(Command::new(words[0]).args(&words[1..]).env("TZ", "UTC"), "").1;
        let year = host(&["date", "+%Y"]);
        let begun = done(service, &["sh", "-c", "TZ=UTC ps -o lstart= -p $$"]);
        assert!(begun.trim_end().ends_with(year.trim_end()), "{begun}");
        let passed = std::fs::read_to_string("/proc/uptime").unwrap();
        let passed: i64 = passed.split('.').next().unwrap().parse().unwrap();
        let script = "TZ=UTC date -u -d \"$(TZ=UTC uptime -s)\" +%s";
        let start: i64 = done(service, &["sh", "-c", script]).trim_end().parse().unwrap();
        assert!((-2..600).contains(&(DAY.1 - passed - start)), "{start}, where the system runs for {passed} seconds");
    }
}

/// Measurements by the time of day stand still while the clock is paused.
#[test]
fn database_sleep_lasts_while_the_clock_is_paused() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    if !make_data(folder.path()) {
        return service.audit();
    }
    let script = single("cat", "2>&1");
    let at = folder.path().to_str().unwrap();
    let mut database = Teller::of(exec(&service, &["bash", "-c", &script, at]).stderr(Stdio::inherit()));
    let longer_than_that = ["sleep", "0.6"];
    for (statement, ends) in [
        ("SELECT pg_sleep(0.3)", ""),
        ("SET statement_timeout = 300", ""),
        ("SELECT pg_sleep(3600)", "canceling statement due to statement timeout"),
    ] {
        let current_time = service.get("/v1/clock", &[])["current_time"].as_str().unwrap().to_owned();
        ask(&mut database, "SELECT 'be' || 'gun' AS it", "it = \"begun\"");
        writeln!(database.questions, "{statement}").unwrap();
        assert_eq!(done(&service, &longer_than_that), "");
        service.post("/v1/resume-time", &json!({}));
        if !ends.is_empty() {
            ask(&mut database, "", ends);
        }
        if statement.starts_with("SELECT") {
            let passed =
                format!("SELECT clock_timestamp() >= timestamptz '{current_time}' + interval '0.3s' AS passed");
            ask(&mut database, &passed, "passed = \"t\"");
        }
        service.post("/v1/pause-time", &json!({}));
    }
    drop(database.questions);
    assert_eq!(database.child.wait().unwrap().code(), Some(5));
    service.audit();
}

/// Runs a statement in a database and reads its output up to a text.
fn ask(database: &mut Teller, statement: &str, until: &str) {
    if !statement.is_empty() {
        writeln!(database.questions, "{statement}").unwrap();
    }
    let mut reply = String::new();
    while !reply.contains(until) {
        let line = database.line();
        assert!(!line.is_empty(), "{until}: {reply}");
        reply += &line;
    }
}
