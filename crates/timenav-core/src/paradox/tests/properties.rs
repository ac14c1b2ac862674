use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::histories::{draft, history, stamp};
use super::oracle::{Found, Oracle, stretch};
use super::story::{DraftExt, Fact, at, id};
use crate::event::{CauseKind, EventDraft, Precision};
use crate::paradox::{Key, Kind, Paradox, Record, Settings, VersionOrigin, View, Witness};
use crate::place::{Geo, Point};
use crate::time::Instant;

fn records(log: &[Fact]) -> Vec<Record<'_>> {
    log.iter().map(Fact::record).collect()
}

fn keys(view: &View) -> BTreeSet<Key> {
    let all = view.list(|_| true).all();
    let keys: BTreeSet<Key> = all.iter().map(|paradox| paradox.key.clone()).collect();
    let keys_now = || all.iter().map(|paradox| paradox.key.as_str()).collect::<Vec<_>>();
    assert_eq!(keys.len(), all.len(), "two paradoxes have one key: {:?}", keys_now());
    assert_eq!(view.counts().iter().map(|(.., count)| count).sum::<u64>(), keys.len() as u64);
    keys
}

/// A paradox in the oracle's form.
fn plain(view: &View, paradox: &Paradox) -> Option<Found> {
    let (code, grade) = (paradox.kind.code(), paradox.grade.as_str());
    let mut ids: Vec<String> = paradox.events.iter().map(|event| event.as_str().to_owned()).collect();
    match &paradox.witness {
        Witness::Cycle { .. } => {
            let first = view.ids.find(ids[0].as_bytes()).unwrap();
            let members = &view.cycles.of(first).unwrap().members;
            ids = members.iter().map(|member| view.ids.text(*member).to_owned()).collect();
            ids.sort_unstable();
        }
        Witness::Path { event, intervention, .. } => {
            ids = vec![event.as_str().to_owned(), intervention.as_str().to_owned()];
        }
        Witness::Orphan { .. } | Witness::Edge { .. } | Witness::Dangling { .. } | Witness::Late { .. } => {}
        Witness::Gap { source, first, last } => {
            ids = vec![first.to_string(), last.to_string(), source.clone().unwrap_or_default()];
        }
        Witness::Repeat { .. } => return None,
        Witness::Apart { actor, .. } => {
            ids.sort_unstable();
            ids.push(actor.clone());
        }
        Witness::Contradiction { subject, predicate, .. } => {
            ids.sort_unstable();
            ids.extend([subject.clone(), predicate.clone()]);
        }
        Witness::Anchor { anchor_id, .. } => ids.push(anchor_id.as_str().to_owned()),
        Witness::Unlinked { .. } => ids.push("P15".to_owned()),
        _ => ids.sort_unstable(),
    }
    Some((code, grade, ids))
}

fn check_with_oracle(view: &View, log: &[Fact], settings: Settings) {
    let all = view.list(|_| true).all();
    let mut found: BTreeSet<Found> = all.iter().filter_map(|paradox| plain(view, paradox)).collect();
    let mut repeats: BTreeMap<(u64, String), usize> = BTreeMap::new();
    for paradox in &all {
        if let Witness::Repeat { source, sequence, .. } = &paradox.witness {
            *repeats.entry((*sequence, source.clone().unwrap_or_default())).or_default() += 1;
        }
    }
    for ((sequence, source), pairs) in repeats {
        found.insert(("P14", "definite", vec![format!("{} of {sequence}", pairs + 1), source]));
    }
    let expected = Oracle::new(settings, log).all();
    let drafts = current_drafts(log);
    let is_sharp = |id: &String| {
        let draft: &EventDraft = &drafts[id];
        stretch(draft).is_sharp() && draft.geo.is_some_and(|geo| geo.radius_m.is_none())
    };
    let is_by_neighbors = |(code, _, ids): &&Found| *code == "P07" && is_sharp(&ids[0]) && is_sharp(&ids[1]);
    let rest = |all: &BTreeSet<Found>| all.iter().filter(|found| !is_by_neighbors(found)).cloned().collect::<Vec<_>>();
    assert_eq!(rest(&found), rest(&expected));
    let neighbors: BTreeSet<&Found> = found.iter().filter(is_by_neighbors).collect();
    let pairs: BTreeSet<&Found> = expected.iter().filter(is_by_neighbors).collect();
    assert!(neighbors.is_subset(&pairs), "{neighbors:?} {pairs:?}");
    let actors = |all: &BTreeSet<&Found>| all.iter().map(|(.., ids)| ids[2].clone()).collect::<BTreeSet<String>>();
    assert_eq!(actors(&neighbors), actors(&pairs));
}

/// The latest draft of each event.
fn current_drafts(log: &[Fact]) -> BTreeMap<String, EventDraft> {
    let version = |log: &Fact| match log {
        Fact::Version { id, draft, .. } => Some((id.as_str().to_owned(), draft.clone())),
        _ => None,
    };
    log.iter().filter_map(version).collect()
}

fn check_witnesses(view: &View) {
    for paradox in view.list(|_| true).all() {
        assert!(paradox.first <= paradox.since, "{paradox:?}");
        assert!(paradox.explanation.ends_with('.'), "{paradox:?}");
        match &paradox.witness {
            Witness::Cycle { steps, length, component_size } => {
                assert_eq!(steps.len(), *length);
                assert!(length <= component_size);
                for (step, next) in steps.iter().zip(steps.iter().cycle().skip(1)) {
                    assert_eq!(step.effect, next.cause);
                    assert_eq!(view.edge(&step.cause, &step.effect), Some(step.kind));
                }
                assert_eq!(*length, girth(view, &paradox), "{paradox:?}");
            }
            Witness::Path { event, intervention, path, length } => {
                assert_eq!((path.first(), path.last(), path.len()), (Some(event), Some(intervention), *length));
                for pair in path.windows(2) {
                    assert_eq!(view.edge(&pair[0], &pair[1]), Some(CauseKind::Requires));
                }
            }
            Witness::Apart { metres: Some(metres), gap, .. } => {
                let allowed = crate::paradox::rules::pairs::metres(view.settings.speed(), gap.micros());
                assert!(*metres > allowed, "{paradox:?}");
            }
            Witness::Contradiction { values: [one, other], from, until, .. } => {
                assert!(one != other && from < until, "{paradox:?}");
            }
            Witness::Late { lateness, .. } => assert!(lateness.micros() > 0),
            Witness::Gap { first, last, .. } => assert!(first <= last),
            _ => {}
        }
    }
}

/// The shortest cycle in the component of a paradox, by exhaustive search.
fn girth(view: &View, paradox: &Paradox) -> usize {
    let first = view.ids.find(paradox.events[0].as_str().as_bytes()).unwrap();
    let members: BTreeSet<u32> = view.cycles.of(first).unwrap().members.iter().copied().collect();
    let round = |start: u32| {
        let (mut level, mut seen) = (BTreeSet::from([start]), BTreeSet::new());
        for length in 1..=members.len() {
            level =
                level.iter().flat_map(|node| view.graph.live_effects(*node)).filter(|n| members.contains(n)).collect();
            if level.contains(&start) {
                return length;
            }
            level.retain(|node| seen.insert(*node));
        }
        usize::MAX
    };
    members.iter().map(|node| round(*node)).min().unwrap()
}

fn settings() -> impl Strategy<Value = Settings> {
    let tolerant = Settings { tolerance: crate::time::Span::from_micros(3_600_000_000), ..Settings::default() };
    prop_oneof![3 => Just(Settings::default()), 1 => Just(tolerant)]
}

/// Events recorded once each, in the given order.
fn arrivals(drafts: &[EventDraft], order: &[usize]) -> Vec<Fact> {
    let version = |(position, number): (usize, &usize)| Fact::Version {
        id: id(&format!("e{number}")),
        stamp: stamp(position),
        draft: drafts[*number].clone(),
        origin: VersionOrigin::Recorded,
    };
    order.iter().enumerate().map(version).collect()
}

proptest! {
    #[test]
    fn incremental_view_matches_full_build_and_oracle(log in history(24), settings in settings()) {
        let mut view = View::new(settings);
        let mut before = BTreeSet::new();
        for count in 1..=log.len() {
            let record = log[count - 1].record();
            let delta = view.what_if(&[record]);
            prop_assert_eq!(&keys(&view), &before, "asking changed the view");
            prop_assert_eq!(&delta, &view.apply(&record));
            let now = keys(&view);
            let keys_of = |all: &[Paradox]| all.iter().map(|paradox| paradox.key.clone()).collect::<BTreeSet<_>>();
            prop_assert_eq!(keys_of(&delta.created), now.difference(&before).cloned().collect::<BTreeSet<_>>());
            prop_assert_eq!(keys_of(&delta.resolved), before.difference(&now).cloned().collect::<BTreeSet<_>>());
            let built = View::build(settings, records(&log[..count]));
            prop_assert_eq!(view.list(|_| true).all(), built.list(|_| true).all());
            before = now;
        }
        check_with_oracle(&view, &log, settings);
        check_witnesses(&view);
        view.find_again();
        prop_assert_eq!(&keys(&view), &before);
    }

    /// Ranks stay valid as cycles grow, merge, split and disappear.
    #[test]
    fn changing_cycles_match_a_full_build(steps in prop::collection::vec(
        (0..16_u8, prop::collection::btree_set(0..16_u8, 0..3), 0..10_i64, prop::bool::weighted(0.2)),
        1..80,
    )) {
        let (mut view, mut log) = (View::new(Settings::default()), Vec::new());
        let mut seen = BTreeSet::new();
        for (node, causes, hours, is_cancelled) in steps {
            let (id, stamp) = (id(&format!("e{node}")), stamp(log.len()));
            if is_cancelled {
                log.push(Fact::Cancelled { id, stamp, by: None });
            } else {
                let time = Instant::from_micros(at("2026-01-01T00:00:00Z").micros() + hours * 3_600_000_000).unwrap();
                let causes: Vec<String> = causes.into_iter().map(|cause| format!("e{cause}")).collect();
                let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
                let draft = EventDraft::at(time, format!("{node}")).because_of(&causes);
                let origin = if seen.insert(node) { VersionOrigin::Recorded } else { VersionOrigin::Corrected };
                log.push(Fact::Version { id, stamp, draft, origin });
            }
            view.apply(&log[log.len() - 1].record());
            prop_assert_eq!(keys(&view), keys(&View::build(Settings::default(), records(&log))));
        }
        check_with_oracle(&view, &log, Settings::default());
        check_witnesses(&view);
    }

    #[test]
    fn batch_of_records_is_one_change(log in history(16), at in 0..16_usize) {
        let at = at.min(log.len());
        let mut view = View::build(Settings::default(), records(&log[..at]));
        let before = keys(&view);
        let what_if = view.what_if(&records(&log[at..]));
        prop_assert_eq!(&keys(&view), &before);
        let delta = view.apply_all(&records(&log[at..]));
        prop_assert_eq!(&what_if, &delta);
        prop_assert_eq!(delta.created.len() + before.len(), keys(&view).len() + delta.resolved.len());
        prop_assert_eq!(keys(&view), keys(&View::build(Settings::default(), records(&log))));
    }

    #[test]
    fn arrival_order_affects_only_late_arrivals(
        drafts in prop::collection::vec(draft(3), 8),
        order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let in_order: Vec<usize> = (0..8).collect();
        let without_late = |order: &[usize]| {
            let log = arrivals(&drafts, order);
            let mut view = View::new(Settings::default());
            for log in &log {
                view.apply(&log.record());
            }
            check_with_oracle(&view, &log, Settings::default());
            let all = view.list(|heading| heading.kind != Kind::OutOfOrderRecording).all();
            // Among simultaneous events, the first to arrive is the neighbor.
            let is_stable = |paradox: &&Paradox| !matches!(paradox.witness, Witness::Apart { .. } | Witness::Repeat { .. });
            all.iter().filter(is_stable).map(|paradox| paradox.key.clone()).collect::<BTreeSet<Key>>()
        };
        prop_assert_eq!(without_late(&in_order), without_late(&order));
    }

    #[test]
    fn unrelated_event_resolves_no_paradox(log in history(24), time in super::histories::time()) {
        let mut view = View::build(Settings::default(), records(&log));
        let draft = EventDraft { name: Some("harmless".to_owned()), ..EventDraft::at(time, "nothing of note") };
        let (id, stamp) = (id("harmless"), stamp(log.len()));
        let harmless = Fact::Version { id, stamp, draft, origin: VersionOrigin::Recorded };
        let delta = view.apply(&harmless.record());
        prop_assert_eq!(delta.resolved, vec![]);
        let late_or_future = |paradox: &Paradox| matches!(paradox.kind, Kind::OutOfOrderRecording | Kind::FutureDated);
        prop_assert!(delta.created.iter().all(late_or_future), "{:?}", delta.created);
    }

    #[test]
    fn shifting_all_events_keeps_the_paradoxes(
        drafts in prop::collection::vec(draft(3), 8),
        days in -4_000..4_000_i64,
        degrees in -180..180_i32,
    ) {
        let shifted = |draft: &EventDraft| {
            let later = |at: Instant<_>| Instant::from_micros(at.micros() + days * 86_400_000_000).unwrap();
            let farther = |geo: Geo| {
                let lon = (geo.point.lon() + f64::from(degrees) + 540.0).rem_euclid(360.0) - 180.0;
                Geo { point: Point::new(geo.point.lat(), lon).unwrap(), ..geo }
            };
            let end_time = draft.end_time.map(later);
            EventDraft { time: later(draft.time), end_time, geo: draft.geo.map(farther), ..draft.clone() }
        };
        let order: Vec<usize> = (0..8).collect();
        let relative = |drafts: &[EventDraft]| {
            let log = arrivals(drafts, &order);
            let view = View::build(Settings::default(), records(&log));
            let all = view.list(|heading| heading.kind <= Kind::Duplicate).all();
            all.into_iter().map(|paradox| paradox.key).collect::<Vec<Key>>()
        };
        prop_assert_eq!(relative(&drafts), relative(&drafts.iter().map(shifted).collect::<Vec<_>>()));
    }
}

#[test]
fn day_precision_has_constant_length() {
    // The property above requires units of constant length.
    let day = Some(Precision::Day);
    let one = crate::paradox::Uncertain::new(at("2026-03-01T12:00:00Z"), day);
    let other = crate::paradox::Uncertain::new(at("2024-02-29T12:00:00Z"), day);
    assert_eq!(one.max.since(one.min), other.max.since(other.min));
}
