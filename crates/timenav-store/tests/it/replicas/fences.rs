//! A service that is delayed in the middle of its work on timers, while another one continues: it does not write or
//! hand out anything that belongs to the other one by then. It is delayed between two steps by foreign locks.

use timenav_core::limits::ATTEMPTS_MAX;

use super::leases::{acknowledge, asking, claimed, timer_in_micros};
use crate::cluster::{Holding, try_execute};
use crate::replicas::*;

/// A statement that fails unless a session waits for a lock.
const SOMEBODY_WAITS: &str = "SELECT 1 / count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'";
/// Blocks others from a ledger.
const HEAD: &str = "SELECT FROM timelines WHERE timeline_id = 'main' FOR UPDATE";
/// Blocks others from its leases.
const LEASES: &str =
    "SELECT FROM timekeepers JOIN timelines USING (timeline) WHERE timeline_id = 'main' FOR UPDATE OF timekeepers";
/// Beyond the end of any lease in these tests, in microseconds.
const LONG: i64 = 60_000_000;

async fn wait_for_blocked_lock(url: &str) {
    let waits = async {
        while !try_execute(url, SOMEBODY_WAITS) {
            let _ = timeout(HostDuration::from_millis(20), std::future::pending::<()>()).await;
        }
    };
    timeout(HostDuration::from_mins(1), waits).await.expect("somebody comes to the lock");
}

/// Lets a service do its background work.
async fn tend(home: &Home<'_>) {
    home.engine.catch_up_all().await.unwrap();
    home.keep_time(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn outcome_of_a_paused_former_timekeeper_is_not_written() {
    let (left, right) = pair().await;
    let url = left.house.database();
    left.pause_at_epoch().await;
    left.set_timer("late", timer_in_micros(-1)).await;
    tend(&left).await;
    tend(&right).await;
    // The last possible attempt has ended without an outcome.
    for attempt in 1..=ATTEMPTS_MAX {
        execute(&url, "UPDATE firing_leases SET not_before = 0");
        let claimed_firings = claimed(&right.engine, &right.admin, 30).await;
        assert_eq!(claimed_firings[0].attempt, attempt);
        if attempt < ATTEMPTS_MAX {
            let request = firings(firing_ids(&claimed_firings));
            right.engine.fail_firings(&right.admin, request, None, None).await.unwrap();
        }
    }
    execute(&url, "UPDATE firing_leases SET until = 1");
    // The timekeeper detects that, and is delayed before it has written the outcome.
    let held = Holding::start(&url, HEAD);
    left.engine.report_presence().await.unwrap();
    let engine = left.engine.clone();
    let keeping = tokio::spawn(async move { engine.keep_time().await });
    wait_for_blocked_lock(&url).await;
    // Another service takes over, and the database loses its leases like in a crash: a worker gets the firing again.
    execute(&url, "UPDATE services SET until = 0");
    right.keep_time(1).await;
    assert_eq!(right.engine.replica().unwrap().timekeeping.unwrap().takeovers, 1);
    execute(&url, "DELETE FROM firing_leases");
    let again = claimed(&right.engine, &right.admin, 30).await;
    assert_eq!(again[0].attempt, 1);
    drop(held);
    keeping.await.unwrap();
    let states = acknowledge(&right.engine, &right.admin, firing_ids(&again)).await;
    assert_eq!(states, [FiringState::Acknowledged], "a service that keeps the time no more has said that it failed");
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn delayed_claim_is_not_returned_after_lease_expiry() {
    let (left, right) = pair().await;
    let url = left.house.database();
    left.pause_at_epoch().await;
    left.set_timer("late", timer_in_micros(-1)).await;
    tend(&left).await;
    tend(&right).await;
    // The claiming service is delayed for longer than the lease lasts.
    let held = Holding::start(&url, LEASES);
    let claiming = right
        .spawn(move |engine, caller| async move { engine.claim(&caller, None, &asking(1, 30, false)).await.unwrap() });
    wait_for_blocked_lock(&url).await;
    left.house.clock.advance(LONG);
    drop(held);
    assert!(claiming.await.unwrap().is_empty(), "it hands out what somebody else may have by now");
    // Another worker gets it, as the next attempt.
    execute(&url, "UPDATE firing_leases SET until = 1");
    tend(&left).await;
    execute(&url, "UPDATE firing_leases SET not_before = 0");
    let again = claimed(&left.engine, &left.admin, 30).await;
    assert_eq!(again[0].attempt, 2);
    assert_eq!(acknowledge(&left.engine, &left.admin, firing_ids(&again)).await, [FiringState::Acknowledged]);
    end([left, right]).await;
}

/// The timekeeper makes the next step with the last outcome, in one commit. If another service receives the outcome,
/// the timekeeper makes the step afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_the_timekeeper_steps_the_clock_with_an_outcome() {
    let house = House::on_postgres();
    let second = two(&house).await;
    let (left, right) = (house.open().await, second.open().await);
    left.pause_at_epoch().await;
    for second in 1..=3 {
        left.set_timer(&format!("t{second}"), timer_in_micros(second)).await;
    }
    // The left one takes the timeline, and the other one notices.
    left.keep_time(1).await;
    right.engine.catch_up_all().await.unwrap();
    right.keep_time(1).await;
    assert!(left.engine.claim(&left.admin, None, &asking(1, 30, false)).await.unwrap().is_empty());
    let travel = ClockCommand::Travel { to: moment(10), location: None };
    let begun = left.change_clock(None, travel).await;
    let advance_id = begun.advance_id.unwrap();
    left.engine.keep_time().await;
    let main = left.admin.timeline_id.clone();
    let claim = async |home: &Home<'_>| {
        home.engine.catch_up_all().await.unwrap();
        claimed(&home.engine, &home.admin, 30).await
    };
    let progress = async |home: &Home<'_>| {
        home.engine.catch_up_all().await.unwrap();
        let receipt = home.engine.receipt(&main, &advance_id).await.unwrap();
        (receipt.state, receipt.step)
    };
    assert_eq!(progress(&left).await, (AdvanceState::Running, 1));
    // The timekeeper receives the outcome.
    let claimed_firings = claim(&right).await;
    let before = left.engine.stats().groups;
    acknowledge(&left.engine, &left.admin, firing_ids(&claimed_firings)).await;
    assert_eq!(left.engine.stats().groups, before + 1);
    assert_eq!(progress(&right).await, (AdvanceState::Running, 2));
    // Another service receives the outcome.
    let claimed_firings = claim(&left).await;
    acknowledge(&right.engine, &right.admin, firing_ids(&claimed_firings)).await;
    assert_eq!(progress(&right).await, (AdvanceState::Running, 2));
    right.engine.keep_time().await;
    assert_eq!(progress(&left).await, (AdvanceState::Running, 2));
    left.engine.keep_time().await;
    assert_eq!(progress(&right).await, (AdvanceState::Running, 3));
    // A timekeeper that has lost the timeline without knowing makes no step with an outcome.
    let claimed_firings = claim(&left).await;
    execute(&house.database(), "UPDATE services SET until = 0");
    right.keep_time(1).await;
    assert_eq!(right.engine.replica().unwrap().timekeeping.unwrap().takeovers, 1);
    let states = acknowledge(&left.engine, &left.admin, firing_ids(&claimed_firings)).await;
    assert_eq!((states.as_slice(), progress(&left).await.1), ([FiringState::Acknowledged].as_slice(), 3));
    assert_eq!(progress(&left).await.0, AdvanceState::Running);
    right.engine.catch_up_all().await.unwrap();
    right.engine.keep_time().await;
    assert_eq!(progress(&left).await, (AdvanceState::Settled, 3));
    end([left, right]).await;
}
