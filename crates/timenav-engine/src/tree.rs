//! Hashes of a ledger's tree, from the tiles that are kept.

use std::collections::HashMap;

use timenav_core::ledger::{Hash, ProofNode, Subtree, TileId, root_node, tile_of, tree_root};

use crate::archive::ScanSource;
use crate::head::TimelineKey;
use crate::refusal::Refusal;

/// Returns the root of a timeline's tree when it had `size` entries.
pub(crate) async fn root_at(source: &dyn ScanSource, key: TimelineKey, size: u64) -> Result<Hash, Refusal> {
    let hashes = node_hashes(source, key, &[root_node(size)]).await?;
    hashes.first().copied().ok_or_else(|| Refusal::Damaged("a root was made of nothing".to_owned()))
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
