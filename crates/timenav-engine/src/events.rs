//! Recording events, and finding them by place and time.

use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId, type_id};
use timenav_core::ledger::{Salt, payload_hash};
use timenav_core::limits::EVENTS_PER_REQUEST_MAX;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, TimeRange, Virtual};

use crate::caller::Caller;
use crate::command::{Answer, Change, Command, LedgerPosition, PreparedEvent};
use crate::engine::Engine;
use crate::idempotency::Idempotency;
use crate::payload::event_content;
use crate::refusal::Refusal;
use crate::store::{EventQuery, StoredEvent};

/// Events that were recorded together.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// Their ids, in the order given.
    pub event_ids: Vec<EventId>,
    /// Where the last of them stands; the others stand right before it.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// What became of a batch of an import.
#[derive(Clone, Debug)]
pub struct ImportBatch {
    /// How many events are new.
    pub taken: u64,
    /// How many were recorded already, just so.
    pub unchanged: u64,
    /// Those that are recorded already, but otherwise.
    pub refused: Vec<RefusedRecord>,
    /// The ledger after the batch.
    pub ledger: LedgerPosition,
}

/// One record of an import that was refused because another event has its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    /// Where it stands in the batch, from 0.
    pub index: usize,
    /// The id.
    pub event_id: EventId,
}

/// Which events are asked for.
#[derive(Clone, Debug)]
pub struct MonitorEvents {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// Where, as the caller wrote it.
    pub location_text: String,
    /// Where, as it was understood.
    pub location: LocationQuery,
    /// When, both ends included.
    pub range: TimeRange<Virtual>,
    /// At most so many on the page.
    pub items_max: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// One page of events, ordered by time, then position.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The events.
    pub events: Vec<StoredEvent>,
    /// The ledger's size that all pages of this query show.
    pub as_of: u64,
    /// Asks for the next page.
    pub next_cursor: Option<String>,
}

impl Engine {
    /// Records events: all of them, or none.
    ///
    /// # Errors
    /// One of them breaks a limit or is recorded already, the caller may not, or the ledger
    /// cannot be written.
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
                format!("1 to {EVENTS_PER_REQUEST_MAX} events are recorded at once, not {count}; import larger files");
            return Err(Refusal::invalid("", detail));
        }
        let timeline = timeline.unwrap_or_else(|| caller.timeline_id.clone());
        let events = self.prepare_all(drafts)?;
        let command = Command::Record { events, each: false };
        let Answer { timeline_id, change, ledger, replayed } =
            self.submit(caller, timeline, command, idempotency).await?;
        match change {
            Change::Recorded { event_ids, .. } => Ok(Recorded { timeline_id, event_ids, ledger, replayed }),
            _ => Err(Refusal::Damaged("recording events was answered with something else".to_owned())),
        }
    }

    /// Records every event of a batch that can be recorded.
    ///
    /// # Errors
    /// The caller may not, or the ledger cannot be written.
    pub async fn import_events(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        drafts: Vec<EventDraft>,
    ) -> Result<ImportBatch, Refusal> {
        let count = drafts.len() as u64;
        let events = self.prepare_all(drafts)?;
        let command = Command::Record { events, each: true };
        let answer = self.submit(caller, timeline.clone(), command, None).await?;
        let Change::Recorded { event_ids, taken, differing } = answer.change else {
            return Err(Refusal::Damaged("importing events was answered with something else".to_owned()));
        };
        let unchanged = count - taken - differing.len() as u64;
        let refused = differing
            .into_iter()
            .filter_map(|index| Some(RefusedRecord { index, event_id: event_ids.get(index)?.clone() }))
            .collect();
        Ok(ImportBatch { taken, unchanged, refused, ledger: answer.ledger })
    }

    /// Finds events by place and time.
    ///
    /// # Errors
    /// The caller may not, the cursor is of another query, or the ledger cannot be written.
    pub async fn monitor_events(&self, caller: &Caller, request: MonitorEvents) -> Result<EventPage, Refusal> {
        let timeline = request.timeline.unwrap_or_else(|| caller.timeline_id.clone());
        let state = self.admit(caller, &timeline, Demand::Look, "monitor_events").await?;
        let asked = format!("events {timeline} {} {}", request.range, request.location_text);
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &asked, text)).transpose()?;
        let after = cursor.and_then(|cursor| Some((Instant::from_micros(cursor.micros)?, cursor.position)));
        let as_of = cursor.map_or_else(|| state.head.frontier.size(), |cursor| cursor.as_of);
        let parameters =
            serde_json::json!({ "location": request.location_text, "time_range": request.range.to_string() });
        self.log_read(caller, &timeline, "monitor_events", parameters.to_string()).await?;
        let query = EventQuery {
            timeline: state.head.key,
            pattern: request.location,
            range: request.range,
            as_of,
            after,
            items_max: request.items_max + 1,
        };
        let mut events = self.store().events(query).await?;
        let more = events.len() > request.items_max;
        events.truncate(request.items_max);
        let last = events.last().filter(|_| more);
        let next_cursor = last.map(|last| self.cursor(caller, &asked, as_of, last.time.micros(), last.position));
        Ok(EventPage { timeline_id: timeline, events, as_of, next_cursor })
    }

    fn prepare_all(&self, drafts: Vec<EventDraft>) -> Result<Vec<PreparedEvent>, Refusal> {
        let one = |(index, draft): (usize, EventDraft)| {
            let checked = draft.check();
            checked.map_err(|error| Refusal::invalid(&format!("{index}/{}", error.field), error.detail))?;
            self.prepare(draft)
        };
        drafts.into_iter().enumerate().map(one).collect()
    }

    /// Makes everything ready that can be, so that the committer has less to do.
    fn prepare(&self, draft: EventDraft) -> Result<PreparedEvent, Refusal> {
        let event_id = match &draft.event_id {
            Some(id) => id.clone(),
            None => EventId::new(&type_id("event", self.uuid())).map_err(|error| Refusal::id("event_id", error))?,
        };
        let content: Arc<str> = event_content(&event_id, &draft).into();
        let mut salt = [0; Salt::BYTES];
        self.doors().entropy.fill(&mut salt);
        let salt = Salt::from_bytes(salt);
        let payload_hash = payload_hash(&salt, content.as_bytes());
        Ok(PreparedEvent { event_id, draft: Arc::new(draft), content, salt, payload_hash })
    }
}
