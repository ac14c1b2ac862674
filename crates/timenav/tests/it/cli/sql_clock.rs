//! `timenav sql-clock`: a SQL function that returns the time of a timeline's clock.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::command;
use crate::process::Cluster;
use crate::support::instant::micros;
use crate::support::service::{Service, fails, run};
use crate::support::waiting::until_so;

const NOW: &str = "SELECT timenav_now() AT TIME ZONE 'UTC'";
const DAY: (&str, &str) = ("2031-05-06T07:08:09Z", "2031-05-06 07:08:09");

/// A running `timenav sql-clock`.
struct SqlClock(Child);

impl SqlClock {
    fn start(service: &Service, cluster: &Cluster) -> Self {
        let mut command = command(service, &["sql-clock", "--database", &cluster.url]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "keeping timenav_now() in schema public of postgres:///postgres: timeline main\n");
        Self(child)
    }

    fn end(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.0), Signal::INT).unwrap();
        self.0.wait().unwrap()
    }
}

fn psql(cluster: &Cluster, statement: &str) -> (Option<i32>, String, String) {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", &cluster.url, "-c", statement]);
    let (code, stdout, stderr) = run(&mut psql, "");
    (code, stdout.trim_end().to_owned(), stderr)
}

/// Runs a statement that succeeds and returns its result.
#[track_caller]
fn ask(cluster: &Cluster, statement: &str) -> String {
    let (code, stdout, stderr) = psql(cluster, statement);
    assert_eq!(code, Some(0), "{statement}: {stderr}");
    stdout
}

#[track_caller]
fn until_it_says(cluster: &Cluster, statement: &str, expected: &str) {
    until_so(&format!("{statement}: {expected}"), || psql(cluster, statement).1 == expected);
}

fn travel(service: &Service, to: &str) {
    service.post("/v1/travel", &json!({ "destination_time": to }));
}

/// Runs the command, which fails, and returns its stderr.
#[track_caller]
fn refused(service: &Service, cluster: &Cluster, options: &[&str], expected: i32) -> String {
    let arguments = [&["sql-clock", "--database", &cluster.url], options].concat();
    fails(&mut command(service, &arguments), expected, "")
}

#[test]
fn sql_function_follows_the_clock() {
    let (cluster, service) = (Cluster::start(), Service::start());
    service.post("/v1/pause-time", &json!({}));
    travel(&service, DAY.0);
    // A user who may not read the timeline changes nothing.
    refused(&service, &cluster, &["--timeline", "nowhere"], 5);
    assert_eq!(ask(&cluster, "SELECT to_regclass('timenav_clock') IS NULL"), "t");
    let clock = SqlClock::start(&service, &cluster);
    assert_eq!(ask(&cluster, NOW), DAY.1);
    for (to, reading) in [
        ("1969-07-20T20:17:40.5Z", "1969-07-20 20:17:40.5"),
        ("0001-01-01T00:00:00Z", "0001-01-01 00:00:00"),
        ("-000043-03-15T12:00:00.000001Z", "0044-03-15 12:00:00.000001 BC"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
        (DAY.0, DAY.1),
    ] {
        travel(&service, to);
        until_it_says(&cluster, NOW, reading);
    }
    // As a column default, in any time zone, for any role.
    ask(&cluster, "CREATE TABLE orders (id int, at timestamptz DEFAULT timenav_now()); CREATE ROLE reader");
    ask(&cluster, "SET timezone = 'Asia/Tokyo'; INSERT INTO orders (id) VALUES (1)");
    assert_eq!(ask(&cluster, "SELECT at AT TIME ZONE 'UTC' FROM orders"), DAY.1);
    assert_eq!(ask(&cluster, &format!("SET ROLE reader; {NOW}")), DAY.1);
    // A transaction can use a different time, as the clients' `set_sql_clock` does, without affecting others.
    let other = "BEGIN; SET LOCAL timenav.now = '0044-03-15 12:00:00+00 BC'";
    ask(&cluster, &format!("{other}; INSERT INTO orders (id) VALUES (2); COMMIT; INSERT INTO orders (id) VALUES (3)"));
    let rows = "SELECT string_agg((at AT TIME ZONE 'UTC')::text, ',' ORDER BY id) FROM orders WHERE id > 1";
    assert_eq!(ask(&cluster, rows), format!("0044-03-15 12:00:00 BC,{}", DAY.1));
    assert!(psql(&cluster, &format!("SET timenav.now = 'noon'; {NOW}")).2.contains("noon"));
    // The time is right between two changes, at any rate.
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    until_it_says(&cluster, "SELECT NOT is_paused AND rate_millionths = 3600000000 FROM timenav_clock", "t");
    let both = "SELECT (extract(epoch FROM timenav_now()) * 1000000)::bigint, uncertainty_micros FROM timenav_clock";
    let clock_shows = || micros(service.get("/v1/clock", &[])["current_time"].as_str().unwrap());
    for _ in 0..3 {
        let before = clock_shows();
        let output = ask(&cluster, both);
        let after = clock_shows();
        let (reading, uncertainty) = output.split_once('|').unwrap();
        let (reading, uncertainty): (i128, i128) = (reading.parse().unwrap(), uncertainty.parse().unwrap());
        // One millisecond for truncation.
        let slack = (uncertainty + 1_000) * 3_600;
        assert!(
            before - slack <= reading && reading <= after + slack,
            "{before} {reading} {after}, uncertain {uncertainty}"
        );
    }
    service.post("/v1/pause-time", &json!({}));
    travel(&service, DAY.0);
    until_it_says(&cluster, NOW, DAY.1);
    // Only one program can keep a clock.
    let output = refused(&service, &cluster, &[], 1);
    assert!(output.contains("another timenav sql-clock keeps the clock"), "{output}");
    assert!(clock.end().success());
    assert_eq!(ask(&cluster, "SELECT unconfirmed_since IS NOT NULL FROM timenav_clock"), "t");
    assert_eq!(ask(&cluster, NOW), DAY.1, "it keeps the last clock");
    // It can only be removed if nothing depends on it.
    let output = refused(&service, &cluster, &["--uninstall"], 1);
    assert!(output.contains("if a column or a view uses it"), "{output}");
    assert!(output.contains("cannot drop function timenav_now()") && !output.contains("store"), "{output}");
    ask(&cluster, "ALTER TABLE orders ALTER at DROP DEFAULT");
    let uninstall = ["sql-clock", "--database", &cluster.url, "--uninstall"];
    assert_eq!(run(&mut command(&service, &uninstall), "").0, Some(0));
    let lookup = "SELECT to_regclass('timenav_clock') IS NULL AND to_regprocedure('timenav_now()') IS NULL";
    assert_eq!(ask(&cluster, lookup), "t");
    // Foreign objects with that name are not replaced.
    ask(&cluster, "CREATE FUNCTION timenav_now() RETURNS int LANGUAGE sql RETURN 1");
    for options in [&[][..], &["--uninstall"]] {
        let output = refused(&service, &cluster, options, 1);
        assert!(output.contains("has a function timenav_now() that timenav did not create"), "{output}");
    }
    service.audit();
}

#[test]
fn sql_function_survives_database_service_and_updater_restarts() {
    let (mut cluster, mut service) = (Cluster::start(), Service::start());
    service.post("/v1/pause-time", &json!({}));
    travel(&service, DAY.0);
    let mut clock = SqlClock::start(&service, &cluster);
    // The database stops and restarts.
    cluster.order("stop");
    travel(&service, "2032-01-01T00:00:00Z");
    cluster.order("start");
    until_it_says(&cluster, NOW, "2032-01-01 00:00:00");
    // The service stops.
    service.kill();
    until_it_says(&cluster, "SELECT unconfirmed_since IS NOT NULL FROM timenav_clock", "t");
    assert_eq!(ask(&cluster, NOW), "2032-01-01 00:00:00");
    // The program is killed, and another one takes over.
    clock.0.kill().unwrap();
    clock.0.wait().unwrap();
    service.start_again();
    travel(&service, DAY.0);
    let clock = SqlClock::start(&service, &cluster);
    assert_eq!(ask(&cluster, NOW), DAY.1);
    assert_eq!(ask(&cluster, "SELECT unconfirmed_since IS NULL FROM timenav_clock"), "t");
    assert!(clock.end().success());
    service.audit();
}
