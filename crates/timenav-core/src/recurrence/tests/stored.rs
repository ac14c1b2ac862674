use super::{Rule, RuleError, at, rrule, zone};
use crate::recurrence::Work;
use crate::recurrence::known_months::{Filter, KnownMonths};

const RARE: &str = "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;COUNT=10000";

#[test]
fn stored_rule_equals_accepted_rule() {
    for (text, starts, name) in [
        (RARE, "-009999-01-01T00:00:00Z", "UTC"),
        ("FREQ=DAILY;COUNT=3", "2027-03-27T02:30:00Z", "Europe/Paris"),
        ("FREQ=DAILY;UNTIL=20270401T000000Z", "2027-03-27T02:30:00.5Z", "Europe/Paris"),
        ("FREQ=HOURLY;INTERVAL=5;COUNT=7", "2027-03-27T02:30:00.25Z", "America/New_York"),
        ("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", "2027-01-31T08:00:00Z", "UTC"),
    ] {
        let first = rrule(text, starts, name);
        let again = Rule::stored_rrule(text, at(starts), zone(name), first.last_of_count()).unwrap();
        assert_eq!(again, first, "{text}");
        let unknown = Rule::stored_rrule(text, at(starts), zone(name), None).unwrap();
        assert_eq!(unknown, first, "{text}: rows of earlier builds lack the last moment");
    }
}

#[test]
fn stored_rule_does_not_count_its_moments() {
    let last = at("2030-01-01T00:00:00Z");
    let rule = Rule::stored_rrule(RARE, at("-009999-01-01T00:00:00Z"), zone("UTC"), Some(last)).unwrap();
    // Counting forward would end in another year.
    assert_eq!(rule.last_of_count(), Some(last));
    assert_eq!(rule.next_after(at("2026-01-05T00:00:00Z")), Some(at("2027-01-03T00:00:00Z")));
    assert_eq!(rule.next_after(at("2027-01-03T00:00:00Z")), None);
}

#[test]
fn months_of_28_kinds_of_years_are_computed_once() {
    let mut known = KnownMonths::default();
    let mut worked_out = 0;
    for year in -9_999..=9_999 {
        for month in 1..=12 {
            known.get(Filter::All, year, month, || {
                worked_out += 1;
                2
            });
        }
    }
    assert_eq!(worked_out, 28 * 12);
}

#[test]
fn rule_with_long_searches_is_rejected() {
    for text in [
        "FREQ=SECONDLY;INTERVAL=172799;BYHOUR=0;BYMINUTE=0;BYSECOND=0",
        "FREQ=SECONDLY;INTERVAL=172799;BYHOUR=0;BYMINUTE=0;BYSECOND=0;COUNT=10000",
    ] {
        let error = Rule::rrule(text, at("-009999-01-01T00:00:00Z"), zone("UTC")).unwrap_err();
        assert_eq!(error, RuleError::TooRare { text: text.to_owned() });
    }
}

#[test]
fn search_for_rare_days_visits_only_months() {
    // 29 February is a Monday every 28 years, and after 40 where a century has no leap year.
    let rule = rrule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "1970-01-01T00:00:00Z", "UTC");
    let mut work = Work::default();
    let next = rule.next_after_at_cost(at("2072-02-29T00:00:00Z"), &mut work);
    assert_eq!(next, Some(at("2112-02-29T00:00:00Z")));
    assert!(work <= Work(40 * 12 + 2), "{work:?}");
}
