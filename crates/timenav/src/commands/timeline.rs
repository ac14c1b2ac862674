pub(crate) mod erase_reads;
pub(crate) mod prune;
mod bundle;

use std::cell::Cell;
use std::path::PathBuf;

use serde_json::{Map, Value};
use timenav_core::access::Role;
use timenav_core::ids::TimelineId;

use super::access::users_text;
use super::arguments::{insert, timeline_id};
use super::events::event_json;
use super::pages::{show_pages, show_pages_as};
use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output::{self, OutputFormat, Records};
use crate::wiring::surroundings::Surroundings;

const FOREVER: &str = "forever";

pub(super) const TIMELINES: Records = Records {
    member: "timelines",
    fields: &[
        "timeline_id",
        "role",
        "clock/current_time",
        "clock/state",
        "clock/rate",
        "clock/location",
        "events",
        "anchors",
        "head/size",
        "head/root",
        "created_at",
        "expires_at",
        "fork/parent",
        "fork/size",
    ],
    columns: &[
        ("TIMELINE", "timeline_id"),
        ("CURRENT TIME", "clock/current_time"),
        ("STATE", "clock/state"),
        ("EVENTS", "events"),
        ("ROLE", "role"),
    ],
};

const DIFFERENCES: Records = Records {
    member: "differences",
    fields: &[
        "change",
        "event_id",
        "base/time",
        "base/name",
        "base/description",
        "base/location",
        "compare/time",
        "compare/name",
        "compare/description",
        "compare/location",
    ],
    columns: &[
        ("CHANGE", "change"),
        ("EVENT", "event_id"),
        ("TIME IN BASE", "base/time"),
        ("TIME IN COMPARE", "compare/time"),
        ("EVENT IN BASE", "base/what"),
        ("EVENT IN COMPARE", "compare/what"),
    ],
};

const TIMERS_APART: Records = Records {
    member: "timers",
    fields: &[
        "change",
        "timer_id",
        "base/state",
        "base/next",
        "base/payload",
        "compare/state",
        "compare/next",
        "compare/payload",
    ],
    columns: &[
        ("CHANGE", "change"),
        ("TIMER", "timer_id"),
        ("STATE IN BASE", "base/state"),
        ("STATE IN COMPARE", "compare/state"),
        ("NEXT IN BASE", "base/next"),
        ("NEXT IN COMPARE", "compare/next"),
    ],
};

const FIRINGS_APART: Records = Records {
    member: "firings",
    fields: &["change", "timer_id", "due", "base/state", "base/reason", "compare/state", "compare/reason"],
    columns: &[
        ("CHANGE", "change"),
        ("TIMER", "timer_id"),
        ("DUE", "due"),
        ("OUTCOME IN BASE", "base/state"),
        ("OUTCOME IN COMPARE", "compare/state"),
    ],
};

/// Creates, lists, compares, exports and ends timelines.
#[derive(Debug, clap::Args)]
pub(crate) struct TimelineCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Lists the timelines that you can read.
    List,
    /// Shows a timeline: its clock, counts, newest root and permissions.
    Show {
        /// The timeline id.
        #[arg(env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main", value_parser = timeline_id)]
        timeline: TimelineId,
    },
    /// Creates a timeline, with you as its admin.
    Create {
        /// The timeline id: letters, digits, `.`, `_`, `-`, `:`, `@`.
        timeline_id: String,
        /// The timeline to fork. Both share the history up to `--at`.
        #[arg(long, value_name = "TIMELINE_ID")]
        fork_of: Option<String>,
        /// The fork point: a ledger position, an anchor id, or a host time. Defaults to now.
        #[arg(long, value_name = "MOMENT", requires = "fork_of", allow_hyphen_values = true)]
        at: Option<String>,
        /// How long it lasts in host time, such as `2h`; then it ends. Defaults to forever.
        #[arg(long, value_name = "DURATION")]
        expires_in: Option<String>,
        /// Let the fork send the webhooks of inherited timers. By default these firings fail.
        #[arg(long, requires = "fork_of")]
        deliver_webhooks: bool,
    },
    /// Ends a timeline that you administer. Nobody can read it afterwards. This cannot be undone.
    ///
    /// Its id cannot be reused. Its contents are deleted after the service's grace period, except what forks inherit.
    End {
        /// The timeline id.
        #[arg(value_parser = timeline_id)]
        timeline_id: TimelineId,
    },
    /// Lists the events, armed timers and firing outcomes that differ between two related timelines.
    Diff {
        /// The first timeline.
        #[arg(value_name = "BASE")]
        base: String,
        /// The second timeline.
        #[arg(value_name = "COMPARE")]
        compare: String,
        /// What to compare; `firings` are outcomes. Defaults to all in tables, else to `events`.
        #[arg(long, value_parser = ["events", "timers", "firings"])]
        r#type: Option<String>,
    },
    /// Sets or shows the retention of reads and rejected requests on a timeline that you administer.
    ///
    /// A shorter retention applies only to later requests.
    Retention {
        /// The timeline; can be `system`.
        #[arg(env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main", value_parser = timeline_id)]
        timeline: TimelineId,
        /// How long to keep reads, such as 90d, or `forever`.
        #[arg(long, value_name = "DURATION")]
        reads: Option<String>,
        /// How long to keep rejected requests, such as 365d, or `forever`.
        #[arg(long, value_name = "DURATION")]
        rejections: Option<String>,
    },
    /// Exports a timeline that you administer to one file that anyone can verify offline.
    ///
    /// For a fork, you must also administer the timelines it was forked from. Anyone with the file can read the
    /// contents. Verify it with `timenav verify FILE --verifier-key KEY`.
    Export {
        /// The file to create. It must not exist.
        #[arg(long, value_name = "FILE")]
        bundle: PathBuf,
        /// The timeline.
        #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", default_value = "main",
            value_parser = timeline_id)]
        timeline: TimelineId,
    },
}

pub(crate) fn run(command: TimelineCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::List => show_pages(&client, &["timelines"], Vec::new(), true, &TIMELINES),
        Action::Show { timeline } => client.show(&client.get(&["timeline", timeline.as_str()], &[])?, timeline_text),
        Action::Diff { base, compare, r#type } => diff(&client, (&base, &compare), r#type),
        Action::Retention { timeline, reads: None, rejections: None } => {
            let answer = client.get(&["timeline", timeline.as_str()], &[])?;
            client.show(&answer, |answer| retention_text(&answer["timeline_id"], &answer["retention"]))
        }
        Action::Retention { timeline, reads, rejections } => {
            let mut body = Map::new();
            insert(&mut body, "timeline_id", Some(timeline.to_string()));
            insert(&mut body, "reads", reads.map(period));
            insert(&mut body, "rejections", rejections.map(period));
            let answer = client.post(&["v1", "set-retention"], body)?;
            client.show(&answer, output::status)
        }
        Action::End { timeline_id } => {
            let answer = client.delete(&["timeline", timeline_id.as_str()], &[])?;
            client.show(&answer, |answer| {
                let columns = [("timeline", "timeline_id"), ("entries", "head/size"), ("root", "head/root")];
                output::status(answer) + &output::fields(answer, &columns)
            })
        }
        Action::Export { bundle, timeline } => bundle::export(&client, timeline.as_str(), &bundle),
        Action::Create { timeline_id, fork_of, at, expires_in, deliver_webhooks } => {
            let mut body = Map::new();
            insert(&mut body, "timeline_id", Some(timeline_id));
            insert(&mut body, "fork_of", fork_of);
            insert(&mut body, "at", at);
            insert(&mut body, "expires_in", expires_in);
            if deliver_webhooks {
                body.insert("deliver_webhooks".to_owned(), true.into());
            }
            let answer = client.post(&["timelines"], body)?;
            client.show(&answer, |answer| {
                output::status(answer) + &output::fields(answer, &[("timeline", "timeline_id")])
            })
        }
    }
}

/// Prints the differences between two timelines. Formats for programs have one kind of record.
fn diff(client: &Client, (a, b): (&str, &str), r#type: Option<String>) -> Result<(), Failure> {
    let all = r#type.is_none() && client.format() == OutputFormat::Table;
    let of = r#type.unwrap_or_else(|| "events".to_owned());
    let kinds: [(&str, &Records); 3] =
        [("events", &DIFFERENCES), ("timers", &TIMERS_APART), ("firings", &FIRINGS_APART)];
    for (kind, records) in kinds.into_iter().filter(|(kind, _)| all || of == *kind) {
        let query = vec![("base", a.to_owned()), ("compare", b.to_owned()), ("type", kind.to_owned())];
        let is_begun = Cell::new(false);
        let text = |page: &Value, _| match kind {
            "events" => diff_text(page, &is_begun),
            _ => apart_text(page, records, (&is_begun, all)),
        };
        show_pages_as(client, &["timelines", "diff"], query, (true, records), text)?;
    }
    Ok(())
}

fn period(text: String) -> Value {
    if text == FOREVER { Value::Null } else { Value::String(text) }
}

fn retention_text(timeline_id: &Value, retention: &Value) -> String {
    let how_long = |class: &str| retention[class].as_str().unwrap_or(FOREVER);
    let stored = serde_json::json!({ "timeline": timeline_id, "reads": how_long("reads"), "rejections": how_long("rejections") });
    output::fields(&stored, &[("timeline", "timeline"), ("reads", "reads"), ("rejections", "rejections")])
}

fn timeline_text(answer: &Value) -> String {
    let layout = [
        ("timeline", "timeline_id"),
        ("your role", "role"),
        ("until", "role_expires_at"),
        ("created", "created_at"),
        ("ends", "expires_at"),
        ("forked from", "fork/parent"),
        ("current time", "clock/current_time"),
        ("state", "clock/state"),
        ("rate", "clock/rate"),
        ("place", "clock/location"),
        ("events", "events"),
        ("anchors", "anchors"),
        ("entries", "head/size"),
        ("root", "head/root"),
        ("read", "permissions/read"),
        ("write", "permissions/write"),
        ("admin", "permissions/admin"),
    ];
    let mut answer = answer.clone();
    if let Some(permissions) = answer.get_mut("permissions").filter(|permissions| permissions.is_object()) {
        for list in Role::ALL.map(Role::as_str) {
            permissions[list] = users_text(permissions, list).into();
        }
    }
    output::fields(&answer, &layout)
}

/// Formats a page of differences. An empty page may be followed by another one.
fn diff_text(page: &Value, is_begun: &Cell<bool>) -> String {
    let differences = page["differences"].as_array().map_or(&[][..], Vec::as_slice);
    if differences.is_empty() {
        let is_all = !is_begun.get() && page["next_cursor"].is_null();
        return if is_all { output::status(page) } else { String::new() };
    }
    let row = |difference: &Value| {
        serde_json::json!({ "change": difference["change"], "event_id": difference["event_id"],
            "base": event_json(&difference["base"]), "compare": event_json(&difference["compare"]) })
    };
    let rows: Vec<Value> = differences.iter().map(row).collect();
    output::table(&rows, DIFFERENCES.columns, !is_begun.replace(true))
}

/// Starts with a blank line if something precedes it; empty if there are none.
fn apart_text(page: &Value, records: &Records, (is_begun, is_below): (&Cell<bool>, bool)) -> String {
    let apart = page[records.member].as_array().map_or(&[][..], Vec::as_slice);
    if apart.is_empty() {
        let is_all = !is_below && !is_begun.get() && page["next_cursor"].is_null();
        return if is_all { output::status(page) } else { String::new() };
    }
    let is_first = !is_begun.replace(true);
    let gap = if is_first && is_below { "\n" } else { "" };
    gap.to_owned() + &output::table(apart, records.columns, is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pages::page_text;

    #[test]
    fn differences_heading_is_printed_once() {
        let none = serde_json::json!({"status": "No event differs.", "differences": [], "next_cursor": null});
        let empty = serde_json::json!({"status": "No event differs.", "differences": [], "next_cursor": "c"});
        let event = serde_json::json!({"time": "2000-01-01T00:00:00Z", "name": "n"});
        let full = serde_json::json!({"differences": [{"change": "only_in_base", "event_id": "e", "base": event, "compare": null}]});
        let problem_json = |pages: &[&Value]| {
            let is_begun = Cell::new(false);
            pages.iter().map(|page| diff_text(page, &is_begun)).collect::<Vec<_>>().concat()
        };
        let heading = "CHANGE        EVENT  TIME IN BASE          TIME IN COMPARE  EVENT IN BASE  EVENT IN COMPARE\n";
        let line = "only_in_base  e      2000-01-01T00:00:00Z                   n\n";
        assert_eq!(problem_json(&[&none]), "No event differs.\n");
        assert_eq!(problem_json(&[&empty, &none]), "No event differs.\n");
        assert_eq!(problem_json(&[&empty, &full, &none]), format!("{heading}{line}"));
        let second = "only_in_base  e  2000-01-01T00:00:00Z    n\n";
        assert_eq!(problem_json(&[&full, &full]), format!("{heading}{line}{second}"));
    }

    #[test]
    fn timer_differences_are_printed_only_if_present() {
        let timer = |next: &str| serde_json::json!({"state": "armed", "next": next});
        let one = serde_json::json!({"change": "differs", "timer_id": "t", "base": timer("x"), "compare": timer("y")});
        let (none, full) = (serde_json::json!({"timers": []}), serde_json::json!({"timers": [one]}));
        let is_begun = Cell::new(false);
        let text = |page| apart_text(page, &TIMERS_APART, (&is_begun, true));
        let heading = "CHANGE   TIMER  STATE IN BASE  STATE IN COMPARE  NEXT IN BASE  NEXT IN COMPARE\n";
        assert_eq!(text(&none), "");
        assert_eq!(
            text(&full),
            format!("\n{heading}differs  t      armed          armed             x             y\n")
        );
        assert!(text(&full).starts_with("differs  t"));
    }

    #[test]
    fn retention_period_is_shown_and_sent_in_api_format() {
        assert_eq!((period("90d".to_owned()), period("forever".to_owned())), ("90d".into(), Value::Null));
        let retention = serde_json::json!({"reads": "P90D", "rejections": null});
        let expected = "timeline    main\nreads       P90D\nrejections  forever\n";
        assert_eq!(retention_text(&"main".into(), &retention), expected);
        let never_said = retention_text(&"main".into(), &Value::Null);
        assert_eq!(never_said, "timeline    main\nreads       forever\nrejections  forever\n");
    }

    #[test]
    fn timelines_are_listed_with_their_clock() {
        let timeline = serde_json::json!({"timeline_id": "main", "events": 12, "role": "admin",
            "clock": {"current_time": "2000-01-01T00:00:00Z", "state": "paused"}});
        assert_eq!(
            page_text(&serde_json::json!({"timelines": [timeline]}), "timelines", TIMELINES.columns, true),
            "TIMELINE  CURRENT TIME          STATE   EVENTS  ROLE\n\
             main      2000-01-01T00:00:00Z  paused  12      admin\n"
        );
    }
}
