use serde_json::Value;

use super::arguments::insert;
use super::clock::foreseen;
use super::confirmed::{self, ConfirmOptions};
use super::pages::show_pages;
use crate::client::{Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const ANCHORS: Records = Records {
    member: "anchors",
    fields: &["anchor_id", "timestamp", "description", "fixed", "position", "set_at", "timeline_id"],
    columns: &[("ANCHOR", "anchor_id"), ("TIMESTAMP", "timestamp"), ("DESCRIPTION", "description")],
};

/// Sets anchors and returns to them.
#[derive(Debug, clap::Args)]
pub(crate) struct AnchorCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Sets an anchor.
    Set {
        /// The virtual time of the anchor. Defaults to the clock's current time.
        #[arg(long, allow_hyphen_values = true)]
        time: Option<String>,
        /// A description.
        #[arg(long)]
        description: Option<String>,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Lists the anchors of the timeline.
    List,
    /// Shows an anchor.
    Show {
        /// The id of the anchor, from `set` or `list`.
        anchor_id: String,
    },
    /// Returns the clock, events and timers to an anchor. The return is recorded.
    Return {
        /// The id of the anchor, from `set` or `list`.
        anchor_id: String,
        /// What to restore; `all` includes events and timers. Defaults to `all`.
        #[arg(long, value_parser = ["all", "clock"])]
        scope: Option<String>,
        /// Show what the return would change.
        #[arg(long, conflicts_with = "followers")]
        dry_run: bool,
        #[command(flatten)]
        confirm: ConfirmOptions,
    },
}

pub(crate) fn run(command: AnchorCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut body = command.timeline.body();
    match command.action {
        Action::Set { time, description, create } => {
            insert(&mut body, "timestamp", time);
            insert(&mut body, "description", description);
            let answer = client.write(&["v1", "set-anchor"], &[], &Value::Object(body).to_string(), create)?;
            client.show(&answer, anchor_text)
        }
        Action::List => show_pages(&client, &["v1", "anchors"], command.timeline.query(), true, &ANCHORS),
        Action::Show { anchor_id } => {
            let answer = client.get(&["v1", "anchors", &anchor_id], &command.timeline.query())?;
            client.show(&answer, |answer| anchor_text(&answer["anchor"]))
        }
        Action::Return { anchor_id, scope, dry_run, confirm } => {
            insert(&mut body, "anchor_id", Some(anchor_id));
            insert(&mut body, "scope", scope);
            if dry_run {
                return foreseen::run(&client, "return-to-anchor", body, None, anchor_text);
            }
            confirmed::change(&client, "return-to-anchor", body, (&confirm, None), anchor_text)
        }
    }
}

fn anchor_text(answer: &Value) -> String {
    let layout = [
        ("anchor", "anchor_id"),
        ("timestamp", "timestamp"),
        ("description", "description"),
        ("current time", "current_time"),
        ("state", "state"),
    ];
    output::status(answer) + &output::fields(answer, &layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pages::page_text;

    #[test]
    fn anchors_are_listed_in_columns() {
        let anchor = serde_json::json!({"anchor_id": "anchor_1", "timestamp": "2000-01-01T00:00:00Z",
            "description": "before", "position": 4});
        assert_eq!(
            page_text(
                &serde_json::json!({"status": "One anchor.", "anchors": [anchor]}),
                "anchors",
                ANCHORS.columns,
                true
            ),
            "ANCHOR    TIMESTAMP             DESCRIPTION\nanchor_1  2000-01-01T00:00:00Z  before\n"
        );
        let none = serde_json::json!({"status": "No anchors.", "anchors": []});
        assert_eq!(page_text(&none, "anchors", ANCHORS.columns, true), "No anchors.\n");
    }
}
