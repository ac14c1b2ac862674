//! PostgreSQL on the clock: servers and waits in them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::{DAY, Teller, exec, service};
use crate::recipes::{postgres, provide_postgres};
use crate::support::instant::micros;
use crate::support::waiting::Patience;

/// Gives a script its own copy of the data: `$0` is the folder of a test, and `$own` is writable.
const OWN: &str = "PATH=$0/bin:$PATH; own=$(mktemp -d -p \"$0\"); chmod 777 \"$own\"; cp -a \"$0/data\" \"$own\"; ";
const START: &str = "postgres -D \"$own/data\" -c listen_addresses= -c unix_socket_directories=\"$own\" </dev/null \
                     >/dev/null 2>&1 & server=$!; ask() { psql -h \"$own\" -U postgres -Atq template1; }; \
                     until echo | ask >/dev/null 2>&1; do sleep 0.05; done; ";
/// Removes the copy, because many servers are started.
const END: &str = "kill -INT $server; wait $server; rm -rf \"$own\"; exit 5";

/// Creates data in a folder, next to the programs that use it. Returns whether PostgreSQL is installed.
pub(super) fn make_data(folder: &Path) -> bool {
    if postgres().is_none() {
        eprintln!("skipped for PostgreSQL: it is not installed");
        return false;
    }
    std::fs::create_dir(folder.join("bin")).unwrap();
    provide_postgres(folder);
    let mut setup = Command::new(folder.join("bin/initdb"));
    setup.arg("-D").arg(folder.join("data")).args(["-A", "trust", "-U", "postgres", "--no-sync"]);
    assert!(setup.stdout(Stdio::null()).status().unwrap().success());
    true
}

/// Returns a `bash` script that runs statements without a server.
pub(super) fn single(statements: &str, rest: &str) -> String {
    format!("{OWN}{statements} | postgres --single -D \"$own/data\" template1 {rest}; rm -rf \"$own\"; exit 5")
}

/// Returns a `bash` script that starts a server and runs statements on one connection.
pub(super) fn server(statements: &str) -> String {
    format!("{OWN}{START}{statements} | ask 2>&1; {END}")
}

impl Teller {
    /// Writes to the stdin of a program.
    fn say(&mut self, statement: &str) {
        writeln!(self.questions, "{statement}").unwrap();
    }
}

/// A job that polls until a date, like `pg_cron`, continues when the clock reaches it, however it gets there.
#[test]
fn database_jobs_wait_for_the_virtual_clock() {
    let Some(service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    if !make_data(folder.path()) {
        return service.audit();
    }
    let mut database =
        Teller::of(&mut exec(&service, &["bash", "-c", &server("cat"), folder.path().to_str().unwrap()]));
    let seconds = "floor(extract(epoch FROM clock_timestamp()))::bigint";
    // The first statement of a session, and one in a process that the server has just started.
    database.say("SELECT floor(extract(epoch FROM now()))::bigint;");
    assert_eq!(database.line(), format!("{}\n", DAY.1));
    let wait = |database: &mut Teller, until: i64| {
        database.say(&format!(
            "DO $$ BEGIN RAISE NOTICE 'waiting'; WHILE clock_timestamp() < to_timestamp({until}) LOOP \
             PERFORM pg_sleep(0.05); END LOOP; END $$; SELECT {seconds};"
        ));
        assert_eq!(database.line(), "NOTICE:  waiting\n");
    };
    wait(&mut database, DAY.1 + 3600);
    service.post("/v1/fast-forward", &json!({ "duration": "30m" }));
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(database.line(), format!("{}\n", DAY.1 + 5400), "it goes on after the second jump");
    let later = DAY.1 + 5400 + 3600;
    wait(&mut database, later);
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let reading: i64 = database.line().trim_end().parse().unwrap();
    assert!(reading >= later, "{reading} is before {later}");

    // A sleep has a duration in host time, whatever the clock does meanwhile.
    service.post("/v1/set-rate", &json!({ "rate": 1 }));
    database
        .say(&format!("DO $$ BEGIN RAISE NOTICE 'waiting'; PERFORM pg_sleep(3); RAISE NOTICE '%', {seconds}; END $$;"));
    assert_eq!(database.line(), "NOTICE:  waiting\n");
    let patience = Patience::of(Duration::from_secs(2));
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    let clock = service.get("/v1/clock", &[]);
    let jumped = i64::try_from(micros(clock["current_time"].as_str().unwrap()).div_euclid(1_000_000)).unwrap();
    let is_in_time = patience.lasts();
    let line = database.line();
    // A lower bound only: right after a rate change, a program may still use the old rate, which makes a difference of
    // seconds.
    let notice = line.strip_prefix("NOTICE:  ").and_then(|rest| rest.trim_end().parse::<i64>().ok());
    // If the machine stalled that long, the sleep may have ended before the jump.
    assert!(
        !is_in_time || notice.is_some_and(|notice| (jumped..jumped + 600).contains(&notice)),
        "{line} after {jumped}"
    );
    assert!(!patience.lasts(), "the jump has ended it");
    drop(database.questions);
    assert_eq!(database.child.wait().unwrap().code(), Some(5));
    service.audit();
}
