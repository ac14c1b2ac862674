use timenav_core::time::{Instant, Wall};
use timenav_engine::WallClock as _;
use timenav_store::{PostgresOptions, PostgresStore, ServerFacts};

use super::check::Check;
use super::database;
use crate::config::{Settings, StoreUrl};
use crate::wiring::ports::HostClock;

/// How long a transaction may be open, in seconds: changes of users, keys and sessions wait for it for ten seconds.
const TRANSACTION_SECONDS_MAX: i64 = 5;
/// Percentage of the server's connection limit that may be in use.
const SESSIONS_PERCENT_MAX: i64 = 80;

pub(super) fn look_at(url: &StoreUrl, settings: &Settings) -> Vec<Check> {
    let options = PostgresOptions { url: url.secret().to_owned(), is_alone: false };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Check::fail("database", format!("threads cannot be started: {error}"), "")],
    };
    let examined = runtime.block_on(async {
        let store = PostgresStore::open_to_look(&options).await?;
        store.examine().await
    });
    match examined {
        Ok((server, examined)) => {
            let seen = format!("the database {url} can be read; it is on PostgreSQL {}", server.version);
            let now = HostClock::start().now();
            let mut checks = vec![Check::ok("database", seen)];
            checks.extend(of(&server, now, settings.host_clock_offset_max_millis));
            checks.extend(database::of(&examined, now, settings.demo));
            checks
        }
        Err(error) => {
            let advice =
                "Check --store, and whether the server runs; timenav serve creates the tables at its first start";
            vec![Check::fail("database", format!("the database {url} cannot be read: {error}"), advice)]
        }
    }
}

/// `now` is host time.
pub(super) fn of(server: &ServerFacts, now: Instant<Wall>, offset_max_millis: u32) -> Vec<Check> {
    vec![
        durability(server),
        standbys(server),
        encryption(server),
        sessions(server),
        transactions(server),
        vacuum(server),
        clock(server, now, offset_max_millis),
    ]
}

fn durability(server: &ServerFacts) -> Check {
    const NAME: &str = "database-durability";
    if server.is_standby {
        let advice = "Name the primary in --store, or all servers: timenav uses the one that accepts writes";
        return Check::fail(NAME, "the server is a standby and accepts no writes", advice);
    }
    if !server.is_durable {
        let seen = "fsync or full_page_writes is off: a machine crash can lose or damage acknowledged changes";
        return Check::fail(NAME, seen, "Turn both on in postgresql.conf");
    }
    if !server.has_checksums {
        let seen = "the server does not detect damaged pages, because it has no data checksums";
        return Check::warn(NAME, seen, "Turn them on with pg_checksums --enable while the server is stopped");
    }
    Check::ok(NAME, "acknowledged changes survive a crash, and the server detects damaged pages")
}

fn standbys(server: &ServerFacts) -> Check {
    const NAME: &str = "database-standby";
    if server.synchronous_standbys.is_empty() {
        let seen = "commits do not wait for a standby: a failover can lose acknowledged changes";
        let advice =
            "Set synchronous_standby_names if you fail over to a standby; timenav stops after a lossy failover";
        return Check::warn(NAME, seen, advice);
    }
    Check::ok(NAME, format!("commits wait for {}", server.synchronous_standbys))
}

fn encryption(server: &ServerFacts) -> Check {
    const NAME: &str = "database-tls";
    match (server.is_encrypted, server.is_local) {
        (true, _) => Check::ok(NAME, "the connection to the database is encrypted, and the server's name is verified"),
        (false, true) => Check::ok(NAME, "the connection to the database is a local socket"),
        (false, false) => {
            let advice = "Turn on ssl on the server, and add sslmode=verify-full to --store";
            Check::fail(NAME, "the connection to the database is not encrypted", advice)
        }
    }
}

fn sessions(server: &ServerFacts) -> Check {
    const NAME: &str = "database-connections";
    let ServerFacts { sessions, sessions_max, .. } = server;
    let seen = format!("{sessions} of {sessions_max} connections of the server are in use");
    if sessions * 100 > sessions_max * SESSIONS_PERCENT_MAX {
        return Check::warn(NAME, seen, "Raise max_connections: each service can use 18");
    }
    Check::ok(NAME, seen)
}

fn transactions(server: &ServerFacts) -> Check {
    const NAME: &str = "database-transactions";
    let seconds = server.oldest_transaction_seconds;
    if seconds > TRANSACTION_SECONDS_MAX {
        let seen = format!("a transaction on the server has been open for {seconds} seconds");
        let advice = "With --replicas, changes to users, keys and sessions wait for it; find it in pg_stat_activity";
        return Check::warn(NAME, seen, advice);
    }
    Check::ok(NAME, "no transaction has been open for long")
}

fn vacuum(server: &ServerFacts) -> Check {
    const NAME: &str = "database-vacuum";
    if !server.is_vacuumed {
        let seen = "autovacuum is off: each change leaves an old row, and changes get slower and slower";
        return Check::fail(NAME, seen, "Turn on autovacuum and track_counts in postgresql.conf");
    }
    if !server.is_hot_vacuumed {
        let seen = "the heads table is vacuumed as rarely as others, although each change writes to it";
        let advice = "Run the statement in docs/postgresql.md, \"Rows that change often\"";
        return Check::warn(NAME, seen, advice);
    }
    Check::ok(NAME, "tables that change often are vacuumed often")
}

fn clock(server: &ServerFacts, now: Instant<Wall>, max_millis: u32) -> Check {
    const NAME: &str = "database-clock";
    let offset_millis = now.since(server.clock).micros() / 1_000;
    let seen = format!("the clocks of this machine and of the database differ by {} ms", offset_millis.abs());
    if max_millis > 0 && offset_millis.abs() > i64::from(max_millis) {
        let advice = "Correct the clock that is wrong (chrony, systemd-timesyncd): the service is not ready until then";
        return Check::fail(NAME, seen, advice);
    }
    Check::ok(NAME, seen)
}

#[cfg(test)]
mod tests {
    use super::super::check::Outcome;
    use super::*;

    fn at(millis: i64) -> Instant<Wall> {
        Instant::from_micros(millis * 1_000).unwrap()
    }

    #[test]
    fn unsafe_postgresql_settings_are_reported() {
        let good = ServerFacts {
            version: "15.1".to_owned(),
            is_standby: false,
            is_durable: true,
            has_checksums: true,
            synchronous_standbys: "one".to_owned(),
            sessions: 80,
            sessions_max: 100,
            oldest_transaction_seconds: 5,
            is_encrypted: true,
            is_local: false,
            clock: at(10_000),
            is_vacuumed: true,
            is_hot_vacuumed: true,
        };
        let checks = of(&good, at(12_000), 2_000);
        assert!(checks.iter().all(|check| check.outcome == Outcome::Ok), "{checks:?}");
        let check = |change: fn(&mut ServerFacts), name: &str, expected: Outcome| {
            let mut server = good.clone();
            change(&mut server);
            let checks = of(&server, at(12_000), 2_000);
            let found: Vec<_> = checks.iter().filter(|check| check.outcome != Outcome::Ok).collect();
            assert_eq!(found.len(), 1, "{name}: {checks:?}");
            assert_eq!((found[0].name, found[0].outcome), (name, expected));
        };
        check(|server| server.is_standby = true, "database-durability", Outcome::Fail);
        check(|server| server.is_durable = false, "database-durability", Outcome::Fail);
        check(|server| server.has_checksums = false, "database-durability", Outcome::Warn);
        check(|server| server.synchronous_standbys.clear(), "database-standby", Outcome::Warn);
        check(|server| server.is_encrypted = false, "database-tls", Outcome::Fail);
        check(|server| server.sessions = 81, "database-connections", Outcome::Warn);
        check(|server| server.oldest_transaction_seconds = 6, "database-transactions", Outcome::Warn);
        check(|server| server.is_vacuumed = false, "database-vacuum", Outcome::Fail);
        check(|server| server.is_hot_vacuumed = false, "database-vacuum", Outcome::Warn);
        check(|server| server.clock = at(9_999), "database-clock", Outcome::Fail);
        check(|server| server.clock = at(14_001), "database-clock", Outcome::Fail);
        let apart = ServerFacts { clock: at(0), ..good.clone() };
        assert!(of(&apart, at(12_000), 0).iter().all(|check| check.outcome == Outcome::Ok), "it is not compared");
    }
}
