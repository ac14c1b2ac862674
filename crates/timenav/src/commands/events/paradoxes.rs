use serde_json::{Number, Value};

use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::commands::arguments::extend;
use crate::commands::events::number;
use crate::commands::pages::{page_text, show_pages_as};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const PARADOXES: Records = Records {
    member: "paradoxes",
    fields: &["code", "kind", "grade", "severity", "is_observation", "events", "explanation", "since", "first", "key"],
    columns: &[
        ("CODE", "code"),
        ("KIND", "kind"),
        ("GRADE", "grade"),
        ("EVENTS", "events"),
        ("EXPLANATION", "explanation"),
    ],
};

/// Lists the paradoxes of a timeline.
#[derive(Debug, clap::Args)]
pub(crate) struct ParadoxesCommand {
    /// Paradoxes of events in this range, as for `timenav events find`.
    #[arg(long, default_value = "../..", allow_hyphen_values = true)]
    time_range: String,
    /// Only these kinds, by code (`P01`) or name (`effect_before_cause`), separated by commas.
    #[arg(long, value_name = "KINDS")]
    kinds: Option<String>,
    /// Include observations about the data.
    #[arg(long)]
    observations: bool,
    /// The maximum speed of actors, in km/h.
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    speed_kmh: Option<Number>,
    /// The clock difference to tolerate when times are ordered, such as 90s.
    #[arg(long, value_name = "DURATION")]
    tolerance: Option<String>,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
    /// The maximum number of paradoxes, or per page with `--all`.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Show all pages. With `--json`, one response per page.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: ParadoxesCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut query = command.timeline.required_query();
    let given = [
        ("time_range", Some(command.time_range)),
        ("kinds", command.kinds),
        ("include", command.observations.then(|| "observations".to_owned())),
        ("speed_kmh", command.speed_kmh.map(|number| number.to_string())),
        ("tolerance", command.tolerance),
        ("as_of", command.as_of),
        ("limit", command.limit.map(|limit| limit.to_string())),
    ];
    extend(&mut query, given);
    show_pages_as(&client, &["v1", "monitor-paradox"], query, (command.all, &PARADOXES), list_text)
}

fn list_text(page: &Value, is_first: bool) -> String {
    let sentence = if is_first { output::status(page) } else { String::new() };
    match page[PARADOXES.member].as_array() {
        Some(items) if !items.is_empty() => sentence + &page_text(page, PARADOXES.member, PARADOXES.columns, is_first),
        Some(_) | None => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paradoxes_are_listed_after_their_count() {
        let paradox = serde_json::json!({"code": "P01", "kind": "effect_before_cause", "grade": "definite",
            "events": ["a", "b"], "explanation": "`a` lies before `b`."});
        let page = serde_json::json!({"status": "1 paradox.", "paradoxes": [paradox]});
        let expected = "1 paradox.\nCODE  KIND                 GRADE     EVENTS  EXPLANATION\n\
                        P01   effect_before_cause  definite  a, b    `a` lies before `b`.\n";
        assert_eq!(list_text(&page, true), expected);
        assert_eq!(
            list_text(&serde_json::json!({"status": "No paradoxes.", "paradoxes": []}), true),
            "No paradoxes.\n"
        );
    }
}
