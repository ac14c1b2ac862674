use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::client::Client;
use crate::commands::arguments::extend;
use crate::commands::events::filter::EventFilters;
use crate::exit::Failure;
use crate::output::{self, Records};

const GROUPS: Records =
    Records { member: "groups", fields: &["key", "second_key", "end", "count", "first", "last"], columns: &[] };

#[derive(Debug, clap::Args)]
pub(super) struct Count {
    /// Group by `time`, `cell`, `actor`, `source`, or an attribute as `attribute.KEY`; or by two of them, such as
    /// `time,actor`.
    #[arg(value_name = "BY", default_value = "time")]
    group_by: String,
    /// For `time`: the length of a group, such as P1D, or the number of groups. Defaults to 24 groups. With two keys, a
    /// length.
    #[arg(long, value_name = "DURATION|COUNT")]
    bucket: Option<String>,
    /// For `cell`: the height and width, in degrees. Defaults to 10.
    #[arg(long, value_name = "DEGREES")]
    resolution: Option<f64>,
    /// Only groups with this value of the last key, which is an actor, a source or an attribute. Repeat it for others.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: Vec<String>,
    /// The place, as for `find`. Defaults to anywhere.
    #[arg(long, allow_hyphen_values = true)]
    location: Option<String>,
    /// The time range, as for `find`. Defaults to all time.
    #[arg(long, allow_hyphen_values = true)]
    time_range: Option<String>,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
    /// The maximum number of groups.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Continue from the `next_cursor` of an earlier response.
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    filters: EventFilters,
}

pub(super) fn run(client: &Client, count: Count, mut query: Vec<(&'static str, String)>) -> Result<(), Failure> {
    query.push(("group_by", count.group_by));
    let options = [
        ("bucket", count.bucket),
        ("values", (!count.value.is_empty()).then(|| json!(count.value).to_string())),
        ("resolution", count.resolution.map(|degrees| degrees.to_string())),
        ("location", count.location),
        ("time_range", count.time_range),
        ("as_of", count.as_of),
        ("limit", count.limit.map(|limit| limit.to_string())),
        ("cursor", count.cursor),
    ];
    extend(&mut query, options);
    query.extend(count.filters.query());
    let counted = client.get(&["v1", "aggregate-events"], &query)?;
    client.show_list(&counted, &GROUPS, counted_text)
}

fn counted_text(counted: &Value) -> String {
    let rows = counted["groups"].as_array().map_or(&[][..], Vec::as_slice);
    let has_two_keys = rows.iter().any(|row| row["second_key"].is_string());
    let second = Some(("SECOND", "second_key")).filter(|_| has_two_keys);
    let others = [("COUNT", "count"), ("FIRST", "first"), ("LAST", "last")];
    let columns: Vec<_> = [("GROUP", "key")].into_iter().chain(second).chain(others).collect();
    let mut text = if rows.is_empty() { String::new() } else { output::table(rows, &columns, true) };
    text.push_str(&output::status(counted));
    let number = |member: &str| counted[member].as_u64().unwrap_or_default();
    let more = number("groups_count").saturating_sub(rows.len() as u64);
    for (count, what) in [(more, "more groups; use --limit to show them"), (number("ungrouped_count"), "in no group")] {
        if count > 0 {
            let _ = writeln!(text, "{count} {what}.");
        }
    }
    if let (Some(end), Some(cursor)) = (counted["counted_until"].as_str(), counted["next_cursor"].as_str()) {
        let _ =
            writeln!(text, "Events were counted up to {end}. To count the rest, run this again with --cursor {cursor}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_groups_are_shown_with_ungrouped_count() {
        let group = json!({"key": "ada", "count": 2, "first": "2000-01-01T00:00:00Z", "last": "2001-01-01T00:00:00Z"});
        let counted =
            json!({"status": "3 events in 2 groups.", "groups": [group], "groups_count": 2, "ungrouped_count": 1});
        let expected = "GROUP  COUNT  FIRST                 LAST\n\
                        ada    2      2000-01-01T00:00:00Z  2001-01-01T00:00:00Z\n\
                        3 events in 2 groups.\n1 more groups; use --limit to show them.\n1 in no group.\n";
        assert_eq!(counted_text(&counted), expected);
        let group = json!({"key": "ada", "second_key": "log", "count": 2, "first": "2000", "last": "2001"});
        let two = json!({"status": "2 events in 1 group.", "groups": [group], "groups_count": 1});
        let expected = "GROUP  SECOND  COUNT  FIRST  LAST\nada    log     2      2000   2001\n2 events in 1 group.\n";
        assert_eq!(counted_text(&two), expected);
        let part = json!({
            "status": "9 events in 1 group so far.", "groups": [], "groups_count": 0,
            "counted_until": "2000-01-01T00:00:00Z", "next_cursor": "AQ",
        });
        let expected = "9 events in 1 group so far.\nEvents were counted up to 2000-01-01T00:00:00Z. To count the \
            rest, run this again with --cursor AQ\n";
        assert_eq!(counted_text(&part), expected);
        let none = json!({"status": "0 events in 0 groups.", "groups": []});
        assert_eq!(counted_text(&none), "0 events in 0 groups.\n");
    }
}
