use proptest::prelude::*;

use super::*;
use crate::event::Precision;

fn at(micros: i64) -> Instant<Virtual> {
    Instant::from_micros(micros).unwrap()
}

#[test]
fn what_is_later_or_was_not_known_does_not_exist() {
    let both = Horizon { until_clock: true, known_at: Some(7) };
    let clock = Horizon { known_at: None, ..both };
    let known = Horizon { until_clock: false, ..both };
    for (position, latest, seen) in [
        (7, 100, [true, true, true, true]),
        (8, 100, [false, true, false, true]),
        (7, 101, [false, false, true, true]),
        (8, 101, [false, false, false, true]),
    ] {
        let found =
            [both, clock, known, Horizon::default()].map(|horizon| horizon.shows(position, at(latest), at(100)));
        assert_eq!(found, seen, "{position} {latest}");
    }
    assert!(Horizon::default().is_open() && !clock.is_open() && !known.is_open());
}

#[test]
fn the_newest_version_that_is_known_decides() {
    let versions = |list: &[(u64, Option<i64>)]| -> Vec<VersionReach> {
        list.iter().map(|(position, latest)| VersionReach { position: *position, latest: latest.map(at) }).collect()
    };
    let horizon = Horizon { until_clock: true, known_at: Some(9) };
    for (list, expected) in [
        (versions(&[]), None),
        (versions(&[(1, Some(50))]), Some(1)),
        (versions(&[(1, Some(50)), (10, Some(60))]), Some(1)),
        // Moved into the future: the version from before is not shown in its place.
        (versions(&[(1, Some(50)), (9, Some(150))]), None),
        // Moved back out of it, as far as is known.
        (versions(&[(1, Some(150)), (9, Some(50)), (10, Some(150))]), Some(9)),
        // Cancelled, or cancelled later.
        (versions(&[(1, Some(50)), (9, None)]), None),
        (versions(&[(1, Some(50)), (10, None)]), Some(1)),
    ] {
        let found = horizon.version(list.iter().copied(), at(100)).map(|version| version.position);
        assert_eq!(found, expected, "{list:?}");
    }
}

#[test]
fn an_event_tells_of_its_end_and_of_all_that_its_precision_allows() {
    let year = EventDraft { precision: Some(Precision::Year), ..EventDraft::at(Instant::EPOCH, "") };
    assert_eq!(latest_instant(&year).to_string(), "1970-12-31T23:59:59.999999Z");
    let exact = EventDraft { end_time: Some(at(5)), ..EventDraft::at(Instant::EPOCH, "") };
    assert_eq!(latest_instant(&exact), at(5));
    // An end before the beginning is recorded as given.
    let inverted = EventDraft { end_time: Some(at(-5)), ..EventDraft::at(Instant::EPOCH, "") };
    assert_eq!(latest_instant(&inverted), Instant::EPOCH);
}

proptest! {
    /// What a narrower horizon shows, a wider one shows too; and what is recorded later changes nothing
    /// that a horizon with `known_at` shows.
    #[test]
    fn horizons_only_take_away(
        list in prop::collection::btree_map(0..20_u64, prop::option::of(-9..9_i64), 0..6),
        known_at in 0..20_u64,
        now in -9..9_i64,
    ) {
        let versions: Vec<_> = list.iter().map(|(p, t)| VersionReach { position: *p, latest: t.map(at) }).collect();
        let known = Horizon { until_clock: true, known_at: Some(known_at) };
        let before: Vec<_> = versions.iter().copied().filter(|version| version.position <= known_at).collect();
        let found = known.version(versions.iter().copied(), at(now));
        prop_assert_eq!(found, known.version(before.iter().copied(), at(now)));
        if let Some(found) = found {
            prop_assert!(found.position <= known_at && found.latest <= Some(at(now)));
            prop_assert_eq!(Horizon::default().version(before, at(now)), Some(found));
        }
    }
}
