use proptest::prelude::*;

use super::{DURATION_BYTES_MAX, Duration, DurationError, parse_duration};
use crate::time::{Instant, Span, Virtual, Zone, parse_timestamp};

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn duration(text: &str) -> Duration {
    parse_duration(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks the parsed months and microseconds, and the canonical text.
fn check(text: &str, months: u32, micros: i64, written: &str) {
    let expected = Duration::new(months, Span::from_micros(micros)).unwrap();
    assert_eq!(parse_duration(text), Ok(expected), "{text}");
    assert_eq!(expected.to_string(), written, "{text}");
    assert_eq!(parse_duration(written), Ok(expected), "{written}");
}

fn check_error(text: &str, expected: &DurationError) {
    assert_eq!(parse_duration(text).as_ref(), Err(expected), "{text}");
}

fn check_message(text: &str, expected: &str) {
    assert_eq!(parse_duration(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
}

#[test]
fn short_durations_are_parsed() {
    check("1s", 0, 1_000_000, "PT1S");
    check("90m", 0, 90 * 60_000_000, "PT1H30M");
    check("5m", 0, 300_000_000, "PT5M");
    check("2h", 0, 2 * HOUR, "PT2H");
    check("1d", 0, DAY, "P1D");
    check("5d", 0, 5 * DAY, "P5D");
    check("2w", 0, 14 * DAY, "P14D");
    check("1.5h", 0, HOUR * 3 / 2, "PT1H30M");
    check("0.5d", 0, DAY / 2, "PT12H");
    check("0.5w", 0, 7 * DAY / 2, "P3DT12H");
    check("1d12h", 0, DAY * 3 / 2, "P1DT12H");
    check("1w2d3h4m5.25s", 0, 9 * DAY + 3 * HOUR + 245_250_000, "P9DT3H4M5.25S");
    check("1h30.5m", 0, HOUR + 1_830_000_000, "PT1H30M30S");
    check("0d1s", 0, 1_000_000, "PT1S");
    check("007s", 0, 7_000_000, "PT7S");
    check("500ms", 0, 500_000, "PT0.5S");
    check("1s500ms", 0, 1_500_000, "PT1.5S");
    check("0.1ms", 0, 100, "PT0.0001S");
    check("1ms500us", 0, 1_500, "PT0.0015S");
    for micro in ["us", "\u{b5}s", "\u{3bc}s"] {
        check(&format!("3{micro}"), 0, 3, "PT0.000003S");
    }
    check("1m1ms", 0, 60_001_000, "PT1M0.001S");
}

#[test]
fn iso_8601_durations_are_parsed() {
    check("PT2H", 0, 2 * HOUR, "PT2H");
    check("P1M", 1, 0, "P1M");
    check("PT1M", 0, 60_000_000, "PT1M");
    check("P1Y", 12, 0, "P1Y");
    check("P14M", 14, 0, "P1Y2M");
    check("P2W", 0, 14 * DAY, "P14D");
    check("P1Y2M10DT2H30M", 14, 10 * DAY + 2 * HOUR + HOUR / 2, "P1Y2M10DT2H30M");
    check("P1Y1W1D", 12, 8 * DAY, "P1Y8D");
    check("PT0.5S", 0, 500_000, "PT0.5S");
    check("PT0,5S", 0, 500_000, "PT0.5S");
    check("P1.5D", 0, DAY * 3 / 2, "P1DT12H");
    check("P1DT1.5H", 0, DAY + HOUR * 3 / 2, "P1DT1H30M");
    check("PT36H", 0, 36 * HOUR, "P1DT12H");
    check("P0M1D", 0, DAY, "P1D");
    check("P1M0D", 1, 0, "P1M");
    check("P1MT1S", 1, 1_000_000, "P1MT1S");
}

#[test]
fn durations_in_words_are_parsed() {
    for (text, canonical) in [
        ("2H", "PT2H"),
        ("1y", "P1Y"),
        ("3Y", "P3Y"),
        ("1mo", "P1M"),
        ("2 hours", "PT2H"),
        ("1.5 Hrs", "PT1H30M"),
        ("90min", "PT1H30M"),
        ("10 secs", "PT10S"),
        ("2weeks", "P14D"),
        ("3 days", "P3D"),
        (".5h", "PT30M"),
        ("500 ms", "PT0.5S"),
        ("500MS", "PT0.5S"),
        ("20 milliseconds", "PT0.02S"),
        ("7 microseconds", "PT0.000007S"),
        (" 1h ", "PT1H"),
        ("1d 12h", "P1DT12H"),
        ("1.5 days 12 hours", "P2D"),
        ("2 hours 30 minutes", "PT2H30M"),
        ("30 minutes and 2 hours", "PT2H30M"),
        ("3 days, 2 hours", "P3DT2H"),
        ("1 year, 2 months, and 3 days", "P1Y2M3D"),
        ("1y6mo", "P1Y6M"),
        ("0 days 1 s", "PT1S"),
    ] {
        assert_eq!(duration(text).to_string(), canonical, "{text}");
    }
    check_error("1.5 months", &DurationError::FractionOfMonth { number: "1.5".to_owned() });
    check_error("0 hours", &DurationError::Zero);
    check_error("9999999999999 weeks", &DurationError::OutOfRange);
    check_error("9223372036854 s 1 s", &DurationError::OutOfRange);
}

#[test]
fn fractions_below_a_microsecond_are_truncated() {
    check("0.000001s", 0, 1, "PT0.000001S");
    check("0.0000019s", 0, 1, "PT0.000001S");
    check("1.9999999s", 0, 1_999_999, "PT1.999999S");
    check("0.00000000027777778h", 0, 1, "PT0.000001S");
    check_error("0.00000000027777777h", &DurationError::Zero);
    // A third of an hour is not finite; its last microsecond is not rounded up.
    check("0.3333333333333333333333333333333333333333h", 0, 1_199_999_999, "PT19M59.999999S");
    check_error("0.0000009s", &DurationError::Zero);
}

#[test]
fn zero_and_signed_durations_are_rejected() {
    for text in ["0s", "0h", "0.0d", "0w0d0h0m0s", "PT0S", "P0D", "P0Y", "P0M", "P0Y0M0DT0H0M0.0S"] {
        check_error(text, &DurationError::Zero);
    }
    for text in ["-2h", "+2h", "-PT2H", "+P1M", "PT-2H", "P-1M", "P1D-1D", "--1s", "PT+1S"] {
        check_error(text, &DurationError::Signed);
    }
    check_message("-2h", "a duration must be positive: write it without a sign");
    check_message("0h", "a duration must be longer than zero: the shortest is one microsecond, `1us`");
    check_error("", &DurationError::Empty);
}

#[test]
fn missing_unknown_and_ambiguous_units_are_rejected() {
    let missing = |number: &str, units| DurationError::UnitMissing { number: number.to_owned(), units };
    let short = "`w` `d` `h` `m` `s` `ms` `us`";
    check_error("90", &missing("90", short));
    check_error("1.5", &missing("1.5", short));
    check_error("2h30", &missing("30", short));
    check_error("PT30", &missing("30", "`H` `M` `S`"));
    let unknown = |unit: &str, units| DurationError::UnitUnknown { unit: unit.to_owned(), units };
    for (text, number) in [("5M", "5"), ("1d1M", "1"), ("1 M", "1"), ("1H30M", "30")] {
        check_error(text, &DurationError::MonthsOrMinutes { number: number.to_owned() });
    }
    check_error("1e3s", &unknown("e", short));
    check_error("1é", &unknown("é", short));
    check_error("P2H", &unknown("H", "`Y` `M` `W` `D`, or after a `T` `H` `M` `S`"));
    check_error("PT2D", &unknown("D", "`H` `M` `S`"));
    check_error("P1m", &unknown("m", "`Y` `M` `W` `D`, or after a `T` `H` `M` `S`"));
    for (text, unit) in
        [("1h1d", "d"), ("1h1h", "h"), ("1s2m", "m"), ("1us2ms", "ms"), ("P1M1Y", "Y"), ("PT1S1S", "S"), ("P1D1W", "W")]
    {
        check_error(text, &DurationError::UnitOrder { unit: unit.to_owned() });
    }
    check_message("90", "the unit of 90 is missing: write one of `w` `d` `h` `m` `s` `ms` `us`");
    check_message("5M", "`M` could mean months or minutes: write `P5M` for months, or `5m` for minutes");
    check_message("5q", "the unit \"q\" is unknown there: write one of `w` `d` `h` `m` `s` `ms` `us`");
}

#[test]
fn fraction_is_accepted_only_on_the_last_number() {
    let not_last = |number: &str| DurationError::FractionNotLast { number: number.to_owned() };
    check_error("1.5d12h", &not_last("1.5"));
    check_error("1.0d12h", &not_last("1.0"));
    check_error("P1.5DT12H", &not_last("1.5"));
    check_error("PT0,5H1M", &not_last("0,5"));
    let of_month = |number: &str| DurationError::FractionOfMonth { number: number.to_owned() };
    check_error("P0.5M", &of_month("0.5"));
    check_error("P1.0Y", &of_month("1.0"));
    check_error("P1Y1,5M", &of_month("1,5"));
}

#[test]
fn other_texts_are_not_durations() {
    let texts = "tomorrow|h|P|PT|P1DT|T2H|p1m|pt2h|1.h|1..5h|2 fortnights|2 hours and a half|2 hours and|and 2 hours|\
                 2,hours|2 hours,, 1 minute|2 hours or 3 hours|1,5h|1,500h|1_000s|∞|１h|-|P1D/|2024-07-20T00:00:00Z|\0";
    for text in texts.split('|') {
        check_error(text, &DurationError::NotADuration);
    }
}

#[test]
fn durations_beyond_the_range_are_rejected() {
    check("9223372036854s", 0, 9_223_372_036_854_000_000, "P106751991DT4H54S");
    check("9223372036854.775807s", 0, i64::MAX, "P106751991DT4H54.775807S");
    check("P4294967295M", u32::MAX, 0, "P357913941Y3M");
    check("P357913941Y3M", u32::MAX, 0, "P357913941Y3M");
    let longest = "P357913941Y3M106751991DT4H54.775807S";
    check(longest, u32::MAX, i64::MAX, longest);
    let texts = "9223372036854.775808s|9223372036855s|99999999999999999999999999999999w|15250284w4d|P4294967296M|\
                 P357913941Y4M|P357913942Y|P106751992D";
    for text in texts.split('|') {
        check_error(text, &DurationError::OutOfRange);
    }
    let text = |bytes: usize| format!("{}1s", "0".repeat(bytes - 2));
    check(&text(DURATION_BYTES_MAX), 0, 1_000_000, "PT1S");
    let bytes = DURATION_BYTES_MAX + 1;
    check_error(&text(bytes), &DurationError::TooLong { bytes });
}

#[test]
fn nonpositive_durations_are_rejected() {
    assert_eq!(Duration::new(0, Span::ZERO), None);
    assert_eq!(Duration::new(1, Span::from_micros(-1)), None);
    let shortest = Duration::new(0, Span::from_micros(1)).unwrap();
    assert_eq!((shortest.months(), shortest.exact()), (0, Span::from_micros(1)));
    assert_eq!(Duration::new(1, Span::ZERO).unwrap().months(), 1);
}

#[test]
fn later_and_earlier_move_months_first() {
    let check = |zone: &str, from: &str, by: &str, later: Option<&str>, earlier: Option<&str>| {
        let (zone, duration) = (Zone::named(zone).unwrap(), duration(by));
        assert_eq!(duration.later(at(from), &zone), later.map(at), "{from} + {by}");
        assert_eq!(duration.earlier(at(from), &zone), earlier.map(at), "{from} - {by}");
    };
    let moon = "2024-07-20T20:17:40Z";
    check("UTC", moon, "2h", Some("2024-07-20T22:17:40Z"), Some("2024-07-20T18:17:40Z"));
    check("UTC", "2024-01-31T00:00:00Z", "P1M", Some("2024-02-29T00:00:00Z"), Some("2023-12-31T00:00:00Z"));
    check("UTC", "2024-03-31T00:00:00Z", "P1M1D", Some("2024-05-01T00:00:00Z"), Some("2024-02-28T00:00:00Z"));
    check("UTC", "2024-02-29T00:00:00Z", "P1Y", Some("2025-02-28T00:00:00Z"), Some("2023-02-28T00:00:00Z"));
    check("UTC", "-000004-02-29T00:00:00Z", "P4Y", Some("0000-02-29T00:00:00Z"), Some("-000008-02-29T00:00:00Z"));
    check("UTC", "-000104-02-29T00:00:00Z", "P4Y", Some("-000100-02-28T00:00:00Z"), Some("-000108-02-29T00:00:00Z"));
    // A day is 24 hours regardless of clock changes; a month keeps the time of day.
    check("Europe/Paris", "2024-03-30T12:00:00Z", "1d", Some("2024-03-31T12:00:00Z"), Some("2024-03-29T12:00:00Z"));
    check("Europe/Paris", "2024-03-15T12:00:00Z", "P1M", Some("2024-04-15T11:00:00Z"), Some("2024-02-15T12:00:00Z"));
    // The second 02:30 of that night stays the second, as no month moves.
    check("Europe/Paris", "2024-10-27T01:30:00Z", "1s", Some("2024-10-27T01:30:01Z"), Some("2024-10-27T01:29:59Z"));
}

#[test]
fn later_and_earlier_end_with_the_range() {
    let (utc, min, max) = (Zone::utc(), Instant::MIN, Instant::MAX);
    let micro = duration("0.000001s");
    assert_eq!(micro.later(max, &utc), None);
    assert_eq!(micro.earlier(min, &utc), None);
    assert_eq!(micro.earlier(max, &utc), Instant::from_micros(max.micros() - 1));
    assert_eq!(micro.later(min, &utc), Instant::from_micros(min.micros() + 1));
    let all = Duration::new(0, max.since(min)).unwrap();
    assert_eq!(all.later(min, &utc), Some(max));
    assert_eq!(all.earlier(max, &utc), Some(min));
    let longest = Duration::new(u32::MAX, Span::from_micros(i64::MAX)).unwrap();
    let paris = Zone::named("Europe/Paris").unwrap();
    for zone in [&utc, &paris] {
        assert_eq!(longest.later(min, zone), None);
        assert_eq!(longest.earlier(max, zone), None);
    }
    assert_eq!(duration("P19998Y11M").later(min, &utc), Some(at("9999-12-01T00:00:00Z")));
    assert_eq!(duration("P19999Y").later(min, &utc), None);
}

prop_compose! {
    fn any_duration()(months in 0..=u32::MAX, micros in 0..=i64::MAX, shift in 0u32..63, kind in 0..3) -> Duration {
        let micros = micros >> shift;
        let (months, micros) = match kind {
            0 => (months.max(1), 0),
            1 => (0, micros.max(1)),
            _ => (months.max(1), micros),
        };
        Duration::new(months, Span::from_micros(micros)).unwrap()
    }
}

proptest! {
    #[test]
    fn written_durations_are_read_back(duration in any_duration()) {
        prop_assert_eq!(parse_duration(&duration.to_string()), Ok(duration));
    }

    #[test]
    fn jiff_reads_written_durations(months in 0..200_000u32, micros in 1..=600_000_000_000_000_000i64) {
        let duration = Duration::new(months, Span::from_micros(micros)).unwrap();
        let span: jiff::Span = duration.to_string().parse().unwrap();
        prop_assert_eq!(i32::from(span.get_years()) * 12 + span.get_months(), i32::try_from(months).unwrap());
        let exact = span.years(0).months(0).to_duration(jiff::SpanRelativeTo::days_are_24_hours());
        prop_assert_eq!(exact.unwrap().as_micros(), i128::from(micros));
    }

    #[test]
    fn earlier_undoes_later_without_months(
        from in Instant::<Virtual>::MIN.micros()..=Instant::<Virtual>::MAX.micros(),
        micros in 1..=700_000_000_000_000_000i64,
    ) {
        let from = Instant::<Virtual>::from_micros(from).unwrap();
        let duration = Duration::new(0, Span::from_micros(micros)).unwrap();
        let zone = Zone::named("Europe/Paris").unwrap();
        let later = duration.later(from, &zone);
        prop_assert_eq!(later.is_some(), from.micros() + micros <= Instant::<Virtual>::MAX.micros());
        if let Some(later) = later {
            prop_assert_eq!(later.since(from), duration.exact());
            prop_assert_eq!(duration.earlier(later, &zone), Some(from));
        }
    }

    #[test]
    fn parsing_arbitrary_text_does_not_panic(text in any::<String>()) {
        let _ = parse_duration(&text);
    }

    #[test]
    fn parsing_near_valid_text_does_not_panic(text in "[-+PT]{0,3}([0-9]{1,20}[.,]?[0-9]{0,9}[wdhmsYMWDHSTé]){0,4}") {
        if let Ok(duration) = parse_duration(&text) {
            prop_assert_eq!(parse_duration(&duration.to_string()), Ok(duration), "{}", text);
        }
    }
}
