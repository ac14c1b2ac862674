//! Hashes of a ledger's tree, from the tiles that are kept.

use std::collections::HashMap;

use timenav_core::ledger::{
    Hash, LeafRecord, ProofNode, Subtree, TileId, inclusion_nodes, leaf_hash, payload_hash, root_node, tile_of,
    tree_root, verify_inclusion,
};

use crate::archive::ScanSource;
use crate::head::{TimelineKey, TimelineState};
use crate::refusal::Refusal;
use crate::rows::StoredEntry;

/// Returns the root of a timeline's tree when it had `size` entries.
pub(crate) async fn root_at(source: &dyn ScanSource, key: TimelineKey, size: u64) -> Result<Hash, Refusal> {
    let hashes = node_hashes(source, key, &[root_node(size)]).await?;
    hashes.first().copied().ok_or_else(|| Refusal::Damaged("a root was made of nothing".to_owned()))
}

/// Makes sure that an entry is in the tree of a timeline, with the payload that was hashed. Returns what its leaf says.
pub(crate) async fn proven<'e>(
    source: &dyn ScanSource,
    state: &TimelineState,
    position: u64,
    entry: &'e StoredEntry,
) -> Result<LeafRecord<'e>, Refusal> {
    let damaged = |what: &str| Refusal::Damaged(format!("entry {position} of `{}` {what}", state.head.id));
    let size = state.head.frontier.size();
    let nodes = inclusion_nodes(position, size).map_err(|error| damaged(&error.to_string()))?;
    let hashes = node_hashes(source, state.head.key, &nodes).await?;
    verify_inclusion(position, size, &leaf_hash(&entry.leaf), &hashes, &state.root)
        .map_err(|_| damaged("is not the one that was signed"))?;
    let record = LeafRecord::decode(&entry.leaf).map_err(|_| damaged("cannot be read"))?;
    if payload_hash(&entry.salt, &entry.payload) != record.payload_hash {
        return Err(damaged("has another payload than was signed"));
    }
    Ok(record)
}

/// Returns the hashes of proof nodes, reading each tile once.
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
            .ok_or_else(|| Refusal::Damaged(format!("tile {}/{} is not whole", tile.level, tile.index)))
    };
    nodes.iter().map(|node| node.hash(hash_of)).collect()
}
