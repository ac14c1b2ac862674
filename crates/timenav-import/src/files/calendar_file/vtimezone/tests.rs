use proptest::prelude::*;
use timenav_core::time::parse_timestamp;

use super::*;

const VIENNA: &str = "TZID:Wien\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nDTSTART:19700329T020000\n\
    RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\nBEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n\
    DTSTART:19701025T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\n";
const ONCE: &str = "TZID:Once\nBEGIN:STANDARD\nTZOFFSETFROM:+1000\nTZOFFSETTO:+1200\nDTSTART:20240101T000000\n\
    END:STANDARD\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+1200\nTZOFFSETTO:+1000\nDTSTART:20240505T080000\nEND:DAYLIGHT\n";
const UNTIL: &str = "TZID:Until\nBEGIN:DAYLIGHT\nTZOFFSETFROM:-0500\nTZOFFSETTO:-0400\nDTSTART:19870405T020000\n\
    RRULE:FREQ=YEARLY;BYMONTHDAY=1,2,3,4,5,6,7;BYDAY=SU;BYMONTH=4;UNTIL=20060402T070000Z\nEND:DAYLIGHT\n\
    BEGIN:STANDARD\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\nDTSTART:19861026T020000\nRDATE:19871025T020000,19881030T020000\n\
    END:STANDARD\n";

fn check(zone: &str, local: &str, expected: Option<&str>) {
    let mut zones = Zones::default();
    for text in [VIENNA, ONCE, UNTIL, "TZID:Europe/Berlin\nBEGIN:STANDARD\nEND:STANDARD\n"] {
        zones.add(text);
    }
    let instant = zones.instant(zone, parse_timestamp(local).unwrap());
    assert_eq!(instant.map(|zoned| zoned.at.to_string()).as_deref(), expected, "{zone} {local}");
}

/// Checks the instant of a local time in the calendar's only zone, and the assumed offset.
#[track_caller]
fn check_defined(zone: &str, parts: &[&str], local: &str, expected: &str, assumed: Option<i64>) {
    let mut zones = Zones::default();
    zones.add(&format!("TZID:{zone}\n{}", parts.concat()));
    let found = zones.instant(zone, parse_timestamp(local).unwrap()).unwrap();
    assert_eq!((found.at.to_string().as_str(), found.assumed), (expected, assumed), "{zone} {local}");
}

fn part(name: &str, start: &str, from: &str, to: &str, more: &str) -> String {
    format!("BEGIN:{name}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}END:{name}\n")
}

#[test]
fn unlisted_time_of_known_zone_uses_the_database() {
    // Second example of RFC 5545 §4: the meeting is before the first change.
    let standard = part("STANDARD", "19981025T020000", "-0400", "-0500", "");
    let daylight = part("DAYLIGHT", "19990404T020000", "-0500", "-0400", "");
    let new_york = [standard.as_str(), &daylight];
    for zone in ["America/New_York", "Eastern Standard Time", "/example.org/America/New_York"] {
        check_defined(zone, &new_york, "1998-03-12T08:30:00Z", "1998-03-12T13:30:00Z", None);
        check_defined(zone, &new_york, "1998-07-12T08:30:00Z", "1998-07-12T12:30:00Z", None);
        check_defined(zone, &new_york, "1998-12-12T08:30:00Z", "1998-12-12T13:30:00Z", None);
        check_defined(zone, &new_york, "1999-12-12T08:30:00Z", "1999-12-12T13:30:00Z", None);
    }
    // New York changed its clocks on 1999-10-31; the calendar omits that.
    check_defined("Elsewhere", &new_york, "1999-12-12T08:30:00Z", "1999-12-12T12:30:00Z", Some(-4 * 3_600));
    check_defined("Elsewhere", &new_york, "1998-03-12T08:30:00Z", "1998-03-12T12:30:00Z", Some(-4 * 3_600));
    check_defined("Elsewhere", &new_york, "1998-12-12T08:30:00Z", "1998-12-12T13:30:00Z", None);
    let sydney = part("STANDARD", "20060325T160000", "+0000", "+1000", "");
    check_defined("Australia/Sydney", &[&sydney], "2003-07-31T23:00:00Z", "2003-07-31T13:00:00Z", None);
    let paris = part("DAYLIGHT", "20250330T020000", "+0100", "+0200", "");
    check_defined("Europe/Paris", &[&paris], "2025-12-01T10:00:00Z", "2025-12-01T09:00:00Z", None);
    let yearly = part("DAYLIGHT", "20070325T020000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n");
    check_defined("Europe/Paris", &[&yearly], "2025-12-01T10:00:00Z", "2025-12-01T09:00:00Z", None);
    // London had summer time all through 1970.
    let london = part("STANDARD", "19700101T000000", "+0000", "+0000", "");
    check_defined("Europe/London", &[&london], "1969-07-20T12:00:00Z", "1969-07-20T11:00:00Z", None);
    let fixed = part("STANDARD", "19700101T000000", "+0100", "+0100", "");
    check_defined("Europe/Berlin", &[&fixed], "2024-07-20T12:00:00Z", "2024-07-20T10:00:00Z", None);
}

#[test]
fn definition_ends_at_tzuntil() {
    let standard = part("STANDARD", "20221030T030000", "+0200", "+0100", "RDATE:20231029T030000\n");
    let daylight = part("DAYLIGHT", "20220327T020000", "+0100", "+0200", "RDATE:20230326T020000,20240331T020000\n");
    let listed = ["TZUNTIL:20241027T010000Z\n", &standard, &daylight];
    check_defined("Europe/Copenhagen", &listed, "2023-07-01T10:00:00Z", "2023-07-01T08:00:00Z", None);
    check_defined("Europe/Copenhagen", &listed, "2025-01-15T10:00:00Z", "2025-01-15T09:00:00Z", None);
    check_defined("Elsewhere", &listed, "2024-10-27T02:59:59Z", "2024-10-27T00:59:59Z", None);
    check_defined("Elsewhere", &listed, "2024-10-27T03:00:00Z", "2024-10-27T01:00:00Z", Some(2 * 3_600));
    // A rule without an end ends there too.
    let rule = |name: &str, start: &str, from: &str, to: &str, month: u8| {
        part(name, start, from, to, &format!("RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH={month}\n"))
    };
    let (winter, summer) = (
        rule("STANDARD", "20001029T030000", "+0200", "+0100", 10),
        rule("DAYLIGHT", "20000326T020000", "+0100", "+0200", 3),
    );
    let until = ["TZUNTIL:20300101T000000Z\n", &winter, &summer];
    check_defined("Elsewhere", &until, "2029-12-31T12:00:00Z", "2029-12-31T11:00:00Z", None);
    check_defined("Elsewhere", &until, "2030-07-01T12:00:00Z", "2030-07-01T10:00:00Z", Some(2 * 3_600));
    check_defined("Elsewhere", &until[1..], "2030-07-01T12:00:00Z", "2030-07-01T10:00:00Z", None);
}

#[test]
fn listed_time_follows_the_calendar() {
    // A different zone under the name of one without daylight saving time.
    let standard = part("STANDARD", "20001029T030000", "+0100", "+0000", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\n");
    let daylight = part("DAYLIGHT", "20000326T020000", "+0000", "+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n");
    check_defined("GMT", &[&standard, &daylight], "2026-07-23T10:20:00Z", "2026-07-23T09:20:00Z", None);
    let fixed = part("STANDARD", "19700101T000000", "+0530", "+0530", "");
    for local in ["2012-09-04T02:00:00Z", "1960-09-04T02:00:00Z"] {
        let utc = local.replace("04T02:00", "03T20:30");
        check_defined("GMT+05:30", &[&fixed], local, &utc, None);
        // An offset that Tokyo never had.
        check_defined("Asia/Tokyo", &[&fixed], local, &utc, Some(19_800));
    }
}

#[test]
fn clock_changes_follow_the_calendar_definition() {
    check("Wien", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
    check("Wien", "2024-01-20T12:00:00Z", Some("2024-01-20T11:00:00Z"));
    check("Wien", "2024-03-31T01:59:59Z", Some("2024-03-31T00:59:59Z"));
    // Skipped time: read with the earlier offset.
    check("Wien", "2024-03-31T02:30:00Z", Some("2024-03-31T01:30:00Z"));
    check("Wien", "2024-03-31T03:00:00Z", Some("2024-03-31T01:00:00Z"));
    // Repeated time: the first is meant.
    check("Wien", "2024-10-27T02:30:00Z", Some("2024-10-27T00:30:00Z"));
    check("Wien", "2024-10-27T03:00:00Z", Some("2024-10-27T02:00:00Z"));
    check("Wien", "1960-07-01T12:00:00Z", Some("1960-07-01T11:00:00Z"));
    check("Once", "2024-05-05T07:00:01Z", Some("2024-05-04T19:00:01Z"));
    check("Once", "2024-05-05T08:00:01Z", Some("2024-05-04T22:00:01Z"));
    check("Once", "2023-05-05T08:00:00Z", Some("2023-05-04T22:00:00Z"));
    check("Until", "1988-07-01T12:00:00Z", Some("1988-07-01T16:00:00Z"));
    check("Until", "1988-12-01T12:00:00Z", Some("1988-12-01T17:00:00Z"));
    // The last listed change was to summer time.
    check("Until", "2030-12-01T12:00:00Z", Some("2030-12-01T16:00:00Z"));
}

#[test]
fn zone_names_of_the_database_are_known() {
    check("America/New_York", "2024-07-20T12:00:00Z", Some("2024-07-20T16:00:00Z"));
    check("/Europe/Stockholm", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
    check("/mozilla.org/20070129_1/America/New_York", "2024-07-20T12:00:00Z", Some("2024-07-20T16:00:00Z"));
    // An empty definition.
    check("Europe/Berlin", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
    // Windows zone names, as Outlook writes them.
    check("W. Europe Standard Time", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
    check("Eastern Standard Time", "2024-01-20T12:00:00Z", Some("2024-01-20T17:00:00Z"));
    check("Middle Earth", "2024-07-20T12:00:00Z", None);
    check("", "2024-07-20T12:00:00Z", None);
}

#[test]
fn zone_changes_and_name_length_are_limited() {
    let zone = |changes: usize| {
        let dates = vec!["19700101T000000"; changes - 1].join(",");
        let mut zones = Zones::default();
        zones.add(&format!(
            "TZID:X\nBEGIN:STANDARD\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nDTSTART:19700101T000000\nRDATE:{dates}\nEND:STANDARD\n"
        ));
        zones.instant("X", Instant::EPOCH).is_some()
    };
    assert!(zone(CALENDAR_ONSETS_MAX));
    assert!(!zone(CALENDAR_ONSETS_MAX + 1));
    let prefixed = |bytes: usize| format!("/{}/Europe/Rome", "x".repeat(bytes - "//Europe/Rome".len()));
    let zones = Zones::default();
    assert!(zones.instant(&prefixed(ZONE_NAME_BYTES_MAX), Instant::EPOCH).is_some());
    assert!(zones.instant(&prefixed(ZONE_NAME_BYTES_MAX + 1), Instant::EPOCH).is_none());
}

#[test]
fn unsupported_zone_rules_are_rejected() {
    let texts = "FREQ=MONTHLY|FREQ=YEARLY;COUNT=3|FREQ=YEARLY;BYDAY=SU|FREQ=YEARLY;BYMONTH=13|x|\
                 FREQ=YEARLY;BYDAY=9SU|FREQ=YEARLY;INTERVAL=2";
    for rule in texts.split('|') {
        assert_eq!(Yearly::parse(rule, 0), None, "{rule}");
    }
    assert!(Yearly::parse("FREQ=YEARLY;INTERVAL=1;BYDAY=1SU;BYMONTH=11;WKST=MO", 0).is_some());
    let two = 2 * 3_600 * SECOND_MICROS;
    assert!(Yearly::parse("FREQ=YEARLY;BYHOUR=2;BYMINUTE=0;BYSECOND=0", two).is_some());
    assert!(Yearly::parse("FREQ=YEARLY;BYHOUR=3", two).is_none());
}

proptest! {
    #[test]
    fn zone_definition_agrees_with_the_database(micros in 1_600_000_000_000_000_i64..2_500_000_000_000_000) {
        let mut zones = Zones::default();
        zones.add(VIENNA);
        let local = Instant::from_micros(micros).unwrap();
        prop_assert_eq!(zones.instant("Wien", local), zones.instant("Europe/Vienna", local));
    }
}
