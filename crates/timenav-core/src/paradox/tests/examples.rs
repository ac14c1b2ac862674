//! The worked examples that define the kinds.

use super::story::{DraftExt, Story, at, event, id, lines};
use crate::event::{CauseKind, EventDraft, EventKind, Precision};
use crate::paradox::{
    Builder, Kind, PATH_EVENTS_MAX, Paradox, Record, Settings, Severity, SizeHint, Stamp, Version, VersionOrigin,
    Witness,
};
use crate::time::{Instant, Span};

#[test]
fn e01_effect_before_its_cause() {
    let append = |settings: Settings| {
        let mut story = Story::with(settings);
        story.record("a", event("2020-01-01T10:00:00Z"));
        story.record("b", event("2020-01-01T09:59:00Z").because_of(&["a"]));
        story
    };
    let story = append(Settings::default());
    story.check(&["P01 definite a,b"]);
    let paradox = &story.of(Kind::EffectBeforeCause)[0];
    assert_eq!((paradox.severity, paradox.first, paradox.since), (Severity::High, 0, 1));
    let Witness::Edge { gap, .. } = &paradox.witness else { panic!("{paradox:?}") };
    assert_eq!(*gap, Span::from_micros(60_000_000));
    let expected = "`b` (2020-01-01T09:59:00Z) lies before its cause `a` (2020-01-01T10:00:00Z), by 1 min as \
                    recorded.";
    assert_eq!(paradox.explanation, expected);
    append(Settings { tolerance: Span::from_micros(120_000_000), ..Settings::default() }).check(&[]);
}

#[test]
fn e02_day_precision_is_only_possible() {
    let mut story = Story::new();
    story.record("a", event("1900-01-01T00:00:00Z").precisely(Precision::Day));
    story.record("b", event("1900-01-01T00:00:00Z").precisely(Precision::Second).because_of(&["a"]));
    story.check(&["P01 possible a,b"]);
    assert_eq!(story.of(Kind::EffectBeforeCause)[0].severity, Severity::Medium);
}

#[test]
fn e03_causal_circle_with_an_outside_cause() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z").because_of(&["c"]));
    story.record("b", event("2020-01-01T00:00:00Z").because_of(&["a"]));
    story.record("c", event("2020-01-01T00:00:00Z").because_of(&["b"]));
    story.check(&["P02 definite a,b,c", "P03 definite a,b,c"]);
    assert_eq!(lines(&story.last.created), ["P02 definite a,b,c", "P03 definite a,b,c"]);
    let Witness::Cycle { steps, length, component_size } = &story.of(Kind::CausalCycle)[0].witness else { panic!() };
    assert_eq!((steps.len(), *length, *component_size), (3, 3, 3));
    assert!(steps.iter().all(|step| step.kind == CauseKind::Requires && step.gap == Span::ZERO));
    let explanation = &story.of(Kind::Bootstrap)[0].explanation;
    let expected = "Events cause each other in a circle, and nothing else causes any of them: `a` → `b` → `c` → `a`.";
    assert_eq!(explanation, expected);
    story.record("x", event("2019-01-01T00:00:00Z"));
    story.correct("a", event("2020-01-01T00:00:00Z").because_of(&["c", "x"]));
    story.check(&["P02 definite a,b,c"]);
    assert_eq!(lines(&story.last.resolved), ["P03 definite a,b,c"]);
    story.cancel("x");
    story.check(&["P02 definite a,b,c", "P03 definite a,b,c", "P05 definite x,a"]);
}

#[test]
fn e04_intervention_against_its_own_reason() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.record("b", event("2020-01-02T00:00:00Z").because_of(&["a"]));
    story.prevent("i", "2020-01-03T00:00:00Z", "a", &["b"]);
    story.check(&["P04 definite a,b,i", "P05 definite a,b"]);
    let Witness::Orphan { intervention, cancelled_at, impact, .. } = &story.of(Kind::OrphanedEffect)[0].witness else {
        panic!()
    };
    assert_eq!((intervention.clone(), *cancelled_at, *impact), (Some(id("i")), Some(3), 1));
    story.restore("a", event("2020-01-01T00:00:00Z"));
    story.check(&[]);
    assert_eq!(lines(&story.last.resolved), ["P04 definite a,b,i", "P05 definite a,b"]);
}

#[test]
fn e05_contributing_cause_is_not_required() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.record("d", event("2020-01-01T00:00:00Z"));
    story.record("b", event("2020-01-02T00:00:00Z").maybe_because_of(&["a"]).because_of(&["d"]));
    story.cancel("a");
    story.check(&[]);
    story.cancel("d");
    story.check(&["P05 definite d,b"]);
}

const PARIS: (f64, f64) = (48.8566, 2.3522);
const NEW_YORK: (f64, f64) = (40.7128, -74.006);

#[test]
fn e06_distance_too_far_for_the_time() {
    let append = |later: &str| {
        let mut story = Story::new();
        story.record("a", event("2020-01-01T12:00:00Z").by("jo").in_place(PARIS.0, PARIS.1));
        story.record("b", event(later).by("jo").in_place(NEW_YORK.0, NEW_YORK.1));
        story
    };
    let story = append("2020-01-01T13:00:00Z");
    story.check(&["P07 definite a,b"]);
    let paradox = &story.of(Kind::TwoPlacesAtOnce)[0];
    let Witness::Apart { actor, metres, needed_kmh, .. } = &paradox.witness else { panic!() };
    assert_eq!(actor, "jo");
    assert!((metres.unwrap() - 5_853_000.0).abs() < 5_000.0, "{metres:?}");
    assert!((needed_kmh.unwrap() - 5_853.0).abs() < 5.0, "{needed_kmh:?}");
    append("2020-01-01T20:00:00Z").check(&[]);
}

#[test]
fn e07_distance_at_day_precision_is_never_definite() {
    let mut story = Story::new();
    let day = |time: &str| event(time).precisely(Precision::Day).by("jo");
    story.record("a", day("2020-01-01T12:00:00Z").in_place(PARIS.0, PARIS.1));
    story.record("b", day("2020-01-01T13:00:00Z").in_place(NEW_YORK.0, NEW_YORK.1));
    story.check(&["P07 possible a,b"]);
}

#[test]
fn e08_door_is_open_or_closed() {
    let append = |closed_from: &str| {
        let mut story = Story::new();
        let door = |from: &str, until: &str, value: &str| event(from).until(until).asserting("door", "state", value);
        story.record("a", door("2020-01-01T01:00:00Z", "2020-01-01T05:00:00Z", "open"));
        story.record("b", door(closed_from, "2020-01-01T09:00:00Z", "closed"));
        story
    };
    append("2020-01-01T05:00:00Z").check(&[]);
    let story = append("2020-01-01T04:00:00Z");
    story.check(&["P08 definite a,b"]);
    let paradox = &story.of(Kind::ContradictoryState)[0];
    assert_eq!(paradox.severity, Severity::Critical);
    let expected = "`state` of `door` is \"open\" by `a` and \"closed\" by `b`, from 2020-01-01T04:00:00Z until \
                    2020-01-01T05:00:00Z.";
    assert_eq!(paradox.explanation, expected);
}

#[test]
fn e09_observation_before_its_event_time() {
    let mut story = Story::new();
    story.record("a", event("2030-01-01T00:00:00Z"));
    story.check_kind(Kind::FutureDated, &["P10 definite a"]);
    let mut planned = event("2030-01-01T00:00:00Z");
    planned.kind = Some(EventKind::Scheduled);
    story.record("b", planned);
    story.check_kind(Kind::FutureDated, &["P10 definite a"]);
    story.travel("2031-01-01T00:00:00Z");
    story.record("c", event("2030-01-01T00:00:00Z").saying("the same"));
    story.check_kind(Kind::FutureDated, &["P10 definite a"]);
    story.check(&[]);
}

#[test]
fn e10_backward_clock_is_explained_by_travel_only() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z"));
    story.travel("2025-12-31T23:00:00Z");
    story.record("b", event("2020-01-02T00:00:00Z"));
    story.check_kind(Kind::ClockDiscontinuity, &["P12 explained "]);
    story.now = at("2025-12-31T22:00:00Z");
    story.record("c", event("2020-01-03T00:00:00Z"));
    story.check_kind(Kind::ClockDiscontinuity, &["P12 explained ", "P12 unexplained "]);
    let mut unexplained = Story::new();
    unexplained.record("a", event("2020-01-01T00:00:00Z"));
    unexplained.now = at("2025-12-31T23:00:00Z");
    unexplained.record("b", event("2020-01-02T00:00:00Z"));
    unexplained.check_kind(Kind::ClockDiscontinuity, &["P12 unexplained "]);
}

#[test]
fn e11_fixed_anchor_protects_earlier_events() {
    let anchor_at = "2020-06-01T00:00:00Z";
    let append = |time: &str, is_fixed: bool| {
        let mut story = Story::new();
        story.record("e", event(time));
        story.anchor("k", anchor_at, is_fixed);
        story.correct("e", event(time).saying("otherwise"));
        story
    };
    append("2020-05-31T23:59:59Z", true).check(&["P13 definite e"]);
    append("2020-06-01T00:00:01Z", true).check(&[]);
    append(anchor_at, true).check(&["P13 definite e"]);
    append(anchor_at, false).check(&[]);
    let mut story = append(anchor_at, true);
    story.record("late", event("2020-05-01T00:00:00Z"));
    story.check(&["P13 definite e"]);
    story.correct("e", event(anchor_at));
    story.check(&[]);
    story.cancel("e");
    story.check(&["P13 definite e"]);
    story.restore("e", event(anchor_at));
    story.check(&[]);
}

#[test]
fn e12_event_is_its_own_cause() {
    let mut story = Story::new();
    story.record("a", event("2020-01-01T00:00:00Z").because_of(&["a"]));
    story.check(&["P02 definite a"]);
    let Witness::Cycle { length, component_size, .. } = &story.of(Kind::CausalCycle)[0].witness else { panic!() };
    assert_eq!((*length, *component_size), (1, 1));
    story.correct("a", event("2020-01-01T00:00:00Z"));
    story.check(&[]);
}

#[test]
fn e13_circle_of_a_million_events() {
    let count: u32 = 1_000_000;
    let start = at("1900-01-01T00:00:00Z").micros();
    let version = |number: u32, cause: Option<u32>| {
        let draft = EventDraft::at(Instant::from_micros(start + i64::from(number) * 1_000_000).unwrap(), "");
        let draft = cause.map_or(draft.clone(), |cause| draft.because_of(&[&format!("e{cause}")]));
        let stamp = Stamp { position: u64::from(number), recorded_at: Instant::EPOCH, clock_at: Instant::MAX };
        (id(&format!("e{number}")), draft, stamp)
    };
    let hint = SizeHint { events: count as usize, causes: count as usize, id_bytes: 7 * count as usize };
    let mut builder = Builder::new(Settings::default(), hint);
    for number in 0..count {
        let (event_id, draft, stamp) = version(number, number.checked_sub(1));
        let origin = VersionOrigin::Recorded;
        builder.add(&Record::Version(Version { event_id: &event_id, stamp, draft: &draft, origin }));
    }
    let mut view = builder.finish();
    assert_eq!(view.counts(), []);

    let (event_id, draft, stamp) = version(0, Some(count - 1));
    let stamp = Stamp { position: u64::from(count), ..stamp };
    let closing = Version { event_id: &event_id, stamp, draft: &draft, origin: VersionOrigin::Corrected };
    let created = view.apply(&Record::Version(closing)).created;
    let check = |paradox: &Paradox| {
        let Witness::Cycle { steps, length, component_size } = &paradox.witness else { panic!("{}", paradox.kind) };
        assert_eq!((*length, *component_size), (count as usize, count as usize));
        assert_eq!(steps.len(), PATH_EVENTS_MAX);
    };
    let kinds: Vec<&str> = created.iter().map(|paradox| paradox.kind.code()).collect();
    assert_eq!(kinds, ["P02", "P03", "P01"]);
    check(&created[0]);

    view.find_again();
    let list = view.list(|heading| heading.kind == Kind::CausalCycle);
    assert_eq!(list.len(), 1);
    check(&list.all()[0]);
}
