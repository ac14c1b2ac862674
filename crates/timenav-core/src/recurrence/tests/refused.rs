use super::{Rule, RuleError, at, zone};

fn refused(text: &str) -> RuleError {
    Rule::rrule(text, at("2026-01-31T09:00:00Z"), zone("Europe/Paris")).unwrap_err()
}

#[test]
fn rule_errors_suggest_a_correction() {
    let check = |text: &str, expected: &[&str]| {
        let error = refused(text).to_string();
        assert!(expected.iter().all(|part| error.contains(part)), "{text}: {error}");
    };
    check("", &["the rule is empty", "FREQ="]);
    check("RRULE:", &["the rule is empty"]);
    check("every day", &["`every day` is not a part of a rule"]);
    check("FREQ=DAILY;", &["`` is not a part"]);
    check("INTERVAL=2", &["`FREQ=`"]);
    check("FREQ=FORTNIGHTLY", &["`FORTNIGHTLY` is not a valid `FREQ`", "WEEKLY"]);
    check("FREQ=DAILY;FREQ=WEEKLY", &["`FREQ` is in the rule twice"]);
    check("FREQ=DAILY;DTSTART=20260101", &["`DTSTART`", "`starts`"]);
    check("FREQ=DAILY;EXDATE=20260101", &["single dates"]);
    check("FREQ=DAILY;BYEASTER=1", &["`BYEASTER`", "BYMONTHDAY"]);
    check("FREQ=DAILY;INTERVAL=0", &["`0` is not a valid `INTERVAL`"]);
    check("FREQ=DAILY;COUNT=0", &["`COUNT`", "at least 1"]);
    check("FREQ=DAILY;COUNT=10001", &["at most 10000, not 10001", "UNTIL"]);
    check("FREQ=DAILY;COUNT=5;UNTIL=20270101", &["`COUNT` cannot be used with `UNTIL`"]);
    check("FREQ=DAILY;UNTIL=20270230", &["`20270230` is not a valid `UNTIL`", "20271224"]);
    check("FREQ=DAILY;UNTIL=20270101T250000Z", &["`UNTIL`"]);
    check("FREQ=DAILY;UNTIL=20270101Z", &["`UNTIL`"]);
    check("FREQ=DAILY;UNTIL=tomorrow", &["`UNTIL`"]);
    check("FREQ=DAILY;UNTIL=20200101", &["ends before it fires", "2026-01-31T09:00:00Z"]);
    check("FREQ=MONTHLY;BYMONTH=13", &["`13` is not a valid `BYMONTH`", "1 to 12"]);
    check("FREQ=MONTHLY;BYMONTHDAY=0", &["`BYMONTHDAY`", "-31 to -1"]);
    check("FREQ=MONTHLY;BYMONTHDAY=32", &["`32`"]);
    check("FREQ=WEEKLY;BYMONTHDAY=1", &["`BYMONTHDAY` cannot be used with `FREQ=WEEKLY`"]);
    check("FREQ=MONTHLY;BYYEARDAY=1", &["`BYYEARDAY` cannot be used with `FREQ=MONTHLY`"]);
    check("FREQ=MONTHLY;BYWEEKNO=1", &["`BYWEEKNO` cannot be used with `FREQ=MONTHLY`"]);
    check("FREQ=WEEKLY;BYDAY=1MO", &["a number in BYDAY", "FREQ=MONTHLY"]);
    check("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", &["a number in BYDAY", "without a number"]);
    check("FREQ=WEEKLY;BYDAY=MON", &["`MON` is not a valid `BYDAY`", "MO,WE"]);
    check("FREQ=WEEKLY;BYDAY=é", &["`BYDAY`"]);
    check("FREQ=MONTHLY;BYSETPOS=1", &["`BYSETPOS`", "BYDAY=FR;BYSETPOS=-1"]);
    check("FREQ=HOURLY;BYMINUTE=1,2;BYSETPOS=1", &["`BYSETPOS` cannot be used with `FREQ=HOURLY`"]);
    check("FREQ=DAILY;BYSECOND=60", &["`60`", "leap seconds"]);
    check("FREQ=MONTHLY;SKIP=NEAREST", &["OMIT, BACKWARD or FORWARD"]);
    check("RSCALE=HEBREW;FREQ=YEARLY", &["GREGORIAN"]);
    check("FREQ=WEEKLY;WKST=1", &["`WKST`"]);
    assert_eq!(refused(&"x".repeat(1_025)), RuleError::TooLong { bytes: 1_025 });
}

#[test]
fn rule_that_never_fires_is_rejected_quickly() {
    let check = |text: &str| {
        assert_eq!(refused(text), RuleError::NeverFires { text: text.to_owned() }, "{text}");
    };
    check("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30");
    check("FREQ=MONTHLY;BYMONTH=2,4;BYMONTHDAY=31");
    check("FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=5MO");
    // From an odd year on, every second year has no 29 February.
    let odd = Rule::rrule("FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29", at("2025-01-01T00:00:00Z"), zone("UTC"));
    assert!(matches!(odd, Err(RuleError::NeverFires { .. })), "{odd:?}");
    check("FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1");
    check("FREQ=YEARLY;BYWEEKNO=30;BYMONTH=1;BYDAY=MO");
    check("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6");
    check("FREQ=DAILY;INTERVAL=7;BYDAY=MO");
    check("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30");
    // The start is on the full hour in Paris, so every second minute is even.
    check("FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1,3,5");
    check("FREQ=SECONDLY;INTERVAL=60;BYSECOND=30");
    // The start is a Saturday, and so is every 168th hour.
    check("FREQ=HOURLY;INTERVAL=168;BYDAY=MO");
    check("FREQ=HOURLY;INTERVAL=24;BYMONTH=2;BYMONTHDAY=30");
    check("FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30");
    // After the end of the calendar.
    let late = Rule::rrule("FREQ=YEARLY;BYMONTH=6", at("9999-07-01T00:00:00Z"), zone("UTC"));
    assert!(matches!(late, Err(RuleError::NeverFires { .. })), "{late:?}");
}
