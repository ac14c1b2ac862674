//! `cargo nextest` and `cargo test` with a clock per process, as in `parallel-tests.md`; pytest-xdist is in the tests
//! of the Python client.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::{folder, recipe};
use crate::programs::notice;
use crate::support::service::{Service, run};

/// Tests that each need a different day at the same time.
const TESTS: &str = r#"
use std::{env, fs, path::PathBuf, process::Command, thread::sleep, time::{Duration, SystemTime}};

fn day() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 86_400
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let is_reached = (0..60_000).any(|_| is_so() || { sleep(Duration::from_millis(1)); false });
    assert!(is_reached, "{what}");
}

fn be_there(name: &str, to: &str, expected: u64, others: usize) {
    let moved = Command::new("timenav").args(["clock", "travel", to]).status().unwrap();
    assert!(moved.success());
    until("the day", || day() == expected);
    let place = PathBuf::from(env::var("PLACE").unwrap());
    fs::write(place.join(name), "").unwrap();
    until("the others", || fs::read_dir(&place).unwrap().count() >= others);
    assert_eq!(day(), expected);
}

#[test]
fn in_a_leap_year() { be_there("leap", "2028-02-29T12:00:00Z", 21_243, 3) }
#[test]
fn in_the_past() { be_there("past", "1999-12-31T12:00:00Z", 10_956, 3) }
#[test]
fn after_2038() { be_there("after", "2041-01-01T12:00:00Z", 25_933, 3) }
#[test]
fn alone() { be_there("alone", "2028-03-01T12:00:00Z", 21_244, 1) }
"#;

/// Returns the Cargo commands of the page: the exports and the test command.
fn commands_of(page: &str) -> (String, String) {
    let typed = |start: &str| {
        let mut found = page.lines().filter_map(|line| line.strip_prefix("$ ")).filter(|line| line.starts_with(start));
        found.next().unwrap_or_else(|| panic!("the page has no `{start}`")).to_owned()
    };
    (typed("export CARGO_TARGET"), typed("cargo nextest"))
}

fn write_package(at: &Path, script: &str) {
    for inner in ["src", "tests", "bin", "place"] {
        std::fs::create_dir(at.join(inner)).unwrap();
    }
    let manifest = "[package]\nname = \"years\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
    for (name, text) in
        [("Cargo.toml", manifest), ("src/lib.rs", ""), ("tests/years.rs", TESTS), ("own-clock.sh", script)]
    {
        std::fs::write(at.join(name), text).unwrap();
    }
    std::fs::set_permissions(at.join("own-clock.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_timenav"), at.join("bin/timenav")).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "Cargo is where it was for whoever runs the tests")]
fn nextest_gives_each_test_its_own_clock() {
    let is_there = Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|it| it.status.success());
    if !is_there {
        println!("skipped: cargo-nextest is not installed");
        return;
    }
    let service = Service::start();
    // The output is not compared, so any method will do.
    if notice(&service, "auto").is_none() {
        return service.audit();
    }
    let page = std::fs::read_to_string(folder().join("parallel-tests.md")).unwrap();
    let (_, script) = recipe(&page).files.into_iter().find(|(name, _)| name == "own-clock.sh").expect("the script");
    let (export, nextest) = commands_of(&page);
    let package = tempfile::tempdir().unwrap();
    write_package(package.path(), &script);
    // As many in parallel as wait for each other, regardless of the number of processors.
    let typed = format!(
        "{export}; export NEXTEST_TEST_THREADS=4; {nextest} --offline && rm place/* && cargo test --offline alone"
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = Command::new("bash");
    bash.args(["-c", &typed]).current_dir(package.path()).env_remove("TIMENAV_TIMELINE");
    bash.env("PATH", format!("{}:{path}", package.path().join("bin").display()))
        .env("PLACE", package.path().join("place"));
    bash.env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
    bash.env("CARGO_TARGET_DIR", package.path().join("target")).env("CARGO_TERM_COLOR", "never");
    let (code, stdout, stderr) = run(&mut bash, "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("4 tests run: 4 passed"), "{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
    let left = service.get("/v1/timelines", &[]).to_string();
    assert!(!left.contains("\"test-"), "{left}");
    service.audit();
}
