mod listen;
mod setting;
mod watch;

use serde_json::Value;

use super::arguments::{extend, insert};
use super::pages::{page_text, show_pages, show_pages_as};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;
use setting::{AddCommand, ChangeCommand};

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
    columns: &[],
};

const FIRINGS: Records = Records {
    member: "firings",
    fields: &["firing_id", "timer_id", "due", "round", "queue", "event_id", "state", "reason"],
    columns: &[
        ("DUE", "due"),
        ("TIMER", "timer_id"),
        ("QUEUE", "queue"),
        ("STATE", "state"),
        ("FIRING", "firing_id"),
        ("REASON", "reason"),
    ],
};

/// Sets timers on virtual time, and processes their firings.
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
    /// Sets a timer: once, by an iCalendar rule, or by a cron expression.
    #[command(group(clap::ArgGroup::new("when").args(["at", "every", "cron"]).required(true)))]
    Add(Box<AddCommand>),
    /// Changes an armed timer: its schedule, delivery or payload. Earlier firings stay.
    #[command(group(clap::ArgGroup::new("when").args(["at", "every", "cron"])))]
    Change(Box<ChangeCommand>),
    /// Previews the moments of a rule, without setting a timer.
    #[command(group(clap::ArgGroup::new("when").args(["every", "cron"]).required(true)))]
    Preview {
        /// An iCalendar rule, such as FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD.
        #[arg(long, value_name = "RULE")]
        every: Option<String>,
        /// A cron expression with five fields, such as '30 9 * * MON-FRI'.
        #[arg(long, value_name = "EXPRESSION")]
        cron: Option<String>,
        /// The start of the rule, such as `2027-01-31T09:00:00[Europe/Paris]`. Defaults to the clock's current time.
        #[arg(long, value_name = "TIME", requires = "every", allow_hyphen_values = true)]
        starts: Option<String>,
        /// The time zone of the rule or expression. Defaults to the zone in `--starts`, or to UTC.
        #[arg(long)]
        zone: Option<String>,
        /// Only moments after this time. Defaults to the clock's current time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        after: Option<String>,
        /// The maximum number of moments.
        #[arg(long, value_name = "NUMBER", default_value_t = 10)]
        limit: u32,
    },
    /// Lists the timers of the timeline, next due first.
    List {
        /// The state. Defaults to `armed`.
        #[arg(long, value_parser = ["armed", "done", "cancelled"])]
        state: Option<String>,
        /// The maximum number of timers, or per page with `--all`.
        #[arg(long, value_name = "NUMBER")]
        limit: Option<u32>,
        /// Show all pages.
        #[arg(long)]
        all: bool,
    },
    /// Shows a timer and the outcomes of its firings.
    Show {
        /// The timer id, from `add` or `list`.
        timer_id: String,
    },
    /// Lists firings by due time. All filters must match.
    Firings {
        /// The timer id.
        timer_id: Option<String>,
        /// The advance id, from a receipt.
        #[arg(long, value_name = "ADVANCE_ID")]
        advance: Option<String>,
        /// The state.
        #[arg(long, value_parser = ["pending", "acknowledged", "failed", "superseded"])]
        state: Option<String>,
        /// The queue.
        #[arg(long)]
        queue: Option<String>,
        /// The maximum number of firings, or per page with `--all`.
        #[arg(long, value_name = "NUMBER")]
        limit: Option<u32>,
        /// Show all pages.
        #[arg(long)]
        all: bool,
    },
    /// Cancels a timer. Moments that are already due still fire.
    Cancel {
        /// The timer id, from `add` or `list`.
        timer_id: String,
    },
    /// Redelivers a failed firing, as a new pending firing of the same moment.
    Redeliver {
        /// The firing id, from `show` or a receipt.
        firing_id: String,
    },
    /// Holds an advance at its current moment until you release the hold or it expires.
    ///
    /// After ten minutes at one moment, the advance stops and reports the holder and the reason.
    Hold {
        /// The reason, shown to requests that wait for the clock.
        reason: String,
        /// How long, in host time, such as 2m.
        #[arg(long = "for", value_name = "DURATION", default_value = "30s")]
        ttl: String,
        /// Extend this hold of yours instead of creating one.
        #[arg(long, value_name = "HOLD_ID")]
        hold: Option<String>,
    },
    /// Lists the holds on the clock.
    Holds,
    /// Releases a hold of yours.
    Release {
        /// The hold id, from `hold` or `holds`.
        hold_id: String,
    },
    /// Claims the firings of a queue, shows them, and can forward them to your program, until Ctrl-C.
    ///
    /// Without `--forward`, firings are acknowledged when shown. With it, each is sent as a POST: a status from 200 to
    /// 299 acknowledges it, anything else is a failed attempt. Requests have headers such as Timenav-Time, and are
    /// signed as in Standard Webhooks, with the secret that `--print-secret` prints. Ctrl-C returns unfinished firings to
    /// the queue. With `--json`, each firing is a line.
    Listen(listen::ListenOptions),
    /// Shows firings as they are offered, claimed and settled, until Ctrl-C. Claims none.
    ///
    /// With `--json`, each message is a line. `gap` means that claims in between are not shown.
    Watch(watch::WatchOptions),
}

pub(crate) fn run(command: TimerCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut query = command.timeline.query();
    match command.action {
        Action::Add(add) => {
            let create = add.create;
            let body = Value::Object(add.body(command.timeline.body())?).to_string();
            client.show(&client.write(&["v1", "timers"], &[], &body, create)?, timer_text)
        }
        Action::Change(change) => {
            let timer_id = change.timer_id.clone();
            let body = change.body(command.timeline.body())?;
            client.show(&client.patch(&["v1", "timers", &timer_id], body)?, timer_text)
        }
        Action::Firings { timer_id, advance, state, queue, limit, all } => {
            let limit = limit.map(|limit| limit.to_string());
            let filters = [("timer_id", timer_id), ("advance_id", advance), ("state", state), ("queue", queue)];
            extend(&mut query, filters.into_iter().chain([("limit", limit)]));
            show_pages(&client, &["v1", "firings"], query, all, &FIRINGS)
        }
        Action::Preview { every, cron, starts, zone, after, limit } => {
            extend(&mut query, [("rule", every.or(cron)), ("starts", starts), ("zone", zone), ("after", after)]);
            query.push(("limit", limit.to_string()));
            client.show(&client.get(&["v1", "timer-preview"], &query)?, moments_text)
        }
        Action::List { state, limit, all } => {
            extend(&mut query, [("state", state), ("limit", limit.map(|limit| limit.to_string()))]);
            show_pages_as(&client, &["v1", "timers"], query, (all, &TIMERS), list_text)
        }
        Action::Show { timer_id } => client.show(&client.get(&["v1", "timers", &timer_id], &query)?, timer_text),
        Action::Cancel { timer_id } => {
            client.show(&client.delete(&["v1", "timers", &timer_id], &query)?, output::status)
        }
        Action::Redeliver { firing_id } => {
            let answer = client.post(&["v1", "firings", &firing_id, "redeliver"], command.timeline.body())?;
            client.show(&answer, redelivered_text)
        }
        Action::Hold { reason, ttl, hold } => {
            let mut body = command.timeline.body();
            insert(&mut body, "reason", Some(reason));
            insert(&mut body, "ttl", Some(ttl));
            insert(&mut body, "hold_id", hold);
            let layout = [("hold", "hold/hold_id"), ("until", "hold/expires_at")];
            client.show(&client.post(&["v1", "holds"], body)?, |answer| output::fields(answer, &layout))
        }
        Action::Holds => {
            let columns = [("HOLD", "hold_id"), ("OWNER", "owner"), ("UNTIL", "expires_at"), ("REASON", "reason")];
            let layout = |answer: &Value| page_text(answer, "holds", &columns, true);
            client.show(&client.get(&["v1", "holds"], &query)?, layout)
        }
        Action::Release { hold_id } => {
            let answer = client.post(&["v1", "holds", &hold_id, "release"], command.timeline.body())?;
            client.show(&answer, output::status)
        }
        Action::Listen(options) => listen::run(&client, &command.timeline, options),
        Action::Watch(options) => watch::run(&client, query, options),
    }
}

fn redelivered_text(answer: &Value) -> String {
    output::fields(answer, &[("firing", "firings/0/firing_id"), ("state", "firings/0/state")])
}

fn moments_text(answer: &Value) -> String {
    let moments = answer["moments"].as_array().into_iter().flatten().filter_map(Value::as_str);
    moments.fold(output::status(answer), |text, moment| text + moment + "\n")
}

fn timer_text(answer: &Value) -> String {
    let layout = [
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
        ("skipped", "skipped/count"),
        ("skipped from", "skipped/from"),
        ("skipped to", "skipped/to"),
    ];
    let mut answer = answer.clone();
    if let Some(event) = answer.pointer_mut("/timer/deliver/event").and_then(Value::as_object_mut) {
        event.retain(|_, value| *value != "");
    }
    let mut text = output::status(&answer) + &output::fields(&answer, &layout);
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
    use serde_json::json;

    use super::*;

    #[test]
    fn timer_list_shows_delivery_targets() {
        let timer = |deliver: Value| json!({ "timer_id": "t", "next": "n", "state": "armed", "deliver": deliver });
        let page = json!({ "timers": [
            timer(json!({ "to": "queue", "queue": "billing", "url": null })),
            timer(json!({ "to": "webhook", "queue": null, "url": "https://hooks.example.com/" })),
            timer(json!({ "to": "timeline", "event": {} })),
        ] });
        let problem_json = list_text(&page, true);
        let last: Vec<&str> = problem_json.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(last, ["TO", "billing", "https://hooks.example.com/", "timeline"], "{problem_json}");
    }

    #[test]
    fn empty_texts_of_a_recorded_event_are_omitted() {
        let event = json!({ "description": "", "name": "Renewal" });
        let answer = json!({ "timer": { "timer_id": "t", "deliver": { "to": "timeline", "event": event } } });
        assert_eq!(timer_text(&answer), "timer         t\nrecords       {\"name\":\"Renewal\"}\n");
    }

    #[test]
    fn timer_is_shown_with_its_firings() {
        let answer = json!({
            "status": "One firing.",
            "timer": { "timer_id": "t", "state": "armed", "next": "2027-02-28T08:00:00Z", "payload": { "invoice": 42 },
                "every": { "rule": "FREQ=MONTHLY", "zone": "Europe/Paris" }, "deliver": { "to": "queue", "queue": "q" } },
            "firings": [{ "firing_id": "firing_1", "due": "2027-01-31T08:00:00Z", "state": "failed", "reason": "busy" }],
        });
        assert_eq!(
            timer_text(&answer),
            "One firing.\n\
             timer         t\n\
             state         armed\n\
             next          2027-02-28T08:00:00Z\n\
             rule          FREQ=MONTHLY\n\
             zone          Europe/Paris\n\
             queue         q\n\
             payload       {\"invoice\":42}\n\
             \n\
             DUE                   STATE   FIRING    REASON\n\
             2027-01-31T08:00:00Z  failed  firing_1  busy\n"
        );
    }
}
