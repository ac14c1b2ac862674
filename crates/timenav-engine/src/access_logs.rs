//! The access log: the ledger, read as who did what and when.

use std::ops::Range;
use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, TimeRange, Virtual, Wall, parse_timestamp};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::head::{Head, TimelineKey, TimelineState};
use crate::payload::Reading;
use crate::refusal::Refusal;

/// Entries that one page may look at. A filter that few entries pass makes short pages, not long
/// waits.
pub const LOG_ENTRIES_READ_MAX: u64 = 50_000;
/// Entries read from the store at a time.
const BLOCK_ENTRIES: u64 = 1_000;

/// Which entries come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogOrder {
    /// Those that were made first.
    #[default]
    Oldest,
    /// Those that were made last.
    Newest,
}

/// Which entries are asked for.
#[derive(Clone, Debug)]
pub struct AccessLogs {
    /// On which timeline.
    pub timeline: TimelineId,
    /// When, in host time, both ends included.
    pub range: TimeRange<Wall>,
    /// Only those of this actor; `unknown` is one.
    pub user_id: Option<String>,
    /// Only those of this action.
    pub action: Option<String>,
    /// Which come first.
    pub order: LogOrder,
    /// At most so many on the page.
    pub items_max: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// One entry: who did what, to what, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its position in the ledger.
    pub position: u64,
    /// The acting user; `unknown` where nobody could be identified.
    pub user_id: String,
    /// What was done.
    pub action: String,
    /// What it was done to.
    pub subject: String,
    /// When, by the host.
    pub timestamp: Instant<Wall>,
    /// What the timeline's clock showed; `None` for who may not look at clocks.
    pub clock_time: Option<Instant<Virtual>>,
}

/// One page of entries, in the order that was asked for.
#[derive(Clone, Debug)]
pub struct LogPage {
    /// The entries.
    pub logs: Vec<LogEntry>,
    /// Asks for the next page. A page may be short and still have a next one.
    pub next_cursor: Option<String>,
}

/// A page that was admitted and logged, and is to be read.
struct LogReading {
    request: AccessLogs,
    /// What the cursor is of.
    asked: String,
    state: Arc<TimelineState>,
    /// The ledger's size that all pages show.
    as_of: u64,
    /// Where the last page ended.
    after: Option<u64>,
    sees_clock: bool,
}

impl Engine {
    /// Returns a page of a timeline's access log.
    ///
    /// # Errors
    /// The caller does not administer the timeline, the cursor is of another query, or the ledger
    /// cannot be written.
    pub async fn access_logs(&self, caller: &Caller, request: AccessLogs) -> Result<LogPage, Refusal> {
        let timeline = &request.timeline;
        let read = Reading::AccessLogs { time_range: request.range.to_string() };
        let admitted = self.let_on(caller, timeline.clone(), Demand::Administer, read).await?;
        if timeline.is_system() {
            // What was refused a moment ago is in the log that is read.
            self.tell_counted_refusals().await?;
        }
        let filters = (request.user_id.as_deref(), request.action.as_deref());
        let asked = format!("logs {timeline} {} {filters:?} {:?}", request.range, request.order);
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &asked, text)).transpose()?;
        let look = admitted.with_first_page(cursor.map(|cursor| cursor.as_of)).look().await?;
        let sees_clock = self.decide(caller, timeline, Demand::Look).is_ok();
        let (as_of, after) = (look.size(), cursor.map(|cursor| cursor.position));
        let reading = LogReading { request, asked, state: look.state, as_of, after, sees_clock };
        let (engine, asking) = (self.clone(), caller.clone());
        self.long_work().in_turn(caller, async move { engine.log_page(&asking, &reading).await }).await
    }

    async fn log_page(&self, caller: &Caller, reading: &LogReading) -> Result<LogPage, Refusal> {
        let LogReading { request, asked, state, as_of, after, sees_clock } = reading;
        let head = &state.head;
        let key = &head.key;
        let mut left = self.logged(*key, request.range, *as_of).await?;
        if let Some(after) = after {
            left = request.order.rest(left, *after);
        }
        let mut page = LogPage { logs: Vec::new(), next_cursor: None };
        let next = |left: &Range<u64>| Some(self.cursor(caller, asked, *as_of, 0, request.order.edge(left)));
        let mut read = 0;
        while !left.is_empty() && read < LOG_ENTRIES_READ_MAX {
            let block = request.order.block(&left);
            for (position, leaf) in self.leaves_of(&request.timeline, *key, block, request.order).await? {
                if page.logs.len() == request.items_max {
                    page.next_cursor = next(&left);
                    return Ok(page);
                }
                let entry = log_entry(head, position, &leaf, *sees_clock)?;
                page.logs.extend(Some(entry).filter(|entry| request.wants(entry)));
                left = request.order.after(left, position);
                read += 1;
            }
        }
        page.next_cursor = if left.is_empty() { None } else { next(&left) };
        Ok(page)
    }

    /// Returns the positions of what was recorded in a range of host time, both ends included.
    async fn logged(&self, key: TimelineKey, range: TimeRange<Wall>, size: u64) -> Result<Range<u64>, Refusal> {
        let first = self.store().first_recorded_at(key, range.first(), size).await?;
        let end = match range.last().micros().checked_add(1).and_then(Instant::from_micros) {
            Some(after) => self.store().first_recorded_at(key, after, size).await?,
            None => size,
        };
        Ok(first..end)
    }

    /// Returns the leaves at some positions, in the order that is asked for.
    async fn leaves_of(
        &self,
        timeline: &TimelineId,
        key: TimelineKey,
        block: Range<u64>,
        order: LogOrder,
    ) -> Result<Vec<(u64, Vec<u8>)>, Refusal> {
        let count = usize::try_from(block.end - block.start).unwrap_or(usize::MAX);
        let leaves = self.store().leaves(key, block.start, count).await?;
        if leaves.len() < count {
            return Err(Refusal::Damaged(format!("entries {block:?} of `{timeline}` are not all there")));
        }
        let mut leaves: Vec<_> = block.zip(leaves).collect();
        if order == LogOrder::Newest {
            leaves.reverse();
        }
        Ok(leaves)
    }
}

/// What is left to be read lies between two positions, and is read from one end of it or the other.
impl LogOrder {
    /// Returns what is read next.
    fn block(self, left: &Range<u64>) -> Range<u64> {
        match self {
            Self::Oldest => left.start..left.end.min(left.start + BLOCK_ENTRIES),
            Self::Newest => left.start.max(left.end.saturating_sub(BLOCK_ENTRIES))..left.end,
        }
    }

    /// Returns what is left after an entry was read.
    fn after(self, left: Range<u64>, position: u64) -> Range<u64> {
        match self {
            Self::Oldest => position + 1..left.end,
            Self::Newest => left.start..position,
        }
    }

    /// Returns the end of what is left from which it is read.
    const fn edge(self, left: &Range<u64>) -> u64 {
        match self {
            Self::Oldest => left.start,
            Self::Newest => left.end,
        }
    }

    /// Returns what is left where the page before ended.
    fn rest(self, all: Range<u64>, edge: u64) -> Range<u64> {
        match self {
            Self::Oldest => edge.max(all.start)..all.end,
            Self::Newest => all.start..edge.min(all.end),
        }
    }
}

impl AccessLogs {
    fn wants(&self, entry: &LogEntry) -> bool {
        self.user_id.as_ref().is_none_or(|user_id| *user_id == entry.user_id)
            && self.action.as_ref().is_none_or(|action| *action == entry.action)
    }
}

fn log_entry(head: &Head, position: u64, leaf: &[u8], sees_clock: bool) -> Result<LogEntry, Refusal> {
    let damaged = || Refusal::Damaged(format!("entry {position} cannot be read"));
    let record = LeafRecord::decode(leaf).map_err(|_| damaged())?;
    Ok(LogEntry {
        position,
        timestamp: parse_timestamp(&record.recorded_at).map_err(|_| damaged())?,
        clock_time: sees_clock.then(|| parse_timestamp(&record.clock_time)).transpose().map_err(|_| damaged())?,
        user_id: head.actor_shown(position, &record.actor),
        action: record.action.into_owned(),
        subject: record.subject.into_owned(),
    })
}
