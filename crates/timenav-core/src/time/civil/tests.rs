use proptest::prelude::*;

use super::{Civil, CivilText, DAY_MICROS, days_in_month};
use crate::time::{Instant, Virtual};

const MIN: i64 = Instant::<Virtual>::MIN.micros();
const MAX: i64 = Instant::<Virtual>::MAX.micros();

fn midnight(year: i64, month: i64, day: i64) -> Civil {
    Civil { year, month, day, day_micros: 0 }
}

#[test]
fn civil_dates_match_known_day_numbers() {
    let check = |civil: Civil, days: i64| {
        assert_eq!(civil.micros(), Some(days * DAY_MICROS), "{civil:?}");
        assert_eq!(Civil::from_micros(days * DAY_MICROS), civil);
    };
    check(midnight(1970, 1, 1), 0);
    check(midnight(1969, 12, 31), -1);
    check(midnight(2000, 2, 29), 11_016);
    check(midnight(2000, 3, 1), 11_017);
    check(midnight(1900, 2, 28), -25_509);
    check(midnight(1900, 3, 1), -25_508);
    check(midnight(0, 3, 1), -719_468);
    check(midnight(0, 2, 29), -719_469);
    check(midnight(-1, 12, 31), -719_529);
    check(midnight(-4, 2, 29), -720_930);
    check(midnight(-100, 2, 28), -755_994);
    check(midnight(-100, 3, 1), -755_993);
    check(midnight(-400, 2, 29), -865_566);
    check(midnight(-9999, 1, 1), MIN / DAY_MICROS);
    check(midnight(9999, 12, 31), MAX / DAY_MICROS);
}

#[test]
fn every_day_follows_the_previous_one() {
    let mut yesterday = Civil::from_micros(MIN);
    for day in (MIN / DAY_MICROS + 1)..=(MAX / DAY_MICROS) {
        let today = Civil::from_micros(day * DAY_MICROS);
        let Civil { year, month, day, .. } = yesterday;
        let expected = match (month, day) {
            (12, 31) => midnight(year + 1, 1, 1),
            _ if day == days_in_month(year, month) => midnight(year, month + 1, 1),
            _ => midnight(year, month, day + 1),
        };
        assert_eq!(today, expected);
        yesterday = today;
    }
}

#[test]
fn month_arithmetic_clamps_to_the_month_end() {
    let check = |from: (i64, i64, i64), months: i64, to: (i64, i64, i64)| {
        let moved = midnight(from.0, from.1, from.2).months_later(months);
        assert_eq!((moved.year, moved.month, moved.day), to, "{from:?} + {months}");
    };
    check((2024, 1, 31), 1, (2024, 2, 29));
    check((2023, 1, 31), 1, (2023, 2, 28));
    check((2024, 3, 31), -1, (2024, 2, 29));
    check((2024, 8, 31), 1, (2024, 9, 30));
    check((2024, 12, 31), 1, (2025, 1, 31));
    check((2024, 1, 1), -1, (2023, 12, 1));
    check((2024, 2, 29), 12, (2025, 2, 28));
    check((2024, 2, 29), 48, (2028, 2, 29));
    check((0, 1, 31), -1, (-1, 12, 31));
    check((-1, 12, 31), 2, (0, 2, 29));
    check((-4, 2, 29), -1200, (-104, 2, 29));
    check((-4, 2, 29), -96 * 12, (-100, 2, 28));
    check((-9999, 1, 1), -1, (-10_000, 12, 1));
}

#[test]
fn out_of_range_civil_micros_return_none() {
    assert_eq!(midnight(294_247, 1, 11).micros(), None);
    assert!(midnight(294_247, 1, 10).micros().is_some());
    assert_eq!(midnight(999_999, 12, 31).micros(), None);
    assert_eq!(midnight(-999_999, 1, 1).micros(), None);
    assert_eq!(midnight(2024, 1, 1).months_later(i64::from(u32::MAX)).micros(), None);
    assert_eq!(midnight(2024, 1, 1).months_later(-i64::from(u32::MAX)).micros(), None);
}

#[test]
fn longest_civil_text_fits_the_buffer() {
    let civil = Civil::from_micros(MIN + DAY_MICROS - 1);
    let check = |text: CivilText, expected: &str| assert_eq!(text.as_str(), expected);
    let longest = "-009999-01-01T23:59:59.999999+00:09:21";
    check(CivilText::new(civil).with_offset(561), longest);
    assert_eq!(longest.len(), super::TEXT_BYTES_MAX);
    check(CivilText::new(civil).with_zulu(), "-009999-01-01T23:59:59.999999Z");
    check(CivilText::default().with_offset(-18_000), "-05:00");
    check(CivilText::default().with_offset(0), "+00:00");
    check(CivilText::default().with_offset(-86_399), "-23:59:59");
}

proptest! {
    #[test]
    fn micros_and_civil_are_inverse(micros in MIN..=MAX) {
        let civil = Civil::from_micros(micros);
        prop_assert!((1..=12).contains(&civil.month));
        prop_assert!((1..=days_in_month(civil.year, civil.month)).contains(&civil.day));
        prop_assert!((0..DAY_MICROS).contains(&civil.day_micros));
        prop_assert_eq!(civil.micros(), Some(micros));
    }

    #[test]
    fn calendar_matches_jiff(micros in MIN..=MAX, months in -300_000i64..300_000) {
        let civil = Civil::from_micros(micros).months_later(months);
        let from = Civil::from_micros(micros);
        let date = jiff::civil::date(
            from.year.try_into().unwrap(),
            from.month.try_into().unwrap(),
            from.day.try_into().unwrap(),
        );
        match date.checked_add(jiff::Span::new().try_months(months).unwrap_or_default()) {
            Ok(date) if months.abs() <= 239_976 => prop_assert_eq!(
                (civil.year, civil.month, civil.day),
                (date.year().into(), date.month().into(), date.day().into())
            ),
            Ok(_) => {}
            Err(_) => prop_assert!(!(-9999..=9999).contains(&civil.year)),
        }
    }
}
