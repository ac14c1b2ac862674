//! `timenav timer`: sets timers, lists and cancels them, and answers for what fires.

mod listen;
mod watch;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::arguments::insert;
use super::pages::{page_text, show_pages};
use crate::client::{Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::surroundings::Surroundings;

const TIMERS: Records = Records {
    member: "timers",
    fields: &[
        "timer_id",
        "state",
        "next",
        "at",
        "every",
        "cron",
        "deliver",
        "payload",
        "order_key",
        "round",
        "set_by",
        "set_at",
    ],
};

/// Sets timers on virtual time, and listens for what fires.
#[derive(Debug, clap::Args)]
pub(crate) struct TimerCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Sets a timer: once, by a rule of iCalendar, or by a cron expression.
    #[command(group(clap::ArgGroup::new("when").args(["at", "every", "cron"]).required(true)))]
    Add(Box<AddCommand>),
    /// Lists the timers of the timeline, those that fire next first.
    List {
        /// Which: `armed`, `done` or `cancelled`. Defaults to those that are armed.
        #[arg(long, value_parser = ["armed", "done", "cancelled"])]
        state: Option<String>,
        /// How many for each request, or at all without --all.
        #[arg(long, value_name = "NUMBER")]
        limit: Option<u32>,
        /// List all of them.
        #[arg(long)]
        all: bool,
    },
    /// Shows a timer and what came of its firings.
    Show {
        /// The timer, from `add` or `list`.
        timer_id: String,
    },
    /// Cancels a timer. What has fallen due stays due.
    Cancel {
        /// The timer, from `add` or `list`.
        timer_id: String,
    },
    /// Delivers a firing again that has failed: another one of the same moment waits from now on.
    Redeliver {
        /// The firing, from `show` or a receipt.
        firing_id: String,
    },
    /// Holds the clock at its instant while it is moved past timers, until you release it or the time is over.
    ///
    /// No instant can be held for longer than ten minutes: then the move is stopped, and says who held it and why.
    Hold {
        /// Why: whoever waits for the clock is told.
        reason: String,
        /// For how long, in host time, such as 2m.
        #[arg(long = "for", value_name = "DURATION", default_value = "30s")]
        ttl: String,
        /// A lease of yours that is to last longer. Otherwise you get a new one.
        #[arg(long, value_name = "LEASE_ID")]
        lease: Option<String>,
    },
    /// Lists who holds the clock without a firing, why, and until when.
    Leases,
    /// Ends a lease of yours that holds the clock.
    Release {
        /// The lease, from `hold` or `leases`.
        lease_id: String,
    },
    /// Takes what fires in a queue, shows it, and passes it on to a program of yours, until Ctrl-C.
    ///
    /// Without --forward, what fires is acknowledged as soon as it is shown. With it, each firing is sent to that address
    /// in a POST: a status from 200 to 299 acknowledges it, anything else counts as a failed attempt. Requests are signed as
    /// Standard Webhooks says, under the secret that is shown at the start, and have the headers Timenav-Firing,
    /// Timenav-Timeline, Timenav-Time, Timenav-Generation and, while an advance goes on, Timenav-Step. Ctrl-C gives back what
    /// is not done. With --json, each firing is a line.
    Listen(listen::ListenOptions),
    /// Shows what happens to firings as they are offered, claimed and settled, until Ctrl-C, and claims none.
    ///
    /// With --json, each message is a line with its `id`, `event` and `data`; use --after with an id to get later messages
    /// again. What others claimed in between is not told again, which `gap` says.
    Watch(watch::WatchOptions),
}

#[derive(Debug, clap::Args)]
struct AddCommand {
    /// When, once: RFC 3339 with a zone, such as 2027-01-31T09:00:00Z.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,
    /// When, again and again: a rule of iCalendar, such as FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD.
    #[arg(long, value_name = "RULE")]
    every: Option<String>,
    /// When, again and again: a cron expression of five fields, such as '30 9 * * MON-FRI'.
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// When the rule starts: a time with a zone, such as 2027-01-31T09:00:00[Europe/Paris]. Defaults to what the clock shows.
    #[arg(long, value_name = "TIME", requires = "every", allow_hyphen_values = true)]
    starts: Option<String>,
    /// The zone in which the rule or the expression counts, such as Europe/Paris. Defaults to UTC.
    #[arg(long, conflicts_with = "at")]
    zone: Option<String>,
    /// The id of the timer. Defaults to one that the service makes.
    #[arg(long, value_name = "TIMER_ID")]
    id: Option<String>,
    /// The queue in which it is to wait for a listener. Defaults to `default`.
    #[arg(long)]
    queue: Option<String>,
    /// The event that is recorded on the timeline each time it fires, in JSON, such as '{"description": "The trial ends."}'.
    /// It has no `event_id` and no `time`: these are the firing's.
    #[arg(long, value_name = "JSON", value_parser = json, conflicts_with_all = ["queue", "payload", "order_key"])]
    event: Option<Value>,
    /// Where the service is to send it each time it fires, in a POST: an address that its operator allows.
    #[arg(long, value_name = "URL", conflicts_with_all = ["queue", "event"])]
    webhook: Option<String>,
    /// A file with the secret that these requests are signed under: `whsec_` and base64, as Standard Webhooks says.
    ///
    /// Without it, they are not signed.
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_secret_file: Option<PathBuf>,
    /// What the listener is to get, in JSON.
    #[arg(long, value_name = "JSON", value_parser = json)]
    payload: Option<Value>,
    /// Firings with the same key are handed out one after the other.
    #[arg(long, value_name = "KEY")]
    order_key: Option<String>,
    /// What happens if more than one moment of a rule has passed: `all` fire, only the last (`once`), or none (`skip`).
    #[arg(long, value_parser = ["all", "once", "skip"], conflicts_with = "at")]
    misfire: Option<String>,
    /// Also fire for the moments of the rule that the clock has passed already.
    #[arg(long, conflicts_with = "at")]
    catch_up: bool,
    #[command(flatten)]
    create: CreateOption,
}

/// Does one thing with timers.
///
/// # Errors
/// The service does not answer, or says no.
pub(crate) fn run(command: TimerCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut query = command.timeline.query();
    match command.action {
        Action::Add(add) => {
            let create = add.create;
            let secret = add.webhook_secret_file.as_deref().map(secret_in).transpose()?;
            let body = Value::Object(add.body(command.timeline.body(), secret)).to_string();
            client.show(&client.write(&["v1", "timers"], &[], &body, create)?, timer_text)
        }
        Action::List { state, limit, all } => {
            query.extend(state.map(|state| ("state", state)));
            query.extend(limit.map(|limit| ("limit", limit.to_string())));
            show_pages(&client, &["v1", "timers"], query, (all, &TIMERS), list_text)
        }
        Action::Show { timer_id } => client.show(&client.get(&["v1", "timers", &timer_id], &query)?, timer_text),
        Action::Cancel { timer_id } => {
            client.show(&client.delete(&["v1", "timers", &timer_id], &query)?, output::status)
        }
        Action::Redeliver { firing_id } => {
            let answer = client.post(&["v1", "firings", &firing_id, "redeliver"], command.timeline.body())?;
            client.show(&answer, redelivered_text)
        }
        Action::Hold { reason, ttl, lease } => {
            let mut body = command.timeline.body();
            insert(&mut body, "reason", Some(reason));
            insert(&mut body, "ttl", Some(ttl));
            insert(&mut body, "lease_id", lease);
            let shown = [("lease", "lease/lease_id"), ("until", "lease/until")];
            client.show(&client.post(&["v1", "leases"], body)?, |answer| output::fields(answer, &shown))
        }
        Action::Leases => {
            let columns = [("LEASE", "lease_id"), ("OWNER", "owner"), ("UNTIL", "until"), ("REASON", "reason")];
            let shown = |answer: &Value| page_text(answer, "leases", &columns, true);
            client.show(&client.get(&["v1", "leases"], &query)?, shown)
        }
        Action::Release { lease_id } => {
            let answer = client.post(&["v1", "leases", &lease_id, "release"], command.timeline.body())?;
            client.show(&answer, output::status)
        }
        Action::Listen(options) => listen::run(&client, &command.timeline, options),
        Action::Watch(options) => watch::run(&client, query, options),
    }
}

impl AddCommand {
    fn body(self, mut body: Map<String, Value>, secret: Option<String>) -> Map<String, Value> {
        let object = |members: Vec<(&str, Option<String>)>| {
            let mut object = Map::new();
            for (name, value) in members {
                insert(&mut object, name, value);
            }
            Value::Object(object)
        };
        insert(&mut body, "timer_id", self.id);
        insert(&mut body, "at", self.at);
        if let Some(rule) = self.every {
            let every = vec![("rule", Some(rule)), ("starts", self.starts), ("zone", self.zone)];
            body.insert("every".to_owned(), object(every));
        } else if let Some(expression) = self.cron {
            body.insert("cron".to_owned(), object(vec![("expression", Some(expression)), ("zone", self.zone)]));
        }
        let to_queue = self.queue.map(|queue| json!({ "to": "queue", "queue": queue }));
        let to_timeline = self.event.map(|event| json!({ "to": "timeline", "event": event }));
        let to_webhook = self.webhook.map(|url| {
            let to = Some("webhook".to_owned());
            object(vec![("to", to), ("url", Some(url)), ("secret", secret)])
        });
        insert(&mut body, "deliver", to_queue.or(to_timeline).or(to_webhook));
        insert(&mut body, "payload", self.payload);
        insert(&mut body, "order_key", self.order_key);
        insert(&mut body, "misfire", self.misfire);
        insert(&mut body, "catch_up", self.catch_up.then_some(true));
        body
    }
}

/// Reads the secret of a webhook.
fn secret_in(path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(text.trim().to_owned())
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error}); write a text with its quotes"))
}

/// Returns what a firing is called that is delivered again.
fn redelivered_text(answer: &Value) -> String {
    output::fields(answer, &[("firing", "firings/0/firing_id"), ("state", "firings/0/state")])
}

/// Returns what an answer says about a timer, with its firings where it has any.
fn timer_text(answer: &Value) -> String {
    let shown = [
        ("timer", "timer/timer_id"),
        ("state", "timer/state"),
        ("next", "timer/next"),
        ("at", "timer/at"),
        ("rule", "timer/every/rule"),
        ("starts", "timer/every/starts"),
        ("cron", "timer/cron/expression"),
        ("zone", "timer/every/zone"),
        ("zone", "timer/cron/zone"),
        ("queue", "timer/deliver/queue"),
        ("records", "timer/deliver/event"),
        ("webhook", "timer/deliver/url"),
        ("signed", "timer/deliver/signed"),
        ("payload", "timer/payload"),
        ("order key", "timer/order_key"),
        ("set by", "timer/set_by"),
    ];
    let mut text = output::status(answer) + &output::fields(answer, &shown);
    if let Some(firings) = answer["firings"].as_array().filter(|firings| !firings.is_empty()) {
        let columns = [("DUE", "due"), ("STATE", "state"), ("FIRING", "firing_id"), ("REASON", "reason")];
        text.push('\n');
        text.push_str(&output::table(firings, &columns, true));
    }
    text
}

fn list_text(page: &Value, is_first: bool) -> String {
    let columns = [("TIMER", "timer_id"), ("NEXT", "next"), ("STATE", "state"), ("DELIVERS TO", "delivers_to")];
    let mut page = page.clone();
    for timer in page["timers"].as_array_mut().into_iter().flatten() {
        let deliver = &timer["deliver"];
        let target = ["queue", "url", "to"].into_iter().find(|member| deliver[member].is_string());
        timer["delivers_to"] = target.map_or(Value::Null, |member| deliver[member].clone());
    }
    page_text(&page, "timers", &columns, is_first)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_list_tells_where_each_timer_delivers_to() {
        let timer = |deliver: Value| json!({ "timer_id": "t", "next": "n", "state": "armed", "deliver": deliver });
        let page = json!({ "timers": [
            timer(json!({ "to": "queue", "queue": "billing", "url": null })),
            timer(json!({ "to": "webhook", "queue": null, "url": "https://hooks.example.com/" })),
            timer(json!({ "to": "timeline", "event": {} })),
        ] });
        let told = list_text(&page, true);
        let last: Vec<&str> = told.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(last, ["TO", "billing", "https://hooks.example.com/", "timeline"], "{told}");
    }

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        add: AddCommand,
    }

    fn body(arguments: &[&str]) -> Value {
        let line = Line::try_parse_from([&["add"], arguments].concat()).unwrap();
        Value::Object(line.add.body(Map::new(), None))
    }

    #[test]
    fn timers_are_asked_for_in_the_words_of_the_api() {
        assert_eq!(body(&["--at", "2027-01-31T09:00:00Z"]), json!({ "at": "2027-01-31T09:00:00Z" }));
        assert_eq!(
            body(&[
                "--every",
                "FREQ=DAILY",
                "--starts",
                "2027-01-31T09:00",
                "--zone",
                "Europe/Paris",
                "--queue",
                "billing",
                "--payload",
                "{\"invoice\":42}",
                "--catch-up"
            ]),
            json!({
                "every": { "rule": "FREQ=DAILY", "starts": "2027-01-31T09:00", "zone": "Europe/Paris" },
                "deliver": { "to": "queue", "queue": "billing" }, "payload": { "invoice": 42 }, "catch_up": true,
            })
        );
        assert_eq!(
            body(&["--cron", "0 9 * * 1", "--id", "weekly", "--misfire", "once", "--order-key", "customer-7"]),
            json!({
                "timer_id": "weekly", "cron": { "expression": "0 9 * * 1" }, "misfire": "once", "order_key": "customer-7",
            })
        );
    }

    #[test]
    fn a_timer_that_records_an_event_hands_nothing_over() {
        assert_eq!(
            body(&["--at", "2027-01-31T09:00:00Z", "--event", "{\"description\":\"It ends.\"}"]),
            json!({
                "at": "2027-01-31T09:00:00Z", "deliver": { "to": "timeline", "event": { "description": "It ends." } },
            })
        );
        let line = ["add", "--at", "2027-01-31T09:00:00Z", "--event", "{}", "--queue", "billing"];
        assert!(Line::try_parse_from(line).unwrap_err().to_string().contains("--queue"));
    }

    #[test]
    fn a_webhook_has_its_secret_from_a_file() {
        let line = ["add", "--at", "2027-01-31T09:00:00Z", "--webhook", "https://hooks.example.com/in"];
        let parsed = Line::try_parse_from(line).unwrap();
        let deliver = parsed.add.body(Map::new(), Some("whsec_x".to_owned()))["deliver"].clone();
        assert_eq!(deliver, json!({ "to": "webhook", "url": "https://hooks.example.com/in", "secret": "whsec_x" }));
        assert_eq!(body(&line[1..])["deliver"], json!({ "to": "webhook", "url": "https://hooks.example.com/in" }));
        for wrong in [&[&line[..], &["--queue", "q"]].concat(), &["add", "--at", "x", "--webhook-secret-file", "f"][..]]
        {
            assert!(Line::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "whsec_x\n").unwrap();
        assert_eq!(secret_in(file.path()).unwrap(), "whsec_x");
        assert!(secret_in(Path::new("/no/such/file")).unwrap_err().to_string().contains("cannot be read"));
    }

    #[test]
    fn a_timer_is_shown_with_its_firings() {
        let answer = json!({
            "status": "One firing.",
            "timer": { "timer_id": "t", "state": "armed", "next": "2027-02-28T08:00:00Z", "payload": { "invoice": 42 },
                "every": { "rule": "FREQ=MONTHLY", "zone": "Europe/Paris" }, "deliver": { "to": "queue", "queue": "q" } },
            "firings": [{ "firing_id": "firing_1", "due": "2027-01-31T08:00:00Z", "state": "failed", "reason": "busy" }],
        });
        assert_eq!(
            timer_text(&answer),
            "One firing.\n\
             timer      t\n\
             state      armed\n\
             next       2027-02-28T08:00:00Z\n\
             rule       FREQ=MONTHLY\n\
             zone       Europe/Paris\n\
             queue      q\n\
             payload    {\"invoice\":42}\n\
             \n\
             DUE                   STATE   FIRING    REASON\n\
             2027-01-31T08:00:00Z  failed  firing_1  busy\n"
        );
    }

    #[test]
    fn payloads_are_json() {
        assert_eq!(json("\"a\""), Ok(json!("a")));
        assert!(json("a").unwrap_err().contains("with its quotes"));
    }
}
