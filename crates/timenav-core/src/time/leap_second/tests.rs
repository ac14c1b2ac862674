use super::{MONTHS_AFTER_LEAP_SECONDS, follows_leap_second};
use crate::time::civil::{Civil, DAY_MICROS, SECOND_MICROS};

/// The first column of `leap-seconds.list`: seconds of NTP, which counts from 1900.
#[rustfmt::skip]
const NTP_SECONDS: [i64; 27] = [
    2_287_785_600, 2_303_683_200, 2_335_219_200, 2_366_755_200, 2_398_291_200, 2_429_913_600,
    2_461_449_600, 2_492_985_600, 2_524_521_600, 2_571_782_400, 2_603_318_400, 2_634_854_400,
    2_698_012_800, 2_776_982_400, 2_840_140_800, 2_871_676_800, 2_918_937_600, 2_950_473_600,
    2_982_009_600, 3_029_443_200, 3_076_704_000, 3_124_137_600, 3_345_062_400, 3_439_756_800,
    3_550_089_600, 3_644_697_600, 3_692_217_600,
];

#[test]
fn leap_second_table_matches_the_published_one() {
    let published: Vec<_> = NTP_SECONDS
        .iter()
        .map(|seconds| Civil::from_micros((seconds - 2_208_988_800) * SECOND_MICROS))
        .map(|utc| {
            assert_eq!((utc.day, utc.day_micros), (1, 0));
            (utc.year, utc.month)
        })
        .collect();
    assert_eq!(published, MONTHS_AFTER_LEAP_SECONDS);
}

#[test]
fn only_first_moment_of_a_month_follows_a_leap_second() {
    let day = Civil { year: 2017, month: 1, day: 1, day_micros: 0 };
    assert!(follows_leap_second(day));
    assert!(!follows_leap_second(Civil { day: 2, ..day }));
    assert!(!follows_leap_second(Civil { day_micros: 1, ..day }));
    assert!(!follows_leap_second(Civil { day_micros: DAY_MICROS - 1, ..day }));
    assert!(!follows_leap_second(Civil { year: 2016, ..day }));
    assert!(!follows_leap_second(Civil { month: 7, ..day }));
}
