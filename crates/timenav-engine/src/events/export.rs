//! Exports events of a place and time range to a file, from one consistent snapshot.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::place::LocationQuery;
use timenav_core::time::{TimeRange, Virtual, Wall};

use crate::engine::Engine;
use crate::events::event_filter::EventFilter;
use crate::ledger::payload::{EventsExported, NEWEST, Reading};
use crate::ports::rows::{EventPlace, StoredEvent};
use crate::ports::store::EventQuery;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

/// Events read at a time, few enough to hold the largest ones in memory.
const PART_ITEMS_MAX: usize = 200;
/// Events examined for one part if there is a filter.
const PART_SEARCHED_MAX: usize = 1_000;

#[derive(Clone, Debug)]
pub struct ExportEvents {
    pub timeline: Option<TimelineId>,
    pub location_text: String,
    pub location: LocationQuery,
    pub range: TimeRange<Virtual>,
    pub as_of: Option<(String, AsOf)>,
    pub filter: Arc<EventFilter>,
    pub newest_first: bool,
    pub format: &'static str,
}

/// An authorized and logged export, which is written in parts.
pub struct EventExport {
    engine: Engine,
    caller: Caller,
    timeline_id: TimelineId,
    query: EventQuery,
    filter: Arc<EventFilter>,
    is_over: bool,
}

impl Engine {
    /// Begins to export events. The whole export is logged as one entry.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn export_events(&self, caller: &Caller, request: ExportEvents) -> Result<EventExport, Refusal> {
        let mut exported = EventsExported {
            as_of: request.as_of.as_ref().map(|(text, _)| text.clone()),
            format: request.format.to_owned(),
            location: request.location_text.clone(),
            order: request.newest_first.then_some(NEWEST),
            time_range: request.range.to_string(),
            ..EventsExported::default()
        };
        exported.filtered_by(request.filter.texts());
        let read = Reading::ExportEvents(exported);
        let as_of = request.as_of.as_ref().map(|(_, as_of)| as_of);
        let admitted = self.authorize_read(caller, request.timeline, Demand::Look, read).await?;
        let look = admitted.at(as_of).await?.look().await?;
        let understood = self.understand(&look.layers, request.location).await?;
        let timeline_id = look.timeline();
        let query = EventQuery {
            layers: look.layers,
            patterns: understood.patterns(),
            range: request.range,
            after: None,
            items_max: PART_ITEMS_MAX,
            newest_first: request.newest_first,
            overlapping: false,
        };
        let (engine, caller, filter) = (self.clone(), caller.clone(), request.filter);
        Ok(EventExport { engine, caller, timeline_id, query, filter, is_over: false })
    }
}

impl EventExport {
    #[must_use]
    pub const fn timeline_id(&self) -> &TimelineId {
        &self.timeline_id
    }

    #[must_use]
    pub fn as_of(&self) -> u64 {
        self.query.layers.last().map_or(0, |layer| layer.as_of)
    }

    #[must_use]
    pub fn now(&self) -> timenav_core::time::Instant<Wall> {
        self.engine.now()
    }

    /// Passes the next events to `write` in the requested order, and returns its result; `None` at the end. A part may
    /// be empty if there is a filter. Runs in the caller's turn, so that concurrent exports take turns with other work.
    ///
    /// # Errors
    /// The caller is no longer authorized, or the store does not respond.
    pub async fn next_part<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&[StoredEvent]) -> T + Send + 'static,
    ) -> Result<Option<T>, Refusal> {
        if self.is_over {
            return Ok(None);
        }
        // A revoked key or permission ends the export.
        self.engine.check_still(&self.caller, &self.timeline_id, Demand::Look)?;
        let (engine, query, filter) = (self.engine.clone(), self.query.clone(), Arc::clone(&self.filter));
        let reading = async move {
            let (events, next) = part(&engine, query, filter).await?;
            Ok((events.is_empty(), next, write(&events)))
        };
        let (is_empty, next, written) = self.engine.long_work().in_turn(&self.caller, reading).await?;
        self.query.after = next;
        self.is_over = next.is_none();
        Ok((!is_empty || !self.is_over).then_some(written))
    }
}

async fn part(
    engine: &Engine,
    query: EventQuery,
    filter: Arc<EventFilter>,
) -> Result<(Vec<StoredEvent>, Option<EventPlace>), Refusal> {
    if !filter.is_empty() {
        let found = engine.store().filtered_events(query, filter, PART_SEARCHED_MAX).await?;
        return Ok((found.events, found.searched_until));
    }
    let items_max = query.items_max;
    let events = match engine.store().events_at_once(&query)? {
        Some(events) => events,
        None => engine.store().events(query).await?,
    };
    let last = events.last().filter(|_| events.len() == items_max);
    let next = last.map(|last| (last.time, last.layer, last.position));
    Ok((events, next))
}
