use serde_json::{Map, Value};

use crate::client::Client;
use crate::commands::arguments::insert;
use crate::exit::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").args(["event_ids", "location", "older_than"]).required(true)))]
pub(super) struct Erase {
    /// The event ids.
    #[arg(value_name = "EVENT_ID")]
    event_ids: Vec<String>,
    /// Events at this place, as for `find`.
    #[arg(long, requires = "time_range", allow_hyphen_values = true)]
    location: Option<String>,
    /// Only events in this range: `<start>/<end>`, both ends included.
    #[arg(long, requires = "location", allow_hyphen_values = true)]
    time_range: Option<String>,
    /// Events unchanged for this long in host time, such as 365d, including canceled ones.
    #[arg(long, value_name = "DURATION")]
    older_than: Option<String>,
    /// Show what would be erased.
    #[arg(long, conflicts_with = "as_of_size")]
    dry_run: bool,
    /// The ledger size that `--dry-run` printed.
    #[arg(long, value_name = "SIZE", conflicts_with = "event_ids")]
    as_of_size: Option<u64>,
    /// Also erase them from forks of this timeline. You must administer each fork.
    #[arg(long)]
    include_forks: bool,
}

pub(super) fn run(client: &Client, erase: Erase, body: &Map<String, Value>) -> Result<(), Failure> {
    let mut body = body.clone();
    let is_dry = erase.dry_run;
    insert(&mut body, "event_ids", (!erase.event_ids.is_empty()).then_some(erase.event_ids));
    insert(&mut body, "location", erase.location);
    insert(&mut body, "time_range", erase.time_range);
    insert(&mut body, "older_than", erase.older_than);
    insert(&mut body, "dry_run", is_dry.then_some(true));
    insert(&mut body, "as_of_size", erase.as_of_size);
    insert(&mut body, "include_forks", erase.include_forks.then_some(true));
    loop {
        let answer = client.post(&["v1", "erase-events"], body.clone())?;
        client.show(&answer, if is_dry { foreseen_text } else { output::status })?;
        if is_dry || answer.value["remaining"].as_u64().unwrap_or(0) == 0 {
            return Ok(());
        }
    }
}

fn foreseen_text(answer: &Value) -> String {
    let ids = answer["event_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let ids: String = ids.map(|id| output::printable(id) + "\n").collect();
    let forks = answer["forks"].as_array().into_iter().flatten().map(|fork| {
        let may = if fork["may_erase"] == true { "" } else { ", which you do not administer" };
        format!("Forked as {}{may}.\n", output::printable(fork["timeline_id"].as_str().unwrap_or_default()))
    });
    let forks: String = forks.collect();
    let size = output::member(answer, "as_of_size");
    format!("{}{ids}{forks}To erase what a query or an age selects, add --as-of-size {size}.\n", output::status(answer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn erasure_dry_run_shows_events_forks_and_next_step() {
        let answer = json!({
            "status": "Dry run: nothing was erased. 1 event of `main` would be.",
            "event_ids": ["a"],
            "as_of_size": 12,
            "forks": [{ "timeline_id": "one", "may_erase": true }, { "timeline_id": "two", "may_erase": false }],
        });
        let expected = "Dry run: nothing was erased. 1 event of `main` would be.\na\nForked as one.\nForked as two, \
            which you do not administer.\nTo erase what a query or an age selects, add --as-of-size 12.\n";
        assert_eq!(foreseen_text(&answer), expected);
    }
}
