//! What other writers have committed, taken over.

use std::sync::Arc;

use timenav_core::ids::TimelineId;

use super::signed::check_signed;
use super::{OpenError, heads_of};
use crate::doors::Doors;
use crate::head::{EndedTimeline, TimelineState};
use crate::heads::Heads;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::store::Store;
use crate::tree::root_at;

/// What other writers have committed.
pub(crate) struct Moved {
    pub(crate) heads: Heads,
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
    let (mut heads, mut ended) = opened.map_err(|error| match error {
        OpenError::Store(error) => error.into(),
        error => Refusal::Damaged(error.to_string()),
    })?;
    let is_over = |id: &TimelineId| heads.get(id).is_none() && heads.rows().has_ended(id);
    ended.retain(|ended| before.get(&ended.id).is_some_and(|known| known.head.key == ended.key) && is_over(&ended.id));
    if let Some(gone) = before.all().find(|known| heads.get(&known.head.id).is_none() && !is_over(&known.head.id)) {
        return Err(Refusal::Damaged(format!("timeline `{}` is gone from the store", gone.head.id)));
    }
    let mut states = Vec::new();
    for state in heads.all() {
        let known = before.get(&state.head.id);
        if known.is_some_and(|known| known.root == state.root) {
            continue;
        }
        check_signed(store, state, &heads, doors, options)
            .await
            .map_err(|error| Refusal::Damaged(error.to_string()))?;
        if let Some(known) = known {
            let size = known.head.frontier.size();
            let is_longer = state.head.frontier.size() > size && state.head.key == known.head.key;
            if !is_longer || root_at(store, known.head.key, size).await? != known.root {
                let what = format!("timeline `{}` does not continue its {size} entries", state.head.id);
                return Err(Refusal::Damaged(what));
            }
        }
        states.push(Arc::clone(state));
    }
    // What no entry tells of has not changed: rows that another hand has written are not taken over.
    let is_known = |state: &TimelineState| before.get(&state.head.id).is_some_and(|known| known.root == state.root);
    let stays = |known: &TimelineState| heads.get(&known.head.id).is_some_and(|state| state.root == known.root);
    let unmoved: Vec<_> = before.all().filter(|known| stays(known)).cloned().collect();
    let has_system_moved = !heads.get(&TimelineId::system()).is_some_and(|system| is_known(system));
    let now = if has_system_moved { &heads } else { before };
    let (directory, rows) = (Arc::clone(now.directory()), Arc::clone(now.rows()));
    heads.take_over(unmoved, directory, rows);
    Ok(Moved { heads, states, ended })
}
