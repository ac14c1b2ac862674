//! Checks in the background that the store still has everything this service has seen.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;

use crate::access::directory_rows::{DirectoryRows, ended_row};
use crate::engine::Engine;
use crate::integrity::divergence::{Divergence, DivergenceKind, SeenTree};
use crate::integrity::opening::moved::refused;
use crate::integrity::opening::signed::{check_current, check_signed};
use crate::integrity::opening::states_of;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::notes::keep_both;
use crate::ledger::stored_statement::signed_text;
use crate::ports::store::{Opened, StoredTree};
use crate::read::long_work::off_thread;
use crate::requests::refusal::Refusal;

/// Timelines checked per call in addition to `system`. The next call continues after them.
pub(crate) const TREES_EXAMINED_MAX: usize = 256;

impl Engine {
    /// Checks that the store still has the entries of some timelines that this service has seen: of `system`, and of
    /// the others in turn. If not, all writing stops, and the service is not ready.
    ///
    /// Call this regularly. Requests detect the same by themselves.
    ///
    /// # Errors
    /// The store does not respond, or it was rolled back.
    #[boxed]
    pub async fn look_back(&self) -> Result<(), Refusal> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        // Read the known state first: later writes only add to it.
        let seen = self.unchecked_states();
        let found = self.store().trees(seen.keys().copied().collect()).await?;
        let mut diverged: Vec<_> =
            found.iter().filter_map(|tree| Some((tree, diverged(seen.get(&tree.timeline)?, tree)?))).collect();
        // If `system` was rolled back too, report that.
        diverged.sort_by_key(|(tree, _)| tree.timeline);
        let Some((tree, divergence)) = diverged.into_iter().next() else { return Ok(()) };
        let refusal = Refusal::Diverged(Arc::new(divergence));
        tracing::error!(%refusal, "nothing is written until a restart");
        if let Refusal::Diverged(divergence) = &refusal {
            let known = seen.get(&tree.timeline).map(|known| &**known);
            keep_both(divergence, known, self.ports(), self.options());
        }
        self.stop_writing(refusal.clone());
        Err(refusal)
    }

    /// Waits until the directory was updated from entries, so that its rows have not been compared yet.
    #[boxed]
    pub async fn directory_moved(&self) {
        self.shared().following.rows_moved.notified().await;
    }

    /// Compares the rows of the directory with the signed ones, concurrently with the writer. If they differ, they were
    /// tampered with, and all writing stops. The cost is proportional to the number of rows.
    ///
    /// # Errors
    /// The store does not respond, or the rows differ.
    #[boxed]
    pub async fn compare_directory(&self) -> Result<(), Refusal> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let opened = self.store().open_directory().await;
        // Try again later if the store does not respond.
        let opened = opened.inspect_err(|_| self.shared().following.rows_moved.notify_one());
        let Opened { heads, ended, directory, .. } = opened?;
        let Some(system) = states_of(heads, &[]).into_values().next() else { return Ok(()) };
        if check_current(&system, self.ports(), self.options()).is_err() {
            // The next write detects this.
            return Ok(());
        }
        let root = off_thread(move || {
            let ended = ended.iter().map(|ended| ended_row(&ended.id, ended.size, ended.root));
            DirectoryRows::of(&directory, ended).root()
        })
        .await?;
        let checked = check_signed(self.store(), &system, root, self.ports(), self.options()).await.map_err(refused);
        let Err(refusal @ Refusal::Damaged(_)) = checked else { return checked };
        if let Some(refusal) = self.shared().misread(self.store(), &refusal).await {
            return Err(refusal);
        }
        tracing::error!(%refusal, "nothing is written until a restart");
        let unavailable = Refusal::Unavailable(refusal.to_string());
        self.stop_writing(unavailable.clone());
        Err(unavailable)
    }

    fn unchecked_states(&self) -> HashMap<TimelineKey, Arc<TimelineState>> {
        let mut states = self.states();
        states.sort_unstable_by_key(|state| state.head.key);
        let after = TimelineKey(self.shared().following.checked_until.load(Ordering::Relaxed));
        let first = states.partition_point(|state| state.head.key <= after);
        let turn: Vec<_> = states[first..].iter().take(TREES_EXAMINED_MAX).cloned().collect();
        let last = turn.last().filter(|_| turn.len() == TREES_EXAMINED_MAX);
        let next = last.map_or(i64::MIN, |last| last.head.key.0);
        self.shared().following.checked_until.store(next, Ordering::Relaxed);
        let system = self.state(&TimelineId::system());
        turn.into_iter().chain(system).map(|state| (state.head.key, state)).collect()
    }
}

fn diverged(seen: &TimelineState, found: &StoredTree) -> Option<Divergence> {
    let tree = |size, root| SeenTree { size, root };
    let (known, now) = (tree(seen.head.frontier.size(), seen.root), tree(found.frontier.size(), found.frontier.root()));
    let kind = match now.size.cmp(&known.size) {
        std::cmp::Ordering::Less => DivergenceKind::Rollback,
        std::cmp::Ordering::Equal if now.root != known.root => DivergenceKind::Fork,
        // Additional entries are verified when they are loaded.
        std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => return None,
    };
    Some(Divergence {
        timeline: seen.head.id.clone(),
        kind,
        seen: known,
        found: now,
        found_statement: signed_text(&found.statement),
    })
}
