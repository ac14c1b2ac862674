//! What other writers have committed, taken over.

use std::sync::{Arc, OnceLock};

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Frontier, Hash};

use super::signed::{check_current, check_signed};
use super::{OpenError, heads_of};
use crate::divergence::{Divergence, DivergenceKind, SeenTree};
use crate::doors::Doors;
use crate::head::{EndedTimeline, Head, Layer, TimelineKey, TimelineState};
use crate::heads::Heads;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::stated::signed_text;
use crate::store::Store;
use crate::tree::{SignedTree, root_at};

/// What other writers have committed.
pub(crate) struct Moved {
    /// All heads and the directory anew, where that was needed.
    pub(crate) heads: Option<Heads>,
    /// The timelines that are new, or have grown.
    pub(crate) states: Vec<Arc<TimelineState>>,
    /// Timelines that have ended.
    pub(crate) ended: Vec<EndedTimeline>,
}

/// Returns the newest heads. Each of them is signed, and goes on from the one that is known: nothing that another hand
/// has put into the store is taken over.
///
/// # Errors
/// The store cannot be read, or what is in it is not what went on from here.
pub(crate) async fn heads_moved(
    store: &dyn Store,
    before: &Heads,
    doors: &Doors,
    options: &Options,
) -> Result<Moved, Refusal> {
    let opened = heads_of(store, store.open().await?, doors).await;
    let (mut heads, mut ended) = opened.map_err(refused)?;
    let is_over = |id: &TimelineId| heads.get(id).is_none() && heads.rows().has_ended(id);
    ended.retain(|ended| before.get(&ended.id).is_some_and(|known| known.head.key == ended.key) && is_over(&ended.id));
    let is_gone = |known: &&Arc<TimelineState>| heads.get(&known.head.id).is_none() && !is_over(&known.head.id);
    let gone = before.all().filter(is_gone).min_by_key(|known| known.head.key);
    let mut states = Vec::new();
    for state in heads.all() {
        let known = before.get(&state.head.id);
        if known.is_some_and(|known| known.root == state.root) {
            continue;
        }
        check_current(state, doors, options)?;
        check_signed(store, state, &heads, doors, options).await.map_err(refused)?;
        if let Some(known) = known {
            check_continued(store, known, state).await?;
        }
        states.push(Arc::clone(state));
    }
    // Where `system` went back too, it was named before.
    if let Some(gone) = gone {
        return Err(diverged(DivergenceKind::Rollback, gone, None));
    }
    // What no entry tells of has not changed: rows that another hand has written are not taken over.
    let is_known = |state: &TimelineState| before.get(&state.head.id).is_some_and(|known| known.root == state.root);
    let stays = |known: &TimelineState| heads.get(&known.head.id).is_some_and(|state| state.root == known.root);
    let unmoved: Vec<_> = before.all().filter(|known| stays(known)).cloned().collect();
    let has_system_moved = !heads.get(&TimelineId::system()).is_some_and(|system| is_known(system));
    let now = if has_system_moved { &heads } else { before };
    let (directory, rows) = (Arc::clone(now.directory()), Arc::clone(now.rows()));
    heads.take_over(unmoved, directory, rows);
    Ok(Moved { heads: Some(heads), states, ended })
}

/// As [`heads_moved`], of some timelines that are known to have moved, and of all that are new. Costs no more than these,
/// as long as the directory is the same.
///
/// # Errors
/// As those of [`heads_moved`].
pub(crate) async fn some_moved(
    store: &dyn Store,
    before: &Heads,
    moved: &[TimelineKey],
    doors: &Doors,
    options: &Options,
) -> Result<Moved, Refusal> {
    let found = store.newest(moved, before.known_keys()).await?;
    let is_same = |head: &Head| !head.id.is_system() || head.directory == before.directory().version;
    let is_found = |key: &TimelineKey| found.iter().any(|head| head.key == *key);
    if !found.iter().all(is_same) || !moved.iter().all(is_found) {
        return heads_moved(store, before, doors, options).await;
    }
    let mut states: Vec<Arc<TimelineState>> = Vec::with_capacity(found.len());
    for head in found {
        let known = before.get(&head.id).map(|known| &**known);
        if known.is_some_and(|known| known.root == head.frontier.root()) {
            continue;
        }
        let Some(origin) = origin_of(store, &head, known, (before, &states)).await? else {
            return heads_moved(store, before, doors, options).await;
        };
        let state = state_of(head, origin, before);
        check_current(&state, doors, options)?;
        check_signed(store, &state, before, doors, options).await.map_err(refused)?;
        if let Some(known) = known {
            check_continued(store, known, &state).await?;
        }
        states.push(Arc::new(state));
    }
    Ok(Moved { heads: None, states, ended: Vec::new() })
}

/// Makes sure that a timeline goes on from what is known of it: that the tree which was signed begins with the known one.
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

/// Returns that a ledger in the store does not go on from what is known of it; `None` where it is gone.
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

/// What a timeline goes on from.
struct Origin {
    ancestors: Arc<[Layer]>,
    lineage: Arc<[TimelineId]>,
    fork_root: Option<Hash>,
}

/// Returns what a timeline goes on from; `None` where that is no timeline that stands.
async fn origin_of(
    store: &dyn Store,
    head: &Head,
    known: Option<&TimelineState>,
    (before, new): (&Heads, &[Arc<TimelineState>]),
) -> Result<Option<Origin>, Refusal> {
    if let Some(known) = known {
        let (ancestors, lineage) = (Arc::clone(&known.ancestors), Arc::clone(&known.lineage));
        return Ok(Some(Origin { ancestors, lineage, fork_root: known.fork_root }));
    }
    let Some(fork) = head.fork else {
        return Ok(Some(Origin { ancestors: Arc::from([]), lineage: Arc::from([]), fork_root: None }));
    };
    let Some(parent) = new.iter().chain(before.all()).find(|state| state.head.key == fork.of) else { return Ok(None) };
    let ancestors = parent.layers(fork.size);
    let lineage = parent.names_of(&ancestors).into();
    Ok(Some(Origin { ancestors, lineage, fork_root: Some(root_at(store, fork.of, fork.size).await?) }))
}

fn state_of(head: Head, origin: Origin, before: &Heads) -> TimelineState {
    let Origin { ancestors, lineage, fork_root } = origin;
    let directory_root = head.id.is_system().then(|| before.rows().root());
    TimelineState {
        root: head.frontier.root(),
        fork_root,
        directory_root,
        ancestors,
        lineage,
        // Which of the entries since changed an event is not looked at.
        events_changed_at: head.frontier.size(),
        note: OnceLock::new(),
        head,
    }
}

fn refused(error: OpenError) -> Refusal {
    match error {
        OpenError::Store(error) => error.into(),
        error => Refusal::Damaged(error.to_string()),
    }
}
