use proptest::prelude::*;

use super::{RangeError, RangePart, TIME_RANGE_BYTES_MAX, TimeRange, parse_time_range};
use crate::time::{DurationError, Instant, TimestampError, Virtual, parse_timestamp};

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn parse(text: &str) -> Result<TimeRange<Virtual>, RangeError> {
    parse_time_range(text)
}

fn check(text: &str, expected: &str) {
    assert_eq!(parse(text).map(|range| range.to_string()).as_deref(), Ok(expected), "{text}");
    assert_eq!(parse(expected), parse(text), "{expected}");
}

fn check_error(text: &str, expected: &RangeError) {
    assert_eq!(parse(text).as_ref(), Err(expected), "{text}");
}

fn check_message(text: &str, expected: &str) {
    assert_eq!(parse(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
}

#[test]
fn ranges_of_two_times_are_parsed() {
    check("2024-07-20T00:00:00Z/2024-07-21T00:00:00Z", "2024-07-20T00:00:00Z/2024-07-21T00:00:00Z");
    check("2024-07-20T02:00:00+02:00/2024-07-20T00:00:00Z", "2024-07-20T00:00:00Z/2024-07-20T00:00:00Z");
    check("-000043-03-15T12:00:00Z/0000-01-01T00:00:00Z", "-000043-03-15T12:00:00Z/0000-01-01T00:00:00Z");
    // The slash in a zone name is not a separator.
    check(
        "2024-07-20T02:00:00+02:00[Europe/Paris]/2024-07-20T19:00:00-05:00[America/Chicago]",
        "2024-07-20T00:00:00Z/2024-07-21T00:00:00Z",
    );
    check("2024-07-20T02:00:00+02:00[Europe/Paris][u-ca=gregory]/P1D", "2024-07-20T00:00:00Z/2024-07-21T00:00:00Z");
}

#[test]
fn ranges_with_open_ends_are_parsed() {
    check("../2024-07-21T00:00:00Z", "../2024-07-21T00:00:00Z");
    check("2024-07-20T00:00:00Z/..", "2024-07-20T00:00:00Z/..");
    check("../..", "../..");
    assert_eq!(parse("../.."), Ok(TimeRange::everything()));
}

#[test]
fn ranges_with_a_duration_are_parsed() {
    let january = "2024-01-01T00:00:00Z/2024-01-31T00:00:00Z";
    check("2024-01-01T00:00:00Z/P30D", january);
    check("2024-01-01T00:00:00Z/30d", january);
    check("P30D/2024-01-31T00:00:00Z", january);
    check("720h/2024-01-31T00:00:00Z", january);
    check("2024-01-01T00:00:00Z/30 days", january);
    check("2024-01-31T00:00:00Z/P1M", "2024-01-31T00:00:00Z/2024-02-29T00:00:00Z");
    check("P1M/2024-03-31T00:00:00Z", "2024-02-29T00:00:00Z/2024-03-31T00:00:00Z");
    check("2024-01-31T00:00:00Z/1 month", "2024-01-31T00:00:00Z/2024-02-29T00:00:00Z");
    check("2024-01-01T00:00:00Z/1.5h", "2024-01-01T00:00:00Z/2024-01-01T01:30:00Z");
    // Months follow the calendar of the zone in brackets, or of UTC if there is none.
    check("2024-02-01T00:00:00+09:00[Asia/Tokyo]/P1M", "2024-01-31T15:00:00Z/2024-02-29T15:00:00Z");
    check("2024-02-01T00:00:00+09:00/P1M", "2024-01-31T15:00:00Z/2024-02-29T15:00:00Z");
    check("2026-03-01T00:00[Europe/Paris]/P1M", "2026-02-28T23:00:00Z/2026-03-31T22:00:00Z");
    check("P1M/2026-04-01T00:00[Europe/Paris]", "2026-02-28T23:00:00Z/2026-03-31T22:00:00Z");
    check("2024-01-01T00:00:00Z/500ms", "2024-01-01T00:00:00Z/2024-01-01T00:00:00.5Z");
    check("9999-12-31T23:59:59.999998Z/0.000001s", "9999-12-31T23:59:59.999998Z/9999-12-31T23:59:59.999999Z");
    check("P1M/-009999-02-01T00:00:00Z", "-009999-01-01T00:00:00Z/-009999-02-01T00:00:00Z");
    let out = |part| RangeError::OutOfRange { part };
    check_error("9999-12-31T23:59:59.999999Z/0.000001s", &out(RangePart::End));
    check_error("P1M/-009999-01-31T00:00:00Z", &out(RangePart::Start));
    check_message("1s/-009999-01-01T00:00:00Z", "the start of the range is outside the years -9999 to 9999");
}

#[test]
fn range_errors_name_the_wrong_part_and_reason() {
    let time = "2024-07-20T20:17:40Z";
    check_message(
        &format!("2024-07-20/{time}"),
        "the start of the range is wrong: the time of day and its zone are missing: write `2024-07-20T00:00:00Z`",
    );
    check_message(
        &format!("{time}/P1.5M"),
        "the end of the range is wrong: 1.5 has a fraction: months and years must be whole, as they differ in length",
    );
    let timestamp = |part, error| RangeError::Timestamp { part, error };
    check_error(&format!("{time}/tomorrow"), &timestamp(RangePart::End, TimestampError::NotATimestamp));
    check_error(&format!("today/{time}"), &timestamp(RangePart::Start, TimestampError::NotATimestamp));
    check_error(&format!("{time}/20:17:40Z"), &timestamp(RangePart::End, TimestampError::NotATimestamp));
    check_error(".../..", &timestamp(RangePart::Start, TimestampError::NotATimestamp));
    let missing = TimestampError::ZoneMissing { corrected: time.to_owned() };
    check_error("../2024-07-20T20:17:40", &timestamp(RangePart::End, missing));
    let duration = |part, error| RangeError::Duration { part, error };
    check_error(&format!("{time}/-2h"), &duration(RangePart::End, DurationError::Signed));
    check_error(&format!("-P1M/{time}"), &duration(RangePart::Start, DurationError::Signed));
    check_error(&format!("{time}/0s"), &duration(RangePart::End, DurationError::Zero));
    check_error(&format!("{time}/P"), &duration(RangePart::End, DurationError::NotADuration));
}

#[test]
fn range_requires_two_parts() {
    for text in
        ["", "..", "2024-07-20T20:17:40Z", "//", "../../..", "a/b/c", "R5/2024-07-20T20:17:40Z/P1D", "[a/b]", "[/"]
    {
        check_error(text, &RangeError::NotTwoParts);
    }
    let empty = |part| RangeError::PartEmpty { part };
    check_error("/", &empty(RangePart::Start));
    check_error("/2024-07-20T20:17:40Z", &empty(RangePart::Start));
    check_error("2024-07-20T20:17:40Z/", &empty(RangePart::End));
    check_message("../", "the end of the range is empty: write `..` to leave it open");
    let alone = |part| RangeError::DurationAlone { part };
    check_error("P1D/P1D", &alone(RangePart::Start));
    check_error("2h/..", &alone(RangePart::Start));
    check_error("../2h", &alone(RangePart::End));
    let message = "the end of the range is a duration, so the other part must be a timestamp";
    check_message("../P1M", message);
}

#[test]
fn range_with_end_before_start_is_rejected() {
    check("2024-07-20T20:17:40Z/2024-07-20T20:17:40Z", "2024-07-20T20:17:40Z/2024-07-20T20:17:40Z");
    check_message(
        "2024-07-20T20:17:40.000001Z/2024-07-20T22:17:40+02:00",
        "the end of the range, 2024-07-20T20:17:40Z, is before its start, 2024-07-20T20:17:40.000001Z",
    );
    let (early, late) = (at("-000043-03-15T12:00:00Z"), at("2024-07-20T20:17:40Z"));
    assert!(matches!(TimeRange::new(Some(late), Some(early)), Err(RangeError::EndBeforeStart { .. })));
    assert!(TimeRange::new(Some(early), Some(late)).is_ok());
}

#[test]
fn range_includes_both_ends() {
    let range = parse("2024-07-20T00:00:00Z/2024-07-20T23:59:59Z").unwrap();
    let check = |time: &str, expected: bool| assert_eq!(range.contains(at(time)), expected, "{time}");
    check("2024-07-19T23:59:59.999999Z", false);
    check("2024-07-20T00:00:00Z", true);
    check("2024-07-20T23:59:59Z", true);
    check("2024-07-20T23:59:59.000001Z", false);
    assert_eq!((range.start(), range.end()), (Some(range.first()), Some(range.last())));
    assert_eq!(range.first(), at("2024-07-20T00:00:00Z"));
    assert_eq!(range.last(), at("2024-07-20T23:59:59Z"));
}

#[test]
fn open_ends_reach_the_ends_of_time() {
    let everything = TimeRange::<Virtual>::everything();
    assert_eq!((everything.start(), everything.end()), (None, None));
    assert_eq!((everything.first(), everything.last()), (Instant::MIN, Instant::MAX));
    assert!(everything.contains(Instant::MIN) && everything.contains(Instant::MAX));
    let before = parse("../1970-01-01T00:00:00Z").unwrap();
    assert!(before.contains(Instant::MIN) && before.contains(Instant::EPOCH));
    assert!(!before.contains(at("1970-01-01T00:00:00.000001Z")));
    let after = parse("1970-01-01T00:00:00Z/..").unwrap();
    assert!(after.contains(Instant::MAX) && after.contains(Instant::EPOCH));
    assert!(!after.contains(at("1969-12-31T23:59:59.999999Z")));
}

#[test]
fn range_length_is_limited() {
    let time = |bytes: usize| format!("2024-07-20T20:17:40.{}Z", "1".repeat(bytes - 21));
    let longest = format!("{}/{}", time(96), time(96));
    assert_eq!(longest.len(), TIME_RANGE_BYTES_MAX);
    check(&longest, "2024-07-20T20:17:40.111111Z/2024-07-20T20:17:40.111111Z");
    let bytes = TIME_RANGE_BYTES_MAX + 1;
    check_error(&format!("{longest}Z"), &RangeError::TooLong { bytes });
}

prop_compose! {
    fn any_end()(micros in prop::option::of(Instant::<Virtual>::MIN.micros()..=Instant::<Virtual>::MAX.micros()))
        -> Option<Instant<Virtual>> {
        micros.and_then(Instant::from_micros)
    }
}

proptest! {
    #[test]
    fn written_ranges_are_read_back(one in any_end(), other in any_end()) {
        let (start, end) = match (one, other) {
            (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other))),
            ends => ends,
        };
        let range = TimeRange::new(start, end).unwrap();
        prop_assert_eq!((range.start(), range.end()), (start, end));
        prop_assert_eq!(parse(&range.to_string()), Ok(range));
    }

    #[test]
    fn parsing_arbitrary_text_does_not_panic(start in any::<String>(), end in any::<String>()) {
        let _ = parse(&start);
        let _ = parse(&format!("{start}/{end}"));
    }
}
