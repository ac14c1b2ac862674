use timenav_core::ids::{QueueId, TimelineId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::FiringState;

use super::{TimersEntry, firings_settled, timers_fired};
use crate::ledger::payload::{FiringsSettled, OutcomeOfFiring, TimersFired};
use crate::ports::timer_rows::{TimerMove, TimerRow};

fn armed() -> TimerRow {
    TimerRow {
        position: 3,
        timer_id: TimerId::new("renewal").unwrap(),
        next: Instant::from_micros(10),
        round: 2,
        is_cancelled: false,
        schedule: "".into(),
        deliver: "".into(),
        queue: QueueId::new("bills").unwrap(),
        order_key: Some("customer-1".to_owned()),
        payload: "".into(),
        set_by: "ada".to_owned(),
        set_at: Instant::from_micros(0).unwrap(),
    }
}

fn fired(fired: Vec<(u64, i64, u32, Option<i64>)>, skipped: Vec<(u64, i64, i64, Option<i64>)>) -> TimersFired {
    TimersFired { clock: None, advance_id: None, step: None, fired, skipped, before: None }
}

fn project(told: &TimersFired) -> Option<crate::ports::timer_rows::TimerRows> {
    let (timeline, row) = (TimelineId::new("year").unwrap(), armed());
    let entry = TimersEntry { timeline: &timeline, position: 7, advance: Some(5) };
    timers_fired(told, entry, |position| (position == row.position).then_some(&row))
}

#[test]
fn timer_that_fires_twice_moves_once() {
    let rows = project(&fired(vec![(3, 10, 2, Some(30)), (3, 20, 2, Some(30))], Vec::new())).unwrap();
    let moments: Vec<i64> = rows.fired.iter().map(|firing| firing.due_firing.due.micros()).collect();
    assert_eq!(moments, [10, 20]);
    let moved = TimerMove { position: 3, next: Instant::from_micros(30), round: 2, is_cancelled: false };
    assert_eq!(rows.moved, [moved]);
}

#[test]
fn firing_copies_timer_and_names_entry_and_advance() {
    let rows = project(&fired(vec![(3, 10, 2, None)], Vec::new())).unwrap();
    let firing = &rows.fired[0];
    assert_eq!((firing.queue.as_str(), firing.order_key.as_deref()), ("bills", Some("customer-1")));
    assert_eq!((firing.made, firing.advance, firing.state), (7, Some(5), FiringState::Pending));
    assert_eq!(rows.moved[0].next, None);
}

#[test]
fn skipped_moments_move_timer_without_firing() {
    let rows = project(&fired(Vec::new(), vec![(3, 10, 20, Some(30))])).unwrap();
    assert!(rows.fired.is_empty());
    assert_eq!((rows.moved[0].next, rows.moved[0].round), (Instant::from_micros(30), 2));
}

#[test]
fn unknown_timer_or_moment_is_rejected() {
    assert!(project(&fired(vec![(4, 10, 0, None)], Vec::new())).is_none());
    assert!(project(&fired(vec![(3, i64::MAX, 2, None)], Vec::new())).is_none());
    assert!(project(&fired(vec![(3, 10, 2, Some(i64::MAX))], Vec::new())).is_none());
}

#[test]
fn unknown_outcome_is_rejected() {
    let told = |outcome: &str| FiringsSettled {
        outcomes: vec![OutcomeOfFiring {
            firing_id: "firing".to_owned(),
            timer: 3,
            due: 10,
            round: 2,
            outcome: outcome.to_owned(),
            reason: Some("timeout".to_owned()),
        }],
        before: None,
    };
    let ends = firings_settled(&told(FiringState::Failed.as_str()), 9).unwrap();
    assert_eq!((ends[0].state, ends[0].settled, ends[0].reason.as_deref()), (FiringState::Failed, 9, Some("timeout")));
    assert!(firings_settled(&told("lost"), 9).is_none());
}
