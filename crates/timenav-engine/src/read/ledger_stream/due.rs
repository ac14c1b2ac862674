//! Ranges of virtual time with events that a clock has passed, for playing history back. They are reported whether the
//! clock ran, was moved, or is in an advance.
//!
//! The state of a stream is the instant up to which ranges were reported, and the time of the next event.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use timenav_core::clock::Clock;
use timenav_core::ledger::LeafRecord;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, Span, TimeRange, Virtual, Wall};

use super::advances::record_host;
use super::{LedgerMessage, LedgerStream, LedgerUpdate, Seen, changed_clock};
use crate::engine::Engine;
use crate::ledger::action::{Action, Topic};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::lookups::OneFact as _;
use crate::ports::store::{EventQuery, Pattern};
use crate::requests::refusal::Refusal;

/// Minimum host time between two ranges while a clock runs, in microseconds. The faster it runs, the longer the ranges.
const PACE_MICROS: i64 = 100_000;

/// Waits for a span of host time. The caller provides it, because the engine has no timer of its own.
pub type Waiting = Arc<dyn Fn(Span) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

pub(super) struct DueProgress {
    /// The clock as of the entries that were read.
    clock: Clock,
    /// The instant up to which passed events were reported.
    passed: Instant<Virtual>,
    next: Next,
    /// When a range was last reported while the clock ran.
    reported_at: Option<Instant<Wall>>,
    /// Whether the stream has waited since the last entry.
    waited: bool,
}

/// The time of the first event after the reported range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Unknown,
    At(Instant<Virtual>),
    Never,
}

impl DueProgress {
    pub(super) fn now(state: &TimelineState, host: Instant<Wall>) -> Self {
        Self::since(state.head.clock.clone(), state.head.clock.now(host))
    }

    const fn since(clock: Clock, passed: Instant<Virtual>) -> Self {
        Self { clock, passed, next: Next::Unknown, reported_at: None, waited: true }
    }
}

impl Engine {
    /// Returns the progress of a timeline's clock: since the last message, or from now.
    pub(super) async fn due_progress(&self, state: &TimelineState, seen: Option<Seen>) -> Result<DueProgress, Refusal> {
        let then = match seen {
            Some(seen) => self.clock_then(state.head.key, seen.position).await?.map(|then| (then, seen.passed)),
            None => None,
        };
        Ok(match then {
            Some(((clock, host), passed)) => {
                let displayed = clock.now(host);
                DueProgress::since(clock, passed.unwrap_or(displayed))
            }
            None => DueProgress::now(state, self.host(state)),
        })
    }

    async fn clock_then(&self, key: TimelineKey, position: u64) -> Result<Option<(Clock, Instant<Wall>)>, Refusal> {
        let Some(entry) = self.store().entry(key, position).await? else { return Ok(None) };
        let host = LeafRecord::decode(&entry.leaf).ok().as_ref().and_then(record_host);
        let clock =
            self.store().entry(key, entry.clock_entry).await?.and_then(|clock_row| changed_clock(&clock_row.payload));
        Ok(clock.zip(host))
    }
}

impl LedgerStream {
    /// Call this before the message about the entry's subject. Returns the ranges passed by then.
    pub(super) async fn pass_entry(&mut self, position: u64, leaf: &[u8]) -> Result<Vec<LedgerMessage>, Refusal> {
        if self.due_progress.is_none() {
            return Ok(Vec::new());
        }
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let Some(host) = record_host(&record) else { return Ok(Vec::new()) };
        let mut messages = Vec::new();
        // Events recorded from here on did not exist when the clock passed this range.
        if self.due_progress.as_mut().is_some_and(|due_progress| std::mem::take(&mut due_progress.waited)) {
            messages.extend(self.pass_by(host).await?);
        }
        let action = Action::of(&record);
        let is_of_clock = match action {
            Some(Action::FireTimers) => self.newest_step(position).is_some(),
            Some(action) => action.topic() == Some(Topic::Clock),
            None => true,
        };
        if is_of_clock {
            let entry = self.engine.store().entry(self.key, position).await?;
            let entry = entry.filter(|entry| entry.clock_entry == position);
            if let Some(clock) = entry.and_then(|entry| changed_clock(&entry.payload)) {
                messages.extend(self.pass_change(clock, host).await?);
            }
        }
        if action.is_some_and(|action| action.changes_events() || action.erases_events())
            && let Some(due_progress) = &mut self.due_progress
        {
            due_progress.next = Next::Unknown;
        }
        Ok(messages)
    }

    /// Returns the range passed by now, once all entries were read.
    pub(super) async fn pass_now(&mut self) -> Result<Option<LedgerMessage>, Refusal> {
        let Some(due_progress) = &mut self.due_progress else { return Ok(None) };
        due_progress.waited = true;
        let now = self.engine.now();
        if due_progress.reported_at.is_some_and(|messages| now.since(messages).micros() < PACE_MICROS) {
            return Ok(None);
        }
        let messages = self.pass_by(now).await?;
        if let Some(due_progress) = self.due_progress.as_mut().filter(|_| messages.is_some()) {
            due_progress.reported_at = Some(now);
        }
        Ok(messages)
    }

    /// Returns the host time until the next event is due, if no entry comes first.
    pub(super) async fn next_due(&mut self) -> Result<Option<Span>, Refusal> {
        let Next::At(next) = self.next_event().await? else { return Ok(None) };
        let Some(due_progress) = &self.due_progress else { return Ok(None) };
        let now = self.engine.now();
        let Some(at) = due_progress.clock.host_when(next).filter(|_| due_progress.clock.is_running()) else {
            return Ok(None);
        };
        let paced =
            due_progress.reported_at.and_then(|reported_at| reported_at.checked_add(Span::from_micros(PACE_MICROS)));
        Ok(Some(paced.map_or(at, |paced| paced.max(at)).since(now)))
    }

    async fn pass_by(&mut self, host: Instant<Wall>) -> Result<Option<LedgerMessage>, Refusal> {
        let Some(due_progress) = &self.due_progress else { return Ok(None) };
        self.pass_to(due_progress.clock.now(host)).await
    }

    /// Switches to a changed clock. A clock that moved back passes the same events again.
    async fn pass_change(&mut self, clock: Clock, host: Instant<Wall>) -> Result<Option<LedgerMessage>, Refusal> {
        let Some(due_progress) = &self.due_progress else { return Ok(None) };
        let (here, there) = (due_progress.clock.now(host), clock.now(host));
        let messages = self.pass_to(here.max(there)).await?;
        if let Some(due_progress) = &mut self.due_progress {
            if there < here {
                (due_progress.passed, due_progress.next) = (there, Next::Unknown);
            }
            due_progress.clock = clock;
        }
        Ok(messages)
    }

    async fn pass_to(&mut self, to: Instant<Virtual>) -> Result<Option<LedgerMessage>, Refusal> {
        if self.due_progress.as_ref().is_none_or(|due_progress| to <= due_progress.passed) {
            return Ok(None);
        }
        let next = self.next_event().await?;
        let Some(due_progress) = &mut self.due_progress else { return Ok(None) };
        let from = due_progress.passed.checked_add(Span::from_micros(1)).unwrap_or(to);
        due_progress.passed = to;
        if !matches!(next, Next::At(next) if next <= to) {
            return Ok(None);
        }
        due_progress.next = Next::Unknown;
        // The range belongs to the entries read so far; anything after it is reported with the next entry.
        let position = self.next.saturating_sub(1);
        Ok(Some(LedgerMessage { passed: Some(to), ..LedgerMessage::new(position, LedgerUpdate::Due { from, to }) }))
    }

    /// Returns the time of the first event after the reported range, as of the entries that were read.
    async fn next_event(&mut self) -> Result<Next, Refusal> {
        let Some(due_progress) = &self.due_progress else { return Ok(Next::Never) };
        if due_progress.next != Next::Unknown {
            return Ok(due_progress.next);
        }
        let first = due_progress.passed.checked_add(Span::from_micros(1));
        let (Some(first), Some(state)) = (first, self.engine.state(&self.timeline_id)) else { return Ok(Next::Never) };
        let query = EventQuery {
            layers: state.layers(self.next),
            patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
            range: TimeRange::new(Some(first), None).map_err(|error| Refusal::Damaged(error.to_string()))?,
            after: None,
            items_max: 1,
            newest_first: false,
            overlapping: false,
        };
        let found = self.engine.store().events(query).await?;
        let next = found.first().map_or(Next::Never, |event| Next::At(event.time));
        if let Some(due_progress) = &mut self.due_progress {
            due_progress.next = next;
        }
        Ok(next)
    }
}
