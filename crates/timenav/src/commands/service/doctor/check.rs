use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::output;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    /// May be intended by the operator.
    Warn,
    /// Should be fixed.
    Fail,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// A stable name that docs/security.md explains.
    pub(super) name: &'static str,
    pub(super) outcome: Outcome,
    pub(super) seen: String,
    /// Advice; empty if there is nothing to do.
    pub(super) advice: String,
}

impl Check {
    pub(super) fn ok(name: &'static str, seen: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Ok, seen: seen.into(), advice: String::new() }
    }

    pub(super) fn warn(name: &'static str, seen: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Warn, seen: seen.into(), advice: advice.into() }
    }

    pub(super) fn fail(name: &'static str, seen: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Fail, seen: seen.into(), advice: advice.into() }
    }
}

pub(super) fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, outcome, seen, advice } in checks {
        let advice = if advice.is_empty() { String::new() } else { format!(". {advice}") };
        let _ = writeln!(text, "{:<4}  {name}: {}", outcome.as_str(), output::printable(&format!("{seen}{advice}")));
    }
    let [ok, warn, fail] = counts(checks);
    let _ = writeln!(text, "{ok} ok, {warn} to review, {fail} failed");
    text
}

pub(super) fn json(checks: &[Check]) -> String {
    let [ok, warn, fail] = counts(checks);
    let all: Vec<Value> = checks.iter().map(one_json).collect();
    output::pretty(&json!({ "checks": all, "ok": ok, "warned": warn, "failed": fail }).to_string())
}

fn one_json(check: &Check) -> Value {
    json!({ "name": check.name, "outcome": check.outcome.as_str(), "seen": check.seen, "advice": check.advice })
}

fn counts(checks: &[Check]) -> [usize; 3] {
    let count = |outcome| checks.iter().filter(|check| check.outcome == outcome).count();
    [Outcome::Ok, Outcome::Warn, Outcome::Fail].map(count)
}

/// Returns the first few names of a list and the number of further ones.
pub(super) fn some_of(names: &[String]) -> String {
    const NAMES_MAX: usize = 5;
    let text = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
