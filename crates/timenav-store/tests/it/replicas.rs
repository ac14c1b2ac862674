//! Two engines on one PostgreSQL database, each with its own memory and its own checkpoints. Responses of one are
//! visible in all later responses of the other.

mod directory;
mod fences;
mod followers;
mod hints;
mod joining;
mod keeping;
mod later_versions;
mod leases;
mod looking_back;
mod newest;
mod old_entries;
mod protocol;
mod repeated;
mod rights;
mod spread;
mod taking_over;
mod upgrading;
mod witnesses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration as HostDuration;

use timenav_core::access::RestrictionLevel;
use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::ids::{TimelineId, TimerId};
use timenav_core::ledger::HeadStatement;
use timenav_core::time::Span;
use timenav_core::timers::{AdvanceState, FiringState, Schedule};
use timenav_engine::{
    Acceptance, Caller, DivergenceKind, Engine, FEATURE_LEVEL, Idempotency, LedgerUpdate, OpenError, Outside as _,
    PermissionsChange, ReadLog, Refusal, Signer as _, Store, TimerRequest, Topic,
};
use timenav_store::{Finished, PostgresUpgrade};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::cluster::{execute, open};
use crate::faulty_store::FaultyStore;
use crate::house::{Home, House, is_unavailable, outcome_text, watch};
use crate::requests::*;
use crate::sample::{digest, event_id, hour, key_id, moment, password, timeline_id, user_id};

/// Two services. The second one starts right after the first start.
async fn two(house: &House) -> House {
    let first = house.open().await;
    let second = house.replica();
    drop(second.open().await.close().await);
    first.close().await;
    second
}

/// Opens two services.
async fn pair() -> (Home<'static>, Home<'static>) {
    let house = House::on_postgres();
    let other = two(&house).await;
    (house.into_home().await, other.into_home().await)
}

/// Opens a third one, without checkpoints.
async fn joining(house: &House) -> Home<'static> {
    let mut third = house.replica();
    third.options.joins = true;
    third.into_home().await
}

fn draft(name: &str) -> EventDraft {
    named_event(name, 1, name)
}

async fn key_of(home: &Home<'_>, name: &str) -> String {
    home.engine.create_api_key(&home.admin, key_for(name), None).await.unwrap().secret.unwrap()
}

async fn read_list(home: &Home<'_>, timeline: &str, read: &[&str]) {
    let read = read.iter().map(|name| user_id(name)).collect();
    let change = PermissionsChange { read: Some(read), ..PermissionsChange::default() };
    home.set_permissions(timeline, change).await;
}

async fn generation(home: &Home<'_>) -> u64 {
    home.read_clock(None).await.clock.generation
}

async fn names(home: &Home<'_>, caller: &Caller) -> Vec<String> {
    let (page, _) = home.engine.timelines(caller, 100, None).await.unwrap();
    page.iter().map(|view| view.state.head.id.to_string()).collect()
}

/// Draws a number below another one (`SplitMix64`, Steele, Lea and Flood 2014).
fn draw(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
}

/// Stops both, and scans for tampering with a third.
async fn end(homes: [Home<'_>; 2]) {
    let [left, right] = homes;
    // Each has stored the checkpoints it has seen. The first one reads all of it now.
    Box::pin(left.engine.read_clock(&left.admin, None)).await.unwrap();
    left.engine.users(&left.admin, 1, None).await.unwrap();
    left.engine.catch_up_all().await.unwrap();
    right.stop().await;
    let house = left.house.clone();
    Box::pin(left.close()).await;
    let home = Box::pin(house.open()).await;
    for timeline in ["main", "system"] {
        home.check_clean(&timeline_id(timeline)).await;
    }
    Box::pin(home.close()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn confirmed_writes_are_visible_on_the_other_replica() {
    let (left, right) = pair().await;
    for number in 1..=4 {
        let (one, two) = if number % 2 == 0 { (&left, &right) } else { (&right, &left) };
        let before = generation(two).await;
        one.change_clock(None, hour()).await;
        assert_eq!(generation(two).await, before + 1);
        // A user and a key created here work there at once, with their permissions.
        let name = format!("user{number}");
        one.engine.create_user(&one.admin, user_id(&name), false, None).await.unwrap();
        let secret = key_of(one, &name).await;
        let user = two.engine.identify(&secret).await.unwrap().unwrap();
        let hidden = two.engine.read_clock(&user, None).await;
        assert_eq!(outcome_text(&hidden), "Hidden");
        read_list(one, "main", &[&name]).await;
        two.engine.read_clock(&user, None).await.unwrap();
        read_list(one, "main", &[]).await;
        assert_eq!(outcome_text(&two.engine.read_clock(&user, None).await), "Hidden");
        // So do a timeline, and its end.
        let timeline = timeline_id(&format!("t{number}"));
        one.create_timeline(timeline.clone()).await;
        assert!(names(two, &two.admin).await.contains(&timeline.to_string()));
        two.change_clock(Some(timeline.clone()), hour()).await;
        one.end_timeline(timeline.clone()).await;
        assert!(!names(two, &two.admin).await.contains(&timeline.to_string()));
        let ended = two.engine.read_clock(&two.admin, Some(timeline.clone())).await;
        assert!(matches!(ended, Err(Refusal::Ended { .. })), "{ended:?}");
        let again = two.engine.create_timeline(&two.admin, timeline, None).await.map(|made| made.replayed);
        assert!(matches!(again, Err(Refusal::NameEnded { .. })), "{again:?}");
        // And a restriction.
        let level = RestrictionLevel::NoAccess;
        one.engine.restrict_time_travel(&one.admin, user_id(&name), level, None).await.unwrap();
        let restricted = two.engine.restrictions(&two.admin).await.unwrap();
        assert!(restricted.iter().any(|user| user.user_id == user_id(&name)));
    }
    Box::pin(check_session(&left, &right)).await;
    end([left, right]).await;
}

/// A session is valid on every replica, and can be ended on every one.
async fn check_session(left: &Home<'_>, right: &Home<'_>) {
    left.engine.create_user(&left.admin, user_id("ada"), false, None).await.unwrap();
    let request = new_password("ada", "correct horse battery staple");
    left.engine.set_password(&left.admin, request).await.unwrap();
    let session = right.engine.log_in(user_id("ada"), password(SECRET), None).await;
    let session = session.unwrap().unwrap();
    let ada = left.engine.identify_session(&session.secret).await.unwrap().unwrap();
    left.engine.sessions(&ada, None).await.unwrap();
    right.engine.log_out(&session.caller, false).await.unwrap();
    assert!(left.engine.sessions(&ada, None).await.is_err());
    assert!(left.engine.identify_session(&session.secret).await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn revoked_key_is_rejected_on_every_replica() {
    for read_log in [ReadLog::Durable, ReadLog::Buffered] {
        let mut house = House::on_postgres();
        house.options.read_log = read_log;
        let other = two(&house).await;
        let (left, right) = (house.open().await, other.open().await);
        for number in 0..5 {
            let name = format!("user{number}");
            left.engine.create_user(&left.admin, user_id(&name), true, None).await.unwrap();
            let secret = key_of(&left, &name).await;
            let user = right.engine.identify(&secret).await.unwrap().unwrap();
            right.engine.read_clock(&user, None).await.unwrap();
            left.engine.revoke_api_key(&left.admin, key_id(&user)).await.unwrap();
            // In the other one's memory it still works.
            let changed = right.engine.change_clock(&user, None, hour(), None).await.map(|_| ());
            assert!(matches!(changed, Err(Refusal::Unidentified(_))), "{changed:?}");
            let read = right.engine.read_clock(&user, None).await.map(|_| ());
            assert!(matches!(read, Err(Refusal::Unidentified(_))), "{read:?}");
            let listed = right.engine.timelines(&user, 9, None).await.map(|_| ());
            assert!(matches!(listed, Err(Refusal::Unidentified(_))), "{listed:?}");
            assert!(right.engine.identify(&secret).await.unwrap().is_err());
        }
        end([left, right]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_duplicate_request_on_two_replicas_is_executed_once() {
    let (left, right) = pair().await;
    for number in 0..8 {
        let idempotency = idempotent(&format!("key{number}"), "request");
        let request = [&left, &right].map(|home| {
            home.spawn(move |engine, admin| async move {
                engine.change_clock(&admin, None, hour(), idempotency).await.unwrap()
            })
        });
        let [one, two] = request;
        let (one, two) = (one.await.unwrap(), two.await.unwrap());
        assert_eq!(one.ledger, two.ledger);
        assert!(one.replayed != two.replayed, "{number}");
    }
    // With one idempotency key on two timelines only one of both happens.
    for number in 0..6 {
        left.create_timeline(timeline_id(&format!("other{number}"))).await;
        let request = [(&left, "main".to_owned()), (&right, format!("other{number}"))].map(|(home, timeline)| {
            let (engine, admin) = (home.engine.clone(), home.admin.clone());
            let (key, fingerprint) = (digest(&format!("twice{number}")), digest(&timeline));
            let idempotency = Some(Idempotency { key, fingerprint });
            let timeline = Some(timeline_id(&timeline));
            tokio::spawn(async move { engine.change_clock(&admin, timeline, hour(), idempotency).await.map(|_| ()) })
        });
        let [one, two] = request;
        let both = [one.await.unwrap(), two.await.unwrap()];
        assert_eq!(both.iter().filter(|one| one.is_ok()).count(), 1, "{both:?}");
        assert!(both.iter().any(|one| matches!(one, Err(Refusal::KeyReused))), "{both:?}");
    }
    assert_eq!(generation(&left).await, generation(&right).await);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_on_two_replicas_all_succeed() {
    let (left, right) = pair().await;
    let mut tasks = Vec::new();
    for number in 0..200 {
        let home = if number % 2 == 0 { &left } else { &right };
        let (engine, caller) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move {
            if number % 10 < 2 {
                // A directory change makes all other decisions be repeated.
                engine.create_user(&caller, user_id(&format!("user{number}")), false, None).await.unwrap();
                return None;
            }
            let drafts = vec![draft(&format!("event{number}"))];
            Some(engine.record_events(&caller, None, drafts, None).await.unwrap().ledger.position)
        }));
    }
    let mut positions = Vec::new();
    for task in tasks {
        positions.extend(task.await.unwrap());
    }
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 160, "each has an entry of its own");
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stream_reports_writes_of_another_replica() {
    let (left, right) = pair().await;
    let mut stream = right.engine.watch_ledger(&right.admin, watch(&[Topic::Events], None)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().update, LedgerUpdate::Mark, "where it begins");
    // Like the service: a hint, or else a check at intervals.
    let engine = right.engine.clone();
    let following = tokio::spawn(async move {
        loop {
            engine.hint().await;
            engine.catch_up_all().await.unwrap();
        }
    });
    let mut positions = Vec::new();
    for number in 0..20 {
        let drafts = vec![draft(&format!("event{number}"))];
        let recorded = left.record_events(None, drafts).await;
        positions.push(recorded.ledger.position);
    }
    for position in positions {
        let message = loop {
            let message = stream.next().await.unwrap();
            if message.update != LedgerUpdate::Mark {
                break message;
            }
        };
        assert_eq!(message.position, position, "none is left out, and none is told twice");
    }
    following.abort();
    drop((following.await, stream));
    end([left, right]).await;
}

/// Saves the contents of the database, or restores them, like a failover that lost what came in between.
fn every_table(url: &str, first: &str, each: &str) {
    let statement = format!(
        "{first} DO $$ DECLARE one record; BEGIN FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
            LOOP EXECUTE format('{each}', one.tablename); END LOOP; END $$"
    );
    crate::cluster::execute(url, &statement);
}

fn remember(url: &str, moment: &str) {
    let each = format!("CREATE TABLE {moment}.%1$I AS TABLE public.%1$I");
    every_table(url, &format!("CREATE SCHEMA {moment};"), &each);
}

fn go_back(url: &str) {
    every_table(url, "", "TRUNCATE public.%1$I; INSERT INTO public.%1$I SELECT * FROM before.%1$I");
}

/// One service writes, the other one sees it, and the database loses it. Returns the sizes of `main` before and after.
async fn lose(house: &House, left: Home<'_>, right: &Home<'_>) -> (u64, u64) {
    let url = house.database();
    left.change_clock(None, hour()).await;
    let stored = left.size("main").await;
    remember(&url, "before");
    for _ in 0..3 {
        left.change_clock(None, hour()).await;
    }
    right.engine.catch_up_all().await.unwrap();
    let seen = right.size("main").await;
    left.stop().await;
    remember(&url, "seen");
    go_back(&url);
    (seen, stored)
}

/// All requests to the service are rejected for the same reason, and both sides are stored as evidence.
async fn check_diverged(home: &Home<'_>, house: &House, (kind, seen, found): (DivergenceKind, u64, u64)) {
    let check = |refused: Result<(), Refusal>| {
        let Err(Refusal::Diverged(diverged)) = refused else { panic!("{refused:?}") };
        assert_eq!((diverged.kind, diverged.timeline.as_str()), (kind, "main"));
        assert_eq!((diverged.seen.size, diverged.found.size), (seen, found));
        assert_ne!(diverged.seen.root, diverged.found.root);
        diverged
    };
    let diverged = check(home.engine.change_clock(&home.admin, None, hour(), None).await.map(|_| ()));
    check(home.engine.read_clock(&home.admin, None).await.map(|_| ()));
    check(home.engine.ready().await);
    let stored = house.outside.diverged.lock();
    let [(divergence, note)] = &stored[..] else { panic!("{stored:?}") };
    assert_eq!(divergence, &*diverged);
    // What was seen is a checkpoint, and what was found is the statement signed with it.
    let (size, root) = (diverged.seen.size, diverged.seen.root.to_base64());
    assert!(note.contains(&format!("/main\n{size}\n{root}\n")), "{note}");
    let (statement, signature) = HeadStatement::parse_signed(&diverged.found_statement).unwrap();
    assert_eq!((statement.size, statement.root), (diverged.found.size, diverged.found.root));
    let text = statement.to_text();
    assert!(house.signer.verify(&house.signer.public_key(), text.as_bytes(), &signature), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rolled_back_ledger_is_not_continued() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let (seen, stored) = lose(&house, left, &right).await;
    check_diverged(&right, &other, (DivergenceKind::Rollback, seen, stored)).await;
    right.stop().await;
    // A start reports it as well.
    let refused = other.open_error().await.to_string();
    assert!(refused.contains("the database was rolled back"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn forked_ledger_is_not_continued() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let (seen, _) = lose(&house, left, &right).await;
    // A new service without checkpoints continues from there, beyond what was seen.
    let stranger = joining(&house).await;
    while stranger.size("main").await <= seen {
        stranger.change_clock(None, hour()).await;
    }
    let found = stranger.size("main").await;
    check_diverged(&right, &other, (DivergenceKind::Fork, seen, found)).await;
    right.engine.close().await;
    stranger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn accepted_rollback_applies_to_every_replica() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let url = house.database();
    left.change_clock(None, hour()).await;
    remember(&url, "before");
    left.change_clock(None, hour()).await;
    // The loss of a whole timeline can show only in `system`.
    left.create_timeline(timeline_id("gone")).await;
    right.engine.catch_up_all().await.unwrap();
    // They have not seen the same when the database loses entries.
    let was_seen = other.outside.last().unwrap();
    left.change_clock(None, hour()).await;
    for home in [left, right] {
        home.engine.close().await;
    }
    go_back(&url);
    for house in [&house, &other] {
        assert!(house.try_open(house.store()).await.is_err());
    }
    let mut accepting = house.replica();
    accepting.outside.hold(house.outside.notes());
    let (by, reason) = ("ada".to_owned(), "failover".to_owned());
    accepting.options.accept_rollback = Some(Acceptance { by, reason, checkpoints: was_seen });
    let home = accepting.open().await;
    let lines = home.lines().await;
    let payload = &lines.last().unwrap().payload;
    let lost = payload["lost"].as_array().unwrap();
    let of = |name: &str| lost.iter().filter(|lost| lost["timeline_id"] == name).count();
    assert_eq!((of("main"), of("gone"), of("system")), (2, 1, 1), "{payload:#}");
    home.stop().await;
    let (left, right) = (house.open().await, other.open().await);
    left.change_clock(None, hour()).await;
    assert_eq!(generation(&left).await, generation(&right).await);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fork_of_an_ended_or_revoked_timeline_is_rejected() {
    let (left, right) = pair().await;
    let parent = timeline_id("parent");
    left.create_timeline(parent.clone()).await;
    let fork = |home: &Home<'_>, name: &str| {
        let (engine, admin, parent, name) =
            (home.engine.clone(), home.admin.clone(), parent.clone(), timeline_id(name));
        tokio::spawn(async move { engine.fork_timeline(&admin, name, &parent, None, None).await.map(|_| ()) })
    };
    fork(&right, "child").await.unwrap().unwrap();
    assert!(names(&left, &left.admin).await.contains(&"child".to_owned()));
    // Concurrently: either the fork is first, or it is rejected.
    let racing = fork(&right, "late");
    left.end_timeline(parent.clone()).await;
    let late = racing.await.unwrap();
    let is_there = names(&left, &left.admin).await.contains(&"late".to_owned());
    assert_eq!(late.is_ok(), is_there, "{late:?}");
    assert!(fork(&right, "later").await.unwrap().is_err());
    end([left, right]).await;
}
