//! Many starts of each program of the matrix: the first thing that it shows is the clock, each time.

use std::collections::BTreeMap;

use super::{Row, on_clock, preloaded_rows, rows, traced_rows};
use crate::programs::{DAY, service};
use crate::service::run;

/// Starts a program so many times, and asks it once.
const STARTS: &str = "n=$1; shift; while [ $n -gt 0 ]; do echo '?' | \"$@\"; n=$((n-1)); done";
/// How often each program is started where nobody says.
const FEW: u32 = 2;

/// Returns how often programs are started; `None` if nobody says so.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here how often")]
fn asked() -> Option<u32> {
    std::env::var("TIMENAV_TEST_STARTS_EACH").ok().map(|text| text.parse().expect("a number of starts"))
}

#[test]
fn no_start_of_any_program_is_missed() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    // For programs that become another user.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let times = asked().unwrap_or(FEW);
    let mut all: Vec<Row> = rows(folder.path());
    // A debugger attaches to a program that has been started.
    all.retain(|row| !row.is_watched());
    if asked().is_some() {
        let others = [traced_rows(folder.path(), &all), preloaded_rows(&all)].concat();
        all.extend(others);
    }
    let mut missed = Vec::new();
    for row in &all {
        let Some(words) = &row.command else { continue };
        let many = ["sh", "-c", STARTS, "sh", &times.to_string()].map(str::to_owned);
        let command = &mut on_clock(&service, folder.path(), (row.way, &[]), &[&many[..], words].concat());
        let (_, stdout, stderr) = run(command, "");
        let mut shown: BTreeMap<&str, u32> = BTreeMap::new();
        for line in stdout.lines() {
            *shown.entry(line).or_default() += 1;
        }
        println!("{} by {}, {}: {shown:?}", row.program, row.asks_by, row.way);
        if shown != BTreeMap::from([(DAY.1.to_string().as_str(), times)]) {
            missed.push(format!("{} by {}, {}: {shown:?} {stderr}", row.program, row.asks_by, row.way));
        }
    }
    assert!(missed.is_empty(), "of {times} starts each:\n{}", missed.join("\n"));
    service.audit();
}
