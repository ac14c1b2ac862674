//! Anchors according to the entries that set them.
//!
//! A row only locates the entry, because anyone who can write to the database without the signing key may have changed
//! it. The target of a clock, a read or a fork is taken from the entry, after verifying that it is signed.

use timenav_core::anchor::Anchor;
use timenav_core::ids::AnchorId;

use crate::engine::Engine;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::anchor_in_entry;
use crate::ledger::tree::SignedTree;
use crate::ports::facts::{FactsQuery, QueryOrigin};
use crate::requests::refusal::Refusal;

impl Engine {
    /// Finds an anchor of a timeline, or of an ancestor at the time of the fork. Also returns the index of its layer.
    ///
    /// # Errors
    /// There is no such anchor, its row contradicts its entry, the entry is not the signed one, or the store does not
    /// respond.
    pub(crate) async fn find_anchor(
        &self,
        state: &TimelineState,
        anchor_id: &AnchorId,
    ) -> Result<(usize, Anchor), Refusal> {
        let layers = state.layers(u64::MAX);
        let anchors = layers.iter().map(|layer| (layer.timeline, anchor_id.clone())).collect();
        let found =
            self.store().facts(FactsQuery { anchors, ..FactsQuery::default() }, QueryOrigin::Reader).await?.anchors;
        let mut found = layers.iter().zip(found).enumerate().rev();
        let seen = found.find_map(|(number, (layer, anchor))| {
            Some((number, anchor.filter(|anchor| anchor.position < layer.as_of)?))
        });
        let missing = || Refusal::NotFound { what: "anchor", id: anchor_id.to_string() };
        let (layer, row) = seen.ok_or_else(missing)?;
        let is_newer = layer == state.ancestors.len() && row.position >= state.head.frontier.size();
        let tree = if is_newer { self.newest_tree(state).await? } else { self.tree_of_layer(state, layer).await? };
        // An unsigned entry has not been acknowledged to any caller.
        if row.position >= tree.size {
            return Err(missing());
        }
        let entry = tree.entry(self.store(), row.position).await?;
        let differs = || tree.damaged(row.position, &format!("does not match the stored anchor `{anchor_id}`"));
        let anchor = anchor_in_entry(&entry).filter(|marked| *marked == row).ok_or_else(differs)?;
        Ok((layer, anchor))
    }

    async fn tree_of_layer(&self, state: &TimelineState, layer: usize) -> Result<SignedTree, Refusal> {
        let ancestors = state.ancestors.iter().map(|layer| layer.timeline).zip(state.lineage.iter().cloned());
        let inherited = ancestors.skip(layer).collect::<Vec<_>>();
        let mut tree = SignedTree::of(state);
        for ancestor in inherited.into_iter().rev() {
            tree = tree.forked_from(self.store(), ancestor).await?;
        }
        Ok(tree)
    }

    /// Returns the newest tree of a timeline, because another service may have acknowledged an anchor.
    pub(crate) async fn newest_tree(&self, state: &TimelineState) -> Result<SignedTree, Refusal> {
        self.catch_up_with(&state.head.id).await?;
        let newest = self.state(&state.head.id);
        Ok(SignedTree::of(newest.as_deref().unwrap_or(state)))
    }
}
