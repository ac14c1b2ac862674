//! The cost of an instant of an advance: the last outcome and the next step of the clock share a commit.

use std::time::Duration;

use timenav_core::ids::LeaseId;
use timenav_engine::FiringAnswer;

use crate::engine::*;

/// Long enough for everything that does not wait to finish.
const MOMENT: Duration = Duration::from_millis(50);

/// An advance held at its first instant, over timers at these seconds, with a listener.
struct Advancing<'a, 'b> {
    home: &'a Home<'b>,
    advance_id: AdvanceId,
}

async fn advancing<'a, 'b>(home: &'a Home<'b>, seconds: impl IntoIterator<Item = i64>) -> Advancing<'a, 'b> {
    home.pause_at_epoch().await;
    let mut last = 0;
    for (number, at) in seconds.into_iter().enumerate() {
        last = last.max(at);
        home.set_timer(&format!("timer-{number}"), timer_at(at)).await;
    }
    home.keep_time(1).await;
    // Registers a listener for a while.
    assert!(home.claim(1_000).await.is_empty());
    let begun = home.change_clock(None, travel(last + 10)).await;
    home.engine.keep_time().await;
    Advancing { home, advance_id: begun.advance_id.unwrap() }
}

async fn acknowledge(home: &Home<'_>, firing_ids: Vec<FiringId>) -> FiringAnswer {
    home.engine.acknowledge(&home.admin, firings(firing_ids), None).await.unwrap()
}

async fn release(home: &Home<'_>, lease_id: &LeaseId) {
    home.engine.release_hold(&home.admin, None, lease_id).await.unwrap();
}

impl Advancing<'_, '_> {
    async fn progress(&self) -> (AdvanceState, u64, Counts) {
        let receipt = self.home.engine.receipt(&TimelineId::main(), &self.advance_id).await.unwrap();
        (receipt.state, receipt.step, receipt.counts)
    }

    /// Returns the number of the current step.
    async fn step(&self) -> u64 {
        let (state, step, _) = self.progress().await;
        assert_eq!(state, AdvanceState::Running);
        step
    }
}

/// Returns the number of groups written by some work.
async fn groups<T>(home: &Home<'_>, something: impl Future<Output = T>) -> (u64, T) {
    let before = home.engine.stats().groups;
    let result = something.await;
    (home.engine.stats().groups - before, result)
}

on_each_store![advance_takes_one_commit_per_instant, outcome_does_not_step_the_clock_during_a_hold];

/// Each instant costs one commit, and the last one ends the advance. The entries are the same as with separate commits.
async fn advance_takes_one_commit_per_instant(house: House) {
    const INSTANTS: i64 = 20;
    let home = house.open().await;
    let advance = advancing(&home, 1..=INSTANTS).await;
    for instant in 1..=INSTANTS {
        assert_eq!(advance.step().await, instant.unsigned_abs());
        let claimed = home.claim(1_000).await;
        assert_eq!(claimed[0].firing.due_firing.due, moment(instant * SECOND));
        let (count, answer) = groups(&home, acknowledge(&home, firing_ids(&claimed))).await;
        assert_eq!(answer.firings, [(claimed[0].firing.firing_id.clone(), FiringState::Acknowledged)]);
        assert_eq!(count, 1, "the outcome and the next instant are one commit");
        // The outcome, and the step after it.
        let ledger = answer.ledger.unwrap();
        assert_eq!(ledger.size - ledger.position, 2);
    }
    let fired = INSTANTS.unsigned_abs();
    let counts = Counts { fired, acknowledged: fired, failed: 0 };
    assert_eq!(advance.progress().await, (AdvanceState::Settled, fired, counts));
    let lines = home.close().await;
    let from = lines.iter().position(|line| line.action == "fire_timers").unwrap();
    let actions: Vec<(&str, &str, &str)> = lines[from..]
        .iter()
        .filter(|line| line.timeline == "main" && line.action != "reads")
        .map(|line| (line.action.as_str(), line.actor.as_str(), line.clock_time.as_str()))
        .collect();
    let mut expected = Vec::new();
    let times: Vec<String> = (1..=INSTANTS).map(|instant| moment(instant * SECOND).to_string()).collect();
    for time in &times {
        expected.extend([("fire_timers", "system", time.as_str()), ("settle_firings", "admin", time.as_str())]);
    }
    let end = moment((INSTANTS + 10) * SECOND).to_string();
    expected.push(("end_advance", "system", &end));
    assert_eq!(actions, expected);
}

/// An outcome does not cause a step while the instant is held otherwise: by another firing or a hold, or if no step is
/// wanted.
async fn outcome_does_not_step_the_clock_during_a_hold(house: House) {
    let home = house.open().await;
    let advance = advancing(&home, [1, 1, 2, 3, 4]).await;
    // Another firing.
    let both = home.claim(1_000).await;
    let (count, _) = groups(&home, acknowledge(&home, firing_ids(&both[..1]))).await;
    assert_eq!((count, advance.step().await), (1, 1));
    // A firing that already has its outcome does not affect the other one.
    acknowledge(&home, firing_ids(&both[..1])).await;
    home.engine.keep_time().await;
    assert_eq!(advance.step().await, 1);
    let (count, _) = groups(&home, acknowledge(&home, firing_ids(&both))).await;
    assert_eq!((count, advance.step().await), (1, 2));
    // A hold, which begins between claim and acknowledgment.
    let claimed = home.claim(1_000).await;
    let (_, hold, _) = home.engine.hold_advances(&home.admin, hold_for(600, "first"), None).await.unwrap();
    let (count, _) = groups(&home, acknowledge(&home, firing_ids(&claimed))).await;
    home.engine.keep_time().await;
    assert_eq!((count, advance.step().await), (1, 2));
    release(&home, &hold.lease_id).await;
    home.engine.keep_time().await;
    assert_eq!(advance.step().await, 3);
    // Exhausted attempts also cause the next step.
    for attempt in 1..=ATTEMPTS_IN_ADVANCE_MAX {
        home.house.pass(5 * SECOND);
        home.keep_time(1).await;
        assert_eq!(advance.step().await, 3);
        let claimed = home.claim(1_000).await;
        assert_eq!(claimed[0].attempt, attempt);
        home.engine
            .fail_firings(&home.admin, firings(firing_ids(&claimed)), Some("no".to_owned()), None)
            .await
            .unwrap();
    }
    let counts = Counts { fired: 5, acknowledged: 3, failed: 1 };
    assert_eq!(advance.progress().await, (AdvanceState::Running, 4, counts));
    // Pausing the clock ends the advance where it is.
    let claimed = home.claim(1_000).await;
    home.change_clock(None, ClockCommand::Pause).await;
    let (count, answer) = groups(&home, acknowledge(&home, firing_ids(&claimed))).await;
    assert_eq!((count, answer.firings[0].1), (1, FiringState::Acknowledged));
    home.engine.keep_time().await;
    assert_eq!(advance.progress().await, (AdvanceState::Stopped, 4, counts));
    home.close().await;
}

/// Concurrent outcomes of several workers are written in groups, each with its own firings.
#[tokio::test]
async fn concurrent_outcomes_are_written_in_groups() {
    const WORKERS: usize = 50;
    let home = Home::new().await;
    let advance = advancing(&home, std::iter::repeat_n(1, WORKERS).chain([2])).await;
    let claimed = home.claim(1_000).await;
    assert_eq!(claimed.len(), WORKERS);
    let each = claimed.chunks(1).map(|one| acknowledge(&home, firing_ids(one)));
    let (count, answers) = groups(&home, futures_util::future::join_all(each)).await;
    assert!(answers.iter().all(|answer| answer.firings[0].1 == FiringState::Acknowledged));
    assert!(count < WORKERS as u64 / 2, "{count} groups");
    home.engine.keep_time().await;
    let acknowledged = WORKERS as u64;
    let counts = Counts { fired: acknowledged + 1, acknowledged, failed: 0 };
    assert_eq!(advance.progress().await, (AdvanceState::Running, 2, counts));
    // Two concurrent outcomes of the same firing result in one.
    let last = firing_ids(&home.claim(1_000).await);
    let (one, other) = tokio::join!(acknowledge(&home, last.clone()), acknowledge(&home, last));
    assert_eq!((&one.firings, one.firings[0].1), (&other.firings, FiringState::Acknowledged));
    home.engine.keep_time().await;
    let counts = Counts { fired: acknowledged + 1, acknowledged: acknowledged + 1, failed: 0 };
    assert_eq!(advance.progress().await, (AdvanceState::Settled, 2, counts));
    let lines = home.close().await;
    let outcomes = lines.iter().filter(|line| line.action == "settle_firings");
    assert_eq!(outcomes.count(), WORKERS + 1);
}

/// A hold cannot begin while the clock leaves an instant, even if the client that acknowledged is gone. If nothing was
/// written, everything is as before.
#[tokio::test(flavor = "multi_thread")]
async fn hold_waits_for_a_step_in_progress() {
    let (store, home) = House::new().into_faulty_home().await;
    let advance = advancing(&home, [1, 2, 3]).await;
    let first = firing_ids(&home.claim(1_000).await);
    store.set_commits_failing(true);
    assert!(is_unavailable(&home.engine.acknowledge(&home.admin, firings(first.clone()), None).await));
    store.set_commits_failing(false);
    assert_eq!(advance.step().await, 1);
    let (_, hold, _) = home.engine.hold_advances(&home.admin, hold_for(600, "first"), None).await.unwrap();
    release(&home, &hold.lease_id).await;
    // The outcome and the step are being written, and the client disconnects.
    store.close_gate();
    let sent = home.spawn(move |engine, admin| async move { engine.acknowledge(&admin, firings(first), None).await });
    store.arrival().await;
    let mut holding = home
        .spawn(move |engine, admin| async move { engine.hold_advances(&admin, hold_for(600, "second"), None).await });
    assert!(timeout(MOMENT, &mut holding).await.is_err(), "the clock is on its way");
    sent.abort();
    assert!(sent.await.unwrap_err().is_cancelled());
    assert!(timeout(MOMENT, &mut holding).await.is_err(), "it still is");
    assert!(home.claim(1_000).await.is_empty());
    store.open_gate();
    let (_, hold, _) = holding.await.unwrap().unwrap();
    assert_eq!(advance.step().await, 2);
    let second = home.claim(1_000).await;
    assert_eq!(second[0].firing.due_firing.due, moment(2 * SECOND));
    acknowledge(&home, firing_ids(&second)).await;
    home.engine.keep_time().await;
    assert_eq!(advance.step().await, 2, "held");
    release(&home, &hold.lease_id).await;
    home.engine.keep_time().await;
    acknowledge(&home, firing_ids(&home.claim(1_000).await)).await;
    let counts = Counts { fired: 3, acknowledged: 3, failed: 0 };
    assert_eq!(advance.progress().await, (AdvanceState::Settled, 3, counts));
    // An acknowledged firing cannot get another outcome.
    let refused =
        home.engine.acknowledge(&home.admin, firings(vec![FiringId::new("firing_none").unwrap()]), None).await;
    assert!(matches!(&refused, Err(Refusal::NotFound { .. })), "{refused:?}");
    home.close().await;
}
