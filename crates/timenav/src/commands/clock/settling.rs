//! Moves a clock timer by timer. Firings are printed as they are delivered, then the receipt.

use std::collections::HashSet;

use anyhow::anyhow;
use serde_json::{Map, Value};
use timenav_core::limits::PAGE_ITEMS_MAX;

use super::foreseen;
use crate::client::{Client, CreateOption, TimelineOptions};
use crate::commands::arguments::insert;
use crate::commands::confirmed::{FollowersOption, awaited_text, longer, seconds, unconfirmed};
use crate::exit::Failure;
use crate::output::{self, OutputFormat, member};

/// Wait of the first request: it returns the id of the advance at once.
const FIRST_WAIT: &str = "0s";
const POLL_WAIT: &str = "1s";

/// How a clock comes to what is due.
#[derive(Debug, clap::Args)]
pub(super) struct NextOptions {
    /// Show which timers would fire, without moving the clock.
    #[arg(long, conflicts_with_all = ["wait", "followers"])]
    dry_run: bool,
    /// How long to wait for due timers, in host time. Defaults to no limit, or 30s with `--json` or `--followers`. The
    /// advance continues after that.
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    wait: Option<i64>,
    #[command(flatten)]
    followers: FollowersOption,
}

/// How a clock passes what is due.
#[derive(Debug, clap::Args)]
pub(super) struct SettleOptions {
    #[command(flatten)]
    next: NextOptions,
    /// Jump at once. Due timers are delivered afterwards.
    #[arg(long, conflicts_with_all = ["dry_run", "wait"])]
    no_wait: bool,
}

pub(super) fn run(
    client: &Client,
    timeline: &TimelineOptions,
    path: &str,
    mut body: Map<String, Value>,
    (options, create): (&SettleOptions, CreateOption),
    clock_text: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    let SettleOptions { next, no_wait } = options;
    if !no_wait {
        return step(client, timeline, path, body, (next, Some(create)), clock_text);
    }
    body.insert("wait_for_timers".to_owned(), false.into());
    let path = ["v1", path];
    let followers = &next.followers.followers;
    insert(&mut body, "followers", followers.clone());
    if followers.is_some() {
        return once(client, &path, body, (None, Some(create)), clock_text);
    }
    let answer = client.write(&path, &[], &Value::Object(body).to_string(), create)?;
    client.show(&answer, clock_text)
}

/// Moves a clock forward one timer at a time and prints the result.
pub(super) fn step(
    client: &Client,
    timeline: &TimelineOptions,
    path: &str,
    mut body: Map<String, Value>,
    (options, create): (&NextOptions, Option<CreateOption>),
    clock_text: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    if options.dry_run {
        return foreseen::run(client, path, body, create, clock_text);
    }
    let path = ["v1", path];
    let followers = &options.followers.followers;
    insert(&mut body, "followers", followers.clone());
    let send = |body: Map<String, Value>| match create {
        Some(create) => client.write(&path, &[], &Value::Object(body).to_string(), create),
        None => client.post(&path, body),
    };
    if client.format() == OutputFormat::Table && followers.is_none() {
        body.insert("wait".to_owned(), FIRST_WAIT.into());
        let answer = send(body)?;
        if answer.value["receipt"].is_null() {
            return client.show(&answer, clock_text);
        }
        return follow(client, timeline, answer.value["receipt"].clone(), options.wait);
    }
    once(client, &path, body, (options.wait, create), clock_text)
}

/// Moves a clock forward in one request and prints the result.
pub(in crate::commands) fn once(
    client: &Client,
    path: &[&str],
    mut body: Map<String, Value>,
    (wait, create): (Option<i64>, Option<CreateOption>),
    clock_text: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    insert(&mut body, "wait", wait.map(|seconds| format!("{seconds}s")));
    let (body, longer) = (Value::Object(body).to_string(), longer(true, wait) * 2);
    let answer = match create {
        Some(create) => client.write_and_wait(path, &body, create, longer)?,
        None => client.post_and_wait(path, &body, longer)?,
    };
    client.show(&answer, |answer| {
        let settled = Some(&answer["receipt"]).filter(|settled| !settled.is_null());
        let fired = settled.map(|settled| new_firings(settled, &mut HashSet::new()) + &receipt(settled));
        clock_text(answer) + &fired.unwrap_or_default() + &awaited_text(answer)
    })?;
    unsettled(&answer.value["receipt"])?;
    if !answer.value["followers"].is_null() {
        on_its_way(&answer.value["receipt"])?;
    }
    unconfirmed(&answer.value)
}

/// Fails if an advance is still running: followers can only confirm its end.
fn on_its_way(settled: &Value) -> Result<(), Failure> {
    if settled["state"] != "running" {
        return Ok(());
    }
    let to = member(settled, "to");
    Err(anyhow!("the clock is still advancing to {to}, where followers confirm it; it continues in the background")
        .into())
}

/// Prints the firings of an advance as they are settled, until it ends.
fn follow(client: &Client, timeline: &TimelineOptions, first: Value, wait: Option<i64>) -> Result<(), Failure> {
    let mut settled = first;
    let mut printed = HashSet::new();
    let mut waited = 0;
    let advance_id = member(&settled, "advance_id");
    let mut query = timeline.query();
    query.push(("wait", POLL_WAIT.to_owned()));
    let mut rest = Rest::default();
    loop {
        output::write(&new_firings(&settled, &mut printed))?;
        if settled["fired"].as_u64() > settled["firings"].as_array().map(|firings| firings.len() as u64) {
            rest.show(client, &query_of(timeline, &advance_id), &mut printed)?;
        }
        if settled["state"] != "running" || wait.is_some_and(|wait| waited >= wait) {
            break;
        }
        // Each request waits up to a second, so counting them measures time.
        waited += 1;
        let request = client.get(&["v1", "advances", &advance_id], &query);
        let request = request.inspect_err(|_| {
            output::note(&format!(
                "the advance {advance_id} continues in the background; `timenav clock now` shows the clock"
            ));
        });
        settled = request?.value["receipt"].take();
    }
    if rest.is_any {
        // Firings that were open when their page was read may be settled by now.
        Rest::default().show(client, &query_of(timeline, &advance_id), &mut printed)?;
    }
    output::write(&receipt(&settled))?;
    if settled["state"] == "running" {
        output::note(
            "the advance continues in the background; `timenav clock now` shows the clock, and `timenav clock pause` \
             stops it",
        );
    }
    unsettled(&settled)
}

/// The firings that do not fit into the receipt, read page by page.
#[derive(Default)]
struct Rest {
    is_any: bool,
    /// Start of the last page.
    cursor: Option<String>,
}

impl Rest {
    /// Prints newly settled firings, from the last page on.
    fn show(
        &mut self,
        client: &Client,
        query: &[(&'static str, String)],
        printed: &mut HashSet<String>,
    ) -> Result<(), Failure> {
        self.is_any = true;
        loop {
            let mut query = query.to_vec();
            query.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
            let page = client.get(&["v1", "firings"], &query)?.value;
            output::write(&new_firings(&page, printed))?;
            let Some(next) = page["next_cursor"].as_str() else { return Ok(()) };
            self.cursor = Some(next.to_owned());
        }
    }
}

fn query_of(timeline: &TimelineOptions, advance_id: &str) -> Vec<(&'static str, String)> {
    let mut query = timeline.query();
    query.extend([("advance_id", advance_id.to_owned()), ("limit", PAGE_ITEMS_MAX.to_string())]);
    query
}

/// Returns a line for each newly settled firing.
fn new_firings(settled: &Value, printed: &mut HashSet<String>) -> String {
    let mut text = String::new();
    for firing in settled["firings"].as_array().into_iter().flatten() {
        if firing["state"] == "pending" || !printed.insert(member(firing, "firing_id")) {
            continue;
        }
        text.push_str(&line_of(firing));
    }
    text
}

fn line_of(firing: &Value) -> String {
    let text_of = |path| member(firing, path);
    let parts = ["due", "timer_id", "queue", "state"].map(text_of);
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let mut line = parts.join("  ");
    let reason = text_of("reason");
    if !reason.is_empty() {
        line.extend([": ", &reason]);
    }
    line + "\n"
}

fn receipt(settled: &Value) -> String {
    let layout = [
        ("advance", "advance_id"),
        ("state", "state"),
        ("reached", "reached"),
        ("to", "to"),
        ("fired", "fired"),
        ("acknowledged", "acknowledged"),
        ("failed", "failed"),
        ("unacknowledged", "unacknowledged"),
        ("held by", "held_by"),
    ];
    output::fields(settled, &layout)
}

fn unsettled(settled: &Value) -> Result<(), Failure> {
    let state = settled["state"].as_str().unwrap_or_default();
    if !matches!(state, "stuck" | "stopped") {
        return Ok(());
    }
    let held_by = member(settled, "held_by");
    let why = if held_by.is_empty() { String::new() } else { format!(", held by {held_by}") };
    Err(anyhow!("the clock is {state} at {}{why}", member(settled, "reached")).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn firing_is_shown_once_it_is_settled() {
        let mut printed = HashSet::new();
        let firing = |state: &str| {
            json!({ "firings": [{ "firing_id": "firing_1", "timer_id": "t", "due": "2027-01-31T09:00:00Z", "queue": "q",
                "state": state, "reason": "busy" }] })
        };
        assert_eq!(new_firings(&firing("pending"), &mut printed), "");
        assert_eq!(new_firings(&firing("failed"), &mut printed), "2027-01-31T09:00:00Z  t  q  failed: busy\n");
        assert_eq!(new_firings(&firing("failed"), &mut printed), "");
        assert_eq!(new_firings(&Value::Null, &mut printed), "");
    }

    #[test]
    fn stopped_or_running_advance_is_an_error() {
        let settled =
            json!({ "state": "stopped", "reached": "2027-01-31T09:00:00Z", "held_by": ["queue q: firing_1"] });
        let text = unsettled(&settled).unwrap_err().text().unwrap();
        assert_eq!(text, "the clock is stopped at 2027-01-31T09:00:00Z, held by queue q: firing_1");
        assert!(unsettled(&json!({ "state": "settled" })).is_ok());
        assert!(on_its_way(&json!({ "state": "settled" })).is_ok());
        let message = on_its_way(&json!({ "state": "running", "to": "2027-02-01T00:00:00Z" })).unwrap_err();
        assert!(message.text().unwrap().contains("advancing to 2027-02-01T00:00:00Z"));
        assert!(unsettled(&Value::Null).is_ok());
    }
}
