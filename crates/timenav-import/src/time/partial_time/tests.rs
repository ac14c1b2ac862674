use super::*;

#[track_caller]
fn check(parts: &[(TimePart, &str)], expected: &str) {
    let text = |(part, text): &(TimePart, &'static str)| PartText {
        part: *part,
        text: Cow::Borrowed(*text),
        format: None,
        name: None,
    };
    let parts: Vec<(TimePart, &'static str)> =
        parts.iter().map(|(part, text)| (*part, String::from(*text).leak() as &'static str)).collect();
    let texts: Vec<PartText<'_>> = parts.iter().map(text).collect();
    let outcome = match of_parts(&texts, &TimeRules::default()) {
        Ok(Known { at, precision, has_gap, .. }) => {
            let precision = precision.map_or("exact", Precision::as_str);
            format!("{at} {precision}{}", if has_gap { " gap" } else { "" })
        }
        Err(wrong) => wrong.detail,
    };
    assert_eq!(outcome, expected);
}

#[test]
fn precision_follows_from_the_given_parts() {
    use TimePart::{Date, Day, Hour, Minute, Month, Second, TimeOfDay, Year};
    check(&[(Year, "1945")], "1945-01-01T00:00:00Z year");
    check(&[(Year, "1945"), (Month, "July")], "1945-07-01T00:00:00Z month");
    check(&[(Year, "1945"), (Month, "0"), (Day, "0")], "1945-01-01T00:00:00Z year");
    check(&[(Year, "1945"), (Month, "7"), (Day, "16")], "1945-07-16T00:00:00Z day");
    check(&[(Year, "1945"), (Day, "16"), (Hour, "3")], "1945-01-01T00:00:00Z year gap");
    check(&[(Date, "1945-07-16"), (Hour, "3")], "1945-07-16T03:00:00Z hour");
    check(&[(Date, "19450716"), (Hour, "3"), (Minute, "5")], "1945-07-16T03:05:00Z minute");
    check(&[(Date, "1945-07"), (TimeOfDay, "11:29")], "1945-07-01T00:00:00Z month gap");
    check(&[(Date, "July 16, 1945"), (TimeOfDay, "112945.0")], "1945-07-16T11:29:45Z second");
    check(&[(Date, "1945/07/16"), (TimeOfDay, "5:29:45.25 PM")], "1945-07-16T17:29:45.25Z exact");
    check(&[(Date, "1945-07-16"), (TimeOfDay, "05:29:45+02:00")], "1945-07-16T03:29:45Z second");
    check(&[(Year, "2016"), (Month, "12"), (Day, "31"), (Hour, "23"), (Minute, "59"), (Second, "60.5")], {
        "2017-01-01T00:00:00.5Z exact"
    });
}

#[test]
fn invalid_time_parts_are_rejected_with_a_correction() {
    use TimePart::{Date, Hour, Month, TimeOfDay, Year};
    check(&[(Year, "MCM")], "`MCM` is not a year; years are written like `1945`, `-2150` or `2150 BCE`");
    check(&[(Year, "0 BC")], "a year with an era must be 1 or more");
    check(&[(Year, "1945"), (Month, "13")], "the month is 13; it must be from 1 to 12");
    check(&[(Year, "1945"), (Month, "x")], "`x` is not a valid month; months are 1 to 12, or English names");
    check(&[(Date, "1945-07-16"), (Hour, "25")], "the hour is 25; it must be from 0 to 23");
    check(&[(Date, "1945-07-16"), (TimeOfDay, "945")], {
        "`945` is an ambiguous time of day; state the order of its parts, as in \
         `time_of_day=column|hhmmss`"
    });
    for date in ["28.02.24", "24-02-28", "29-Feb-24"] {
        let hint = "state the order of its parts, as in `date=column|DD/MM/YYYY`";
        check(&[(Date, date)], &format!("`{date}` is an ambiguous date; {hint}"));
    }
    check(&[(Month, "7")], "the year is missing");
}

#[test]
fn two_digit_year_requires_its_own_pattern() {
    let read = |pattern: &str, text: &str| {
        let format = TimeFormat::parse(pattern).unwrap();
        of_format(text, &format, &TimeRules::default()).map(|known| known.at.to_string()).map_err(|wrong| wrong.detail)
    };
    assert_eq!(read("DD.MM.YYYY", "28.02.2024"), Ok("2024-02-28T00:00:00Z".to_owned()));
    assert_eq!(read("DD.MM.YY", "28.02.24"), Ok("2024-02-28T00:00:00Z".to_owned()));
    let time_of = |text: &str, pattern: &str, short: &str| {
        Err(format!("`{text}` is not written as `{pattern}`; a year of two digits is `{short}`"))
    };
    assert_eq!(read("DD.MM.YYYY", "28.02.24"), time_of("28.02.24", "DD.MM.YYYY", "DD.MM.YY"));
    assert_eq!(read("%d/%m/%Y", "28/02/24"), time_of("28/02/24", "%d/%m/%Y", "%d/%m/%y"));
    assert_eq!(read("DD.MM.YYYY", "x"), Err("`x` is not written as `DD.MM.YYYY`".to_owned()));
    assert!(of_usual("24-02-28", &TimeRules::default()).is_none());
}
