use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use serde_json::Value;
use timenav_core::limits::AGGREGATE_GROUPS_PER_EVENT_MAX;
use timenav_core::place::Point;
use timenav_core::time::{Bucket, Instant, Virtual};

use self::groups::{Group, Groups};
use self::keys::{Key, group_key, spot_key, texts};
use super::{EventGroup, GroupBy, Stretches};
use crate::events::event_filter::{EventFilter, Member, value_of};
use crate::events::location::point_in;
use crate::events::participants::{Parties, is_whole_event};
use crate::ports::gazetteer::Gazetteer;
use crate::ports::rows::{EventSpot, EventStretch, StoredEvent};

mod groups;
mod keys;
#[cfg(test)]
mod tests;

/// Maximum number of cached sources and actors, of up to a kilobyte each.
const KNOWN_MAX: usize = 4_096;

/// The texts of an event to group it by, for the first and the second key. Empty for times and cells.
type Texts = [Vec<Key>; 2];

/// Groups of events that are added in order of time.
pub(super) struct Tally {
    by: GroupBy,
    second: Option<GroupBy>,
    /// The values of the last key that form groups, if not all of them do.
    values: Option<HashSet<String>>,
    gazetteer: Option<Arc<dyn Gazetteer>>,
    /// The filter for events of which only source and actors are read.
    filter: Arc<EventFilter>,
    /// Cached texts by source and actors, which recur in many events; `None` if they do not pass the filter.
    known: HashMap<Box<str>, Option<Arc<Texts>>>,
    groups: Groups,
    /// The time of each event, for ranges that are known only at the end.
    times: Vec<Instant<Virtual>>,
    /// The bucket of the last event, for each key: events of one bucket are consecutive.
    buckets: [Range<i64>; 2],
    pub(super) count: usize,
    pub(super) ungrouped_count: usize,
}

impl Tally {
    pub(super) fn new(
        (by, second): (GroupBy, Option<GroupBy>),
        gazetteer: Option<Arc<dyn Gazetteer>>,
        filter: Arc<EventFilter>,
    ) -> Self {
        Self {
            by,
            second,
            values: None,
            gazetteer,
            filter,
            known: HashMap::new(),
            groups: Groups::default(),
            times: Vec::new(),
            buckets: [0..0, 0..0],
            count: 0,
            ungrouped_count: 0,
        }
    }

    /// Only these values of the last key form groups.
    pub(super) fn of_values(self, values: Option<Vec<String>>) -> Self {
        Self { values: values.map(HashSet::from_iter), ..self }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &GroupBy> {
        [Some(&self.by), self.second.as_ref()].into_iter().flatten()
    }

    /// Returns the length of the buckets if they are the only key.
    pub(super) const fn bucket_alone(&self) -> Option<Bucket> {
        match (&self.by, &self.second) {
            (GroupBy::Time(bucket), None) => Some(*bucket),
            _ => None,
        }
    }

    pub(super) const fn is_cut(&self) -> bool {
        self.groups.is_cut
    }

    pub(super) fn add(&mut self, event: &StoredEvent) {
        let of_event = |by: &GroupBy| match by {
            GroupBy::Actor => value_of(&event.content, Member::Actors),
            GroupBy::Source => value_of(&event.content, Member::Source),
            GroupBy::Attribute(key) => value_of(&event.content, Member::Attribute(key)),
            GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) => None,
        };
        let has_cells = self.keys().any(|by| matches!(by, GroupBy::Cell(_)));
        let point = if has_cells { point_in(self.gazetteer.as_deref(), &event.content) } else { None };
        let texts = self.texts(of_event);
        self.add_to(&texts, event.time, point);
    }

    pub(super) fn add_stretch(&mut self, &EventStretch { first, last, count }: &EventStretch) {
        self.count += count;
        let Some(bucket) = self.bucket_alone() else { return self.ungrouped_count += count };
        self.groups.add(&Key::Time(bucket.begin(first)), None, Group { count, first, last });
    }

    pub(super) fn add_spot(&mut self, spot: &EventSpot) {
        let Some(stored) = &spot.parties else { return self.add_to(&Texts::default(), spot.time, spot.point) };
        let Some(texts) = self.texts_of(stored) else { return };
        self.add_to(&texts, spot.time, spot.point);
    }

    /// Returns the texts of an event by its source and actors; `None` if it does not pass the filter.
    fn texts_of(&mut self, stored: &str) -> Option<Arc<Texts>> {
        if let Some(texts) = self.known.get(stored) {
            return texts.clone();
        }
        let parties = Parties::read(stored);
        let texts = self.filter.passes_parties(&parties).then(|| {
            let of_parties = |by: &GroupBy| match by {
                GroupBy::Actor => Some(Value::from(parties.actors.clone())),
                GroupBy::Source => parties.source.clone().map(Value::from),
                GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) | GroupBy::Attribute(_) => None,
            };
            Arc::new(self.texts(of_parties))
        });
        // Do not cache whole events, which are rarely identical.
        if !is_whole_event(stored) {
            if self.known.len() >= KNOWN_MAX {
                self.known.clear();
            }
            self.known.insert(stored.into(), texts.clone());
        }
        texts
    }

    fn texts(&self, value: impl Fn(&GroupBy) -> Option<Value>) -> Texts {
        let mut of_keys = [texts(value(&self.by)), self.second.as_ref().map_or_else(Vec::new, |by| texts(value(by)))];
        if let Some(values) = &self.values {
            let last = &mut of_keys[usize::from(self.second.is_some())];
            last.retain(|key| matches!(key, Key::Text(text) if values.contains(text)));
        }
        of_keys
    }

    fn add_to(&mut self, [first, second]: &Texts, time: Instant<Virtual>, point: Option<Point>) {
        self.count += 1;
        if let GroupBy::Stretches(_) = self.by {
            return self.times.push(time);
        }
        let one = Group { count: 1, first: time, last: time };
        let [bucket, second_bucket] = &mut self.buckets;
        let spot = spot_key(&self.by, bucket, (time, point));
        let first = spot.as_ref().map_or(&first[..], slice::from_ref);
        let Some(by) = &self.second else {
            self.ungrouped_count += usize::from(first.is_empty());
            return first.iter().for_each(|key| self.groups.add(key, None, one));
        };
        let spot = spot_key(by, second_bucket, (time, point));
        let second = spot.as_ref().map_or(&second[..], slice::from_ref);
        // Two lists of thousands have millions of combinations.
        if !(1..=AGGREGATE_GROUPS_PER_EVENT_MAX).contains(&(first.len() * second.len())) {
            return self.ungrouped_count += 1;
        }
        for key in first {
            for second in second {
                self.groups.add(key, Some(second), one);
            }
        }
    }

    pub(super) fn groups(mut self) -> Vec<EventGroup> {
        let stretches = match self.by {
            GroupBy::Stretches(count) => Stretches::between(&self.times, count),
            GroupBy::Time(_) | GroupBy::Cell(_) | GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => None,
        };
        if let Some(stretches) = &stretches {
            for time in std::mem::take(&mut self.times) {
                let key = Key::Time(stretches.begin(stretches.number_of(time)));
                self.groups.add(&key, None, Group { count: 1, first: time, last: time });
            }
        }
        let Self { by, second, groups, .. } = self;
        let group = |(key, second_key, Group { count, first, last }): (Key, Option<Key>, Group)| EventGroup {
            key: group_key(key, &by, stretches.as_ref()),
            second_key: second_key.zip(second.as_ref()).map(|(key, by)| group_key(key, by, None)),
            count,
            first,
            last,
        };
        groups.in_order().into_iter().map(group).collect()
    }
}
