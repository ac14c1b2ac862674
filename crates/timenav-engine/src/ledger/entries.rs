//! Reading ledger entries with the bytes needed to verify them.

use std::ops::Range;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;

use crate::engine::Engine;
use crate::ledger::action::{Action, Audience};
use crate::ledger::head::TimelineKey;
use crate::ledger::payload::Reading;
use crate::ledger::proofs::SignedCheckpoint;
use crate::ports::archive::EntryRow;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

/// Bytes of leaves and payloads after which a page of entries ends. A page has at least one entry.
pub const ENTRIES_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Entries read from the store at a time: a few megabytes of the largest.
const BLOCK_ENTRIES: u64 = 32;

#[derive(Clone, Debug)]
pub struct EntriesRequest {
    pub timeline: TimelineId,
    pub from: u64,
    pub items_max: usize,
}

/// One page of entries, by position.
#[derive(Clone, Debug)]
pub struct EntryPage {
    pub entries: Vec<LedgerEntry>,
    /// The position of the next page; `None` at the end of the ledger.
    pub next: Option<u64>,
    /// The origin of a forked timeline, and how many of its entries are shared. Those must be read there.
    pub fork: Option<(TimelineId, u64)>,
    /// A checkpoint whose tree includes every entry on the page.
    pub checkpoint: SignedCheckpoint,
}

#[derive(Clone, Debug)]
pub struct LedgerEntry {
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    pub contents: EntryContents,
}

/// Salt and payload of an entry, as far as the caller may see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContents {
    /// The bytes that are hashed into the leaf.
    Visible {
        /// Hashed before the payload; empty if single reads of an entry of reads were erased.
        salt: Vec<u8>,
        /// JSON text.
        payload: Vec<u8>,
    },
    Erased,
    /// Only admins of the timeline may see it.
    AdminsOnly,
}

struct EntriesReading {
    timeline: TimelineId,
    key: TimelineKey,
    range: Range<u64>,
    items_max: usize,
    sees_all: bool,
}

impl Engine {
    /// Returns a page of the entries of a timeline. All readers see the leaves; salt and payload are only included for
    /// those who may see the action.
    ///
    /// # Errors
    /// The ledger ends before the first requested entry, the caller may not read the timeline's clock and events, or
    /// the ledger cannot be written.
    #[boxed]
    pub async fn entries(&self, caller: &Caller, request: EntriesRequest) -> Result<EntryPage, Refusal> {
        let EntriesRequest { timeline, from, items_max } = request;
        let look = self.look(caller, timeline.clone(), Demand::Look, Reading::Entries { from }).await?;
        let state = &look.state;
        let sees_all = self.decide(caller, &timeline, Demand::Administer).is_ok();
        let (key, checkpoint) = (state.head.key, self.newest_checkpoint(state)?);
        if from > checkpoint.size {
            let detail = format!("the ledger has {} entries; the first is at position 0", checkpoint.size);
            return Err(Refusal::invalid("from", detail));
        }
        let fork = state.head.fork.and_then(|fork| Some((state.lineage.last()?.clone(), fork.size)));
        let range = from..checkpoint.size;
        let reading = EntriesReading { timeline, key, range, items_max, sees_all };
        let engine = self.clone();
        let read = self.long_work().in_turn(caller, async move { engine.entries_of(reading).await });
        let (entries, next) = read.await?;
        Ok(EntryPage { entries, next, fork, checkpoint })
    }

    async fn entries_of(&self, reading: EntriesReading) -> Result<(Vec<LedgerEntry>, Option<u64>), Refusal> {
        let EntriesReading { timeline, key, range, items_max, sees_all } = reading;
        let mut entries: Vec<LedgerEntry> = Vec::new();
        let (mut next, mut bytes) = (range.start, 0);
        while next < range.end && entries.len() < items_max {
            let room = BLOCK_ENTRIES.min((items_max - entries.len()) as u64);
            let read = self.store().entry_rows(key, next, range.end.min(next + room)).await?;
            for row in read.rows {
                bytes += row.leaf.len() + row.payload.len();
                if bytes > ENTRIES_PAGE_BYTES_MAX && !entries.is_empty() {
                    return Ok((entries, Some(next)));
                }
                if row.position != next {
                    break;
                }
                entries.push(entry(row, sees_all));
                next += 1;
            }
            if next < read.end {
                return Err(Refusal::Damaged(format!("entry {next} of `{timeline}` is missing")));
            }
        }
        Ok((entries, (next < range.end).then_some(next)))
    }
}

fn entry(row: EntryRow, sees_all: bool) -> LedgerEntry {
    let EntryRow { position, leaf, salt, payload, .. } = row;
    let contents = if !sees_all && audience(&leaf) == Audience::Admins {
        EntryContents::AdminsOnly
    } else if payload.is_empty() {
        EntryContents::Erased
    } else {
        EntryContents::Visible { salt, payload }
    };
    LedgerEntry { position, leaf, contents }
}

/// Returns admins if this version does not know the action, because the payload may contain anything.
fn audience(leaf: &[u8]) -> Audience {
    let action = LeafRecord::decode(leaf).ok().and_then(|record| Action::of(&record));
    action.map_or(Audience::Admins, Action::audience)
}
