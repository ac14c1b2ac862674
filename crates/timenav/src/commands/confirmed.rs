use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Map, Value};
use timenav_core::time::parse_duration;

use super::arguments::insert;
use crate::client::{Client, CreateOption};
use crate::exit::Failure;
use crate::output::{self, member};

/// Maximum wait that the service allows, in seconds.
const WAIT_SECONDS_MAX: i64 = 600;
/// Default wait of the service.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);

/// Which followers are waited for.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct FollowersOption {
    /// Wait until these followers confirm the change, such as `--followers=web,db`; without names, all of users who may
    /// write. Fails after `--wait`, but the change stays.
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(super) followers: Option<String>,
}

/// Which followers are waited for, and how long.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ConfirmOptions {
    #[command(flatten)]
    followers: FollowersOption,
    /// How long to wait, in host time, such as 30s or 5m. Defaults to 5s.
    #[arg(long, value_name = "DURATION", requires = "followers", value_parser = seconds)]
    wait: Option<i64>,
}

pub(super) fn change(
    client: &Client,
    path: &str,
    mut body: Map<String, Value>,
    (options, create): (&ConfirmOptions, Option<CreateOption>),
    human: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    insert(&mut body, "followers", options.followers.followers.clone());
    insert(&mut body, "wait", options.wait.map(|seconds| format!("{seconds}s")));
    let longer = longer(options.followers.followers.is_some(), options.wait);
    let (path, body) = (["v1", path], Value::Object(body).to_string());
    let answer = match create {
        Some(create) => client.write_and_wait(&path, &body, create, longer)?,
        None => client.post_and_wait(&path, &body, longer)?,
    };
    client.show(&answer, |answer| human(answer) + &awaited_text(answer))?;
    unconfirmed(&answer.value)
}

pub(super) const fn longer(waits: bool, wait: Option<i64>) -> Duration {
    match wait {
        Some(seconds) => Duration::from_secs(seconds.unsigned_abs()),
        None if waits => WAIT_DEFAULT,
        None => Duration::ZERO,
    }
}

pub(super) fn awaited_text(answer: &Value) -> String {
    let followers = answer["followers"]["followers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if followers.is_empty() {
        return String::new();
    }
    let columns = [("FOLLOWER", "name"), ("STATE", "state"), ("GENERATION", "generation"), ("USER", "user_id")];
    output::table(followers, &columns, true)
}

/// Fails if a follower has not confirmed the change.
pub(super) fn unconfirmed(answer: &Value) -> Result<(), Failure> {
    let awaited = &answer["followers"];
    if awaited["state"] != "waiting" {
        return Ok(());
    }
    let missing = awaited["followers"].as_array().into_iter().flatten().filter(|one| one["state"] != "confirmed");
    let missing: Vec<String> =
        missing.map(|one| format!("{} ({})", member(one, "name"), member(one, "state"))).collect();
    Err(anyhow!("the clock was changed, but these followers did not confirm it in time: {}", missing.join(", ")).into())
}

/// Parses a duration of host time in whole seconds.
pub(super) fn seconds(text: &str) -> Result<i64, String> {
    let duration = match text {
        "0" | "0s" => return Ok(0),
        _ => parse_duration(text).map_err(|error| error.to_string())?,
    };
    let seconds = (duration.exact().micros() + 999_999) / 1_000_000;
    if duration.months() > 0 || seconds > WAIT_SECONDS_MAX {
        return Err(format!("the maximum wait is {WAIT_SECONDS_MAX}s"));
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unconfirmed_followers_are_listed() {
        let one = |name: &str, state: &str| json!({ "name": name, "state": state, "generation": 7, "user_id": "ada" });
        let answer = json!({ "followers": { "state": "waiting", "followers": [
            one("db", "confirmed"), one("web", "lagging"), json!({ "name": "mail", "state": "unknown" }),
        ] } });
        assert_eq!(
            awaited_text(&answer),
            "FOLLOWER  STATE      GENERATION  USER\n\
             db        confirmed  7           ada\n\
             web       lagging    7           ada\n\
             mail      unknown\n"
        );
        let text = unconfirmed(&answer).unwrap_err().text().unwrap();
        assert_eq!(
            text,
            "the clock was changed, but these followers did not confirm it in time: web (lagging), mail (unknown)"
        );
        for fine in [json!({}), json!({ "followers": { "state": "confirmed", "followers": [] } })] {
            assert_eq!(awaited_text(&fine), "");
            assert!(unconfirmed(&fine).is_ok());
        }
    }

    #[test]
    fn wait_duration_is_rounded_up_to_seconds() {
        for (text, expected) in [("0s", 0), ("0", 0), ("30s", 30), ("1.5s", 2), ("PT2M", 120), ("10m", 600)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for wrong in ["11m", "P1M", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
