//! Storage of hashes in tiles of 256, as in C2SP tlog-tiles 0.1.0.
//!
//! A tile at level 0 holds leaf hashes. A tile at level *l* holds the roots of full tiles of level *l* − 1. The hashes
//! in between are recomputed when needed.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::merkle::Subtree;
use super::parse_decimal;

#[cfg(test)]
mod tests;

/// Levels of the tree that one tile spans.
pub const TILE_HEIGHT: u8 = 8;

pub const TILE_WIDTH: u16 = 1 << TILE_HEIGHT;

/// The highest level that a path may name.
const LEVEL_MAX: u8 = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    /// Levels of tiles between it and the leaves.
    pub level: u8,
    /// Number of tiles of this level to its left.
    pub index: u64,
}

impl TileId {
    /// Returns the hashes in the tile for `size` leaves: 0 if it does not exist yet, [`TILE_WIDTH`] if it is full.
    #[must_use]
    pub fn width(self, size: u64) -> u16 {
        let height = u32::from(self.level) * u32::from(TILE_HEIGHT);
        let at_this_level = size.checked_shr(height).unwrap_or(0);
        let to_the_left = self.index.saturating_mul(u64::from(TILE_WIDTH));
        let width = at_this_level.saturating_sub(to_the_left);
        u16::try_from(width).map_or(TILE_WIDTH, |width| width.min(TILE_WIDTH))
    }

    #[must_use]
    pub const fn subtree(self, offset: u8) -> Subtree {
        Subtree { height: self.level.saturating_mul(TILE_HEIGHT), index: (self.index << TILE_HEIGHT) | offset as u64 }
    }
}

/// Returns the tile from which the hash of a complete subtree can be computed, and the range of its hashes: the result
/// is their [`tree_root`](super::tree_root).
#[must_use]
pub fn tile_of(subtree: Subtree) -> (TileId, Range<usize>) {
    let level = subtree.height / TILE_HEIGHT;
    let above = subtree.height % TILE_HEIGHT;
    let first = subtree.index << above;
    let offset = usize::from(first.to_le_bytes()[0]);
    let tile = TileId { level, index: first >> TILE_HEIGHT };
    (tile, offset..offset + (1 << above))
}

/// The path of a tile: `tile/<level>/<index>`, followed by `.p/<width>` if it is not full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePath {
    pub tile: TileId,
    /// The number of its hashes, from 1 to [`TILE_WIDTH`].
    pub width: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    #[error("a tile path starts with `tile/` and a level from 0 to 63")]
    Level,
    #[error("a tile index is written in groups of three digits, all but the last after an `x`")]
    Index,
    #[error("the width of a partial tile is a number from 1 to 255")]
    Width,
}

impl fmt::Display for TilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/{}/{}", self.tile.level, index_path(self.tile.index, self.width))
    }
}

impl FromStr for TilePath {
    type Err = TileError;

    fn from_str(text: &str) -> Result<Self, TileError> {
        let rest = text.strip_prefix("tile/").ok_or(TileError::Level)?;
        let (level, rest) = rest.split_once('/').ok_or(TileError::Level)?;
        let level = parse_decimal(level).and_then(|level| u8::try_from(level).ok());
        let level = level.filter(|level| *level <= LEVEL_MAX).ok_or(TileError::Level)?;
        let (index, width) = parse_index_path(rest)?;
        Ok(Self { tile: TileId { level, index }, width })
    }
}

/// Returns the part of a path that tiles and entry bundles share: 1234067 is `x001/x234/067`, and its first 12 hashes
/// are `x001/x234/067.p/12`.
#[must_use]
pub fn index_path(index: u64, width: u16) -> String {
    let mut path = format!("{:03}", index % 1_000);
    let mut rest = index / 1_000;
    while rest > 0 {
        path.insert_str(0, &format!("x{:03}/", rest % 1_000));
        rest /= 1_000;
    }
    if width < TILE_WIDTH { format!("{path}.p/{width}") } else { path }
}

/// Parses the output of [`index_path`], and nothing else: the index and the width.
///
/// # Errors
/// The text does not have this form.
pub fn parse_index_path(path: &str) -> Result<(u64, u16), TileError> {
    let (groups, width) = match path.split_once(".p/") {
        None => (path, TILE_WIDTH),
        Some((groups, width)) => (groups, parse_width(width)?),
    };
    let mut index: u64 = 0;
    for group in groups.split('/') {
        let digits = group.strip_prefix('x').unwrap_or(group);
        if digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(TileError::Index);
        }
        let value = digits.parse().map_err(|_| TileError::Index)?;
        let shifted = index.checked_mul(1_000).and_then(|index| index.checked_add(value));
        index = shifted.ok_or(TileError::Index)?;
    }
    // Rejects a wrong number of `x`, and leading groups of zeros.
    if index_path(index, TILE_WIDTH) == groups { Ok((index, width)) } else { Err(TileError::Index) }
}

fn parse_width(text: &str) -> Result<u16, TileError> {
    let width = parse_decimal(text).and_then(|width| u16::try_from(width).ok());
    width.filter(|width| (1..TILE_WIDTH).contains(width)).ok_or(TileError::Width)
}
