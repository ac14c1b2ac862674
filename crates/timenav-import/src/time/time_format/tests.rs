use proptest::prelude::*;

use super::*;

/// The parsed parts from year to offset, `-` for missing ones.
fn partial_text(partial: &Partial) -> String {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let year = partial.year.map(|year| match year.era {
        Some(era) => format!("{}{era:?}", year.number),
        None => year.number.to_string(),
    });
    let mut text = year.unwrap_or_else(|| "-".to_owned());
    for part in [partial.month, partial.day, partial.hour, partial.minute, partial.second] {
        text.push(' ');
        text.push_str(&number(part));
    }
    if let Some(fraction) = &partial.fraction {
        text.extend([".", fraction]);
    }
    if let Some(offset) = partial.offset_minutes {
        text = format!("{text} {offset:+}");
    }
    text
}

#[track_caller]
fn check(format: &str, text: &str, expected: &str) {
    let format = TimeFormat::parse(format).unwrap();
    let read = format.read(text);
    assert_eq!(read.as_ref().map(partial_text).as_deref(), Some(expected).filter(|text| !text.is_empty()), "{text}");
}

#[test]
fn pattern_letters_describe_a_time() {
    check("YYYYMMDD", "19450716", "1945 7 16 - - -");
    check("YYYYMMDD", "19450700", "1945 7 - - - -");
    check("YYYYMMDD", "1945716", "");
    check("YYYYMMDD", "194507161", "");
    check("hhmmss", "112945.0", "- - - 11 29 45");
    check("hhmmss", "92945.25", "- - - 9 29 45.25");
    check("hhmmss", "0", "- - - 0 0 0");
    check("hhmm", "930", "- - - 9 30 -");
    check("HH:mm", "9:30", "- - - 9 30 -");
    check("HH:MM:SS", "09:30:05,5", "- - - 9 30 5.5");
    check("dd/mm/yyyy HH:MM", "16/7/1945 11:29", "1945 7 16 11 29 -");
    check("M/D/YY h:mm A", "7/16/69 1:02 PM", "1969 7 16 13 2 -");
    check("M/D/YY h:mm A", "7/16/68 12:02 a.m.", "");
    check("M/D/YY h:mm A", "7/16/68 12:02 am", "2068 7 16 0 2 -");
    check("M/D/YY h:mm A", "7/16/68 13:02 am", "");
    check("D MMM YYYY", "15 March 44 BC", "44Before 3 15 - - -");
    check("D-MMM-YYYY", "15-Sept.-1900", "1900 9 15 - - -");
    check("YYYY-MM-DDTHH:mm:ss.SSSZ", "2024-07-20T20:17:40.120+02:00", "2024 7 20 20 17 40.120 +120");
    check("YYYY-MM-DD 'at' HH 'h'", "2024-07-20 at 7 h", "2024 7 20 7 - -");
    check("mm:ss", "5:06", "- - - - 5 6");
    check("YYYY-MM-DD", "-0043-03-15", "-43 3 15 - - -");
    check("DD.MM.YYYY", "24.08.0079", "79 8 24 - - -");
    check("DD.MM.YYYY", "24.08.79", "");
    check("YYYY-MM-DD", "79-08-24", "");
    check("YYYY-MM-DD", "476-09-04", "476 9 4 - - -");
    check("D MMM YYYY", "24 Aug 79 CE", "79Common 8 24 - - -");
}

#[test]
fn percent_patterns_match_strptime() {
    check("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700", "2000 10 10 13 55 36 -420");
    check("%a %b %d %H:%M:%S %Y", "Wed Oct  1 14:32:52 2000", "2000 10 1 14 32 52");
    check("%Y-%m-%d %H:%M:%S.%f", "2024-07-20 20:17:40.000", "2024 7 20 20 17 40");
    check("%F %T", "2024-07-20 20:17:40", "2024 7 20 20 17 40");
    check("100%%%Y", "100%1945", "1945 - - - - -");
    check("%D", "07/16/45", "2045 7 16 - - -");
}

#[test]
fn invalid_patterns_are_rejected() {
    for text in ["", "x", "hours", "%", "%Q", "T", "'at'", "YYY", "YYYY 'open"] {
        assert_eq!(TimeFormat::parse(text), None, "{text}");
    }
}

#[test]
fn single_years_months_and_seconds_are_parsed() {
    let year = |text: &str| year_alone(text).map(|year| (year.number, year.era));
    assert_eq!(year("-2150"), Some((-2150, None)));
    assert_eq!(year("2150 BCE"), Some((2150, Some(Era::Before))));
    assert_eq!(year("A.D. 79"), None);
    assert_eq!(year("AD 79"), Some((79, Some(Era::Common))));
    assert_eq!(year("1945.0"), Some((1945, None)));
    for wrong in ["", "19x", "1945-07", "1945.5", "x 79", "+", "AD"] {
        assert_eq!(year(wrong), None, "{wrong}");
    }
    assert_eq!(number_alone("07"), Some(7));
    assert_eq!(number_alone("7.00"), Some(7));
    assert_eq!(number_alone("July"), Some(7));
    for wrong in ["", "-7", "7.5", "J", "x", "99999999"] {
        assert_eq!(number_alone(wrong), None, "{wrong}");
    }
    assert_eq!(seconds_alone("45.30"), Some((45, Some("30".to_owned()))));
    assert_eq!(seconds_alone("5.0"), Some((5, None)));
    for wrong in ["", ".", "-1", "1e3", "5.x"] {
        assert_eq!(seconds_alone(wrong), None, "{wrong}");
    }
}

proptest! {
    #[test]
    fn parsing_arbitrary_text_does_not_panic(
        format in "(\\PC|[YMDhmsAZ%dbT' ]){0,20}",
        text in "(\\PC|[-0-9:. APMJul]){0,30}",
    ) {
        if let Some(format) = TimeFormat::parse(&format) {
            let _ = format.read(&text);
        }
        let _ = (year_alone(&text), number_alone(&text), seconds_alone(&text));
    }
}
