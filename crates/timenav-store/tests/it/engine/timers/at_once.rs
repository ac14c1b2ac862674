//! Many timers at one time, and many due times at once: more than are read first.

use timenav_core::clock::ClockCommand;
use timenav_core::ids::{QueueId, TimerId};
use timenav_core::time::Span;
use timenav_core::timers::{AdvanceState, Counts, FiringState, Schedule};
use timenav_engine::{Claim, ClaimedFiring, ClockChange, FiringsRequest, TimerRequest};

use crate::house::{Home, House};
use crate::sample::moment;

const SECOND: i64 = 1_000_000;
/// More than are read first, and fewer than may fire at once.
const MANY: usize = 60;

fn to(seconds: i64) -> ClockChange {
    ClockCommand::Travel { to: moment(seconds * SECOND), location: None }.into()
}

/// Sets timers whose names have this prefix.
async fn set(home: &Home<'_>, name: &str, seconds: impl Iterator<Item = i64>) {
    for (number, at) in seconds.enumerate() {
        let request = TimerRequest { schedule: Some(Schedule::At(moment(at * SECOND))), ..TimerRequest::default() };
        let timer_id = TimerId::new(&format!("{name}-{number}")).unwrap();
        home.engine.set_timer(&home.admin, None, (Some(timer_id), request), None).await.unwrap();
    }
}

async fn claim(home: &Home<'_>) -> Vec<ClaimedFiring> {
    let claim = Claim { queue: QueueId::unnamed(), max: 1_000, ttl: Span::from_secs(30).unwrap(), waits: false };
    home.engine.claim(&home.admin, None, &claim).await.unwrap()
}

async fn acknowledge(home: &Home<'_>, claimed: &[ClaimedFiring]) {
    let firing_ids = claimed.iter().map(|claimed| claimed.firing.firing_id.clone()).collect();
    let request = FiringsRequest { timeline: None, firing_ids, lease_ids: None };
    let answer = home.engine.acknowledge(&home.admin, request, None).await.unwrap();
    assert!(answer.firings.iter().all(|(_, state)| *state == FiringState::Acknowledged));
    home.engine.keep_time().await;
}

#[tokio::test]
async fn timers_due_at_one_instant_are_claimed_together() {
    let house = House::new();
    let home = house.open().await;
    home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await.unwrap();
    home.engine.change_clock(&home.admin, None, to(0), None).await.unwrap();
    set(&home, "alone", std::iter::once(5)).await;
    set(&home, "together", std::iter::repeat_n(10, MANY)).await;
    set(&home, "after", std::iter::once(20)).await;
    // Registers a listener for a while.
    assert!(claim(&home).await.is_empty());
    let begun = home.engine.change_clock(&home.admin, None, to(30), None).await.unwrap();
    home.engine.keep_time().await;
    for (due, count) in [(5, 1), (10, MANY), (20, 1)] {
        let claimed = claim(&home).await;
        assert_eq!(claimed.len(), count, "{due}");
        assert!(claimed.iter().all(|one| one.firing.due_firing.due == moment(due * SECOND)), "{due}");
        acknowledge(&home, &claimed).await;
    }
    let main = home.admin.timeline_id.clone();
    let receipt = home.engine.receipt(&main, &begun.advance_id.unwrap()).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Settled, 3));
    let fired = MANY as u64 + 2;
    assert_eq!(receipt.counts, Counts { fired, acknowledged: fired, failed: 0 });

    // With a jump or a running clock, all due timers fire in the order of their due times.
    set(&home, "jumped", (0..MANY).map(|number| 40 + i64::try_from(number / 2).unwrap())).await;
    let jump = ClockChange { settle: false, ..to(100) };
    home.engine.change_clock(&home.admin, None, jump, None).await.unwrap();
    home.engine.keep_time().await;
    let claimed = claim(&home).await;
    assert_eq!(claimed.len(), MANY);
    assert!(claimed.is_sorted_by_key(|one| one.firing.due_firing.due));
    acknowledge(&home, &claimed).await;
    home.close().await;
}

#[tokio::test]
async fn advance_without_listeners_passes_many_instants_at_once() {
    let house = House::new();
    let home = house.open().await;
    home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await.unwrap();
    home.engine.change_clock(&home.admin, None, to(0), None).await.unwrap();
    set(&home, "each", (1..=200).chain(std::iter::repeat_n(150, MANY))).await;
    let begun = home.engine.change_clock(&home.admin, None, to(300), None).await.unwrap();
    home.engine.keep_time().await;
    let main = home.admin.timeline_id.clone();
    let receipt = home.engine.receipt(&main, &begun.advance_id.unwrap()).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Settled, 200));
    assert_eq!(receipt.counts, Counts { fired: 200 + MANY as u64, acknowledged: 0, failed: 0 });
    home.close().await;
}
