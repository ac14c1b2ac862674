use serde_json::{Number, Value};

use crate::client::{Client, ServerEvent, ServiceOptions, TimelineOptions};
use crate::commands::arguments::extend;
use crate::commands::clock::clock_line;
use crate::commands::events::{event_json, number};
use crate::exit::Failure;
use crate::output::{self, member};
use crate::wiring::surroundings::Surroundings;

/// Shows what happens on a timeline, until Ctrl-C. After a lost connection, it resumes after the last message.
///
/// With `--json`, each message is a line.
#[derive(Debug, clap::Args)]
pub(crate) struct StreamCommand {
    /// The topics, separated by commas: clock, events, interventions, paradoxes, advances, due. Defaults to all but
    /// due.
    #[arg(long, value_name = "TOPICS")]
    topics: Option<String>,
    /// Start after the message with this id. Defaults to now.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Only paradoxes of these kinds, by code or name, separated by commas.
    #[arg(long, value_name = "KINDS")]
    kinds: Option<String>,
    /// Include observations about the data with the paradoxes.
    #[arg(long)]
    observations: bool,
    /// The top speed of actors, in km/h.
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    speed_kmh: Option<Number>,
    /// The clock difference to tolerate when times are ordered, such as 90s.
    #[arg(long, value_name = "DURATION")]
    tolerance: Option<String>,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Follows a timeline across reconnects until the service rejects it.
pub(crate) fn run(command: StreamCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    client.expect_lines()?;
    let mut query = command.timeline.query();
    let given = [
        ("topics", command.topics),
        ("kinds", command.kinds),
        ("include", command.observations.then(|| "observations".to_owned())),
        ("speed_kmh", command.speed_kmh.map(|number| number.to_string())),
        ("tolerance", command.tolerance),
    ];
    extend(&mut query, given);
    for message in client.watch(&["v1", "stream"], &query, command.after.as_deref())? {
        let message = message?;
        output::write(&if client.format().is_json() { json_line(&message) } else { text_line(&message) })?;
    }
    Ok(())
}

/// Formats a message as a line of JSON. Its data is unchanged.
pub(in crate::commands) fn json_line(ServerEvent { id, name, data }: &ServerEvent) -> String {
    let (id, name) = (Value::from(id.as_str()), Value::from(name.as_str()));
    format!("{{\"id\":{id},\"event\":{name},\"data\":{}}}\n", data.replace('\n', ""))
}

fn text_line(ServerEvent { id, name, data }: &ServerEvent) -> String {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let event_id = member(&data, "event_id");
    let words = match name.as_str() {
        "clock" => format!("clock  {}", clock_line(&data["clock"])),
        "events" => {
            let row = event_json(&data["event"]);
            format!("{}  {event_id}  {}  {}", member(&data, "change"), member(&row, "time"), member(&row, "what"))
        }
        "interventions" => {
            format!("intervention on {event_id}  {}", member(&data, "intervention/action"))
        }
        "paradox-created" | "paradox-resolved" => {
            let text_of = |path| member(&data["paradox"], path);
            format!("{name}  {} {}  {}", text_of("code"), text_of("grade"), text_of("explanation"))
        }
        "due" => format!("due  {}", member(&data, "due/time_range")),
        "reset" => "reset: messages were skipped; reload what you need".to_owned(),
        other => output::printable(other),
    };
    format!("{}  {}\n", output::printable(place(id)), words.trim_end())
}

/// Returns the position in a message id without the entry hash after it. --after accepts both.
pub(in crate::commands) fn place(id: &str) -> &str {
    id.split('~').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, data: &str) -> ServerEvent {
        ServerEvent { id: "17.0~5f3c9a0e1d2b4c68".to_owned(), name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn each_stream_message_is_one_line() {
        let check = |name: &str, data: &str, expected: &str| assert_eq!(text_line(&message(name, data)), expected);
        check(
            "clock",
            r#"{"clock":{"current_time":"2000-01-01T00:00:00Z","state":"paused","rate":1,"generation":2}}"#,
            "17.0  clock  2000-01-01T00:00:00Z  paused  rate 1  (generation 2)\n",
        );
        check(
            "events",
            r#"{"change":"recorded","event_id":"e","event":{"time":"2000-01-01T00:00:00Z","name":"a\u001b[1m"}}"#,
            "17.0  recorded  e  2000-01-01T00:00:00Z  a [1m\n",
        );
        check("events", r#"{"change":"corrected","event_id":"e"}"#, "17.0  corrected  e\n");
        check(
            "interventions",
            r#"{"event_id":"e","intervention":{"action":"cancel"}}"#,
            "17.0  intervention on e  cancel\n",
        );
        check(
            "paradox-resolved",
            r#"{"paradox":{"code":"P01","grade":"definite","explanation":"`a` lies before `b`."}}"#,
            "17.0  paradox-resolved  P01 definite  `a` lies before `b`.\n",
        );
        check(
            "due",
            r#"{"due":{"time_range":"2000-01-01T00:00:00.000001Z/2000-01-02T00:00:00Z"}}"#,
            "17.0  due  2000-01-01T00:00:00.000001Z/2000-01-02T00:00:00Z\n",
        );
        check("reset", "{}", "17.0  reset: messages were skipped; reload what you need\n");
        check("other\n", "", "17.0  other\n");
    }

    #[test]
    fn json_line_preserves_message_data() {
        assert_eq!(
            json_line(&message("events", "{\"a\":\n1.50}")),
            "{\"id\":\"17.0~5f3c9a0e1d2b4c68\",\"event\":\"events\",\"data\":{\"a\":1.50}}\n"
        );
    }
}
