//! Erases events by id, query or age, in batches, and erases single reads.
//!
//! To erase by query or age, a dry run comes first. The real run must pass the ledger size that the dry run returned,
//! and fails if the selection has changed since then.

use async_recursion::async_recursion as boxed;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use timenav_core::access::Demand;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::ledger::{ErasedBy, LeafRecord};
use timenav_core::limits::PAGE_ITEMS_MAX;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, Span, TimeRange, Virtual, Wall, parse_timestamp};

use crate::clock::host_clock::HostClockDoubt;
use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{EventsErasureResult, ReadsErasureResult};
use crate::ledger::head::{Layer, TimelineState};
use crate::ledger::payload::Reading;
use crate::ports::lookups::OneFact as _;
use crate::ports::store::EventQuery;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::alone;
use crate::writer::deciding::erasing::{ChosenEvent, ChosenWhy, EraseEvents, EraseReads, WhichReads, not_own};
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::submission::Answer;

/// Maximum number of events per batch. Counted on each timeline that may hold them: the timeline itself and its forks.
pub const ERASE_EVENTS_BATCH_MAX: usize = 1_000;
pub const ERASE_EVENTS_SELECTED_MAX: usize = 100_000;
const FORESEEN_IDS_MAX: usize = 100;

#[derive(Clone, Debug)]
pub struct EventErasure {
    pub timeline: Option<TimelineId>,
    pub which: WhichEvents,
    pub include_forks: bool,
    pub evaluated_at: Option<u64>,
}

#[derive(Clone, Debug)]
pub enum WhichEvents {
    Ids(Vec<EventId>),
    /// Current events at a place, in a range of virtual time.
    Found {
        location_text: String,
        location: LocationQuery,
        range: TimeRange<Virtual>,
    },
    /// Events unchanged for a span of host time, measured back from the last entry of the ledger size in question.
    Unchanged {
        text: String,
        span: Span,
    },
}

#[derive(Clone, Debug)]
pub struct ErasurePreview {
    pub timeline_id: TimelineId,
    pub events_count: u64,
    pub event_ids: Vec<EventId>,
    pub evaluated_at: u64,
    pub forks: Vec<ForkSeen>,
}

#[derive(Clone, Debug)]
pub struct ForkSeen {
    pub timeline_id: TimelineId,
    pub may_erase: bool,
}

#[derive(Clone, Debug)]
pub struct ReadErasure {
    pub timeline: Option<TimelineId>,
    pub position: u64,
    pub which: WhichReads,
}

#[derive(Default)]
struct Selected {
    first: Vec<ChosenEvent>,
    /// The position that created each of them, or a number that stands for it.
    all: Vec<u64>,
}

impl Engine {
    /// Dry run: returns which events would be erased.
    ///
    /// # Errors
    /// The caller may not erase there, too many events are selected, a named event does not exist, or the ledger cannot
    /// be written.
    #[boxed]
    pub async fn preview_erasure(&self, caller: &Caller, request: EventErasure) -> Result<ErasurePreview, Refusal> {
        let timeline = caller.timeline(request.timeline);
        if self.decide(caller, &timeline, Demand::Erase).is_ok() {
            check_has_events(&timeline)?;
        }
        let reading = reading(&request.which, true);
        let look = self.look(caller, timeline.clone(), Demand::Erase, reading).await?;
        let (state, which) = (Arc::clone(&look.state), request.which);
        // The read entry of this dry run is the last one that counts, because it determines the host time.
        let evaluated_at = state.head.frontier.size().min(look.size() + 1);
        let engine = self.clone();
        let looking = async move { engine.select(&state, &which, evaluated_at, evaluated_at).await };
        let selected = self.long_work().in_turn(caller, looking).await?;
        let event_ids = selected.first.into_iter().take(FORESEEN_IDS_MAX).map(|chosen| chosen.event_id).collect();
        let forks = self.forks_seen(caller, &look.state);
        Ok(ErasurePreview {
            timeline_id: timeline,
            events_count: selected.all.len() as u64,
            event_ids,
            evaluated_at,
            forks,
        })
    }

    /// Erases all versions of events, up to the batch limit. Their leaves stay, and so does every proof.
    ///
    /// # Errors
    /// The caller may not erase there or on a fork, the selection has changed, or the ledger cannot be written.
    #[boxed]
    pub async fn erase_events(
        &self,
        caller: &Caller,
        request: EventErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventsErasureResult>, Refusal> {
        let timeline = caller.timeline(request.timeline.clone());
        let again = || RepeatedRequest::<EventsErasureResult>::of(Action::EraseEvents, alone(Demand::Erase));
        let answer = match self.answered_before(caller, &timeline, again(), idempotency).await? {
            Some(answer) => answer,
            None => match self.erase_batch(caller, &timeline, request, idempotency).await {
                Ok(answer) => answer,
                // The selection may have changed because the same request was carried out in the meantime.
                Err(refusal) => self.answered_before(caller, &timeline, again(), idempotency).await?.ok_or(refusal)?,
            },
        };
        self.drop_views_of_forks(&answer.timeline_id);
        Ok(answer)
    }

    async fn erase_batch(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        request: EventErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventsErasureResult>, Refusal> {
        let EventErasure { which, include_forks, evaluated_at, .. } = request;
        self.catch_up_with(timeline).await?;
        let state = self.admit_as_known(caller, timeline, Demand::Erase, Action::EraseEvents.word()).await?;
        check_has_events(timeline)?;
        let by = which.by();
        let evaluated_at = self.check_evaluated_at(&state, by, evaluated_at).await?;
        let forks = self.forks_of(state.head.key).len();
        let batch_max = (ERASE_EVENTS_BATCH_MAX / (1 + forks)).max(1);
        if let WhichEvents::Ids(event_ids) = &which
            && event_ids.len() > batch_max
        {
            let detail = format!("with {forks} forks, give at most {batch_max} ids at once, not {}", event_ids.len());
            return Err(Refusal::invalid("event_ids", detail));
        }
        let mut selected = self.choose_events(caller, Arc::clone(&state), (&which, evaluated_at)).await?;
        if selected.first.is_empty() {
            // An erasure without matches writes no other entry, so the attempt is logged as a read. The empty result is
            // then valid as of that entry.
            self.log_read(caller, timeline, alone(Demand::Erase), &reading(&which, false)).await?;
            let newest = self.state(timeline).unwrap_or(state);
            selected = self.choose_events(caller, newest, (&which, evaluated_at)).await?;
        }
        let chosen: Vec<ChosenEvent> = selected.first.into_iter().take(batch_max).collect();
        let left = (selected.all.len() - chosen.len()) as u64;
        let one = EraseEvents { chosen, by, evaluated_at, include_forks, left };
        self.submit(caller, timeline.clone(), one, idempotency).await
    }

    /// Erases single reads of an entry of reads.
    ///
    /// # Errors
    /// There is no such entry, none of these reads is left, the caller is not authorized, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn erase_reads(
        &self,
        caller: &Caller,
        request: ReadErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<ReadsErasureResult>, Refusal> {
        let ReadErasure { timeline, position, which } = request;
        self.submit(caller, caller.timeline(timeline), EraseReads { position, which }, idempotency).await
    }

    /// Checks the ledger size at which events were selected. It is required for a query or an age.
    async fn check_evaluated_at(
        &self,
        state: &TimelineState,
        by: ErasedBy,
        evaluated_at: Option<u64>,
    ) -> Result<Option<u64>, Refusal> {
        if by == ErasedBy::Ids {
            return match evaluated_at {
                None => Ok(None),
                Some(_) => Err(Refusal::invalid("as_of_size", "`event_ids` does not need it; leave it out")),
            };
        }
        if by == ErasedBy::Age
            && let Some(HostClockDoubt { last, now, offset }) = self.doubt_host_clock().await?
        {
            let doubted = Refusal::HostClockDoubted { last, now };
            return Err(offset.map_or(doubted, |offset| Refusal::Unavailable(offset.to_string())));
        }
        let size = state.head.frontier.size();
        let named = evaluated_at.filter(|named| (1..=size).contains(named));
        let wrong = || {
            let detail =
                format!("give the `as_of_size` from a dry run of the same request; the ledger has {size} entries");
            Refusal::invalid("as_of_size", detail)
        };
        named.map(Some).ok_or_else(wrong)
    }

    /// Runs in the caller's turn. The selection of a query must be unchanged since the dry run.
    async fn choose_events(
        &self,
        caller: &Caller,
        state: Arc<TimelineState>,
        (which, evaluated_at): (&WhichEvents, Option<u64>),
    ) -> Result<Selected, Refusal> {
        let (engine, which, size) = (self.clone(), which.clone(), state.head.frontier.size());
        let choosing = async move {
            let Some(at) = evaluated_at else { return engine.select(&state, &which, size, size).await };
            let now = engine.select(&state, &which, at, size).await?;
            let is_other = matches!(which, WhichEvents::Found { .. })
                && engine.select(&state, &which, at, at).await?.all != now.all;
            if is_other { Err(Refusal::SelectionChanged { evaluated_at: at }) } else { Ok(now) }
        };
        self.long_work().in_turn(caller, choosing).await
    }

    /// Selects the timeline's own events, not those recorded on a timeline that it was forked from.
    async fn select(
        &self,
        state: &TimelineState,
        which: &WhichEvents,
        evaluated_at: u64,
        size: u64,
    ) -> Result<Selected, Refusal> {
        let own: Arc<[Layer]> = [Layer { timeline: state.head.key, as_of: size, overrides: false }].into();
        match which {
            WhichEvents::Ids(event_ids) => self.select_named(state, event_ids, size).await,
            WhichEvents::Found { location, range, .. } => {
                let understood = self.understand(&own, location.clone()).await?;
                let (patterns, range, items_max) = (understood.patterns(), *range, PAGE_ITEMS_MAX);
                let (after, newest_first, overlapping) = (None, false, false);
                let query = EventQuery { layers: own, patterns, range, overlapping, after, items_max, newest_first };
                self.select_found(state, query).await
            }
            WhichEvents::Unchanged { span, .. } => self.select_old(state, *span, evaluated_at).await,
        }
    }

    async fn select_named(&self, state: &TimelineState, ids: &[EventId], size: u64) -> Result<Selected, Refusal> {
        let ids: BTreeSet<EventId> = ids.iter().cloned().collect();
        let known = self.store().event_versions(state.layers(size), ids.iter().cloned().collect()).await?;
        if let Some(missing) = ids.iter().find(|id| known.get(*id).is_none_or(|event| event.versions.is_empty())) {
            return Err(Refusal::NotFound { what: "event", id: missing.to_string() });
        }
        if let Some(inherited) = self.inherited(state, ids.iter().cloned().collect()).await?.first() {
            return Err(not_own(inherited));
        }
        let mut selected = Selected::default();
        for (number, event_id) in (0..).zip(ids) {
            selected.push(event_id, ChosenWhy::Named, number)?;
        }
        Ok(selected)
    }

    async fn select_found(&self, state: &TimelineState, mut query: EventQuery) -> Result<Selected, Refusal> {
        let mut selected = Selected::default();
        loop {
            let found = self.store().events(query.clone()).await?;
            let is_last = found.len() < query.items_max;
            query.after = found.last().map(|last| (last.time, last.layer, last.position));
            let events: Option<Vec<(EventId, u64)>> =
                found.iter().map(|event| Some((id_in(&event.content)?, event.position))).collect();
            let events = events.ok_or_else(|| Refusal::Damaged("an event has no id".to_owned()))?;
            let inherited = self.inherited(state, events.iter().map(|(id, _)| id.clone()).collect()).await?;
            for (event_id, position) in events {
                if !inherited.contains(&event_id) {
                    selected.push(event_id, ChosenWhy::Found(position), position)?;
                }
            }
            if is_last {
                return Ok(selected);
            }
        }
    }

    async fn select_old(&self, state: &TimelineState, span: Span, evaluated_at: u64) -> Result<Selected, Refusal> {
        let key = state.head.key;
        let last = self.store().entry(key, evaluated_at.saturating_sub(1)).await?;
        let last = last.as_ref().and_then(|entry| LeafRecord::decode(&entry.leaf).ok());
        let last = last.and_then(|record| parse_timestamp::<Wall>(&record.recorded_at).ok());
        let last = last.ok_or_else(|| Refusal::Damaged(format!("entry {} cannot be read", evaluated_at - 1)))?;
        let before = last.checked_sub(span).unwrap_or(Instant::MIN);
        let before = self.store().first_recorded_at(key, before, evaluated_at).await?;
        let (mut selected, mut after) = (Selected::default(), None);
        loop {
            let found = self.store().events_unchanged_since(key, before, after, PAGE_ITEMS_MAX).await?;
            let is_last = found.len() < PAGE_ITEMS_MAX;
            after = found.last().cloned();
            let inherited = self.inherited(state, found.clone()).await?;
            for event_id in found.into_iter().filter(|id| !inherited.contains(id)) {
                let number = selected.all.len() as u64;
                selected.push(event_id, ChosenWhy::Old(before), number)?;
            }
            if is_last {
                return Ok(selected);
            }
        }
    }

    async fn inherited(&self, state: &TimelineState, event_ids: Vec<EventId>) -> Result<Vec<EventId>, Refusal> {
        if state.ancestors.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.store().event_versions(Arc::clone(&state.ancestors), event_ids).await?;
        Ok(known.into_iter().filter(|(_, event)| !event.versions.is_empty()).map(|(id, _)| id).collect())
    }

    fn forks_seen(&self, caller: &Caller, state: &TimelineState) -> Vec<ForkSeen> {
        let forks = self.states().into_iter().filter(|other| other.is_fork_of(state.head.key));
        let seen = |fork: Arc<TimelineState>| {
            let timeline_id = fork.head.id.clone();
            ForkSeen { may_erase: self.decide(caller, &timeline_id, Demand::Erase).is_ok(), timeline_id }
        };
        let mut forks: Vec<ForkSeen> = forks.map(seen).collect();
        forks.sort_by(|one, other| one.timeline_id.cmp(&other.timeline_id));
        forks
    }
}

fn check_has_events(timeline: &TimelineId) -> Result<(), Refusal> {
    let detail = "`system` holds data about the service itself, and has no events";
    if timeline.is_system() { Err(Refusal::invalid("timeline_id", detail)) } else { Ok(()) }
}

impl WhichEvents {
    const fn by(&self) -> ErasedBy {
        match self {
            Self::Ids(_) => ErasedBy::Ids,
            Self::Found { .. } => ErasedBy::Query,
            Self::Unchanged { .. } => ErasedBy::Age,
        }
    }
}

fn reading(which: &WhichEvents, dry_run: bool) -> Reading {
    let by = which.by().as_str();
    let (location, time_range, older_than) = match which {
        WhichEvents::Ids(_) => (None, None, None),
        WhichEvents::Found { location_text, range, .. } => (Some(location_text.clone()), Some(range.to_string()), None),
        WhichEvents::Unchanged { text, .. } => (None, None, Some(text.clone())),
    };
    Reading::EraseEvents { by, dry_run, location, older_than, time_range }
}

impl Selected {
    fn push(&mut self, event_id: EventId, why: ChosenWhy, number: u64) -> Result<(), Refusal> {
        if self.all.len() == ERASE_EVENTS_SELECTED_MAX {
            let detail =
                format!("it selects more than {ERASE_EVENTS_SELECTED_MAX} events; erase them in several requests");
            return Err(Refusal::invalid("time_range", detail));
        }
        self.all.push(number);
        if self.first.len() < ERASE_EVENTS_BATCH_MAX {
            self.first.push(ChosenEvent { event_id, why });
        }
        Ok(())
    }
}

fn id_in(content: &str) -> Option<EventId> {
    #[derive(Deserialize)]
    struct Named {
        event_id: String,
    }
    EventId::new(&read::<Named>(content.as_bytes())?.event_id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_events_are_limited() {
        let (mut selected, id) = (Selected::default(), EventId::new("e").unwrap());
        for number in 0..ERASE_EVENTS_SELECTED_MAX as u64 {
            selected.push(id.clone(), ChosenWhy::Named, number).unwrap();
        }
        selected.push(id, ChosenWhy::Named, 0).unwrap_err();
        assert_eq!((selected.first.len(), selected.all.len()), (ERASE_EVENTS_BATCH_MAX, ERASE_EVENTS_SELECTED_MAX));
    }
}
