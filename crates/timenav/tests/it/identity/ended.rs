//! Revoked or expired keys and ended sessions during a request: nothing is recorded or returned afterwards.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::support::http::{Answer, Connection, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::messages::{Messages, open};
use crate::v1::permit;

const NDJSON: &str = "application/x-ndjson";

/// The credential of ada and how it ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Revoked,
    Expired,
    LoggedOut,
    UserRemoved,
}

struct Ada {
    /// The key or the session cookie.
    secret: String,
    key_id: Option<String>,
    end: End,
}

impl Ada {
    /// Creates a user who may write to `main`.
    fn new(service: &Service, end: End) -> Self {
        service.post("/v1/users", &json!({ "user_id": "ada" }));
        permit(service, "main", &json!({ "admin": ["admin", "ada"] }));
        let mut body = json!({ "user_id": "ada" });
        if let End::Expired = end {
            let soon = service.post("/v1/fast-forward", &json!({ "duration": "5s", "timeline_id": "host" }));
            body["expires_at"] = soon["new_time"].clone();
        }
        if let End::LoggedOut = end {
            service.set_password("ada", "correct horse battery");
            return Self { secret: service.log_in("ada", "correct horse battery"), key_id: None, end };
        }
        let made = service.post("/v1/api-keys", &body);
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        Self { secret: text("api_key"), key_id: Some(text("key_id")), end }
    }

    fn shows(&self, request: Request) -> Request {
        match self.end {
            End::Revoked | End::Expired | End::UserRemoved => request.key(&self.secret),
            End::LoggedOut => {
                request.session(&self.secret).header("Host", "127.0.0.1").header("Origin", "http://127.0.0.1")
            }
        }
    }

    fn ask(&self, service: &Service) -> Answer {
        service.send(self.shows(Request::get("/v1/clock")))
    }

    /// Ends the credential, and waits until new requests are rejected.
    fn end(&self, service: &Service) {
        match self.end {
            End::Revoked => {
                let path = format!("/v1/api-keys/{}", self.key_id.as_deref().unwrap());
                service.send(Request::new("DELETE", &path)).expect(200);
            }
            End::UserRemoved => {
                service.send(Request::new("DELETE", "/v1/users/ada")).expect(200);
            }
            End::LoggedOut => {
                let out = Request::post("/v1/logout").json(&json!({ "everywhere": true }));
                let answer = service.send(self.shows(out));
                assert!(answer.status < 300, "{answer}");
            }
            End::Expired => until_so("the key to expire", || self.ask(service).status == 401),
        }
        self.ask(service).refused(401, "invalid_credentials");
    }
}

fn events(service: &Service) -> u64 {
    service.get("/timeline/main", &[])["events"].as_u64().unwrap()
}

fn lines(from: usize, count: usize) -> String {
    let line = |number| format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"name\":\"{number}\"}}\n");
    (from..from + count).map(line).collect::<Vec<_>>().concat()
}

/// Returns the number of ada's rejected attempts on a timeline.
pub(super) fn refusals(service: &Service, timeline: &str) -> usize {
    let parameters = [
        ("timeline_id", timeline),
        ("time_range", "../.."),
        ("user_id", "ada"),
        ("action", "unauthorized_access_attempt"),
        ("limit", "1000"),
    ];
    service.get("/v1/access-logs", &parameters)["logs"].as_array().unwrap().len()
}

fn send_chunk(connection: &mut Connection, text: &str) -> std::io::Result<()> {
    connection.send(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

#[test]
fn import_stops_when_its_credentials_end() {
    for end in [End::Revoked, End::Expired, End::LoggedOut] {
        let service = Service::start();
        let ada = Ada::new(&service, end);
        let mut connection = service.connect();
        let request = Request::post("/v1/import-events?timeline_id=main").header("Content-Type", NDJSON);
        connection.send_request(&ada.shows(request.header("Transfer-Encoding", "chunked")));
        send_chunk(&mut connection, &lines(0, 5_000)).unwrap();
        until_so("500 events", || events(&service) >= 500);
        ada.end(&service);
        let before = events(&service);
        // The service may have closed the connection already.
        let _ = send_chunk(&mut connection, &lines(5_000, 5_000));
        let _ = connection.send(b"0\r\n\r\n");
        let answer = connection.answer(false).unwrap();
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        answer.refused(401, "invalid_credentials");
        assert_eq!(events(&service), before, "{end:?}");
        // The response has the progress and the id to undo it.
        let expected = format!("; before that, {before} events were imported, 0 unchanged and 0 records rejected");
        let (_, id) = detail.split_once(&expected).unwrap_or_else(|| panic!("{end:?}: {before}: {detail}"));
        let id = id.trim_matches(&[' ', '(', ')', '`'][..]).trim_start_matches("import_id `");
        let undo = json!({ "timeline_id": "main", "import_id": id });
        assert_eq!(service.post("/v1/undo-import", &undo)["undone_count"], before, "{end:?}: {detail}");
        // One for the import, one for each batch in progress, and one for the batch that waited.
        let refused = refusals(&service, "main");
        assert!((1..=6).contains(&refused), "{end:?}: {refused}");
        service.audit();
    }
}

/// Sends a request without the last byte of its body, and waits until the service has identified the caller.
fn begun(service: &Service, request: Request, body: &str) -> Connection {
    let mut connection = service.connect();
    let request = request.header("Content-Type", "application/json").header("Expect", "100-continue");
    connection.send_request(&request.header("Content-Length", &body.len().to_string()));
    // 100 Continue is sent after the caller was identified.
    assert_eq!(connection.head().unwrap().0, 100);
    connection.send(&body.as_bytes()[..body.len() - 1]).unwrap();
    connection
}

/// Returns the state that the requests below would change or reveal.
fn state(service: &Service) -> Value {
    let list = |path: &str, parameters: &[(&str, &str)], name: &str| service.get(path, parameters)[name].clone();
    json!([
        service.get("/v1/clock", &[])["generation"],
        events(service),
        service.get("/timeline/main", &[])["permissions"],
        list("/timelines", &[], "timelines").as_array().unwrap().len(),
        list("/v1/api-keys", &[("user_id", "ada")], "api_keys"),
    ])
}

#[test]
fn slow_request_is_rejected_after_its_credentials_end() {
    for end in [End::Revoked, End::LoggedOut] {
        let service = Service::start();
        let ada = Ada::new(&service, end);
        let requests = [
            ("POST", "/v1/fast-forward", json!({ "duration": "1h" })),
            ("POST", "/v1/events", json!({ "time": "2000-01-01T00:00:00Z" })),
            ("POST", "/v1/set-access-control", json!({ "timeline_id": "main", "permissions": { "read": ["ada"] } })),
            ("POST", "/timelines", json!({ "timeline_id": "forked", "fork_of": "main" })),
            ("POST", "/timelines", json!({ "timeline_id": "made" })),
            ("POST", "/v1/set-anchor", json!({ "timeline_id": "made-by-a-write" })),
            ("POST", "/v1/api-keys", json!({ "label": "another" })),
            ("POST", "/v1/encrypt-data", json!({ "timeline_id": "main", "data": {}, "encryption_key": "a phrase" })),
            ("POST", "/v1/detect-tampering", json!({ "timeline_id": "main" })),
            ("QUERY", "/v1/clock", json!({ "timeline_id": "main" })),
            ("QUERY", "/v1/monitor-events", json!({ "location": "*", "time_range": "../.." })),
            ("QUERY", "/v1/api-keys", json!({ "limit": 5 })),
            ("QUERY", "/v1/limits", json!({})),
            ("QUERY", "/v1/stream", json!({ "topics": "clock" })),
        ];
        let mut waiting: Vec<(Connection, &str)> = Vec::new();
        for (method, path, body) in &requests {
            waiting.push((begun(&service, ada.shows(Request::new(method, path)), &body.to_string()), path));
        }
        ada.end(&service);
        let before = (state(&service), refusals(&service, "main") + refusals(&service, "system"));
        for (mut connection, path) in waiting {
            connection.send(b"}").unwrap();
            let answer = connection.answer(false).unwrap();
            assert_eq!(answer.header("clear-site-data"), None, "{path}");
            answer.refused(401, "invalid_credentials");
        }
        let logged = refusals(&service, "main") + refusals(&service, "system") - before.1;
        assert_eq!((state(&service), logged), (before.0, requests.len()), "{end:?}");
        service.audit();
    }
}

/// Far more than fits into the buffers between the service and a client that does not read.
const EXPORTED_EVENTS: usize = 4_000;

#[test]
fn export_aborts_when_its_credentials_end() {
    for end in [End::Revoked, End::LoggedOut] {
        let service = Service::start();
        let ada = Ada::new(&service, end);
        let text = "x".repeat(12_000);
        for block in 0..EXPORTED_EVENTS / 250 {
            let event = |number: usize| json!({ "event_id": format!("{block}-{number}"), "time": "2000-01-01T00:00:00Z", "description": text });
            service.post("/v1/events", &(0..250).map(event).collect::<Vec<Value>>().into());
        }
        let mut connection = service.connect();
        connection.send_request(&ada.shows(Request::get("/v1/export-events")));
        let (status, headers) = connection.head().unwrap();
        assert_eq!(status, 200);
        let mut body = connection.body(&headers);
        let mut some = vec![0; 100_000];
        body.read_exact(&mut some).unwrap();
        ada.end(&service);
        let mut rest = Vec::new();
        let error = body.read_to_end(&mut rest).expect_err("the file has no end");
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{end:?}");
        assert!(some.len() + rest.len() < EXPORTED_EVENTS * text.len());
        service.audit();
    }
}

#[test]
fn streams_close_when_their_credentials_end() {
    for end in [End::Revoked, End::Expired, End::LoggedOut, End::UserRemoved] {
        let service = Service::start();
        let ada = Ada::new(&service, end);
        let paths = ["/v1/clock/stream", "/v1/stream", "/v1/stream?topics=events", "/v1/firings/stream"];
        let mut connections = paths.map(|_| service.connect());
        let requests = paths.map(|path| ada.shows(Request::get(path)));
        let mut streams: Vec<Messages<'_>> = connections
            .iter_mut()
            .zip(requests)
            .map(|(connection, request)| open(connection, &service, request))
            .collect();
        // Changes to other users do not close a stream.
        service.user("bob");
        service.post("/v1/pause-time", &json!({}));
        for stream in &mut streams[..2] {
            let is_paused =
                std::iter::from_fn(|| stream.next()).any(|message| message.data.to_string().contains("\"paused\""));
            assert!(is_paused, "{end:?}");
        }
        // A stream ends without activity on the timeline.
        ada.end(&service);
        for stream in &mut streams {
            assert!(std::iter::from_fn(|| stream.next()).all(|message| message.event.is_empty()), "{end:?}");
        }
        service.audit();
    }
}

#[test]
fn scan_reports_an_error_when_its_credentials_end() {
    const ROWS: usize = 40_000;
    for end in [End::Revoked, End::LoggedOut] {
        let service = Service::start();
        let path = "/v1/import-events?timeline_id=main";
        service.send(Request::post(path).body(NDJSON, lines(0, ROWS).as_bytes())).expect(200);
        let ada = Ada::new(&service, end);
        let ask = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": "main" }));
        let mut connection = service.connect();
        connection.send_request(&ada.shows(ask.header("Accept", "text/event-stream")));
        let (status, headers) = connection.head().unwrap();
        assert_eq!(status, 200);
        ada.end(&service);
        let mut text = String::new();
        connection.body(&headers).read_to_string(&mut text).unwrap();
        assert!(!text.contains("event: result"), "{text}");
        let problem = text.split("event: error").nth(1).unwrap_or_else(|| panic!("{text}"));
        assert!(problem.contains("\"code\":\"invalid_credentials\""), "{text}");
        service.audit();
    }
}
