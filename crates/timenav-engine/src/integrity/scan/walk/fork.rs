use std::collections::BTreeMap;

use timenav_core::clock::Moment;
use timenav_core::ids::{AnchorId, TimelineId};
use timenav_core::ledger::Hash;
use timenav_core::scan::FindingKind;

use super::{BLOCK_ANCHORS, ScanWalk};
use crate::integrity::scan::{replay::Replay, report::Checked, tree};
use crate::ledger::head::TimelineKey;
use crate::ledger::payload::anchor_in_entry;
use crate::ledger::tree::SignedTree;
use crate::ports::archive::ScanSource;
use crate::ports::store_error::StoreError;
use crate::requests::refusal::Refusal;

async fn parent_of(source: &dyn ScanSource, parent: &TimelineId) -> Result<Option<(TimelineKey, u64)>, StoreError> {
    if let Some(known) = source.snapshot(parent).await? {
        return Ok(Some((known.head.key, known.head.frontier.size())));
    }
    Ok(source.ended(parent).await?.map(|ended| (ended.key, ended.size)))
}

impl ScanWalk<'_, '_> {
    /// The shared entries are scanned with the origin, not here.
    pub(super) async fn compare_fork(&mut self, replay: &Replay) -> Result<(), StoreError> {
        let Some(fork) = &replay.fork else { return Ok(()) };
        let mut found = |kind, what: &str| {
            let evidence = format!("forked from the first {} entries of `{}`: {what}", fork.size, fork.fork_of);
            self.findings.add(kind, Some(0), evidence);
        };
        // If another service wrote the first entry, the named origin is a timeline of that service.
        let is_adopted = !self.snapshot.head.origins.is_empty();
        let parent = TimelineId::new(&fork.fork_of).ok();
        let parent = parent
            .map(|parent| if is_adopted { TimelineId::layer_of(&self.request.timeline, &parent) } else { parent });
        let known = match &parent {
            Some(parent) => parent_of(self.request.source, parent).await?,
            None => None,
        };
        let Some((key, size)) = known else {
            found(FindingKind::StateMismatch, "there is no such timeline");
            return Ok(());
        };
        if self.snapshot.head.fork.is_none_or(|stored| stored.of != key) {
            found(FindingKind::StateMismatch, "table timelines names another one");
        }
        if size < fork.size {
            found(FindingKind::Rollback, &format!("it has {size} entries"));
            return Ok(());
        }
        let root = tree::root(self.request.source, key, fork.size, &mut self.findings).await?;
        if root.is_some_and(|root| root.to_hex() != fork.root) {
            let evidence =
                format!("the first {} entries of `{}` differ from those it was forked from", fork.size, fork.fork_of);
            self.findings.add(FindingKind::Fork, Some(0), evidence);
        }
        self.checked.push(Checked { what: "forks", count: 1 });
        let signed = Hash::from_hex(&fork.root).filter(|signed| root == Some(*signed));
        if let Some((id, root)) = parent.clone().zip(signed) {
            self.compare_returns(SignedTree { key, id, size: fork.size, root }, is_adopted, replay).await?;
        }
        match parent.filter(|_| is_adopted) {
            Some(layer) => Box::pin(self.compare_layers(layer, replay.recorded_layers.clone())).await,
            None => Ok(()),
        }
    }

    async fn compare_returns(
        &mut self,
        newest: SignedTree,
        is_adopted: bool,
        replay: &Replay,
    ) -> Result<(), StoreError> {
        let mut returns = replay.inherited_returns();
        let mut next = Some(newest);
        while let Some(tree) = next.take().filter(|_| !returns.is_empty()) {
            self.compare_returns_to(&tree, &mut returns).await?;
            let adopted_as = is_adopted.then_some(&self.request.timeline);
            next = match goes_on_from(self.request.source, &tree, adopted_as).await {
                Ok(before) => before,
                Err(Refusal::Damaged(what)) => {
                    self.findings.add(FindingKind::StateMismatch, Some(0), what);
                    return Ok(());
                }
                Err(error) => return Err(StoreError::Unavailable(error.to_string())),
            };
        }
        for (anchor_id, (position, _)) in returns {
            let evidence = format!("no entry before it set the anchor `{anchor_id}`");
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
        Ok(())
    }

    /// Compares returns to the anchors of one timeline, and removes them from the list.
    async fn compare_returns_to(
        &mut self,
        tree: &SignedTree,
        returns: &mut BTreeMap<AnchorId, (u64, Moment)>,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.request.source.anchor_rows(tree.key, after, BLOCK_ANCHORS).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.position);
            for row in page.into_iter().filter(|row| row.position < tree.size) {
                let Some((position, moment)) = returns.remove(&row.anchor_id) else { continue };
                let entry = match tree.entry(self.request.source, row.position).await {
                    Ok(entry) => entry,
                    Err(Refusal::Damaged(what)) => {
                        self.findings.add(FindingKind::StateMismatch, Some(position), what);
                        continue;
                    }
                    Err(error) => return Err(StoreError::Unavailable(error.to_string())),
                };
                let marked = anchor_in_entry(&entry).filter(|marked_row| marked_row.anchor_id == row.anchor_id);
                if marked.is_none_or(|marked_row| marked_row.restored() != moment) {
                    let (id, at) = (&row.anchor_id, moment.at);
                    let evidence =
                        format!("the clock showed {at} after it, but the anchor `{id}` marks another moment");
                    self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
                }
            }
        }
    }
}

/// Returns the tree of a fork's origin. `adopted_as` is the fork that the timeline was adopted with, if any.
async fn goes_on_from(
    source: &dyn ScanSource,
    tree: &SignedTree,
    adopted_as: Option<&TimelineId>,
) -> Result<Option<SignedTree>, Refusal> {
    let Some(fork) = tree.fork(source).await? else { return Ok(None) };
    let parent = TimelineId::new(&fork.fork_of).map_err(|error| Refusal::Damaged(error.to_string()))?;
    let id = adopted_as.map_or_else(|| parent.clone(), |fork| TimelineId::layer_of(fork, &parent));
    let known = parent_of(source, &id).await?.zip(Hash::from_hex(&fork.root));
    let ((key, _), root) = known.ok_or_else(|| tree.damaged(0, "names a timeline that is not here"))?;
    Ok(Some(SignedTree { key, id, size: fork.size, root }))
}
