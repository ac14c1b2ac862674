use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};
use timenav_core::ids::TimelineId;
use timenav_core::limits::{WEBHOOK_SECONDS_MAX, WEBHOOKS_PER_HOST_MAX};
use timenav_core::time::Instant;
use timenav_engine::{ClaimedFiring, Engine, Refusal, Webhook};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::gate::Gate;
use super::resolver::Resolver;
use crate::background::webhooks::standard_webhooks;
use crate::background::webhooks::standard_webhooks::{Signer, cause};
use crate::config::WebhookTo;
use crate::traces::{KeyValue, Spans};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(WEBHOOK_SECONDS_MAX);
/// Interval at which the lease is renewed while a firing waits for its host; the lease is longer.
const RENEW_EVERY: Duration = Duration::from_secs(10);

pub(super) enum Attempt {
    Taken,
    /// The lease was lost while the firing waited.
    Lost,
    /// The request failed and may succeed later.
    Refused(String),
    /// The request will never succeed.
    Hopeless(String),
}

/// Address policy, and CA certificates in addition to those of this machine.
#[derive(Default)]
pub(super) struct Trusted {
    pub(super) allows_private: bool,
    pub(super) authorities: Vec<Certificate>,
}

pub(super) struct Sender {
    gate: Arc<Gate>,
    http: Client,
    answer_time: Duration,
    spans: Spans,
    /// Remaining concurrent requests per host, for all ports: one machine serves them all.
    hosts: HashMap<String, Semaphore>,
}

impl Sender {
    pub(super) fn new(gate: Arc<Gate>, trusted: &Trusted, spans: Spans) -> anyhow::Result<Self> {
        Ok(Self { spans, ..Self::patient(gate, trusted, ANSWER_TIME_MAX)? })
    }

    /// Like [`Sender::new`], with a different timeout.
    fn patient(gate: Arc<Gate>, trusted: &Trusted, answer_time: Duration) -> anyhow::Result<Self> {
        let authorities = || trusted.authorities.iter().cloned();
        let builder = || builder(trusted.allows_private).timeout(answer_time);
        let http = match builder().tls_certs_merge(authorities()).build() {
            // A machine without CA certificates needs none for plain HTTP, or if the operator provides them.
            Err(_) if !trusted.authorities.is_empty() || gate.allowed().iter().all(WebhookTo::is_plain) => {
                builder().tls_certs_only(authorities()).build()?
            }
            built => built.map_err(|error| {
                anyhow::Error::new(error).context(
                    "webhook certificates cannot be verified: install CA certificates (on Debian, the package \
                     ca-certificates), or give your own with --webhook-ca",
                )
            })?,
        };
        let room = |to: &WebhookTo| (to.host().0.to_owned(), Semaphore::new(WEBHOOKS_PER_HOST_MAX));
        let hosts = gate.allowed().iter().map(room).collect();
        Ok(Self { gate, http, answer_time, spans: Spans::default(), hosts })
    }

    /// Sends a firing when it is its turn. Fails if the store is unavailable.
    pub(super) async fn attempt(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        claimed: ClaimedFiring,
    ) -> Result<Attempt, Refusal> {
        let Some(sealed_for) = engine.webhook_sealed_for(timeline, &claimed) else {
            let reason = "timers from before an adoption or a fork send no webhooks, unless the timeline was created \
                          with `deliver_webhooks`; set another timer";
            return Ok(Attempt::Hopeless(reason.to_owned()));
        };
        let (url, to, signer) = match self.target(&sealed_for, claimed.webhook.as_ref()) {
            Ok(target) => target,
            Err(reason) => return Ok(Attempt::Hopeless(reason)),
        };
        let Some(_turn) = self.turn(engine, timeline, &claimed, &to).await? else { return Ok(Attempt::Lost) };
        // Checked as late as possible: the firing may have waited long.
        if let Some(reason) = engine.webhook_stopped(timeline, &claimed).await? {
            return Ok(Attempt::Hopeless(reason.to_owned()));
        }
        let seconds = engine.now().since(Instant::EPOCH).micros() / 1_000_000;
        let firing = message_of(timeline, &claimed);
        let mut request = standard_webhooks::request(&self.http, url, signer.as_ref(), &firing, seconds);
        let begun = self.spans.begin(engine.now());
        if let Some(parent) = begun.traceparent() {
            request = request.header("traceparent", parent);
        }
        let (attempt, status) = self.ask(&to, request).await;
        let attributes = || attributes(timeline, &claimed, &to, status);
        begun.sent("POST", attributes, engine.now(), !matches!(attempt, Attempt::Taken));
        Ok(attempt)
    }

    async fn ask(&self, to: &WebhookTo, request: RequestBuilder) -> (Attempt, Option<StatusCode>) {
        let refused = match request.send().await {
            // The body is not read: it could be endless.
            Ok(answer) => return (attempt_of(to, answer.status()), Some(answer.status())),
            Err(error) if error.is_timeout() => {
                format!("{to} did not respond in {} seconds", self.answer_time.as_secs())
            }
            Err(error) => format!("{to} did not respond: {}", cause(&error)),
        };
        (Attempt::Refused(refused), None)
    }

    /// Returns the target of a firing and its signer, or the reason why it cannot be sent.
    fn target(
        &self,
        sealed_for: &[TimelineId],
        webhook: Option<&Webhook>,
    ) -> Result<(Url, WebhookTo, Option<Signer>), String> {
        let Webhook { url, sealed } = webhook.ok_or("its timer no longer sends webhooks")?;
        let (url, to) = self.gate.open(url)?;
        let signer = match sealed {
            None => None,
            Some(sealed) => {
                let lost = "its secret was sealed under another signing key: change the timer to set the secret again \
                            while it is armed, or set another timer";
                Some(Signer::of(sealed_for.iter().find_map(|name| self.gate.secret(name, sealed)).ok_or(lost)?))
            }
        };
        Ok((url, to, signer))
    }

    fn room(&self, to: &WebhookTo) -> Option<&Semaphore> {
        self.hosts.get(to.host().0)
    }

    /// Waits for a free request slot of a host and renews the lease meanwhile. `None` if the lease was lost.
    async fn turn(
        &self,
        engine: &Engine,
        timeline: &TimelineId,
        claimed: &ClaimedFiring,
        to: &WebhookTo,
    ) -> Result<Option<SemaphorePermit<'_>>, Refusal> {
        let Some(host) = self.room(to) else { return Ok(None) };
        let mut turn = pin!(host.acquire());
        loop {
            let acquired = timeout(RENEW_EVERY, &mut turn).await;
            // From here on the lease is longer than the request may take.
            if !engine.renew_webhook(timeline, (&claimed.firing.firing_id, &claimed.lease_id)).await? {
                return Ok(None);
            }
            if let Ok(acquired) = acquired {
                return Ok(acquired.ok());
            }
        }
    }
}

/// Returns the client builder. Without a proxy, which would resolve names itself.
fn builder(allows_private: bool) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .dns_resolver(Arc::new(Resolver { allows_private }))
}

/// OpenTelemetry semantic conventions, "HTTP client". The path is omitted: it may contain a secret.
fn attributes(
    timeline: &TimelineId,
    claimed: &ClaimedFiring,
    to: &WebhookTo,
    status: Option<StatusCode>,
) -> Vec<KeyValue> {
    let (host, port) = to.host();
    let mut attributes = vec![
        KeyValue::new("http.request.method", "POST"),
        KeyValue::new("server.address", host.to_owned()),
        KeyValue::new("server.port", i64::from(port)),
        KeyValue::new("timenav.timeline_id", timeline.as_str().to_owned()),
        KeyValue::new("timenav.firing_id", claimed.firing.firing_id.as_str().to_owned()),
    ];
    attributes.extend(status.map(|status| KeyValue::new("http.response.status_code", i64::from(status.as_u16()))));
    attributes
}

/// Maps a response status to an outcome (Standard Webhooks 1.0.0, "Delivery").
fn attempt_of(to: &WebhookTo, status: StatusCode) -> Attempt {
    let reason = format!("{to} responded with {}", status.as_u16());
    if status.is_success() {
        Attempt::Taken
    } else if status == StatusCode::GONE {
        Attempt::Hopeless(format!("{reason}: it accepts no more webhooks"))
    } else if status.is_redirection() {
        Attempt::Refused(format!("{reason}, a redirect, which is not followed"))
    } else {
        Attempt::Refused(reason)
    }
}

fn message_of(timeline: &TimelineId, claimed: &ClaimedFiring) -> Value {
    let ClaimedFiring { firing, payload, generation, step, attempt, .. } = claimed;
    let mut message = json!({
        "firing_id": firing.firing_id.as_str(),
        "timer_id": firing.timer_id.as_str(),
        "timeline_id": timeline.as_str(),
        "due": firing.due_firing.due.to_string(),
        "round": firing.due_firing.round,
        "generation": generation,
        "attempt": attempt,
        "payload": serde_json::from_str::<Value>(payload).unwrap_or_default(),
    });
    if let Some(step) = step {
        message["step"] = (*step).into();
    }
    if let Some(order_key) = &firing.order_key {
        message["order_key"] = order_key.as_str().into();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::ports::FileSigner;

    #[tokio::test]
    async fn receiver_timeout_is_retried() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let gate = Gate::new(vec![url.parse().unwrap()], Arc::new(FileSigner::new(&[1; 32]).unwrap()));
        // The server accepts the connection and never responds.
        let sender = Sender::patient(Arc::new(gate), &Trusted::default(), Duration::from_millis(1)).unwrap();
        let request = sender.http.post(format!("{url}/secret-path"));
        let (Attempt::Refused(reason), None) = sender.ask(&url.parse().unwrap(), request).await else {
            panic!("not refused")
        };
        assert_eq!(reason, format!("{url} did not respond in 0 seconds"));
    }

    #[test]
    fn concurrent_webhooks_are_limited_per_host_across_ports() {
        let to = ["http://127.0.0.1:1", "http://127.0.0.1:2", "127.0.0.1", "http://localhost:1"];
        let to = to.map(|to| to.parse::<WebhookTo>().unwrap());
        let gate = Gate::new(to.to_vec(), Arc::new(FileSigner::new(&[1; 32]).unwrap()));
        let sender = Sender::patient(Arc::new(gate), &Trusted::default(), Duration::from_millis(1)).unwrap();
        let rooms = to.each_ref().map(|to| sender.room(to).unwrap());
        let _all = rooms[0].try_acquire_many(u32::try_from(WEBHOOKS_PER_HOST_MAX).unwrap()).unwrap();
        let left = rooms.map(Semaphore::available_permits);
        assert_eq!(left, [0, 0, 0, WEBHOOKS_PER_HOST_MAX], "another name may be another host");
    }

    #[test]
    fn webhook_status_decides_the_delivery_outcome() {
        let to: WebhookTo = "hooks.example".parse().unwrap();
        let check = |status: u16, expected: &str| {
            let outcome = match attempt_of(&to, StatusCode::from_u16(status).unwrap()) {
                Attempt::Taken => "taken".to_owned(),
                Attempt::Lost => "lost".to_owned(),
                Attempt::Refused(reason) => format!("refused: {reason}"),
                Attempt::Hopeless(reason) => format!("hopeless: {reason}"),
            };
            assert_eq!(outcome, expected);
        };
        check(200, "taken");
        check(299, "taken");
        check(307, "refused: https://hooks.example:443 responded with 307, a redirect, which is not followed");
        check(404, "refused: https://hooks.example:443 responded with 404");
        check(410, "hopeless: https://hooks.example:443 responded with 410: it accepts no more webhooks");
        check(500, "refused: https://hooks.example:443 responded with 500");
    }
}
