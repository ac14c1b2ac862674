//! Loading commits of other writers.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use timenav_core::directory::Directory;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Frontier, Hash, leaf_hash};
use timenav_core::limits::FORK_DEPTH_MAX;

use super::catch_up::{CatchUpError, ReloadReason, directory_after};
use super::later::{check_since, later_entry};
use super::signed::{check_current, check_signed, rows_of};
use super::{OpenError, heads_of};
use crate::access::directory_rows::DirectoryRows;
use crate::integrity::divergence::{Divergence, DivergenceKind, SeenTree};
use crate::ledger::head::{EndedTimeline, Head, Layer, TimelineKey, TimelineState};
use crate::ledger::statement::StatementState;
use crate::ledger::stored_statement::signed_text;
use crate::ledger::tree::{SignedTree, root_at};
use crate::ports::all::Ports;
use crate::ports::store::Store;
use crate::requests::options::Options;
use crate::requests::refusal::Refusal;
use crate::writer::heads::Heads;

/// How often to read heads again, if another one is needed or rows were read too late.
const READ_AGAIN_MAX: usize = 4;
/// Entries read per timeline to verify that it continues the known tree. Beyond that, a proof is shorter.
const LEAVES_READ_MAX: u64 = 64;
/// Maximum number of entries read at a time for several timelines, to bound memory.
const LEAVES_READ_TOGETHER_MAX: u64 = 16_384;

pub(crate) struct Moved {
    /// All heads and the directory, if a full reload was needed.
    pub(crate) heads: Option<Heads>,
    /// The directory and its rows, if they were updated from entries.
    pub(crate) directory: Option<(Arc<Directory>, Arc<DirectoryRows>)>,
    pub(crate) states: Vec<Arc<TimelineState>>,
    pub(crate) ended: Vec<EndedTimeline>,
}

/// Returns the newest heads. Each must be signed and must continue the known one, so that nothing tampered with is
/// loaded.
pub(crate) async fn heads_moved(
    store: &dyn Store,
    before: &Heads,
    ports: &Ports,
    options: &Options,
) -> Result<Moved, Refusal> {
    let opened = heads_of(store, store.open().await?, ports).await;
    let (mut heads, mut ended) = opened.map_err(refused)?;
    if let Some(system) = heads.get(&TimelineId::system()) {
        let known = before.get(&TimelineId::system()).map_or(0, |known| known.head.frontier.size());
        // Check this first, so that an unknown entry is not reported as tampering.
        if let Some(later) = later_entry(store, &system.head, known).await? {
            return Err(later.into());
        }
    }
    let is_over = |id: &TimelineId| heads.get(id).is_none() && heads.rows.has_ended(id);
    ended.retain(|ended| before.get(&ended.id).is_some_and(|known| known.head.key == ended.key) && is_over(&ended.id));
    let is_missing = |known: &&Arc<TimelineState>| heads.get(&known.head.id).is_none() && !is_over(&known.head.id);
    let missing = before.all().filter(is_missing).min_by_key(|known| known.head.key);
    let mut states = Vec::new();
    for state in heads.all() {
        let known = before.get(&state.head.id);
        if known.is_some_and(|known| known.root == state.root) {
            continue;
        }
        check_current(state, ports, options)?;
        check_signed(store, state, heads.rows.root(), ports, options).await.map_err(refused)?;
        if let Some(known) = known {
            check_continued(store, known, state).await?;
        }
        states.push(Arc::clone(state));
    }
    // If `system` went back too, that was reported above.
    if let Some(missing) = missing {
        return Err(diverged(DivergenceKind::Rollback, missing, None));
    }
    // Without a new entry, nothing has changed: rows that were tampered with are not loaded.
    let is_known = |state: &TimelineState| before.get(&state.head.id).is_some_and(|known| known.root == state.root);
    let stays = |known: &TimelineState| heads.get(&known.head.id).is_some_and(|state| state.root == known.root);
    let unmoved: Vec<_> = before.all().filter(|known| stays(known)).cloned().collect();
    let has_system_moved = !heads.get(&TimelineId::system()).is_some_and(|system| is_known(system));
    let now = if has_system_moved { &heads } else { before };
    let (directory, rows) = (Arc::clone(&now.directory), Arc::clone(&now.rows));
    heads.take_over(unmoved, directory, rows);
    Ok(Moved { heads: Some(heads), directory: None, states, ended })
}

pub(crate) enum SomeMoved {
    Moved(Moved),
    /// All timelines must be read, by [`heads_moved`].
    ReloadReason(ReloadReason),
}

/// Like [`heads_moved`], for timelines that are known to have moved and for all new ones. The cost is proportional to
/// these, plus the entries that changed the directory.
pub(crate) async fn some_moved(
    store: &dyn Store,
    before: &Heads,
    moved: &[TimelineKey],
    ports: &Ports,
    options: &Options,
) -> Result<SomeMoved, Refusal> {
    let mut requested: BTreeSet<TimelineKey> = moved.iter().copied().collect();
    let (mut reason, taking) = (ReloadReason::Moving, Taking { store, before, ports, options });
    for _ in 0..READ_AGAIN_MAX {
        match taking.take(&requested).await {
            Ok(moved) => return Ok(SomeMoved::Moved(moved)),
            Err(NotTaken::Also(timeline)) => {
                requested.insert(timeline);
                reason = ReloadReason::Moving;
            }
            // The rows may have been read later than the entries.
            Err(NotTaken::Not(CatchUpError::ReloadReason(ReloadReason::Otherwise))) => reason = ReloadReason::Otherwise,
            Err(NotTaken::Not(CatchUpError::ReloadReason(reason))) => return Ok(SomeMoved::ReloadReason(reason)),
            Err(NotTaken::Not(CatchUpError::Refused(refusal))) => return Err(refusal),
        }
    }
    Ok(SomeMoved::ReloadReason(reason))
}

enum NotTaken {
    /// Another timeline must be read together with them.
    Also(TimelineKey),
    Not(CatchUpError),
}

impl<E: Into<CatchUpError>> From<E> for NotTaken {
    fn from(error: E) -> Self {
        Self::Not(error.into())
    }
}

struct Taking<'a> {
    store: &'a dyn Store,
    before: &'a Heads,
    ports: &'a Ports,
    options: &'a Options,
}

impl Taking<'_> {
    async fn take(&self, requested: &BTreeSet<TimelineKey>) -> Result<Moved, NotTaken> {
        let (store, before) = (self.store, self.before);
        let keys: Vec<TimelineKey> = requested.iter().copied().collect();
        let found = store.newest(&keys, before.known_keys()).await?;
        let system_changes = match found.iter().find(|head| head.id.is_system()) {
            Some(system) if system.directory != before.directory.version => {
                Some(directory_after(store, before, system).await?)
            }
            Some(system) => {
                check_since(store, before, system).await?;
                None
            }
            None => None,
        };
        let ended = system_changes.as_ref().map_or_else(Vec::new, |system_changes| system_changes.ended.clone());
        self.check_missing(requested, &found, &ended)?;
        let rows = system_changes.as_ref().map_or_else(|| &before.rows, |system_changes| &system_changes.rows);
        let grown = self.grown(&found).await?;
        let mut states: Vec<Arc<TimelineState>> = Vec::with_capacity(found.len());
        for head in found {
            let known = before.get(&head.id).map(|known| &**known);
            if known.is_some_and(|known| known.root == head.frontier.root()) {
                continue;
            }
            let origin = self.origin_of(&head, known, (&states, &ended)).await?;
            let state = state_of(head, origin, rows.root());
            self.check(&state, (rows.root(), system_changes.is_some())).await?;
            if let Some(known) = known.filter(|_| !grown.contains(&state.head.key)) {
                check_continued(store, known, &state).await?;
            }
            states.push(Arc::new(state));
        }
        let directory = system_changes.map(|system_changes| (system_changes.directory, system_changes.rows));
        Ok(Moved { heads: None, directory, states, ended })
    }

    /// Returns the timelines whose new entries, appended to the known tree, result in the found tree. The entries are
    /// read for all timelines together, because the caller may hold their locks. The other timelines need a proof.
    async fn grown(&self, found: &[Head]) -> Result<BTreeSet<TimelineKey>, Refusal> {
        let known = |head: &Head| self.before.get(&head.id).filter(|known| known.head.key == head.key);
        let added = |head: &Head| {
            let (before, after) = (known(head)?.head.frontier.size(), head.frontier.size());
            (before < after && after - before <= LEAVES_READ_MAX).then_some((head.key, before..after))
        };
        let mut grown = BTreeSet::new();
        for requested in read_together(found.iter().filter_map(added), LEAVES_READ_TOGETHER_MAX) {
            let keys: Vec<TimelineKey> = requested.iter().map(|(key, _)| *key).collect();
            let leaves: HashMap<_, _> = keys.into_iter().zip(self.store.leaves_of(requested).await?).collect();
            let is_grown = |head: &&Head| {
                let Some((known, leaves)) = known(head).zip(leaves.get(&head.key)) else { return false };
                let mut frontier = known.head.frontier.clone();
                for leaf in leaves {
                    frontier.push(leaf_hash(leaf));
                }
                frontier == head.frontier
            };
            grown.extend(found.iter().filter(is_grown).map(|head| head.key));
        }
        Ok(grown)
    }

    fn check_missing(
        &self,
        requested: &BTreeSet<TimelineKey>,
        found: &[Head],
        ended: &[EndedTimeline],
    ) -> Result<(), NotTaken> {
        let is_reported = |key: &TimelineKey| {
            found.iter().any(|head| head.key == *key) || ended.iter().any(|ended| ended.key == *key)
        };
        let missing: BTreeSet<TimelineKey> = requested.iter().copied().filter(|key| !is_reported(key)).collect();
        // Timelines that were never known may have been created and ended since.
        if missing.is_empty() || !self.before.all().any(|state| missing.contains(&state.head.key)) {
            return Ok(());
        }
        match self.before.get(&TimelineId::system()) {
            Some(system) if !requested.contains(&system.head.key) => Err(NotTaken::Also(system.head.key)),
            Some(_) | None => Err(ReloadReason::Missing.into()),
        }
    }

    /// If the directory was updated from entries, its rows must match the signed ones.
    async fn check(&self, state: &TimelineState, (directory_root, is_reported): (Hash, bool)) -> Result<(), NotTaken> {
        let Self { store, ports, options, .. } = *self;
        check_current(state, ports, options)?;
        let is_signed = || rows_of(state, directory_root, ports, options) != StatementState::Not;
        if is_reported && state.head.id.is_system() && !is_signed() {
            return Err(ReloadReason::Otherwise.into());
        }
        Ok(check_signed(store, state, directory_root, ports, options).await.map_err(refused)?)
    }

    async fn origin_of(
        &self,
        head: &Head,
        known: Option<&TimelineState>,
        (new, ended): (&[Arc<TimelineState>], &[EndedTimeline]),
    ) -> Result<Origin, NotTaken> {
        if let Some(known) = known {
            let (ancestors, lineage) = (Arc::clone(&known.ancestors), Arc::clone(&known.lineage));
            return Ok(Origin { ancestors, lineage, fork_root: known.fork_root });
        }
        let Some(first) = head.fork else {
            return Ok(Origin { ancestors: Arc::from([]), lineage: Arc::from([]), fork_root: None });
        };
        let (mut ancestors, mut lineage, mut over) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(fork) = next.take() {
            if let Some(parent) =
                ended.iter().find(|ended| ended.key == fork.of).filter(|_| over.len() < FORK_DEPTH_MAX)
            {
                let layer = Layer { timeline: fork.of, as_of: fork.size, overrides: parent.overrides };
                over.push((layer, parent.id.clone()));
                next = parent.fork;
                continue;
            }
            let mut all_heads = new.iter().chain(self.before.all());
            let parent = all_heads.find(|state| state.head.key == fork.of).ok_or(ReloadReason::Missing)?;
            // Only a head that has reached the fork says whether events were changed there before it.
            if parent.head.frontier.size() < fork.size {
                return Err(NotTaken::Also(fork.of));
            }
            ancestors.extend_from_slice(&parent.layers(fork.size));
            lineage = parent.names_of(&ancestors);
        }
        for (layer, name) in over.into_iter().rev() {
            ancestors.push(layer);
            lineage.push(name);
        }
        let fork_root = Some(root_at(self.store, first.of, first.size).await?);
        Ok(Origin { ancestors: ancestors.into(), lineage: lineage.into(), fork_root })
    }
}

type Entries = (TimelineKey, Range<u64>);

/// Splits entries of timelines into groups of limited size, without splitting a timeline.
fn read_together(of: impl Iterator<Item = Entries>, entries_max: u64) -> Vec<Vec<Entries>> {
    let (mut groups, mut room) = (Vec::<Vec<Entries>>::new(), 0);
    for (timeline, entries) in of {
        let count = entries.end - entries.start;
        if let Some(group) = groups.last_mut().filter(|_| count <= room) {
            room -= count;
            group.push((timeline, entries));
        } else {
            room = entries_max.saturating_sub(count);
            groups.push(vec![(timeline, entries)]);
        }
    }
    groups
}

async fn check_continued(store: &dyn Store, known: &TimelineState, state: &TimelineState) -> Result<(), Refusal> {
    let (size, found) = (known.head.frontier.size(), state.head.frontier.size());
    if found < size {
        return Err(diverged(DivergenceKind::Rollback, known, Some(state)));
    }
    let is_other = found == size || state.head.key != known.head.key;
    if is_other || !SignedTree::of(state).begins_with(store, (size, known.root)).await? {
        return Err(diverged(DivergenceKind::Fork, known, Some(state)));
    }
    Ok(())
}

/// Returns the refusal for a ledger that does not continue the known one; `None` for `found` if it is missing.
fn diverged(kind: DivergenceKind, known: &TimelineState, found: Option<&TimelineState>) -> Refusal {
    let tree = |state: &TimelineState| SeenTree { size: state.head.frontier.size(), root: state.root };
    Refusal::Diverged(Arc::new(Divergence {
        timeline: known.head.id.clone(),
        kind,
        seen: tree(known),
        found: found.map_or(SeenTree { size: 0, root: Frontier::default().root() }, tree),
        found_statement: found.map(|state| signed_text(&state.head.statement)).unwrap_or_default(),
    }))
}

struct Origin {
    ancestors: Arc<[Layer]>,
    lineage: Arc<[TimelineId]>,
    fork_root: Option<Hash>,
}

fn state_of(head: Head, origin: Origin, directory_root: Hash) -> TimelineState {
    let Origin { ancestors, lineage, fork_root } = origin;
    let directory_root = head.id.is_system().then_some(directory_root);
    TimelineState {
        root: head.frontier.root(),
        fork_root,
        directory_root,
        ancestors,
        lineage,
        // It is not known which of the new entries changed an event.
        events_changed_at: head.frontier.size(),
        note: OnceLock::new(),
        head,
    }
}

pub(crate) fn refused(error: OpenError) -> Refusal {
    match error {
        OpenError::Store(error) => error.into(),
        error => Refusal::Damaged(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_grouped_up_to_the_limit_without_omissions() {
        let counts = [3, 3, 3, 10, 12, 1, 9, 1];
        let of: Vec<Entries> = (1..).zip(counts).map(|(key, count)| (TimelineKey(key), 5..5 + count)).collect();
        let groups = read_together(of.iter().cloned(), 10);
        let sizes: Vec<Vec<u64>> =
            groups.iter().map(|group| group.iter().map(|(_, at)| at.end - at.start).collect()).collect();
        // A range above the limit is read alone.
        assert_eq!(sizes, [vec![3, 3, 3], vec![10], vec![12], vec![1, 9], vec![1]]);
        assert_eq!(groups.concat(), of);
    }
}
