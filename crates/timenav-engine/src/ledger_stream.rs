//! A ledger as it grows, for those who listen: told from what is kept, so that nothing is missed.

use std::collections::VecDeque;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::clock::Clock;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::paradox::Paradox;
use timenav_core::time::{Instant, Virtual};

use crate::action::{Action, Topic};
use crate::caller::Caller;
use crate::engine::Engine;
use crate::event_filter::EventFilter;
use crate::head::TimelineKey;
use crate::json::read;
use crate::live::Growth;
use crate::one_fact::OneFact as _;
use crate::payload::{ClockTold, Corrected, EventsWatched, Reading};
use crate::receipts::Receipt;
use crate::refusal::Refusal;
use crate::rows::EventVersion;
use crate::timer_rows::FiringRow;

mod advances;
mod continuity;
mod due;
mod firings;
mod paradoxes;

pub use continuity::EntryMark;
use continuity::begin;
use due::Passing;
pub use due::Waiting;
pub use firings::{FiringNews, WatchFirings};
use firings::{Observing, OfQueue};
use paradoxes::Watch;
pub use paradoxes::WatchedParadoxes;

/// Leaves read at a time: all that a stream holds, beside one payload.
const BLOCK_LEAVES: usize = 256;
/// After so many entries that it is told nothing of, a listener is told how far it has come.
const SILENT_ENTRIES_MAX: u64 = 1_000;

/// What a listener is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Position of the entry that tells it; the newest one where it is of no entry.
    pub position: u64,
    /// Which of several things it is that the entry tells, from 0; `None` for the last or only one.
    pub part: Option<u32>,
    /// Up to where it is told what the clock has passed, if that is what is told.
    pub passed: Option<Instant<Virtual>>,
    /// By which the entry is known again.
    pub entry: Option<EntryMark>,
    /// What it is.
    pub what: News,
}

impl Told {
    const fn new(position: u64, what: News) -> Self {
        Self { position, part: None, passed: None, entry: None, what }
    }
}

/// How far a listener has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The entry that was told last.
    pub position: u64,
    /// What of it was told last; `None` if it was told all of it.
    pub part: Option<u32>,
    /// Up to where it was told what the clock has passed, if that was told last.
    pub passed: Option<Instant<Virtual>>,
    /// Which entry it was, where that is known.
    pub entry: Option<EntryMark>,
}

/// What to watch.
#[derive(Clone, Debug)]
pub struct WatchLedger {
    /// Which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// What to be told of.
    pub topics: Vec<Topic>,
    /// Of which paradoxes, if these are among the topics.
    pub paradoxes: WatchedParadoxes,
    /// Of which events, if these or interventions are among the topics.
    pub filter: Arc<EventFilter>,
    /// What was told before; from now on where nothing was.
    pub seen: Option<Seen>,
}

/// One thing that a listener is told.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// Nothing: the listener knows everything up to this position.
    Mark,
    /// Entries were left out, so what the listener knows is not how things are.
    Reset,
    /// Something may have happened to firings that no ledger keeps. Their outcomes are told all the same.
    Gap,
    /// The clock is this.
    Clock(Clock),
    /// An event was recorded or corrected.
    Event {
        /// Which.
        event_id: String,
        /// Whether it was recorded before.
        is_correction: bool,
        /// The event as JSON; `None` where it was erased since.
        content: Option<String>,
    },
    /// Something was done to an event.
    Intervention {
        /// To which.
        event_id: String,
        /// What, as JSON; `None` where it was erased since.
        content: Option<String>,
    },
    /// A clock change that passes timers one by one has begun, has come to another instant, or has ended. Its firings are
    /// not told.
    Advance(Box<Receipt>),
    /// The clock has passed events: all of that time, with both its ends.
    Due {
        /// Its first instant.
        from: Instant<Virtual>,
        /// Its last one.
        to: Instant<Virtual>,
    },
    /// Something happened to a firing.
    Firing(Box<(FiringRow, FiringNews)>),
    /// A paradox was made or healed.
    Paradox {
        /// Whether it is gone, and not there since.
        is_healed: bool,
        /// Which. What is gone is told as it was.
        paradox: Box<Paradox>,
    },
}

/// A timeline's ledger from some position on. Holds a place, and nothing that waits to be told:
/// whoever reads slowly is as far behind as the ledger is ahead.
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
    /// The entry that was read last.
    read_last: Option<(u64, EntryMark)>,
    leaves: VecDeque<Vec<u8>>,
    /// What is told before the next entry.
    first: VecDeque<Told>,
    /// How much of the next entry is told already.
    told_parts: usize,
    /// Entries since the listener was last told anything.
    silent: u64,
    paradoxes: Option<Watch>,
    firings: Option<Observing>,
    passing: Option<Passing>,
    waiting: Option<Waiting>,
}

impl Engine {
    /// Watches what happens on a timeline: after what was seen, or from now on.
    ///
    /// # Errors
    /// The caller may not, the ledger cannot be written, or paradoxes are asked for and there are too
    /// many events to follow them.
    #[boxed]
    pub async fn watch_ledger(&self, caller: &Caller, request: WatchLedger) -> Result<LedgerStream, Refusal> {
        self.open_ledger(caller, request, None).await
    }

    /// As [`Engine::watch_ledger`]; with firings if these are observed: of one queue, or of all.
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
        let grown = self.live().listen_to_growth(&timeline_id, || self.size_of(&timeline_id));
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
            told_parts: 0,
            silent: 0,
            paradoxes,
            firings,
            passing: None,
            waiting: None,
        };
        match (begin(seen, stream.size(), self.options().stream_entries_max), seen) {
            (Some((next, told_parts)), Some(seen)) if stream.continues(seen).await? => {
                (stream.next, stream.told_parts) = (next, told_parts);
            }
            _ => stream.start_over(seen.map(|_| News::Reset)),
        }
        if stream.topics.contains(&Topic::Due) {
            let seen = seen.filter(|_| stream.first.is_empty());
            stream.passing = Some(self.passing(&look.state, seen).await?);
        }
        stream.prepare().await?;
        Ok(stream)
    }

    fn size_of(&self, timeline: &TimelineId) -> u64 {
        self.state(timeline).map_or(0, |state| state.head.frontier.size())
    }
}

impl LedgerStream {
    /// Returns the timeline.
    #[must_use]
    pub const fn timeline_id(&self) -> &TimelineId {
        &self.timeline_id
    }

    /// Waits for what is to be told next. `None` once the caller may not listen any more, or what is
    /// kept cannot be read: who comes back goes on where this ended.
    #[boxed]
    pub async fn next(&mut self) -> Option<Told> {
        let told = match self.wait().await {
            Ok(told) => self.marked(told?).await,
            Err(refusal) => Err(refusal),
        };
        let told = match told {
            Ok(told) => told,
            Err(refusal @ Refusal::LimitReached { .. }) => {
                tracing::warn!(timeline_id = %self.timeline_id, %refusal, "a stream of a ledger ends");
                return None;
            }
            Err(refusal) => {
                tracing::error!(timeline_id = %self.timeline_id, %refusal, "a stream of a ledger ends");
                return None;
            }
        };
        self.silent = 0;
        self.engine.may_watch(&self.caller, &self.timeline_id).then_some(told)
    }

    async fn wait(&mut self) -> Result<Option<Told>, Refusal> {
        loop {
            if let Some(told) = self.first.pop_front() {
                return Ok(Some(told));
            }
            let attempts = self.attempts().await?;
            if !attempts.is_empty() {
                let position = self.next.saturating_sub(1);
                self.first = attempts.into_iter().map(|what| Told::new(position, what)).collect();
                continue;
            }
            if let Some(leaf) = self.leaves.pop_front() {
                let position = self.next;
                self.note_read(position, &leaf);
                let due = self.pass_entry(position, &leaf).await?;
                self.next += 1;
                self.silent += 1;
                let Some(news) = self.news(position, &leaf).await? else {
                    self.start_over(Some(News::Reset));
                    continue;
                };
                self.first =
                    due.into_iter().chain(parts(position, news, std::mem::take(&mut self.told_parts))).collect();
                if self.first.is_empty() && self.silent >= SILENT_ENTRIES_MAX {
                    return Ok(Some(Told::new(position, News::Mark)));
                }
                continue;
            }
            let size = self.grown.size();
            if self.next >= size {
                // Asked before too: to be told a size is to have heard that it is the last.
                if self.is_over() {
                    return Ok(None);
                }
                if let Some(told) = self.pass_now().await? {
                    return Ok(Some(told));
                }
                if !self.more().await? || self.is_over() {
                    return Ok(None);
                }
            } else if size - self.next > self.engine.options().stream_entries_max {
                self.start_over(Some(News::Reset));
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

    /// Says how to wait for a clock that passes events while nothing is written. Without it, that is not told.
    #[must_use]
    pub fn waiting_by(self, waiting: Waiting) -> Self {
        Self { waiting: Some(waiting), ..self }
    }

    /// Waits until there may be something to tell. `false` where the service ends.
    async fn more(&mut self) -> Result<bool, Refusal> {
        if let Some(observing) = &self.firings {
            return Ok(tokio::select! {
                goes_on = self.grown.changed() => goes_on,
                () = observing.told() => true,
            });
        }
        let due = if self.passing.is_some() { self.next_due().await? } else { None };
        let Some((waiting, due)) = self.waiting.clone().zip(due) else { return Ok(self.grown.changed().await) };
        Ok(tokio::select! {
            goes_on = self.grown.changed() => goes_on,
            () = waiting(due) => true,
        })
    }

    /// Goes on from now, and tells how things are.
    fn start_over(&mut self, first: Option<News>) {
        let Some(state) = self.engine.state(&self.timeline_id) else { return };
        self.next = state.head.frontier.size();
        (self.told_parts, self.silent) = (0, 0);
        if let Some(passing) = &mut self.passing {
            *passing = Passing::now(&state, self.engine.host(&state));
        }
        self.leaves.clear();
        let position = self.next.saturating_sub(1);
        let clock = self.topics.contains(&Topic::Clock).then(|| News::Clock(state.head.clock.clone()));
        let all = first.into_iter().chain(clock);
        self.first = all.map(|what| Told::new(position, what)).collect();
        if self.first.is_empty() {
            self.first.push_back(Told::new(position, News::Mark));
        }
    }

    /// Returns what an entry tells: what it is about, and what it made and healed. `None` if that is not known any more.
    async fn news(&mut self, position: u64, leaf: &[u8]) -> Result<Option<Vec<News>>, Refusal> {
        let mut news: Vec<News> = self.what_happened(position, leaf).await?.into_iter().collect();
        if self.topics.contains(&Topic::Advances) {
            news.extend(self.advance_of(position, leaf).await?);
        }
        if self.firings.is_some() {
            news.extend(self.firings_of(position, leaf).await?);
        }
        if self.paradoxes.is_some() {
            let Some(paradoxes) = self.paradoxes_of(position, leaf).await? else { return Ok(None) };
            news.extend(paradoxes);
        }
        Ok(Some(news))
    }

    /// Returns what an entry is about, if it is of a topic.
    async fn what_happened(&self, position: u64, leaf: &[u8]) -> Result<Option<News>, Refusal> {
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        // Another version may have written a word that this one does not know. It tells of the clock if it says so
        // itself.
        let topic = match Action::of(&record) {
            Some(Action::FireTimers) => self.newest_step(position).map(|_| Topic::Clock),
            action => action.map_or(Some(Topic::Clock), Action::topic),
        };
        let Some(topic) = topic.filter(|topic| self.topics.contains(topic)) else { return Ok(None) };
        let entry = self.engine.store().entry(self.key, position).await?;
        let entry = entry.ok_or_else(|| Refusal::Damaged(format!("entry {position} is missing")))?;
        let content = (!entry.is_erased()).then(|| String::from_utf8(entry.payload.clone()).ok()).flatten();
        let event_id = record.subject.to_string();
        let is_meant = match (topic, content.as_deref()) {
            (Topic::Clock | Topic::Paradoxes | Topic::Advances | Topic::Due, _) => true,
            // What was just recorded had no version before, or none that stood.
            (Topic::Events, Some(event)) if Action::of(&record) == Some(Action::RecordEvent) => {
                self.filter.passes(event)
            }
            (Topic::Events | Topic::Interventions, _) => self.is_meant(position, &event_id).await?,
        };
        if !is_meant {
            return Ok(None);
        }
        Ok(match topic {
            // On `system`, the making of other timelines tells of their clocks.
            Topic::Clock if entry.clock_entry != position => None,
            Topic::Clock => changed_clock(&entry.payload).map(News::Clock),
            Topic::Interventions => Some(News::Intervention { event_id, content }),
            Topic::Events | Topic::Paradoxes | Topic::Advances | Topic::Due => {
                let is_correction = Action::of(&record) == Some(Action::CorrectEvent);
                let content = if is_correction { content.as_deref().and_then(corrected) } else { content };
                Some(News::Event { event_id, is_correction, content })
            }
        })
    }

    /// Returns whether an event passes the filter, as it stood before an entry or as it stands after it. Nothing is known
    /// of one that was erased since.
    async fn is_meant(&self, position: u64, event_id: &str) -> Result<bool, Refusal> {
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

/// Returns what is told of an entry, after what was told already.
fn parts(position: u64, news: Vec<News>, told_parts: usize) -> VecDeque<Told> {
    let count = news.len();
    let numbered = news.into_iter().enumerate().skip(told_parts);
    let part = |number: usize| u32::try_from(number).ok().filter(|_| number + 1 < count);
    numbered.map(|(number, what)| Told { part: part(number), ..Told::new(position, what) }).collect()
}

/// Returns the clock that a payload tells of, unless it says that nothing changed.
fn changed_clock(payload: &[u8]) -> Option<Clock> {
    read::<ClockTold>(payload).filter(ClockTold::is_change)?.clock()
}

/// Returns the event in the payload of a correction.
fn corrected(payload: &str) -> Option<String> {
    read::<Corrected<'_>>(payload.as_bytes()).map(|corrected| corrected.event.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_of_an_entry_is_not_told_again() {
        let told = |news: usize, told_parts| {
            let told = parts(7, vec![News::Mark; news], told_parts);
            told.into_iter().map(|told| told.part).collect::<Vec<_>>()
        };
        assert_eq!(told(3, 0), [Some(0), Some(1), None]);
        assert_eq!(told(3, 2), [None]);
        assert_eq!(told(1, 0), [None]);
        assert_eq!(told(1, 5), []);
        assert_eq!(told(0, 0), []);
    }
}
