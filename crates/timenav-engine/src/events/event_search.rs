//! Searches for events that pass a filter, in pieces that each take a turn.

use std::sync::Arc;

use timenav_core::time::Bucket;

use crate::engine::Engine;
use crate::events::event_filter::EventFilter;
use crate::events::participants::is_whole_event;
use crate::ports::rows::{EventPlace, EventSpot, EventStretch, StoredEvent};
use crate::ports::store::{EventQuery, FilteredEvents};
use crate::read::long_work::yielding;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

/// Size limit of the contents of a page of events, in bytes. A page has at least one event.
pub const EVENTS_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Events examined per turn, which takes some milliseconds.
const PIECE_EVENTS_MAX: usize = 1_000;

/// Events whose times and points are read per turn, which takes some milliseconds.
const PIECE_SPOTS_MAX: usize = 16_384;
/// Events counted in ranges of time per turn, which takes as long.
const PIECE_STRETCHES_MAX: usize = 65_536;
/// Rows examined per response to find spots that a later layer overrides; takes some tenths of a second.
const OVERRIDDEN_ROWS_MAX: usize = 50_000;
/// Events whose source and actors are also read per turn.
const PIECE_PARTIES_MAX: usize = 4_096;
/// Number of spots that can be counted in the time of reading one event without stored source and actors.
const SPOTS_FOR_AN_EVENT: usize = 10;
/// Number of spots that can be counted in the time of examining one whole event.
const SPOTS_AT_ONCE: usize = 32;

pub(crate) struct EventSearch {
    query: EventQuery,
    filter: Arc<EventFilter>,
    left: usize,
}

pub(crate) fn contents_bytes(events: &[StoredEvent]) -> usize {
    events.iter().map(|event| event.content.len()).sum()
}

impl EventSearch {
    pub(crate) const fn new(query: EventQuery, filter: Arc<EventFilter>, searched_max: usize) -> Self {
        Self { query, filter, left: searched_max }
    }

    pub(crate) async fn next_piece(&mut self, engine: &Engine) -> Result<FilteredEvents, Refusal> {
        let piece_max = self.left.min(PIECE_EVENTS_MAX);
        let found = engine.store().filtered_events(self.query.clone(), Arc::clone(&self.filter), piece_max).await?;
        self.left -= found.searched.min(self.left);
        self.query.items_max -= found.events.len().min(self.query.items_max);
        self.query.after = found.searched_until.or(self.query.after);
        if found.searched_until.is_none() {
            self.left = 0;
        }
        Ok(found)
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.left == 0 || self.query.items_max == 0
    }
}

impl Engine {
    pub(crate) async fn search(&self, caller: &Caller, mut search: EventSearch) -> Result<FilteredEvents, Refusal> {
        let mut found = FilteredEvents::default();
        while !search.is_over() {
            let engine = self.clone();
            let looking = async move {
                let piece = search.next_piece(&engine).await;
                piece.map(|piece| (piece, search))
            };
            let (piece, rest) = self.long_work().in_turn(caller, looking).await?;
            search = rest;
            found.events.extend(piece.events);
            found.searched += piece.searched;
            found.searched_until = piece.searched_until;
            if contents_bytes(&found.events) > EVENTS_PAGE_BYTES_MAX {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the result, and the place of the last event examined if there may be more.
    pub(crate) async fn fold<T: Send + 'static>(
        &self,
        caller: &Caller,
        query: EventQuery,
        (filter, searched_max): (Arc<EventFilter>, usize),
        mut made: T,
        add: fn(&mut T, &StoredEvent),
    ) -> Result<(T, Option<EventPlace>), Refusal> {
        let mut search = EventSearch::new(EventQuery { items_max: usize::MAX, ..query }, filter, searched_max);
        let mut searched_until = None;
        while !search.is_over() {
            let engine = self.clone();
            let adding = async move {
                let piece = search.next_piece(&engine).await?;
                yielding(&piece.events).for_each(|event| add(&mut made, event));
                Ok((made, search, piece.searched_until))
            };
            (made, search, searched_until) = self.long_work().in_turn(caller, adding).await?;
        }
        Ok((made, searched_until))
    }

    /// Like [`Engine::fold_spots`], by ranges of time. Returns its input if the store does not support that.
    pub(crate) async fn fold_stretches<T: Send + 'static>(
        &self,
        caller: &Caller,
        mut query: EventQuery,
        (bucket, counted_max): (Bucket, usize),
        mut made: T,
        add: fn(&mut T, &EventStretch),
    ) -> Result<Result<(T, Option<EventPlace>), T>, Refusal> {
        let mut left = counted_max;
        loop {
            let engine = self.clone();
            query.items_max = left.min(PIECE_STRETCHES_MAX);
            let adding = async move {
                let counted = engine.store().event_stretches(query.clone(), bucket).await?;
                for stretch in yielding(counted.iter().flat_map(|counted| &counted.stretches)) {
                    add(&mut made, stretch);
                }
                Ok((made, query, counted.map(|counted| counted.counted_until)))
            };
            let counted;
            (made, query, counted) = self.long_work().in_turn(caller, adding).await?;
            let Some(counted_until) = counted else { return Ok(Err(made)) };
            left -= query.items_max;
            if left == 0 || counted_until.is_none() {
                return Ok(Ok((made, counted_until)));
            }
            query.after = counted_until;
        }
    }

    /// Like [`Engine::fold`] without a filter, for time and place of events and optionally their source and actors.
    /// Returns its input if later layers have so many versions that reading each event is faster.
    pub(crate) async fn fold_spots<T: Send + 'static>(
        &self,
        caller: &Caller,
        mut query: EventQuery,
        (with_parties, searched_max): (bool, usize),
        mut made: T,
        add: fn(&mut T, &EventSpot),
    ) -> Result<Result<(T, Option<EventPlace>), T>, Refusal> {
        let (engine, layers) = (self.clone(), Arc::clone(&query.layers));
        let looking = async move { Ok(engine.store().overridden(layers, OVERRIDDEN_ROWS_MAX).await?) };
        let Some(mut overridden) = self.long_work().in_turn(caller, looking).await? else { return Ok(Err(made)) };
        let (mut left, mut searched_until) = (searched_max, None);
        while left > 0 {
            let engine = self.clone();
            query.items_max = left.min(if with_parties { PIECE_PARTIES_MAX } else { PIECE_SPOTS_MAX });
            let adding = async move {
                let spots = engine.store().event_spots(query.clone(), with_parties).await?;
                let counts = |spot: &&EventSpot| !overridden[spot.layer].contains(&spot.position);
                for spots in yielding(spots.chunks(SPOTS_AT_ONCE)) {
                    spots.iter().filter(counts).for_each(|spot| add(&mut made, spot));
                }
                let last = spots.last().filter(|_| spots.len() == query.items_max);
                let last = last.map(|spot| (spot.time, spot.layer, spot.position));
                let is_read = |spot: &&EventSpot| spot.parties.as_deref().is_some_and(is_whole_event);
                let cost = spots.len() + (SPOTS_FOR_AN_EVENT - 1) * spots.iter().filter(is_read).count();
                Ok((made, query, overridden, (cost, last)))
            };
            let cost;
            (made, query, overridden, (cost, searched_until)) = self.long_work().in_turn(caller, adding).await?;
            query.after = searched_until;
            left = if searched_until.is_some() { left.saturating_sub(cost) } else { 0 };
        }
        Ok(Ok((made, searched_until)))
    }
}
