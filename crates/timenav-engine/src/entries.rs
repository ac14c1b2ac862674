//! What entries say: the bytes that a stranger hashes to check them.

use std::ops::Range;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;

use crate::action::{Action, Audience};
use crate::archive::EntryRow;
use crate::caller::Caller;
use crate::engine::Engine;
use crate::head::TimelineKey;
use crate::payload::Reading;
use crate::proofs::SignedCheckpoint;
use crate::refusal::Refusal;

/// Bytes of leaves and payloads after which a page of entries ends. At least one entry is on it.
pub const ENTRIES_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Entries read from the store at a time: a few megabytes of the largest.
const BLOCK_ENTRIES: u64 = 32;

/// Which entries are asked for.
#[derive(Clone, Debug)]
pub struct EntriesRequest {
    /// Of which timeline.
    pub timeline: TimelineId,
    /// The position of the first.
    pub from: u64,
    /// The maximum number per page.
    pub items_max: usize,
}

/// One page of entries, in the order of their positions.
#[derive(Clone, Debug)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<LedgerEntry>,
    /// The position of the first entry of the next page; `None` where the page goes to the end of the ledger.
    pub next: Option<u64>,
    /// What the timeline was forked from, and how many entries of that one it goes on from. Those are answered there.
    pub fork: Option<(TimelineId, u64)>,
    /// The checkpoint to check the entries against. Every entry on the page is in its tree.
    pub checkpoint: SignedCheckpoint,
}

/// One entry.
#[derive(Clone, Debug)]
pub struct LedgerEntry {
    /// Its position.
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// What it says beside them.
    pub contents: EntryContents,
}

/// What an entry says beside its leaf, as far as the caller may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContents {
    /// What is hashed into the leaf.
    Shown {
        /// Hashed before the payload; empty where single reads of an entry of reads were erased.
        salt: Vec<u8>,
        /// What happened, as JSON text.
        payload: Vec<u8>,
    },
    /// Salt and payload were erased.
    Erased,
    /// Those who administer the timeline see it.
    AdminsOnly,
}

/// A page that was admitted and logged, and is to be read.
struct EntriesReading {
    timeline: TimelineId,
    key: TimelineKey,
    range: Range<u64>,
    items_max: usize,
    sees_all: bool,
}

impl Engine {
    /// Returns a page of the entries of a timeline with what they say. The leaves are shown to every reader; salt and
    /// payload to those who may see what they tell of.
    ///
    /// # Errors
    /// The ledger ends before the first entry asked for, the caller may not read the timeline's clock and events, or
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

    /// Returns the entries of a page, and the position of the first that is not on it any more.
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

/// Shows of an entry what its reader may see.
fn entry(row: EntryRow, sees_all: bool) -> LedgerEntry {
    let EntryRow { position, leaf, salt, payload, .. } = row;
    let contents = if !sees_all && audience(&leaf) == Audience::Admins {
        EntryContents::AdminsOnly
    } else if payload.is_empty() {
        EntryContents::Erased
    } else {
        EntryContents::Shown { salt, payload }
    };
    LedgerEntry { position, leaf, contents }
}

/// Returns who may see what an entry says. Nobody but admins where this version does not know its action: it may tell
/// of anything.
fn audience(leaf: &[u8]) -> Audience {
    let action = LeafRecord::decode(leaf).ok().and_then(|record| Action::of(&record));
    action.map_or(Audience::Admins, Action::audience)
}
