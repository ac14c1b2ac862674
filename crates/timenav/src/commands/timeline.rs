//! `timenav timeline`: makes timelines and lists them.

use serde_json::{Map, Value};

use super::{Surroundings, insert, page_text, show_pages};
use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output;

/// Makes timelines and lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct TimelineCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Lists the timelines that you may read.
    List,
    /// Makes a timeline. You will administer it.
    Create {
        /// Its name: letters, digits, `.`, `_`, `-`, `:`, `@`.
        timeline_id: String,
        /// The timeline to go on from. Its history is shared up to --at; after that neither sees the other's.
        #[arg(long, value_name = "TIMELINE_ID")]
        fork_of: Option<String>,
        /// From when of its ledger: a position, the id of an anchor, or a host time. Now unless given.
        #[arg(long, value_name = "MOMENT", requires = "fork_of", allow_hyphen_values = true)]
        at: Option<String>,
    },
}

/// Does one thing with timelines.
///
/// # Errors
/// The service does not answer, or says no.
pub(crate) fn run(command: TimelineCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(command.service, surroundings)?;
    match command.action {
        Action::List => show_pages(&client, &["timelines"], Vec::new(), list_text),
        Action::Create { timeline_id, fork_of, at } => {
            let mut body = Map::new();
            insert(&mut body, "timeline_id", Some(timeline_id));
            insert(&mut body, "fork_of", fork_of);
            insert(&mut body, "at", at);
            let answer = client.post(&["timelines"], body)?;
            client.show(&answer, |answer| {
                output::status(answer) + &output::fields(answer, &[("timeline", "timeline_id")])
            })
        }
    }
}

fn list_text(page: &Value, is_first: bool) -> String {
    let columns = [
        ("TIMELINE", "timeline_id"),
        ("CURRENT TIME", "clock/current_time"),
        ("STATE", "clock/state"),
        ("EVENTS", "events"),
        ("ROLE", "role"),
    ];
    page_text(page, "timelines", &columns, is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timelines_are_listed_with_their_clocks() {
        let timeline = serde_json::json!({"timeline_id": "main", "events": 12, "role": "admin",
            "clock": {"current_time": "2000-01-01T00:00:00Z", "state": "paused"}});
        assert_eq!(
            list_text(&serde_json::json!({"timelines": [timeline]}), true),
            "TIMELINE  CURRENT TIME          STATE   EVENTS  ROLE\n\
             main      2000-01-01T00:00:00Z  paused  12      admin\n"
        );
    }
}
