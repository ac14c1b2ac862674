use super::{Instant, Rule, at, check, check_all, cron, rrule, zone};
use crate::recurrence::Count;
use crate::time::{Virtual, zone_tables_version};

#[test]
fn skipped_local_time_uses_the_offset_before_the_gap() {
    check(
        &cron("30 2 * * *", "Europe/Paris"),
        "2026-03-28T00:00:00Z",
        "2026-03-28T02:30:00+01:00 2026-03-29T03:30:00+02:00 2026-03-30T02:30:00+02:00",
    );
    check(
        &rrule("FREQ=DAILY", "2026-03-27T01:30:00Z", "Europe/Paris"),
        "2026-03-28T00:00:00Z",
        "2026-03-28T02:30:00+01:00 2026-03-29T03:30:00+02:00 2026-03-30T02:30:00+02:00",
    );
    check(
        &cron("0,30 2,3 * * *", "Europe/Paris"),
        "2026-03-29T00:00:00Z",
        "2026-03-29T03:00:00+02:00 2026-03-29T03:30:00+02:00 2026-03-30T02:00:00+02:00",
    );
    check(&cron("45 2 * * *", "Europe/Paris"), "2026-03-29T01:30:00Z", "2026-03-29T03:45:00+02:00");
    check(&cron("10,45 2,3 * * *", "Europe/Paris"), "2026-03-29T01:10:00Z", "2026-03-29T03:45:00+02:00");
    // The rule starts at an instant; its time of day is the local time shown then, not the 02:30 that was meant.
    check(
        &rrule("FREQ=DAILY", "2026-03-29T01:30:00Z", "Europe/Paris"),
        "2026-03-28T00:00:00Z",
        "2026-03-29T03:30:00+02:00 2026-03-30T03:30:00+02:00",
    );
    // Samoa had no 30 December 2011.
    check(
        &rrule("FREQ=DAILY", "2011-12-28T19:00:00Z", "Pacific/Apia"),
        "2011-12-29T00:00:00Z",
        "2011-12-29T09:00:00-10:00 2011-12-31T09:00:00+14:00 2012-01-01T09:00:00+14:00",
    );
}

#[test]
fn repeated_local_time_fires_once() {
    check(
        &cron("30 2 * * *", "Europe/Paris"),
        "2026-10-24T12:00:00Z",
        "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00",
    );
    check(&cron("30 1 * * *", "America/New_York"), "2026-11-01T05:30:00Z", "2026-11-02T01:30:00-05:00");
    // A rule that starts at the second 02:30 starts there.
    check(
        &rrule("FREQ=DAILY", "2026-10-25T01:30:00Z", "Europe/Paris"),
        "2026-10-24T00:00:00Z",
        "2026-10-25T02:30:00+01:00 2026-10-26T02:30:00+01:00",
    );
}

#[test]
fn minute_steps_stay_even_across_clock_changes() {
    check(
        &cron("*/20 * * * *", "Europe/Paris"),
        "2026-10-25T00:30:00Z",
        "2026-10-25T02:40:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T02:20:00+01:00 \
         2026-10-25T02:40:00+01:00 2026-10-25T03:00:00+01:00",
    );
    check(
        &cron("*/20 * * * *", "Europe/Paris"),
        "2026-03-29T00:40:00Z",
        "2026-03-29T03:00:00+02:00 2026-03-29T03:20:00+02:00",
    );
    // The repeated hour is near; without it the next moment is a year away.
    check(
        &cron("*/40 2 25 10 *", "Europe/Paris"),
        "2026-10-25T00:50:00Z",
        "2026-10-25T02:00:00+01:00 2026-10-25T02:40:00+01:00 2027-10-25T02:00:00+02:00",
    );
    check(
        &rrule("FREQ=HOURLY;INTERVAL=6", "2026-10-24T22:00:00Z", "Europe/Paris"),
        "2026-10-24T22:00:00Z",
        "2026-10-25T05:00:00+01:00 2026-10-25T11:00:00+01:00",
    );
    check(
        &rrule("FREQ=MINUTELY;INTERVAL=30;BYHOUR=2", "2026-10-24T22:00:00Z", "Europe/Paris"),
        "2026-10-24T22:00:00Z",
        "2026-10-25T02:00:00+02:00 2026-10-25T02:30:00+02:00 2026-10-25T02:00:00+01:00 \
         2026-10-25T02:30:00+01:00 2026-10-26T02:00:00+01:00",
    );
    // Lord Howe Island changes its clocks by half an hour.
    check(
        &rrule("FREQ=HOURLY", "2026-04-04T13:00:00Z", "Australia/Lord_Howe"),
        "2026-04-04T13:30:00Z",
        "2026-04-05T01:00:00+11:00 2026-04-05T01:30:00+10:30 2026-04-05T02:30:00+10:30",
    );
    check(
        &rrule("FREQ=HOURLY;BYMINUTE=0,45", "2026-04-04T13:00:00Z", "Australia/Lord_Howe"),
        "2026-04-04T13:30:00Z",
        "2026-04-05T00:45:00+11:00 2026-04-05T01:00:00+11:00 2026-04-05T01:45:00+11:00 \
         2026-04-05T01:45:00+10:30 2026-04-05T02:00:00+10:30",
    );
}

#[test]
fn rules_reach_both_ends_of_time() {
    let (min, max) = (Instant::<Virtual>::MIN, Instant::<Virtual>::MAX);
    let daily = rrule("FREQ=DAILY", "-009999-01-01T00:00:00Z", "UTC");
    assert_eq!(daily.first(), Some(min));
    assert_eq!(daily.next_after(at("9999-12-30T12:00:00Z")), Some(at("9999-12-31T00:00:00Z")));
    assert_eq!(daily.next_after(at("9999-12-31T00:00:00Z")), None);
    assert_eq!(daily.next_after(max), None);
    let secondly = rrule("FREQ=SECONDLY", "-009999-01-01T00:00:00Z", "Asia/Tokyo");
    assert_eq!(secondly.next_after(at("2026-01-01T00:00:00.5Z")), Some(at("2026-01-01T00:00:01Z")));
    assert_eq!(secondly.next_after(at("9999-12-31T23:59:58Z")), Some(at("9999-12-31T23:59:59Z")));
    assert_eq!(secondly.next_after(at("9999-12-31T23:59:59Z")), None);
    for name in ["Asia/Tokyo", "America/Chicago", "Europe/Paris", "Pacific/Kiritimati"] {
        let hourly = cron("@hourly", name);
        assert_eq!(hourly.next_after(at("9999-12-31T22:30:00Z")), Some(at("9999-12-31T23:00:00Z")), "{name}");
        assert_eq!(hourly.next_after(at("9999-12-31T23:00:00Z")), None, "{name}");
        let local_midnight = cron("@daily", name).next_after(min).unwrap();
        assert!(zone(name).local_time(local_midnight).contains("T00:00:00"), "{name}");
        assert!(local_midnight.since(min).micros() <= 86_400_000_000, "{name}");
    }
    let leap_days = rrule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "-009999-01-01T12:00:00Z", "UTC");
    assert_eq!(leap_days.next_after(at("9998-01-01T00:00:00Z")), None);
    assert!(leap_days.next_after(at("9950-01-01T00:00:00Z")).is_some());
    let millennia = rrule("FREQ=YEARLY;INTERVAL=1000", "-009999-06-01T00:00:00Z", "UTC");
    assert_eq!(millennia.next_after(at("2026-01-01T00:00:00Z")), Some(at("3001-06-01T00:00:00Z")));
}

#[test]
fn fraction_of_a_second_is_kept() {
    let rule = rrule("FREQ=DAILY", "2026-01-01T09:00:00.25Z", "UTC");
    assert_eq!(rule.first(), Some(at("2026-01-01T09:00:00.25Z")));
    assert_eq!(rule.next_after(at("2026-01-02T09:00:00.249999Z")), Some(at("2026-01-02T09:00:00.25Z")));
    assert_eq!(rule.next_after(at("2026-01-02T09:00:00.25Z")), Some(at("2026-01-03T09:00:00.25Z")));
    let last = rrule("FREQ=SECONDLY", "9999-12-31T23:59:58.999999Z", "UTC");
    assert_eq!(last.after(Instant::MIN).last(), Some(Instant::MAX));
}

#[test]
fn rule_until_is_inclusive() {
    let rule = |until: &str| rrule(&format!("FREQ=DAILY;UNTIL={until}"), "2026-03-27T08:00:00Z", "Europe/Paris");
    let three = ["2026-03-27T09:00:00+01:00", "2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00"];
    for until in
        ["20260329", "20260329T090000", "20260329T070000Z", "2026-03-29T07:00:00Z", "2026-03-29T09:00:00+02:00"]
    {
        check_all(&rule(until), &three);
    }
    for until in ["20260328", "20260329T085959", "20260329T065959Z"] {
        check_all(&rule(until), &three[..2]);
    }
    assert!(rule("99991231").next_after(at("9999-12-30T12:00:00Z")).is_some());
}

#[test]
fn rule_moments_are_counted_up_to_a_limit() {
    let rule = rrule("FREQ=DAILY;COUNT=10", "2026-01-01T00:00:00Z", "UTC");
    let count = |after: &str, through: &str, limit| rule.count(at(after), at(through), limit);
    let of = |moments, is_complete| Count { moments, is_complete };
    assert_eq!(count("2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", 100), of(3, true));
    assert_eq!(count("2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 100), of(10, true));
    assert_eq!(count("2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 10), of(10, true));
    assert_eq!(count("2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 9), of(9, false));
    assert_eq!(count("2027-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 9), of(0, true));
}

#[test]
fn rule_count_ends_independent_of_the_query_time() {
    let rule = rrule("FREQ=MINUTELY;COUNT=10000", "2026-01-01T00:00:00Z", "UTC");
    assert_eq!(rule.next_after(at("2026-01-07T22:38:00Z")), Some(at("2026-01-07T22:39:00Z")));
    assert_eq!(rule.next_after(at("2026-01-07T22:39:00Z")), None);
    // The calendar ends before the count is reached.
    let few = Rule::rrule("FREQ=YEARLY;COUNT=9", at("9998-01-01T00:00:00Z"), zone("UTC")).unwrap();
    assert_eq!(few.after(Instant::MIN).count(), 2);
}

#[test]
fn zone_tables_version_is_known() {
    let version = zone_tables_version();
    assert!(version.starts_with("20") && version.len() == 5, "{version}");
}
