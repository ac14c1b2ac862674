//! Counts events in groups: by one or two of time, grid cell, actor, source and attribute.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Bucket, Instant, TimeRange, Virtual};

use crate::engine::Engine;
use crate::events::event_filter::EventFilter;
use crate::events::places::Understood;
use crate::ledger::payload::{EventsCounted, Reading};
use crate::ports::rows::EventPlace;
use crate::ports::store::EventQuery;
use crate::read::cursor::Cursor;
use crate::requests::caller::Caller;
use crate::requests::json::json;
use crate::requests::refusal::Refusal;

mod stretches;
mod tally;

pub(crate) use stretches::Stretches;
use tally::Tally;

#[derive(Clone, Debug, PartialEq)]
pub enum GroupBy {
    Time(Bucket),
    /// This many equal ranges between the first and the last event.
    Stretches(usize),
    /// Cells of a grid, whose size is given in millionths of a degree.
    Cell(i64),
    Actor,
    Source,
    Attribute(String),
}

impl GroupBy {
    const fn needs(&self) -> Needs {
        match self {
            Self::Time(_) | Self::Stretches(_) | Self::Cell(_) => Needs::Spot,
            Self::Actor | Self::Source => Needs::Parties,
            Self::Attribute(_) => Needs::Event,
        }
    }
}

/// The parts of an event that are needed to count it. Each includes the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    Spot,
    Parties,
    Event,
}

#[derive(Clone, Debug)]
pub struct AggregateEvents {
    /// Defaults to the key's own timeline.
    pub timeline: Option<TimelineId>,
    pub location_text: String,
    pub location: LocationQuery,
    pub range: TimeRange<Virtual>,
    /// The state to query instead of the current one; also as written by the caller.
    pub as_of: Option<(String, AsOf)>,
    pub filter: Arc<EventFilter>,
    pub by_text: String,
    pub by: GroupBy,
    /// A second key: a group is then a combination of both. Neither can be [`GroupBy::Stretches`].
    pub second: Option<GroupBy>,
    /// The values of the last key that form groups, if not all of them do. Only for texts.
    pub values: Option<Vec<String>>,
    pub groups_max: usize,
    /// The maximum number of events counted per response, if an index suffices.
    pub events_max: usize,
    /// The maximum number of events examined per response, if they have to be read.
    pub events_read_max: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum GroupKey {
    /// A bucket: its start, and the start of the next one, if that is a valid instant.
    Time(Instant<Virtual>, Option<Instant<Virtual>>),
    /// West, south, east and north of a cell, in degrees.
    Cell([f64; 4]),
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct EventGroup {
    pub key: GroupKey,
    pub second_key: Option<GroupKey>,
    pub count: usize,
    pub first: Instant<Virtual>,
    pub last: Instant<Virtual>,
}

#[derive(Clone, Debug)]
pub struct AggregatedEvents {
    pub timeline_id: TimelineId,
    /// Buckets in order of time; groups of the same bucket, and other groups, by size, largest first.
    pub groups: Vec<EventGroup>,
    /// The total number of groups, including those not returned.
    pub groups_count: usize,
    pub groups_truncated: bool,
    pub count: usize,
    /// How many of them are in no group.
    pub ungrouped_count: usize,
    /// The time of the last event examined, if the count stopped at its limit.
    pub counted_until: Option<Instant<Virtual>>,
    /// The cursor to continue from: the next event of the same ledger, even if it has the same time.
    pub next_cursor: Option<String>,
    /// The last ledger position visible to the query; `None` if there is no such entry.
    pub as_of: Option<u64>,
    pub understood: Understood,
    /// Known places spelled similarly to the location, if nothing was found.
    pub suggestions: Vec<String>,
}

impl Engine {
    /// Counts the events of a place and time range in groups.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
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
            values: request.values.clone(),
            ..EventsCounted::default()
        };
        counted.filtered_by(request.filter.texts());
        let timeline = caller.timeline(request.timeline);
        let by = (request.by, request.second);
        let cursor_query = format!("aggregate_events {timeline} {by:?} {}", json(&counted));
        let read = Reading::AggregateEvents(counted);
        let admitted = self.authorize_read(caller, timeline, Demand::Look, read).await?;
        let from = request.cursor.as_deref().map(|text| self.open_cursor(caller, &cursor_query, text)).transpose()?;
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
        // Groups take up memory from the first event on, so only few counts may run at the same time.
        let _turn = self.long_work().turn_to_count(caller).await;
        let most = (request.events_max, request.events_read_max);
        let tally =
            Tally::new(by, self.ports().gazetteer.clone(), Arc::clone(&request.filter)).of_values(request.values);
        let (tally, cut) = self.tallied(caller, query, request.filter, tally, most).await?;
        let suggestions = if tally.count == 0 && cut.is_none() && from.is_none() {
            self.suggestions(caller, &understood).await?
        } else {
            Vec::new()
        };
        let next_cursor = cut.map(|place| self.events_cursor(caller, &cursor_query, look.size(), place));
        let (count, ungrouped_count, groups_truncated) = (tally.count, tally.ungrouped_count, tally.is_cut());
        let mut groups = tally.groups();
        let groups_count = groups.len();
        groups.truncate(request.groups_max);
        Ok(AggregatedEvents {
            timeline_id: look.timeline(),
            groups,
            groups_count,
            groups_truncated,
            count,
            ungrouped_count,
            counted_until: cut.map(|(time, _, _)| time),
            next_cursor,
            as_of: look.position(),
            understood,
            suggestions,
        })
    }
}

impl Engine {
    /// Returns where the count stopped at its limit, if it did.
    async fn tallied(
        &self,
        caller: &Caller,
        query: EventQuery,
        filter: Arc<EventFilter>,
        mut tally: Tally,
        (events_max, events_read_max): (usize, usize),
    ) -> Result<(Tally, Option<EventPlace>), Refusal> {
        let needs = self.needs(&filter, tally.keys());
        if let Some(bucket) = tally.bucket_alone().filter(|_| needs == Needs::Spot) {
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

    fn needs<'k>(&self, filter: &EventFilter, keys: impl Iterator<Item = &'k GroupBy>) -> Needs {
        let for_filter = match (filter.is_empty(), filter.needs_parties_alone()) {
            (true, _) => Needs::Spot,
            (false, true) => Needs::Parties,
            (false, false) => Needs::Event,
        };
        match keys.map(GroupBy::needs).fold(for_filter, Needs::max) {
            Needs::Parties if !self.store().stores_parties() => Needs::Event,
            needs => needs,
        }
    }
}
