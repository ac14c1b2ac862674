//! Results of other implementations: `test-data/recurrence-v1.json`, made by `test-data/recurrence.py`.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Rule, RuleError, cron, second, zone};

static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../../test-data/recurrence-v1.json")).expect("the file is JSON")
});

fn list(name: &str) -> &'static [Value] {
    let list = VECTORS[name].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(!list.is_empty(), "{name} is empty");
    list
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// Decodes seconds stored as a first value and runs of equal differences.
fn unpacked(value: &Value) -> Vec<i64> {
    let mut at = number(&value[0]);
    let mut all = vec![at];
    for run in value[1].as_array().expect("runs") {
        for _ in 0..number(&run[1]) {
            at += number(&run[0]);
            all.push(at);
        }
    }
    all
}

/// Checks all moments from the first to the last expected one.
fn check(rule: &Rule, expected: &[i64], about: &Value) {
    let found: Vec<i64> =
        rule.after(second(expected[0] - 1)).map(|moment| moment.micros() / 1_000_000).take(expected.len()).collect();
    let first_wrong = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let local_text = |second_: Option<&i64>| second_.map(|at| rule.zone().local_time(second(*at)));
    assert!(
        found == expected,
        "{about}: at {first_wrong:?} {:?} instead of {:?}",
        first_wrong.map(|at| local_text(found.get(at))),
        first_wrong.map(|at| local_text(expected.get(at))),
    );
}

#[test]
fn rules_match_dateutil() {
    for vector in list("rules") {
        let starts = second(number(&vector["starts"]));
        let rule = Rule::rrule(text(&vector["rule"]), starts, zone(text(&vector["zone"])))
            .unwrap_or_else(|error| panic!("{vector}: {error}"));
        let through = second(number(&vector["through"]));
        let found: Vec<i64> = rule
            .after(second(number(&vector["starts"]) - 1))
            .take_while(|moment| *moment <= through)
            .map(|moment| moment.micros() / 1_000_000)
            .collect();
        let expected: Vec<i64> = numbers(&vector["moments"]).into_iter().filter(|at| second(*at) <= through).collect();
        assert_eq!(found, expected, "{}", vector["rule"]);
    }
}

#[test]
fn rules_far_from_their_start_match_dateutil() {
    for vector in list("far_rules") {
        let rule = Rule::rrule(text(&vector["rule"]), second(number(&vector["starts"])), zone("UTC")).unwrap();
        assert_eq!(
            rule.next_after(second(number(&vector["after"]))),
            Some(second(number(&vector["next"]))),
            "{vector}"
        );
    }
}

#[test]
fn cron_matches_croniter() {
    let mut rejected = 0;
    for vector in list("crons") {
        let rule = match Rule::cron(text(&vector["cron"]), zone("UTC")) {
            Ok(rule) => rule,
            // croniter accepts steps larger than their field; cronie and this parser do not.
            Err(RuleError::CronStep { .. }) => {
                rejected += 1;
                continue;
            }
            Err(error) => panic!("{}: {error}", vector["cron"]),
        };
        let found: Vec<i64> =
            rule.after(second(number(&vector["after"]))).take(12).map(|at| at.micros() / 1_000_000).collect();
        assert_eq!(found, numbers(&vector["moments"]), "{}", vector["cron"]);
    }
    assert_eq!(rejected, 7);
}

#[test]
fn daily_cron_matches_for_a_century_in_three_zones() {
    for vector in list("daily") {
        let expected = unpacked(&vector["runs"]);
        assert_eq!(expected.len(), 36_525);
        check(&cron(text(&vector["cron"]), text(&vector["zone"])), &expected, &vector["zone"]);
        let rule = Rule::rrule(text(&vector["rule"]), second(expected[0]), zone(text(&vector["zone"]))).unwrap();
        check(&rule, &expected, &vector["rule"]);
    }
}

#[test]
fn cron_with_a_star_matches_every_local_clock_reading() {
    for vector in list("passing") {
        check(&cron(text(&vector["cron"]), text(&vector["zone"])), &unpacked(&vector["runs"]), &vector["cron"]);
    }
}
