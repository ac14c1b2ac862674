//! Two services on one database, statement by statement: what is read after a lock, what a commit depends on, and what
//! a directory change waits for.

use std::panic::{catch_unwind, resume_unwind};
use std::time::Instant;

use timenav_engine::{FactsQuery, IdempotencyRecord, QueryOrigin};

use crate::postgres::*;
use crate::sample::digest;

const SYSTEM: TimelineKey = TimelineKey(1);
const MAIN: TimelineKey = TimelineKey(2);

/// A database with `system` and `main`, and two services.
fn two() -> (String, [PostgresStore; 2], Ledger, Ledger) {
    let url = database();
    let stores = [open(&url).unwrap(), open(&url).unwrap()];
    let (mut system, mut main) = (Ledger::new(SYSTEM.0, "system"), Ledger::new(MAIN.0, "main"));
    let both = commit_of(vec![system.grow(2), main.grow(2)]);
    wait_for(stores[0].commit(both)).unwrap();
    (url, stores, system, main)
}

/// How long the server lets an idle service hold a lock.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// Number of attempts on a machine that is too slow.
const TRIES_MAX: usize = 10;

/// Runs a scenario that is valid only as long as the server lets an idle service hold its lock. If it fails and took
/// longer than that, it is retried.
#[expect(clippy::disallowed_methods, reason = "the server counts host time too")]
fn while_locked(scenario: fn()) {
    for _ in 1..TRIES_MAX {
        let began = Instant::now();
        match catch_unwind(scenario) {
            Ok(()) => return,
            Err(panic) if began.elapsed() < LOCK_TIME => resume_unwind(panic),
            Err(_) => {}
        }
    }
    scenario();
}

fn outcome(fingerprint: &str) -> IdempotencyRecord {
    IdempotencyRecord {
        key: digest("key"),
        fingerprint: digest(fingerprint),
        expires_at: host(1_000_000),
        outcome: "{}".to_owned(),
        event: None,
    }
}

fn with_outcome(ledger: &mut Ledger, fingerprint: &str) -> Commit {
    let outcomes = vec![outcome(fingerprint)];
    let (outcomes_expired_by, decided_against) = (Some(host(1)), Some(0));
    Commit { outcomes, outcomes_expired_by, decided_against, ..commit_of(vec![ledger.grow(1)]) }
}

/// Returns a commit that revokes something.
fn revocation(system: &mut Ledger) -> Commit {
    system.head.directory += 1;
    let directory = vec![DirectoryChange::DeleteUser(user_id("ada"))];
    Commit { directory, ..commit_of(vec![system.grow(1)]) }
}

#[test]
fn read_after_a_lock_sees_earlier_commits() {
    while_locked(|| {
        let (url, [first, second], _, mut main) = two();
        wait_for(first.lock(&[MAIN])).unwrap().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let locked = wait_for(second.lock(&[MAIN])).unwrap().unwrap();
                let query = FactsQuery { outcomes: vec![digest("key")], ..FactsQuery::default() };
                let found = wait_for(second.facts(query, QueryOrigin::Writer)).unwrap();
                wait_for(second.release());
                (locked.sizes[&MAIN], found.outcomes[0].is_some())
            });
            // The statements before its wait see the state before this.
            wait_until(|| waits_for_lock(&url));
            wait_for(first.commit(with_outcome(&mut main, "one"))).unwrap();
            assert_eq!(waiting.join().unwrap(), (3, true));
        });
    });
}

fn waits_for_lock(url: &str) -> bool {
    let waiting = "SELECT 1 / count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    try_execute(url, waiting)
}

#[test]
fn commit_decided_against_an_older_directory_is_rejected() {
    while_locked(|| {
        let (_, [first, second], mut system, mut main) = two();
        let locked = wait_for(second.lock(&[MAIN])).unwrap().unwrap();
        assert_eq!(locked.system, (2, 0));
        std::thread::scope(|scope| {
            let revoking = scope.spawn(|| wait_for(first.commit(revocation(&mut system))));
            wait_until(|| size(&first) == 3);
            // The revocation is committed, and waits for this transaction, which began earlier.
            assert!(!revoking.is_finished());
            let step = Commit { decided_against: Some(0), ..commit_of(vec![main.clone().grow(1)]) };
            let refused = wait_for(second.commit(step));
            assert!(matches!(&refused, Err(StoreError::Moved(id)) if id.is_system()), "{refused:?}");
            revoking.join().unwrap().unwrap();
        });
        let locked = wait_for(second.lock(&[MAIN])).unwrap().unwrap();
        assert_eq!((locked.system, locked.sizes[&MAIN]), ((3, 1), 2));
        let step = Commit { decided_against: Some(1), ..commit_of(vec![main.grow(1)]) };
        wait_for(second.commit(step)).unwrap();
    });
}

#[test]
fn directory_change_waits_for_earlier_transactions() {
    while_locked(|| {
        let (_, [first, second], mut system, _) = two();
        wait_for(second.lock(&[MAIN])).unwrap();
        std::thread::scope(|scope| {
            let revoking = scope.spawn(|| wait_for(first.commit(revocation(&mut system))));
            wait_until(|| size(&first) == 3);
            assert!(!revoking.is_finished(), "nobody is answered yet");
            wait_for(second.release());
            revoking.join().unwrap().unwrap();
        });
    });
}

#[test]
fn paused_lock_holder_loses_its_lock() {
    let (_, [first, second], _, mut main) = two();
    wait_for(first.lock(&[MAIN])).unwrap();
    // The server releases it after two seconds.
    let locked = wait_for(second.lock(&[MAIN])).unwrap().unwrap();
    assert_eq!(locked.sizes[&MAIN], 2);
    wait_for(second.commit(commit_of(vec![main.clone().grow(1)]))).unwrap();
    let late = wait_for(first.commit(commit_of(vec![main.grow(2)])));
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    wait_for(first.release());
    assert_eq!(wait_for(first.lock(&[MAIN])).unwrap().unwrap().sizes[&MAIN], 3);
}

#[test]
fn concurrent_requests_with_one_key_are_executed_once() {
    while_locked(|| {
        let (_, [first, second], mut system, mut main) = two();
        wait_for(first.lock(&[MAIN])).unwrap();
        wait_for(second.lock(&[SYSTEM])).unwrap();
        wait_for(first.commit(with_outcome(&mut main, "one"))).unwrap();
        let refused = wait_for(second.commit(with_outcome(&mut system.clone(), "two")));
        assert!(matches!(refused, Err(StoreError::Moved(_))), "{refused:?}");
        // Even if it is the same request, it is not executed twice.
        wait_for(second.lock(&[SYSTEM])).unwrap();
        let refused = wait_for(second.commit(with_outcome(&mut system, "one")));
        assert!(matches!(refused, Err(StoreError::Moved(_))), "{refused:?}");
        let query = FactsQuery { outcomes: vec![digest("key")], ..FactsQuery::default() };
        let found = wait_for(second.facts(query, QueryOrigin::Writer)).unwrap();
        assert_eq!(found.outcomes[0].as_ref().unwrap().fingerprint, digest("one"));
    });
}

#[test]
fn commit_that_loses_a_deadlock_is_retried() {
    while_locked(|| {
        let (url, [first, _], mut system, mut main) = two();
        wait_for(first.lock(&[MAIN])).unwrap();
        std::thread::scope(|scope| {
            // Another client locks in a different order. The server decides which transaction fails.
            let other = "BEGIN; SELECT 1 FROM timelines WHERE timeline = 1 FOR UPDATE;
                SELECT 1 FROM timelines WHERE timeline = 2 FOR UPDATE; COMMIT";
            let other = scope.spawn(|| execute(&url, other));
            wait_until(|| waits_for_lock(&url));
            let step = commit_of(vec![system.clone().grow(1), main.clone().grow(1)]);
            match wait_for(first.commit(step)) {
                Err(StoreError::Moved(_)) => {
                    other.join().unwrap();
                    wait_for(first.lock(&[SYSTEM, MAIN])).unwrap();
                    wait_for(first.commit(commit_of(vec![system.grow(1), main.grow(1)]))).unwrap();
                }
                Ok(()) => assert!(other.join().is_err(), "one of both loses"),
                other => panic!("{other:?}"),
            }
        });
        let heads = wait_for(first.newest(&[MAIN], TimelineKey(0)..=MAIN)).unwrap();
        assert_eq!((heads.len(), heads[0].frontier.size(), heads[0].id.clone()), (1, 3, timeline_id("main")));
        assert_eq!(wait_for(first.sizes()).unwrap().len(), 2);
    });
}

#[test]
fn commit_that_updates_no_head_leaves_nothing() {
    while_locked(|| {
        let (_, [first, second], _, mut main) = two();
        wait_for(first.lock(&[])).unwrap();
        let mut later = main.clone();
        commit(&second, main.grow(1)).unwrap();
        // It is not locked, and has moved.
        let refused = wait_for(first.commit(commit_of(vec![later.grow(4)])));
        assert!(matches!(refused, Err(StoreError::Moved(_))), "{refused:?}");
        assert_eq!(wait_for(first.leaves(MAIN, 0, 99)).unwrap().len(), 3);
    });
}
