use proptest::prelude::*;

use super::*;

fn widths(level: u8, size: u64) -> Vec<u16> {
    let width = |index| TileId { level, index }.width(size);
    (0..=size / 256).map(width).take_while(|width| *width > 0).collect()
}

#[test]
fn tile_widths_match_the_examples_of_the_standard() {
    let mut level_0 = vec![TILE_WIDTH; 273];
    level_0.push(112);
    assert_eq!(widths(0, 70_000), level_0);
    assert_eq!(widths(1, 70_000), [TILE_WIDTH, 17]);
    assert_eq!(widths(2, 70_000), [1]);
    assert_eq!(widths(3, 70_000).len(), 0);

    assert_eq!(widths(0, 256), [TILE_WIDTH]);
    assert_eq!(widths(1, 256), [1]);
    assert_eq!(widths(2, 256).len(), 0);
}

#[test]
fn tile_widths_at_the_range_ends_are_correct() {
    assert_eq!(widths(0, 0).len(), 0);
    assert_eq!(widths(0, 1), [1]);
    assert_eq!(TileId { level: 7, index: 0 }.width(u64::MAX), 255);
    assert_eq!(TileId { level: 8, index: 0 }.width(u64::MAX), 0);
    assert_eq!(TileId { level: u8::MAX, index: u64::MAX }.width(u64::MAX), 0);
}

#[test]
fn subtree_is_part_of_one_tile() {
    let of = |height, index| tile_of(Subtree { height, index });
    assert_eq!(of(0, 0), (TileId { level: 0, index: 0 }, 0..1));
    assert_eq!(of(0, 1_000), (TileId { level: 0, index: 3 }, 232..233));
    assert_eq!(of(7, 1), (TileId { level: 0, index: 0 }, 128..256));
    assert_eq!(of(7, 3), (TileId { level: 0, index: 1 }, 128..256));
    assert_eq!(of(8, 3), (TileId { level: 1, index: 0 }, 3..4));
    assert_eq!(of(10, 65), (TileId { level: 1, index: 1 }, 4..8));
    assert_eq!(of(16, 256), (TileId { level: 2, index: 1 }, 0..1));
}

#[test]
fn tile_index_is_written_in_groups() {
    for (index, width, path) in [
        (0, 256, "000"),
        (999, 256, "999"),
        (1_000, 256, "x001/000"),
        (1_234_067, 256, "x001/x234/067"),
        (1_234_067, 12, "x001/x234/067.p/12"),
        (273, 112, "273.p/112"),
        (u64::MAX, 1, "x018/x446/x744/x073/x709/x551/615.p/1"),
    ] {
        assert_eq!(index_path(index, width), path);
        assert_eq!(parse_index_path(path), Ok((index, width)));
    }
}

#[test]
fn noncanonical_paths_are_rejected() {
    let texts = "|0|00|0000|x000|x000/000|x001|001/000|x001/x234|x1/000|x001//000|/000|000/|+01|x+01/000|\
                 X001/000|x001/000/|xx01/000|x018/x446/x744/x073/x709/x551/616|\
                 x999/x999/x999/x999/x999/x999/x999/999";
    for path in texts.split('|') {
        assert_eq!(parse_index_path(path), Err(TileError::Index), "{path}");
    }
    for path in ["000.p/", "000.p/0", "000.p/256", "000.p/01", "000.p/+1", "000.p/1.p/1"] {
        assert_eq!(parse_index_path(path), Err(TileError::Width), "{path}");
    }
    for path in ["000", "tile", "tile/0", "tile/64/000", "tile/00/000", "tile/x/000", "/tile/0/000"] {
        assert_eq!(path.parse::<TilePath>(), Err(TileError::Level), "{path}");
    }
}

#[test]
fn tile_path_has_level_index_and_width() {
    let path = TilePath { tile: TileId { level: 1, index: 1_234 }, width: 5 };
    assert_eq!(path.to_string(), "tile/1/x001/234.p/5");
    assert_eq!("tile/1/x001/234.p/5".parse(), Ok(path));
}

proptest! {
    #[test]
    fn tile_paths_are_read_back(level in 0..=63_u8, index in any::<u64>(), width in 1..=256_u16) {
        let path = TilePath { tile: TileId { level, index }, width };
        prop_assert_eq!(path.to_string().parse(), Ok(path));
    }

    #[test]
    fn parsing_arbitrary_text_does_not_panic(text in any::<String>(), near in "[x0-9./p]{0,20}") {
        for text in [text, near.clone(), format!("tile/0/{near}")] {
            if let Ok(path) = text.parse::<TilePath>() {
                prop_assert_eq!(path.to_string(), text);
            }
        }
    }

    #[test]
    fn subtree_of_a_tile_maps_to_its_offset(level in 0..7_u8, index in 0..1_u64 << 7, offset: u8) {
        let tile = TileId { level, index };
        let offset_usize = usize::from(offset);
        prop_assert_eq!(tile_of(tile.subtree(offset)), (tile, offset_usize..offset_usize + 1));
    }
}
