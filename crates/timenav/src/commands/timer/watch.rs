//! `timenav timer watch`: prints what happens to firings, without claiming any.

use serde_json::Value;

use crate::client::{Client, ServerEvent};
use crate::commands::events::stream::{json_line, place};
use crate::exit::Failure;
use crate::output::{self, member};

#[derive(Debug, clap::Args)]
pub(super) struct WatchOptions {
    /// Only firings of this queue. Defaults to all firings of the timeline.
    #[arg(long)]
    queue: Option<String>,
    /// Start after the message with this id. Defaults to now.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

/// Watches firings across reconnects until the service rejects it.
pub(super) fn run(
    client: &Client,
    mut query: Vec<(&'static str, String)>,
    options: WatchOptions,
) -> Result<(), Failure> {
    client.expect_lines()?;
    query.extend(options.queue.map(|queue| ("queue", queue)));
    for message in client.watch(&["v1", "firings", "stream"], &query, options.after.as_deref())? {
        let message = message?;
        output::write(&if client.format().is_json() { json_line(&message) } else { text_line(&message) })?;
    }
    Ok(())
}

fn text_line(ServerEvent { id, name, data }: &ServerEvent) -> String {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let text_of = |field: &str| member(&data["firing"], field);
    let words = match name.as_str() {
        "firing" => {
            let queue = data["firing"].get("queue").map_or_else(|| "an event".to_owned(), |_| text_of("queue"));
            let by = ["claimed_by", "leased_until", "not_before", "reason"].map(text_of).join("  ");
            format!("{}  {}  {queue}  {}  {}", text_of("due"), text_of("timer_id"), text_of("change"), by.trim())
        }
        "gap" => "gap: claims and failed attempts may be missing".to_owned(),
        "reset" => "reset: messages were skipped; reload what you need".to_owned(),
        other => output::printable(other),
    };
    format!("{}  {}\n", output::printable(place(id)), words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_watch_message_is_one_line() {
        let check = |name: &str, data: &str, expected: &str| {
            let message =
                ServerEvent { id: "17.0~5f3c9a0e1d2b4c68".to_owned(), name: name.to_owned(), data: data.to_owned() };
            assert_eq!(text_line(&message), expected);
        };
        let firing = r#""timer_id":"renew","due":"2000-01-01T00:00:00Z""#;
        check(
            "firing",
            &format!(r#"{{"firing":{{{firing},"queue":"billing","change":"offered"}}}}"#),
            "17.0  2000-01-01T00:00:00Z  renew  billing  offered\n",
        );
        check(
            "firing",
            &format!(r#"{{"firing":{{{firing},"queue":"q","change":"failed","reason":"a\u001b[1m"}}}}"#),
            "17.0  2000-01-01T00:00:00Z  renew  q  failed  a [1m\n",
        );
        check(
            "firing",
            &format!(r#"{{"firing":{{{firing},"change":"acknowledged"}}}}"#),
            "17.0  2000-01-01T00:00:00Z  renew  an event  acknowledged\n",
        );
        check("gap", "{}", "17.0  gap: claims and failed attempts may be missing\n");
        check("reset", "{}", "17.0  reset: messages were skipped; reload what you need\n");
    }
}
