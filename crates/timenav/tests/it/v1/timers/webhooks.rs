//! Timers whose firings the service sends as webhooks.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::{assert_members, create_paused, files_with, paused_service, permit, post_invalid, send};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The response of a receiver.
enum Reply {
    Status(u16),
    /// A redirect.
    To(String),
    /// The connection is closed without a response.
    Nothing,
}

struct Sent {
    head: String,
    body: String,
}

impl Sent {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn data(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap()["data"].clone()
    }

    /// Verifies the signature like a receiver.
    fn check_signature(&self) {
        let header = |name: &str| self.header(name).unwrap_or_else(|| panic!("no {name} in {}", self.head));
        let key = BASE64.decode(SECRET.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
        let signed = format!("{}.{}.{}", header("webhook-id"), header("webhook-timestamp"), self.body);
        let tag = BASE64.decode(header("webhook-signature").strip_prefix("v1,").unwrap().as_bytes()).unwrap();
        hmac::verify(&hmac::Key::new(HMAC_SHA256, &key), signed.as_bytes(), &tag).unwrap();
    }
}

struct Hooks {
    address: SocketAddr,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    sent: Receiver<Sent>,
}

impl Hooks {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, replies) = (listener.local_addr().unwrap(), Arc::<Mutex<VecDeque<Reply>>>::default());
        let (sender, sent) = channel();
        let next = Arc::clone(&replies);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let Some((sent, stream)) = read(stream) else { continue };
                if sender.send(sent).is_err() {
                    return;
                }
                let reply = next.lock().unwrap().pop_front().unwrap_or(Reply::Status(204));
                answer(stream, &reply);
            }
        });
        Self { address, replies, sent }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }
}

fn read(stream: TcpStream) -> Option<(Sent, TcpStream)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).ok()? > 0 {}
    let length = head.to_lowercase().split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((Sent { head, body: String::from_utf8(body).ok()? }, reader.into_inner()))
}

fn answer(mut stream: TcpStream, reply: &Reply) {
    let (status, more) = match reply {
        Reply::Status(status) => (*status, String::new()),
        Reply::To(url) => (307, format!("location: {url}\r\n")),
        Reply::Nothing => return,
    };
    // A stopped service does not read it.
    let _ = write!(stream, "HTTP/1.1 {status} x\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n");
}

fn sending(hooks: &Hooks) -> Service {
    let service =
        Service::with(&["--webhook-allow-host", &hooks.url(""), "--log-filter", "info,timenav=debug,reqwest=trace"]);
    create_paused(&service, "2000-01-01T00:00:00Z");
    service
}

/// Sets a webhook timer on `main` and returns it.
fn set(service: &Service, timer_id: &str, at: &str, deliver: &Value) -> Value {
    let timer = json!({ "timer_id": timer_id, "at": at, "deliver": deliver, "payload": { "of": timer_id } });
    service.post("/v1/timers", &timer)["timer"].clone()
}

fn forward(service: &Service, duration: &str) -> Value {
    service.post("/v1/fast-forward", &json!({ "duration": duration, "wait": "10m" }))["receipt"].clone()
}

/// Checks the counts of a settled advance: acknowledged, failed and unacknowledged firings.
#[track_caller]
fn check_settled(settled: &Value, [acknowledged, failed, unacknowledged]: [u64; 3]) {
    let expected = json!({ "state": "settled", "acknowledged": acknowledged, "failed": failed,
        "unacknowledged": unacknowledged });
    assert_members(settled, &expected);
}

#[test]
fn advance_waits_for_webhooks_and_reports_their_outcomes() {
    let (hooks, elsewhere) = (Hooks::start(), Hooks::start());
    let mut service = sending(&hooks);
    let signed = json!({ "to": "webhook", "url": hooks.url("/in?a=b"), "secret": SECRET });
    let details = json!({ "to": "webhook", "url": hooks.url("/in?a=b"), "signed": true });
    assert_eq!(set(&service, "taken", "2000-01-02T00:00:00Z", &signed)["deliver"], details);
    // An identical timer may be set again; a different secret makes it a different timer.
    assert_eq!(set(&service, "taken", "2000-01-02T00:00:00Z", &signed)["deliver"], details);
    let other = json!({ "timer_id": "taken", "at": "2000-01-02T00:00:00Z", "payload": { "of": "taken" },
        "deliver": { "to": "webhook", "url": hooks.url("/in?a=b"), "secret": format!("whsec_{}", "A".repeat(32)) } });
    send(&service, "/v1/timers", &other).refused(409, "already_exists");
    let unsigned = json!({ "to": "webhook", "url": hooks.url("/in") });
    assert_eq!(set(&service, "back", "2000-01-03T00:00:00Z", &unsigned)["deliver"]["signed"], false);
    set(&service, "moved", "2000-01-04T00:00:00Z", &unsigned);
    set(&service, "gone", "2000-01-05T00:00:00Z", &unsigned);

    // The second request is closed without a response, and its retry is accepted.
    hooks.reply([Reply::Status(200), Reply::Nothing, Reply::Status(204)]);
    hooks.reply((0..3).map(|_| Reply::To(elsewhere.url("/in"))));
    hooks.reply([Reply::Status(410)]);
    let settled = forward(&service, "5d");
    check_settled(&settled, [2, 2, 0]);
    let reason = |number: usize| settled["firings"][number]["reason"].as_str().unwrap_or_default().to_owned();
    let to = format!("http://{}", hooks.address);
    assert_eq!(reason(2), format!("{to} responded with 307, a redirect, which is not followed"));
    assert_eq!(reason(3), format!("{to} responded with 410: it accepts no more webhooks"));
    assert_eq!(settled["firings"][0]["queue"], "timenav:webhook");
    let details = service.get("/v1/timers/moved", &[]);
    assert_members(&details["firings"][0], &json!({ "state": "failed", "reason": reason(2) }));
    assert!(elsewhere.sent.try_recv().is_err(), "a redirect was followed");

    let sent: Vec<Sent> = (0..7).map(|_| hooks.sent.recv().unwrap()).collect();
    let received = |number: usize| sent[number].data();
    sent[0].check_signature();
    assert!(sent[0].head.starts_with("POST /in?a=b HTTP/1.1\r\n"), "{}", sent[0].head);
    assert_eq!(sent[0].header("webhook-id"), settled["firings"][0]["firing_id"].as_str());
    assert_eq!(sent[0].header("timenav-time"), Some("2000-01-02T00:00:00Z"));
    assert_eq!((sent[0].header("timenav-timeline"), sent[0].header("timenav-step")), (Some("main"), Some("1")));
    assert_eq!(sent[0].header("authorization"), None);
    assert_eq!((&received(0)["timer_id"], &received(0)["payload"]), (&json!("taken"), &json!({ "of": "taken" })));
    assert_eq!(sent[1].header("webhook-signature"), None);
    // The same firing, another attempt.
    assert_eq!((&received(1)["firing_id"], &received(1)["attempt"]), (&received(2)["firing_id"], &json!(1)));
    assert_eq!((&received(2)["timer_id"], &received(2)["attempt"]), (&json!("back"), &json!(2)));
    let attempts: Vec<Value> = (3..6).map(|number| received(number)["attempt"].clone()).collect();
    assert_eq!((attempts, &received(6)["timer_id"]), (vec![json!(1), json!(2), json!(3)], &json!("gone")));

    // Webhook firings cannot be claimed.
    let refused = send(&service, "/v1/queues/timenav:webhook/claim", &json!({})).refused(400, "invalid_parameter");
    assert!(refused["detail"].as_str().unwrap().contains("delivers this queue"), "{refused}");
    // A fork inherits the timer but sends nothing; timers set on the fork are sent.
    set(&service, "forked", "2000-02-01T00:00:00Z", &unsigned);
    service.post("/timelines", &json!({ "timeline_id": "what-if", "fork_of": "main" }));
    let own = json!({ "timer_id": "own", "at": "2000-02-02T00:00:00Z", "deliver": unsigned, "timeline_id": "what-if" });
    service.post("/v1/timers", &own);
    let settled = service.post("/v1/fast-forward", &json!({ "duration": "60d", "timeline_id": "what-if" }));
    let settled = settled["receipt"].clone();
    check_settled(&settled, [1, 1, 0]);
    assert!(settled["firings"][0]["reason"].as_str().unwrap().contains("an adoption or a fork"), "{settled}");
    assert_eq!(hooks.sent.recv().unwrap().data()["timer_id"], "own");
    adopted_webhooks_are_sent(&service, &hooks);
    nothing_is_sent_without_write_permission(&service, &hooks);

    // Without allowed hosts nothing is sent, and nothing waits for it.
    let plain = SECRET.strip_prefix("whsec_").unwrap();
    assert!(service.stop().success());
    for secret in [plain.as_bytes(), &BASE64.decode(plain.as_bytes()).unwrap()] {
        assert_eq!(files_with(&service, secret), [""; 0]);
    }
    service.arguments(&[]);
    service.start_again();
    let settled = forward(&service, "60d");
    check_settled(&settled, [0, 0, 1]);
    assert!(service.stop().success());
    service.arguments(&["--webhook-allow-host", &hooks.url("")]);
    service.start_again();
    assert_eq!(hooks.sent.recv().unwrap().data()["timer_id"], "forked");
    service.audit();
}

/// A fork with webhooks enabled sends those of inherited timers, with the same signatures; its own fork does not.
fn adopted_webhooks_are_sent(service: &Service, hooks: &Hooks) {
    let signed = json!({ "to": "webhook", "url": hooks.url("/in"), "secret": SECRET });
    let timer = json!({ "timer_id": "along", "at": "2000-02-01T00:00:00Z", "deliver": signed, "timeline_id": "base" });
    service.post("/v1/pause-time", &json!({ "timeline_id": "base" }));
    service.post("/v1/travel", &json!({ "timeline_id": "base", "destination_time": "2000-01-01T00:00:00Z" }));
    service.post("/v1/timers", &timer);
    let fork = |name: &str, of: &str| json!({ "timeline_id": name, "fork_of": of, "deliver_webhooks": true });
    service.post("/timelines", &fork("sending", "base"));
    service.post("/timelines", &fork("further", "sending"));
    service.post("/timelines", &json!({ "timeline_id": "silent", "fork_of": "sending" }));
    assert_eq!(service.get("/timeline/sending", &[])["fork"]["deliver_webhooks"], true);
    assert_eq!(service.get("/timeline/silent", &[])["fork"].get("deliver_webhooks"), None);
    for (name, expected) in [("sending", [1, 0, 0]), ("further", [1, 0, 0]), ("silent", [0, 1, 0])] {
        let settled =
            service.post("/v1/fast-forward", &json!({ "duration": "60d", "timeline_id": name, "wait": "10m" }));
        check_settled(&settled["receipt"], expected);
    }
    for name in ["sending", "further"] {
        let sent = hooks.sent.recv().unwrap();
        sent.check_signature();
        assert_eq!((&sent.data()["timer_id"], sent.header("timenav-timeline")), (&json!("along"), Some(name)));
    }
    assert!(hooks.sent.try_recv().is_err());

    // If a timeline does not send inherited webhooks, neither does its fork: a user with write access to only the fork
    // cannot change that. Timers set there are sent.
    let own = json!({ "timer_id": "own-one", "at": "2000-02-02T00:00:00Z", "deliver": signed, "timeline_id": "mine" });
    service.post("/timelines", &json!({ "timeline_id": "mine", "fork_of": "base" }));
    service.post("/v1/timers", &own);
    service.post("/timelines", &fork("escalated", "mine"));
    let moved = json!({ "duration": "60d", "timeline_id": "escalated", "wait": "10m" });
    let settled = service.post("/v1/fast-forward", &moved);
    check_settled(&settled["receipt"], [1, 1, 0]);
    let sent = hooks.sent.recv().unwrap();
    sent.check_signature();
    assert_eq!((&sent.data()["timer_id"], sent.header("timenav-timeline")), (&json!("own-one"), Some("escalated")));
    assert!(hooks.sent.try_recv().is_err());

    // Without a fork there is nothing to send. A user with read access cannot make its receivers be called.
    let alone = json!({ "timeline_id": "alone", "deliver_webhooks": true });
    let refused = send(service, "/timelines", &alone).refused(400, "missing_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/fork_of", "{refused}");
    let reader = service.user("reader");
    permit(service, "base", &json!({ "read": ["reader"] }));
    let request = |fork: &Value| service.send(Request::post("/timelines").json(fork).key(&reader));
    request(&fork("theirs", "base")).refused(403, "permission_denied");
    request(&json!({ "timeline_id": "theirs", "fork_of": "base", "deliver_webhooks": false })).expect(201);
}

/// Permission to send inherited webhooks is checked when they are sent: the creator of the fork, and of every fork
/// before, must still have write access to the parent. Timers set on the fork itself are sent.
fn nothing_is_sent_without_write_permission(service: &Service, hooks: &Hooks) {
    let allow = |timeline: &str, writers: &[&str]| permit(service, timeline, &json!({ "write": writers }));
    let timer = |timeline: &str, name: &str, at: &str| {
        let deliver = json!({ "to": "webhook", "url": hooks.url("/in") });
        service.post("/v1/timers", &json!({ "timer_id": name, "at": at, "deliver": deliver, "timeline_id": timeline }));
    };
    let fork = |key: &str, name: &str, of: &str| {
        let request = json!({ "timeline_id": name, "fork_of": of, "deliver_webhooks": true });
        service.send(Request::post("/timelines").json(&request).key(key)).expect(201);
    };
    let (lender, partner) = (service.user("lender"), service.user("partner"));
    service.post("/v1/pause-time", &json!({ "timeline_id": "lent" }));
    service.post("/v1/travel", &json!({ "timeline_id": "lent", "destination_time": "2000-01-01T00:00:00Z" }));
    for (name, at) in
        [("one", "2000-02-01T00:00:00Z"), ("two", "2000-03-01T00:00:00Z"), ("three", "2000-04-01T00:00:00Z")]
    {
        timer("lent", name, at);
    }
    allow("lent", &["lender"]);
    fork(&lender, "staged", "lent");
    timer("staged", "own", "2000-03-02T00:00:00Z");
    allow("staged", &["partner"]);
    fork(&partner, "passed-on", "staged");
    let moved = |timeline: &str, to: &str, expected: [u64; 2]| {
        let request = json!({ "timeline_id": timeline, "destination_time": to, "wait": "10m" });
        let settled = service.post("/v1/travel", &request)["receipt"].clone();
        check_settled(&settled, [expected[0], expected[1], 0]);
        settled["firings"].as_array().unwrap().iter().filter_map(|firing| firing["reason"].as_str()).collect::<String>()
    };
    let sent = |name: &str, timeline: &str| {
        let sent = hooks.sent.recv().unwrap();
        assert_eq!((&sent.data()["timer_id"], sent.header("timenav-timeline")), (&json!(name), Some(timeline)));
    };
    for timeline in ["staged", "passed-on"] {
        moved(timeline, "2000-02-15T00:00:00Z", [1, 0]);
        sent("one", timeline);
    }
    // The other fork was created by a user who never had access, from one whose creator has lost it.
    allow("lent", &[]);
    for timeline in ["staged", "passed-on"] {
        let reason = moved(timeline, "2000-03-15T00:00:00Z", [1, 1]);
        assert!(reason.contains("no longer allowed to write"), "{reason}");
        assert!(!reason.contains("lent") && !reason.contains("lender"), "{reason}");
        sent("own", timeline);
    }
    let details = service.get("/v1/timers/two", &[("timeline_id", "staged")]);
    assert_eq!(details["firings"][0]["state"], "failed", "{details}");
    assert!(hooks.sent.try_recv().is_err());
    // With the permission restored it continues, as far as all creators have it.
    allow("lent", &["lender"]);
    allow("staged", &[]);
    moved("staged", "2000-04-15T00:00:00Z", [1, 0]);
    sent("three", "staged");
    moved("passed-on", "2000-04-15T00:00:00Z", [0, 1]);
    assert!(hooks.sent.try_recv().is_err());
}

#[test]
fn disallowed_webhook_targets_are_rejected_at_their_field() {
    let hooks = Hooks::start();
    let service = sending(&hooks);
    let url = hooks.url("/in");
    let to = |url: &str| json!({ "to": "webhook", "url": url });
    let with = |secret: Value| json!({ "to": "webhook", "url": url, "secret": secret });
    let long = format!("{url}?{}", "a".repeat(2_048 - url.len() - 1));
    for (deliver, field, expected) in [
        (json!({ "to": "webhook" }), "deliver/url", "give the address"),
        (to("https://evil.example/"), "deliver/url", "no webhooks to https://evil.example:443; its operator"),
        (to("http://169.254.169.254/"), "deliver/url", "no webhooks to http://169.254.169.254:80;"),
        (to(&url.replace("//", "//ada:pass@")), "deliver/url", "use `secret`"),
        (to("hooks"), "deliver/url", "write an address like"),
        (to(&format!("{long}a")), "deliver/url", "at most 2048 bytes"),
        (with(json!("whsec_c2hvcnQ=")), "deliver/secret", "24 to 64 bytes"),
        (json!({ "to": "webhook", "url": url, "queue": "q" }), "deliver/queue", "leave it out"),
        (json!({ "to": "queue", "url": url }), "deliver/url", "leave it out"),
        (json!({ "to": "timeline", "event": {}, "secret": SECRET }), "deliver/secret", "leave it out"),
        (json!({ "to": "queue", "queue": "timenav:webhook" }), "deliver/queue", "is not a queue"),
    ] {
        let timer = json!({ "at": "2000-01-02T00:00:00Z", "deliver": deliver });
        let refused = post_invalid(&service, "/v1/timers", &timer, &format!("#/{field}"));
        assert!(refused.to_string().contains(expected), "{deliver} {refused}");
    }
    let number = json!({ "at": "2000-01-02T00:00:00Z", "deliver": with(json!(7_654_321)) });
    let refused = send(&service, "/v1/timers", &number).refused(400, "invalid_parameter");
    assert!(!refused.to_string().contains("7654321"));
    set(&service, "longest", "2000-01-02T00:00:00Z", &to(&long));
    // A timer can change to a webhook, and to another one.
    for deliver in [json!({ "to": "queue", "queue": "q" }), with(json!(SECRET))] {
        let patch = Request::new("PATCH", "/v1/timers/longest").json(&json!({ "deliver": deliver }));
        assert_eq!(service.send(patch).expect(200)["timer"]["deliver"]["to"], deliver["to"]);
    }
    check_settled(&forward(&service, "2d"), [1, 0, 0]);
    hooks.sent.recv().unwrap().check_signature();
    assert!(!service.log_text().contains(SECRET.strip_prefix("whsec_").unwrap()));
    service.audit();

    let without = paused_service();
    let timer = json!({ "at": "2000-01-02T00:00:00Z", "deliver": to(&url) });
    let refused = post_invalid(&without, "/v1/timers", &timer, "#/deliver/to");
    assert!(refused.to_string().contains("--webhook-allow-host"), "{refused}");
    without.audit();
}

#[test]
fn hanging_receiver_gets_a_limited_number_of_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let service = Service::with(&["--webhook-allow-host", &url]);
    // More firings per timeline than may be in progress, all due at once.
    let timelines = ["a", "b", "c", "d", "e"];
    let set = |timeline: &str| {
        for number in 0..5 {
            let timer = json!({ "timer_id": format!("t{number}"), "at": "2000-01-02T00:00:00Z", "timeline_id": timeline,
                "deliver": { "to": "webhook", "url": url } });
            service.post("/v1/timers", &timer);
        }
    };
    let mut waiting = VecDeque::new();
    // No timeline uses all slots of the host: each has four, up to sixteen in total.
    for timeline in &timelines[..4] {
        set(timeline);
        waiting.extend((0..4).map(|_| read(listener.accept().unwrap().0).unwrap().1));
    }
    set(timelines[4]);
    // Other hosts are served meanwhile, and the slow one gets no more requests.
    for _ in 0..100 {
        service.get("/v1/clock", &[]);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "one more request is under way than may be");
    listener.set_nonblocking(false).unwrap();
    // Each response makes room for the next request.
    for _ in 0..4 {
        answer(waiting.pop_front().unwrap(), &Reply::Status(200));
        waiting.push_back(read(listener.accept().unwrap().0).unwrap().1);
    }
    for stream in waiting {
        answer(stream, &Reply::Status(200));
    }
    for _ in timelines {
        answer(read(listener.accept().unwrap().0).unwrap().1, &Reply::Status(200));
    }
    for timeline in timelines {
        until_so("all are taken", || {
            let clock = service.get("/v1/clock", &[("timeline_id", timeline)]);
            clock["lag"]["pending"].as_u64().unwrap_or(0) == 0
        });
    }
    service.audit();
}
