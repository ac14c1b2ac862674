use serde_json::json;
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_core::limits::{AGGREGATE_GROUPS_MAX, FIND_ATTRIBUTE_BYTES_MAX};

use super::keys::{cell_box, row_and_column};
use super::*;
use crate::events::aggregate::GroupKey;
use crate::events::event_content::event_content;

fn event(number: usize, draft: &EventDraft) -> StoredEvent {
    let content = event_content(&EventId::new(&format!("e{number}")).unwrap(), draft);
    StoredEvent { time: draft.time, layer: 0, position: number as u64, content }
}

#[test]
fn tallied_groups_are_limited() {
    let counted = |groups: usize| {
        let mut tally = Tally::new((GroupBy::Source, None), None, Arc::default());
        for number in (0..groups).chain([0, groups - 1]) {
            let source = Some(format!("source {number}"));
            tally.add(&event(number, &EventDraft { source, ..EventDraft::at(Instant::EPOCH, "") }));
        }
        (tally.count, tally.is_cut(), tally.groups())
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
    let mut tally = Tally::new((GroupBy::Attribute("k".to_owned()), None), None, Arc::default());
    for (number, bytes) in [FIND_ATTRIBUTE_BYTES_MAX, FIND_ATTRIBUTE_BYTES_MAX + 1, 60_000].into_iter().enumerate() {
        let attributes = Some(serde_json::json!({ "k": "x".repeat(bytes) }).to_string());
        let draft = EventDraft { attributes, ..EventDraft::at(Instant::EPOCH, "") };
        tally.add(&event(number, &draft));
    }
    let stored: usize = tally.groups.keys().map(|key| if let Key::Text(text) = key { text.len() } else { 0 }).sum();
    assert_eq!((tally.count, tally.ungrouped_count, stored), (3, 2, FIND_ATTRIBUTE_BYTES_MAX));
}

/// Adds events with these attributes, a second apart.
fn added(mut tally: Tally, attributes: &[Value]) -> Tally {
    for (number, (attributes, micros)) in attributes.iter().zip((0..).step_by(1_000_000)).enumerate() {
        let time = Instant::from_micros(micros).unwrap();
        let attributes = Some(attributes.to_string());
        tally.add(&event(number, &EventDraft { attributes, ..EventDraft::at(time, "") }));
    }
    tally
}

fn attribute(key: &str) -> GroupBy {
    GroupBy::Attribute(key.to_owned())
}

fn keys(groups: &[EventGroup]) -> Vec<(String, String, usize)> {
    let text = |key: &GroupKey| match key {
        GroupKey::Text(text) => text.clone(),
        GroupKey::Time(begin, _) => begin.micros().to_string(),
        GroupKey::Cell(edges) => format!("{edges:?}"),
    };
    groups
        .iter()
        .map(|group| (text(&group.key), group.second_key.as_ref().map(text).unwrap_or_default(), group.count))
        .collect()
}

fn two_keys(by: GroupBy, second: GroupBy) -> Tally {
    Tally::new((by, Some(second)), None, Arc::default())
}

#[test]
fn group_of_two_keys_has_the_events_with_both() {
    let attributes = [
        json!({ "k": ["a", "b"], "l": "x" }),
        json!({ "k": "a", "l": ["x", "y", "y"] }),
        json!({ "k": "b" }),
        json!({ "l": "y" }),
    ];
    let tally = added(two_keys(attribute("k"), attribute("l")), &attributes);
    assert_eq!((tally.count, tally.ungrouped_count, tally.is_cut()), (4, 2, false));
    let group = |first: &str, second: &str, count| (first.to_owned(), second.to_owned(), count);
    assert_eq!(keys(&tally.groups()), [group("a", "x", 2), group("a", "y", 1), group("b", "x", 1)]);
    let two_seconds = Bucket::new(timenav_core::time::parse_duration("PT2S").unwrap()).unwrap();
    let by_time = [group("0", "a", 2), group("0", "b", 1), group("2000000", "b", 1)];
    let tally = added(two_keys(GroupBy::Time(two_seconds), attribute("k")), &attributes);
    assert_eq!(keys(&tally.groups()), by_time);
    // Groups are in order of time, whichever key that is.
    let swapped = by_time.map(|(time, text, count)| (text, time, count));
    let tally = added(two_keys(attribute("k"), GroupBy::Time(two_seconds)), &attributes);
    assert_eq!(keys(&tally.groups()), swapped);
}

#[test]
fn only_the_given_values_of_the_last_key_form_groups() {
    let attributes = [json!({ "k": ["a", "b"], "l": "b" }), json!({ "k": "b", "l": "a" }), json!({ "k": "c" })];
    let values = || Some(vec!["b".to_owned(), "d".to_owned()]);
    let one = added(Tally::new((attribute("k"), None), None, Arc::default()).of_values(values()), &attributes);
    assert_eq!((one.count, one.ungrouped_count), (3, 1));
    assert_eq!(keys(&one.groups()), [("b".to_owned(), String::new(), 2)]);
    let two = added(two_keys(attribute("k"), attribute("l")).of_values(values()), &attributes);
    assert_eq!((two.count, two.ungrouped_count), (3, 2));
    assert_eq!(keys(&two.groups()), [("a", "b", 1), ("b", "b", 1)].map(|(a, b, n)| (a.to_owned(), b.to_owned(), n)));
}

#[test]
fn groups_of_two_keys_are_limited_per_event_and_in_total() {
    let list = |count: usize| (0..count).map(|number| json!(number.to_string())).collect::<Vec<_>>();
    let counted = |first: usize, second: usize, events: usize| {
        let attributes = vec![json!({ "k": list(first), "l": list(second) }); events];
        let tally = added(two_keys(attribute("k"), attribute("l")), &attributes);
        (tally.ungrouped_count, tally.is_cut(), tally.groups().len())
    };
    assert_eq!(counted(10, AGGREGATE_GROUPS_PER_EVENT_MAX / 10, 2), (0, false, AGGREGATE_GROUPS_PER_EVENT_MAX));
    assert_eq!(counted(10, AGGREGATE_GROUPS_PER_EVENT_MAX / 10 + 1, 2), (2, false, 0));
    let attributes: Vec<Value> = (0..=AGGREGATE_GROUPS_MAX).map(|number| json!({ "k": number, "l": "x" })).collect();
    let tally = added(two_keys(attribute("k"), attribute("l")), &attributes);
    assert_eq!((tally.ungrouped_count, tally.is_cut(), tally.groups().len()), (0, true, AGGREGATE_GROUPS_MAX));
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
