//! What a later version has written to `system`, which this one must not take over: it does not know what follows from it.
//!
//! The feature level keeps services apart that do not understand each other. This is for what was written all the same.

use timenav_core::ledger::{Checkpoint, LeafError, LeafRecord, Note};

use super::told::{ENTRIES_TOLD_MAX, NotTold, Untold};
use crate::action::Action;
use crate::archive::EntryRows;
use crate::head::Head;
use crate::heads::Heads;
use crate::outside::KeptOutside;
use crate::refusal::Refusal;
use crate::store::Store;
use crate::store_error::StoreError;
use crate::tree::SignedTree;
use crate::unknown_entry::UnknownEntry;

/// Newest entries of `system` that each start looks at, whatever is kept outside. All would be too many: a large service
/// has a million. A later version that has served from the same folder has kept a newer checkpoint there.
const LOOKED_AT_MIN: u64 = 4_096;

/// Returns the first entry of `system` from a position on that is not known, if there is one.
///
/// # Errors
/// The store cannot be read.
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
                // Another hand has put it there, and what is signed differs: that is told elsewhere.
                Err(Refusal::Damaged(_)) => {}
                Err(refusal) => return Err(StoreError::Unavailable(refusal.to_string())),
            }
        }
        // Some are missing, which is told elsewhere too.
        if end <= at {
            break;
        }
        at = end;
    }
    Ok(None)
}

/// Returns what of an entry is not known, if it has the form of one that a later version may have written.
fn not_known(leaf: &[u8]) -> Option<String> {
    match LeafRecord::decode(leaf) {
        Ok(record) if Action::of(&record).is_some() => None,
        Ok(record) => Some(format!("the action `{}`", record.action)),
        Err(LeafError::UnknownFormat { v }) => Some(format!("the format version {v}")),
        Err(_) => None,
    }
}

/// Makes sure that this version knows what others have written to `system` since, where that has not changed the directory,
/// so that nobody else reads it.
///
/// # Errors
/// It does not; or there is too much to look at while heads are locked; or the store cannot be read.
pub(crate) async fn check_since(store: &dyn Store, before: &Heads, system: &Head) -> Result<(), NotTold> {
    let known = before.get(&system.id).map_or(0, |known| known.head.frontier.size());
    let count = system.frontier.size().saturating_sub(known);
    if count > ENTRIES_TOLD_MAX {
        return Err(Untold::TooMany(count).into());
    }
    match later_entry(store, system, known).await? {
        Some(later) => Err(NotTold::Refused(later.into())),
        None => Ok(()),
    }
}

/// Returns from which entry of `system` on a start looks: what is kept outside was known to whoever kept it.
pub(crate) fn first_unseen(kept: &[KeptOutside], system: &Head) -> u64 {
    let size_of = |kept: &KeptOutside| {
        let note = Note::parse(kept.note.as_bytes()).ok()?;
        Some(Checkpoint::parse(note.text()).ok()?.size)
    };
    let seen = kept.iter().find(|kept| kept.timeline.is_system()).and_then(size_of).unwrap_or(0);
    seen.min(system.frontier.size().saturating_sub(LOOKED_AT_MIN))
}
