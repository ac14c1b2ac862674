//! Random histories with few ids, times and places, so that conflicts are frequent.

use proptest::prelude::*;

use super::story::{Fact, at, id};
use crate::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use crate::ids::AnchorId;
use crate::paradox::{Stamp, VersionOrigin};
use crate::place::{Geo, Point};
use crate::time::{Instant, Virtual, Wall};

#[derive(Clone, Debug)]
pub(super) enum Op {
    Record(u8, EventDraft),
    Correct(u8, EventDraft),
    Restore(u8, EventDraft),
    Cancel(u8),
    Prevent(u8, EventDraft),
    Negate(u8, EventDraft),
    Note(u8, EventDraft),
    Anchor(Instant<Virtual>, bool),
}

pub(super) fn time() -> impl Strategy<Value = Instant<Virtual>> {
    let hours = prop_oneof![0..6_i64, 0..60_i64, Just(35_100_i64)];
    let start = at("2026-03-01T00:00:00Z").micros();
    hours.prop_map(move |hours| Instant::from_micros(start + hours * 3_600_000_000).unwrap())
}

fn precision() -> impl Strategy<Value = Option<Precision>> {
    prop_oneof![6 => Just(None), 1 => Just(Some(Precision::Day)), 1 => Just(Some(Precision::Hour))]
}

fn geo() -> impl Strategy<Value = Option<Geo>> {
    let cities = vec![(48.85, 2.35), (51.5, -0.12), (40.71, -74.0), (-17.0, 179.9), (-17.0, -179.9)];
    let radius = prop_oneof![4 => Just(None), 1 => Just(Some(20_000.0)), 1 => Just(Some(400_000.0))];
    let geo = (prop::sample::select(cities), radius)
        .prop_map(|((lat, lon), radius_m)| Geo { point: Point::new(lat, lon).unwrap(), radius_m });
    prop::option::weighted(0.7, geo)
}

fn cause() -> impl Strategy<Value = Cause> {
    let who = prop_oneof![8 => (0..8_u8).prop_map(|n| format!("e{n}")), 1 => (0..4_u8).prop_map(|n| format!("i{n}"))];
    let kind = prop_oneof![3 => Just(CauseKind::Requires), 1 => Just(CauseKind::Contributes)];
    (who, kind).prop_map(|(text, kind)| Cause { event_id: id(&text), kind })
}

fn causes(max: usize) -> impl Strategy<Value = Vec<Cause>> {
    prop::collection::vec(cause(), 0..max).prop_map(|mut causes| {
        causes.sort_by(|one, other| one.event_id.cmp(&other.event_id));
        causes.dedup_by(|one, other| one.event_id == other.event_id);
        causes
    })
}

fn assertion() -> impl Strategy<Value = Assertion> {
    (prop::sample::select(vec!["door", "gate"]), 0..3_u8).prop_map(|(subject, value)| Assertion {
        subject: subject.to_owned(),
        predicate: "state".to_owned(),
        value: value.to_string(),
    })
}

prop_compose! {
    pub(super) fn draft(causes_max: usize)(
        time in time(),
        length in prop::option::weighted(0.4, -2..5_i64),
        precision in precision(),
        geo in geo(),
        location in prop::option::of(prop::sample::select(vec!["here", "there"])),
        causes in causes(causes_max),
        actors in prop::sample::subsequence(vec!["jo", "mo"], 0..=2),
        assertion in prop::option::of(assertion()),
        name in prop::option::of(Just("n")),
        kind in prop::option::of(prop::sample::select(EventKind::ALL.to_vec())),
        (source, sequence) in (prop::option::of(Just("s")), prop::option::of(0..8_u64)),
    ) -> EventDraft {
        let end = |hours: i64| Instant::from_micros(time.micros() + hours * 3_600_000_000).unwrap();
        EventDraft {
            end_time: length.map(end),
            precision,
            geo,
            location: location.map(str::to_owned),
            causes,
            actors: actors.into_iter().map(str::to_owned).collect(),
            asserts: assertion.into_iter().collect(),
            name: name.map(str::to_owned),
            kind,
            source: source.map(str::to_owned),
            sequence,
            ..EventDraft::at(time, "")
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let on = || 0..8_u8;
    prop_oneof![
        12 => (on(), draft(3)).prop_map(|(event, draft)| Op::Record(event, draft)),
        4 => (on(), draft(3)).prop_map(|(event, draft)| Op::Correct(event, draft)),
        2 => (on(), draft(3)).prop_map(|(event, draft)| Op::Restore(event, draft)),
        3 => on().prop_map(Op::Cancel),
        2 => (on(), draft(3)).prop_map(|(event, draft)| Op::Prevent(event, draft)),
        1 => (on(), draft(3)).prop_map(|(event, draft)| Op::Negate(event, draft)),
        1 => (on(), draft(3)).prop_map(|(event, draft)| Op::Note(event, draft)),
        1 => (time(), any::<bool>()).prop_map(|(timestamp, is_fixed)| Op::Anchor(timestamp, is_fixed)),
    ]
}

/// An event is recorded once and then corrected; a correction may restore an earlier version.
pub(super) fn history(steps_max: usize) -> impl Strategy<Value = Vec<Fact>> {
    prop::collection::vec(op(), 1..steps_max).prop_map(|ops| facts_of(&ops))
}

pub(super) fn stamp(position: usize) -> Stamp {
    let position = position as u64;
    let host: Instant<Wall> = Instant::from_micros(i64::try_from(position).unwrap() * 1_000_000).unwrap();
    Stamp { position, recorded_at: host, clock_at: at("2026-06-01T00:00:00Z") }
}

fn facts_of(ops: &[Op]) -> Vec<Fact> {
    let mut log: Vec<Fact> = Vec::new();
    let mut seen: [Option<EventDraft>; 8] = Default::default();
    let mut interventions = 0;
    for op in ops {
        let event_id = |event: &u8| id(&format!("e{event}"));
        let mut version = |log: &mut Vec<Fact>, event: &u8, draft: &EventDraft, origin: VersionOrigin| {
            seen[usize::from(*event)] = Some(draft.clone());
            log.push(Fact::Version { id: event_id(event), stamp: stamp(log.len()), draft: draft.clone(), origin });
        };
        match op {
            Op::Record(event, draft) => {
                let origin =
                    if seen[usize::from(*event)].is_some() { VersionOrigin::Changed } else { VersionOrigin::Recorded };
                seen[usize::from(*event)] = Some(draft.clone());
                log.push(Fact::Version { id: event_id(event), stamp: stamp(log.len()), draft: draft.clone(), origin });
            }
            Op::Correct(event, draft) => version(&mut log, event, draft, VersionOrigin::Corrected),
            Op::Restore(event, draft) => {
                let before = seen[usize::from(*event)].clone().unwrap_or_else(|| draft.clone());
                seen[usize::from(*event)] = Some(before.clone());
                let (id, stamp) = (event_id(event), stamp(log.len()));
                log.push(Fact::Version { id, stamp, draft: before, origin: VersionOrigin::Restored });
            }
            Op::Cancel(event) => log.push(Fact::Cancelled { id: event_id(event), stamp: stamp(log.len()), by: None }),
            Op::Prevent(event, draft) | Op::Negate(event, draft) | Op::Note(event, draft) => {
                let intervention = id(&format!("i{interventions}"));
                interventions += 1;
                log.push(Fact::Intervention {
                    id: intervention.clone(),
                    stamp: stamp(log.len()),
                    time: draft.time,
                    on: event_id(event),
                    negates: !matches!(op, Op::Note(..)),
                    causes: draft.causes.clone(),
                });
                if matches!(op, Op::Prevent(..)) {
                    let stamp = stamp(log.len());
                    log.push(Fact::Cancelled { id: event_id(event), stamp, by: Some(intervention) });
                }
            }
            Op::Anchor(timestamp, is_fixed) => {
                let id = AnchorId::new(&format!("k{}", log.len())).unwrap();
                log.push(Fact::Anchor { id, position: log.len() as u64, timestamp: *timestamp, is_fixed: *is_fixed });
            }
        }
    }
    log
}
