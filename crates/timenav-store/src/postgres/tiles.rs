//! The trees' hashes, 256 at a time.

use deadpool_postgres::Object;
use timenav_core::ledger::{Hash, TILE_WIDTH, TileId, leaf_hash, tree_root};
use timenav_engine::{StoreError, StoredEntry, TimelineKey};

use super::batch::rows;
use super::leaf::make_whole;
use super::values::{Failed, damaged, get, number, sql};

const SELECT: &str = "SELECT hashes FROM tiles WHERE timeline = $1 AND level = $2 AND tile = $3";
const SELECT_SOME: &str = "SELECT hashes, number FROM unnest($2::integer[], $3::bigint[]) WITH ORDINALITY
    AS w (level, tile, number) JOIN tiles t ON t.timeline = $1 AND t.level = w.level AND t.tile = w.tile";
const UPSERT: &str = "INSERT INTO tiles (timeline, level, tile, hashes) VALUES ($1, $2, $3, $4)
    ON CONFLICT (timeline, level, tile) DO UPDATE SET hashes = excluded.hashes";
const LEAVES: &str = "SELECT position, leaf FROM entries WHERE timeline = $1 AND position BETWEEN $2 AND $3
    ORDER BY position";

/// Returns the first `width` hashes of a tile.
pub(super) async fn read(on: &Object, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, Failed> {
    let mut hashes = match stored(on, timeline, tile).await? {
        Some(hashes) => hashes,
        None if tile.level == 0 => leaf_hashes(on, timeline, tile.index, width).await?,
        None => Vec::new(),
    };
    if hashes.len() < width {
        let message = format!("tile {}/{} has {} of {width} hashes", tile.level, tile.index, hashes.len());
        return Err(StoreError::Damaged(message).into());
    }
    hashes.truncate(width);
    Ok(hashes)
}

/// Returns the bytes that are kept of these tiles.
pub(super) async fn bytes_of(
    on: &Object,
    timeline: TimelineKey,
    tiles: &[TileId],
) -> Result<Vec<Option<Vec<u8>>>, Failed> {
    let levels: Vec<i32> = tiles.iter().map(|tile| i32::from(tile.level)).collect();
    let indexes: Vec<i64> = tiles.iter().map(|tile| sql(tile.index)).collect();
    let mut all = vec![None; tiles.len()];
    for row in rows(on, SELECT_SOME, &[&timeline.0, &levels, &indexes]).await? {
        let at: i64 = get(&row, 1)?;
        if let Some(place) = usize::try_from(at - 1).ok().and_then(|at| all.get_mut(at)) {
            *place = get(&row, 0)?;
        }
    }
    Ok(all)
}

/// Stores every tile that was filled while a tree grew from one size to another by these entries.
pub(super) async fn fill(
    on: &Object,
    timeline: TimelineKey,
    (old, new): (u64, u64),
    entries: &[StoredEntry],
) -> Result<(), Failed> {
    let width = u64::from(TILE_WIDTH);
    for index in old / width..new / width {
        let first = index * width;
        // What was there before the step is read, and the rest is at hand.
        let mut hashes = match old.checked_sub(first) {
            Some(before) if before > 0 => {
                leaf_hashes(on, timeline, index, usize::try_from(before).unwrap_or(0)).await?
            }
            _ => Vec::new(),
        };
        let from = usize::try_from(first.saturating_sub(old)).unwrap_or(usize::MAX);
        let missing = usize::from(TILE_WIDTH) - hashes.len();
        hashes.extend(entries.iter().skip(from).take(missing).map(|entry| leaf_hash(&entry.leaf)));
        fill_up(on, timeline, index, hashes).await?;
    }
    Ok(())
}

/// Writes a tile of level 0, and those above it as far as they are filled by it.
async fn fill_up(on: &Object, timeline: TimelineKey, index: u64, mut hashes: Vec<Hash>) -> Result<(), Failed> {
    let width = u64::from(TILE_WIDTH);
    let mut tile = TileId { level: 0, index };
    loop {
        write(on, timeline, tile, &hashes).await?;
        if hashes.len() < usize::from(TILE_WIDTH) {
            return Ok(());
        }
        // A full tile is one hash of the level above.
        let above = TileId { level: tile.level + 1, index: tile.index / width };
        let mut row = stored(on, timeline, above).await?.unwrap_or_default();
        if row.len() as u64 != tile.index % width {
            return Err(damaged("a tile of the tree has the wrong length").into());
        }
        row.push(tree_root(&hashes));
        (tile, hashes) = (above, row);
    }
}

async fn stored(on: &Object, timeline: TimelineKey, tile: TileId) -> Result<Option<Vec<Hash>>, Failed> {
    let found = rows(on, SELECT, &[&timeline.0, &i32::from(tile.level), &sql(tile.index)]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let whole = |chunk| Hash::from_slice(chunk).ok_or_else(|| damaged("a tile that holds no whole hashes").into());
    get::<&[u8]>(row, 0)?.chunks(Hash::BYTES).map(whole).collect::<Result<_, Failed>>().map(Some)
}

async fn write(on: &Object, timeline: TimelineKey, tile: TileId, hashes: &[Hash]) -> Result<(), Failed> {
    let bytes: Vec<u8> = hashes.iter().flat_map(Hash::as_bytes).copied().collect();
    rows(on, UPSERT, &[&timeline.0, &i32::from(tile.level), &sql(tile.index), &bytes]).await.map(drop)
}

async fn leaf_hashes(on: &Object, timeline: TimelineKey, index: u64, width: usize) -> Result<Vec<Hash>, Failed> {
    let first = index * u64::from(TILE_WIDTH);
    let found = leaves(on, timeline, first, width).await?;
    Ok(found.iter().map(|leaf| leaf_hash(leaf)).collect())
}

/// Returns the leaves of at most `items_max` entries from a position on, in order.
pub(super) async fn leaves(
    on: &Object,
    timeline: TimelineKey,
    first: u64,
    items_max: usize,
) -> Result<Vec<Vec<u8>>, Failed> {
    let Some(last) = first.saturating_add(items_max as u64).checked_sub(1) else { return Ok(Vec::new()) };
    let found = rows(on, LEAVES, &[&timeline.0, &sql(first), &sql(last)]).await?;
    let kept = found.iter().map(|row| Ok((number(row, 0)?, get(row, 1)?)));
    let mut kept: Vec<(u64, Vec<u8>)> = kept.collect::<Result<_, Failed>>()?;
    make_whole(on, timeline, kept.iter_mut().map(|(position, leaf)| (*position, leaf)).collect()).await?;
    Ok(kept.into_iter().map(|(_, leaf)| leaf).collect())
}
