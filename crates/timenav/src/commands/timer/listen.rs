use std::time::Duration;

use reqwest::Url;
use serde_json::{Map, Value, json};
use timenav_core::time::Instant;
use timenav_engine::WallClock as _;
use tokio::task::JoinSet;

use crate::background::webhooks::standard_webhooks;
use crate::background::webhooks::standard_webhooks::{Signer, cause};
use crate::client::{Client, Interrupt, TimelineOptions, built, is_this_machine, service_url};
use crate::exit::Failure;
use crate::output::{self, member};
use crate::wiring::ports::{HostClock, OsEntropy};

/// Wait of a claim. The service allows up to a minute.
const CLAIM_WAIT: &str = "20s";
const FIRINGS_AT_ONCE_MAX: u32 = 16;
/// Lease of a firing while it is forwarded, in host time.
const ACK_TIMEOUT: &str = "30s";
/// Timeout of a forward: shorter than the lease.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(25);
/// Initial and maximum wait before reconnecting to the service.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
const LOST: &str = "lost to another listener";
const STOPPED: &str = "the listener was stopped";

#[derive(Debug, clap::Args)]
pub(super) struct ListenOptions {
    /// The queue.
    #[arg(long, default_value = "default")]
    queue: String,
    /// The URL to forward firings to, such as `http://localhost:3000/hooks`.
    #[arg(long, visible_alias = "forward-to", value_name = "URL", value_parser = service_url)]
    forward: Option<Url>,
    /// Print the secret that signs forwarded requests, to stderr. It is new at each start.
    #[arg(long, requires = "forward")]
    print_secret: bool,
}

struct Outcome {
    firing: Value,
    failed: Option<String>,
    /// The HTTP status of the program.
    http_status: Option<u16>,
}

struct Forward {
    http: reqwest::Client,
    url: Url,
    signer: Signer,
    clock: HostClock,
}

/// Claims firings until Ctrl-C.
pub(super) fn run(client: &Client, timeline: &TimelineOptions, options: ListenOptions) -> Result<(), Failure> {
    client.expect_lines()?;
    let forward = options.forward.map(Forward::new).transpose()?;
    let mut interrupt = client.interrupt()?;
    let mut claim = timeline.body();
    claim.insert("max".to_owned(), FIRINGS_AT_ONCE_MAX.into());
    claim.insert("wait".to_owned(), CLAIM_WAIT.into());
    claim.insert("ack_timeout".to_owned(), ACK_TIMEOUT.into());
    let claim = Value::Object(claim);
    output::note(&format!("listening to the queue {}; Ctrl-C ends it", options.queue));
    if let Some(forward) = &forward {
        output::note(&forward.description(options.print_secret));
    }
    let mut is_known = false;
    let mut patience = AGAIN.0;
    loop {
        let claimed = match client.post_unless(&mut interrupt, &["v1", "queues", &options.queue, "claim"], &claim) {
            Ok(claimed) => claimed,
            Err(Failure::Unreachable { service, detail, .. }) if is_known => {
                output::note(&format!("lost the service {service} ({detail}); retrying"));
                if client.is_interrupted_within(&mut interrupt, patience) {
                    return Ok(());
                }
                patience = AGAIN.1.min(patience * 2);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        (is_known, patience) = (true, AGAIN.0);
        // Closing the connection cancels the pending claim.
        let Some(claimed) = claimed else { return Ok(()) };
        let firings = claimed.value["firings"].as_array().cloned().unwrap_or_default();
        if firings.is_empty() {
            continue;
        }
        let (outcomes, is_interrupted) = match &forward {
            None => (firings.into_iter().map(Outcome::done).collect(), false),
            Some(forward) => forward.all(client, &mut interrupt, firings),
        };
        settle(client, timeline, &outcomes)?;
        if is_interrupted {
            return Ok(());
        }
    }
}

fn settle(client: &Client, timeline: &TimelineOptions, outcomes: &[Outcome]) -> Result<(), Failure> {
    let (failed, done): (Vec<&Outcome>, Vec<&Outcome>) = outcomes.iter().partition(|outcome| outcome.failed.is_some());
    let mut states = Map::new();
    let mut tell = |path: &str, mut body: Map<String, Value>, outcomes: &[&Outcome]| -> Result<bool, Failure> {
        body.extend(named(outcomes));
        let answer = match client.post(&["v1", "firings", path], body) {
            Err(Failure::Problem(problem)) if problem.is_lease_lost() => return Ok(false),
            answer => answer?,
        };
        for firing in answer.value["firings"].as_array().into_iter().flatten() {
            states.insert(member(firing, "firing_id"), firing["state"].clone());
        }
        Ok(true)
    };
    if !done.is_empty() && !tell("ack", timeline.body(), &done)? {
        // Another listener has claimed some of them since. The others are acknowledged one by one.
        for outcome in done {
            tell("ack", timeline.body(), &[outcome])?;
        }
    }
    for outcome in failed {
        let mut body = timeline.body();
        body.insert("reason".to_owned(), outcome.failed.clone().into());
        tell("fail", body, &[outcome])?;
    }
    for outcome in outcomes {
        let lost = LOST.into();
        let state = states.get(&member(&outcome.firing, "firing_id")).unwrap_or(&lost);
        output::write(&if client.format().is_json() { outcome.json(state) } else { outcome.line(state) })?;
    }
    Ok(())
}

fn named(outcomes: &[&Outcome]) -> Map<String, Value> {
    let all = |name: &str| -> Vec<Value> {
        let values = outcomes.iter().map(|outcome| outcome.firing[name].clone());
        values.filter(|id| !id.is_null()).collect()
    };
    let (firing_ids, mut lease_ids) = (all("firing_id"), all("lease_id"));
    // All come from one claim.
    lease_ids.dedup();
    let mut named = Map::from_iter([("firing_ids".to_owned(), firing_ids.into())]);
    // Earlier versions of the service return no lease.
    if !lease_ids.is_empty() {
        named.insert("lease_ids".to_owned(), lease_ids.into());
    }
    named
}

impl Outcome {
    const fn done(firing: Value) -> Self {
        Self { firing, failed: None, http_status: None }
    }

    fn json(&self, state: &Value) -> String {
        let mut line = json!({ "firing": self.firing, "state": state });
        if let Some(status) = self.http_status {
            line["http_status"] = status.into();
        }
        if let Some(reason) = &self.failed {
            line["reason"] = reason.as_str().into();
        }
        format!("{line}\n")
    }

    fn line(&self, state: &Value) -> String {
        let text_of = |path| member(&self.firing, path);
        let mut line = format!("{}  {}  {}", text_of("due"), text_of("timer_id"), text_of("firing_id"));
        if self.http_status.is_none() && self.failed.is_none() && !self.firing["payload"].is_null() {
            line.extend(["  ", &text_of("payload")]);
        }
        if let Some(status) = self.http_status {
            line.extend(["  -> ", &status.to_string()]);
        }
        let state = state.as_str().unwrap_or("unknown");
        line.extend([
            "  ",
            if self.failed.is_some() && state == "pending" { "failed, will be retried" } else { state },
        ]);
        if let Some(reason) = &self.failed {
            line.extend([": ", reason]);
        }
        output::printable(&line) + "\n"
    }
}

impl Forward {
    fn new(url: Url) -> Result<Self, Failure> {
        // Without the API key, which the program must not see.
        let http = built(&url, || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
                .timeout(FORWARD_TIMEOUT)
                .redirect(reqwest::redirect::Policy::none());
            if is_this_machine(&url) { builder.no_proxy() } else { builder }
        })?;
        Ok(Self { http, url, signer: Signer::new(&OsEntropy), clock: HostClock::start() })
    }

    /// Standard error often ends in a log, so the secret is shown only on request.
    fn description(&self, with_secret: bool) -> String {
        let secret = if with_secret { self.signer.secret() } else { "that --print-secret prints".to_owned() };
        format!("forwarding firings to {}, signed with the secret {secret}", self.url)
    }

    /// Forwards firings concurrently. Returns the results and whether Ctrl-C was pressed.
    fn all(&self, client: &Client, interrupt: &mut Interrupt, firings: Vec<Value>) -> (Vec<Outcome>, bool) {
        let mut outcomes: Vec<Outcome> = firings
            .into_iter()
            .map(|firing| Outcome { failed: Some(STOPPED.to_owned()), ..Outcome::done(firing) })
            .collect();
        let requests: Vec<_> = outcomes.iter().map(|outcome| self.request(&outcome.firing)).collect();
        let is_done = client.unless(interrupt, async {
            let mut sent = JoinSet::new();
            for (index, request) in requests.into_iter().enumerate() {
                sent.spawn(async move { (index, request.send().await.map(|response| response.status())) });
            }
            while let Some(Ok((index, answer))) = sent.join_next().await {
                let outcome = &mut outcomes[index];
                (outcome.http_status, outcome.failed) = match answer {
                    Ok(status) if status.is_success() => (Some(status.as_u16()), None),
                    Ok(status) => {
                        let status = status.as_u16();
                        (Some(status), Some(format!("the program responded with {status}")))
                    }
                    Err(error) => (None, Some(format!("the program did not respond: {}", cause(&error)))),
                };
            }
        });
        (outcomes, is_done.is_none())
    }

    fn request(&self, firing: &Value) -> reqwest::RequestBuilder {
        let now = self.clock.now().since(Instant::EPOCH).micros() / 1_000_000;
        standard_webhooks::request(&self.http, self.url.clone(), Some(&self.signer), firing, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing() -> Value {
        json!({ "firing_id": "firing_1", "timer_id": "t", "due": "2027-01-31T09:00:00Z", "payload": { "invoice": 42 },
            "leased_until": "2026-01-01T00:00:00Z", "generation": 4, "step": 3, "timeline_id": "main" })
    }

    #[test]
    fn each_firing_outcome_is_one_line() {
        let check = |outcome: Outcome, state: &str, expected: &str| assert_eq!(outcome.line(&state.into()), expected);
        let start = "2027-01-31T09:00:00Z  t  firing_1";
        check(Outcome::done(firing()), "acknowledged", &format!("{start}  {{\"invoice\":42}}  acknowledged\n"));
        let answered = |status: u16, failed: Option<&str>| Outcome {
            firing: firing(),
            failed: failed.map(str::to_owned),
            http_status: Some(status),
        };
        check(answered(204, None), "acknowledged", &format!("{start}  -> 204  acknowledged\n"));
        check(answered(500, Some("busy")), "pending", &format!("{start}  -> 500  failed, will be retried: busy\n"));
        check(answered(500, Some("busy")), "failed", &format!("{start}  -> 500  failed: busy\n"));
    }

    #[test]
    fn firings_are_settled_with_their_lease_ids() {
        let of = |lease_id: Value| {
            let mut firing = firing();
            firing["lease_id"] = lease_id;
            Outcome::done(firing)
        };
        let (one, other) = (of("lease_1".into()), of("lease_1".into()));
        let expected = json!({ "firing_ids": ["firing_1", "firing_1"], "lease_ids": ["lease_1"] });
        assert_eq!(Value::Object(named(&[&one, &other])), expected);
        assert_eq!(Value::Object(named(&[&of(Value::Null)])), json!({ "firing_ids": ["firing_1"] }));
    }

    #[test]
    fn signing_secret_is_printed_only_on_request() {
        let forward = Forward::new(Url::parse("http://127.0.0.1:9/hooks").unwrap()).unwrap();
        let start = "forwarding firings to http://127.0.0.1:9/hooks, signed with the secret ";
        assert_eq!(forward.description(true), format!("{start}{}", forward.signer.secret()));
        assert_eq!(forward.description(false), format!("{start}that --print-secret prints"));
    }

    #[test]
    fn forwarded_request_has_firing_and_clock_headers() {
        let forward = Forward::new(Url::parse("http://127.0.0.1:9/hooks").unwrap()).unwrap();
        let request = forward.request(&firing()).build().unwrap();
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        for (name, expected) in [
            ("webhook-id", "firing_1"),
            ("timenav-firing", "firing_1"),
            ("timenav-timeline", "main"),
            ("timenav-time", "2027-01-31T09:00:00Z"),
            ("timenav-generation", "4"),
            ("timenav-step", "3"),
        ] {
            assert_eq!(header(name), expected, "{name}");
        }
        let body = std::str::from_utf8(request.body().unwrap().as_bytes().unwrap()).unwrap();
        let timestamp = header("webhook-timestamp").parse().unwrap();
        assert_eq!(header("webhook-signature"), forward.signer.sign("firing_1", timestamp, body));
        let sent: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&sent["type"], &sent["data"]["payload"]["invoice"]), (&json!("timer.fired"), &json!(42)));
        assert!(sent["data"]["leased_until"].is_null());
        assert!(!request.headers().contains_key("authorization"));
    }
}
