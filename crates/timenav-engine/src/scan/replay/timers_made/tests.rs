use timenav_core::ids::{QueueId, TimelineId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::{Fallen, FiringState, Timers};

use super::*;

const POSITION: u64 = 3;

fn firing(round: u32, due: i64) -> FiringRow {
    let fallen = Fallen { due: Instant::from_micros(due).unwrap(), position: POSITION, round };
    FiringRow {
        fallen,
        firing_id: fallen.firing_id(&TimelineId::new("main").unwrap()),
        timer_id: TimerId::new("renew").unwrap(),
        queue: QueueId::new("default").unwrap(),
        order_key: None,
        state: FiringState::Pending,
        made: 9,
        settled: None,
        advance: None,
        reason: None,
    }
}

/// Returns what is refused after a timer fired by itself, was taken away, and fired again.
fn refused(first: &[(u32, i64)], again: &[(u32, i64)], then: &[(u32, i64)]) -> Option<String> {
    let mut made = TimersMade::default();
    for (round, due) in first {
        made.fired(&firing(*round, *due));
    }
    made.gone(POSITION);
    let again: Vec<FiringRow> = again.iter().map(|(round, due)| firing(*round, *due)).collect();
    made.fired_again(&again);
    for (round, due) in then {
        made.fired(&firing(*round, *due));
    }
    made.take(&Timers::default(), true).err()
}

#[test]
fn no_firing_comes_twice() {
    assert_eq!(refused(&[(0, 10), (0, 20)], &[], &[(0, 30), (1, 10)]), None);
    // What was in flight comes in the order of its moments, whatever the rounds were.
    assert_eq!(refused(&[(0, 10), (0, 20)], &[(2, 10), (1, 20)], &[(2, 30)]), None);

    let twice = Some("the timer `renew` fires again for a moment that it had".to_owned());
    assert_eq!(refused(&[(0, 10), (0, 10)], &[], &[]), twice);
    assert_eq!(refused(&[(0, 10)], &[], &[(0, 10)]), twice, "though the timer had been taken away");
    assert_eq!(refused(&[(0, 10)], &[(0, 10)], &[]), twice);
    assert_eq!(refused(&[(0, 10)], &[(1, 10), (1, 10)], &[]), twice);
    assert_eq!(refused(&[], &[(1, 20)], &[(1, 20)]), twice);
    assert_eq!(refused(&[], &[(2, 10), (1, 20)], &[(1, 20)]), twice);
}
