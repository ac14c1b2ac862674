pub(crate) mod fault;
pub(crate) mod followers;
mod elapse;
pub(super) mod foreseen;
pub(super) mod settling;

use serde_json::{Number, Value};
use settling::{NextOptions, SettleOptions};

use super::arguments::insert;
use super::confirmed::{self, ConfirmOptions};
use crate::client::{Client, CreateOption, ServerEvent, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Reads and changes the clock of a timeline. Without a command, shows the clock.
#[derive(Debug, clap::Args)]
pub(crate) struct ClockCommand {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Shows the clock.
    Now,
    /// Moves the clock to a time.
    ///
    /// On the way forward it stops at each due timer until its firings are done.
    Travel {
        /// The time, in RFC 3339 with a zone, such as 2005-08-29T11:10:00Z or -000043-03-15T12:00:00Z.
        #[arg(allow_hyphen_values = true)]
        time: String,
        /// The place to travel to. A known place, or a zone such as America/Chicago, sets the local time.
        #[arg(long)]
        location: Option<String>,
        /// When going back, fire recurring moments again. Their unfinished firings are superseded.
        #[arg(long)]
        refire: bool,
        #[command(flatten)]
        settle: SettleOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Pauses the clock.
    Pause {
        #[command(flatten)]
        confirm: ConfirmOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Resumes the clock.
    Resume {
        #[command(flatten)]
        confirm: ConfirmOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Moves the clock forward.
    ///
    /// It stops at each due timer until its firings are done.
    Forward {
        /// How far: 90m, 1.5h, 1d12h, or ISO 8601 such as P1M.
        duration: String,
        #[command(flatten)]
        settle: SettleOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Moves the clock to the next due timer, and waits until its firings are done.
    Next {
        /// Stop here if no timer is due before. Defaults to no limit; if no timer is armed, the clock stays.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        until: Option<String>,
        #[command(flatten)]
        settle: NextOptions,
    },
    /// Moves the clock back.
    Rewind {
        /// How far: 90m, 1.5h, 1d12h, or ISO 8601 such as P1M.
        duration: String,
        /// Fire recurring moments again. Their unfinished firings are superseded.
        #[arg(long)]
        refire: bool,
        /// Show what `--refire` would arm and supersede, without moving the clock.
        #[arg(long, conflicts_with = "followers")]
        dry_run: bool,
        #[command(flatten)]
        confirm: ConfirmOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Sets the rate of the clock.
    Rate {
        /// Virtual seconds per host second, greater than 0; 1 is host speed.
        #[arg(value_parser = number, allow_hyphen_values = true)]
        factor: Number,
        #[command(flatten)]
        confirm: ConfirmOptions,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Advances a paused clock by the time that a task took, such as 20m.
    ///
    /// It stops at each due timer until its firings are done. A running clock is rejected.
    Elapse(elapse::ElapseOptions),
    /// Shows the clock and each change until Ctrl-C. With `--json`, one response per line.
    Watch,
}

pub(crate) fn run(command: ClockCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut body = command.timeline.body();
    let (path, confirm, create) = match command.action.unwrap_or(Action::Now) {
        Action::Now => {
            let answer = client.get(&["v1", "clock"], &command.timeline.query())?;
            return client.show(&answer, clock_text);
        }
        Action::Watch => return watch(&client, &command.timeline),
        Action::Travel { time, location, refire, settle, create } => {
            insert(&mut body, "destination_time", Some(time));
            insert(&mut body, "location", location);
            insert(&mut body, "refire", refire.then_some(true));
            return settling::run(&client, &command.timeline, "travel", body, (&settle, create), clock_text);
        }
        Action::Pause { confirm, create } => ("pause-time", confirm, create),
        Action::Resume { confirm, create } => ("resume-time", confirm, create),
        Action::Forward { duration, settle, create } => {
            insert(&mut body, "duration", Some(duration));
            return settling::run(&client, &command.timeline, "fast-forward", body, (&settle, create), clock_text);
        }
        Action::Next { until, settle } => {
            insert(&mut body, "until", until);
            return settling::step(&client, &command.timeline, "advance-to-next", body, (&settle, None), clock_text);
        }
        Action::Elapse(options) => return elapse::run(&client, options, body),
        Action::Rewind { duration, refire, dry_run, confirm, create } => {
            insert(&mut body, "duration", Some(duration));
            insert(&mut body, "refire", refire.then_some(true));
            if dry_run {
                return foreseen::run(&client, "rewind", body, Some(create), clock_text);
            }
            ("rewind", confirm, create)
        }
        Action::Rate { factor, confirm, create } => {
            insert(&mut body, "rate", Some(factor));
            ("set-rate", confirm, create)
        }
    };
    confirmed::change(&client, path, body, (&confirm, Some(create)), clock_text)
}

/// Watches a clock across reconnects until the service rejects it.
fn watch(client: &Client, timeline: &TimelineOptions) -> Result<(), Failure> {
    client.expect_lines()?;
    for message in client.watch(&["v1", "clock", "stream"], &timeline.query(), None)? {
        let ServerEvent { name, data, .. } = message?;
        // If the connection was lost before its first message, the next one starts with the current clock.
        if name != "clock" {
            continue;
        }
        let line = if client.format().is_json() {
            data
        } else {
            serde_json::from_str(&data).map_or(data, |clock| clock_line(&clock))
        };
        output::write(&format!("{line}\n"))?;
    }
    Ok(())
}

pub(super) fn clock_text(answer: &Value) -> String {
    let layout = [
        ("timeline", "timeline_id"),
        ("current time", "current_time"),
        ("local time", "local_time"),
        ("paused at", "paused_at"),
        ("state", "state"),
        ("rate", "rate"),
        ("place", "location"),
    ];
    output::status(answer) + &output::fields(answer, &layout)
}

pub(super) fn clock_line(clock: &Value) -> String {
    let mut line = output::member(clock, "current_time");
    for (before, path, after) in
        [("  ", "state", ""), ("  rate ", "rate", ""), ("  ", "location", ""), ("  (generation ", "generation", ")")]
    {
        let value = output::member(clock, path);
        if !value.is_empty() {
            line.extend([before, &value, after]);
        }
    }
    line
}

fn number(text: &str) -> Result<Number, String> {
    serde_json::from_str(text).map_err(|_| "expected a number, such as 60 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Value {
        serde_json::json!({
            "status": "The clock runs.", "timeline_id": "main", "current_time": "2005-08-29T11:10:00Z",
            "local_time": "2005-08-29T06:10:00-05:00", "state": "running", "rate": 1, "location": "America/Chicago",
            "generation": 7,
        })
    }

    #[test]
    fn clock_is_shown_with_its_location() {
        assert_eq!(
            clock_text(&clock()),
            "The clock runs.\n\
             timeline      main\n\
             current time  2005-08-29T11:10:00Z\n\
             local time    2005-08-29T06:10:00-05:00\n\
             state         running\n\
             rate          1\n\
             place         America/Chicago\n"
        );
    }

    #[test]
    fn watched_clock_is_shown_on_one_line() {
        assert_eq!(clock_line(&clock()), "2005-08-29T11:10:00Z  running  rate 1  America/Chicago  (generation 7)");
        assert_eq!(clock_line(&Value::Null), "");
    }

    #[test]
    fn rate_factor_must_be_a_number() {
        assert_eq!(number("0.5").unwrap().to_string(), "0.5");
        for wrong in ["fast", "", "\"1\"", "1 2"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }
}
