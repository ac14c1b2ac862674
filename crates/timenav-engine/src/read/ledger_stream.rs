//! Streams of a growing ledger. Messages are read from the store, so that none is missed.

use std::collections::VecDeque;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::clock::Clock;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::paradox::Paradox;
use timenav_core::time::{Instant, Virtual};

use crate::clock::receipts::Receipt;
use crate::engine::Engine;
use crate::events::event_filter::EventFilter;
use crate::ledger::action::{Action, Topic};
use crate::ledger::head::TimelineKey;
use crate::ledger::payload::{ClockPayload, Corrected, EventsWatched, Reading};
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::EventVersion;
use crate::ports::timer_rows::FiringRow;
use crate::read::live::Growth;
use crate::requests::caller::Caller;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;

mod advances;
mod continuity;
mod due;
mod firings;
mod paradoxes;

pub use continuity::EntryMark;
use continuity::begin;
use due::DueProgress;
pub use due::Waiting;
pub use firings::{FiringUpdate, WatchFirings};
use firings::{Observing, OfQueue};
use paradoxes::Watch;
pub use paradoxes::WatchedParadoxes;

/// Leaves read at a time. A stream buffers no more than these and one payload.
const BLOCK_LEAVES: usize = 256;
/// After this many entries without a message, the listener is sent its position.
const SILENT_ENTRIES_MAX: u64 = 1_000;

/// A message to a listener.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerMessage {
    /// Position of the entry it is about, or the newest position if it is not about an entry.
    pub position: u64,
    /// The number of the message among several about one entry, from 0; `None` for the last or only one.
    pub part: Option<u32>,
    /// For a message about passed events: the instant up to which they are reported.
    pub passed: Option<Instant<Virtual>>,
    pub entry: Option<EntryMark>,
    pub update: LedgerUpdate,
}

impl LedgerMessage {
    const fn new(position: u64, update: LedgerUpdate) -> Self {
        Self { position, part: None, passed: None, entry: None, update }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub position: u64,
    /// The part of it that was sent last; `None` if all parts were.
    pub part: Option<u32>,
    /// If the last message was about passed events: the instant up to which they were reported.
    pub passed: Option<Instant<Virtual>>,
    pub entry: Option<EntryMark>,
}

#[derive(Clone, Debug)]
pub struct WatchLedger {
    pub timeline: Option<TimelineId>,
    pub topics: Vec<Topic>,
    /// A filter for paradoxes, if these are among the topics.
    pub paradoxes: WatchedParadoxes,
    /// A filter for events, if these or interventions are among the topics.
    pub filter: Arc<EventFilter>,
    /// Where to resume. `None` to start now.
    pub seen: Option<Seen>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LedgerUpdate {
    /// No content: the listener is up to date to this position.
    Mark,
    /// Entries were skipped, so the listener's state is outdated.
    Reset,
    /// Changes of firings that are not in a ledger may have been missed. Their outcomes are sent regardless.
    Gap,
    /// The state of the clock.
    Clock(Clock),
    Event {
        event_id: String,
        /// Whether it was recorded before.
        is_correction: bool,
        /// The event as JSON; `None` if it has been erased since.
        content: Option<String>,
    },
    Intervention {
        event_id: String,
        /// The intervention as JSON; `None` if it has been erased since.
        content: Option<String>,
    },
    /// An advance has begun, has reached another instant, or has ended. Its firings are not included.
    Advance(Box<Receipt>),
    /// The clock has passed events in this range, both ends inclusive.
    Due { from: Instant<Virtual>, to: Instant<Virtual> },
    /// A firing has changed.
    Firing(Box<(FiringRow, FiringUpdate)>),
    Paradox {
        /// Whether it is resolved and has not recurred.
        is_resolved: bool,
        /// A resolved paradox is sent as it was.
        paradox: Box<Paradox>,
    },
}

/// Stores a position and does not buffer messages: a slow reader lags behind the ledger.
pub struct LedgerStream {
    engine: Engine,
    caller: Caller,
    timeline_id: TimelineId,
    key: TimelineKey,
    topics: Vec<Topic>,
    filter: Arc<EventFilter>,
    grown: Growth,
    /// The position of the first of `leaves`.
    next: u64,
    read_last: Option<(u64, EntryMark)>,
    leaves: VecDeque<Vec<u8>>,
    first: VecDeque<LedgerMessage>,
    /// How many messages about the next entry were sent already.
    sent_parts: usize,
    silent: u64,
    paradoxes: Option<Watch>,
    firings: Option<Observing>,
    due_progress: Option<DueProgress>,
    waiting: Option<Waiting>,
}

impl Engine {
    /// Watches a timeline, after the last message that was received or from now on.
    ///
    /// # Errors
    /// The caller is not authorized, the ledger cannot be written, or paradoxes are requested and there are too many
    /// events to follow them.
    #[boxed]
    pub async fn watch_ledger(&self, caller: &Caller, request: WatchLedger) -> Result<LedgerStream, Refusal> {
        self.open_ledger(caller, request, None).await
    }

    /// Like [`Engine::watch_ledger`], and optionally observes firings of one queue or of all.
    async fn open_ledger(
        &self,
        caller: &Caller,
        request: WatchLedger,
        firings: Option<OfQueue>,
    ) -> Result<LedgerStream, Refusal> {
        let WatchLedger { timeline, topics, paradoxes, filter, seen } = request;
        let names = topics.iter().map(|topic| topic.as_str().to_owned()).collect();
        let mut watched = EventsWatched { topics: names, ..EventsWatched::default() };
        watched.filtered_by(filter.texts());
        if let Some(OfQueue(queue)) = &firings {
            watched.topics.push("firings".to_owned());
            watched.queue = queue.as_ref().map(ToString::to_string);
        }
        let look = self.look(caller, timeline, Demand::Look, Reading::Stream(watched)).await?;
        let timeline_id = look.timeline();
        let paradoxes =
            if topics.contains(&Topic::Paradoxes) { Some(self.watch_paradoxes(&look, paradoxes).await?) } else { None };
        let firings = firings.map(|OfQueue(queue)| Observing::begin(self, &timeline_id, queue));
        let grown = self.growth_of(&timeline_id);
        let mut stream = LedgerStream {
            engine: self.clone(),
            caller: caller.clone(),
            timeline_id,
            key: look.state.head.key,
            topics,
            filter,
            grown,
            next: 0,
            read_last: None,
            leaves: VecDeque::new(),
            first: VecDeque::new(),
            sent_parts: 0,
            silent: 0,
            paradoxes,
            firings,
            due_progress: None,
            waiting: None,
        };
        match (begin(seen, stream.size(), self.options().stream_entries_max), seen) {
            (Some((next, sent_parts)), Some(seen)) if stream.continues(seen).await? => {
                (stream.next, stream.sent_parts) = (next, sent_parts);
            }
            _ => stream.start_over(seen.map(|_| LedgerUpdate::Reset)),
        }
        if stream.topics.contains(&Topic::Due) {
            let seen = seen.filter(|_| stream.first.is_empty());
            stream.due_progress = Some(self.due_progress(&look.state, seen).await?);
        }
        stream.prepare().await?;
        Ok(stream)
    }
}

impl LedgerStream {
    #[must_use]
    pub const fn timeline_id(&self) -> &TimelineId {
        &self.timeline_id
    }

    /// Waits for the next message. `None` if the caller is no longer authorized, or if the store cannot be read. A
    /// listener that reconnects resumes where this ended.
    #[boxed]
    pub async fn next(&mut self) -> Option<LedgerMessage> {
        let message = match self.wait().await {
            Ok(message) => self.marked(message?).await,
            Err(refusal) => Err(refusal),
        };
        let message = match message {
            Ok(message) => message,
            Err(refusal @ Refusal::LimitReached { .. }) => {
                tracing::warn!(timeline_id = %self.timeline_id, %refusal, "a ledger stream ended");
                return None;
            }
            Err(refusal) => {
                tracing::error!(timeline_id = %self.timeline_id, %refusal, "a ledger stream ended");
                return None;
            }
        };
        self.silent = 0;
        self.engine.may_watch(&self.caller, &self.timeline_id).then_some(message)
    }

    async fn wait(&mut self) -> Result<Option<LedgerMessage>, Refusal> {
        loop {
            if let Some(message) = self.first.pop_front() {
                return Ok(Some(message));
            }
            let attempts = self.attempts().await?;
            if !attempts.is_empty() {
                let position = self.next.saturating_sub(1);
                self.first = attempts.into_iter().map(|update| LedgerMessage::new(position, update)).collect();
                continue;
            }
            if let Some(leaf) = self.leaves.pop_front() {
                let position = self.next;
                self.note_read(position, &leaf);
                let due = self.pass_entry(position, &leaf).await?;
                self.next += 1;
                self.silent += 1;
                let Some(updates) = self.updates_of(position, &leaf).await? else {
                    self.start_over(Some(LedgerUpdate::Reset));
                    continue;
                };
                self.first =
                    due.into_iter().chain(parts(position, updates, std::mem::take(&mut self.sent_parts))).collect();
                if self.first.is_empty() && self.silent >= SILENT_ENTRIES_MAX {
                    return Ok(Some(LedgerMessage::new(position, LedgerUpdate::Mark)));
                }
                continue;
            }
            let size = self.grown.size();
            if self.next >= size {
                // Check before waiting too: the last growth may have been received before the end.
                if self.is_over() {
                    return Ok(None);
                }
                if let Some(message) = self.pass_now().await? {
                    return Ok(Some(message));
                }
                if !self.more().await? || self.is_over() {
                    return Ok(None);
                }
            } else if size - self.next > self.engine.options().stream_entries_max {
                self.start_over(Some(LedgerUpdate::Reset));
            } else {
                let items = usize::try_from(size - self.next).unwrap_or(BLOCK_LEAVES).min(BLOCK_LEAVES);
                self.leaves = self.engine.store().leaves(self.key, self.next, items).await?.into();
                if self.leaves.is_empty() {
                    return Err(Refusal::Damaged(format!("entry {} is missing", self.next)));
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.engine.has_ended(&self.timeline_id)
    }

    /// How to wait for a clock that passes events while nothing is written. Without it, none are reported.
    #[must_use]
    pub fn waiting_by(self, waiting: Waiting) -> Self {
        Self { waiting: Some(waiting), ..self }
    }

    /// Waits until there may be a new message. `false` if the service shuts down.
    async fn more(&mut self) -> Result<bool, Refusal> {
        if let Some(observing) = &self.firings {
            return Ok(tokio::select! {
                goes_on = self.grown.changed() => goes_on,
                () = observing.notified() => true,
            });
        }
        let due = if self.due_progress.is_some() { self.next_due().await? } else { None };
        let Some((waiting, due)) = self.waiting.clone().zip(due) else { return Ok(self.grown.changed().await) };
        Ok(tokio::select! {
            goes_on = self.grown.changed() => goes_on,
            () = waiting(due) => true,
        })
    }

    fn start_over(&mut self, first: Option<LedgerUpdate>) {
        let Some(state) = self.engine.state(&self.timeline_id) else { return };
        self.next = state.head.frontier.size();
        (self.sent_parts, self.silent) = (0, 0);
        if let Some(due_progress) = &mut self.due_progress {
            *due_progress = DueProgress::now(&state, self.engine.host(&state));
        }
        self.leaves.clear();
        let position = self.next.saturating_sub(1);
        let clock = self.topics.contains(&Topic::Clock).then(|| LedgerUpdate::Clock(state.head.clock.clone()));
        let all = first.into_iter().chain(clock);
        self.first = all.map(|update| LedgerMessage::new(position, update)).collect();
        if self.first.is_empty() {
            self.first.push_back(LedgerMessage::new(position, LedgerUpdate::Mark));
        }
    }

    /// Returns the messages about an entry: its subject, and paradoxes that it created and resolved. `None` if they are
    /// no longer known.
    async fn updates_of(&mut self, position: u64, leaf: &[u8]) -> Result<Option<Vec<LedgerUpdate>>, Refusal> {
        let mut updates: Vec<LedgerUpdate> = self.what_happened(position, leaf).await?.into_iter().collect();
        if self.topics.contains(&Topic::Advances) {
            updates.extend(self.advance_of(position, leaf).await?);
        }
        if self.firings.is_some() {
            updates.extend(self.firings_of(position, leaf).await?);
        }
        if self.paradoxes.is_some() {
            let Some(paradoxes) = self.paradoxes_of(position, leaf).await? else { return Ok(None) };
            updates.extend(paradoxes);
        }
        Ok(Some(updates))
    }

    async fn what_happened(&self, position: u64, leaf: &[u8]) -> Result<Option<LedgerUpdate>, Refusal> {
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        // The action may be unknown if another version wrote it. Its payload may still change the clock.
        let topic = match Action::of(&record) {
            Some(Action::FireTimers) => self.newest_step(position).map(|_| Topic::Clock),
            action => action.map_or(Some(Topic::Clock), Action::topic),
        };
        let Some(topic) = topic.filter(|topic| self.topics.contains(topic)) else { return Ok(None) };
        let entry = self.engine.store().entry(self.key, position).await?;
        let entry = entry.ok_or_else(|| Refusal::Damaged(format!("entry {position} is missing")))?;
        let content = (!entry.is_erased()).then(|| String::from_utf8(entry.payload.clone()).ok()).flatten();
        let event_id = record.subject.to_string();
        let is_match = match (topic, content.as_deref()) {
            (Topic::Clock | Topic::Paradoxes | Topic::Advances | Topic::Due, _) => true,
            // A new event has no previous version, or none that is current.
            (Topic::Events, Some(event)) if Action::of(&record) == Some(Action::RecordEvent) => {
                self.filter.passes(event)
            }
            (Topic::Events | Topic::Interventions, _) => self.is_match(position, &event_id).await?,
        };
        if !is_match {
            return Ok(None);
        }
        Ok(match topic {
            // On `system`, creating other timelines records their clocks.
            Topic::Clock if entry.clock_entry != position => None,
            Topic::Clock => changed_clock(&entry.payload).map(LedgerUpdate::Clock),
            Topic::Interventions => Some(LedgerUpdate::Intervention { event_id, content }),
            Topic::Events | Topic::Paradoxes | Topic::Advances | Topic::Due => {
                let is_correction = Action::of(&record) == Some(Action::CorrectEvent);
                let content = if is_correction { content.as_deref().and_then(corrected) } else { content };
                Some(LedgerUpdate::Event { event_id, is_correction, content })
            }
        })
    }

    /// Whether the event passes the filter before or after the entry. Unknown for an event erased since.
    async fn is_match(&self, position: u64, event_id: &str) -> Result<bool, Refusal> {
        if self.filter.is_empty() {
            return Ok(true);
        }
        let (Ok(event_id), Some(state)) = (EventId::new(event_id), self.engine.state(&self.timeline_id)) else {
            return Ok(false);
        };
        let layers = state.layers(position + 1);
        let own = layers.len() - 1;
        let known = self.engine.versions_of(&layers, &event_id).await?.unwrap_or_default();
        let is_now = |version: &&EventVersion| (version.layer, version.position) == (own, position);
        let versions = || known.versions.iter().filter(|version| !version.content.is_empty());
        let (now, before) = (versions().find(is_now), versions().rfind(|version| !is_now(version)));
        Ok([now, before].into_iter().flatten().any(|version| self.filter.passes(&version.content)))
    }

    fn size(&mut self) -> u64 {
        self.grown.size()
    }
}

fn parts(position: u64, updates: Vec<LedgerUpdate>, sent_parts: usize) -> VecDeque<LedgerMessage> {
    let count = updates.len();
    let numbered = updates.into_iter().enumerate().skip(sent_parts);
    let part = |number: usize| u32::try_from(number).ok().filter(|_| number + 1 < count);
    numbered
        .map(|(number, update)| LedgerMessage { part: part(number), ..LedgerMessage::new(position, update) })
        .collect()
}

/// Returns the clock in a payload, unless the payload says that nothing changed.
fn changed_clock(payload: &[u8]) -> Option<Clock> {
    read::<ClockPayload>(payload).filter(ClockPayload::is_change)?.clock()
}

fn corrected(payload: &str) -> Option<String> {
    read::<Corrected<'_>>(payload.as_bytes()).map(|corrected| corrected.event.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_parts_of_an_entry_are_not_repeated() {
        let messages = |updates: usize, sent_parts| {
            let messages = parts(7, vec![LedgerUpdate::Mark; updates], sent_parts);
            messages.into_iter().map(|messages| messages.part).collect::<Vec<_>>()
        };
        assert_eq!(messages(3, 0), [Some(0), Some(1), None]);
        assert_eq!(messages(3, 2), [None]);
        assert_eq!(messages(1, 0), [None]);
        assert_eq!(messages(1, 5), []);
        assert_eq!(messages(0, 0), []);
    }
}
