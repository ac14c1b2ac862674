//! What stays host time, as docs/programs.md says: file times, timeouts of `io_uring`, and timers that are never
//! cancelled.

use std::io::Write as _;
use std::process::Stdio;

use super::{DAY, Teller, compiled, done, exec, file, is_installed, service, travel};

const SOURCE: &str = include_str!("../../programs/host.c");

#[test]
fn what_the_page_says_is_host_time_is() {
    let (Some(service), Some((folder, host))) = (service(), compiled(SOURCE, &[])) else { return };
    let made = file(&folder, "made");
    let now = made.parent().unwrap().metadata().unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    let shown = DAY.1.to_string();
    let words = [host.as_str(), &now, &shown, made.to_str().unwrap()];
    let mut program = Teller::of(exec(&service, &words).stderr(Stdio::inherit()));
    let mut line = program.line();
    if line == "no rings\n" {
        eprintln!("skipped for io_uring: this system has none");
        line = program.line();
    }
    assert_eq!(line, "ready\n");
    travel(&service, "2031-05-06T07:30:00Z");
    program.questions.write_all(b"\n").unwrap();
    assert_eq!(program.line(), "done\n");
    assert!(program.child.wait().unwrap().success());
    // A file that was made a second ago is years old to whoever compares its time with the clock; touching it helps no
    // one.
    let made = made.to_str().unwrap();
    assert_eq!(done(&service, &["find", made, "-mtime", "+30"]), format!("{made}\n"));
    assert_eq!(done(&service, &["sh", "-c", "touch \"$0\"; find \"$0\" -mtime +30", made]), format!("{made}\n"));
    if is_installed("make") {
        let rule = format!("all: {made}\n\t@echo made\n");
        std::fs::write(file(&folder, "Makefile"), rule).unwrap();
        travel(&service, "1985-10-26T01:21:00Z");
        let folder = folder.path().to_str().unwrap();
        let (code, stdout, stderr) = crate::service::run(&mut exec(&service, &["make", "-C", folder]), "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        assert!(stderr.contains("modification time") && stderr.contains("in the future"), "{stderr}");
    }
    service.audit();
}
