//! Addresses of tiles: what is read is written again byte by byte, and its hashes lie where the
//! tile is looked for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{TILE_WIDTH, TilePath, index_path, parse_index_path, tile_of};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<TilePath>() {
        Ok(path) => {
            assert_eq!(path.to_string(), text);
            check(path);
        }
        Err(error) => check_message(&error, 0),
    }
    if let Ok((index, width)) = parse_index_path(text) {
        assert_eq!(index_path(index, width), text);
        assert!((1..=TILE_WIDTH).contains(&width));
    }
});

fn check(path: TilePath) {
    assert!((1..=TILE_WIDTH).contains(&path.width));
    let width = path.tile.width(u64::MAX);
    assert!(width <= TILE_WIDTH);
    // Other tiles are in no tree.
    if width > 0 {
        for offset in [0, 255] {
            let at = usize::from(offset);
            assert_eq!(tile_of(path.tile.subtree(offset)), (path.tile, at..at + 1));
        }
    }
}
