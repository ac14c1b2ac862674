//! Rules and cron expressions: what the standard says, what others work out, and what must hold of all of them.

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

/// Returns what clocks in the zone of a rule show at its moments later than that.
fn shown(rule: &Rule, after: Instant<Virtual>, count: usize) -> Vec<String> {
    rule.after(after).take(count).map(|moment| rule.zone().local_time(moment)).collect()
}

/// Checks the first moments after an instant, each as clocks show it.
fn check(rule: &Rule, after: &str, expected: &[&str]) {
    assert_eq!(shown(rule, at(after), expected.len()), expected, "{rule:?}");
}

/// Checks that a rule ends after these moments.
fn check_all(rule: &Rule, expected: &[&str]) {
    assert_eq!(shown(rule, Instant::MIN, expected.len() + 1), expected, "{rule:?}");
}
