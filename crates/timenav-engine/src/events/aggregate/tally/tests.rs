use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;

use super::*;
use crate::events::event_content::event_content;

fn event(number: usize, draft: &EventDraft) -> StoredEvent {
    let content = event_content(&EventId::new(&format!("e{number}")).unwrap(), draft);
    StoredEvent { time: draft.time, layer: 0, position: number as u64, content }
}

#[test]
fn tallied_groups_are_limited() {
    let counted = |groups: usize| {
        let mut tally = Tally::new(GroupBy::Source, None, Arc::default());
        for number in (0..groups).chain([0, groups - 1]) {
            let source = Some(format!("source {number}"));
            tally.add(&event(number, &EventDraft { source, ..EventDraft::at(Instant::EPOCH, "") }));
        }
        (tally.count, tally.is_cut, tally.groups())
    };
    let (count, is_cut, groups) = counted(AGGREGATE_GROUPS_MAX);
    assert_eq!((count, is_cut, groups.len()), (AGGREGATE_GROUPS_MAX + 2, false, AGGREGATE_GROUPS_MAX));
    assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), count);
    let (count, is_cut, groups) = counted(AGGREGATE_GROUPS_MAX + 1);
    assert_eq!((count, is_cut, groups.len()), (AGGREGATE_GROUPS_MAX + 3, true, AGGREGATE_GROUPS_MAX));
    // Events beyond the maximum number of groups are in none.
    assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), count - 2);
    assert_eq!((&groups[0].key, groups[0].count), (&GroupKey::Text("source 0".to_owned()), 2));
}

#[test]
fn attribute_value_too_long_for_a_filter_forms_no_group() {
    let mut tally = Tally::new(GroupBy::Attribute("k".to_owned()), None, Arc::default());
    for (number, bytes) in [FIND_ATTRIBUTE_BYTES_MAX, FIND_ATTRIBUTE_BYTES_MAX + 1, 60_000].into_iter().enumerate() {
        let attributes = Some(serde_json::json!({ "k": "x".repeat(bytes) }).to_string());
        let draft = EventDraft { attributes, ..EventDraft::at(Instant::EPOCH, "") };
        tally.add(&event(number, &draft));
    }
    let kept: usize = tally.groups.keys().map(|key| if let Key::Text(text) = key { text.len() } else { 0 }).sum();
    assert_eq!((tally.count, tally.ungrouped_count, kept), (3, 2, FIND_ATTRIBUTE_BYTES_MAX));
}

#[test]
fn time_bucket_begins_with_its_first_microsecond() {
    for (first, last, count) in [(0, 9, 3), (-7, 1_000, 24), (5, 6, 1_000), (0, 23, 24), (3, 3, 24)] {
        let times = [first, last].map(|micros| Instant::from_micros(micros).unwrap());
        let stretches = Stretches::between(&times, count).unwrap();
        for micros in first..=last {
            let time = Instant::from_micros(micros).unwrap();
            let number = stretches.number_of(time);
            assert!((0..stretches.count()).contains(&number));
            let begin = stretches.begin(number);
            assert!(begin <= micros && stretches.end(begin).is_some_and(|end| micros < end), "{micros}: {begin}");
            assert_eq!(stretches.number_of(Instant::from_micros(begin).unwrap()), number);
        }
    }
}

#[test]
fn cells_match_their_boxes() {
    let check = |lat: f64, lon: f64, micros: i64, expected: [f64; 4]| {
        let (row, column) = row_and_column(Point::new(lat, lon).unwrap(), micros);
        assert_eq!(format!("{:?}", cell_box(row, column, micros)), format!("{expected:?}"), "{lat},{lon}");
    };
    check(29.95, -90.07, 10_000_000, [-100.0, 20.0, -90.0, 30.0]);
    check(-0.000_001, 0.0, 10_000_000, [0.0, -10.0, 10.0, 0.0]);
    check(90.0, 180.0, 10_000_000, [-180.0, 80.0, -170.0, 90.0]);
    check(-90.0, -180.0, 1_000, [-180.0, -90.0, -179.999, -89.999]);
    check(12.3456, 7.89, 1_000, [7.89, 12.345, 7.891, 12.346]);
    check(89.0, 179.0, 70_000_000, [170.0, 50.0, 180.0, 90.0]);
}
