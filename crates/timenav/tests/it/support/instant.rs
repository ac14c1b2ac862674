//! Timestamps as numbers, for models that are independent of the service.

/// The first and the last valid microsecond.
pub(crate) const MIN: i128 = -377_705_116_800_000_000;
pub(crate) const MAX: i128 = 253_402_300_799_999_999;

/// Parses a timestamp of the service into microseconds since 1970.
pub(crate) fn micros(text: &str) -> i128 {
    let text = text.strip_suffix('Z').unwrap_or_else(|| panic!("{text} does not end in Z"));
    let (date, time) = text.split_once('T').expect("a date and a time");
    let (negative, date) = date.strip_prefix('-').map_or((false, date), |date| (true, date));
    let numbers: Vec<i128> = date.split('-').map(|part| part.parse().expect("a number")).collect();
    let [year, month, day] = numbers.as_slice() else { panic!("{text}") };
    let year = if negative { -year } else { *year };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let numbers: Vec<i128> = clock.split(':').map(|part| part.parse().expect("a number")).collect();
    let [hour, minute, second] = numbers.as_slice() else { panic!("{text}") };
    assert!(fraction.len() <= 6 && !fraction.ends_with('0'), "{text}");
    let fraction: i128 = format!("{fraction:0<6}").parse().expect("a fraction");
    // Days of the Gregorian calendar, by Howard Hinnant's `days_from_civil`.
    let shifted_year = if *month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted_year.div_euclid(400), shifted_year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction
}

#[test]
fn timestamps_are_parsed_to_microseconds() {
    let check = |text: &str, expected: i128| assert_eq!(micros(text), expected, "{text}");
    check("1970-01-01T00:00:00Z", 0);
    check("1969-12-31T23:59:59.9Z", -100_000);
    check("2000-02-29T12:00:00.000001Z", 951_825_600_000_001);
    check("0000-01-01T00:00:00Z", -62_167_219_200_000_000);
    check("-009999-01-01T00:00:00Z", MIN);
    check("9999-12-31T23:59:59.999999Z", MAX);
}
