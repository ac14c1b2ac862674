//! The examples of RFC 5545 §3.8.5.3 and RFC 7529, with the moments they list.

use super::{Instant, Rule, at, occurrences, zone};

/// Checks a rule that starts at 09:00 in New York on 2 September 1997, unless stated otherwise. Moments are `year
/// month-day…`, at 09:00 unless a time is given. `...` means that more follow.
fn check(rule: &str, expected: &str) {
    check_from("1997-09-02T13:00:00Z", rule, expected);
}

fn check_from(starts: &str, rule: &str, expected: &str) {
    let parsed =
        Rule::rrule(rule, at(starts), zone("America/New_York")).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let (mut year, mut day, mut listed) = ("", "", Vec::new());
    for word in expected.split_whitespace().filter(|word| *word != "...") {
        match word.len() {
            4 => year = word,
            _ if word.contains(':') => {
                // A day with listed times has no implicit moment at 09:00.
                listed.pop_if(|moment: &mut (bool, String)| moment.0);
                listed.push((false, format!("{year}-{day}T{word}:00")));
            }
            _ => {
                day = word;
                listed.push((true, format!("{year}-{day}T09:00:00")));
            }
        }
    }
    let listed: Vec<String> = listed.into_iter().map(|(_, moment)| moment).collect();
    let count = if expected.ends_with("...") { listed.len() } else { listed.len() + 1 };
    let mut found = occurrences(&parsed, Instant::MIN, count);
    for moment in &mut found {
        moment.truncate("1997-09-02T09:00:00".len());
    }
    assert_eq!(found, listed, "{rule}");
}

#[test]
fn daily_and_weekly_examples_match_rfc_5545() {
    check("FREQ=DAILY;COUNT=10", "1997 09-02 09-03 09-04 09-05 09-06 09-07 09-08 09-09 09-10 09-11");
    check("FREQ=DAILY;INTERVAL=2", "1997 09-02 09-04 09-06 09-08 ...");
    check("FREQ=DAILY;INTERVAL=10;COUNT=5", "1997 09-02 09-12 09-22 10-02 10-12");
    check("FREQ=WEEKLY;COUNT=10", "1997 09-02 09-09 09-16 09-23 09-30 10-07 10-14 10-21 10-28 11-04");
    check(
        "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
        "1997 09-02 09-16 09-30 10-14 10-28 11-11 11-25 12-09 12-23 1998 01-06 01-20 ...",
    );
    let tuesdays = "1997 09-02 09-04 09-09 09-11 09-16 09-18 09-23 09-25 09-30 10-02";
    check("FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", tuesdays);
    check("FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", tuesdays);
    check_from(
        "1997-09-01T13:00:00Z",
        "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
        "1997 09-01 09-03 09-05 09-15 09-17 09-19 09-29 10-01 10-03 10-13 10-15 10-17 10-27 10-29 10-31 11-10 11-12 11-14 \
         11-24 11-26 11-28 12-08 12-10 12-12 12-22",
    );
    check("FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "1997 09-02 09-04 09-16 09-18 09-30 10-02 10-14 10-16");
    let start = "1997-08-05T13:00:00Z";
    check_from(start, "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997 08-05 08-10 08-19 08-24");
    check_from(start, "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997 08-05 08-17 08-19 08-31");
}

#[test]
fn daily_january_rules_match_rfc_5545() {
    let january = |days: i64| (1..=days).map(|day| format!("01-{day:02}")).collect::<Vec<_>>().join(" ");
    let expected = format!("1998 {} 1999 {} 2000 {}", january(31), january(31), january(31));
    let start = "1998-01-01T14:00:00Z";
    let yearly = "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA";
    check_from(start, yearly, &expected);
    check_from(start, "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", &expected);
}

#[test]
fn monthly_examples_match_rfc_5545() {
    let first_friday = "1997 09-05 10-03 11-07 12-05 1998 01-02 02-06 03-06 04-03 05-01 06-05";
    check_from("1997-09-05T13:00:00Z", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", first_friday);
    check_from("1997-09-05T13:00:00Z", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997 09-05 10-03 11-07 12-05");
    check_from(
        "1997-09-07T13:00:00Z",
        "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
        "1997 09-07 09-28 11-02 11-30 1998 01-04 01-25 03-01 03-29 05-03 05-31",
    );
    check_from(
        "1997-09-22T13:00:00Z",
        "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
        "1997 09-22 10-20 11-17 12-22 1998 01-19 02-16",
    );
    check_from(
        "1997-09-28T13:00:00Z",
        "FREQ=MONTHLY;BYMONTHDAY=-3",
        "1997 09-28 10-29 11-28 12-29 1998 01-29 02-26 ...",
    );
    check(
        "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
        "1997 09-02 09-15 10-02 10-15 11-02 11-15 12-02 12-15 1998 01-02 01-15",
    );
    check_from(
        "1997-09-30T13:00:00Z",
        "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
        "1997 09-30 10-01 10-31 11-01 11-30 12-01 12-31 1998 01-01 01-31 02-01",
    );
    check_from(
        "1997-09-10T13:00:00Z",
        "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
        "1997 09-10 09-11 09-12 09-13 09-14 09-15 1999 03-10 03-11 03-12 03-13",
    );
    check(
        "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
        "1997 09-02 09-09 09-16 09-23 09-30 11-04 11-11 11-18 11-25 1998 01-06 ...",
    );
    check("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1998 02-13 03-13 11-13 1999 08-13 2000 10-13 ...");
    check_from(
        "1997-09-13T13:00:00Z",
        "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
        "1997 09-13 10-11 11-08 12-13 1998 01-10 02-07 03-07 04-11 05-09 06-13 ...",
    );
    check_from("1997-09-04T13:00:00Z", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997 09-04 10-07 11-06");
    check_from(
        "1997-09-29T13:00:00Z",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        "1997 09-29 10-30 11-27 12-30 1998 01-29 02-26 03-30 ...",
    );
    check_from("2007-01-15T14:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007 01-15 01-30 02-15 03-15 03-30");
}

#[test]
fn yearly_examples_match_rfc_5545() {
    check_from(
        "1997-06-10T13:00:00Z",
        "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
        "1997 06-10 07-10 1998 06-10 07-10 1999 06-10 07-10 2000 06-10 07-10 2001 06-10 07-10",
    );
    check_from(
        "1997-03-10T14:00:00Z",
        "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
        "1997 03-10 1999 01-10 02-10 03-10 2001 01-10 02-10 03-10 2003 01-10 02-10 03-10",
    );
    check_from(
        "1997-01-01T14:00:00Z",
        "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
        "1997 01-01 04-10 07-19 2000 01-01 04-09 07-18 2003 01-01 04-10 07-19 2006 01-01",
    );
    check_from("1997-05-19T13:00:00Z", "FREQ=YEARLY;BYDAY=20MO", "1997 05-19 1998 05-18 1999 05-17 ...");
    check_from("1997-05-12T13:00:00Z", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997 05-12 1998 05-11 1999 05-17 ...");
    check_from(
        "1997-03-13T14:00:00Z",
        "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
        "1997 03-13 03-20 03-27 1998 03-05 03-12 03-19 03-26 1999 03-04 03-11 03-18 03-25 ...",
    );
    check_from(
        "1997-06-05T13:00:00Z",
        "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
        "1997 06-05 06-12 06-19 06-26 07-03 07-10 07-17 07-24 07-31 08-07 08-14 08-21 08-28 1998 06-04 06-11 ...",
    );
    check_from(
        "1996-11-05T14:00:00Z",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        "1996 11-05 2000 11-07 2004 11-02 ...",
    );
}

#[test]
fn hourly_and_minutely_examples_match_rfc_5545() {
    // The RFC writes UNTIL=19970902T170000Z but lists moments until 17:00 in New York.
    check("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000", "1997 09-02 09:00 12:00 15:00");
    check("FREQ=MINUTELY;INTERVAL=15;COUNT=6", "1997 09-02 09:00 09:15 09:30 09:45 10:00 10:15");
    check("FREQ=MINUTELY;INTERVAL=90;COUNT=4", "1997 09-02 09:00 10:30 12:00 13:30");
    let times: String = (9..17).flat_map(|hour| [0, 20, 40].map(|minute| format!(" {hour:02}:{minute:02}"))).collect();
    let expected = format!("1997 09-02{times} 09-03{times} ...");
    check("FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", &expected);
    check("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", &expected);
}

#[test]
fn missing_month_days_are_skipped_or_moved_per_rfc_7529() {
    let start = "2013-01-31T14:00:00Z";
    check_from(start, "FREQ=MONTHLY", "2013 01-31 03-31 05-31 07-31 ...");
    check_from(start, "FREQ=MONTHLY;SKIP=OMIT;COUNT=3", "2013 01-31 03-31 05-31");
    let backward = "2013 01-31 02-28 03-31 04-30 05-31 06-30";
    check_from(start, "RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=6", backward);
    check_from(start, "FREQ=MONTHLY;SKIP=FORWARD;COUNT=6", "2013 01-31 03-01 03-31 05-01 05-31 07-01");
    let leap_day = "2016-02-29T14:00:00Z";
    check_from(leap_day, "FREQ=YEARLY;COUNT=3", "2016 02-29 2020 02-29 2024 02-29");
    check_from(leap_day, "FREQ=YEARLY;SKIP=FORWARD;COUNT=5", "2016 02-29 2017 03-01 2018 03-01 2019 03-01 2020 02-29");
    check_from(leap_day, "FREQ=YEARLY;SKIP=BACKWARD;COUNT=5", "2016 02-29 2017 02-28 2018 02-28 2019 02-28 2020 02-29");
    check_from(
        "2016-12-31T14:00:00Z",
        "FREQ=YEARLY;BYYEARDAY=366;SKIP=FORWARD;COUNT=3",
        "2016 12-31 2018 01-01 2019 01-01",
    );
    check_from(
        "2016-12-31T14:00:00Z",
        "FREQ=YEARLY;BYYEARDAY=366;SKIP=BACKWARD;COUNT=3",
        "2016 12-31 2017 12-31 2018 12-31",
    );
    check_from(
        "2014-01-29T14:00:00Z",
        "FREQ=MONTHLY;BYMONTHDAY=29,30,31;SKIP=BACKWARD;COUNT=6",
        "2014 01-29 01-30 01-31 02-28 03-29 03-30",
    );
    check_from(
        "2014-01-31T14:00:00Z",
        "FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD;COUNT=4",
        "2014 01-31 02-01 03-01 03-31",
    );
}
