use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use timenav_core::limits::{AGGREGATE_GROUPS_MAX, FIND_ATTRIBUTE_BYTES_MAX};
use timenav_core::place::Point;
use timenav_core::time::{Instant, Virtual};

use super::{EventGroup, GroupBy, GroupKey, Stretches};
use crate::events::event_content::event_draft;
use crate::events::event_filter::{EventFilter, Member, value_of};
use crate::events::location::point_of;
use crate::events::participants::Parties;
use crate::events::participants::is_whole_event;
use crate::ports::gazetteer::Gazetteer;
use crate::ports::rows::{EventSpot, EventStretch, StoredEvent};

#[cfg(test)]
mod tests;

/// Maximum number of cached sources and actors, of up to a kilobyte each.
const KNOWN_MAX: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// The first microsecond of a bucket.
    Time(i64),
    Cell(i64, i64),
    Text(String),
}

#[derive(Clone, Copy, Debug)]
struct Group {
    count: usize,
    first: Instant<Virtual>,
    last: Instant<Virtual>,
}

/// Groups of events that are added in order of time.
pub(super) struct Tally {
    by: GroupBy,
    gazetteer: Option<Arc<dyn Gazetteer>>,
    /// The filter for events of which only source and actors are read.
    filter: Arc<EventFilter>,
    /// Cached groups by source and actors, which recur in many events; `None` if they do not pass the filter.
    known: HashMap<Box<str>, Option<Arc<[Key]>>>,
    groups: HashMap<Key, Group>,
    /// The time of each event, for ranges that are known only at the end.
    times: Vec<Instant<Virtual>>,
    /// The bucket of the last event: events of one bucket are consecutive.
    stretch: Range<i64>,
    pub(super) count: usize,
    pub(super) ungrouped_count: usize,
    pub(super) is_cut: bool,
}

impl Tally {
    pub(super) fn new(by: GroupBy, gazetteer: Option<Arc<dyn Gazetteer>>, filter: Arc<EventFilter>) -> Self {
        let (known, groups, times) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { by, gazetteer, filter, known, groups, times, stretch: 0..0, count: 0, ungrouped_count: 0, is_cut: false }
    }

    pub(super) fn add(&mut self, event: &StoredEvent) {
        let member = match &self.by {
            GroupBy::Stretches(_) | GroupBy::Time(_) => return self.add_at(event.time, None),
            GroupBy::Cell(_) => return self.add_at(event.time, self.point(event)),
            GroupBy::Actor => Member::Actors,
            GroupBy::Source => Member::Source,
            GroupBy::Attribute(key) => Member::Attribute(key),
        };
        self.add_to(&texts(value_of(&event.content, member)), event.time);
    }

    pub(super) fn add_stretch(&mut self, &EventStretch { first, last, count }: &EventStretch) {
        self.count += count;
        let GroupBy::Time(bucket) = self.by else { return self.ungrouped_count += count };
        self.count_more(&Key::Time(bucket.begin(first)), Group { count, first, last });
    }

    pub(super) fn add_spot(&mut self, spot: &EventSpot) {
        let Some(kept) = &spot.parties else { return self.add_at(spot.time, spot.point) };
        let Some(keys) = self.keys_of(kept) else { return };
        match self.by {
            GroupBy::Actor | GroupBy::Source => self.add_to(&keys, spot.time),
            GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) | GroupBy::Attribute(_) => {
                self.add_at(spot.time, spot.point);
            }
        }
    }

    /// Returns the groups of an event by its source and actors; `None` if it does not pass the filter.
    fn keys_of(&mut self, kept: &str) -> Option<Arc<[Key]>> {
        if let Some(keys) = self.known.get(kept) {
            return keys.clone();
        }
        let parties = Parties::read(kept);
        let keys = self.filter.passes_parties(&parties).then(|| match self.by {
            GroupBy::Actor => texts(Some(Value::from(parties.actors))).into(),
            GroupBy::Source => texts(parties.source.map(Value::from)).into(),
            GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) | GroupBy::Attribute(_) => [].into(),
        });
        // Do not cache whole events, which are rarely identical.
        if !is_whole_event(kept) {
            if self.known.len() >= KNOWN_MAX {
                self.known.clear();
            }
            self.known.insert(kept.into(), keys.clone());
        }
        keys
    }

    fn add_to(&mut self, keys: &[Key], time: Instant<Virtual>) {
        self.count += 1;
        self.ungrouped_count += usize::from(keys.is_empty());
        for key in keys {
            self.count_in(key, time);
        }
    }

    fn add_at(&mut self, time: Instant<Virtual>, point: Option<Point>) {
        self.count += 1;
        let key = match &self.by {
            GroupBy::Stretches(_) => return self.times.push(time),
            GroupBy::Time(bucket) => {
                if !self.stretch.contains(&time.micros()) {
                    let begin = bucket.begin(time);
                    self.stretch = begin..bucket.end(begin).unwrap_or(i64::MAX);
                }
                Some(Key::Time(self.stretch.start))
            }
            GroupBy::Cell(micros) => point.map(|point| {
                let (row, column) = row_and_column(point, *micros);
                Key::Cell(row, column)
            }),
            // These depend on the content of the event.
            GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => None,
        };
        match key {
            Some(key) => self.count_in(&key, time),
            None => self.ungrouped_count += 1,
        }
    }

    fn count_in(&mut self, key: &Key, time: Instant<Virtual>) {
        self.count_more(key, Group { count: 1, first: time, last: time });
    }

    fn count_more(&mut self, key: &Key, more: Group) {
        if let Some(group) = self.groups.get_mut(key) {
            (group.count, group.last) = (group.count + more.count, more.last);
        } else if self.groups.len() < AGGREGATE_GROUPS_MAX {
            self.groups.insert(key.clone(), more);
        } else {
            self.is_cut = true;
        }
    }

    fn point(&self, event: &StoredEvent) -> Option<Point> {
        point_of(self.gazetteer.as_deref(), &event_draft(&event.content)?)
    }

    pub(super) fn groups(mut self) -> Vec<EventGroup> {
        let stretches = match self.by {
            GroupBy::Stretches(count) => Stretches::between(&self.times, count),
            GroupBy::Time(_) | GroupBy::Cell(_) | GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => None,
        };
        if let Some(stretches) = &stretches {
            for time in std::mem::take(&mut self.times) {
                self.count_in(&Key::Time(stretches.begin(stretches.number_of(time))), time);
            }
        }
        let key = |key| match (key, &self.by) {
            (Key::Time(begin), by) => {
                let end = match (by, &stretches) {
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
        };
        let mut counted: Vec<(Key, Group)> = std::mem::take(&mut self.groups).into_iter().collect();
        counted.sort_unstable_by(|(one, _), (next, _)| one.cmp(next));
        let counted = counted.into_iter();
        let mut groups: Vec<EventGroup> =
            counted.map(|(of, Group { count, first, last })| EventGroup { key: key(of), count, first, last }).collect();
        if !matches!(self.by, GroupBy::Time(_) | GroupBy::Stretches(_)) {
            // Largest first; groups of the same size are in key order.
            groups.sort_by_key(|group| Reverse(group.count));
        }
        groups
    }
}

const DEGREE: i64 = 1_000_000;

#[expect(clippy::cast_possible_truncation, reason = "degrees are small numbers")]
fn row_and_column(point: Point, micros: i64) -> (i64, i64) {
    let of = |degrees: f64| (degrees * 1e6).round() as i64;
    let (lat, lon) = (of(point.lat()) + 90 * DEGREE, of(point.lon()) + 180 * DEGREE);
    // The pole belongs to the row below it, and the meridian 180 to the westernmost column.
    (lat.min(180 * DEGREE - 1) / micros, lon.rem_euclid(360 * DEGREE) / micros)
}

#[expect(clippy::cast_precision_loss, reason = "millionths of degrees are small numbers")]
fn cell_box(row: i64, column: i64, micros: i64) -> [f64; 4] {
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
fn texts(value: Option<Value>) -> Vec<Key> {
    let mut keys: Vec<Key> = match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.iter().filter_map(text).map(Key::Text).collect(),
        Some(value) => text(&value).map(Key::Text).into_iter().collect(),
    };
    keys.sort();
    keys.dedup();
    keys
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (text.len() <= FIND_ATTRIBUTE_BYTES_MAX).then(|| text.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
