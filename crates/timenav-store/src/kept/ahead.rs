//! What belongs to positions that a ledger has not come to yet, which nobody but somebody else can have put there.

/// Tables with a row for an entry, found by its position. Rows of timers are not among them: those that a fork took
/// along keep their positions, and a full scan compares all of them.
pub(crate) const BY_POSITION: [&str; 6] =
    ["anchors", "data_records", "advances", "rotation_notes", "policies", "sweeps"];

/// Levels of tiles that a ledger may have: positions have forty bits.
const LEVELS: i64 = 6;

/// Returns where tiles begin that a tree of a size cannot have: levels, and on each the first such tile. Levels that are
/// not there have none at all.
pub(crate) fn first_tiles(size: u64) -> impl Iterator<Item = (i64, u64)> {
    let first = move |level: i64| match level {
        // Only full tiles are kept of leaves, and above the one that is being filled too.
        0 => size >> 8,
        _ => (size >> (8 * level)).div_ceil(256),
    };
    (0..LEVELS).map(move |level| (level, first(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_begin_after_the_last() {
        let firsts = |size: u64| first_tiles(size).map(|(_, first)| first).collect::<Vec<_>>();
        assert_eq!(firsts(0), [0, 0, 0, 0, 0, 0]);
        assert_eq!(firsts(255), [0, 0, 0, 0, 0, 0]);
        assert_eq!(firsts(256), [1, 1, 0, 0, 0, 0]);
        assert_eq!(firsts(65_536), [256, 1, 1, 0, 0, 0]);
        assert_eq!(firsts(65_792), [257, 2, 1, 0, 0, 0]);
    }
}
