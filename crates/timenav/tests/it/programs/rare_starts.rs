//! Unusual ways of starting programs, and many threads that make system calls at once.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{DAY, PATH, Teller, children, compiled, done, exec, file, is_installed, service, travel};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until;

pub(super) const WAYS: &str = include_str!("../../programs/ways.c");
/// Where Debian installs musl.
const MUSL: &str = "/usr/lib/x86_64-linux-musl";
/// The methods that support static programs.
const BY: [&str; 2] = ["exec", "trace"];

/// Returns a static position-independent musl program, if it can be built.
fn with_musl() -> Option<(TempDir, String)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (file(&folder, "program.c"), file(&folder, "program"));
    std::fs::write(&source, WAYS).unwrap();
    let found = Command::new("gcc").arg("-print-file-name=include").output().ok()?.stdout;
    let mut compiler = Command::new("gcc");
    compiler.args(["-O1", "-Wall", "-static-pie", "-fPIE", "-nostdlib", "-nostdinc"]);
    for headers in ["/usr/include/x86_64-linux-musl", String::from_utf8_lossy(&found).trim_end()] {
        compiler.args(["-isystem", headers]);
    }
    compiler.args(["-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu"]);
    compiler.arg("-o").arg(&program).arg(format!("{MUSL}/rcrt1.o")).arg(&source).arg(format!("{MUSL}/libc.a"));
    let is_made = Path::new(MUSL).exists() && compiler.arg("-lgcc").status().is_ok_and(|status| status.success());
    if !is_made {
        eprintln!("skipped for musl: it is not installed, or the compiler has no -static-pie");
    }
    is_made.then(|| (folder, program.to_str().unwrap().to_owned()))
}

/// Runs a program with a method. Returns its exit code, stdout, and stderr without the notice of the method.
fn run_on_clock(service: &Service, via: &str, program: &[&str]) -> (Option<i32>, String, String) {
    let words = [&["exec", "--via", via, "--"], program].concat();
    let (code, stdout, stderr) = run(command(service, &words).env("PATH", PATH), "");
    let rest = stderr.lines().filter(|line| !line.contains("programs are traced")).collect::<Vec<_>>().join("\n");
    (code, stdout, rest)
}

/// An anonymous copy, a child with shared memory, a position-independent program.
#[test]
fn rare_starts_are_on_the_clock() {
    let Some(service) = service() else { return };
    let seconds = DAY.1.to_string();
    let fixed = [&[][..], &["-static"], &["-static-pie"]];
    for (_folder, program) in fixed.iter().filter_map(|flags| compiled(WAYS, flags)).chain(with_musl()) {
        for via in BY {
            for (way, count) in [("look", 1), ("nameless", 2), ("sharing", 3)] {
                let expected = (Some(0), "looked\n".repeat(count), String::new());
                assert_eq!(run_on_clock(&service, via, &[&program, way, &seconds]), expected, "{via} {way}");
            }
        }
    }
    service.audit();
}

/// A script whose interpreter is a script, and one without an interpreter line.
#[test]
fn nested_script_interpreters_are_on_the_clock() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| file(&folder, name).to_str().unwrap().to_owned();
    let scripts = [
        ("first", format!("#!{} word\n", path("second"))),
        ("second", format!("#!{}\n", path("third"))),
        ("third", "#!/bin/sh\ndate +%s\necho \"$2\"\n".to_owned()),
        ("bare", "date +%s\n".to_owned()),
    ];
    for (name, text) in &scripts {
        std::fs::write(path(name), text).unwrap();
        std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(done(&service, &[&path("first")]), format!("{}\nword\n", DAY.1));
    assert_eq!(done(&service, &["sh", "-c", &path("bare")]), format!("{}\n", DAY.1));
    service.audit();
}

/// All wait for the supervisor, which has one more task at each jump.
#[test]
fn three_hundred_threads_see_each_clock_jump() {
    let (Some(service), Some((_folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    let last = (DAY.1 + 4 * 3600).to_string();
    let words = [ways.as_str(), "threads", &DAY.1.to_string(), &last, "300"].map(str::to_owned);
    let mut threads = Teller::of(&mut exec(&service, &words.each_ref().map(String::as_str)));
    for to in ["2031-05-06T08:08:09Z", "2031-05-06T10:08:09Z", "2031-05-06T09:08:09Z", "2031-05-06T11:08:09Z"] {
        assert_eq!(threads.line(), "asked\n");
        travel(&service, to);
    }
    assert_eq!(threads.line(), "300 threads, 0 wrong\n");
    assert!(threads.child.wait().unwrap().success());
    service.audit();
}

/// Children of a program under a debugger are on the clock, since the debugger detaches from them.
#[test]
fn children_of_debugged_program_are_on_the_clock() {
    let (Some(service), Some((_folder, ways))) = (service(), compiled(WAYS, &[])) else { return };
    if !is_installed("gdb") {
        return service.audit();
    }
    let mut starter = Teller::of(&mut exec(&service, &[&ways, "starter", &DAY.1.to_string()]));
    starter.start_one();
    let program = children(children(starter.child.id())[0])[0];
    let mut debugger = Command::new("gdb");
    debugger.args(["-batch", "-nx", "-p", &program.to_string(), "-ex", "continue"]);
    let debugger = debugger.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut debugger = debugger.unwrap();
    let status = || std::fs::read_to_string(format!("/proc/{program}/status")).unwrap();
    let is_watched = |text: &str| text.lines().any(|line| line == format!("TracerPid:\t{}", debugger.id()));
    until("a debugger that watches", || is_watched(&status()).then_some(()));
    for _ in 0..3 {
        starter.start_one();
    }
    assert!(is_watched(&status()));
    drop(starter.questions);
    assert!(starter.child.wait().unwrap().success());
    assert!(debugger.wait().unwrap().success());
    service.audit();
}

impl Teller {
    /// Lets a program start another, which only prints that it read the clock.
    #[track_caller]
    fn start_one(&mut self) {
        self.questions.write_all(b"\n").unwrap();
        assert_eq!((self.line(), self.line()), ("looked\n".to_owned(), "started\n".to_owned()));
    }
}
