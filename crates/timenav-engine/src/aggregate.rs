//! Counting events in groups: by time, by cell, by who took part, by source, by an attribute.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Bucket, Instant, TimeRange, Virtual};

use crate::caller::Caller;
use crate::cursor::Cursor;
use crate::engine::Engine;
use crate::event_filter::EventFilter;
use crate::json::json;
use crate::payload::{EventsCounted, Reading};
use crate::places::Understood;
use crate::refusal::Refusal;
use crate::rows::EventPlace;
use crate::store::EventQuery;

mod stretches;
mod tally;

pub(crate) use stretches::Stretches;
use tally::Tally;

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
    #[boxed]
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
        let understood = self.understand(&look.layers, request.location).await?;
        let query = EventQuery {
            layers: Arc::clone(&look.layers),
            patterns: understood.patterns(),
            range: request.range,
            after: from.and_then(Cursor::event_place),
            items_max: usize::MAX,
            newest_first: false,
            overlapping: false,
        };
        // Groups are in memory from the first event on: few counts have any at the same moment, the others wait here.
        let _turn = self.long_work().turn_to_count(caller).await;
        let most = (request.events_max, request.events_read_max);
        let (tally, cut) = self.tallied(caller, query, request.filter, request.by, most).await?;
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
