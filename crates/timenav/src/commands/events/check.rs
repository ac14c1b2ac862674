use serde_json::Value;

use crate::client::Client;
use crate::exit::Failure;
use crate::output;

const LISTS: [(&str, &[(&str, &str)]); 4] = [
    ("candidates", &[("CANDIDATE", "event_id"), ("NAME", "name")]),
    ("causes", &[("CAUSE", "event_id"), ("STEPS AWAY", "distance"), ("REQUIRED", "required"), ("STATE", "state")]),
    ("interventions", &[("TIME", "time"), ("BY", "actor"), ("EFFECT", "effect/kind"), ("INTERVENTION", "action")]),
    ("paradoxes", &[("PARADOX", "code"), ("GRADE", "grade"), ("EXPLANATION", "explanation")]),
];

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// The event's id, name or exact description.
    event: String,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
}

pub(super) fn run(client: &Client, check: Check, mut query: Vec<(&'static str, String)>) -> Result<(), Failure> {
    query.push(("significant_event", check.event));
    query.extend(check.as_of.map(|moment| ("as_of", moment)));
    client.show(&client.get(&["v1", "check-timeline"], &query)?, checked_text)
}

fn checked_text(answer: &Value) -> String {
    let layout = [
        ("event", "event_id"),
        ("time", "event/time"),
        ("relation", "relation"),
        ("causes intact", "causes_intact"),
        ("consequences", "consequences/count"),
    ];
    let mut text = output::status(answer);
    // A missing event has no consequences to show.
    if answer["event_id"].is_string() {
        text += &output::fields(answer, &layout);
    }
    for (member, columns) in LISTS {
        if let Some(items) = answer[member].as_array().filter(|items| !items.is_empty()) {
            text.push('\n');
            text += &output::table(items, columns, true);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_check_is_shown_in_sections() {
        let answer = serde_json::json!({"status": "It happens.", "event_id": "a", "event": {"time": "2000-01-01T00:00:00Z"},
            "relation": "past", "causes_intact": true, "consequences": {"count": 2, "event_ids": ["c", "d"]},
            "causes": [{"event_id": "b", "distance": 1, "required": true, "state": "active"}],
            "candidates": [], "interventions": [], "paradoxes": []});
        let expected = "It happens.\nevent          a\ntime           2000-01-01T00:00:00Z\nrelation       past\n\
                        causes intact  true\nconsequences   2\n\n\
                        CAUSE  STEPS AWAY  REQUIRED  STATE\nb      1           true      active\n";
        assert_eq!(checked_text(&answer), expected);
    }
}
