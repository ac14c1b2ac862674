use serde_json::{Value, json};

use super::clock::clock_line;
use super::pages::page_text;
use super::timeline::TIMELINES;
use crate::client::{Answer, Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Timelines to show. `timenav timeline list` shows all.
const TIMELINES_LISTED_MAX: usize = 20;

/// Shows the selected service, your user, the clock, and the timelines.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusCommand {
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: &StatusCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    // The first two requests reveal problems with the address or the key.
    let session = client.get(&["v1", "session"], &[])?.value;
    if !session["user_id"].is_string() {
        return Err(Failure::NoKey(format!(
            "the service at {} does not recognize the API key {}",
            client.target().url,
            client.target().key_source
        )));
    }
    let clock = match client.get(&["v1", "clock"], &command.timeline.query()) {
        Ok(clock) => clock.value,
        // A user without access to `main` can still use the service.
        Err(Failure::Problem(problem)) if command.timeline.timeline.is_none() && problem.is_not_found() => Value::Null,
        Err(failure) => return Err(failure),
    };
    let timelines = client.get(&["timelines"], &[("limit", TIMELINES_LISTED_MAX.to_string())])?.value;
    let value = json!({
        "status": session["status"],
        "url": client.target().url.as_str(),
        "key_source": client.target().key_source,
        "service_name": session["service_name"],
        "version": session["version"],
        "user_id": session["user_id"],
        "operator": session["operator"],
        "restriction_level": session["restriction_level"],
        "clock": clock,
        "timelines": timelines["timelines"],
        "has_more": timelines["has_more"],
    });
    client.show(&Answer { text: value.to_string(), value }, status_text)
}

fn status_text(answer: &Value) -> String {
    let part = |name: &str| output::member(answer, name);
    let mut who = part("user_id");
    if answer["operator"] == true {
        who += ", an operator";
    }
    if answer["restriction_level"].as_str().is_some_and(|level| level != "full_access") {
        who.extend([", with time travel restricted to ", &part("restriction_level")]);
    }
    let clock = if answer["clock"].is_null() {
        "(none that you may read; give a timeline with --timeline)".to_owned()
    } else {
        format!("{}  on {}", clock_line(&answer["clock"]), part("clock/timeline_id"))
    };
    let rows = json!({
        "service": format!("{}, timenav {}, at {}", part("service_name"), part("version"), part("url")),
        "you": who,
        "key": part("key_source"),
        "clock": clock,
    });
    let mut text = output::fields(&rows, &["service", "you", "key", "clock"].map(|name| (name, name)));
    text.push('\n');
    text += &page_text(answer, TIMELINES.member, TIMELINES.columns, true);
    if answer["has_more"] == true {
        text += "and more; `timenav timeline list` lists all\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_status_is_shown_on_one_page() {
        let mut answer = json!({"url": "http://127.0.0.1:8080/", "key_source": "from TIMENAV_API_KEY",
            "service_name": "timenav.local", "version": "0.1.0", "user_id": "ada", "operator": false,
            "restriction_level": "read_only", "timelines": [], "has_more": false,
            "clock": {"timeline_id": "main", "current_time": "2000-01-01T00:00:00Z", "state": "paused", "rate": 1}});
        let expected = "service  timenav.local, timenav 0.1.0, at http://127.0.0.1:8080/\n\
                        you      ada, with time travel restricted to read_only\n\
                        key      from TIMENAV_API_KEY\n\
                        clock    2000-01-01T00:00:00Z  paused  rate 1  on main\n\n";
        assert_eq!(status_text(&answer), expected);
        answer["clock"] = Value::Null;
        assert!(status_text(&answer).contains("give a timeline"));
    }
}
