//! Updates the directory from the entries that others have written to `system`.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use timenav_core::directory::{Directory, PasswordRow as _, PasswordSummary, StoredPassword};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, LeafRecord, Salt, leaf_hash, payload_hash};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use crate::access::directory::DirectoryChange;
use crate::access::directory_changes::{Change, TimelineEndRecord, recorded_changes};
use crate::access::directory_rows::DirectoryRows;
use crate::ledger::action::Action;
use crate::ledger::head::{EndedTimeline, Head};
use crate::ports::archive::{EntryRow, EntryRows};
use crate::ports::facts::UnloggedRows;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::requests::refusal::Refusal;
use crate::writer::heads::Heads;

/// Heads are locked during an update, and the database server breaks locks after two seconds.
pub(crate) const CATCH_UP_ENTRIES_MAX: u64 = 4_096;

#[derive(Debug)]
pub(crate) struct DirectoryAfter {
    pub(crate) directory: Arc<Directory>,
    pub(crate) rows: Arc<DirectoryRows>,
    pub(crate) ended: Vec<EndedTimeline>,
}

/// Why the directory cannot be updated from entries, so that all heads and the directory are reloaded. Apart from
/// startup, this is the only reason for a reload, and it takes no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReloadReason {
    /// The ledger was rolled back or replaced. All timelines are read to report which.
    #[error("`system` has {found} entries and another directory, but {known} were known")]
    RolledBack { found: u64, known: u64 },
    /// The service lagged behind for long. A reload is cheaper then, and holds no lock.
    #[error("`system` has grown by {0} entries")]
    TooMany(u64),
    /// An entry is missing, is not in the signed tree, or cannot be read; or it is of version 1, which does not count
    /// changes of the directory.
    #[error("entry {0} of `system` does not contain the change")]
    Entry(u64),
    /// The entries lead to other rows than the signed ones, even after another read. Rows of passwords and of ended
    /// timelines, of which entries contain only the hashes, may have been read later.
    #[error("the entries of `system` do not lead to the signed rows")]
    Otherwise,
    /// A timeline, or the origin of one, is missing, and no entry says that it has ended. All timelines are read to
    /// report which.
    #[error("a timeline that has not ended is missing")]
    Missing,
    /// The state changed during each attempt to read it.
    #[error("other writers kept changing the state")]
    Moving,
}

#[derive(Debug)]
pub(crate) enum CatchUpError {
    ReloadReason(ReloadReason),
    Refused(Refusal),
}

impl From<Refusal> for CatchUpError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for CatchUpError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<ReloadReason> for CatchUpError {
    fn from(reason: ReloadReason) -> Self {
        Self::ReloadReason(reason)
    }
}

/// Returns the directory as of a newer head of `system`: the known one, updated by the new entries with the same
/// functions as in a replay. The caller must compare it with the signed one. The cost is proportional to the number of
/// these entries.
pub(crate) async fn directory_after(
    store: &dyn Store,
    before: &Heads,
    system: &Head,
) -> Result<DirectoryAfter, CatchUpError> {
    let known = before.get(&TimelineId::system()).map(|known| known.head.frontier.clone()).unwrap_or_default();
    let (first, size) = (known.size(), system.frontier.size());
    if size <= first || system.directory < before.directory.version {
        return Err(ReloadReason::RolledBack { found: size, known: first }.into());
    }
    if size - first > CATCH_UP_ENTRIES_MAX {
        return Err(ReloadReason::TooMany(size - first).into());
    }
    let updated = read_changes(store, (&before.directory, known), system).await?;
    let found = look_up(store, &updated).await?;
    let mut changes = Vec::with_capacity(updated.len());
    for change in updated {
        changes.push(resolved(change, &found)?);
    }
    let mut directory = Directory::clone(&before.directory);
    for change in &changes {
        directory.apply(change);
    }
    if directory.version != system.directory {
        return Err(ReloadReason::Otherwise.into());
    }
    let rows = Arc::new(before.rows.after(&changes));
    let ended = changes.iter().filter_map(DirectoryChange::ended).cloned().collect();
    Ok(DirectoryAfter { directory: Arc::new(directory), rows, ended })
}

/// Reads the changes of the new entries, each of which must be in the signed tree.
async fn read_changes(
    store: &dyn Store,
    (directory, mut frontier): (&Directory, Frontier),
    system: &Head,
) -> Result<Vec<Change>, CatchUpError> {
    let (first, size) = (frontier.size(), system.frontier.size());
    let (mut directory, mut all) = (directory.clone(), Vec::new());
    let mut at = first;
    while at < size {
        let EntryRows { rows, end } = store.entry_rows(system.key, at, size).await?;
        let is_whole = rows.iter().map(|entry| entry.position).eq(at..end);
        if !is_whole || end <= at {
            return Err(ReloadReason::Entry(at).into());
        }
        for entry in &rows {
            frontier.push(leaf_hash(&entry.leaf));
            let changes = changes_of_entry(&directory, entry).ok_or(ReloadReason::Entry(entry.position))?;
            for change in changes {
                // The password hash is not needed to process later entries.
                let Ok(known) = change.clone().try_with(|all| Ok::<_, Infallible>(unknown(&all)), Ok);
                directory.apply(&known);
                all.push(change);
            }
        }
        at = end;
    }
    if frontier.root() == system.frontier.root() { Ok(all) } else { Err(ReloadReason::Entry(first).into()) }
}

fn changes_of_entry(directory: &Directory, entry: &EntryRow) -> Option<Vec<Change>> {
    let record = LeafRecord::decode(&entry.leaf).ok()?;
    let action = Action::of(&record)?;
    record.authority.as_ref()?;
    let recorded_at: Instant<Wall> = parse_timestamp(&record.recorded_at).ok()?;
    let changes = recorded_changes(directory, action, &record, recorded_at, Some(&entry.payload))?;
    // Payloads of other entries may have been erased, and are not needed.
    let is_hashed = || {
        let salt = entry.salt.as_slice().try_into().ok().map(Salt::from_bytes);
        salt.is_some_and(|salt| payload_hash(&salt, &entry.payload) == record.payload_hash)
    };
    (changes.is_empty() || is_hashed()).then_some(changes)
}

/// A placeholder for a password whose hash is not known. It matches no password.
fn unknown(summary: &PasswordSummary) -> StoredPassword {
    StoredPassword { user_id: summary.user_id.clone(), phc: Arc::from(""), set_at: summary.set_at }
}

/// Rows of which entries contain only the hashes.
#[derive(Default)]
struct DirectoryLookup {
    passwords: HashMap<UserId, StoredPassword>,
    ended: HashMap<TimelineId, EndedTimeline>,
}

async fn look_up(store: &dyn Store, changes: &[Change]) -> Result<DirectoryLookup, StoreError> {
    let password = |change: &Change| match change {
        Change::PutPassword(changes) => Some(changes.user_id.clone()),
        Change::PutUser(_)
        | Change::DeleteUser(_)
        | Change::PutKey(_)
        | Change::RevokeKey { .. }
        | Change::PutSession(_)
        | Change::EndSession(_)
        | Change::EndTimeline(_) => None,
    };
    let users: BTreeSet<UserId> = changes.iter().filter_map(password).collect();
    let ended: BTreeSet<TimelineId> =
        changes.iter().filter_map(Change::ended).map(|ended| ended.timeline_id.clone()).collect();
    if users.is_empty() && ended.is_empty() {
        return Ok(DirectoryLookup::default());
    }
    let UnloggedRows { passwords, ended } =
        store.unlogged_rows(users.into_iter().collect(), ended.into_iter().collect()).await?;
    Ok(DirectoryLookup {
        passwords: passwords.into_iter().map(|password| (password.user_id.clone(), password)).collect(),
        ended: ended.into_iter().map(|ended| (ended.id.clone(), ended)).collect(),
    })
}

/// Fills in the rows that a change refers to by hash. A replaced password is not found, which is fine: if it were the
/// last one, the result would not match the signed rows.
fn resolved(change: Change, found: &DirectoryLookup) -> Result<DirectoryChange, ReloadReason> {
    let password = |summary: PasswordSummary| {
        let stored = found.passwords.get(&summary.user_id).filter(|stored| stored.sha256() == summary.sha256);
        Ok(stored
            .map_or_else(|| unknown(&summary), |stored| StoredPassword { set_at: summary.set_at, ..stored.clone() }))
    };
    let ended = |TimelineEndRecord { timeline_id, size, root }| {
        let stored = found.ended.get(&timeline_id).filter(|stored| (stored.size, stored.root) == (size, root));
        stored.cloned().ok_or(ReloadReason::Otherwise)
    };
    change.try_with(password, ended)
}
