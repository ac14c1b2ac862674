use serde_json::{Map, Value, json};

use super::event_json;
use crate::client::Client;
use crate::commands::arguments::insert;
use crate::commands::pages::{page_text, show_fetched};
use crate::exit::Failure;
use crate::output::Records;

const EVENTS: Records = Records {
    member: "events",
    fields: &[
        "event_id",
        "time",
        "name",
        "description",
        "location",
        "geo/lat",
        "geo/lon",
        "causes",
        "effects",
        "interventions",
        "paradoxes",
        "position",
        "timeline_id",
    ],
    columns: &[
        ("TIME", "time"),
        ("LOCATION", "location"),
        ("EVENT", "event_id"),
        ("EFFECTS", "effects"),
        ("INTERVENTIONS", "interventions"),
        ("PARADOXES", "paradoxes"),
        ("WHAT", "what"),
    ],
};

#[derive(Debug, clap::Args)]
pub(super) struct Scan {
    /// The place, as for `find`.
    #[arg(long, default_value = "*", allow_hyphen_values = true)]
    location: String,
    /// The time range, inclusive: `<start>/<end>` or `<start>/<duration>`; `..` is an open end.
    #[arg(long, default_value = "../..", allow_hyphen_values = true)]
    time_range: String,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
    /// The maximum number of events, or per page with `--all`.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Show all pages. With `--json`, one response per page.
    #[arg(long)]
    all: bool,
}

pub(super) fn run(client: &Client, scan: Scan, body: &Map<String, Value>) -> Result<(), Failure> {
    let mut body = body.clone();
    insert(&mut body, "location", Some(scan.location));
    insert(&mut body, "time_range", Some(scan.time_range));
    insert(&mut body, "as_of", scan.as_of);
    insert(&mut body, "limit", scan.limit);
    let fetch = |cursor: Option<&str>| {
        insert(&mut body, "cursor", cursor);
        client.post(&["v1", "scan-events"], body.clone())
    };
    show_fetched(client, fetch, (scan.all, &EVENTS), scanned_text)
}

fn scanned_text(page: &Value, is_first: bool) -> String {
    let count = |event: &Value, member: &str| event[member].as_array().map_or(0, Vec::len);
    let row = |event: &Value| {
        let mut row = event_json(event);
        for member in ["effects", "interventions", "paradoxes"] {
            row[member] = count(event, member).into();
        }
        row
    };
    let rows: Vec<Value> = page["events"].as_array().into_iter().flatten().map(row).collect();
    page_text(&json!({ "status": page["status"], "rows": rows }), "rows", EVENTS.columns, is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_scan_counts_effects_interventions_and_paradoxes() {
        let event = json!({"event_id": "a", "time": "2000-01-01T00:00:00Z", "name": "N",
            "effects": [{"event_id": "b"}, {"event_id": "c"}], "interventions": [], "paradoxes": ["P01"]});
        let expected = "TIME                  LOCATION  EVENT  EFFECTS  INTERVENTIONS  PARADOXES  WHAT\n\
                        2000-01-01T00:00:00Z            a      2        0              1          N\n";
        assert_eq!(scanned_text(&json!({"events": [event]}), true), expected);
        assert_eq!(scanned_text(&json!({"status": "No events.", "events": []}), true), "No events.\n");
    }
}
