use serde_json::{Value, json};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;

use crate::client::{Client, ServiceOptions};
use crate::commands::arguments::timeline_id;
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const ENTRIES: Records = Records {
    member: "entries",
    fields: &["position", "leaf", "contents", "salt", "payload"],
    columns: &[
        ("POSITION", "position"),
        ("RECORDED AT", "recorded_at"),
        ("USER", "actor"),
        ("ACTION", "action"),
        ("SUBJECT", "subject"),
        ("SAYS", "says"),
    ],
};

/// Shows entries of a ledger with their contents.
///
/// With `--json`, each has its leaf, salt and payload, as they are hashed. Readers see the entries of clock, anchors
/// and events; admins see all. `timenav verify --url URL --contents` verifies them.
#[derive(Debug, clap::Args)]
pub(crate) struct EntriesCommand {
    /// The timeline.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main",
        value_parser = timeline_id)]
    timeline: TimelineId,
    /// The position of the first entry, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// The maximum number of entries, up to 1000.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: &EntriesCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let path = ["timeline", command.timeline.as_str(), "entries"];
    let query = [("from", command.from.to_string()), ("limit", command.limit.to_string())];
    let page = client.get(&path, &query)?;
    client.show_list(&page, &ENTRIES, page_text)
}

fn page_text(page: &Value) -> String {
    let entries: Vec<Value> = page["entries"].as_array().into_iter().flatten().map(row).collect();
    let table = if entries.is_empty() { String::new() } else { output::table(&entries, ENTRIES.columns, true) };
    table + &output::status(page)
}

/// Returns the cells of one entry. An invalid leaf has an empty row; `timenav verify` reports the details.
fn row(entry: &Value) -> Value {
    let leaf = entry["leaf"].as_str().unwrap_or_default();
    let record = LeafRecord::decode(leaf.as_bytes()).ok();
    let says = match entry["contents"].as_str() {
        Some("visible") => entry["payload"].clone(),
        Some("erased") => json!("(erased)"),
        Some("restricted") => json!("(visible only to admins of the timeline)"),
        Some(other) => json!(format!("({other})")),
        None => Value::Null,
    };
    let part = |text: fn(&LeafRecord<'_>) -> String| record.as_ref().map(text);
    json!({
        "position": entry["position"],
        "recorded_at": part(|record| record.recorded_at.to_string()),
        "actor": part(|record| record.actor.to_string()),
        "action": part(|record| record.action.to_string()),
        "subject": part(|record| record.subject.to_string()),
        "says": says,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_shown_in_columns() {
        let leaf = "{\"action\":\"pause_time\",\"actor\":\"ada\",\"clock_time\":\"2000-01-01T00:00:00Z\",\"payload_hash\":\
            \"28a19954faad5a741825ca1d8c66c71ac925b1f5032d7cfa466e96984b69246e\",\"recorded_at\":\
            \"2026-11-20T08:00:02Z\",\"seq\":7,\"subject\":\"clock\",\"timeline_id\":\"main\",\"v\":1}";
        let entry = |contents: &str| json!({ "position": 7, "leaf": leaf, "contents": contents, "payload": "{}" });
        for (contents, says) in [
            ("visible", "{}"),
            ("erased", "(erased)"),
            ("restricted", "(visible only to admins of the timeline)"),
            ("lent", "(lent)"),
        ] {
            let page = json!({ "status": "Entry 7 of 9.", "entries": [entry(contents)] });
            let expected =
                format!("7         2026-11-20T08:00:02Z  ada   pause_time  clock    {says}\nEntry 7 of 9.\n");
            assert_eq!(page_text(&page).split_once('\n').unwrap().1, expected);
        }
        let none = json!({ "status": "The ledger ends before position 9.", "entries": [] });
        assert_eq!(page_text(&none), "The ledger ends before position 9.\n");
    }
}
