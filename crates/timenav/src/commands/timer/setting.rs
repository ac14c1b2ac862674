use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use crate::client::CreateOption;
use crate::commands::arguments::insert;
use crate::commands::events::keeps_integers;

/// A timer to set.
#[derive(Debug, clap::Args)]
pub(super) struct AddCommand {
    /// The timer id. Defaults to a generated id.
    #[arg(long, value_name = "TIMER_ID")]
    id: Option<String>,
    #[command(flatten)]
    plan: PlanOptions,
    /// Also fire for moments of the rule that have already passed.
    #[arg(long, conflicts_with = "at")]
    catch_up: bool,
    #[command(flatten)]
    pub(super) create: CreateOption,
}

/// A timer to change.
#[derive(Debug, clap::Args)]
pub(super) struct ChangeCommand {
    /// The timer id, from `add` or `list`.
    pub(super) timer_id: String,
    #[command(flatten)]
    plan: PlanOptions,
    /// Remove the order key.
    #[arg(long, conflicts_with = "order_key")]
    no_order_key: bool,
}

/// When a timer fires, where its firings go, and what they hand over.
#[derive(Debug, clap::Args)]
struct PlanOptions {
    /// Fire once, at this time: RFC 3339 with a zone, such as 2027-01-31T09:00:00Z.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,
    /// Fire repeatedly, by an iCalendar rule such as FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD.
    #[arg(long, value_name = "RULE")]
    every: Option<String>,
    /// Fire repeatedly, by a cron expression with five fields, such as '30 9 * * MON-FRI'.
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// The start of the rule, such as `2027-01-31T09:00:00[Europe/Paris]`. Defaults to the clock's current time.
    #[arg(long, value_name = "TIME", requires = "every", allow_hyphen_values = true)]
    starts: Option<String>,
    /// The time zone of the rule or expression. Defaults to the zone in `--starts`, or to UTC.
    #[arg(long, conflicts_with = "at")]
    zone: Option<String>,
    /// The queue for the firings. Defaults to `default` for a new timer.
    #[arg(long)]
    queue: Option<String>,
    /// The event to record at each firing, in JSON: '{"description": "The trial ends."}'.
    #[arg(long, value_name = "JSON", value_parser = json, conflicts_with_all = ["queue", "payload", "order_key"])]
    event: Option<Value>,
    /// The URL to POST each firing to. The operator must allow the host.
    #[arg(long, value_name = "URL", conflicts_with_all = ["queue", "event"])]
    webhook: Option<String>,
    /// A file with the secret that signs these requests, `whsec_` and base64. By default they are not signed.
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_secret_file: Option<PathBuf>,
    /// The payload for the listener, in JSON.
    #[arg(long, value_name = "JSON", value_parser = json)]
    payload: Option<Value>,
    /// Firings with the same key are delivered one at a time.
    #[arg(long, value_name = "KEY")]
    order_key: Option<String>,
    /// What to fire if several moments have passed: `all`, only the last (`once`), or none (`skip`).
    #[arg(long, value_parser = ["all", "once", "skip"], conflicts_with = "at")]
    misfire: Option<String>,
}

impl AddCommand {
    pub(super) fn body(self, mut body: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
        insert(&mut body, "timer_id", self.id);
        insert(&mut body, "catch_up", self.catch_up.then_some(true));
        self.plan.body(body)
    }
}

impl ChangeCommand {
    pub(super) fn body(self, body: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
        let mut body = self.plan.body(body)?;
        insert(&mut body, "order_key", self.no_order_key.then_some(Value::Null));
        Ok(body)
    }
}

impl PlanOptions {
    fn body(self, mut body: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
        let object = |members: Vec<(&str, Option<String>)>| {
            let mut object = Map::new();
            for (name, value) in members {
                insert(&mut object, name, value);
            }
            Value::Object(object)
        };
        let secret = self.webhook_secret_file.as_deref().map(secret_in).transpose()?;
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
        Ok(body)
    }
}

fn secret_in(path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(text.trim().to_owned())
}

fn json(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text)
        .map_err(|error| format!("it is not JSON ({error}); write a string with its quotes"))?;
    keeps_integers(text)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        add: AddCommand,
    }

    #[derive(Debug, Parser)]
    struct ChangeLine {
        #[command(flatten)]
        change: ChangeCommand,
    }

    fn body(arguments: &[&str]) -> Value {
        let line = Line::try_parse_from([&["add"], arguments].concat()).unwrap();
        Value::Object(line.add.body(Map::new()).unwrap())
    }

    #[test]
    fn timer_flags_are_sent_as_api_fields() {
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
    fn event_timer_conflicts_with_a_queue() {
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
    fn webhook_secret_is_read_from_a_file() {
        let line = ["add", "--at", "2027-01-31T09:00:00Z", "--webhook", "https://hooks.example.com/in"];
        assert_eq!(body(&line[1..])["deliver"], json!({ "to": "webhook", "url": "https://hooks.example.com/in" }));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "whsec_x\n").unwrap();
        let path = file.path().to_str().unwrap();
        let deliver = body(&[&line[1..], &["--webhook-secret-file", path]].concat())["deliver"].clone();
        assert_eq!(deliver, json!({ "to": "webhook", "url": "https://hooks.example.com/in", "secret": "whsec_x" }));
        for wrong in [&[&line[..], &["--queue", "q"]].concat(), &["add", "--at", "x", "--webhook-secret-file", "f"][..]]
        {
            assert!(Line::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
        assert!(secret_in(Path::new("/no/such/file")).unwrap_err().to_string().contains("cannot be read"));
    }

    #[test]
    fn timer_payload_must_be_json() {
        assert_eq!(json("\"a\""), Ok(json!("a")));
        assert!(json("a").unwrap_err().contains("with its quotes"));
    }

    #[test]
    fn only_given_timer_fields_are_changed() {
        let body = |arguments: &[&str]| {
            let line = ChangeLine::try_parse_from([&["change", "renew-42"], arguments].concat()).unwrap();
            assert_eq!(line.change.timer_id, "renew-42");
            Value::Object(line.change.body(Map::new()).unwrap())
        };
        assert_eq!(body(&["--at", "2027-02-28T09:00:00Z"]), json!({ "at": "2027-02-28T09:00:00Z" }));
        assert_eq!(
            body(&["--cron", "0 9 * * 1", "--zone", "Europe/Paris", "--misfire", "once"]),
            json!({ "cron": { "expression": "0 9 * * 1", "zone": "Europe/Paris" }, "misfire": "once" })
        );
        assert_eq!(
            body(&["--queue", "billing", "--payload", "null", "--order-key", "k"]),
            json!({ "deliver": { "to": "queue", "queue": "billing" }, "payload": null, "order_key": "k" })
        );
        assert_eq!(body(&["--misfire", "skip", "--no-order-key"]), json!({ "misfire": "skip", "order_key": null }));
        assert_eq!(body(&[]), json!({}));
        let both = ["change", "renew-42", "--order-key", "k", "--no-order-key"];
        assert!(ChangeLine::try_parse_from(both).is_err(), "one or the other");
    }
}
