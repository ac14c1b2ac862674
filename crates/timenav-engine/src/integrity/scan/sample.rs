use std::collections::BTreeSet;

/// Picks `count` positions, or all, uniformly at random (Floyd's algorithm: Bentley, Programming Pearls, CACM 30 (9),
/// 1987).
pub(super) fn picked(count: u64, size: u64, random: impl Fn() -> u64) -> BTreeSet<u64> {
    let mut positions = BTreeSet::new();
    for last in size.saturating_sub(count)..size {
        if !positions.insert(random() % (last + 1)) {
            positions.insert(last);
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn sample_has_the_requested_number_of_distinct_positions() {
        let drawn = Cell::new(7_u64);
        let random = || {
            drawn.set(drawn.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            drawn.get() >> 33
        };
        for (count, size, expected) in [(0, 9, 0), (1, 1, 1), (20, 500, 20), (9, 9, 9), (10, 9, 9), (5, 0, 0)] {
            let positions = picked(count, size, random);
            assert_eq!(positions.len(), expected, "{count} of {size}");
            assert!(positions.iter().all(|position| *position < size), "{positions:?}");
        }
    }

    #[test]
    fn every_position_can_be_sampled() {
        // A constant is the worst case of randomness.
        let found: BTreeSet<u64> = (0..12).flat_map(|number| picked(3, 12, || number)).collect();
        assert_eq!(found.len(), 12);
    }
}
