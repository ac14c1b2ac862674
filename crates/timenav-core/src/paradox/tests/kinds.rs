use super::story::{DraftExt, Fact, Story, at, event, id, lines};
use crate::event::{EventDraft, Precision};
use crate::paradox::{EventStatus, Grade, Kind, Record, Settings, Severity, Stamp, Version, VersionOrigin, Witness};
use crate::time::Span;

fn sent_by(source: &str, time: &str, sequence: Option<u64>) -> EventDraft {
    EventDraft { source: Some(source.to_owned()), sequence, ..event(time).saying(&format!("{time} {sequence:?}")) }
}

#[test]
fn dangling_cause_is_ignored_within_the_grace_period() {
    let grace = Some(Span::from_micros(2_000_000));
    let mut story = Story::with(Settings { grace, ..Settings::default() });
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a"]));
    story.check_kind(Kind::DanglingCause, &["P06 definite a,b"]);
    story.check(&[]);
    assert_eq!(story.of(Kind::DanglingCause)[0].severity, Severity::Low);
    (0..3).for_each(|number| story.record(&format!("other-{number}"), event("2020-01-01T00:00:00Z")));
    story.check(&["P06 definite a,b"]);
    assert_eq!(story.of(Kind::DanglingCause)[0].severity, Severity::Medium);
    story.record("a", event("2020-01-01T00:00:00Z"));
    assert_eq!(lines(&story.last.resolved), ["P06 definite a,b"]);
    story.check(&[]);
}

#[test]
fn lateness_is_measured_from_the_latest_event() {
    let mut story = Story::new();
    story.record("a", sent_by("s", "2020-01-03T00:00:00Z", None));
    story.record("b", sent_by("s", "2020-01-01T00:00:00Z", None));
    story.record("c", sent_by("s", "2020-01-02T00:00:00Z", None));
    story.record("d", sent_by("t", "2020-01-01T00:00:00Z", None));
    story.check_kind(Kind::OutOfOrderRecording, &["P11 definite a,b", "P11 definite a,c"]);
    let Witness::Late { lateness, .. } = &story.of(Kind::OutOfOrderRecording)[1].witness else { panic!() };
    assert_eq!(*lateness, Span::from_secs(86_400).unwrap());
    story.check(&[]);
}

#[test]
fn sequence_gaps_and_repeats_are_found_per_source() {
    let mut story = Story::new();
    story.record("a", sent_by("s", "2020-01-01T00:00:00Z", Some(1)));
    story.record("b", sent_by("s", "2020-01-02T00:00:00Z", Some(5)));
    story.record("c", sent_by("t", "2020-01-02T00:00:00Z", Some(9)));
    let gap = |story: &Story| story.of(Kind::SequenceGap).into_iter().map(|gap| gap.explanation).collect::<Vec<_>>();
    assert_eq!(gap(&story), ["Of source `s`, the numbers 2 to 4 are missing."]);
    story.record("d", sent_by("s", "2020-01-03T00:00:00Z", Some(3)));
    let gaps = ["Of source `s`, the number 2 is missing.", "Of source `s`, the number 4 is missing."];
    assert_eq!(gap(&story), gaps);
    story.cancel("d");
    assert_eq!(gap(&story), gaps);
    story.record("e", sent_by("s", "2020-01-04T00:00:00Z", Some(5)));
    assert_eq!(story.view.count(Kind::SequenceGap, Grade::Definite), 3);
    assert_eq!(story.last.created[0].explanation, "source `s` gave the number 5 to both `b` and `e`.");
}

#[test]
fn duplicates_are_exact_or_probable() {
    let mut story = Story::new();
    let seen = |time: &str, lat: f64| event(time).by("jo").in_place(lat, 179.9999);
    story.record("a", seen("2020-01-01T00:00:00Z", 1.0));
    story.record("b", seen("2020-01-01T00:00:00Z", 1.0));
    story.check_kind(Kind::Duplicate, &["P09 exact a,b"]);
    // Eleven meters north, half a second later.
    story.record("c", seen("2020-01-01T00:00:00.5Z", 1.0001));
    story.check_kind(Kind::Duplicate, &["P09 exact a,b", "P09 probable a,c", "P09 probable b,c"]);
    // Across the antimeridian, a few meters away.
    story.record("d", event("2020-01-01T00:00:00.9Z").by("jo").in_place(1.0, -179.9999));
    assert_eq!(story.view.count(Kind::Duplicate, Grade::Probable), 5);
    story.record("e", seen("2020-01-01T00:00:02Z", 1.0).by("mo"));
    assert_eq!(story.view.count(Kind::Duplicate, Grade::Probable), 5);
}

#[test]
fn track_is_not_a_paradox_but_an_outlier_is() {
    let mut story = Story::new();
    for hour in 0..24 {
        let fix = event(&format!("2020-01-01T{hour:02}:00:00Z")).by("storm");
        let lat = if hour == 12 { 60.0 } else { 20.0 + f64::from(hour) / 10.0 };
        story.record(&format!("fix-{hour:02}"), fix.in_place(lat, -60.0));
    }
    story.check(&["P07 definite fix-11,fix-12", "P07 definite fix-12,fix-13"]);
    story.cancel("fix-12");
    story.check(&[]);
}

#[test]
fn radius_duration_and_place_name_count_for_two_places() {
    let mut story = Story::new();
    let mut near = event("2020-01-01T12:00:00Z").by("jo").in_place(0.0, 0.0);
    near.geo.as_mut().unwrap().radius_m = Some(200_000.0);
    story.record("near", near);
    story.record("far", event("2020-01-01T12:00:00Z").by("jo").in_place(0.0, 1.0));
    story.check(&[]);
    story.record("farther", event("2020-01-01T12:00:00Z").by("jo").in_place(0.0, 2.0));
    story.check(&["P07 definite near,farther", "P07 definite far,farther"]);
    let mut story = Story::new();
    let stay = event("2020-01-01T08:00:00Z").until("2020-01-03T00:00:00Z").by("jo").in_place(0.0, 0.0);
    story.record("stay", stay);
    story.record("trip", event("2020-01-02T12:00:00Z").by("jo").in_place(0.0, 1.0));
    story.check(&["P07 definite stay,trip"]);
    let mut story = Story::new();
    let at_place = |name: &str, time: &str| EventDraft { location: Some(name.to_owned()), ..event(time).by("jo") };
    story.record("a", at_place("Paris", "2020-01-01T00:00:00Z"));
    story.record("b", at_place("Lyon", "2020-01-01T00:00:00Z"));
    story.record("c", at_place("Lyon", "2020-01-01T00:00:01Z"));
    story.check(&["P07 possible a,b"]);
}

#[test]
fn end_before_the_start_is_a_paradox() {
    let mut story = Story::new();
    story.record("a", event("2020-01-02T00:00:00Z").until("2020-01-01T00:00:00Z"));
    story.check(&["P15 definite a"]);
    story.correct("a", event("2020-01-02T12:00:00Z").until("2020-01-02T00:00:00Z").precisely(Precision::Day));
    story.check(&[]);
    story.correct("never-recorded", event("2020-01-02T00:00:00Z"));
    story.check(&["P15 definite never-recorded"]);
}

#[test]
fn required_cause_must_end_before_the_effect_if_configured() {
    let mut story = Story::with(Settings { requires_complete: true, ..Settings::default() });
    story.record("a", event("2020-01-01T00:00:00Z").until("2020-01-03T00:00:00Z"));
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a"]));
    story.record("c", event("2020-01-02T00:00:00Z").maybe_because_of(&["a"]).saying("c"));
    story.check(&["P01 definite a,b"]);
}

#[test]
fn interventions_take_part_in_causality() {
    let mut story = Story::new();
    story.record("a", event("2020-01-05T00:00:00Z"));
    story.intervene("i", "2020-01-01T00:00:00Z", "a", false, &["a"]);
    story.check(&["P01 definite a,i"]);
    story.record("b", event("2020-01-06T00:00:00Z").because_of(&["i"]));
    story.correct("a", event("2020-01-05T00:00:00Z").because_of(&["b"]));
    let kinds: Vec<&str> = story.last.created.iter().map(|paradox| paradox.kind.code()).collect();
    assert_eq!(kinds, ["P02", "P03", "P01"]);
    assert_eq!(story.of(Kind::Grandfather), []);
}

#[test]
fn late_cause_turns_an_old_intervention_into_a_paradox() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.prevent("i", "2020-01-03T00:00:00Z", "a", &["b"]);
    story.check(&[]);
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a"]));
    story.check(&["P04 definite a,b,i", "P05 definite a,b"]);
    story.correct("b", event("2020-01-02T00:00:00Z").maybe_because_of(&["a"]));
    story.check(&[]);
    assert_eq!(lines(&story.last.resolved), ["P04 definite a,b,i", "P05 definite a,b"]);
}

#[test]
fn hypothetical_records_change_nothing() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a"]));
    story.anchor("k", "2020-01-01T00:00:00Z", true);
    let stamp = story.stamp();
    let (a, i) = (id("a"), id("new-intervention"));
    let cancelled = Fact::Cancelled { id: a.clone(), stamp, by: Some(i.clone()) };
    let causes = super::story::causes(&["b"], crate::event::CauseKind::Requires);
    let time = at("2020-01-03T00:00:00Z");
    let intervention = Fact::Intervention { id: i.clone(), stamp, time, on: a, negates: true, causes };
    let delta = story.view.what_if(&[intervention.record(), cancelled.record()]);
    let expected = ["P04 definite a,b,new-intervention", "P05 definite a,b", "P13 definite a"];
    assert_eq!(lines(&delta.created), expected);
    assert_eq!((story.view.status(&i), story.view.nodes_count()), (None, 2));
    story.check(&[]);
}

#[test]
fn ancestors_and_descendants_are_listed_with_distance() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a", "missing"]));
    story.record("c", event("2020-01-03T00:00:00Z").because_of(&["b"]));
    story.record("d", event("2020-01-04T00:00:00Z").maybe_because_of(&["b"]).because_of(&["c"]));
    story.cancel("a");
    let ancestors = story.view.ancestors(&id("d"), 10);
    let listed: Vec<(&str, EventStatus, usize, bool)> = ancestors
        .iter()
        .map(|found| (found.event_id.as_str(), found.status, found.distance, found.is_required))
        .collect();
    let expected = [
        ("b", EventStatus::Present, 1, true),
        ("c", EventStatus::Present, 1, true),
        ("a", EventStatus::TakenAway, 2, true),
        ("missing", EventStatus::Unrecorded, 2, true),
    ];
    assert_eq!(listed, expected);
    assert_eq!(story.view.descendants(&id("a"), 10), [id("b"), id("c"), id("d")]);
    assert_eq!((story.view.descendants_count(&id("a"), 2), story.view.descendants_count(&id("nobody"), 9)), (2, 0));
    let marks = story.view.marks(&[id("b"), id("d"), id("missing")], |_| true);
    assert_eq!(marks, [vec![Kind::OrphanedEffect, Kind::DanglingCause], vec![], vec![Kind::DanglingCause]]);
    assert_eq!(lines(&story.view.touching(&id("a"), |_| true).all()), ["P05 definite a,b"]);
}

#[test]
fn state_contradictions_per_event_are_limited() {
    let mut view = crate::paradox::View::new(Settings::default());
    let says = |number: u64| {
        event("2020-01-01T00:00:00Z").until("2020-01-02T00:00:00Z").asserting("door", "state", &number.to_string())
    };
    for number in 0..300 {
        let (event_id, draft) = (id(&format!("e{number}")), says(number));
        let stamp = Stamp { position: number, recorded_at: crate::time::Instant::EPOCH, clock_at: draft.time };
        let origin = VersionOrigin::Recorded;
        let created =
            view.apply(&Record::Version(Version { event_id: &event_id, stamp, draft: &draft, origin })).created;
        assert_eq!(created.len() as u64, number.min(100));
    }
    // All records about an event are removed with it.
    for number in 0..300 {
        let event_id = id(&format!("e{number}"));
        let stamp = Stamp { position: 300 + number, recorded_at: crate::time::Instant::EPOCH, clock_at: says(0).time };
        let cancelled = crate::paradox::Cancelled { event_id: &event_id, stamp, intervention_id: None };
        view.apply(&Record::Cancelled(cancelled));
    }
    assert_eq!(view.count(Kind::ContradictoryState, Grade::Definite), 0);
}
