//! Erasing events by their ids, by a query or by their age, in batches; and erasing single reads.
//!
//! What a query or an age selects is looked at first, by a dry run. The size of the ledger that it names is what the real
//! run goes by: what is selected otherwise since is not erased by surprise.

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

use crate::action::Action;
use crate::asked::Answer;
use crate::caller::Caller;
use crate::changes::{EventsGone, LedgerPosition, ReadsGone};
use crate::deciding::alone;
use crate::deciding::erasing::{ChosenEvent, ChosenWhy, EraseEvents, EraseReads, WhichReads, not_own};
use crate::deciding::repeated::Again;
use crate::engine::Engine;
use crate::head::{Layer, TimelineState};
use crate::host_clock::HostClockDoubt;
use crate::idempotency::Idempotency;
use crate::json::read;
use crate::one_fact::OneFact as _;
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::store::EventQuery;

/// Most events that are erased at once, counted on each timeline that may hold them: the timeline itself and its forks.
pub const ERASE_EVENTS_BATCH_MAX: usize = 1_000;
/// Most events that a query or an age may select to be erased.
pub const ERASE_EVENTS_SELECTED_MAX: usize = 100_000;
/// Ids of events that a dry run answers.
const FORESEEN_IDS_MAX: usize = 100;

/// What is to be erased.
#[derive(Clone, Debug)]
pub struct EventErasure {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// Which events.
    pub which: WhichEvents,
    /// Whether the timelines that go on from this one lose them too.
    pub include_forks: bool,
    /// The size of the ledger that a dry run has named.
    pub evaluated_at: Option<u64>,
}

/// Which events are to be erased.
#[derive(Clone, Debug)]
pub enum WhichEvents {
    /// Those of these ids.
    Ids(Vec<EventId>),
    /// Those that stand at a place, in a range of virtual time.
    Found {
        /// Where, as the caller wrote it.
        location_text: String,
        /// Where, as its form says.
        location: LocationQuery,
        /// When, both ends included.
        range: TimeRange<Virtual>,
    },
    /// Those that nothing changed for so long, in host time, before the last entry that was looked at.
    Unchanged {
        /// How long, as the caller wrote it.
        text: String,
        /// How long.
        span: Span,
    },
}

/// What a dry run has found.
#[derive(Clone, Debug)]
pub struct ForeseenErasure {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// How many events would be erased.
    pub events_count: u64,
    /// The first of them.
    pub event_ids: Vec<EventId>,
    /// The size of the ledger that this is of.
    pub evaluated_at: u64,
    /// The timelines that go on from this one.
    pub forks: Vec<ForkSeen>,
}

/// A timeline that goes on from the one that events are erased on.
#[derive(Clone, Debug)]
pub struct ForkSeen {
    /// Which.
    pub timeline_id: TimelineId,
    /// Whether the caller may erase there.
    pub may_erase: bool,
}

/// What was erased, and what is left.
#[derive(Clone, Debug)]
pub struct ErasedEvents {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// How many events.
    pub events_count: u64,
    /// How many payloads were erased, including those of forks.
    pub payloads_count: u64,
    /// How many forks lost something of their own.
    pub forks_count: u64,
    /// How many answers that were kept for repeated requests are forgotten.
    pub outcomes_count: u64,
    /// How many events that were chosen are left: ask again.
    pub left: u64,
    /// Where the erasure stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// Which reads are to be erased.
#[derive(Clone, Debug)]
pub struct ReadErasure {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// The position of their entry.
    pub position: u64,
    /// Which of those that it tells of.
    pub which: WhichReads,
}

/// Reads that were erased.
#[derive(Clone, Debug)]
pub struct ErasedReads {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The position of their entry.
    pub position: u64,
    /// How many.
    pub erased: u64,
    /// How many of that entry are left.
    pub left: u64,
    /// Where the erasure stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// What is selected at a size of the ledger.
#[derive(Default)]
struct Selected {
    /// The first ones.
    first: Vec<ChosenEvent>,
    /// Where each of them was made, or a number that stands for it.
    all: Vec<u64>,
}

impl Engine {
    /// Says which events would be erased, and erases none.
    ///
    /// # Errors
    /// The caller may not erase there, too many are selected, one that is named is not there, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn foresee_erasure(&self, caller: &Caller, request: EventErasure) -> Result<ForeseenErasure, Refusal> {
        let timeline = caller.timeline(request.timeline);
        if self.decide(caller, &timeline, Demand::Erase).is_ok() {
            check_has_events(&timeline)?;
        }
        let reading = reading(&request.which, true);
        let look = self.look(caller, timeline.clone(), Demand::Erase, reading).await?;
        let (state, which) = (Arc::clone(&look.state), request.which);
        // The read itself is the last entry that counts: it tells what time it is.
        let evaluated_at = state.head.frontier.size().min(look.size() + 1);
        let engine = self.clone();
        let looking = async move { engine.select(&state, &which, evaluated_at, evaluated_at).await };
        let selected = self.long_work().in_turn(caller, looking).await?;
        let event_ids = selected.first.into_iter().take(FORESEEN_IDS_MAX).map(|chosen| chosen.event_id).collect();
        let forks = self.forks_seen(caller, &look.state);
        Ok(ForeseenErasure {
            timeline_id: timeline,
            events_count: selected.all.len() as u64,
            event_ids,
            evaluated_at,
            forks,
        })
    }

    /// Erases events with every version of them, as many as one batch holds. What the ledger says of them stays, and so
    /// does every proof.
    ///
    /// # Errors
    /// The caller may not erase there, or on a fork; what the query selects has changed; or the ledger cannot be written.
    #[boxed]
    pub async fn erase_events(
        &self,
        caller: &Caller,
        request: EventErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<ErasedEvents, Refusal> {
        let timeline = caller.timeline(request.timeline.clone());
        let again = || Again::<EventsGone>::of(Action::EraseEvents, alone(Demand::Erase));
        let answer = match self.answered_before(caller, &timeline, again(), idempotency).await? {
            Some(answer) => answer,
            None => match self.erase_batch(caller, &timeline, request, idempotency).await {
                Ok(answer) => answer,
                // The same request may have been carried out meanwhile, which is why the selection has changed.
                Err(refusal) => self.answered_before(caller, &timeline, again(), idempotency).await?.ok_or(refusal)?,
            },
        };
        self.forget_in_forks(&answer.timeline_id);
        let Answer { timeline_id, change, ledger, replayed } = answer;
        let EventsGone { events_count, payloads_count, forks_count, outcomes_count, left } = change;
        Ok(ErasedEvents {
            timeline_id,
            events_count,
            payloads_count,
            forks_count,
            outcomes_count,
            left,
            ledger,
            replayed,
        })
    }

    async fn erase_batch(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        request: EventErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<EventsGone>, Refusal> {
        let EventErasure { which, include_forks, evaluated_at, .. } = request;
        let state = self.admit_to_newest(caller, timeline, Demand::Erase, Action::EraseEvents.word()).await?;
        check_has_events(timeline)?;
        let by = which.by();
        let evaluated_at = self.check_evaluated_at(&state, by, evaluated_at).await?;
        let forks = self.keys_where(|other| is_fork(other, &state)).len();
        let batch_max = (ERASE_EVENTS_BATCH_MAX / (1 + forks)).max(1);
        if let WhichEvents::Ids(event_ids) = &which
            && event_ids.len() > batch_max
        {
            let detail = format!("with {forks} forks, give at most {batch_max} ids at once, not {}", event_ids.len());
            return Err(Refusal::invalid("event_ids", detail));
        }
        let mut selected = self.choose_events(caller, Arc::clone(&state), (&which, evaluated_at)).await?;
        if selected.first.is_empty() {
            // Nothing else tells that it was looked for, and that nothing was found is answered as of that entry.
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
    /// There is no such entry, or none of these reads is there any more; the caller may not, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn erase_reads(
        &self,
        caller: &Caller,
        request: ReadErasure,
        idempotency: Option<Idempotency>,
    ) -> Result<ErasedReads, Refusal> {
        let ReadErasure { timeline, position, which } = request;
        let timeline_id = caller.timeline(timeline);
        let answer = self.submit(caller, timeline_id.clone(), EraseReads { position, which }, idempotency).await?;
        let Answer { change: ReadsGone { position, erased, left }, ledger, replayed, .. } = answer;
        Ok(ErasedReads { timeline_id, position, erased, left, ledger, replayed })
    }

    /// Checks the size at which events were chosen, which whoever erases by a query or an age must name.
    async fn check_evaluated_at(
        &self,
        state: &TimelineState,
        by: ErasedBy,
        evaluated_at: Option<u64>,
    ) -> Result<Option<u64>, Refusal> {
        if by == ErasedBy::Ids {
            return match evaluated_at {
                None => Ok(None),
                Some(_) => Err(Refusal::invalid("evaluated_at", "`event_ids` does not need it; leave it out")),
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
                format!("give the `evaluated_at` from a dry run of the same request; the ledger has {size} entries");
            Refusal::invalid("evaluated_at", detail)
        };
        named.map(Some).ok_or_else(wrong)
    }

    /// Chooses what is erased next, in the caller's turn. What a query selects must be what it selected then.
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

    /// Returns which events are selected on the timeline's own ledger of a size. What was recorded on a timeline that it
    /// was forked from is not its own.
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

    /// Returns those of some events that were recorded on a timeline that this one was forked from.
    async fn inherited(&self, state: &TimelineState, event_ids: Vec<EventId>) -> Result<Vec<EventId>, Refusal> {
        if state.ancestors.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.store().event_versions(Arc::clone(&state.ancestors), event_ids).await?;
        Ok(known.into_iter().filter(|(_, event)| !event.versions.is_empty()).map(|(id, _)| id).collect())
    }

    fn forks_seen(&self, caller: &Caller, state: &TimelineState) -> Vec<ForkSeen> {
        let forks = self.states().into_iter().filter(|other| is_fork(other, state));
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

fn is_fork(of: &TimelineState, state: &TimelineState) -> bool {
    of.ancestors.iter().any(|layer| layer.timeline == state.head.key)
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

/// Returns how it is told that events were looked for and none were erased.
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

/// Returns the id of an event as it is kept.
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
    fn so_many_events_are_selected_and_no_more() {
        let (mut selected, id) = (Selected::default(), EventId::new("e").unwrap());
        for number in 0..ERASE_EVENTS_SELECTED_MAX as u64 {
            selected.push(id.clone(), ChosenWhy::Named, number).unwrap();
        }
        selected.push(id, ChosenWhy::Named, 0).unwrap_err();
        assert_eq!((selected.first.len(), selected.all.len()), (ERASE_EVENTS_BATCH_MAX, ERASE_EVENTS_SELECTED_MAX));
    }
}
