use proptest::prelude::*;

use super::Zone;
use crate::time::{Instant, Virtual, parse_timestamp};

fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap_or_else(|| panic!("{name} is not in the database"))
}

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn zone_names_match_the_database() {
    let check = |name: &str, expected: Option<&str>| {
        assert_eq!(Zone::named(name).as_ref().map(Zone::name), expected, "{name}");
    };
    check("America/Chicago", Some("America/Chicago"));
    check("america/chicago", Some("America/Chicago"));
    check("UTC", Some("UTC"));
    check("utc", Some("UTC"));
    check("Europe/Paris", Some("Europe/Paris"));
    check("", None);
    check("Etc/Unknown", None);
    check("Mars/Olympus", None);
    check("../../etc/passwd", None);
    check("+02:00", None);
    check("EST5EDT,M3.2.0,M11.1.0", None);
    assert_eq!(Zone::utc().name(), "UTC");
    assert_eq!(Zone::named("UTC"), Some(Zone::utc()));
    assert_ne!(zone("Europe/Paris"), zone("America/Chicago"));
}

#[test]
fn local_time_matches_local_clocks() {
    let check = |instant: &str, name: &str, expected: &str| {
        assert_eq!(zone(name).local_time(at(instant)), expected);
    };
    check("2005-08-29T00:00:00Z", "America/Chicago", "2005-08-28T19:00:00-05:00");
    check("2005-01-29T00:00:00Z", "America/Chicago", "2005-01-28T18:00:00-06:00");
    check("2024-07-20T20:17:40.25Z", "Asia/Kolkata", "2024-07-21T01:47:40.25+05:30");
    check("2024-07-20T20:17:40Z", "UTC", "2024-07-20T20:17:40+00:00");
    check("2024-03-31T00:59:59Z", "Europe/Paris", "2024-03-31T01:59:59+01:00");
    check("2024-03-31T01:00:00Z", "Europe/Paris", "2024-03-31T03:00:00+02:00");
    check("1850-01-01T00:00:00Z", "Europe/Paris", "1850-01-01T00:09:21+00:09:21");
    check("-000043-03-15T12:00:00Z", "Europe/Rome", "-000043-03-15T12:49:56+00:49:56");
    check("0000-01-01T00:00:00Z", "America/New_York", "-000001-12-31T19:03:58-04:56:02");
}

#[test]
fn local_time_outside_the_year_range_is_written_in_utc() {
    let check = |instant: &str, name: &str, expected: &str| {
        assert_eq!(zone(name).local_time(at(instant)), expected);
    };
    check("9999-12-31T23:59:59.999999Z", "America/Chicago", "9999-12-31T17:59:59.999999-06:00");
    check("9999-12-31T14:59:59.999999Z", "Asia/Tokyo", "9999-12-31T23:59:59.999999+09:00");
    check("9999-12-31T15:00:00Z", "Asia/Tokyo", "9999-12-31T15:00:00Z");
    check("-009999-01-01T00:00:00Z", "Asia/Tokyo", "-009999-01-01T09:18:59+09:18:59");
    check("-009999-01-01T05:50:35Z", "America/Chicago", "-009999-01-01T05:50:35Z");
    check("-009999-01-01T05:50:36Z", "America/Chicago", "-009999-01-01T00:00:00-05:50:36");
}

#[test]
fn months_keep_the_local_time() {
    let check = |name: &str, from: &str, months: i64, expected: Option<&str>| {
        let moved = zone(name).months_later(at(from), months);
        assert_eq!(moved, expected.map(at), "{from} + {months} in {name}");
    };
    // Across a clock change.
    check("Europe/Paris", "2024-03-15T11:00:00Z", 1, Some("2024-04-15T10:00:00Z"));
    check("Europe/Paris", "2024-04-15T10:00:00Z", -1, Some("2024-03-15T11:00:00Z"));
    check("UTC", "2024-03-15T11:00:00Z", 1, Some("2024-04-15T11:00:00Z"));
    // The day is local: in Tokyo it is already February 1.
    check("Asia/Tokyo", "2024-01-31T20:00:00Z", 1, Some("2024-02-29T20:00:00Z"));
    check("Asia/Tokyo", "2024-01-30T20:00:00Z", 1, Some("2024-02-28T20:00:00Z"));
    // 02:30 does not exist on 2024-03-31; 03:30 does.
    check("Europe/Paris", "2024-02-29T01:30:00Z", 0, Some("2024-02-29T01:30:00Z"));
    check("Europe/Paris", "2024-01-31T01:30:00Z", 2, Some("2024-03-31T01:30:00Z"));
    // 02:30 occurs twice on 2024-10-27; the first is in summer time.
    check("Europe/Paris", "2024-09-27T00:30:00Z", 1, Some("2024-10-27T00:30:00Z"));
    check("Europe/Paris", "2024-11-27T01:30:00Z", -1, Some("2024-10-27T00:30:00Z"));
    // The second 02:30 stays the second as no month moves.
    check("Europe/Paris", "2024-10-27T01:30:00Z", 0, Some("2024-10-27T01:30:00Z"));
}

#[test]
fn months_reach_both_ends() {
    let check = |name: &str, from: &str, months: i64, expected: Option<&str>| {
        let moved = zone(name).months_later(at(from), months);
        assert_eq!(moved, expected.map(at), "{from} + {months} in {name}");
    };
    let (min, max) = ("-009999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z");
    check("UTC", "-009999-02-01T00:00:00Z", -1, Some(min));
    check("UTC", "-009999-01-31T23:59:59.999999Z", -1, None);
    check("UTC", "9999-10-31T23:59:59.999999Z", 2, Some(max));
    check("UTC", "9999-12-01T00:00:00Z", 1, None);
    check("UTC", min, 19_999 * 12 - 1, Some("9999-12-01T00:00:00Z"));
    check("UTC", max, -(19_999 * 12 - 1), Some("-009999-01-31T23:59:59.999999Z"));
    check("UTC", min, 19_999 * 12, None);
    check("UTC", max, i64::from(u32::MAX), None);
    check("UTC", min, -i64::from(u32::MAX), None);
    // The local year is 10000 but the instant is in range, and vice versa.
    check("Asia/Tokyo", "9999-11-30T20:00:00Z", 1, Some("9999-12-31T20:00:00Z"));
    check("Asia/Tokyo", "9999-12-31T20:00:00Z", -1, Some("9999-11-30T20:00:00Z"));
    check("Asia/Tokyo", "-009999-02-01T00:00:00Z", -1, Some(min));
    check("Asia/Tokyo", "-009999-01-31T20:00:00Z", -1, None);
    check("America/Chicago", "9999-11-30T23:00:00Z", 1, Some("9999-12-30T23:00:00Z"));
    check("America/Chicago", "9999-12-01T03:00:00Z", 1, Some("9999-12-31T03:00:00Z"));
    check("America/Chicago", "-009999-02-01T00:00:00Z", -1, Some(min));
}

proptest! {
    #[test]
    fn months_match_jiff(
        name in prop::sample::select(vec!["UTC", "Europe/Paris", "America/Chicago", "Asia/Kolkata",
            "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia"]),
        seconds in -5_000_000_000i64..5_000_000_000,
        months in -1_000i64..1_000,
    ) {
        let zone = zone(name);
        let moved = zone.months_later(Instant::<Virtual>::from_micros(seconds * 1_000_000).unwrap(), months);
        let zoned = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(zone.rules.clone());
        let expected = zoned.checked_add(jiff::Span::new().months(months)).unwrap();
        prop_assert_eq!(moved.unwrap().micros(), expected.timestamp().as_microsecond());
    }

    #[test]
    fn local_time_is_the_same_instant(
        name in prop::sample::select(vec!["UTC", "Europe/Paris", "America/Chicago", "Asia/Kolkata",
            "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia"]),
        micros in Instant::<Virtual>::MIN.micros()..=Instant::<Virtual>::MAX.micros(),
    ) {
        let instant = Instant::<Virtual>::from_micros(micros).unwrap();
        let text = zone(name).local_time(instant);
        prop_assert_eq!(parse_timestamp(&text), Ok(instant), "{}", &text);
        let with_zone = format!("{text}[{name}]");
        prop_assert_eq!(parse_timestamp(&with_zone), Ok(instant), "{}", with_zone);
    }
}
