use timenav_core::clock::{Clock, ClockState, Rate};
use timenav_core::ids::AdvanceId;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Advance, AdvanceState, Counts, Timers};

use crate::ledger::payload::{
    AdvanceBegun, AdvanceEnded, AdvanceOver, ClockChanged, ClockRecord, StatePayload, TimersFired,
};
use crate::writer::project::{Before, Changes, Entry, KnownTimerRows, project};

fn at(micros: i64) -> Instant<Virtual> {
    Instant::from_micros(micros).unwrap()
}

fn paused(micros: i64, generation: u64) -> Clock {
    let since = Instant::from_micros(0).unwrap();
    Clock { state: ClockState::Paused { since, at: at(micros), rate: Rate::NORMAL }, location: None, generation }
}

fn advance() -> Advance {
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
        at_instant: 2,
        open: 2,
        counts: Counts { fired: 2, acknowledged: 0, failed: 1 },
    }
}

fn projected(payload: &StatePayload<'_>, timers: &Timers) -> Option<Changes> {
    let (clock, rows) = (paused(10, 3), KnownTimerRows::default());
    let recorded_at = Instant::from_micros(50).unwrap();
    let entry = Entry { timeline: "year", position: 7, recorded_at, actor: "ada" };
    project(payload, entry, Before { clock: Some(&clock), timers, rows: &rows })
}

fn changed(advance: Option<&Advance>, ended: Option<AdvanceEnded>) -> StatePayload<'static> {
    StatePayload::Clock(ClockChanged {
        clock: ClockRecord::of(&paused(10, 4)),
        changed: true,
        duration: None,
        anchor_id: None,
        advance: advance.map(AdvanceBegun::of),
        ended,
    })
}

fn step_to(micros: i64) -> StatePayload<'static> {
    StatePayload::TimersFired(TimersFired {
        clock: Some(ClockRecord::of(&paused(micros, 3))),
        advance_id: None,
        step: None,
        fired: Vec::new(),
        skipped: Vec::new(),
        before: None,
    })
}

#[test]
fn clock_change_without_advance_leaves_timers() {
    let changes = projected(&changed(None, None), &Timers::default()).unwrap();
    assert_eq!(changes.clock, Some(paused(10, 4)));
    assert!(changes.timers.is_none() && changes.timer_rows.is_empty());
}

#[test]
fn begun_advance_starts_at_its_entry_with_nothing_counted() {
    let timers = Timers { armed: 3, ..Timers::default() };
    let after = projected(&changed(Some(&advance()), None), &timers).unwrap().timers.unwrap();
    let held_since = Instant::from_micros(50).unwrap();
    let (counts, nothing) = (Counts::default(), 0);
    let begun = Advance {
        position: 7,
        step: nothing,
        stepped: 7,
        held_since,
        at_instant: nothing,
        open: nothing,
        counts,
        ..advance()
    };
    assert_eq!((after.advance, after.armed), (Some(begun), 3));
}

#[test]
fn ended_advance_becomes_a_row_with_the_counts_before_the_entry() {
    let timers = Timers { advance: Some(advance()), ..Timers::default() };
    let forged = AdvanceEnded { fired: 9, ..AdvanceEnded::of(&advance(), AdvanceState::Stopped, at(10), None) };
    let over = AdvanceOver { clock: ClockRecord::of(&paused(10, 4)), changed: true, ended: forged.clone() };
    for payload in [changed(None, Some(forged)), StatePayload::AdvanceEnded(over)] {
        let changes = projected(&payload, &timers).unwrap();
        let row = &changes.timer_rows.advances[0];
        let record: AdvanceEnded = serde_json::from_str(&row.record).unwrap();
        assert_eq!((row.position, row.ended, record.fired, record.failed), (5, 7, 2, 1));
        assert_eq!((record.state.as_str(), changes.timers.unwrap().advance), ("stopped", None));
        assert!(projected(&payload, &Timers::default()).is_none(), "there is no advance to end");
    }
}

#[test]
fn advance_counts_each_instant_once() {
    let timers = Timers { advance: Some(advance()), ..Timers::default() };
    let of = |micros| projected(&step_to(micros), &timers).unwrap().timers.unwrap().advance.unwrap();
    let (same, later) = (of(10), of(20));
    assert_eq!((same.step, same.stepped, same.at_instant, same.open), (1, 6, 2, 2));
    assert_eq!((later.step, later.stepped, later.at_instant, later.open), (2, 7, 0, 0));
}
