//! The access log: the ledger, read as who did what and when.

use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, TimeRange, Virtual, Wall, parse_timestamp};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::refusal::Refusal;

/// Entries that one page may look at. A filter that few entries pass makes short pages, not long
/// waits.
pub const LOG_ENTRIES_READ_MAX: u64 = 50_000;
/// Entries read from the store at a time.
const BLOCK_ENTRIES: usize = 1_000;

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

/// One page of entries, in the order in which they were made.
#[derive(Clone, Debug)]
pub struct LogPage {
    /// The entries.
    pub logs: Vec<LogEntry>,
    /// Asks for the next page. A page may be short and still have a next one.
    pub next_cursor: Option<String>,
}

impl Engine {
    /// Returns a page of a timeline's access log.
    ///
    /// # Errors
    /// The caller does not administer the timeline, the cursor is of another query, or the ledger
    /// cannot be written.
    pub async fn access_logs(&self, caller: &Caller, request: AccessLogs) -> Result<LogPage, Refusal> {
        let timeline = &request.timeline;
        let state = self.admit(caller, timeline, Demand::Administer, "access_logs").await?;
        let filters = (request.user_id.as_deref(), request.action.as_deref());
        let asked = format!("logs {timeline} {} {filters:?}", request.range);
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &asked, text)).transpose()?;
        let parameters = serde_json::json!({ "time_range": request.range.to_string() });
        self.log_read(caller, timeline, "access_logs", parameters.to_string()).await?;
        let sees_clock = self.decide(caller, timeline, Demand::Look).is_ok();
        let key = state.head.key;
        let as_of = cursor.map_or_else(|| state.head.frontier.size(), |cursor| cursor.as_of);
        let first = match cursor {
            Some(cursor) => cursor.position,
            None => self.store().first_recorded_at(key, request.range.first(), as_of).await?,
        };
        let end = first.saturating_add(LOG_ENTRIES_READ_MAX).min(as_of);
        let mut page = LogPage { logs: Vec::new(), next_cursor: None };
        let mut next = first;
        while next < end {
            let leaves =
                self.store().leaves(key, next, BLOCK_ENTRIES.min(usize::try_from(end - next).unwrap_or(1))).await?;
            if leaves.is_empty() {
                return Err(Refusal::Damaged(format!("entry {next} of `{timeline}` is missing")));
            }
            for leaf in leaves {
                let entry = log_entry(next, &leaf, sees_clock)?;
                if entry.timestamp > request.range.last() {
                    return Ok(page);
                }
                if page.logs.len() == request.items_max {
                    page.next_cursor = Some(self.cursor(caller, &asked, as_of, 0, next));
                    return Ok(page);
                }
                next += 1;
                page.logs.extend(Some(entry).filter(|entry| request.wants(entry)));
            }
        }
        page.next_cursor = (next < as_of).then(|| self.cursor(caller, &asked, as_of, 0, next));
        Ok(page)
    }
}

impl AccessLogs {
    fn wants(&self, entry: &LogEntry) -> bool {
        self.user_id.as_ref().is_none_or(|user_id| *user_id == entry.user_id)
            && self.action.as_ref().is_none_or(|action| *action == entry.action)
    }
}

fn log_entry(position: u64, leaf: &[u8], sees_clock: bool) -> Result<LogEntry, Refusal> {
    let damaged = || Refusal::Damaged(format!("entry {position} cannot be read"));
    let record = LeafRecord::decode(leaf).map_err(|_| damaged())?;
    Ok(LogEntry {
        position,
        timestamp: parse_timestamp(&record.recorded_at).map_err(|_| damaged())?,
        clock_time: sees_clock.then(|| parse_timestamp(&record.clock_time)).transpose().map_err(|_| damaged())?,
        user_id: record.actor.into_owned(),
        action: record.action.into_owned(),
        subject: record.subject.into_owned(),
    })
}
