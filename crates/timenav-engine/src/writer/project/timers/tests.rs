use timenav_core::ids::{AdvanceId, QueueId, TimelineId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::{Advance, Counts, DueFiring, FiringState, Timers};

use crate::ledger::payload::{
    FiringsSettled, OutcomeOfFiring, StatePayload, TimerCancelled, TimerRestored, TimerSet, TimersFired, TimersRestored,
};
use crate::ports::timer_rows::{FiringRow, TimerMove, TimerRow, TimerRows};
use crate::writer::project::{Before, Changes, Entry, KnownTimerRows, project};

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

fn projected(payload: &StatePayload<'_>, timers: &Timers) -> Option<Changes> {
    let row = armed();
    let entry = Entry { timeline: "year", position: 7, recorded_at: Instant::from_micros(0).unwrap(), actor: "ada" };
    let rows = KnownTimerRows::of_timers([&row]);
    project(payload, entry, Before { clock: None, timers, rows: &rows })
}

fn rows_of(fired: TimersFired) -> Option<TimerRows> {
    let timers = Timers { armed: 1, advance: Some(advance()), ..Timers::default() };
    projected(&StatePayload::TimersFired(fired), &timers).map(|changes| changes.timer_rows)
}

#[test]
fn timer_that_fires_twice_moves_once() {
    let rows = rows_of(fired(vec![(3, 10, 2, Some(30)), (3, 20, 2, Some(30))], Vec::new())).unwrap();
    let moments: Vec<i64> = rows.fired.iter().map(|firing| firing.due_firing.due.micros()).collect();
    assert_eq!(moments, [10, 20]);
    let moved = TimerMove { position: 3, next: Instant::from_micros(30), round: 2, is_cancelled: false };
    assert_eq!(rows.moved, [moved]);
}

#[test]
fn firing_copies_timer_and_names_entry_and_advance() {
    let rows = rows_of(fired(vec![(3, 10, 2, None)], Vec::new())).unwrap();
    let firing = &rows.fired[0];
    assert_eq!((firing.queue.as_str(), firing.order_key.as_deref()), ("bills", Some("customer-1")));
    assert_eq!((firing.made, firing.advance, firing.state), (7, Some(5), FiringState::Pending));
    assert_eq!(rows.moved[0].next, None);
}

#[test]
fn skipped_moments_move_timer_without_firing() {
    let rows = rows_of(fired(Vec::new(), vec![(3, 10, 20, Some(30))])).unwrap();
    assert!(rows.fired.is_empty());
    assert_eq!((rows.moved[0].next, rows.moved[0].round), (Instant::from_micros(30), 2));
}

#[test]
fn unknown_timer_or_moment_is_rejected() {
    assert!(rows_of(fired(vec![(4, 10, 0, None)], Vec::new())).is_none());
    assert!(rows_of(fired(vec![(3, i64::MAX, 2, None)], Vec::new())).is_none());
    assert!(rows_of(fired(vec![(3, 10, 2, Some(i64::MAX))], Vec::new())).is_none());
}

fn advance() -> Advance {
    let at = |micros| Instant::from_micros(micros).unwrap();
    Advance {
        advance_id: AdvanceId::new("year-end").unwrap(),
        position: 5,
        from: at(0),
        to: at(100),
        location: None,
        is_running: false,
        step: 1,
        stepped: 6,
        held_since: Instant::from_micros(0).unwrap(),
        at_instant: 1,
        open: 1,
        counts: Counts { fired: 1, ..Counts::default() },
    }
}

fn firing(made: u64) -> FiringRow {
    let due_firing = DueFiring { due: Instant::from_micros(10).unwrap(), position: 3, round: 2 };
    FiringRow {
        due_firing,
        firing_id: due_firing.firing_id(&TimelineId::new("year").unwrap()),
        timer_id: TimerId::new("renewal").unwrap(),
        queue: QueueId::new("bills").unwrap(),
        order_key: None,
        state: FiringState::Pending,
        made,
        settled: None,
        advance: Some(5),
        reason: None,
    }
}

fn settled(outcome: &str) -> StatePayload<'static> {
    StatePayload::FiringsSettled(FiringsSettled {
        outcomes: vec![OutcomeOfFiring {
            firing_id: "firing".to_owned(),
            timer: 3,
            due: 10,
            round: 2,
            outcome: outcome.to_owned(),
            reason: Some("timeout".to_owned()),
        }],
        before: None,
    })
}

fn settle(outcome: &str, known: &[FiringRow], timers: &Timers) -> Option<Changes> {
    let entry = Entry { timeline: "year", position: 9, recorded_at: Instant::from_micros(0).unwrap(), actor: "ada" };
    let rows = KnownTimerRows::of_firings(known);
    project(&settled(outcome), entry, Before { clock: None, timers, rows: &rows })
}

#[test]
fn settled_firing_of_the_current_instant_opens_the_way_of_its_advance() {
    let timers = Timers { pending: 1, advance: Some(advance()), ..Timers::default() };
    let changes = settle(FiringState::Failed.as_str(), &[firing(6)], &timers).unwrap();
    let end = &changes.timer_rows.settled[0];
    assert_eq!((end.state, end.settled, end.reason.as_deref()), (FiringState::Failed, 9, Some("timeout")));
    let after = changes.timers.unwrap();
    assert_eq!((after.pending, after.last), (0, Some(9)));
    let advance = after.advance.unwrap();
    assert_eq!((advance.open, advance.counts), (0, Counts { fired: 1, acknowledged: 0, failed: 1 }));
}

#[test]
fn unknown_outcome_or_firing_is_rejected() {
    let timers = Timers { pending: 1, ..Timers::default() };
    assert!(settle("lost", &[firing(6)], &timers).is_none());
    assert!(settle(FiringState::Failed.as_str(), &[], &timers).is_none());
}

#[test]
fn last_firing_of_a_timer_disarms_it() {
    let timers = Timers { armed: 4, ..Timers::default() };
    let payload = StatePayload::TimersFired(fired(vec![(3, 10, 2, None)], Vec::new()));
    let after = projected(&payload, &timers).unwrap().timers.unwrap();
    assert_eq!((after.armed, after.pending, after.last), (3, 1, Some(7)));
}

#[test]
fn cancelled_timer_keeps_its_round_and_has_no_next_moment() {
    let cancelled = TimerCancelled { timer_id: "renewal".to_owned(), position: 3, next: None, before: None };
    let timers = Timers { armed: 2, ..Timers::default() };
    let changes = projected(&StatePayload::TimerCancelled(cancelled), &timers).unwrap();
    assert_eq!(changes.timer_rows.moved, [TimerMove { position: 3, next: None, round: 2, is_cancelled: true }]);
    assert_eq!(changes.timers.unwrap().armed, 1);
}

#[test]
fn restored_timer_takes_its_definition_from_the_row_before() {
    let was = armed();
    let is = TimerRow { next: Instant::from_micros(2), round: 3, ..armed() };
    let restored = TimersRestored {
        anchor_id: None,
        inherited: false,
        timers: vec![TimerRestored::of(3, Some(&was), Some(&is)).unwrap()],
        superseded: vec![(3, 10, 2)],
        fired: Vec::new(),
        before: None,
    };
    let timers = Timers { armed: 1, pending: 1, ..Timers::default() };
    let changes = projected(&StatePayload::TimersRestored(restored), &timers).unwrap();
    assert_eq!(changes.timer_rows.set, [is]);
    assert_eq!(changes.timer_rows.settled[0].state, FiringState::Superseded);
    let after = changes.timers.unwrap();
    assert_eq!((after.armed, after.pending), (1, 0));
}

#[test]
fn settled_firing_of_an_earlier_advance_is_not_counted_in_the_current_one() {
    let timers = Timers { pending: 1, advance: Some(advance()), ..Timers::default() };
    for of_advance in [Some(4), None] {
        let earlier = FiringRow { advance: of_advance, ..firing(6) };
        let after = settle(FiringState::Failed.as_str(), &[earlier], &timers).unwrap().timers.unwrap();
        assert_eq!((after.pending, after.advance), (0, Some(advance())), "{of_advance:?}");
    }
}

#[test]
fn skipped_last_moment_of_a_timer_disarms_it() {
    let timers = Timers { armed: 4, ..Timers::default() };
    let payload = StatePayload::TimersFired(fired(Vec::new(), vec![(3, 10, 20, None)]));
    let after = projected(&payload, &timers).unwrap().timers.unwrap();
    assert_eq!((after.armed, after.pending), (3, 0));
}

#[test]
fn timer_changed_by_another_user_keeps_who_set_it_and_when() {
    let set_at = Instant::from_micros(-9).unwrap();
    let before = TimerRow {
        schedule: r#"{"at":"1970-01-01T00:00:00.000010Z"}"#.into(),
        deliver: r#"{"to":"queue","queue":"bills"}"#.into(),
        payload: "1".into(),
        set_at,
        ..armed()
    };
    let after = TimerRow { payload: "2".into(), ..before.clone() };
    let payload = StatePayload::TimerChanged(TimerSet::of(&after, Some(&before), None).unwrap());
    let entry = Entry { timeline: "year", position: 7, recorded_at: Instant::from_micros(50).unwrap(), actor: "bob" };
    let (timers, rows) = (Timers { armed: 1, ..Timers::default() }, KnownTimerRows::of_timers([&before]));
    let changes = project(&payload, entry, Before { clock: None, timers: &timers, rows: &rows }).unwrap();
    let row = &changes.timer_rows.set[0];
    assert_eq!((row.position, row.set_by.as_str(), row.set_at, &*row.payload), (3, "ada", set_at, "2"));
    assert_eq!(changes.timers.unwrap().armed, 1);
}
