//! Clock followers at two services on one database: a clock change at one of them waits for followers at the other one,
//! which may confirm at either, and so do firings.

use timenav_core::fault::Fault;
use timenav_core::followers::{AwaitedState, FollowerPlace, is_confirmed};
use timenav_core::ids::{FollowerId, FollowerName};
use timenav_engine::{ClockStream, Confirmation, FaultRequest, FollowAs, WhichFollowers};

use super::leases::{acknowledge, asking, claimed, timer_in_micros};
use super::upgrading::{downgrade, upgrade};
use crate::postgres::END_OTHER_SESSIONS;
use crate::replicas::*;

/// Timeout for all waits.
const PATIENCE: HostDuration = HostDuration::from_mins(1);

async fn follow(home: &Home<'_>, name: &str, steps: bool) -> ClockStream {
    let follow =
        FollowAs { name: FollowerName::new(name).unwrap(), steps, place: FollowerPlace::default(), shows_faults: true };
    home.engine.follow_clock(&home.admin, None, None, follow).await.unwrap().1
}

fn id(stream: &ClockStream) -> FollowerId {
    stream.follower.as_ref().expect("it follows").follower_id().clone()
}

async fn confirm(home: &Home<'_>, follower_id: &FollowerId, (generation, step): (u64, u64)) -> Result<(), Refusal> {
    let confirmation = Confirmation { timeline: None, follower_id: follower_id.clone(), generation, step };
    home.engine.confirm(&home.admin, confirmation).await.map(drop)
}

/// Returns the names of the followers, with the confirmation of each and whether it is connected.
async fn listed(home: &Home<'_>) -> Vec<(String, Option<u64>, bool)> {
    let seen = home.engine.followers(&home.admin, None).await.unwrap();
    assert!(!seen.may_be_elsewhere);
    let row = |follower: timenav_core::followers::Follower| {
        (follower.name.to_string(), follower.confirmed.map(|one| one.step.generation), follower.is_there())
    };
    seen.followers.into_iter().map(row).collect()
}

fn follower_row(name: &str, confirmed: Option<u64>, is_there: bool) -> (String, Option<u64>, bool) {
    (name.to_owned(), confirmed, is_there)
}

/// Receives the reports of others, like the program does periodically.
async fn learn_followers(homes: [&Home<'_>; 2]) {
    for home in homes {
        home.engine.catch_up_all().await.unwrap();
        home.engine.learn_awaited_followers().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clock_change_waits_for_followers_of_another_replica() {
    let (left, right) = pair().await;
    let (web, db) = (follow(&left, "web", false).await, follow(&right, "db", false).await);
    for home in [&left, &right] {
        assert_eq!(listed(home).await, [follower_row("web", None, true), follower_row("db", None, true)]);
    }
    let step = left.change_clock(None, hour()).await;
    let (main, generation) = (timeline_id("main"), step.view.clock.generation);
    let wait = left.engine.wait_for(&main, generation, WhichFollowers::All).await;
    assert_eq!(left.engine.statuses_of(&wait).len(), 2);
    let (engine, waited) = (left.engine.clone(), wait.clone());
    let waiting = tokio::spawn(async move { engine.until_confirmed(&waited).await });
    // Each confirms at the service that does not have its stream, and has not received the change yet.
    confirm(&right, &id(&web), (generation, 0)).await.unwrap();
    learn_followers([&left, &right]).await;
    assert!(!is_confirmed(&left.engine.statuses_of(&wait)) && !waiting.is_finished(), "`db` has not");
    confirm(&left, &id(&db), (generation, 0)).await.unwrap();
    learn_followers([&left, &right]).await;
    timeout(PATIENCE, waiting).await.expect("both have confirmed").unwrap();
    for home in [&left, &right] {
        let confirmed = Some(generation);
        assert_eq!(listed(home).await, [follower_row("web", confirmed, true), follower_row("db", confirmed, true)]);
    }
    let missing = FollowerId::new("follower_none").unwrap();
    let refused = confirm(&left, &missing, (generation, 0)).await.unwrap_err();
    assert!(matches!(refused, Refusal::NotFound { .. }), "{refused}");

    // One disconnects silently during a change that waits for it, and reconnects at the other service.
    let step = left.change_clock(None, hour()).await;
    let generation = step.view.clock.generation;
    let wait = left.engine.wait_for(&main, generation, WhichFollowers::All).await;
    confirm(&left, &id(&web), (generation, 0)).await.unwrap();
    drop(db);
    let states = async || {
        left.engine.followers(&left.admin, None).await.unwrap();
        left.engine.statuses_of(&wait).iter().map(|one| one.state).collect::<Vec<_>>()
    };
    let is_away = async {
        while states().await != [AwaitedState::Confirmed, AwaitedState::Away] {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, is_away).await.expect("it is told that it went away");
    let back = follow(&left, "db", false).await;
    assert_eq!(states().await, [AwaitedState::Confirmed, AwaitedState::Behind]);
    confirm(&right, &id(&back), (generation, 0)).await.unwrap();
    assert_eq!(states().await, [AwaitedState::Confirmed, AwaitedState::Confirmed]);

    // The followers of a service that is not seen any more are gone too.
    let far = follow(&right, "far", false).await;
    assert_eq!(listed(&left).await.last().unwrap().0, "far");
    execute(&left.house.database(), "UPDATE services SET until = 0");
    left.engine.report_presence().await.unwrap();
    assert_eq!(listed(&left).await.last().unwrap(), &follower_row("far", None, false));
    // It was only delayed, and the database has lost its reports.
    execute(&left.house.database(), "DELETE FROM followers");
    right.engine.report_presence().await.unwrap();
    assert!(listed(&left).await.contains(&follower_row("far", None, true)));
    drop((web, back, far));
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn confirmation_is_propagated_after_the_client_disconnects() {
    let (left, right) = pair().await;
    let web = follow(&right, "web", false).await;
    let step = left.change_clock(None, hour()).await;
    let (main, generation) = (timeline_id("main"), step.view.clock.generation);
    right.engine.catch_up_all().await.unwrap();
    let here = right.engine.wait_for(&main, generation, WhichFollowers::All).await;
    assert!(!is_confirmed(&right.engine.statuses_of(&here)));
    let is_taken = async {
        while !is_confirmed(&right.engine.statuses_of(&here)) {
            tokio::task::yield_now().await;
        }
    };
    // The confirmation cannot be sent at once, and its sender does not wait.
    execute(&left.house.database(), END_OTHER_SESSIONS);
    let follower_id = id(&web);
    tokio::select! {
        biased;
        answer = confirm(&right, &follower_id, (generation, 0)) => panic!("nobody could hang up before {answer:?}"),
        () = is_taken => {}
    }
    let is_known = async || {
        // Both discover their lost connections one by one.
        let _ = right.engine.report_presence().await;
        let seen = left.engine.followers(&left.admin, None).await;
        seen.is_ok_and(|seen| seen.followers.iter().any(|follower| follower.has_confirmed(generation)))
    };
    let is_reported = async {
        while !is_known().await {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, is_reported).await.expect("the other service hears of it");
    drop(web);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn firings_wait_for_step_followers_of_another_replica() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    left.set_timer("t1", timer_in_micros(1_000_000)).await;
    left.set_timer("t2", timer_in_micros(2_000_000)).await;
    let follower = follow(&right, "program", true).await;
    assert!(left.engine.claim(&left.admin, None, &asking(1, 30, false)).await.unwrap().is_empty());
    left.engine.report_presence().await.unwrap();
    let to = ClockCommand::Travel { to: moment(10_000_000), location: None };
    let step = left.change_clock(None, to).await;
    let (advance, generation) = (step.advance_id.expect("timers are on the way"), step.view.clock.generation);
    let main = left.admin.timeline(None);
    for number in 1..=2 {
        let is_there = async {
            while left.engine.receipt(&main, &advance).await.unwrap().counts.fired < number {
                left.engine.keep_time().await;
            }
        };
        timeout(PATIENCE, is_there).await.expect("the clock comes to the instant");
        for home in [&left, &right] {
            home.engine.catch_up_all().await.unwrap();
            let early = home.engine.claim(&home.admin, None, &asking(1, 30, false)).await.unwrap();
            assert!(early.is_empty(), "the program may still show the instant before {early:?}");
        }
        // It confirms at the service that it is not connected to, and clients waiting at either are notified.
        let worker = right.spawn(move |engine, caller| async move { claimed(&engine, &caller, 30).await });
        confirm(&left, &id(&follower), (generation, number)).await.unwrap();
        learn_followers([&left, &right]).await;
        let firings = timeout(PATIENCE, worker).await.expect("it has come there").unwrap();
        assert_eq!(firings.len(), 1);
        acknowledge(&right.engine, &right.admin, firing_ids(&firings)).await;
        left.engine.catch_up_all().await.unwrap();
        left.engine.keep_time().await;
        learn_followers([&left, &right]).await;
    }
    left.engine.keep_time().await;
    timeout(PATIENCE, left.engine.until_settled(&main, &advance)).await.expect("it is settled in time");
    drop(follower);
    end([left, right]).await;
}

/// While there is a service without this table, each knows only its own followers, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn followers_are_shared_once_an_upgrade_is_finished() {
    let (left, right) = pair().await;
    downgrade(&left.house.database(), 2);
    let web = follow(&right, "web", false).await;
    for (home, count) in [(&left, 0), (&right, 1)] {
        home.engine.report_presence().await.unwrap();
        let seen = home.engine.followers(&home.admin, None).await.unwrap();
        assert_eq!((seen.may_be_elsewhere, seen.followers.len()), (true, count));
        assert!(home.engine.misses_followers());
    }
    // The previous schema, which is not reported as tampering.
    drop(open(&left.house.database()).unwrap());
    upgrade(&left.house.database()).await;
    right.engine.report_presence().await.unwrap();
    assert_eq!(listed(&left).await, [follower_row("web", None, true)]);
    drop(web);
    end([left, right]).await;
}

/// A fault set at one service reaches a follower's stream at another one. Before an upgrade is finished, a service that
/// does not support faults may be running, so setting one is rejected.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fault_reaches_a_follower_of_another_replica() {
    let (left, right) = pair().await;
    execute(&left.house.database(), "UPDATE feature_level SET level = 3");
    let mut web = follow(&right, "web", false).await;
    let follower_id = id(&web);
    let fault = Some(Fault { drift_ppm: 200, ..Fault::default() });
    let set = async |fault| {
        let request = FaultRequest { timeline: None, follower_id: follower_id.clone(), fault };
        left.engine.set_fault(&left.admin, request, None).await
    };
    let refused = set(fault).await.unwrap_err();
    assert!(matches!(refused, Refusal::NotUpgraded { level: 4, .. }), "{refused}");
    upgrade(&left.house.database()).await;
    for fault in [fault, None] {
        set(fault).await.unwrap();
        right.engine.catch_up_all().await.unwrap();
        let change = timeout(PATIENCE, web.changes.next()).await.expect("it is told").unwrap();
        assert!(change.is_of_fault);
        assert_eq!(web.follower.as_ref().unwrap().fault(), fault);
    }
    drop(web);
    end([left, right]).await;
}
