use std::ops::Range;

use serde_json::Value;
use timenav_core::limits::FIND_ATTRIBUTE_BYTES_MAX;
use timenav_core::place::Point;
use timenav_core::time::{Instant, Virtual};

use crate::events::aggregate::{GroupBy, GroupKey, Stretches};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// The first microsecond of a bucket.
    Time(i64),
    Cell(i64, i64),
    Text(String),
}

/// Returns the bucket or cell of an event. `bucket` caches the last one, because events are in order of time.
pub(super) fn spot_key(
    by: &GroupBy,
    bucket: &mut Range<i64>,
    (time, point): (Instant<Virtual>, Option<Point>),
) -> Option<Key> {
    match by {
        GroupBy::Time(length) => {
            if !bucket.contains(&time.micros()) {
                let begin = length.begin(time);
                *bucket = begin..length.end(begin).unwrap_or(i64::MAX);
            }
            Some(Key::Time(bucket.start))
        }
        GroupBy::Cell(micros) => point.map(|point| {
            let (row, column) = row_and_column(point, *micros);
            Key::Cell(row, column)
        }),
        // Ranges are known only at the end, and the others depend on the content of the event.
        GroupBy::Stretches(_) | GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => None,
    }
}

pub(super) fn group_key(key: Key, by: &GroupBy, stretches: Option<&Stretches>) -> GroupKey {
    match (key, by) {
        (Key::Time(begin), by) => {
            let end = match (by, stretches) {
                (GroupBy::Time(bucket), _) => bucket.end(begin),
                (_, Some(stretches)) => stretches.end(begin),
                (_, None) => None,
            };
            let first = Instant::from_micros(begin.max(Instant::<Virtual>::MIN.micros()));
            GroupKey::Time(first.unwrap_or(Instant::MIN), end.and_then(Instant::from_micros))
        }
        (Key::Cell(row, column), GroupBy::Cell(micros)) => GroupKey::Cell(cell_box(row, column, *micros)),
        (Key::Cell(..), _) => GroupKey::Text(String::new()),
        (Key::Text(text), _) => GroupKey::Text(text),
    }
}

const DEGREE: i64 = 1_000_000;

#[expect(clippy::cast_possible_truncation, reason = "degrees fit into the type")]
pub(super) fn row_and_column(point: Point, micros: i64) -> (i64, i64) {
    let of = |degrees: f64| (degrees * 1e6).round() as i64;
    let (lat, lon) = (of(point.lat()) + 90 * DEGREE, of(point.lon()) + 180 * DEGREE);
    // The pole belongs to the row below it, and the meridian 180 to the westernmost column.
    (lat.min(180 * DEGREE - 1) / micros, lon.rem_euclid(360 * DEGREE) / micros)
}

#[expect(clippy::cast_precision_loss, reason = "millionths of degrees fit into the type")]
pub(super) fn cell_box(row: i64, column: i64, micros: i64) -> [f64; 4] {
    let degrees = |of: i64, most: i64| of.min(2 * most) as f64 / 1e6 - most as f64 / 1e6;
    let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
    let (lat, lon) = (90 * DEGREE, 180 * DEGREE);
    [
        degrees(column * micros, lon),
        degrees(row * micros, lat),
        degrees((column + 1) * micros, lon),
        degrees((row + 1) * micros, lat),
    ]
    .map(round)
}

/// Returns the group keys of a value: itself, or each element of a list. Values too long for a filter are skipped,
/// because an attribute may have 64 KiB and all groups are in memory.
pub(super) fn texts(value: Option<Value>) -> Vec<Key> {
    let mut keys: Vec<Key> = match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.into_iter().filter_map(text).map(Key::Text).collect(),
        Some(value) => text(value).map(Key::Text).into_iter().collect(),
    };
    keys.sort();
    keys.dedup();
    keys
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => (text.len() <= FIND_ATTRIBUTE_BYTES_MAX).then_some(text),
        Value::Number(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
