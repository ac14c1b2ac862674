//! Programs that start and wait in large numbers, run under debugging tools, or use a terminal.

use std::process::Stdio;

use tempfile::TempDir;

use super::{DAY, Teller, compiled, done, exec, is_installed, probe, service, travel};
use crate::support::service::{Service, run};

const CROWD: &str = include_str!("../../programs/crowd.c");
const TERMINAL: &str = include_str!("../../programs/terminal.py");

/// Returns for how many seconds programs are started.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here for how long")]
fn seconds() -> String {
    std::env::var("TIMENAV_TEST_STARTS_SECONDS").unwrap_or_else(|_| "2".to_owned())
}

#[test]
fn concurrent_starts_all_show_virtual_time() {
    let (Some(service), Some((_folder, crowd))) = (service(), compiled(CROWD, &["-static"])) else { return };
    let stdout = done(&service, &[&crowd, "starts", &DAY.1.to_string(), &seconds()]);
    println!("{stdout}");
    let started: u64 = stdout.split_once(' ').and_then(|(count, _)| count.parse().ok()).expect("a count");
    assert_eq!(stdout, format!("{started} started, 0 at another time\n"));
    assert!(started >= 200, "{stdout}");
    service.audit();
}

/// Half of them read continuously, the others wait for the time that the clock is moved to.
#[test]
fn three_hundred_threads_see_one_change() {
    let (Some(service), Some((_folder, crowd))) = (service(), compiled(CROWD, &[])) else { return };
    let later = DAY.1 + 86_400;
    let mut threads = Teller::of(&mut exec(&service, &[&crowd, "threads", &later.to_string(), "300"]));
    assert_eq!(threads.line(), "ready\n");
    assert!(threads.child.try_wait().unwrap().is_none(), "it is a day too early");
    travel(&service, "2031-05-07T07:08:09Z");
    assert_eq!(threads.line(), "300 threads, 0 wrong\n");
    assert!(threads.child.wait().unwrap().success());
    service.audit();
}

/// A leak checker stops all threads of its own program, as a debugger would.
#[test]
fn leak_sanitizer_works_in_supervised_programs() {
    let Some(service) = service() else { return };
    let leaks = "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nint main(void) {\n\
                 printf(\"%ld\\n\", (long)time(0));\nfflush(stdout);\nfor (int i = 0; i < 9; i++) malloc(111);\nreturn 0;\n}\n";
    let Some((_folder, program)) = compiled(leaks, &["-O0", "-g", "-fsanitize=address"]) else { return };
    let (native, _, stderr_text) = run(&mut std::process::Command::new(&program), "");
    let (code, stdout, stderr) = run(&mut exec(&service, &[&program]), "");
    assert_eq!(stdout, format!("{}\n", DAY.1), "{stderr}");
    assert_eq!(code, native, "{stderr}\nnatively: {stderr_text}");
    for output in ["detected memory leaks", "999 byte(s) leaked in 9 allocation(s)"] {
        assert_eq!(
            stderr.contains(output),
            stderr_text.contains(output),
            "{output}: {stderr}\nnatively: {stderr_text}"
        );
    }
    service.audit();
}

#[test]
fn interactive_shell_controls_its_jobs() {
    let Some(service) = service() else { return };
    if !is_installed("python3") || !is_installed("perl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("terminal.py");
    std::fs::write(&script, TERMINAL).unwrap();
    let inner = exec(&service, &["env", "PS1=ready$ ", "TERM=dumb", "bash", "--norc", "--noprofile", "-i"]);
    let mut terminal = std::process::Command::new("python3");
    terminal.arg(&script).arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    for (name, value) in inner.get_envs() {
        terminal.env(name, value.unwrap_or_default());
    }
    let (code, stdout, stderr) = run(&mut terminal, "");
    assert_eq!((code, stdout.as_str()), (Some(0), "exit code 7\n"), "{stderr}");
    assert_eq!(stderr.matches(&DAY.1.to_string()).count(), 2, "{stderr}");
    service.audit();
}

/// An unprivileged user can have programs on the clock, even with `no_new_privs`.
#[test]
fn unprivileged_user_can_run_programs_on_the_clock() {
    let (Some(service), Some((folder, probe))) = (service(), probe(&[])) else { return };
    for more in [&[][..], &["--no-new-privs"]] {
        let Some(mut command) = unprivileged(&service, &folder, more, &[&probe, "readings", &DAY.1.to_string()]) else {
            break;
        };
        let (code, stdout, stderr) = run(&mut command, "");
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "done\n", ""), "{more:?}");
    }
    service.audit();
}

/// Returns the command that runs a program from a folder on the clock as an unprivileged user, with these `setpriv`
/// options; `None` if that is not possible here.
pub(super) fn unprivileged(
    service: &Service,
    folder: &TempDir,
    options: &[&str],
    program: &[&str],
) -> Option<std::process::Command> {
    if !is_installed("setpriv") || !rustix::process::geteuid().is_root() {
        return None;
    }
    // Other users may not have access to the tests' folder.
    let timenav = folder.path().join("timenav");
    if !timenav.exists() {
        // By another process: a descriptor open for writing here would be inherited by children of other tests until
        // they execute.
        let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_timenav")).arg(&timenav).status();
        assert!(copied.unwrap().success());
    }
    for path in [folder.path(), &timenav] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let inner = exec(service, program);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).args(options).arg(&timenav);
    command.args(inner.get_args()).current_dir("/");
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    Some(command)
}
