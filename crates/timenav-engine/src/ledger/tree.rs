use std::collections::HashMap;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Hash, LeafRecord, ProofNode, Salt, Subtree, TileId, consistency_nodes, inclusion_nodes, leaf_hash, payload_hash,
    root_node, tile_of, tree_root, verify_consistency, verify_inclusion,
};

use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::{ForkRecord, TimelineCreated};
use crate::ports::archive::{EntryRow, ScanSource};
use crate::requests::json::read;
use crate::requests::refusal::Refusal;

/// A tree with a trusted root: it was signed, or derived from a signed one.
#[derive(Clone, Debug)]
pub(crate) struct SignedTree {
    pub(crate) key: TimelineKey,
    pub(crate) id: TimelineId,
    pub(crate) size: u64,
    pub(crate) root: Hash,
}

pub(crate) async fn root_at(source: &dyn ScanSource, key: TimelineKey, size: u64) -> Result<Hash, Refusal> {
    let hashes = node_hashes(source, key, &[root_node(size)]).await?;
    hashes.first().copied().ok_or_else(|| Refusal::Damaged("a tree has no root".to_owned()))
}

impl SignedTree {
    pub(crate) fn of(state: &TimelineState) -> Self {
        Self { key: state.head.key, id: state.head.id.clone(), size: state.head.frontier.size(), root: state.root }
    }

    /// Returns an entry after verifying that it is in the tree, and its payload matches its hash.
    ///
    /// # Errors
    /// It is missing or not the signed one, or the store does not respond.
    pub(crate) async fn entry(&self, source: &dyn ScanSource, position: u64) -> Result<EntryRow, Refusal> {
        let entry = self.leaf(source, position).await?;
        let record = LeafRecord::decode(&entry.leaf).map_err(|_| self.damaged(position, "cannot be read"))?;
        let salt = entry.salt.as_slice().try_into().ok().map(Salt::from_bytes);
        if salt.map(|salt| payload_hash(&salt, &entry.payload)) != Some(record.payload_hash) {
            return Err(self.damaged(position, "has a payload other than the signed one"));
        }
        Ok(entry)
    }

    /// Like [`SignedTree::entry`] for the leaf only: the payload is not verified, and may be erased.
    pub(crate) async fn leaf(&self, source: &dyn ScanSource, position: u64) -> Result<EntryRow, Refusal> {
        let missing = || self.damaged(position, "is missing");
        let entry = source.entry_row(self.key, position).await?.ok_or_else(missing)?;
        let nodes = inclusion_nodes(position, self.size).map_err(|error| self.damaged(position, &error.to_string()))?;
        let hashes = node_hashes(source, self.key, &nodes).await?;
        verify_inclusion(position, self.size, &leaf_hash(&entry.leaf), &hashes, &self.root)
            .map_err(|_| self.damaged(position, "does not match what was signed"))?;
        Ok(entry)
    }

    /// Returns whether the tree extends another one of the given size and root. Stored tiles alone do not decide this,
    /// because they may have been replaced.
    ///
    /// # Errors
    /// Hashes of the tree are missing, or the store does not respond.
    pub(crate) async fn begins_with(
        &self,
        source: &dyn ScanSource,
        (size, root): (u64, Hash),
    ) -> Result<bool, Refusal> {
        let Ok(nodes) = consistency_nodes(size, self.size) else { return Ok(false) };
        let hashes = node_hashes(source, self.key, &nodes).await?;
        Ok(verify_consistency(size, &root, self.size, &self.root, &hashes).is_ok())
    }

    /// Returns the root of the first `size` entries of the tree.
    ///
    /// # Errors
    /// The stored tiles do not belong to the tree, or the store does not respond.
    pub(crate) async fn root_at(&self, source: &dyn ScanSource, size: u64) -> Result<Hash, Refusal> {
        let root = root_at(source, self.key, size).await?;
        let damaged = || {
            let id = &self.id;
            Refusal::Damaged(format!("the first {size} entries of `{id}` do not match what was signed"))
        };
        let nodes = consistency_nodes(size, self.size).map_err(|_| damaged())?;
        let hashes = node_hashes(source, self.key, &nodes).await?;
        verify_consistency(size, &root, self.size, &self.root, &hashes).map_err(|_| damaged())?;
        Ok(root)
    }

    /// Returns the tree of the origin, which is stored under `key`, according to the first entry.
    ///
    /// # Errors
    /// The timeline is not a fork, the entry is not the signed one, or the store does not respond.
    pub(crate) async fn forked_from(
        &self,
        source: &dyn ScanSource,
        (key, id): (TimelineKey, TimelineId),
    ) -> Result<Self, Refusal> {
        let fork = self.fork(source).await?;
        let root = fork.as_ref().and_then(|fork| Hash::from_hex(&fork.root));
        match fork.zip(root) {
            Some((fork, root)) => Ok(Self { key, id, size: fork.size, root }),
            None => Err(self.damaged(0, "does not name another timeline")),
        }
    }

    /// Returns the origin of the timeline according to its first entry, if it is a fork.
    ///
    /// # Errors
    /// The entry is not the signed one, or the store does not respond.
    pub(crate) async fn fork(&self, source: &dyn ScanSource) -> Result<Option<ForkRecord>, Refusal> {
        let first = self.entry(source, 0).await?;
        Ok(read::<TimelineCreated>(&first.payload).and_then(|made| made.fork))
    }

    pub(crate) fn damaged(&self, position: u64, what: &str) -> Refusal {
        Refusal::Damaged(format!("entry {position} of `{}` {what}", self.id))
    }
}

pub(crate) async fn node_hashes(
    source: &dyn ScanSource,
    key: TimelineKey,
    nodes: &[ProofNode],
) -> Result<Vec<Hash>, Refusal> {
    let mut widths: HashMap<TileId, usize> = HashMap::new();
    for part in nodes.iter().flat_map(|node| &node.parts) {
        let (tile, range) = tile_of(*part);
        let width = widths.entry(tile).or_default();
        *width = range.end.max(*width);
    }
    let mut tiles: HashMap<TileId, Vec<Hash>> = HashMap::with_capacity(widths.len());
    for (tile, width) in widths {
        tiles.insert(tile, source.tile_hashes(key, tile, width).await?);
    }
    let hash_of = |subtree: Subtree| {
        let (tile, range) = tile_of(subtree);
        let hashes = tiles.get(&tile).and_then(|hashes| hashes.get(range));
        hashes
            .map(tree_root)
            .ok_or_else(|| Refusal::Damaged(format!("tile {}/{} is incomplete", tile.level, tile.index)))
    };
    nodes.iter().map(|node| node.hash(hash_of)).collect()
}
