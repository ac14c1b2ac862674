//! Many timers at one time, and many due times at once: more than are read first.

use crate::engine::*;

/// More than are read first, and fewer than may fire at once.
const MANY: usize = 60;

/// Sets timers whose names have this prefix.
async fn set(home: &Home<'_>, name: &str, seconds: impl Iterator<Item = i64>) {
    for (number, at) in seconds.enumerate() {
        home.set_timer(&format!("{name}-{number}"), timer_at(at)).await;
    }
}

async fn acknowledge(home: &Home<'_>, claimed: &[ClaimedFiring]) {
    let answer = home.engine.acknowledge(&home.admin, firings(firing_ids(claimed)), None).await.unwrap();
    assert!(answer.firings.iter().all(|(_, state)| *state == FiringState::Acknowledged));
    home.engine.keep_time().await;
}

#[tokio::test]
async fn timers_due_at_one_instant_are_claimed_together() {
    let home = Home::new().await;
    home.pause_at_epoch().await;
    set(&home, "alone", std::iter::once(5)).await;
    set(&home, "together", std::iter::repeat_n(10, MANY)).await;
    set(&home, "after", std::iter::once(20)).await;
    // Registers a listener for a while.
    assert!(home.claim(1_000).await.is_empty());
    let begun = home.change_clock(None, travel(30)).await;
    home.engine.keep_time().await;
    for (due, count) in [(5, 1), (10, MANY), (20, 1)] {
        let claimed = home.claim(1_000).await;
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
    let jump = ClockChange { settle: false, ..travel(100).into() };
    home.change_clock(None, jump).await;
    home.engine.keep_time().await;
    let claimed = home.claim(1_000).await;
    assert_eq!(claimed.len(), MANY);
    assert!(claimed.is_sorted_by_key(|one| one.firing.due_firing.due));
    acknowledge(&home, &claimed).await;
    home.close().await;
}

#[tokio::test]
async fn advance_without_listeners_passes_many_instants_at_once() {
    let home = Home::new().await;
    home.pause_at_epoch().await;
    set(&home, "each", (1..=200).chain(std::iter::repeat_n(150, MANY))).await;
    let begun = home.change_clock(None, travel(300)).await;
    home.engine.keep_time().await;
    let main = home.admin.timeline_id.clone();
    let receipt = home.engine.receipt(&main, &begun.advance_id.unwrap()).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Settled, 200));
    assert_eq!(receipt.counts, Counts { fired: 200 + MANY as u64, acknowledged: 0, failed: 0 });
    home.close().await;
}
