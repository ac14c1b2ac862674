//! Counting events in groups: by time, by cell, by who took part, by source, by an attribute.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::limits::{AGGREGATE_GROUPS_MAX, FIND_ATTRIBUTE_BYTES_MAX};
use timenav_core::place::{LocationQuery, Point};
use timenav_core::time::{Bucket, Instant, TimeRange, Virtual};

use crate::caller::Caller;
use crate::cursor::Cursor;
use crate::engine::Engine;
use crate::event_content::event_draft;
use crate::event_filter::{EventFilter, Member, value_of};
use crate::gazetteer::Gazetteer;
use crate::json::json;
use crate::location::point_of;
use crate::parties::{Parties, is_whole_event};
use crate::payload::{EventsCounted, Reading};
use crate::places::Understood;
use crate::refusal::Refusal;
use crate::rows::{EventSpot, EventStretch, StoredEvent};
use crate::store::{EventPlace, EventQuery};

#[cfg(test)]
mod tests;

/// Sources and actors that are remembered with the groups they are in, a kilobyte each at most.
const KNOWN_MAX: usize = 4_096;

/// What events are counted by.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupBy {
    /// In stretches of time as long as this, from midnight on and the first of a year or month, in UTC.
    Time(Bucket),
    /// In so many equal stretches between the first and the last event.
    Stretches(usize),
    /// In cells of a grid of the earth, of so many millionths of a degree.
    Cell(i64),
    /// By each of their actors.
    Actor,
    /// By their source.
    Source,
    /// By the values of an attribute.
    Attribute(String),
}

impl GroupBy {
    /// Returns what of an event its group follows from.
    const fn needs(&self) -> Needs {
        match self {
            Self::Time(_) | Self::Stretches(_) | Self::Cell(_) => Needs::Spot,
            Self::Actor | Self::Source => Needs::Parties,
            Self::Attribute(_) => Needs::Event,
        }
    }
}

/// What has to be known of an event to count it: each includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    /// When and where it is.
    Spot,
    /// Its source and its actors.
    Parties,
    /// All of it.
    Event,
}

/// Which events are to be counted, and how.
#[derive(Clone, Debug)]
pub struct AggregateEvents {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// Where, as the caller wrote it.
    pub location_text: String,
    /// Where, as its form says.
    pub location: LocationQuery,
    /// When, both ends included.
    pub range: TimeRange<Virtual>,
    /// As the ledger told it at that moment, instead of now; also as the caller wrote it.
    pub as_of: Option<(String, AsOf)>,
    /// Which of them.
    pub filter: Arc<EventFilter>,
    /// By what, as the caller wrote it.
    pub by_text: String,
    /// By what.
    pub by: GroupBy,
    /// At most so many groups.
    pub groups_max: usize,
    /// How many events are counted for one answer, where an index has what is needed of each.
    pub events_max: usize,
    /// How many events are looked through for one answer, where they have to be read.
    pub events_read_max: usize,
    /// Where the last answer stopped.
    pub cursor: Option<String>,
}

/// What events have in common.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupKey {
    /// A stretch of time: where it begins, and where the next one does, if that is a time.
    Time(Instant<Virtual>, Option<Instant<Virtual>>),
    /// A cell: its west, south, east and north, in degrees.
    Cell([f64; 4]),
    /// A text.
    Text(String),
}

/// Events that have something in common.
#[derive(Clone, Debug, PartialEq)]
pub struct EventGroup {
    /// What that is.
    pub key: GroupKey,
    /// How many they are.
    pub count: usize,
    /// When the first one happens.
    pub first: Instant<Virtual>,
    /// When the last one happens.
    pub last: Instant<Virtual>,
}

/// Events, counted.
#[derive(Clone, Debug)]
pub struct AggregatedEvents {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The groups: stretches of time in their order, others with the largest first.
    pub groups: Vec<EventGroup>,
    /// How many groups there are, those that are not among them too.
    pub groups_count: usize,
    /// Whether there are more groups than were counted.
    pub is_groups_cut: bool,
    /// How many events were counted.
    pub count: usize,
    /// How many of them have nothing that they could be grouped by.
    pub without_count: usize,
    /// The time of the last event that was looked at, where there may be more: so many were looked through.
    pub counted_to: Option<Instant<Virtual>>,
    /// Asks for what comes after it: the next event of the same ledger, though it happens at the same moment.
    pub next_cursor: Option<String>,
    /// The last position of the ledger that counts; `None` where no entry does.
    pub as_of: Option<u64>,
    /// How the location was understood.
    pub understood: Understood,
    /// Known places that are spelled nearly like the location, where nothing was found.
    pub near_spellings: Vec<String>,
}

impl Engine {
    /// Counts the events of a place and time in groups.
    ///
    /// # Errors
    /// The caller may not, or the ledger cannot be written.
    pub async fn aggregate_events(
        &self,
        caller: &Caller,
        request: AggregateEvents,
    ) -> Result<AggregatedEvents, Refusal> {
        let mut counted = EventsCounted {
            as_of: request.as_of.as_ref().map(|(text, _)| text.clone()),
            by: request.by_text,
            location: request.location_text,
            time_range: request.range.to_string(),
            ..EventsCounted::default()
        };
        counted.filtered_by(request.filter.texts());
        let timeline = caller.timeline(request.timeline);
        let asked = format!("aggregate_events {timeline} {:?} {}", request.by, json(&counted));
        let read = Reading::AggregateEvents(counted);
        let admitted = self.let_on(caller, timeline, Demand::Look, read).await?;
        let from = request.cursor.as_deref().map(|text| self.open_cursor(caller, &asked, text)).transpose()?;
        let admitted = admitted.at(request.as_of.as_ref().map(|(_, as_of)| as_of)).await?;
        let look = admitted.with_first_page(from.map(|cursor| cursor.as_of)).look().await?;
        let understood = self.understand(&look.layers, &look.sight, request.location).await?;
        let query = look.sight.narrow(EventQuery {
            layers: Arc::clone(&look.layers),
            patterns: understood.patterns(),
            range: request.range,
            after: from.and_then(Cursor::event_place),
            items_max: usize::MAX,
            newest_first: false,
            overlapping: false,
        });
        let filter = look.sight.filter(request.filter);
        // Groups are in memory from the first event on: few counts have any at the same moment, the others wait here.
        let _turn = self.long_work().turn_to_count(caller).await;
        let most = (request.events_max, request.events_read_max);
        let (tally, cut) = self.tallied(caller, query, filter, request.by, most).await?;
        let near_spellings = if tally.count == 0 && cut.is_none() && from.is_none() {
            self.near_spellings(caller, &understood).await?
        } else {
            Vec::new()
        };
        let next_cursor = cut.map(|place| self.events_cursor(caller, &asked, look.size(), place));
        let (count, without_count, is_groups_cut) = (tally.count, tally.without_count, tally.is_cut);
        let mut groups = tally.groups();
        let groups_count = groups.len();
        groups.truncate(request.groups_max);
        Ok(AggregatedEvents {
            timeline_id: look.timeline(),
            groups,
            groups_count,
            is_groups_cut,
            count,
            without_count,
            counted_to: cut.map(|(time, _, _)| time),
            next_cursor,
            as_of: look.position(),
            understood,
            near_spellings,
        })
    }
}

impl Engine {
    /// Counts the events of a query that pass a filter, with as little of each as is needed. Returns where the count
    /// stopped, if there may be more: at most so many are counted, or looked through where they have to be read.
    async fn tallied(
        &self,
        caller: &Caller,
        query: EventQuery,
        filter: Arc<EventFilter>,
        by: GroupBy,
        (events_max, events_read_max): (usize, usize),
    ) -> Result<(Tally, Option<EventPlace>), Refusal> {
        let needs = self.needs(&filter, &by);
        let bucket = if let GroupBy::Time(bucket) = by { Some(bucket) } else { None };
        let mut tally = Tally::new(by, self.doors().gazetteer.clone(), Arc::clone(&filter));
        if let Some(bucket) = bucket.filter(|_| needs == Needs::Spot) {
            let most = (bucket, events_max);
            match self.fold_stretches(caller, query.clone(), most, tally, Tally::add_stretch).await? {
                Ok(counted) => return Ok(counted),
                Err(nothing) => tally = nothing,
            }
        }
        if needs < Needs::Event {
            let most = (needs == Needs::Parties, events_max);
            match self.fold_spots(caller, query.clone(), most, tally, Tally::add_spot).await? {
                Ok(counted) => return Ok(counted),
                Err(nothing) => tally = nothing,
            }
        }
        self.fold(caller, query, (filter, events_read_max), tally, Tally::add).await
    }

    /// Returns what has to be known of events to count those that pass a filter.
    fn needs(&self, filter: &EventFilter, by: &GroupBy) -> Needs {
        let for_filter = match (filter.is_empty(), filter.needs_parties_alone()) {
            (true, _) => Needs::Spot,
            (false, true) => Needs::Parties,
            (false, false) => Needs::Event,
        };
        match for_filter.max(by.needs()) {
            Needs::Parties if !self.store().keeps_parties() => Needs::Event,
            needs => needs,
        }
    }
}

/// What groups are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// The microsecond with which a stretch of time begins.
    Time(i64),
    /// Row and column.
    Cell(i64, i64),
    Text(String),
}

#[derive(Clone, Copy, Debug)]
struct Group {
    count: usize,
    first: Instant<Virtual>,
    last: Instant<Virtual>,
}

/// Groups of events that come in the order of their times.
struct Tally {
    by: GroupBy,
    gazetteer: Option<Arc<dyn Gazetteer>>,
    /// Which events count, of those whose source and actors are known alone.
    filter: Arc<EventFilter>,
    /// The groups of events with the same source and actors; `None` where these do not count. Most are told of by many
    /// events.
    known: HashMap<Box<str>, Option<Arc<[Key]>>>,
    groups: HashMap<Key, Group>,
    /// The time of each event, where stretches are known only when all are.
    times: Vec<Instant<Virtual>>,
    /// The stretch that the last event is in: events of one stretch follow one another.
    stretch: Range<i64>,
    count: usize,
    without_count: usize,
    is_cut: bool,
}

impl Tally {
    fn new(by: GroupBy, gazetteer: Option<Arc<dyn Gazetteer>>, filter: Arc<EventFilter>) -> Self {
        let (known, groups, times) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { by, gazetteer, filter, known, groups, times, stretch: 0..0, count: 0, without_count: 0, is_cut: false }
    }

    fn add(&mut self, event: &StoredEvent) {
        let member = match &self.by {
            GroupBy::Stretches(_) | GroupBy::Time(_) => return self.add_at(event.time, None),
            GroupBy::Cell(_) => return self.add_at(event.time, self.point(event)),
            GroupBy::Actor => Member::Actors,
            GroupBy::Source => Member::Source,
            GroupBy::Attribute(key) => Member::Attribute(key),
        };
        self.add_to(&texts(value_of(&event.content, member)), event.time);
    }

    /// Counts events of one stretch.
    fn add_stretch(&mut self, &EventStretch { first, last, count }: &EventStretch) {
        self.count += count;
        let GroupBy::Time(bucket) = self.by else { return self.without_count += count };
        self.count_more(&Key::Time(bucket.begin(first)), Group { count, first, last });
    }

    fn add_spot(&mut self, spot: &EventSpot) {
        let Some(kept) = &spot.parties else { return self.add_at(spot.time, spot.point) };
        let Some(keys) = self.keys_of(kept) else { return };
        match self.by {
            GroupBy::Actor | GroupBy::Source => self.add_to(&keys, spot.time),
            GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) | GroupBy::Attribute(_) => {
                self.add_at(spot.time, spot.point);
            }
        }
    }

    /// Returns the groups of an event by its source and actors; `None` where it does not count.
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
        // Whole events are hardly ever the same.
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
        self.without_count += usize::from(keys.is_empty());
        for key in keys {
            self.count_in(key, time);
        }
    }

    /// Counts an event in the group of its time or point.
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
            // What these are made of is in the event.
            GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => None,
        };
        match key {
            Some(key) => self.count_in(&key, time),
            None => self.without_count += 1,
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

    fn groups(mut self) -> Vec<EventGroup> {
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
            // The largest first; those of one size in the order of their keys.
            groups.sort_by_key(|group| Reverse(group.count));
        }
        groups
    }
}

/// Equal stretches between the first and the last of some times.
pub(crate) struct Stretches {
    first: i64,
    /// Microseconds of all of them together.
    whole: i128,
    count: i128,
}

impl Stretches {
    /// Returns so many stretches between both ends of times that are in order; one where they are one time.
    pub(crate) fn between(times: &[Instant<Virtual>], count: usize) -> Option<Self> {
        let (first, last) = (times.first()?.micros(), times.last()?.micros());
        let count = if first == last { 1 } else { count as i128 };
        Some(Self { first, whole: i128::from(last) - i128::from(first) + 1, count })
    }

    /// Returns which stretch a time is in, from 0.
    pub(crate) fn number_of(&self, time: Instant<Virtual>) -> i128 {
        (i128::from(time.micros()) - i128::from(self.first)) * self.count / self.whole
    }

    /// Returns how many there are.
    pub(crate) const fn count(&self) -> i128 {
        self.count
    }

    /// Returns the microsecond with which a stretch begins.
    pub(crate) fn begin(&self, number: i128) -> i64 {
        // The first microsecond whose number it is.
        let since = (self.whole * number + self.count - 1).div_euclid(self.count);
        i64::try_from(i128::from(self.first) + since).unwrap_or(i64::MAX)
    }

    /// Returns the microsecond with which the stretch ends that begins there.
    fn end(&self, begin: i64) -> Option<i64> {
        let number = Instant::from_micros(begin).map(|time| self.number_of(time))?;
        Some(self.begin(number + 1))
    }
}

/// Millionths in a degree.
const DEGREE: i64 = 1_000_000;

#[expect(clippy::cast_possible_truncation, reason = "degrees are small numbers")]
fn row_and_column(point: Point, micros: i64) -> (i64, i64) {
    let of = |degrees: f64| (degrees * 1e6).round() as i64;
    let (lat, lon) = (of(point.lat()) + 90 * DEGREE, of(point.lon()) + 180 * DEGREE);
    // The pole is in the row below it, and the meridian 180 in the westernmost column.
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

/// Returns the texts of a value: its own, or each of a list. Those that no filter can ask for make no group either: an
/// attribute may have 64 KiB, and all groups are in memory.
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
