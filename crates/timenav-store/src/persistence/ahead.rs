//! Rows at positions that a ledger has not reached. The service never writes any, so they are signs of tampering.

/// Tables with at most one row per entry, found by position. Timer rows are not included: rows that a fork inherits
/// keep their positions, and a full scan compares all of them.
pub(crate) const BY_POSITION: [&str; 6] =
    ["anchors", "data_records", "advances", "rotation_notes", "policies", "sweeps"];

/// Maximum number of tile levels of a ledger: positions have 40 bits.
const LEVELS: i64 = 6;

/// Returns per level the first tile that a tree of `size` entries cannot have; tile 0 for unused levels.
pub(crate) fn first_tiles(size: u64) -> impl Iterator<Item = (i64, u64)> {
    let first = move |level: i64| match level {
        // Leaf tiles are stored only when full. On higher levels the tile being filled is stored too.
        0 => size >> 8,
        _ => (size >> (8 * level)).div_ceil(256),
    };
    (0..LEVELS).map(move |level| (level, first(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_excess_tile_follows_the_last_stored_tile() {
        let firsts = |size: u64| first_tiles(size).map(|(_, first)| first).collect::<Vec<_>>();
        assert_eq!(firsts(0), [0, 0, 0, 0, 0, 0]);
        assert_eq!(firsts(255), [0, 0, 0, 0, 0, 0]);
        assert_eq!(firsts(256), [1, 1, 0, 0, 0, 0]);
        assert_eq!(firsts(65_536), [256, 1, 1, 0, 0, 0]);
        assert_eq!(firsts(65_792), [257, 2, 1, 0, 0, 0]);
    }
}
