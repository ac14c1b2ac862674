//! PostgreSQL-specific behavior: ended sessions, commits with lost responses, two services, and foreign writes.

mod aborted;
mod following;
mod journeys;
mod leasing;
mod locking;
mod pooler;
mod proxy;
mod tls;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use proxy::{Lost, Proxy};
use timenav_core::event::EventDraft;
use timenav_core::ids::{FiringId, LeaseId, QueueId};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, TimeRange};
use timenav_engine::{
    Commit, DirectoryChange, EndedTimeline, EventQuery, Health, Layer, LeaseChanges, LeaseQuery, LeaseRow, LeasesFound,
    Pattern, Presence, ScanSource as _, SharedLeases as _, Store as _, StoreError, TimelineKey, Upkeep as _,
};
use timenav_store::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, Holding, database, execute, is_spread, open, try_execute, wait_for};
use crate::house::House;
use crate::sample::{Ledger, anchor, api_key, commit_of, event, host, moment, timeline_id, user_id};

/// How often a test checks for an expected event, and the pause between two checks. A time limit alone would fail on a
/// busy machine.
const LOOKS_MAX: usize = 12_000;
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) const END_OTHER_SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

fn size(store: &PostgresStore) -> u64 {
    wait_for(store.open()).unwrap().heads[0].frontier.size()
}

fn commit(store: &PostgresStore, step: timenav_engine::TimelineCommit) -> Result<(), StoreError> {
    wait_for(store.commit(commit_of(vec![step])))
}

/// Opens a store on a database, and begins `main` with two entries.
fn begun(url: &str) -> (PostgresStore, Ledger) {
    let (store, mut ledger) = (open(url).unwrap(), Ledger::new(1, "main"));
    commit(&store, ledger.grow(2)).unwrap();
    (store, ledger)
}

/// The same, with a proxy in between.
fn proxied() -> (String, Proxy, PostgresStore, Ledger) {
    let url = database();
    let proxy = Proxy::start(&url);
    let (store, ledger) = begun(&proxy.url());
    (url, proxy, store, ledger)
}

#[test]
fn commit_with_a_lost_response_is_verified() {
    let (url, proxy, store, mut ledger) = proxied();
    proxy.lose(Lost::Answer);
    commit(&store, ledger.grow(3)).unwrap();
    assert_eq!(proxy.lost(), 1, "else nothing was tried");
    assert_eq!((size(&store), size(&open(&url).unwrap())), (5, 5));
}

#[test]
fn commit_that_never_arrives_has_no_effect() {
    let (_, proxy, store, mut ledger) = proxied();
    proxy.lose(Lost::Question);
    let before = ledger.clone();
    let refused = commit(&store, ledger.grow(3));
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!((proxy.lost(), size(&store)), (1, 2));
    commit(&store, before.clone().grow(1)).unwrap();
    assert_eq!(size(&store), 3);
}

/// The outcome is then unknown, and the next writer finds it out.
#[test]
fn unverifiable_commit_is_reported_as_unknown() {
    let (_, proxy, store, mut ledger) = proxied();
    proxy.lose(Lost::AnswerAndServer);
    let before = ledger.clone();
    let refused = commit(&store, ledger.grow(3));
    assert!(matches!(refused, Err(StoreError::Unknown(_))), "{refused:?}");
    proxy.let_pass();
    let refused = commit(&store, before.clone().grow(3));
    assert!(matches!(refused, Err(StoreError::Moved(_))), "{refused:?}");
    commit(&store, ledger.grow(1)).unwrap();
    assert_eq!(size(&store), 6);
}

/// A revocation is in force once all requests admitted before it have ended. If that cannot be determined, it is
/// committed all the same, and must not be reported as failed.
#[test]
fn committed_revocation_is_never_reported_as_failed() {
    let (url, proxy, store, mut ledger) = proxied();
    let revoke = |step| {
        let directory = vec![DirectoryChange::RevokeKey { key_id: api_key("key_1").key_id, at: host(9) }];
        wait_for(store.commit(Commit { directory, ..commit_of(vec![step]) }))
    };
    proxy.lose(Lost::Others);
    let outcome = revoke(ledger.grow(1));
    assert!(matches!(outcome, Err(StoreError::Unknown(_))), "{outcome:?}");
    assert_eq!((proxy.lost(), size(&open(&url).unwrap())), (1, 3));
    // Some time is no reason to give up: the query is repeated.
    proxy.let_pass();
    commit(&store, ledger.grow(1)).unwrap();
    proxy.lose(Lost::Others);
    std::thread::scope(|scope| {
        let revoking = scope.spawn(|| revoke(ledger.grow(1)));
        wait_until(|| try_execute(&url, "SELECT 1 / count(*) FROM timelines WHERE size = 5"));
        // It has been queried by then.
        (0..20).for_each(|_| wait());
        proxy.let_pass();
        revoking.join().unwrap().unwrap();
    });
}

/// If entries are distributed over servers, the server with the entries commits after the one with the head.
#[test]
fn commit_without_visible_entries_yet_is_not_considered_failed() {
    let (url, proxy, store, mut ledger) = proxied();
    proxy.lose(Lost::AnswerAndServer);
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, ledger.grow(3)));
        wait_until(|| try_execute(&url, "SELECT 1 / count(*) FROM timelines WHERE size = 5"));
        execute(&url, "CREATE TABLE aside AS SELECT * FROM entries WHERE position > 1");
        execute(&url, "DELETE FROM entries WHERE position > 1");
        proxy.let_pass();
        // It has been queried by then.
        (0..60).for_each(|_| wait());
        assert!(!committing.is_finished(), "{:?}", committing.join().unwrap());
        execute(&url, "INSERT INTO entries SELECT * FROM aside");
        committing.join().unwrap().unwrap();
    });
    assert_eq!(size(&store), 5);
}

/// The server has the commit by then and shows it to everyone, but a failover would lose it.
#[test]
fn commits_and_connections_wait_for_the_standby() {
    let own = Cluster::start();
    let (store, mut ledger) = begun(&own.url);
    block_commits(&own.url);
    let waits = || try_execute(&own.url, "SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, ledger.grow(3)));
        wait_until(waits);
        execute(&own.url, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        wait_until(|| try_execute(&own.url, "SELECT 1 / count(*) FROM timelines WHERE size = 5"));
        // The confirming write waits too.
        wait_until(waits);
        assert!(!committing.is_finished(), "it was answered");
        release_commits(&own.url);
        committing.join().unwrap().unwrap();
    });
    assert_eq!(size(&store), 5);
    check_abandoned_connections(&own);
}

/// Waiting for a standby has no timeout. Requests that need a connection in the meantime fail, and leave no session
/// behind.
fn check_abandoned_connections(own: &Cluster) {
    block_commits(&own.url);
    for _ in 0..2 {
        let refused = open(&own.url).err().expect("nothing it shows is safe").to_string();
        assert!(refused.contains("`synchronous_standby_names`"), "{refused}");
    }
    // The background work of a distributed engine waits too, for as long as the standby is away.
    let none_waits = "SELECT 1 / (count(*) = 0)::int FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'";
    wait_until(|| try_execute(&own.url, none_waits));
    release_commits(&own.url);
    drop(open(&own.url).unwrap());
}

/// After a crash the server shows data that it had not yet sent to its standby, and a failover would lose that again.
#[test]
fn commit_visible_after_a_crash_is_confirmed_once_replicated() {
    let own = Cluster::start();
    let (store, mut ledger) = begun(&own.url);
    block_commits(&own.url);
    let waits = || try_execute(&own.url, "SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, ledger.grow(3)));
        wait_until(waits);
        own.order("stop");
        own.order("start");
        // The entry is visible, but not returned.
        execute(&own.url, "DO $$ BEGIN ASSERT (SELECT size FROM timelines) = 5; END $$");
        let reading = scope.spawn(|| while wait_for(store.sizes()).is_err() {});
        wait_until(waits);
        for _ in 0..50 {
            assert!(!reading.is_finished(), "it was answered");
            // It times out now and then, and starts again.
            wait_until(waits);
        }
        release_commits(&own.url);
        reading.join().unwrap();
        // It may have timed out in the meantime, and reported that.
        let committed = committing.join().unwrap();
        assert!(matches!(committed, Ok(()) | Err(StoreError::Unknown(_))), "{committed:?}");
    });
    assert_eq!(size(&store), 5);
    assert!(store.connections_use().unwrap().opened > 2);
}

/// Prevents commits from being acknowledged. A reload is asynchronous, and a new session shows that it has happened.
fn block_commits(url: &str) {
    execute(url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    execute(url, "SELECT pg_reload_conf()");
    let is_set = "DO $$ BEGIN ASSERT current_setting('synchronous_standby_names') = 'nobody'; END $$";
    wait_until(|| try_execute(url, is_set));
}

fn release_commits(url: &str) {
    execute(url, "ALTER SYSTEM RESET synchronous_standby_names");
    execute(url, "SELECT pg_reload_conf()");
}

/// Waits for a condition. Times out after at least two minutes.
#[track_caller]
fn wait_until(is_there: impl Fn() -> bool) {
    for _ in 0..LOOKS_MAX {
        if is_there() {
            return;
        }
        wait();
    }
    panic!("what is waited for does not come");
}

#[expect(clippy::disallowed_methods, reason = "nothing tells from outside how far somebody else has come")]
fn wait() {
    std::thread::sleep(PAUSE);
}

#[test]
fn sessions_ended_by_the_server_are_replaced() {
    let url = database();
    let (store, mut ledger) = begun(&url);
    for _ in 0..3 {
        assert_eq!(size(&store), ledger.size());
        execute(&url, END_OTHER_SESSIONS);
        // One that has not noticed the end of its session may fail, and the next one succeeds.
        let before = ledger.clone();
        if commit(&store, ledger.grow(1)).is_err() {
            ledger = before;
            commit(&store, ledger.grow(1)).unwrap();
        }
        let _ = wait_for(store.health(Health::Answers));
        wait_for(store.health(Health::Writes)).unwrap();
    }
    assert_eq!(size(&store), 5);
}

#[test]
fn second_exclusive_service_is_rejected() {
    let options = PostgresOptions { url: database(), is_alone: true };
    let first = wait_for(PostgresStore::open(&options)).unwrap();
    commit(&first, Ledger::new(1, "main").grow(2)).unwrap();
    let refused = wait_for(PostgresStore::open(&options)).err().expect("there is one").to_string();
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    let together = PostgresOptions { is_alone: false, ..options.clone() };
    let refused = wait_for(PostgresStore::open(&together)).err().expect("there is one").to_string();
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    commit(&first, Ledger::new(2, "other").grow(2)).unwrap();
    drop(first);
    let several = [&together, &together].map(|options| wait_for(PostgresStore::open(options)).unwrap());
    assert!(wait_for(PostgresStore::open(&options)).is_err(), "there are others");
    drop(several);
    let second = wait_for(PostgresStore::open(&options)).unwrap();
    assert_eq!(size(&second), 2);
}

#[test]
fn foreign_schema_objects_are_reported() {
    let check = |statement: &str, expected: &str| {
        let url = database();
        drop(open(&url).unwrap());
        execute(&url, statement);
        let refused = open(&url).err().expect("it is refused").to_string();
        assert!(refused.contains(expected), "{statement}: {refused}");
    };
    // Citus itself rejects triggers on distributed tables.
    let table = if is_spread() { "timelines" } else { "entries" };
    check(
        &format!(
            "CREATE FUNCTION forge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER forge BEFORE INSERT ON {table} EXECUTE FUNCTION forge()"
        ),
        &format!("timenav did not create this: trigger {table} forge"),
    );
    check("CREATE INDEX mine ON events (lat)", "timenav did not create this: index CREATE INDEX mine");
    check("DROP INDEX events_by_time", "the database lacks this: index CREATE INDEX events_by_time");
    check("ALTER TABLE users ALTER COLUMN operator DROP NOT NULL", "column users.operator boolean");
    check("ALTER TABLE entries ENABLE ROW LEVEL SECURITY", "relation entries r p row security");
    check("CREATE RULE forge AS ON DELETE TO users DO INSTEAD NOTHING", "rule users forge");
    check("DELETE FROM migrations", "already exists");
    check("INSERT INTO migrations VALUES ('9999-later', '')", "newer version");
    // Other tables are ignored.
    let url = database();
    drop(open(&url).unwrap());
    execute(&url, "CREATE TABLE mine (a int); CREATE VIEW more AS SELECT * FROM mine");
    open(&url).unwrap();
}

#[test]
fn database_without_utf8_encoding_is_rejected() {
    let url = database();
    execute(&url, "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
    let (before, rest) = url.split_once('?').unwrap();
    let latin = format!("{}/latin?{rest}", before.rsplit_once('/').unwrap().0);
    let refused = open(&latin).err().expect("it is refused").to_string();
    assert!(refused.contains("the database has the encoding LATIN1; create it with the encoding UTF8"), "{refused}");
}

#[test]
fn contents_are_pruned_in_batches_and_leaves_kept() {
    let (store, mut ledger) = (open(&database()).unwrap(), Ledger::new(1, "main"));
    let mut step = ledger.grow(5);
    step.events = vec![event("e", 1, &EventDraft::at(moment(1), "told"))];
    step.anchors = vec![anchor("a", 2)];
    commit(&store, step).unwrap();
    let key = ledger.head.key;
    wait_for(store.sweep(key, vec![0, 3], None)).unwrap();
    let contents = |store: &PostgresStore| -> Vec<usize> {
        let rows = wait_for(store.entry_rows(key, 0, 9)).unwrap().rows;
        rows.iter().map(|row| row.salt.len() + row.payload.len()).collect()
    };
    assert_eq!(contents(&store), [0, 18, 18, 0, 18]);
    let ended = EndedTimeline {
        key,
        id: timeline_id("main"),
        size: 5,
        root: ledger.head.frontier.root(),
        ended_at: host(5),
        fork: None,
        overrides: false,
        due_at: host(6),
        is_pruned: false,
    };
    let refused = wait_for(store.prune_ended(&ended, 0, 2));
    assert!(matches!(refused, Err(StoreError::Damaged(_))), "it has not ended: {refused:?}");
    let directory = vec![DirectoryChange::EndTimeline(ended.clone())];
    wait_for(store.commit(Commit { directory, ..Commit::default() })).unwrap();
    let (mut from, mut times) = (Some(0), 0);
    while let Some(next) = from {
        from = wait_for(store.prune_ended(&ended, next, 2)).unwrap();
        times += 1;
    }
    // Two entries and one, an event, an anchor, words, and a read that finds nothing.
    assert_eq!((times, contents(&store)), (6, vec![0; 5]));
    assert_eq!(wait_for(store.leaves(key, 0, 9)).unwrap().len(), 5);
    assert_eq!(wait_for(store.event_rows_count(key, 9)).unwrap(), (0, 0));
    assert_eq!(wait_for(store.contradictions()).unwrap(), [""; 0], "the words of its event are gone");
    let opened = wait_for(store.open()).unwrap();
    assert!(opened.heads.is_empty() && opened.ended[0].is_pruned, "{:?}", opened.ended);
}

#[test]
fn fork_page_reads_one_later_version_per_event() {
    if is_spread() {
        return println!("not tried: rows are read on other servers, and counted there");
    }
    let (url, count, versions) = (database(), 10, 300);
    let store = open(&url).unwrap();
    let record = |key: i64, at: i64, names: Vec<String>| {
        let (mut ledger, draft) = (Ledger::new(key, &format!("t{key}")), EventDraft::at(moment(at), ""));
        let rows = (0..).zip(&names).map(|(position, name)| event(name, position, &draft));
        let events = rows.collect();
        let mut step = ledger.grow(names.len());
        step.events = events;
        commit(&store, step).unwrap();
        (ledger.head.key, ledger.size())
    };
    let names = || (0..count).map(|number| format!("event-{number}"));
    // The fork has moved all of them far away, several times.
    let layers = [
        (record(1, 0, names().collect()), false),
        (record(2, 1_000_000_000, names().cycle().take(count * versions).collect()), true),
    ];
    let query = |layers: &[((TimelineKey, u64), bool)]| EventQuery {
        layers: layers
            .iter()
            .map(|((timeline, as_of), overrides)| Layer { timeline: *timeline, as_of: *as_of, overrides: *overrides })
            .collect(),
        patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
        range: TimeRange::new(Some(moment(0)), Some(moment(1))).unwrap(),
        after: None,
        items_max: 100,
        newest_first: false,
        overlapping: false,
    };
    // The reads of a session are counted when it ends.
    let ended = || {
        execute(&url, END_OTHER_SESSIONS);
        let others =
            "DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()); END $$";
        wait_until(|| try_execute(&url, others));
    };
    ended();
    execute(&url, "ANALYZE events; SELECT pg_stat_reset()");
    assert_eq!(wait_for(store.events(query(&layers[..1]))).unwrap().len(), count);
    assert_eq!(wait_for(store.events(query(&layers))).unwrap(), []);
    drop(store);
    ended();
    let read = "(SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname = 'events')
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'events')";
    // The events twice, each from an index and its table, their later versions once, and the reads of the planner.
    let few = count * versions / 4;
    execute(&url, &format!("DO $$ BEGIN ASSERT {read} BETWEEN {} AND {few}, {read}; END $$", 3 * count));
}

#[test]
fn concurrent_services_can_create_the_tables() {
    let url = database();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| open(&url).unwrap());
        }
    });
}

/// Versions it may still see are not vacuumed, so operators need to know.
#[test]
fn snapshot_age_reflects_the_oldest_transaction() {
    let own = Cluster::start();
    let (store, mut ledger) = begun(&own.url);
    let age = || wait_for(store.snapshot_age()).unwrap();
    let holding = Holding::start(&own.url, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    let before = age();
    for _ in 0..20 {
        commit(&store, ledger.grow(1)).unwrap();
    }
    assert!(age() >= before + 20, "{} after {before}", age());
    drop(holding);
    wait_until(|| age() < 20);
}
