//! Many starts of each program of the matrix: the first time it shows is always the clock's.

use super::{Row, on_clock, preloaded_rows, rows, seconds_of, traced_rows};
use crate::programs::{DAY, service};
use crate::support::service::run;

/// Starts a program `n` times and queries it once each.
const STARTS: &str = "n=$1; shift; while [ $n -gt 0 ]; do echo '?' | \"$@\"; n=$((n-1)); done";
/// Default number of starts per program.
const FEW: u32 = 2;
const DAY_SECONDS: u64 = 86_400;
const HEAD: &str = "| program | asks by | way | starts | showed the clock | host time | something else | nothing |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Returns the configured number of starts.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here how often")]
fn requested_count() -> Option<u32> {
    std::env::var("TIMENAV_TEST_STARTS_EACH").ok().map(|text| text.parse().expect("a number of starts"))
}

#[test]
fn repeated_program_starts_always_show_virtual_time() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    // For programs that switch users.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let times = requested_count().unwrap_or(FEW);
    let mut all: Vec<Row> = rows(folder.path());
    // A debugger attaches after the start.
    all.retain(|row| !row.is_watched());
    if requested_count().is_some() {
        let others = [traced_rows(folder.path(), &all), preloaded_rows(&all)].concat();
        all.extend(others);
    }
    // The clock was paused just before.
    let host = seconds_of(service.get("/v1/clock", &[])["origin_host"].as_str().unwrap());
    let mut missed = Vec::new();
    println!("{HEAD}");
    for row in &all {
        let Some(words) = &row.command else { continue };
        let many = ["sh", "-c", STARTS, "sh", &times.to_string()].map(str::to_owned);
        let command = &mut on_clock(&service, folder.path(), (row.way, &[]), &[&many[..], words].concat());
        let (_, stdout, stderr) = run(command, "");
        let readings = Readings::of(&stdout, times, host);
        println!("| {} | {} | {} | {} |", row.program, row.asks_by, row.way, readings.cells());
        if readings.right != times || readings.wrong() != 0 {
            missed.push(format!("{} by {}, {}: {stdout} {stderr}", row.program, row.asks_by, row.way));
        }
    }
    assert!(missed.is_empty(), "of {times} starts each:\n{}", missed.join("\n"));
    service.audit();
}

/// The first times shown by a program.
struct Readings {
    starts: u32,
    right: u32,
    host: u32,
    other: u32,
}

impl Readings {
    fn of(stdout: &str, starts: u32, host: i64) -> Self {
        let mut readings = Self { starts, right: 0, host: 0, other: 0 };
        for line in stdout.lines() {
            let count = match line.parse::<i64>() {
                Ok(seconds) if seconds == DAY.1 => &mut readings.right,
                Ok(seconds) if seconds.abs_diff(host) < DAY_SECONDS => &mut readings.host,
                Ok(_) | Err(_) => &mut readings.other,
            };
            *count += 1;
        }
        readings
    }

    fn wrong(&self) -> u32 {
        self.host + self.other
    }

    fn cells(&self) -> String {
        let nothing = self.starts.saturating_sub(self.right + self.wrong());
        format!("{} | {} | {} | {} | {nothing}", self.starts, self.right, self.host, self.other)
    }
}
