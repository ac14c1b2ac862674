use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::{EVENTS, Flags, event, event_json, file_text, object};
use crate::client::Client;
use crate::commands::arguments::insert;
use crate::exit::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The event.
    event_id: String,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").args(["id", "file"]).required(true)))]
pub(super) struct Correct {
    /// A JSON file with the corrected event and its `event_id`; `-` is standard input.
    #[arg(long, conflicts_with = "Flags")]
    file: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    /// Correct only this version: its position, from `show` or `find --json`.
    #[arg(long, value_name = "POSITION")]
    if_match: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Manipulate {
    /// The event.
    event_id: String,
    /// What to do: prevent, cancel, stop or remove; restore; delay or advance, with a duration; move or reschedule,
    /// with a time; relocate to, with a place; describe or rename, with a text. Any other text is saved as a note.
    action: String,
    /// The intervention as JSON: `{"kind": "delay", "duration": "2h"}`.
    #[arg(long, value_name = "JSON", value_parser = object)]
    effect: Option<Map<String, Value>>,
    /// The virtual time of the intervention: RFC 3339 with a zone.
    #[arg(long, allow_hyphen_values = true)]
    time: String,
    /// An event that caused the intervention. Repeatable.
    #[arg(long, value_name = "EVENT_ID")]
    cause: Vec<String>,
    /// Fail if the change would create a paradox.
    #[arg(long)]
    fail_on_paradox: bool,
    /// Show the effects without changing anything.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn show(client: &Client, show: Show, mut query: Vec<(&'static str, String)>) -> Result<(), Failure> {
    query.extend(show.as_of.map(|moment| ("as_of", moment)));
    let answer = client.get(&["v1", "events", &show.event_id], &query)?;
    client.show(&answer, history_text)
}

pub(super) fn correct(client: &Client, correct: Correct, mut body: Map<String, Value>) -> Result<(), Failure> {
    let event = match &correct.file {
        Some(path) => {
            let correction = serde_json::from_str::<Map<_, _>>(&file_text(path)?);
            correction.with_context(|| format!("{}: expected one event, a JSON object", path.display()))?
        }
        None => event(correct.flags),
    };
    insert(&mut body, "event", Some(event));
    let tag = correct.if_match.map(|position| position.to_string());
    let answer = client.post_if(&["v1", "correct-event"], body, tag.as_deref())?;
    client.show(&answer, corrected_text)
}

pub(super) fn manipulate(client: &Client, manipulate: Manipulate, mut body: Map<String, Value>) -> Result<(), Failure> {
    insert(&mut body, "event_id", Some(manipulate.event_id));
    insert(&mut body, "action", Some(manipulate.action));
    insert(&mut body, "effect", manipulate.effect);
    insert(&mut body, "time", Some(manipulate.time));
    insert(&mut body, "on_paradox", manipulate.fail_on_paradox.then_some("reject"));
    insert(&mut body, "causes", (!manipulate.cause.is_empty()).then_some(manipulate.cause));
    insert(&mut body, "dry_run", manipulate.dry_run.then_some(true));
    let answer = client.post(&["v1", "manipulate-event"], body)?;
    client.show(&answer, manipulated_text)
}

fn history_text(answer: &Value) -> String {
    let own = &answer["timeline_id"];
    let versions = answer["versions"].as_array().into_iter().flatten().map(|version| {
        let mut row = event_row(&version["event"]);
        for member in ["position", "superseded_at"] {
            row[member] = version[member].clone();
        }
        // A position belongs to the ledger of its timeline.
        if version["timeline_id"] != *own {
            row["inherited_id"] = version["timeline_id"].clone();
        }
        row
    });
    let versions: Vec<Value> = versions.collect();
    let mut columns = vec![("POSITION", "position"), ("SUPERSEDED AT", "superseded_at")];
    if versions.iter().any(|row| row["inherited_id"].is_string()) {
        columns.push(("TIMELINE", "inherited_id"));
    }
    columns.extend([("TIME", "time"), ("LOCATION", "location"), ("WHAT", "what")]);
    let mut text = output::status(answer) + &output::table(&versions, &columns, true);
    if let Some(interventions) = answer["interventions"].as_array().filter(|items| !items.is_empty()) {
        let columns = [
            ("POSITION", "position"),
            ("TIME", "time"),
            ("BY", "actor"),
            ("EFFECT", "effect/kind"),
            ("INTERVENTION", "action"),
        ];
        text.push('\n');
        text += &output::table(interventions, &columns, true);
    }
    text
}

fn corrected_text(answer: &Value) -> String {
    output::status(answer) + &output::table(&[event_json(&answer["event"])], EVENTS.columns, true)
}

fn manipulated_text(answer: &Value) -> String {
    let rows = ["before", "after"].map(|when| {
        let mut row = event_row(&answer[when]);
        row["when"] = when.into();
        row
    });
    let columns = [("", "when"), ("TIME", "time"), ("LOCATION", "location"), ("WHAT", "what")];
    let fields = [("event", "event_id"), ("effect", "effect/kind"), ("intervention", "intervention_id")];
    output::status(answer) + &output::fields(answer, &fields) + &output::table(&rows, &columns, true)
}

/// Returns the columns of an event, or a row for a canceled one.
fn event_row(event: &Value) -> Value {
    if event.is_null() { json!({ "what": "(cancelled)" }) } else { event_json(event) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        correct: Correct,
    }

    #[test]
    fn correction_requires_an_event_id_or_file() {
        let check = |flags: &[&str], expected: bool| {
            let line = Line::try_parse_from(std::iter::once("correct").chain(flags.iter().copied()));
            assert_eq!(line.is_ok(), expected, "{flags:?}");
        };
        check(&["--id=a", "--time=x"], true);
        check(&["--id=a", "--time=x", "--if-match=7"], true);
        check(&["--file=-", "--if-match=7"], true);
        check(&["--time=x"], false);
        check(&["--id=a"], false);
        check(&["--file=-", "--id=a"], false);
        check(&["--file=-", "--name=a"], false);
        check(&["--id=a", "--time=x", "--if-match=\"7\""], false);
    }

    #[test]
    fn event_history_shows_timeline_and_validity_of_versions() {
        let event = json!({"time": "2000-01-01T00:00:00Z", "name": "A"});
        let inherited = json!({"position": 3, "timeline_id": "main", "event": event});
        let own = json!({"position": 1, "timeline_id": "side"});
        let intervention = json!({"position": 1, "time": "1999-01-01T00:00:00Z", "effect": {"kind": "cancel"},
            "action": "cancel", "actor": "ada"});
        let text_of = |versions: Value, interventions: Value| {
            history_text(&json!({"status": "Told.", "timeline_id": "side", "versions": versions,
                "interventions": interventions}))
        };
        assert_eq!(
            text_of(json!([inherited, own]), json!([intervention])),
            "Told.\n\
             POSITION  SUPERSEDED AT  TIMELINE  TIME                  LOCATION  WHAT\n\
             3                        main      2000-01-01T00:00:00Z            A\n\
             1                                                                  (cancelled)\n\
             \n\
             POSITION  TIME                  BY   EFFECT  INTERVENTION\n\
             1         1999-01-01T00:00:00Z  ada  cancel  cancel\n"
        );
        let own = json!({"position": 1, "superseded_at": 4, "timeline_id": "side", "event": event});
        assert_eq!(
            text_of(json!([own]), json!([])),
            "Told.\n\
             POSITION  SUPERSEDED AT  TIME                  LOCATION  WHAT\n\
             1         4              2000-01-01T00:00:00Z            A\n"
        );
    }
}
