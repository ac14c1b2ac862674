//! PostgreSQL instead of a file: visible differences, and behavior while the database is unavailable.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::refused_start;
use super::replicas::send;
use crate::support::http::Request;
use crate::support::service::{Process, Service, ends, fails, make_signing_key, run, timenav};
use crate::support::waiting::until_so;

/// A server for this test, stopped with it.
pub(crate) struct Cluster {
    process: Child,
    orders: ChildStdin,
    output: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../timenav-store/tests/postgres.sh");
        let mut process = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut cluster = Self { process, orders, output, url: String::new() };
        cluster.url = cluster.line();
        assert!(cluster.url.starts_with("postgres:"), "{}", cluster.url);
        cluster
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Returns whether it is the coordinator of a Citus cluster.
    #[expect(clippy::disallowed_methods, reason = "the test command says here what the tests run on")]
    pub(crate) fn is_spread() -> bool {
        std::env::var("PG_CITUS_WORKERS").is_ok_and(|workers| workers != "0")
    }

    /// Kills or restarts the server, or changes its state.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        assert_eq!(self.line(), format!("{order}: done"));
    }

    /// Runs a statement in the service's database as another client. Returns whether it succeeded.
    pub(crate) fn ask(&mut self, statement: &str) -> bool {
        writeln!(self.orders, "ask {statement}").unwrap();
        match &*self.line() {
            "ask: done" => true,
            "ask: refused" => false,
            line => panic!("{statement}: {line}"),
        }
    }

    /// Returns a URL with the server and its standby; the client uses the writable one.
    pub(crate) fn url_of_both(&self) -> String {
        let (before, after) = self.url.split_once("host=").unwrap();
        let (folder, rest) = after.split_once('&').unwrap();
        format!("{before}host={folder}&host={folder}&port=5432,5433&{rest}")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = writeln!(self.orders, "end");
        let _ = self.process.wait();
    }
}

/// Errors that a service logs while its database is unavailable.
pub(super) const OUTAGE_ERRORS: [&str; 4] =
    ["a group could not be committed", "the store cannot be read", "nothing could be pruned", "ended timelines"];

/// Checks that a change, a read and a probe get 503. They are sent at once, because each may wait for a timeout.
fn check_unavailable(service: &Service, change: Request) {
    let requests = [change, Request::get("/v1/anchors"), Request::get("/readyz").anonymous()];
    let waiting = requests.map(|request| {
        let mut connection = service.connect();
        connection.send_request(&service.signed(request));
        connection
    });
    for mut connection in waiting {
        let answer = connection.answer(false).unwrap();
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{answer}");
    }
}

#[test]
fn service_reports_database_outage_and_recovers() {
    let mut cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    service.errors_expected = OUTAGE_ERRORS.to_vec();
    let ready = |service: &Service| service.send(Request::get("/readyz").anonymous());
    service.post("/v1/events", &json!({ "event_id": "before", "time": "2001-01-01T00:00:00Z", "description": "x" }));
    assert!(!service.data().join("timenav.db").exists(), "everything is in the database");
    assert_eq!(ready(&service).status, 200);
    for _ in 0..2 {
        cluster.order("stop");
        for request in
            [Request::get("/v1/anchors"), Request::post("/v1/pause-time"), Request::get("/readyz").anonymous()]
        {
            let answer = service.send(request);
            assert_eq!(answer.header("retry-after"), Some("1"));
            answer.refused(503, "unavailable");
        }
        assert_eq!(service.send(Request::get("/healthz").anonymous()).status, 200);
        cluster.order("start");
        until_so("the database to be back", || ready(&service).status == 200);
        service.post("/v1/pause-time", &json!({}));
        service.post("/v1/resume-time", &json!({}));
    }
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.restart();
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.scan_is_clean("main");
    service.audit();
}

#[test]
fn service_that_starts_before_its_database_waits_for_it() {
    let mut cluster = Cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    make_signing_key(&data);
    cluster.order("stop");
    let mut starting = timenav();
    let url = format!("{}&password=very-secret", cluster.url);
    starting.args(["serve", "--listen", "127.0.0.1:0", "--store", &url, "--data"]).arg(&data);
    let log_file = std::fs::File::create(&log).unwrap();
    let mut starting = starting.stdout(Stdio::piped()).stderr(log_file).spawn().unwrap();
    let text = || std::fs::read_to_string(&log).unwrap();
    until_so("a start that waits for the database", || text().contains("the service is waiting for its database"));
    let address = text().split_once("address=").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let status = |path: &str| send(address, &Request::get(path).anonymous()).unwrap();
    assert_eq!(status("/healthz").status, 200);
    assert!(status("/metrics").text().contains("timenav_ready 0"));
    let answer = status("/v1/clock");
    assert_eq!(answer.header("retry-after"), Some("1"));
    answer.refused(503, "unavailable");
    status("/readyz").refused(503, "unavailable");
    cluster.order("start");
    let mut line = String::new();
    BufReader::new(starting.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, format!("listening on http://{address}\n"), "{}", text());
    assert_eq!(status("/readyz").status, 200);
    assert!(!text().contains("very-secret"), "{}", text());
    starting.kill().unwrap();
    starting.wait().unwrap();
    // An invalid address ends a start.
    let refused = refused_start(&data, &["--store", &cluster.url.replace("user=timenav", "user=nobody")]);
    assert!(refused.starts_with("error: the database postgres://"), "{refused}");
}

/// Server timeouts do not cover the wait for a standby; clients get an error before their own timeout.
#[test]
fn missing_synchronous_standby_is_reported_on_new_connections() {
    let mut cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    service.errors_expected = OUTAGE_ERRORS.to_vec();
    for statement in ["ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"] {
        assert!(cluster.ask(statement), "{statement}");
    }
    let waits = "SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    // The server's processes reload their settings one after the other.
    let end_sessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'timenav'";
    until_so("new connections to wait for the standby", || {
        assert!(cluster.ask(end_sessions));
        service.send(Request::get("/readyz").anonymous());
        cluster.ask(waits)
    });
    assert!(cluster.ask(end_sessions));
    check_unavailable(&service, Request::post("/v1/pause-time"));
    assert!(service.log_text().contains("`synchronous_standby_names`"), "{}", service.log_text());
    // A start fails with the reason, immediately if a signal arrives.
    assert!(service.stop().success());
    let url = cluster.url.clone();
    let store = ["--store", &url];
    assert!(refused_start(&service.data(), &store).contains("`synchronous_standby_names`"));
    // Sessions of a process that ended during startup may still exist.
    assert!(cluster.ask("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
    let nobody_waits = "SELECT 1 / (count(*) = 0)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    until_so("the sessions of before to be gone", || cluster.ask(nobody_waits));
    let mut starting = timenav();
    starting.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(service.data()).args(store);
    let mut starting = starting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until_so("a start that waits for the standby", || cluster.ask(waits));
    let pid = rustix::process::Pid::from_child(&starting);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let log = std::io::read_to_string(starting.stderr.take().unwrap()).unwrap();
    assert_eq!(starting.wait().unwrap().code(), Some(1), "{log}");
    assert!(log.contains("SIGTERM was received before the service had started"), "{log}");
    for statement in ["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"] {
        assert!(cluster.ask(statement), "{statement}");
    }
    service.start_again();
    service.post("/v1/pause-time", &json!({}));
    service.audit();
}

/// Its host acknowledges packets, and its own timeouts do not apply.
#[test]
fn frozen_database_server_does_not_block_forever() {
    let mut cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url, "--shutdown-deadline-secs", "1"]);
    service.errors_expected = [&OUTAGE_ERRORS[..], &["the last entries could not be written"]].concat();
    service.post("/v1/pause-time", &json!({}));
    cluster.order("freeze");
    check_unavailable(&service, Request::post("/v1/resume-time"));
    cluster.order("thaw");
    until_so("the database to be back", || service.send(Request::get("/readyz").anonymous()).status == 200);
    service.post("/v1/resume-time", &json!({}));
    // Shutdown does not wait for it either, with a write in progress.
    cluster.order("freeze");
    let mut waiting = service.connect();
    waiting.send_request(&Request::post("/v1/pause-time"));
    assert_eq!(service.send(Request::get("/readyz").anonymous()).status, 503);
    assert!(service.stop().success());
    assert!(service.log_text().contains("the last entries could not be written"), "{}", service.log_text());
    cluster.order("thaw");
    service.start_again();
    service.audit();
}

/// It accepts connections without responding, like the host of a frozen server.
#[test]
fn unresponsive_database_host_is_skipped() {
    let cluster = Cluster::start();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let (before, after) = cluster.url.split_once("host=").unwrap();
    let (folder, rest) = after.split_once('&').unwrap();
    let port = mute.local_addr().unwrap().port();
    let only = format!("{before}host=127.0.0.1&port={port}&{rest}&connect_timeout=1");
    let data = tempfile::tempdir().unwrap();
    make_signing_key(data.path());
    let log = refused_start(data.path(), &["--store", &only]);
    assert!(
        log.contains(&format!("the server 127.0.0.1, port {port}, has accepted no connection for 2 seconds")),
        "{log}"
    );
    let both = format!("{before}host=127.0.0.1&host={folder}&port={port},5432&{rest}&connect_timeout=1");
    let mut service = Service::with(&["--store", &both]);
    service.post("/v1/pause-time", &json!({}));
    service.restart();
    service.audit();
}

#[test]
fn second_service_or_wrong_key_cannot_use_the_database() {
    let cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    let other = tempfile::tempdir().unwrap();
    let second = other.path().join("second");
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    assert!(service.stop().success());
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("is in use, but the key that signs its ledgers"), "{refused}");
    assert!(!second.join("signing.key").exists(), "no key is made that signs none of it");
    std::fs::write(second.join("timenav.db"), "").unwrap();
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("--store names another database"), "{refused}");
    service.start_again();
    service.audit();
}

/// Services on one database would each create a different key, so none does. Like a mounted secret, the key may be
/// outside the data folder.
#[test]
fn service_uses_a_signing_key_created_by_the_operator() {
    let cluster = Cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let (data, keys, log) = (folder.path().join("data"), folder.path().join("keys"), folder.path().join("log"));
    let key = keys.join("signing.key").display().to_string();
    for replicas in [&["--store", &cluster.url][..], &["--store", &cluster.url, "--replicas"]] {
        let refused = refused_start(&data, replicas);
        let command = format!("create it with `timenav signing-key new {}/signing.key`", data.display());
        assert!(refused.contains(&command), "{refused}");
        assert!(!data.join("signing.key").exists() && !data.join("admin.key").exists());
    }
    let arguments = ["--store", &cluster.url, "--signing-key", &key];
    let refused = refused_start(&data, &arguments);
    assert!(refused.contains(&format!("create it with `timenav signing-key new {key}`")), "{refused}");
    let public = make_signing_key(&keys);
    assert!(public.starts_with("timenav.local/main+"), "{public}");
    let refused = refused_start(&data, &["--signing-key", &key]);
    assert!(refused.contains("`signing_key` is for a service with a PostgreSQL database"), "{refused}");
    let check_start = || {
        let process = Process::start(&data, &log, &arguments);
        let admin = std::fs::read_to_string(data.join("admin.key")).unwrap();
        let to = Request::post("/v1/travel").json(&json!({ "destination_time": "2030-01-01T00:00:00Z" }));
        assert_eq!(send(process.address, &to.key(admin.trim_end())).unwrap().status, 200);
        process.kill();
        assert!(!data.join("signing.key").exists() && !data.join("admin.key.first").exists());
    };
    check_start();
    let outcome = || doctor(&data, &[&["--security"], &arguments[..]].concat())["signing-key"]["outcome"].clone();
    assert_eq!(outcome(), "ok");
    std::fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    assert_eq!(outcome(), "fail", "the key belongs to the user of the service, and a group can read it");
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();

    let old = std::fs::read_to_string(&key).unwrap();
    let rotate = |expected: i32| {
        let mut command = timenav();
        ends(command.args(["rotate-signing-key", "--data"]).arg(&data).args(arguments), expected)
    };
    // A mounted file cannot be replaced, which is detected before any ledger is changed.
    let in_the_way = keys.join("signing.key.try");
    std::fs::create_dir(&in_the_way).unwrap();
    let printed = rotate(1);
    assert!(printed.contains("the new key cannot be written to"), "{printed}");
    assert_eq!(std::fs::read_to_string(&key).unwrap(), old);
    check_start();
    std::fs::remove_dir(&in_the_way).unwrap();
    rotate(0);
    assert_ne!(std::fs::read_to_string(&key).unwrap(), old);
    check_start();
    let mut verify = timenav();
    fails(verify.args(["verify", "--store", &cluster.url, "--data"]).arg(&data), 1, "there is no --key");
}

/// Runs `timenav doctor` and returns the result of each check.
fn doctor(data: &Path, more: &[&str]) -> std::collections::BTreeMap<String, Value> {
    let (_, stdout, stderr) = run(timenav().args(["doctor", "--json", "--data"]).arg(data).args(more), "");
    let output: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let all = output["checks"].as_array().unwrap().iter();
    all.map(|check| (check["name"].as_str().unwrap().to_owned(), check.clone())).collect()
}

#[test]
fn doctor_checks_database_and_file_commands_name_alternatives() {
    let mut cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    service.post("/v1/detect-tampering", &json!({ "timeline_id": "main", "scan_depth": "quick" }));
    let data = service.data();
    let store = ["--store", &cluster.url.clone()];
    let security = ["--security", store[0], store[1]];
    let seen = doctor(&data, &security);
    for (name, expected) in [
        ("database", "ok"),
        // The server of these tests runs without durability.
        ("database-durability", "fail"),
        ("database-standby", "warn"),
        ("database-tls", "ok"),
        ("database-connections", "ok"),
        ("database-transactions", "ok"),
        ("database-vacuum", "warn"),
        ("database-clock", "ok"),
        ("schema", "ok"),
        ("host-clock", "ok"),
        ("scan", "ok"),
        ("operators", "warn"),
        ("operator-keys", "warn"),
    ] {
        assert_eq!(seen.get(name).map(|check| &check["outcome"]), Some(&json!(expected)), "{name}: {seen:#?}");
    }
    assert_eq!(doctor(&data, &store)["service"]["outcome"], "ok");
    // The advice is the statement in the documentation, and the service accepts the table afterwards.
    let page = include_str!("../../../../../docs/postgresql.md");
    let statement = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(cluster.ask(&statement.split_whitespace().collect::<Vec<_>>().join(" ")), "{statement}");
    assert_eq!(doctor(&data, &security)["database-vacuum"]["outcome"], "ok");
    let nowhere = doctor(&data, &["--store", "postgres://ada:secret@127.0.0.1:1/none?sslmode=disable"]);
    assert_eq!(nowhere["database"]["outcome"], "fail");
    assert!(!nowhere["database"].to_string().contains("secret"));
    assert!(service.stop().success());
    // Whether the folder alone shows that is tested without a process.
    for (command, expected) in [
        (&["backup", "--to", "/nowhere/backup"][..], "use `pg_dump --format=custom` or base backups"),
        (&["restore", "--from", "/nowhere/backup"], "use `pg_restore` into an empty database"),
        (&["compact"], "run `VACUUM (FULL)`"),
    ] {
        fails(timenav().args(command).args(store).arg("--data").arg(&data), 1, expected);
    }
    service.start_again();
    service.audit();
}

pub(super) fn migrate(from: &str, to: &str) -> Command {
    let mut command = timenav();
    command.args(["migrate", "--from", from, "--to", to]);
    command
}

/// The procedure of docs/postgresql.md: there, verified, and back.
#[test]
fn migration_to_postgresql_and_back_keeps_all_data() {
    let cluster = Cluster::start();
    let mut service = Service::start();
    let event = json!({ "event_id": "before", "time": "2001-01-01T00:00:00Z", "description": "x" });
    let keyed = || Request::post("/v1/events").json(&event).idempotent("once");
    let first = service.send(keyed()).json();
    service.set_password("admin", "correct horse battery staple");
    service.post("/v1/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    service.post("/v1/travel", &json!({ "timeline_id": "fork", "destination_time": "2030-01-01T00:00:00Z" }));
    let folder = format!("sqlite:{}", service.data().display());
    fails(&mut migrate(&folder, &cluster.url), 1, "is in use by another timenav process");
    let stored = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(stored.path(), service.send(Request::get("/timeline/fork/checkpoint")).text()).unwrap();
    assert!(service.stop().success());

    let stdout = ends(&mut migrate(&folder, &cluster.url), 0);
    let next = format!("timenav serve --data {} --store \"$TIMENAV_STORE\"", service.data().display());
    assert!(stdout.starts_with("Moved 3 timelines with ") && stdout.contains(&next), "{stdout}");
    assert!(service.data().join("timenav.db.moved").exists() && !service.data().join("timenav.db").exists());
    let verify = |service: &Service, more: &[&str]| {
        let mut command = timenav();
        ends(command.args(["verify", "--store", &cluster.url, "--data"]).arg(service.data()).args(more), 0)
    };
    verify(&service, &[]);
    let stdout = verify(&service, &["--checkpoint", stored.path().to_str().unwrap()]);
    assert!(stdout.contains("fork"), "{stdout}");
    service.arguments(&["--store", &cluster.url]);
    service.start_again();
    let again = service.send(keyed());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.json()["event_id"], first["event_id"]);
    service.log_in("admin", "correct horse battery staple");
    service.post("/v1/travel", &json!({ "timeline_id": "fork", "destination_time": "2031-01-01T00:00:00Z" }));
    fails(&mut migrate(&cluster.url, &folder), 1, "in use by another timenav");
    // While it runs.
    verify(&service, &[]);
    assert!(service.stop().success());

    ends(&mut migrate(&cluster.url, &folder), 0);
    service.arguments(&[]);
    service.start_again();
    let clock = service.get("/v1/clock", &[("timeline_id", "fork")]);
    assert!(clock.to_string().contains("2031-01-01T"), "{clock}");
    service.audit();
}

#[test]
fn migration_detects_changed_rows_and_rejects_invalid_targets() {
    let cluster = Cluster::start();
    let mut service = Service::start();
    service.post("/v1/events", &json!({ "event_id": "e", "time": "2001-01-01T00:00:00Z", "description": "x" }));
    assert!(service.stop().success());
    let folder = format!("sqlite:{}", service.data().display());
    for (from, to, expected) in [
        (&folder, &folder, "use `timenav backup` and `timenav restore`"),
        (&cluster.url, &cluster.url, "use `pg_dump` and `pg_restore`"),
        (&"sqlite:/nowhere".to_owned(), &cluster.url, "there is no data folder /nowhere"),
        (&cluster.url, &folder, "already exists"),
    ] {
        fails(&mut migrate(from, to), 1, expected);
    }
    let change = |from: &str, to: &str| {
        service.tamper(&format!("UPDATE events SET content = replace(content, '{from}', ?1) WHERE event_id = 'e'"), to);
    };
    change("\"x\"", "\"y\"");
    ends(&mut migrate(&folder, &cluster.url), 7);
    assert!(service.data().join("timenav.db").exists(), "nothing was moved");
    let other = tempfile::tempdir().unwrap();
    let refused = refused_start(other.path(), &["--store", &cluster.url]);
    assert!(refused.contains("run the same `timenav migrate` again"), "{refused}");
    change("\"y\"", "\"x\"");
    service.start_again();
    service.audit();
}
