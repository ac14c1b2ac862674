//! Compares the commitments of `system` from before the start with the timelines.
//!
//! Each `heads` entry names the previous one, and a timeline without recent writes may have been named long ago. All
//! entries are searched as long as a timeline is missing, in pages, so that new commitments wait only for one page.

use async_recursion::async_recursion as boxed;
use timenav_core::ledger::{CommittedHead, LeafRecord};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use crate::engine::Engine;
use crate::integrity::witnessed::{HeadAt, HeadsWalk};
use crate::integrity::witnessing::Recall;
use crate::ledger::head::TimelineState;
use crate::ledger::tree::SignedTree;
use crate::requests::refusal::Refusal;

const RECALLED_HEADS_PAGE: usize = 1_024;

impl Engine {
    /// Reads the first page of `heads` entries at startup, and compares them with the timelines.
    /// [`Engine::recall_more_heads`] continues. A contradiction is returned, and also reported by [`Engine::ready`]
    /// from then on.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn recall_heads(&self) -> Result<Option<String>, Refusal> {
        let _one_at_a_time = self.witnessed().committing.lock().await;
        let system = self.system_state()?;
        let Recall { newest, is_accepted } = self.newest_heads(&system).await?;
        {
            let mut commitments = self.witnessed().commitments.lock();
            (commitments.last, commitments.searched_to) =
                (commitments.last.max(newest), commitments.searched_to.max(system.head.frontier.size()));
        }
        let states = self.states();
        let named = states.iter().filter(|state| !state.head.id.is_system() && state.head.id.adopting_fork().is_none());
        let missing = named.map(|state| state.head.key).collect();
        self.walk_heads(&system, HeadsWalk { next: newest, missing, is_accepted, has_forgotten: false }).await
    }

    /// Reads another page. Returns whether there may be more.
    ///
    /// # Errors
    /// The store does not respond. Call it again later.
    #[boxed]
    pub async fn recall_more_heads(&self) -> Result<bool, Refusal> {
        let _one_at_a_time = self.witnessed().committing.lock().await;
        let walk = self.witnessed().walk.lock().take();
        let Some(walk) = walk else { return Ok(false) };
        let system = self.system_state()?;
        self.walk_heads(&system, walk).await?;
        Ok(self.witnessed().walk.lock().is_some())
    }

    async fn walk_heads(&self, system: &TimelineState, mut walk: HeadsWalk) -> Result<Option<String>, Refusal> {
        let mut contradiction = None;
        let walked = self.walk_page(system, &mut walk, &mut contradiction).await;
        if let Some(why) = &contradiction {
            self.witnessed().contradiction.lock().get_or_insert_with(|| why.clone());
        }
        *self.witnessed().walk.lock() = Some(walk).filter(|walk| walk.next.is_some());
        walked.map(|()| contradiction)
    }

    async fn walk_page(
        &self,
        system: &TimelineState,
        walk: &mut HeadsWalk,
        contradiction: &mut Option<String>,
    ) -> Result<(), Refusal> {
        for _ in 0..RECALLED_HEADS_PAGE {
            let Some(position) = walk.next else { break };
            let (heads, leaf) = match self.heads_at(system, position).await {
                Ok(heads) => heads,
                Err(Refusal::Damaged(what)) => {
                    contradiction.get_or_insert(what);
                    walk.next = None;
                    break;
                }
                Err(refusal) => return Err(refusal),
            };
            self.forget_newer(&leaf, walk);
            for (index, head) in heads.as_slice().iter().enumerate() {
                let at = HeadAt { position, index, size: head.size };
                self.compare_commitments(head, at, walk, contradiction).await?;
            }
            // A damaged entry that does not go back must not cause an infinite loop.
            walk.next = heads.previous.filter(|previous| !walk.missing.is_empty() && *previous < position);
        }
        Ok(())
    }

    /// Stops the search for timelines created after an entry, which no earlier entry can name.
    fn forget_newer(&self, leaf: &[u8], walk: &mut HeadsWalk) {
        if walk.has_forgotten {
            return;
        }
        walk.has_forgotten = true;
        let recorded_at = LeafRecord::decode(leaf).ok().and_then(|record| parse_timestamp(&record.recorded_at).ok());
        let Some(recorded_at): Option<Instant<Wall>> = recorded_at else { return };
        for state in self.states() {
            if state.head.created_at > recorded_at {
                walk.missing.remove(&state.head.key);
            }
        }
    }

    /// Compares the head of a timeline in an entry, unless a later entry has named it.
    async fn compare_commitments(
        &self,
        head: &CommittedHead,
        at: HeadAt,
        walk: &mut HeadsWalk,
        contradiction: &mut Option<String>,
    ) -> Result<(), Refusal> {
        let cosigned_size = self.witnessed().size();
        let Some(state) = self.state_even_expired(&head.timeline_id) else {
            if !self.has_ended(&head.timeline_id) && !walk.is_accepted {
                contradiction.get_or_insert_with(|| lost(head, "the timeline no longer exists"));
            }
            return Ok(());
        };
        let key = state.head.key;
        let wrong = if walk.missing.remove(&key) { self.compare_head(&state, head).await? } else { None };
        match wrong {
            Some(why) if walk.is_accepted => tracing::warn!("accepted by an operator: {why}"),
            Some(why) => drop(contradiction.get_or_insert(why)),
            None => self.witnessed().commitments.lock().insert_walked(key, at, cosigned_size),
        }
        Ok(())
    }

    async fn compare_head(&self, state: &TimelineState, head: &CommittedHead) -> Result<Option<String>, Refusal> {
        let size = state.head.frontier.size();
        if size < head.size {
            return Ok(Some(lost(head, &format!("the timeline has {size}"))));
        }
        match SignedTree::of(state).begins_with(self.store(), (head.size, head.root)).await {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(lost(head, "they differ now"))),
            Err(Refusal::Damaged(what)) => Ok(Some(lost(head, &what))),
            Err(refusal) => Err(refusal),
        }
    }
}

fn lost(head: &CommittedHead, how: &str) -> String {
    let CommittedHead { size, timeline_id, .. } = head;
    format!("rollback: `system` was committed to {size} entries of `{timeline_id}`, but {how}")
}
