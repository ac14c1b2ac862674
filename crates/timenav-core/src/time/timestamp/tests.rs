use super::{TIMESTAMP_BYTES_MAX, TimestampError, parse_timestamp};
use crate::time::{Instant, Virtual};

mod properties;

const MIN: i64 = Instant::<Virtual>::MIN.micros();
const MAX: i64 = Instant::<Virtual>::MAX.micros();

fn parse(text: &str) -> Result<Instant<Virtual>, TimestampError> {
    parse_timestamp(text)
}

fn check(text: &str, expected: &str) {
    assert_eq!(parse(text).map(|at| at.to_string()).as_deref(), Ok(expected), "{text}");
}

fn check_error(text: &str, expected: &TimestampError) {
    assert_eq!(parse(text).as_ref(), Err(expected), "{text}");
}

fn check_message(text: &str, expected: &str) {
    assert_eq!(parse(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
}

#[test]
fn instants_are_written_in_utc() {
    let check = |micros: i64, expected: &str| {
        let at = Instant::<Virtual>::from_micros(micros).unwrap();
        assert_eq!(at.to_string(), expected);
        assert_eq!(format!("{at:?}"), expected);
    };
    check(0, "1970-01-01T00:00:00Z");
    check(-1, "1969-12-31T23:59:59.999999Z");
    check(1, "1970-01-01T00:00:00.000001Z");
    check(100_000, "1970-01-01T00:00:00.1Z");
    check(120_300, "1970-01-01T00:00:00.1203Z");
    check(-62_167_219_200_000_000, "0000-01-01T00:00:00Z");
    check(-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z");
    check(-62_135_596_800_000_000, "0001-01-01T00:00:00Z");
    check(MIN, "-009999-01-01T00:00:00Z");
    check(MAX, "9999-12-31T23:59:59.999999Z");
    assert_eq!(format!("[{:>24}]", Instant::<Virtual>::EPOCH), "[    1970-01-01T00:00:00Z]");
}

#[test]
fn accepted_timestamp_formats_are_parsed() {
    let moon = "2024-07-20T20:17:40Z";
    check(moon, moon);
    check("2024-07-20t20:17:40z", moon);
    check("2024-07-20 20:17:40Z", moon);
    check("2024-07-20T22:17:40+02:00", moon);
    check("2024-07-20T22:17:40+0200", moon);
    check("2024-07-20T22:17:40+02", moon);
    check("2024-07-20T20:27:01+00:09:21", moon);
    check("2024-07-20T15:17:40-05:00", moon);
    check("2024-07-20T20:17:40-00:00", moon);
    check("2024-07-20T20:17:40+00:00", moon);
    check("2024-07-21T20:16:40+23:59", moon);
    check("20240720T201740Z", moon);
    check("20240720T201740+0200", "2024-07-20T18:17:40Z");
    check("+002024-07-20T20:17:40Z", moon);
    check("+0020240720T201740Z", moon);
    check("2024-07-20T20:17Z", "2024-07-20T20:17:00Z");
    check("2024-07-20T20Z", "2024-07-20T20:00:00Z");
    check("2024-07-20T20+02:00", "2024-07-20T18:00:00Z");
    check("2024-07-20T20:17:40,5Z", "2024-07-20T20:17:40.5Z");
    check("2024-07-20T20:17:40.000Z", moon);
}

#[test]
fn signed_and_ancient_years_are_parsed() {
    check("-002150-01-01T00:00:00Z", "-002150-01-01T00:00:00Z");
    check("-000043-03-15T12:00:00Z", "-000043-03-15T12:00:00Z");
    check("-0000430315T120000Z", "-000043-03-15T12:00:00Z");
    check("+000000-01-01T00:00:00Z", "0000-01-01T00:00:00Z");
    check("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z");
    check("-000004-02-29T00:00:00Z", "-000004-02-29T00:00:00Z");
    check("-000400-02-29T00:00:00Z", "-000400-02-29T00:00:00Z");
    check("0000-01-01T00:30:00+01:00", "-000001-12-31T23:30:00Z");
    check_error("-000000-01-01T00:00:00Z", &TimestampError::NegativeYearZero);
    check_error("-0000000101T000000Z", &TimestampError::NegativeYearZero);
    for text in ["-2150-01-01T00:00:00Z", "12024-01-01T00:00:00Z", "-43-03-15T12:00:00Z", "24-07-20T20:17:40Z"] {
        check_error(text, &TimestampError::YearDigits);
    }
    for (text, year) in [("-000100-02-29T00:00:00Z", -100), ("-000001-02-29T00:00:00Z", -1)] {
        check_error(text, &TimestampError::NoSuchDay { year, month: 2, day: 29, days: 28 });
    }
}

#[test]
fn range_ends_at_the_last_microsecond() {
    let (min, max) = ("-009999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z");
    check(min, min);
    check(max, max);
    check("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z");
    check("9999-12-31T23:59:59.9999999Z", max);
    check("-009999-01-01T01:00:00+01:00", min);
    check("9999-12-31T22:59:59.999999-01:00", max);
    // The local year is out of range, the instant is not.
    check("-010000-12-31T23:00:00-01:00", min);
    check("+010000-01-01T00:59:59.999999+01:00", max);
    let texts = "-010000-12-31T23:59:59.999999Z|+010000-01-01T00:00:00Z|-009999-01-01T00:59:59.999999+01:00|\
                 9999-12-31T23:00:00-01:00|-010000-12-31T22:59:59.999999-01:00|+010000-01-01T01:00:00+01:00|\
                 +999999-12-31T23:59:59Z|-999999-01-01T00:00:00+23:59|+294247-01-10T04:00:54-23:59|\
                 +294247-01-10T04:00:60Z|+010000-01-01T00:00:00+00:00[Europe/London]";
    for text in texts.split('|') {
        check_error(text, &TimestampError::OutOfRange);
    }
}

#[test]
fn digits_below_a_microsecond_are_truncated_toward_the_past() {
    check("2024-07-20T20:17:40.1234567891Z", "2024-07-20T20:17:40.123456Z");
    check("2024-07-20T20:17:40.123456999999999999Z", "2024-07-20T20:17:40.123456Z");
    check("2024-07-20T20:17:40.0000009Z", "2024-07-20T20:17:40Z");
    check("2024-07-20T20:17:40.1234Z", "2024-07-20T20:17:40.1234Z");
    check("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z");
    check("-000043-03-15T12:00:00.0000019Z", "-000043-03-15T12:00:00.000001Z");
    assert_eq!(parse("1969-12-31T23:59:59.9999999Z").map(Instant::micros), Ok(-1));
    check_error("2024-07-20T20:17:40.Z", &TimestampError::NotATimestamp);
}

#[test]
fn leap_second_is_accepted_only_on_published_dates() {
    check("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z");
    check("1972-06-30T23:59:60Z", "1972-07-01T00:00:00Z");
    check("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z");
    check("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z");
    check("2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00Z");
    check("2017-01-01T05:29:60+05:30[Asia/Kolkata]", "2017-01-01T00:00:00Z");
    check("2016-12-31T23:59:60.25Z", "2017-01-01T00:00:00.25Z");
    let texts = "2024-12-31T23:59:60Z|2016-12-31T23:58:60Z|2016-12-31T22:59:60Z|2016-12-30T23:59:60Z|\
                 2016-12-31T23:59:60+01:00|2017-01-01T00:00:60Z|2024-07-20T20:17:60Z|1971-12-31T23:59:60Z|\
                 9999-12-31T23:59:60Z";
    for text in texts.split('|') {
        check_error(text, &TimestampError::NotALeapSecond);
    }
    let message = "no leap second occurred then: second 60 exists only at 23:59:60Z on days such as 2016-12-31";
    check_message("2024-12-31T23:59:60Z", message);
    check_message("2016-12-31T23:59:61Z", "the second is 61; it must be from 0 to 59");
}

#[test]
fn missing_timestamp_parts_are_named() {
    check_message(
        "2024-07-20T20:17:40",
        "the time zone is missing: end it in `Z`, an offset such as `+02:00`, or a zone such as `[Europe/Paris]`, like \
         `2024-07-20T20:17:40Z`",
    );
    check_message("2024-07-20", "the time of day and its zone are missing: write `2024-07-20T00:00:00Z`");
    let missing = |corrected: &str| TimestampError::ZoneMissing { corrected: corrected.to_owned() };
    check_error("2024-07-20T20:17", &missing("2024-07-20T20:17Z"));
    check_error("-000043-03-15T12:00:00.5", &missing("-000043-03-15T12:00:00.5Z"));
    check_error("2024-07-20T20:17:40[u-ca=gregory]", &missing("2024-07-20T20:17:40Z"));
    let alone = |corrected: &str| TimestampError::DateAlone { corrected: corrected.to_owned() };
    check_error("2024-07-20Z", &alone("2024-07-20T00:00:00Z"));
    check_error("-002150-01-01", &alone("-002150-01-01T00:00:00Z"));
    check_error("20240720", &alone("20240720T00:00:00Z"));
    for corrected in ["20240720T00:00:00Z", "2024-07-20T20:17Z"] {
        assert!(parse(corrected).is_ok(), "{corrected}");
    }
    check_error("2024-07-20T22:17:40 02:00", &TimestampError::OffsetSignMissing);
    check_error("", &TimestampError::Empty);
}

#[test]
fn local_time_in_a_zone_must_be_unambiguous() {
    for (text, utc) in [
        ("2028-02-29T09:00[Asia/Tokyo]", "2028-02-29T00:00:00Z"),
        ("2024-07-20T20:17:40[Europe/Paris]", "2024-07-20T18:17:40Z"),
        ("2024-01-20T20:17:40.5[Europe/Paris][u-ca=gregory]", "2024-01-20T19:17:40.5Z"),
        ("2024-07-20T20:17:40[+05:30]", "2024-07-20T14:47:40Z"),
        ("1800-01-01T00:00[Europe/Paris]", "1799-12-31T23:50:39Z"),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), utc, "{text}");
    }
    check_error(
        "2024-03-31T02:30[Europe/Paris]",
        &TimestampError::LocalTimeSkipped { zone: "Europe/Paris".to_owned(), offset: "+01:00".to_owned() },
    );
    check_error(
        "2024-10-27T02:30[Europe/Paris]",
        &TimestampError::LocalTimeTwice {
            zone: "Europe/Paris".to_owned(),
            first: "+02:00".to_owned(),
            second: "+01:00".to_owned(),
        },
    );
    assert!(parse("2024-10-27T02:30+01:00[Europe/Paris]").is_ok());
    check_error("2024-07-20T20:17[Mars/Base]", &TimestampError::ZoneUnknown { zone: "Mars/Base".to_owned() });
}

#[test]
fn timestamp_fields_out_of_range_are_rejected() {
    let field = |field, value, min, max| TimestampError::FieldOutOfRange { field, value, min, max };
    check_error("2024-00-20T20:17:40Z", &field("month", 0, 1, 12));
    check_error("2024-13-20T20:17:40Z", &field("month", 13, 1, 12));
    check_error("2024-07-20T25:17:40Z", &field("hour", 25, 0, 23));
    check_error("2024-07-20T23:60:40Z", &field("minute", 60, 0, 59));
    check_error("2024-07-20T23:17:61Z", &field("second", 61, 0, 59));
    check_error("2024-07-20T23:17:40+24:00", &field("hour of the offset", 24, 0, 23));
    check_error("2024-07-20T23:17:40-00:60", &field("minute of the offset", 60, 0, 59));
    check_error("2024-07-20T23:17:40-00:00:60", &field("second of the offset", 60, 0, 59));
    check_error("2024-07-20T24:00:00Z", &TimestampError::HourTwentyFour);
    check_error("2024-07-20T24:00:01Z", &TimestampError::HourTwentyFour);
    check("2024-07-20T23:59:59+23:59:59", "2024-07-20T00:00:00Z");
    let no_day = |year, month, day, days| TimestampError::NoSuchDay { year, month, day, days };
    check_error("2023-02-29T00:00:00Z", &no_day(2023, 2, 29, 28));
    check_error("1900-02-29T00:00:00Z", &no_day(1900, 2, 29, 28));
    check_error("2024-02-30", &no_day(2024, 2, 30, 29));
    check_error("2024-04-31T00:00:00Z", &no_day(2024, 4, 31, 30));
    check_error("2024-01-32T00:00:00Z", &no_day(2024, 1, 32, 31));
    check_error("2024-01-00T00:00:00Z", &no_day(2024, 1, 0, 31));
    check("2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z");
    check_message("2023-02-29T00:00:00Z", "month 2 of the year 2023 has 28 days, not 29");
}

#[test]
fn other_texts_are_not_timestamps() {
    let texts = "tomorrow|now|Z|-|+|2024|2024-07|2024-7-20T20:17:40Z|2024/07/20T20:17:40Z|2024-W29-6T20:17:40Z|\
                 2024-202T20:17:40Z|1721506660|2024-07-20T|2024-07-20TZ|2024-07-20T2:17:40Z|2024-07-20T20:1:40Z|\
                 2024-07-20T20:17:4Z|2024-07-20_20:17:40Z|2024-0720T20:17:40Z|2024-07-20T20:17:40+2|\
                 2024-07-20T20:17:40+2:00|2024-07-20T20:17:40+02:| 2024-07-20T20:17:40Z|\
                 Sat, 20 Jul 2024 20:17:40 GMT|２０２４-07-20T20:17:40Z|\0";
    for text in texts.split('|') {
        check_error(text, &TimestampError::NotATimestamp);
    }
    let trailing = |rest: &str| TimestampError::Trailing { rest: rest.to_owned() };
    check_error("2024-07-20T20:17:40Z ", &trailing(" "));
    check_error("2024-07-20T20:17:40ZZ", &trailing("Z"));
    check_error("2024-07-20T20:17:40 GMT", &trailing(" GMT"));
    check_error("2024-07-20T20:17:40−02:00", &trailing("−02:00"));
    check_error("2024-07-20T20:17:40Z/2024", &trailing("/2024"));
    check_error("2024-07-20T20:17.5Z", &trailing(".5Z"));
    check_error("2024-07-20T20:17:40+02:000", &trailing("0"));
    check_error("2024-07-20T20:17:40Z[Europe/Paris", &trailing("[Europe/Paris"));
    check_error("2024-07-20T20:17:40Z[Europe/Paris]é", &trailing("é"));
    check_message("2024-07-20T20:17:40Z\n", r#""\n" does not belong after a timestamp"#);
}

#[test]
fn bracketed_zone_must_agree_with_the_offset() {
    let moon = "2024-07-20T20:17:40Z";
    check("2024-07-20T22:17:40+02:00[Europe/Paris]", moon);
    check("2024-07-20T22:17:40+02:00[!Europe/Paris]", moon);
    check("2024-07-20T22:17:40+02:00[europe/paris]", moon);
    check("2024-07-20T20:17:40Z[Europe/Paris]", moon);
    check("2024-07-20T20:17:40-00:00[!Europe/Paris]", moon);
    check("2024-07-20T20:17:40+00:00[UTC]", moon);
    check("2024-07-20T22:17:40+02:00[+02:00]", moon);
    check("2024-07-20T20:17:40Z[-08:00]", moon);
    // In the repeated hour the offset decides.
    check("2024-10-27T02:30:00+02:00[Europe/Paris]", "2024-10-27T00:30:00Z");
    check("2024-10-27T02:30:00+01:00[Europe/Paris]", "2024-10-27T01:30:00Z");
    // Local mean time, exact or rounded to a minute as Temporal writes it.
    check("1850-01-01T00:09:21+00:09:21[Europe/Paris]", "1850-01-01T00:00:00Z");
    check("1850-01-01T00:09:21+00:09[Europe/Paris]", "1850-01-01T00:00:00Z");
    check("-000043-03-15T12:49:56+00:50[Europe/Rome]", "-000043-03-15T12:00:00Z");
    check("9999-12-31T17:59:59.999999-06:00[America/Chicago]", "9999-12-31T23:59:59.999999Z");
    let disagrees = |offset: &str, zone: &str, zone_offset: &str| TimestampError::ZoneDisagrees {
        offset: offset.to_owned(),
        zone: zone.to_owned(),
        zone_offset: zone_offset.to_owned(),
    };
    check_error("2024-07-20T22:17:40+01:00[Europe/Paris]", &disagrees("+01:00", "Europe/Paris", "+02:00"));
    check_error("2024-07-20T20:17:40+00:00[!Europe/Paris]", &disagrees("+00:00", "Europe/Paris", "+02:00"));
    check_error("2024-03-31T02:30:00+01:00[Europe/Paris]", &disagrees("+01:00", "Europe/Paris", "+02:00"));
    check_error("1850-01-01T00:09:21+00:10[Europe/Paris]", &disagrees("+00:10", "Europe/Paris", "+00:09:21"));
    check_error("1850-01-01T00:09:21+00:09:20[Europe/Paris]", &disagrees("+00:09:20", "Europe/Paris", "+00:09:21"));
    check_error("2024-07-20T22:17:40+02:00[+01:00]", &disagrees("+02:00", "+01:00", "+01:00"));
    // An offset with seconds is not rounded (RFC 9557 §3.4: inconsistent).
    check("1970-06-01T00:00:00-00:45[Africa/Monrovia]", "1970-06-01T00:44:30Z");
    check_error("1970-06-01T00:00:00-00:45:00[Africa/Monrovia]", &disagrees("-00:45", "Africa/Monrovia", "-00:44:30"));
    check_error("1890-01-01T00:00:00+00:09:00[Europe/Paris]", &disagrees("+00:09", "Europe/Paris", "+00:09:21"));
    check_error("1952-10-15T23:59:39-11:20:00[Pacific/Niue]", &disagrees("-11:20", "Pacific/Niue", "-11:19:40"));
    check_message(
        "2024-07-20T22:17:40+01:00[Europe/Paris]",
        "the offset +01:00 and the zone Europe/Paris disagree: at that time its offset is +02:00",
    );
    let unknown = |zone: &str| TimestampError::ZoneUnknown { zone: zone.to_owned() };
    check_error("2024-07-20T20:17:40Z[Europe/Atlantis]", &unknown("Europe/Atlantis"));
    check_error("2024-07-20T20:17:40Z[!Europe/Atlantis]", &unknown("Europe/Atlantis"));
    check_error("2024-07-20T20:17:40Z[+2]", &unknown("+2"));
    check_error("2024-07-20T20:17:40Z[+02:00x]", &unknown("+02:00x"));
}

#[test]
fn other_suffixes_are_ignored_unless_critical() {
    let moon = "2024-07-20T20:17:40Z";
    check("2024-07-20T20:17:40Z[u-ca=hebrew]", moon);
    check("2024-07-20T22:17:40+02:00[Europe/Paris][u-ca=gregory][_x-y=a1-B2]", moon);
    let critical = |suffix: &str| TimestampError::SuffixCritical { suffix: suffix.to_owned() };
    check_error("2024-07-20T20:17:40Z[!u-ca=hebrew]", &critical("!u-ca=hebrew"));
    check_error("2024-07-20T20:17:40Z[Europe/Paris][!x=y]", &critical("!x=y"));
    let malformed = |suffix: &str| TimestampError::SuffixMalformed { suffix: suffix.to_owned() };
    for suffix in ["", "!", "=", "x=", "=x", "X=y", "1x=y", "x=y-", "x=-y", "x=y=z", "x=é", "!!x=y"] {
        check_error(&format!("2024-07-20T20:17:40Z[{suffix}]"), &malformed(suffix));
    }
    check_message(
        "2024-07-20T20:17:40Z[\u{1b}=\n]",
        r"[\u{1b}=\n] is not a suffix: write one zone such as `[Europe/Paris]`, and tags after it",
    );
    check_error("2024-07-20T20:17:40Z[UTC][Europe/Paris]", &malformed("Europe/Paris"));
    check_error("2024-07-20T20:17:40Z[x=y][Europe/Paris]", &malformed("Europe/Paris"));
}

#[test]
fn timestamp_length_is_limited() {
    let text = |bytes: usize| {
        let (start, end) = ("2024-07-20T20:17:40.", "Z");
        format!("{start}{}{end}", "1".repeat(bytes - start.len() - end.len()))
    };
    check(&text(TIMESTAMP_BYTES_MAX), "2024-07-20T20:17:40.111111Z");
    let bytes = TIMESTAMP_BYTES_MAX + 1;
    check_error(&text(bytes), &TimestampError::TooLong { bytes });
    check_message(&text(bytes), "a timestamp can have at most 96 bytes, not 97");
    // The longest zone name fits together with a fraction and a suffix.
    check(
        "-002150-01-01T00:00:00.123456789-04:23:08[!America/Argentina/ComodRivadavia][u-ca=gregory]",
        "-002150-01-01T04:23:08.123456Z",
    );
}
