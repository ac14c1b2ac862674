//! Recurrence rules and cron expressions: the standard's examples, other implementations' results, and properties.

mod brute;
mod cron;
mod refused;
mod rfc5545;
mod stored;
mod vectors;
mod zones;

use super::{Rule, RuleError};
use crate::time::{Instant, Virtual, Zone, parse_timestamp};

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn second(second: i64) -> Instant<Virtual> {
    Instant::from_micros(second * 1_000_000).unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap_or_else(|| panic!("{name} is not in the database"))
}

fn rrule(text: &str, starts: &str, name: &str) -> Rule {
    Rule::rrule(text, at(starts), zone(name)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn cron(text: &str, name: &str) -> Rule {
    Rule::cron(text, zone(name)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Local times of the next moments of a rule.
fn occurrences(rule: &Rule, after: Instant<Virtual>, count: usize) -> Vec<String> {
    rule.after(after).take(count).map(|moment| rule.zone().local_time(moment)).collect()
}

/// Checks the next moments, which are separated by blanks.
fn check(rule: &Rule, after: &str, expected: &str) {
    let expected: Vec<&str> = expected.split(' ').collect();
    assert_eq!(occurrences(rule, at(after), expected.len()), expected, "{rule:?}");
}

fn check_all(rule: &Rule, expected: &[&str]) {
    assert_eq!(occurrences(rule, Instant::MIN, expected.len() + 1), expected, "{rule:?}");
}
