use super::*;
use crate::ids::EventId;
use crate::time::{parse_duration, parse_timestamp};

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap()
}

fn duration(text: &str) -> Duration {
    parse_duration(text).unwrap()
}

#[track_caller]
fn check(action: &str, expected: Effect) {
    assert_eq!(understand(action), Understood { effect: expected, missing: None }, "{action}");
}

#[test]
fn leading_verb_determines_the_effect() {
    for action in
        ["prevent", "Prevent the launch", "cancel it", "STOP: the press", "remove", "delete it", "call it off", "abort"]
    {
        check(action, Effect::Cancel);
    }
    for action in ["restore", "undo", "Undo the cancellation", "revert it", "reinstate"] {
        check(action, Effect::Restore);
    }
    check("Restore the launch.", Effect::Restore);
    check("delay 2h", Effect::Delay(duration("2h")));
    check("Delay the launch by 2h.", Effect::Delay(duration("2h")));
    check("delay by 1 day", Effect::Delay(duration("1d")));
    check("delay the launch by 3 months", Effect::Delay(duration("P3M")));
    for action in ["postpone by 2h", "put off the launch by 2 hours", "push it back 2h", "reschedule by 2h", "shift 2h"]
    {
        check(action, Effect::Delay(duration("2h")));
    }
    for action in ["bring forward by 2h", "Bring it forward 2 hours.", "move it 2h earlier", "advance 2h"] {
        check(action, Effect::Advance(duration("2h")));
    }
    for action in [
        "postpone to 2000-01-01T00:00:00Z",
        "bring forward to 2000-01-01T00:00:00Z",
        "push back to 2000-01-01T00:00:00Z",
    ] {
        check(action, Effect::Move(at("2000-01-01T00:00:00Z")));
    }
    check("advance P1M", Effect::Advance(duration("P1M")));
    check("advance by 1.5h", Effect::Advance(duration("1.5h")));
    check("move to 1969-07-20T20:17:40Z", Effect::Move(at("1969-07-20T20:17:40Z")));
    check("reschedule it to 1969-07-20T22:17:40+02:00, please", Effect::Move(at("1969-07-20T20:17:40Z")));
    let place = |location: &str| Effect::Relocate { location: location.to_owned(), geo: None };
    check("relocate to Paris, France", place("Paris, France"));
    check("relocate the meeting TO the office to the left", place("the office to the left"));
    check("describe as The crew is saved.", Effect::Describe("The crew is saved.".to_owned()));
    check("describe The crew is saved.", Effect::Describe("The crew is saved.".to_owned()));
    check("rename to Second launch", Effect::Rename("Second launch".to_owned()));
    for (action, by) in [
        ("delay by 500 ms", "500ms"),
        ("delay by 500ms", "500ms"),
        ("postpone 90 MS", "90ms"),
        ("delay by 20 milliseconds", "20ms"),
        ("delay by 2 hours 30 minutes", "2h30m"),
        ("delay by 5 minutes and 30 seconds", "5m30s"),
        ("delay 1h 30m", "1h30m"),
        ("delay 1h30m", "1h30m"),
        ("delay by 1d 12h", "1d12h"),
        ("delay it by 1 week, 2 days.", "9d"),
        ("delay by 90 min 30 sec", "90m30s"),
        ("Delay Apollo 11 by 1 month and 1 day", "P1M1D"),
    ] {
        check(action, Effect::Delay(duration(by)));
    }
    check("move it 1 week and 2 days earlier", Effect::Advance(duration("9d")));
    check("move from 1999-01-01T00:00:00Z to 2000-01-01T00:00:00Z", Effect::Move(at("2000-01-01T00:00:00Z")));
    check("warn the crew", Effect::Note);
    check("", Effect::Note);
    check("prevention is better", Effect::Note);
}

#[test]
fn verb_with_missing_arguments_is_a_note() {
    let without = "delay the launch|advance|move it|relocate|relocate to|describe|rename|postpone|reschedule|bring forward|\
                   put off|move forward by 2h|move back 2h|push forward 1d";
    // An order is never carried out in part.
    let in_part = "delay by two hours 30 minutes|delay by an hour and 30 minutes|delay by 2 hours and a half|\
                   delay by 2 hours 30|delay by 1 day and 3 fortnights|delay by 1,500 hours 5 minutes|delay by 2h or 3h|\
                   delay by 1 M|delay 2h to 2000-01-01T00:00:00Z|\
                   move 1999-01-01T00:00:00Z 2000-01-01T00:00:00Z";
    for action in without.split('|').chain(in_part.split('|')) {
        let understood = understand(action);
        assert_eq!(understood.effect, Effect::Note, "{action}");
        assert!(understood.missing.is_some(), "{action}");
    }
}

fn event() -> EventDraft {
    EventDraft {
        event_id: Some(EventId::new("e").unwrap()),
        end_time: Some(at("2000-01-31T02:00:00Z")),
        ..EventDraft::at(at("2000-01-31T00:00:00Z"), "It happens.")
    }
}

#[track_caller]
fn becomes(effect: &Effect, change: impl FnOnce(&mut EventDraft)) {
    let mut expected = event();
    change(&mut expected);
    assert_eq!(decide(effect, Some(&event()), &event(), &Zone::utc()), Ok(Outcome::Changed(Box::new(expected))));
}

#[test]
fn effects_change_only_their_own_fields() {
    becomes(&Effect::Delay(duration("P1M")), |event| {
        event.time = at("2000-02-29T00:00:00Z");
        event.end_time = Some(at("2000-02-29T02:00:00Z"));
    });
    becomes(&Effect::Advance(duration("1d")), |event| {
        event.time = at("2000-01-30T00:00:00Z");
        event.end_time = Some(at("2000-01-30T02:00:00Z"));
    });
    becomes(&Effect::Move(at("2001-01-01T00:00:00Z")), |event| {
        event.time = at("2001-01-01T00:00:00Z");
        event.end_time = Some(at("2001-01-01T02:00:00Z"));
    });
    becomes(&Effect::Describe("Otherwise.".to_owned()), |event| event.description = "Otherwise.".to_owned());
    becomes(&Effect::Rename("New".to_owned()), |event| event.name = Some("New".to_owned()));
    let elsewhere = Effect::Relocate { location: "Paris".to_owned(), geo: None };
    becomes(&elsewhere, |event| event.location = Some("Paris".to_owned()));
    assert_eq!(decide(&Effect::Cancel, Some(&event()), &event(), &Zone::utc()), Ok(Outcome::Cancelled));
    assert_eq!(decide(&Effect::Note, Some(&event()), &event(), &Zone::utc()), Ok(Outcome::Unchanged));
}

#[test]
fn months_are_counted_in_the_zone() {
    let late = EventDraft::at(at("2026-02-28T23:30:00Z"), "It happens.");
    let paris = Zone::named("Europe/Paris").unwrap();
    let month = Effect::Delay(duration("P1M"));
    for (zone, expected) in [(&Zone::utc(), "2026-03-28T23:30:00Z"), (&paris, "2026-03-31T22:30:00Z")] {
        let expected = EventDraft { time: at(expected), ..late.clone() };
        assert_eq!(decide(&month, Some(&late), &late, zone), Ok(Outcome::Changed(Box::new(expected))));
    }
}

#[test]
fn restore_reverts_all_interventions() {
    let changed = EventDraft { description: "Otherwise.".to_owned(), ..event() };
    let restored = Ok(Outcome::Changed(Box::new(event())));
    assert_eq!(decide(&Effect::Restore, Some(&changed), &event(), &Zone::utc()), restored);
    assert_eq!(decide(&Effect::Restore, None, &event(), &Zone::utc()), restored);
    assert_eq!(decide(&Effect::Restore, Some(&event()), &event(), &Zone::utc()), Ok(Outcome::Unchanged));
}

#[test]
fn impossible_interventions_are_rejected() {
    let refused = |effect: &Effect, current: Option<EventDraft>| {
        decide(effect, current.as_ref(), &event(), &Zone::utc()).unwrap_err()
    };
    let far = Effect::Delay(duration("P9999Y"));
    assert_eq!(refused(&far, Some(event())), InterventionRefusal::OutOfRange);
    let last = Effect::Move(Instant::MAX);
    assert_eq!(refused(&last, Some(event())), InterventionRefusal::OutOfRange);
    assert_eq!(refused(&Effect::Cancel, None), InterventionRefusal::Cancelled);
    let long = Effect::Rename("x".repeat(1_000));
    assert!(matches!(refused(&long, Some(event())), InterventionRefusal::Draft(error) if error.field == "name"));
}
