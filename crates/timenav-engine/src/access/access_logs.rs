//! The access log: a view of the ledger as actions by users.

use std::ops::Range;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{LeafRecord, Read, RemainingReads};
use timenav_core::time::{Instant, TimeRange, Virtual, Wall, parse_timestamp};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::head::{Head, TimelineKey, TimelineState};
use crate::ledger::payload::Reading;
use crate::ports::rows::LogRow;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

mod gaps;

pub use gaps::{LogGap, LogGapReason};

/// Maximum per page. A filter that few entries pass results in short pages, not in long waits.
pub const LOG_ENTRIES_READ_MAX: u64 = 50_000;
const BLOCK_ENTRIES: u64 = 1_000;
/// Bytes of reads after which a block of entries ends.
const BLOCK_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogOrder {
    #[default]
    Oldest,
    Newest,
}

#[derive(Clone, Debug)]
pub struct AccessLogs {
    pub timeline: TimelineId,
    pub range: TimeRange<Wall>,
    /// An actor to filter by, including `unknown`.
    pub user_id: Option<String>,
    pub action: Option<String>,
    pub order: LogOrder,
    pub items_max: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub position: u64,
    /// The index of the read in an entry of reads, from 0; `None` for other entries.
    pub index: Option<u32>,
    /// The acting user; `unknown` if the caller could not be identified.
    pub user_id: String,
    pub action: String,
    pub subject: String,
    pub timestamp: Instant<Wall>,
    /// The reading of the timeline's clock; `None` for callers who may not read clocks.
    pub clock_time: Option<Instant<Virtual>>,
}

#[derive(Clone, Debug)]
pub struct LogPage {
    pub logs: Vec<LogEntry>,
    /// Reads that are no longer known, at the positions that the page has examined. Their users are unknown, so they
    /// are included regardless of a filter by user. A filter by action includes them only if it selects reads.
    pub gaps: Vec<LogGap>,
    /// A page may be short and still have a next one.
    pub next_cursor: Option<String>,
}

/// A page to read, after authorization and logging of the request.
struct LogReading {
    request: AccessLogs,
    /// The query that the cursor belongs to.
    query: String,
    state: Arc<TimelineState>,
    /// The ledger size visible to all pages.
    as_of: u64,
    /// Where the previous page ended, and how many reads of that entry it contained.
    after: Option<(u64, usize)>,
    sees_clock: bool,
}

impl Engine {
    /// Returns a page of a timeline's access log.
    ///
    /// # Errors
    /// The caller does not administer the timeline, the cursor belongs to another query, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn access_logs(&self, caller: &Caller, request: AccessLogs) -> Result<LogPage, Refusal> {
        let timeline = &request.timeline;
        let read = Reading::AccessLogs { time_range: request.range.to_string() };
        let admitted = self.authorize_read(caller, timeline.clone(), Demand::Administer, read).await?;
        if timeline.is_system() {
            // Write counted refusals first, so that the log includes recent ones.
            self.log_counted_refusals().await?;
        }
        let filters = (request.user_id.as_deref(), request.action.as_deref());
        let query = format!("logs {timeline} {} {filters:?} {:?}", request.range, request.order);
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let look = admitted.with_first_page(cursor.map(|cursor| cursor.as_of)).look().await?;
        let sees_clock = self.decide(caller, timeline, Demand::Look).is_ok();
        let (as_of, after) =
            (look.size(), cursor.map(|cursor| (cursor.position, usize::try_from(cursor.micros).unwrap_or(0))));
        let reading = LogReading { request, query, state: look.state, as_of, after, sees_clock };
        let (engine, asking) = (self.clone(), caller.clone());
        self.long_work().in_turn(caller, async move { engine.log_page(&asking, &reading).await }).await
    }

    async fn log_page(&self, caller: &Caller, reading: &LogReading) -> Result<LogPage, Refusal> {
        let LogReading { request, query, state, as_of, after, sees_clock } = reading;
        let head = &state.head;
        let key = &head.key;
        let mut left = self.logged(*key, request.range, *as_of).await?;
        if let Some((after, _)) = after {
            left = request.order.rest(left, *after);
        }
        // The number of items of the next entry that earlier pages contained.
        let mut passed = after.map_or(0, |(_, passed)| passed);
        let mut page = LogPage { logs: Vec::new(), gaps: Vec::new(), next_cursor: None };
        let next = |left: &Range<u64>, passed: usize| {
            // The cursor's field for virtual time is unused here, so it stores the number of passed items.
            let passed = i64::try_from(passed).unwrap_or(i64::MAX);
            Some(self.cursor(caller, query, *as_of, passed, request.order.edge(left)))
        };
        let mut read = 0;
        while !left.is_empty() && read < LOG_ENTRIES_READ_MAX {
            let block = request.order.block(&left);
            for row in self.log_rows_of(&request.timeline, *key, block, request.order).await? {
                let LogChunk { mut entries, gap } = log_entries(head, &row, *sees_clock)?;
                if request.order == LogOrder::Newest {
                    entries.reverse();
                }
                read += entries.len().max(1) as u64;
                // Earlier pages that contained part of the entry also contained the gap.
                let gap = gap.filter(|_| passed == 0 && request.wants_reads());
                if page.logs.len() == request.items_max || !gaps::add(&mut page, gap, request.items_max) {
                    page.next_cursor = next(&left, passed);
                    return Ok(page);
                }
                for (number, entry) in entries.into_iter().enumerate().skip(passed) {
                    if page.logs.len() == request.items_max {
                        page.next_cursor = next(&left, number);
                        return Ok(page);
                    }
                    page.logs.extend(Some(entry).filter(|entry| request.wants(entry)));
                }
                passed = 0;
                left = request.order.after(left, row.position);
            }
        }
        page.next_cursor = if left.is_empty() { None } else { next(&left, 0) };
        Ok(page)
    }

    async fn logged(&self, key: TimelineKey, range: TimeRange<Wall>, size: u64) -> Result<Range<u64>, Refusal> {
        let first = self.store().first_recorded_at(key, range.first(), size).await?;
        let end = match range.last().micros().checked_add(1).and_then(Instant::from_micros) {
            Some(after) => self.store().first_recorded_at(key, after, size).await?,
            None => size,
        };
        Ok(first..end)
    }

    /// Returns entries at some positions in the requested order: at least one, but not all if they are large.
    async fn log_rows_of(
        &self,
        timeline: &TimelineId,
        key: TimelineKey,
        block: Range<u64>,
        order: LogOrder,
    ) -> Result<Vec<LogRow>, Refusal> {
        let newest_first = order == LogOrder::Newest;
        let rows = self.store().log_rows(key, block.clone(), newest_first, BLOCK_BYTES_MAX).await?;
        let expected: Box<dyn Iterator<Item = u64> + Send> =
            if newest_first { Box::new(block.clone().rev()) } else { Box::new(block.clone()) };
        if rows.is_empty() || rows.iter().zip(expected).any(|(row, position)| row.position != position) {
            return Err(Refusal::Damaged(format!("some of the entries {block:?} of `{timeline}` are missing")));
        }
        Ok(rows)
    }
}

/// The unread range is read from one of its ends.
impl LogOrder {
    fn block(self, left: &Range<u64>) -> Range<u64> {
        match self {
            Self::Oldest => left.start..left.end.min(left.start + BLOCK_ENTRIES),
            Self::Newest => left.start.max(left.end.saturating_sub(BLOCK_ENTRIES))..left.end,
        }
    }

    fn after(self, left: Range<u64>, position: u64) -> Range<u64> {
        match self {
            Self::Oldest => position + 1..left.end,
            Self::Newest => left.start..position,
        }
    }

    const fn edge(self, left: &Range<u64>) -> u64 {
        match self {
            Self::Oldest => left.start,
            Self::Newest => left.end,
        }
    }

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

    fn wants_reads(&self) -> bool {
        let reads = [Action::Read.word(), Action::Reads.word()];
        self.action.as_ref().is_none_or(|action| reads.contains(&action.as_str()))
    }
}

struct LogChunk {
    entries: Vec<LogEntry>,
    gap: Option<LogGap>,
}

/// Returns the log entries of a ledger entry: each remaining read, or one action.
fn log_entries(head: &Head, row: &LogRow, sees_clock: bool) -> Result<LogChunk, Refusal> {
    let LogRow { position, leaf, reads } = row;
    let damaged = || Refusal::Damaged(format!("entry {position} cannot be read"));
    let record = LeafRecord::decode(leaf).map_err(|_| damaged())?;
    let timestamp = parse_timestamp(&record.recorded_at).map_err(|_| damaged())?;
    let gap = |reason| LogGap::at(*position, timestamp, reason);
    if let Some((salt, payload)) = reads {
        if payload.is_empty() {
            let policy = head.retention.in_force_at(*position);
            let gap = gap(LogGapReason::Pruned { policy: policy.map(|(position, policy)| (position, *policy)) });
            return Ok(LogChunk { entries: Vec::new(), gap: Some(gap) });
        }
        let remaining = RemainingReads::parse(salt, payload).map_err(|_| damaged())?;
        let erased = remaining.iter().filter(Option::is_none).count() as u64;
        let of_reads = (0..).zip(remaining.iter()).filter_map(|(index, read)| read.map(|read| (index, read)));
        let entries = of_reads.map(|(index, read)| of_read(head, (*position, index), read, sees_clock)).collect();
        let gap = (erased > 0).then(|| gap(LogGapReason::Erased { reads: erased }));
        return Ok(LogChunk { entries, gap });
    }
    let entry = LogEntry {
        position: *position,
        index: None,
        timestamp,
        clock_time: sees_clock.then(|| parse_timestamp(&record.clock_time)).transpose().map_err(|_| damaged())?,
        user_id: head.displayed_actor(*position, &record.actor),
        action: record.action.into_owned(),
        subject: record.subject.into_owned(),
    };
    Ok(LogChunk { entries: vec![entry], gap: None })
}

fn of_read(head: &Head, (position, index): (u64, u32), read: &Read<'_>, sees_clock: bool) -> LogEntry {
    LogEntry {
        position,
        index: Some(index),
        timestamp: read.host_time,
        clock_time: sees_clock.then_some(read.clock_time),
        user_id: head.displayed_actor(position, &read.user),
        action: Action::Read.word().to_owned(),
        subject: read.action.to_string(),
    }
}
