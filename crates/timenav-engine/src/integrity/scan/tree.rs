use timenav_core::ledger::{Frontier, Hash, ProofNode, root_node};
use timenav_core::scan::{FilledTile, FindingKind, Findings, LedgerScan, Mark};

use crate::ledger::head::TimelineKey;
use crate::ledger::tree::node_hashes;
use crate::ports::archive::ScanSource;
use crate::ports::store_error::StoreError;
use crate::requests::refusal::Refusal;

pub(super) async fn hashes(
    source: &dyn ScanSource,
    key: TimelineKey,
    nodes: &[ProofNode],
    position: u64,
    findings: &mut Findings,
) -> Result<Option<Vec<Hash>>, StoreError> {
    match node_hashes(source, key, nodes).await {
        Ok(hashes) => Ok(Some(hashes)),
        Err(Refusal::Damaged(what)) => {
            findings.add(FindingKind::TileMismatch, Some(position), what);
            Ok(None)
        }
        Err(other) => Err(StoreError::Unavailable(other.to_string())),
    }
}

pub(super) async fn root(
    source: &dyn ScanSource,
    key: TimelineKey,
    size: u64,
    findings: &mut Findings,
) -> Result<Option<Hash>, StoreError> {
    let found = hashes(source, key, &[root_node(size)], size, findings).await?;
    Ok(found.and_then(|hashes| hashes.first().copied()))
}

pub(super) async fn find_marks(
    source: &dyn ScanSource,
    key: TimelineKey,
    size: u64,
    marks: &mut [Mark],
    findings: &mut Findings,
) -> Result<(), StoreError> {
    for mark in marks.iter_mut().filter(|mark| mark.size <= size) {
        mark.found = root(source, key, mark.size, findings).await?;
    }
    Ok(())
}

pub(super) async fn frontier(
    source: &dyn ScanSource,
    key: TimelineKey,
    size: u64,
    findings: &mut Findings,
) -> Result<Option<Frontier>, StoreError> {
    let parts = root_node(size).parts.into_iter().map(|part| ProofNode { parts: vec![part] });
    let nodes: Vec<ProofNode> = parts.collect();
    let Some(edge) = hashes(source, key, &nodes, size, findings).await? else { return Ok(None) };
    let bytes: Vec<u8> = edge.iter().flat_map(Hash::as_bytes).copied().collect();
    Ok(Frontier::from_bytes(size, &bytes).ok())
}

pub(super) async fn compare_tiles(
    source: &dyn ScanSource,
    key: TimelineKey,
    ledger: &mut LedgerScan,
    filled: Vec<FilledTile>,
) -> Result<(), StoreError> {
    if filled.is_empty() {
        return Ok(());
    }
    let tiles = filled.iter().map(|filled| filled.tile).collect();
    let stored = source.tile_bytes(key, tiles).await?;
    for (filled, stored) in filled.iter().zip(stored) {
        ledger.compare_tile(filled, stored.as_deref());
    }
    Ok(())
}
