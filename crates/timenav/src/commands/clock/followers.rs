use std::fmt::Write as _;

use serde_json::Value;

use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const FOLLOWERS: Records = Records {
    member: "followers",
    fields: &[
        "name",
        "state",
        "generation",
        "confirmed_at",
        "latency",
        "fault",
        "since",
        "disconnected_at",
        "host",
        "process",
        "user_id",
        "follower_id",
    ],
    columns: &[
        ("FOLLOWER", "name"),
        ("STATE", "state"),
        ("GENERATION", "generation"),
        ("CONFIRMED", "confirmed_at"),
        ("LATENCY", "latency"),
        ("SINCE", "since"),
        ("HOST", "host"),
        ("PROCESS", "process"),
        ("USER", "user_id"),
    ],
};

/// Lists the named followers of a clock, and the change that each has confirmed.
///
/// A follower is `up_to_date` if it has confirmed the newest change, `lagging` if not, and `disconnected` for a minute after its
/// connection ended. LATENCY is the host time until the confirmation. You see your own followers, or all if you may write
/// to the timeline.
#[derive(Debug, clap::Args)]
pub(crate) struct FollowersCommand {
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: &FollowersCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let answer = client.get(&["v1", "followers"], &command.timeline.query())?;
    client.show_list(&answer, &FOLLOWERS, followers_text)
}

fn followers_text(answer: &Value) -> String {
    let followers = answer["followers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text =
        if followers.is_empty() { output::status(answer) } else { output::table(followers, FOLLOWERS.columns, true) };
    for follower in followers {
        if let Some(fault) = follower["fault"].as_object() {
            let members: Vec<String> =
                fault.keys().map(|name| format!("{name} {}", output::member(&follower["fault"], name))).collect();
            let name = output::printable(follower["name"].as_str().unwrap_or_default());
            let _ = writeln!(text, "{name} has a clock error: {}", members.join(", "));
        }
    }
    if answer["partial"] == true {
        text.push_str(
            "Followers that are connected to other services on the database are not listed until `timenav upgrade \
             --finish`.\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn followers_are_listed_with_their_confirmed_generation() {
        let since = "2026-01-01T00:00:00Z";
        let lagging = json!({ "name": "web", "state": "lagging", "since": since, "user_id": "ada" });
        let current = json!({
            "name": "db", "state": "up_to_date", "generation": 7, "confirmed_at": since, "latency": "PT0.0021S",
            "since": since, "host": "db-1", "process": 4711, "user_id": "ada",
        });
        let answer = json!({ "status": "2 followers.", "partial": true, "followers": [lagging, current] });
        assert_eq!(
            followers_text(&answer),
            "FOLLOWER  STATE       GENERATION  CONFIRMED             LATENCY    SINCE                 HOST  PROCESS  USER\n\
             web       lagging                                                  2026-01-01T00:00:00Z                 ada\n\
             db        up_to_date  7           2026-01-01T00:00:00Z  PT0.0021S  2026-01-01T00:00:00Z  db-1  4711     ada\n\
             Followers that are connected to other services on the database are not listed until `timenav upgrade \
             --finish`.\n"
        );
        let wrong = json!({
            "name": "db", "state": "lagging", "since": since, "user_id": "ada",
            "fault": { "offset": "-2s", "drift_ppm": 200 },
        });
        let text = followers_text(&json!({ "status": "1 follower.", "followers": [wrong] }));
        assert!(text.ends_with("\ndb has a clock error: drift_ppm 200, offset -2s\n"), "{text}");
        assert_eq!(followers_text(&json!({ "status": "No followers.", "followers": [] })), "No followers.\n");
    }
}
