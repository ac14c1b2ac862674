use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId, type_id};
use timenav_core::ledger::{Salt, payload_hash};
use timenav_core::limits::{EVENTS_PER_REQUEST_MAX, FIND_EVENTS_READ_MAX};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, TimeRange, Virtual};

use crate::engine::Engine;
use crate::events::event_content::event_content;
use crate::events::event_filter::EventFilter;
use crate::events::event_search::{EVENTS_PAGE_BYTES_MAX, EventSearch, contents_bytes};
use crate::events::location::columns_of;
use crate::events::places::Understood;
use crate::ledger::changes::{EventsRecorded, LedgerPosition};
use crate::ledger::payload::{EventsFound, NEWEST, Reading};
use crate::ports::rows::{EventPlace, StoredEvent};
use crate::ports::store::EventQuery;
use crate::read::cursor::Cursor;
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::json;
use crate::requests::options::LEVEL_OF_OVERLAPPING;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::events::{PreparedEvent, RecordEvents};
use crate::writer::submission::Answer;

#[derive(Clone, Debug)]
pub struct Recorded {
    pub timeline_id: TimelineId,
    /// Their ids in request order.
    pub event_ids: Vec<EventId>,
    /// The ledger position of the last one; the others come right before it.
    pub ledger: LedgerPosition,
    pub replayed: bool,
}

#[derive(Clone, Debug)]
pub struct ImportBatch {
    pub taken: u64,
    /// How many were already recorded with the same content.
    pub unchanged: u64,
    /// The position of each of these; 0 if the fork inherits it. In a dry run, an event of an earlier record in the
    /// file has the next position.
    pub unchanged_at: Vec<u64>,
    pub refused: Vec<RefusedRecord>,
    pub ledger: LedgerPosition,
}

/// An import record that was rejected because another event has its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    pub index: usize,
    pub event_id: EventId,
}

#[derive(Clone, Debug)]
pub struct MonitorEvents {
    pub timeline: Option<TimelineId>,
    pub location_text: String,
    pub location: LocationQuery,
    pub range: TimeRange<Virtual>,
    pub overlapping: bool,
    pub as_of: Option<(String, AsOf)>,
    pub filter: Arc<EventFilter>,
    pub newest_first: bool,
    pub items_max: usize,
    pub cursor: Option<String>,
}

/// One page of events, ordered by time, then position; or in reverse.
#[derive(Clone, Debug)]
pub struct EventPage {
    pub timeline_id: TimelineId,
    pub events: Vec<StoredEvent>,
    /// The last ledger position visible to all pages of this query; `None` if there is no such entry.
    pub as_of: Option<u64>,
    /// The timelines that the events are recorded on, by layer. The timeline itself comes last.
    pub layers: Vec<TimelineId>,
    pub understood: Understood,
    pub suggestions: Vec<String>,
    pub next_cursor: Option<String>,
    /// The time up to which events were examined, if the page ends because of the search limit.
    pub searched_until: Option<Instant<Virtual>>,
}

struct Found {
    events: Vec<StoredEvent>,
    next: Option<EventPlace>,
    is_cut: bool,
}

/// Events read at a time for a page. Those beyond the page's byte limit are dropped.
const PIECE_EVENTS_MAX: usize = 256;

/// Returns how many of the first events fit into `bytes_max`, but at least one.
fn count_within(events: &[StoredEvent], bytes_max: usize) -> usize {
    let mut bytes = 0;
    let count = events.iter().take_while(|event| {
        bytes += event.content.len();
        bytes <= bytes_max
    });
    count.count().max(1)
}

impl Engine {
    /// Records events, all or none.
    ///
    /// # Errors
    /// One of them violates a limit or is recorded already, the caller is not authorized, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn record_events(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        drafts: Vec<EventDraft>,
        idempotency: Option<Idempotency>,
    ) -> Result<Recorded, Refusal> {
        let count = drafts.len();
        if count == 0 || count > EVENTS_PER_REQUEST_MAX {
            let detail =
                format!("a request can record 1 to {EVENTS_PER_REQUEST_MAX} events, not {count}; import larger files");
            return Err(Refusal::invalid("", detail));
        }
        let timeline = caller.timeline(timeline);
        let events = self.prepare_all(drafts)?;
        let recording = RecordEvents { events, each: false };
        let Answer { timeline_id, change, ledger, replayed } =
            self.submit(caller, timeline, recording, idempotency).await?;
        Ok(Recorded { timeline_id, event_ids: change.event_ids, ledger, replayed })
    }

    /// Records every event of a batch that can be recorded.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn import_events(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        drafts: Vec<EventDraft>,
    ) -> Result<ImportBatch, Refusal> {
        let count = drafts.len() as u64;
        let events = self.prepare_all(drafts)?;
        let recording = RecordEvents { events, each: true };
        let answer = self.submit(caller, timeline.clone(), recording, None).await?;
        let EventsRecorded { event_ids, taken, unchanged_at, differing } = answer.change;
        let unchanged = count - taken - differing.len() as u64;
        let refused = differing
            .into_iter()
            .filter_map(|index| Some(RefusedRecord { index, event_id: event_ids.get(index)?.clone() }))
            .collect();
        Ok(ImportBatch { taken, unchanged, unchanged_at, refused, ledger: answer.ledger })
    }

    /// Finds events by place and time.
    ///
    /// # Errors
    /// The caller is not authorized, the cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn monitor_events(&self, caller: &Caller, request: MonitorEvents) -> Result<EventPage, Refusal> {
        let found = self.find_events(caller, request, Reading::MonitorEvents).await?;
        Ok(found.0)
    }

    pub(crate) async fn find_events(
        &self,
        caller: &Caller,
        request: MonitorEvents,
        read_as: fn(EventsFound) -> Reading,
    ) -> Result<(EventPage, EventQuery, ReadView), Refusal> {
        let timeline = caller.timeline(request.timeline);
        let as_of_text = request.as_of.as_ref().map_or("", |(text, _)| text);
        let mut found = EventsFound {
            as_of: Some(as_of_text.to_owned()).filter(|text| !text.is_empty()),
            location: request.location_text.clone(),
            order: request.newest_first.then_some(NEWEST),
            overlapping: request.overlapping,
            time_range: request.range.to_string(),
            ..EventsFound::default()
        };
        found.filtered_by(request.filter.texts());
        let is_plain = !request.newest_first && !request.overlapping && request.filter.is_empty();
        let filtered = if is_plain { String::new() } else { json(&found) };
        let read = read_as(found);
        let cursor_query = format!(
            "{} {timeline} {} {as_of_text} {}{filtered}",
            read.operation(),
            request.range,
            request.location_text
        );
        let admitted = self.authorize_read(caller, timeline, Demand::Look, read).await?;
        let from = request.cursor.as_deref().map(|text| self.open_cursor(caller, &cursor_query, text)).transpose()?;
        let admitted = admitted.at(request.as_of.as_ref().map(|(_, as_of)| as_of)).await?;
        if request.overlapping && self.store().feature_level().await? < LEVEL_OF_OVERLAPPING {
            return Err(Refusal::NotUpgraded { what: "`overlapping`", level: LEVEL_OF_OVERLAPPING });
        }
        let look = admitted.with_first_page(from.map(|cursor| cursor.as_of)).look().await?;
        let understood = self.understand(&look.layers, request.location).await?;
        let query = EventQuery {
            layers: Arc::clone(&look.layers),
            patterns: understood.patterns(),
            range: request.range,
            overlapping: request.overlapping,
            after: from.and_then(Cursor::event_place),
            items_max: request.items_max,
            newest_first: request.newest_first,
        };
        let Found { events, next, is_cut } = self.page_of(caller, query.clone(), request.filter).await?;
        let next_cursor = next.map(|place| self.events_cursor(caller, &cursor_query, look.size(), place));
        let searched_until = next.filter(|_| is_cut).map(|(time, _, _)| time);
        let is_nothing = events.is_empty() && next.is_none();
        let suggestions = if is_nothing { self.suggestions(caller, &understood).await? } else { Vec::new() };
        let (timeline_id, layers, as_of) = (look.timeline(), look.names(), look.position());
        let page =
            EventPage { timeline_id, events, as_of, layers, understood, suggestions, next_cursor, searched_until };
        Ok((page, query, look))
    }

    /// Returns the events of a page. Searches for one more, to find out whether there is a next page.
    async fn page_of(
        &self,
        caller: &Caller,
        mut query: EventQuery,
        filter: Arc<EventFilter>,
    ) -> Result<Found, Refusal> {
        let items_max = query.items_max;
        query.items_max += 1;
        let (mut events, searched_until) = if filter.is_empty() {
            (self.events_in_pieces(caller, query).await?, None)
        } else {
            let search = EventSearch::new(query, filter, FIND_EVENTS_READ_MAX);
            let found = self.search(caller, search).await?;
            (found.events, found.searched_until)
        };
        let page_max = items_max.min(count_within(&events, EVENTS_PAGE_BYTES_MAX));
        let is_full = events.len() > page_max;
        events.truncate(page_max);
        let last = events.last().map(|last| (last.time, last.layer, last.position));
        Ok(Found { next: if is_full { last } else { searched_until }, is_cut: !is_full, events })
    }

    /// Stops after [`EVENTS_PAGE_BYTES_MAX`].
    async fn events_in_pieces(&self, caller: &Caller, mut query: EventQuery) -> Result<Vec<StoredEvent>, Refusal> {
        let mut events = Vec::new();
        let mut left = query.items_max;
        loop {
            query.items_max = left.min(PIECE_EVENTS_MAX);
            let piece = self.events_of(caller, query.clone()).await?;
            left -= piece.len().min(left);
            let is_last = piece.len() < query.items_max || left == 0;
            query.after = piece.last().map(|last| (last.time, last.layer, last.position)).or(query.after);
            events.extend(piece);
            if is_last || contents_bytes(&events) > EVENTS_PAGE_BYTES_MAX {
                return Ok(events);
            }
        }
    }

    /// Returns the results of a query: synchronously if that is fast, otherwise in the caller's turn.
    async fn events_of(&self, caller: &Caller, query: EventQuery) -> Result<Vec<StoredEvent>, Refusal> {
        if let Some(found) = self.store().events_at_once(&query)? {
            return Ok(found);
        }
        let engine = self.clone();
        self.long_work().in_turn(caller, async move { Ok(engine.store().events(query).await?) }).await
    }

    pub(crate) fn prepare_all(&self, drafts: Vec<EventDraft>) -> Result<Vec<PreparedEvent>, Refusal> {
        let one = |(index, draft): (usize, EventDraft)| {
            let checked = draft.check();
            checked.map_err(|error| Refusal::invalid(&format!("{index}/{}", error.field), error.detail))?;
            self.prepare(draft)
        };
        drafts.into_iter().enumerate().map(one).collect()
    }

    /// Prepares an event as far as possible, to reduce the committer's work.
    pub(crate) fn prepare(&self, draft: EventDraft) -> Result<PreparedEvent, Refusal> {
        let event_id = match &draft.event_id {
            Some(id) => id.clone(),
            None => EventId::new(&type_id("event", self.uuid())).map_err(|error| Refusal::id("event_id", error))?,
        };
        let content: Arc<str> = event_content(&event_id, &draft).into();
        let mut salt = [0; Salt::BYTES];
        self.ports().entropy.fill(&mut salt);
        let salt = Salt::from_bytes(salt);
        let payload_hash = payload_hash(&salt, content.as_bytes());
        let columns = columns_of(self.ports().gazetteer.as_deref(), &draft);
        let is_named = draft.event_id.is_some();
        Ok(PreparedEvent { event_id, is_named, draft: Arc::new(draft), columns, content, salt, payload_hash })
    }
}
