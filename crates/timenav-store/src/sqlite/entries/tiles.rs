use rusqlite::{Connection, OptionalExtension, params};
use timenav_core::ledger::{Hash, TILE_WIDTH, TileId, leaf_hash, tree_root};
use timenav_engine::{StoreError, TimelineKey};

use crate::sqlite::entries::leaf::Leaves;
use crate::sqlite::values::{damaged, entry_key, failed, position, sql};

const SELECT: &str = "SELECT hashes FROM tiles WHERE timeline = ?1 AND level = ?2 AND tile = ?3";
const UPSERT: &str = "INSERT INTO tiles (timeline, level, tile, hashes) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (timeline, level, tile) DO UPDATE SET hashes = excluded.hashes";
const LEAVES: &str = "SELECT leaf, entry FROM entries WHERE entry BETWEEN ?1 AND ?2 ORDER BY entry";

pub(in crate::sqlite) fn read(
    connection: &Connection,
    timeline: TimelineKey,
    tile: TileId,
    width: usize,
) -> Result<Vec<Hash>, StoreError> {
    let mut hashes = match stored(connection, timeline, tile)? {
        Some(hashes) => hashes,
        None if tile.level == 0 => leaf_hashes(connection, timeline, tile.index, width)?,
        None => Vec::new(),
    };
    if hashes.len() < width {
        return Err(StoreError::Damaged(format!(
            "tile {}/{} has {} of {width} hashes",
            tile.level,
            tile.index,
            hashes.len()
        )));
    }
    hashes.truncate(width);
    Ok(hashes)
}

/// Stores every tile that was filled while a tree grew from `old` to `new` entries.
pub(in crate::sqlite) fn fill(
    connection: &Connection,
    timeline: TimelineKey,
    old: u64,
    new: u64,
) -> Result<(), StoreError> {
    let width = u64::from(TILE_WIDTH);
    for index in old / width..new / width {
        let mut hashes = leaf_hashes(connection, timeline, index, usize::from(TILE_WIDTH))?;
        let mut tile = TileId { level: 0, index };
        loop {
            write(connection, timeline, tile, &hashes)?;
            if hashes.len() < usize::from(TILE_WIDTH) {
                break;
            }
            // The root of a full tile is one hash of the level above.
            let above = TileId { level: tile.level + 1, index: tile.index / width };
            let mut row = stored(connection, timeline, above)?.unwrap_or_default();
            if row.len() as u64 != tile.index % width {
                return Err(damaged("a tile of the tree has the wrong length"));
            }
            row.push(tree_root(&hashes));
            (tile, hashes) = (above, row);
        }
    }
    Ok(())
}

fn stored(connection: &Connection, timeline: TimelineKey, tile: TileId) -> Result<Option<Vec<Hash>>, StoreError> {
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let key = params![timeline.0, tile.level, sql(tile.index)];
    let blob: Option<Vec<u8>> = select.query_row(key, |row| row.get(0)).optional().map_err(failed)?;
    blob.map(|blob| hashes_of(&blob)).transpose()
}

fn hashes_of(blob: &[u8]) -> Result<Vec<Hash>, StoreError> {
    let chunks = blob.chunks(Hash::BYTES);
    chunks.map(|chunk| Hash::from_slice(chunk).ok_or_else(|| damaged("a tile that holds no whole hashes"))).collect()
}

fn write(connection: &Connection, timeline: TimelineKey, tile: TileId, hashes: &[Hash]) -> Result<(), StoreError> {
    let blob: Vec<u8> = hashes.iter().flat_map(Hash::as_bytes).copied().collect();
    let mut upsert = connection.prepare_cached(UPSERT).map_err(failed)?;
    upsert.execute(params![timeline.0, tile.level, sql(tile.index), blob]).map_err(failed)?;
    Ok(())
}

fn leaf_hashes(
    connection: &Connection,
    timeline: TimelineKey,
    index: u64,
    width: usize,
) -> Result<Vec<Hash>, StoreError> {
    let first = index * u64::from(TILE_WIDTH);
    let last = first + width as u64 - 1;
    let mut select = connection.prepare_cached(LEAVES).map_err(failed)?;
    let mut rows = select.query([entry_key(timeline, first), entry_key(timeline, last)]).map_err(failed)?;
    let mut hashes = Vec::with_capacity(width);
    let leaves = Leaves::new(connection, timeline);
    while let Some(row) = rows.next().map_err(failed)? {
        let stored = row.get_ref(0).and_then(|value| Ok(value.as_blob()?)).map_err(failed)?;
        let seq = position(timeline, row.get(1).map_err(failed)?)?;
        hashes.push(leaf_hash(&leaves.whole(seq, stored)?));
    }
    Ok(hashes)
}
