use std::collections::HashMap;
use std::ops::Range;

use timenav_core::ledger::{Hash, TILE_WIDTH, TileId, leaf_hash, tree_root};
use timenav_engine::{StoreError, StoredEntry, TimelineKey};
use tokio_postgres::Row;

use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::leaf::{self, make_whole};
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, damaged, get, number, sql};

const SELECT: &str = "SELECT hashes FROM tiles WHERE timeline = $1 AND level = $2 AND tile = $3";
const SELECT_SOME: &str = "SELECT hashes, number FROM unnest($2::integer[], $3::bigint[]) WITH ORDINALITY
    AS w (level, tile, number) JOIN tiles t ON t.timeline = $1 AND t.level = w.level AND t.tile = w.tile";
const UPSERT: &str = "INSERT INTO tiles (timeline, level, tile, hashes)
    SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bytea[])
    ON CONFLICT (timeline, level, tile) DO UPDATE SET hashes = excluded.hashes";
const LEAVES: &str = "SELECT position, leaf FROM entries WHERE timeline = $1 AND position BETWEEN $2 AND $3
    ORDER BY position";
/// `OFFSET 0` prevents a join with the whole table: the planner expects a ninth of all entries.
const LEAVES_OF_SOME: &str = "SELECT number, position, leaf
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS w (timeline, first, last, number)
    CROSS JOIN LATERAL (SELECT position, leaf FROM entries e WHERE e.timeline = w.timeline
        AND e.position BETWEEN w.first AND w.last OFFSET 0) e ORDER BY number, position";

pub(in crate::postgres) async fn read(
    on: &Object,
    timeline: TimelineKey,
    tile: TileId,
    width: usize,
) -> Result<Vec<Hash>, Failed> {
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

pub(in crate::postgres) async fn bytes_of(
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

/// The growth of a tree by a commit that fills tiles. The existing hashes are read together with the writes of the
/// commit, and the tiles of all trees are written together. So a group of writes costs one more round trip.
pub(in crate::postgres) struct Growth {
    timeline: TimelineKey,
    old: u64,
    new: u64,
    /// Index in the batch of the leaves in the first tile of level 0, followed by the timeline name.
    leaves_at: Option<usize>,
    /// The tile to extend on each higher level, and the index of its row in the batch.
    rows_at: Vec<(TileId, usize)>,
}

impl Growth {
    /// Queries the stored hashes that complete the tiles of a growing tree; `None` if no tile is completed.
    pub(in crate::postgres) fn ask(
        batch: &mut Batch<'_>,
        timeline: TimelineKey,
        (old, new): (u64, u64),
    ) -> Option<Self> {
        let width = u64::from(TILE_WIDTH);
        if old / width == new / width {
            return None;
        }
        let leaves_at = (!old.is_multiple_of(width)).then(|| {
            let at = batch.len();
            batch.add(LEAVES, values![timeline.0, sql(old - old % width), sql(old) - 1]);
            batch.add(leaf::SELECT_NAME, values![timeline.0]);
            at
        });
        let mut rows_at = Vec::new();
        let (mut from, mut to) = (old / width, new / width);
        for level in 1.. {
            if from == to {
                break;
            }
            let tile = TileId { level, index: from / width };
            if !from.is_multiple_of(width) {
                rows_at.push((tile, batch.len()));
                batch.add(SELECT, values![timeline.0, i32::from(level), sql(tile.index)]);
            }
            (from, to) = (from / width, to / width);
        }
        Some(Self { timeline, old, new, leaves_at, rows_at })
    }

    /// Adds the tiles that these entries fill, given the existing hashes.
    pub(in crate::postgres) fn fill(
        &self,
        tiles: &mut Tiles,
        found: &[Vec<Row>],
        entries: &[StoredEntry],
    ) -> Result<(), Failed> {
        let width = u64::from(TILE_WIDTH);
        let mut hashes = self.leaves(found)?;
        if hashes.len() as u64 != self.old % width {
            return Err(damaged("leaves of the tree are missing").into());
        }
        hashes.extend(entries.iter().map(|entry| leaf_hash(&entry.leaf)));
        let mut first = self.old / width;
        let mut size = self.new;
        for level in 0.. {
            let mut above = Vec::new();
            for (index, hashes) in (first..).zip(hashes.chunks(usize::from(TILE_WIDTH))) {
                let is_full = hashes.len() == usize::from(TILE_WIDTH);
                // Leaf tiles are stored only when full.
                if is_full || level > 0 {
                    tiles.add(self.timeline, TileId { level, index }, hashes);
                }
                if is_full {
                    above.push(tree_root(hashes));
                }
            }
            if above.is_empty() {
                break;
            }
            size /= width;
            first /= width;
            hashes = self.begun(level + 1, found)?;
            hashes.append(&mut above);
            // The root of a full tile is one hash of the level above.
            if first * width + hashes.len() as u64 != size {
                return Err(damaged("a tile of the tree has the wrong length").into());
            }
        }
        Ok(())
    }

    /// Returns the hashes of the existing leaves in the first tile.
    fn leaves(&self, found: &[Vec<Row>]) -> Result<Vec<Hash>, Failed> {
        let Some(at) = self.leaves_at else { return Ok(Vec::new()) };
        let (Some(leaves), Some(names)) = (found.get(at), found.get(at + 1)) else { return Ok(Vec::new()) };
        let mut leaves = stored_leaves(leaves)?;
        leaf::make_whole_by(names.first(), leaves.iter_mut().map(|(position, leaf)| (*position, leaf)))?;
        Ok(leaves.iter().map(|(_, leaf)| leaf_hash(leaf)).collect())
    }

    /// Returns the existing hashes in the first tile of a level.
    fn begun(&self, level: u8, found: &[Vec<Row>]) -> Result<Vec<Hash>, Failed> {
        let at = self.rows_at.iter().find(|(tile, _)| tile.level == level).and_then(|(_, at)| found.get(*at));
        at.and_then(|rows| rows.first()).map_or_else(|| Ok(Vec::new()), hashes_of)
    }
}

#[derive(Default)]
pub(in crate::postgres) struct Tiles {
    timelines: Vec<i64>,
    levels: Vec<i32>,
    indexes: Vec<i64>,
    hashes: Vec<Vec<u8>>,
}

impl Tiles {
    fn add(&mut self, timeline: TimelineKey, tile: TileId, hashes: &[Hash]) {
        self.timelines.push(timeline.0);
        self.levels.push(i32::from(tile.level));
        self.indexes.push(sql(tile.index));
        self.hashes.push(hashes.iter().flat_map(Hash::as_bytes).copied().collect());
    }

    /// Writes the tiles in one round trip, or in none if there are no tiles.
    pub(in crate::postgres) async fn write(self, on: &Object) -> Result<(), Failed> {
        if self.timelines.is_empty() {
            return Ok(());
        }
        rows(on, UPSERT, &[&self.timelines, &self.levels, &self.indexes, &self.hashes]).await.map(drop)
    }
}

async fn stored(on: &Object, timeline: TimelineKey, tile: TileId) -> Result<Option<Vec<Hash>>, Failed> {
    let found = rows(on, SELECT, &[&timeline.0, &i32::from(tile.level), &sql(tile.index)]).await?;
    found.first().map(hashes_of).transpose()
}

fn hashes_of(row: &Row) -> Result<Vec<Hash>, Failed> {
    let whole = |chunk| Hash::from_slice(chunk).ok_or_else(|| damaged("a tile that holds no whole hashes").into());
    get::<&[u8]>(row, 0)?.chunks(Hash::BYTES).map(whole).collect()
}

async fn leaf_hashes(on: &Object, timeline: TimelineKey, index: u64, width: usize) -> Result<Vec<Hash>, Failed> {
    let first = index * u64::from(TILE_WIDTH);
    let found = leaves(on, timeline, first, width).await?;
    Ok(found.iter().map(|leaf| leaf_hash(leaf)).collect())
}

/// Returns up to `items_max` leaves, starting at a position, in order.
pub(in crate::postgres) async fn leaves(
    on: &Object,
    timeline: TimelineKey,
    first: u64,
    items_max: usize,
) -> Result<Vec<Vec<u8>>, Failed> {
    let Some(last) = first.saturating_add(items_max as u64).checked_sub(1) else { return Ok(Vec::new()) };
    let found = rows(on, LEAVES, &[&timeline.0, &sql(first), &sql(last)]).await?;
    let mut stored = stored_leaves(&found)?;
    make_whole(on, timeline, stored.iter_mut().map(|(position, leaf)| (*position, leaf)).collect()).await?;
    Ok(stored.into_iter().map(|(_, leaf)| leaf).collect())
}

/// Like [`leaves`], for ranges of several timelines, in one round trip.
pub(in crate::postgres) async fn leaves_of(
    on: &Object,
    of: &[(TimelineKey, Range<u64>)],
) -> Result<Vec<Vec<Vec<u8>>>, Failed> {
    let keys: Vec<i64> = of.iter().map(|(key, _)| key.0).collect();
    let firsts: Vec<i64> = of.iter().map(|(_, at)| sql(at.start)).collect();
    let lasts: Vec<i64> = of.iter().map(|(_, at)| sql(at.end) - 1).collect();
    let mut batch = Batch::default();
    batch.add(leaf::SELECT_NAMES, values![keys.clone()]);
    batch.add(LEAVES_OF_SOME, values![keys, firsts, lasts]);
    let mut found = batch.run(on).await?;
    let (stored, names) = (found.pop().unwrap_or_default(), found.pop().unwrap_or_default());
    let names: HashMap<i64, &Row> = names.iter().map(|row| Ok((get(row, 1)?, row))).collect::<Result<_, Failed>>()?;
    let mut all = vec![Vec::new(); of.len()];
    for row in &stored {
        let number = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
        let (Some(leaves), Some((key, _))) = (all.get_mut(number), of.get(number)) else { continue };
        let (position, mut leaf) = (self::number(row, 1)?, get(row, 2)?);
        leaf::make_whole_by(names.get(&key.0).copied(), [(position, &mut leaf)])?;
        leaves.push(leaf);
    }
    Ok(all)
}

fn stored_leaves(found: &[Row]) -> Result<Vec<(u64, Vec<u8>)>, Failed> {
    found.iter().map(|row| Ok((number(row, 0)?, get(row, 1)?))).collect()
}
