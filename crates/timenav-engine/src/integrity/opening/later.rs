//! Entries on `system` by a later version. This version must not process them, because it does not know their effects.
//!
//! The feature level normally keeps incompatible services apart. This is a second line of defense.

use timenav_core::ledger::{Checkpoint, LeafError, LeafRecord, Note};

use super::catch_up::{CATCH_UP_ENTRIES_MAX, CatchUpError, ReloadReason};
use crate::ledger::action::Action;
use crate::ledger::head::Head;
use crate::ledger::tree::SignedTree;
use crate::ledger::unknown_entry::UnknownEntry;
use crate::ports::archive::EntryRows;
use crate::ports::outside::ExternalCheckpoint;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::requests::refusal::Refusal;
use crate::writer::heads::Heads;

/// How many of the newest entries of `system` each start checks, regardless of the checkpoints outside. Checking all
/// would be too slow, as a large service has a million. A later version that ran from the same folder has kept a newer
/// checkpoint there.
const EXAMINED_MIN: u64 = 4_096;

pub(crate) async fn later_entry(
    store: &dyn Store,
    system: &Head,
    first: u64,
) -> Result<Option<UnknownEntry>, StoreError> {
    let (size, root) = (system.frontier.size(), system.frontier.root());
    let tree = SignedTree { key: system.key, id: system.id.clone(), size, root };
    let mut at = first;
    while at < size {
        let EntryRows { rows, end } = store.entry_rows(system.key, at, size).await?;
        for entry in &rows {
            let Some(what) = not_known(&entry.leaf) else { continue };
            match tree.leaf(store, entry.position).await {
                Ok(_) => return Ok(Some(UnknownEntry { position: entry.position, what })),
                // The entry was tampered with, so the signed tree differs, which is reported elsewhere.
                Err(Refusal::Damaged(_)) => {}
                Err(refusal) => return Err(StoreError::Unavailable(refusal.to_string())),
            }
        }
        // Missing entries are reported elsewhere too.
        if end <= at {
            break;
        }
        at = end;
    }
    Ok(None)
}

/// Returns the unknown part of an entry, if it has the form of one by a later version.
fn not_known(leaf: &[u8]) -> Option<String> {
    match LeafRecord::decode(leaf) {
        Ok(record) if Action::of(&record).is_some() => None,
        Ok(record) => Some(format!("the action `{}`", record.action)),
        Err(LeafError::UnknownFormat { v }) => Some(format!("the format version {v}")),
        Err(_) => None,
    }
}

/// Checks that this version knows the entries that others have written to `system`. Used if the directory has not
/// changed, because nothing else reads them in that case.
///
/// # Errors
/// An entry is unknown; or there are too many to check while heads are locked; or the store cannot be read.
pub(crate) async fn check_since(store: &dyn Store, before: &Heads, system: &Head) -> Result<(), CatchUpError> {
    let known = before.get(&system.id).map_or(0, |known| known.head.frontier.size());
    let count = system.frontier.size().saturating_sub(known);
    if count > CATCH_UP_ENTRIES_MAX {
        return Err(ReloadReason::TooMany(count).into());
    }
    match later_entry(store, system, known).await? {
        Some(later) => Err(CatchUpError::Refused(later.into())),
        None => Ok(()),
    }
}

/// Returns the first entry of `system` to check at startup: entries covered by a kept checkpoint were known to the
/// service that kept it.
pub(crate) fn first_unseen(stored: &[ExternalCheckpoint], system: &Head) -> u64 {
    let size_of = |stored: &ExternalCheckpoint| {
        let note = Note::parse(stored.note.as_bytes()).ok()?;
        Some(Checkpoint::parse(note.text()).ok()?.size)
    };
    let seen = stored.iter().find(|stored| stored.timeline.is_system()).and_then(size_of).unwrap_or(0);
    seen.min(system.frontier.size().saturating_sub(EXAMINED_MIN))
}
