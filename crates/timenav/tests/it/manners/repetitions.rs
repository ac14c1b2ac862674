//! `Idempotency-Key` on every operation that supports it, from the routes table: concurrent, in sequence, after a
//! restart, and when the state would now reject the request.

mod authority;

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use super::operations;
use crate::support::http::{Answer, Connection, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::messages::open;

const REPLAYED: &str = "idempotency-replayed";
/// The timeline of these tests.
const HERE: &str = "here";
const NOON: &str = "2000-01-01T12:00:00Z";

/// Operations that only check the form of a key: each request is carried out (docs/http-api.md).
const ANEW: [&str; 10] = [
    "claim_firings",
    "confirm_clock",
    "decrypt_data",
    "detect_tampering",
    "extend_firings",
    "log_in",
    "log_out",
    "release_hold",
    "scan_events",
    "set_password",
];

/// A request, and what makes the state reject it.
struct Case {
    request: Request,
    /// Requests sent after the response, so that the same request without a key is rejected.
    then: Vec<(&'static str, Value)>,
    /// The status of that rejection; `None` if the request may be repeated.
    refused: Option<u16>,
}

impl Case {
    fn repeatable(path: &str, body: &Value) -> Self {
        Self { request: Request::post(path).json(body), then: Vec::new(), refused: None }
    }

    /// A request that cannot be repeated because of its own effect or of later requests.
    fn once(path: &str, body: &Value, refused: u16, then: Vec<(&'static str, Value)>) -> Self {
        Self { request: Request::post(path).json(body), then, refused: Some(refused) }
    }
}

fn here(mut body: Value) -> Value {
    body["timeline_id"] = json!(HERE);
    body
}

fn event(event_id: &str, description: &str) -> Value {
    json!({ "event_id": event_id, "time": NOON, "description": description })
}

/// Creates the prerequisites of an operation and returns the requests to repeat.
fn cases(service: &Service, id: &str) -> Vec<Case> {
    let cases = of_clocks(service, id).or_else(|| of_events(service, id)).or_else(|| of_access(service, id));
    let cases = cases.or_else(|| of_erasing(service, id)).or_else(|| of_timers(service, id));
    cases.unwrap_or_else(|| panic!("say how `{id}` is repeated"))
}

fn of_clocks(service: &Service, id: &str) -> Option<Vec<Case>> {
    let travel = |to: &str| ("/v1/travel", here(json!({ "destination_time": to })));
    Some(match id {
        "travel" => vec![Case::repeatable("/v1/travel", &here(json!({ "destination_time": NOON })))],
        "pause_time" => vec![Case::repeatable("/v1/pause-time", &here(json!({})))],
        "resume_time" => vec![Case::repeatable("/v1/resume-time", &here(json!({})))],
        "set_rate" => vec![Case::repeatable("/v1/set-rate", &here(json!({ "rate": 60 })))],
        "fast_forward" => {
            let (path, noon) = travel(NOON);
            service.post(path, &noon);
            let body = here(json!({ "duration": "1h" }));
            vec![Case::once("/v1/fast-forward", &body, 422, vec![travel("9999-12-31T23:30:00Z")])]
        }
        "elapse" => {
            service.post("/v1/pause-time", &here(json!({})));
            let body = here(json!({ "duration": "1h" }));
            vec![Case::once("/v1/elapse", &body, 422, vec![travel("9999-12-31T23:30:00Z")])]
        }
        "advance_to_next" => {
            // The response to an advance contains the current clock.
            service.post("/v1/pause-time", &here(json!({})));
            service.post("/v1/travel", &here(json!({ "destination_time": NOON })));
            service.post("/v1/timers", &here(json!({ "timer_id": "next", "at": "2000-01-02T12:00:00Z" })));
            vec![Case::once("/v1/advance-to-next", &here(json!({})), 409, Vec::new())]
        }
        "rewind" => {
            let body = here(json!({ "duration": "1h" }));
            vec![Case::once("/v1/rewind", &body, 422, vec![travel("-009999-01-01T00:30:00Z")])]
        }
        "set_fault" => {
            // A disconnected follower is remembered by name for a minute, but not after a restart.
            let following = format!("/v1/clock/stream?timeline_id={HERE}&follow=web&faults=true");
            let mut connection = service.connect();
            let mut stream = open(&mut connection, service, Request::get(&following));
            let follower_id = stream.next().unwrap().data["follower_id"].as_str().unwrap().to_owned();
            let body = here(json!({ "fault": { "drift_ppm": 200 } }));
            vec![Case::repeatable(&format!("/v1/followers/{follower_id}/fault"), &body)]
        }
        "set_anchor" => vec![Case::repeatable("/v1/set-anchor", &here(json!({ "description": "once" })))],
        "return_to_anchor" => {
            let anchor = service.post("/v1/set-anchor", &here(json!({})))["anchor_id"].clone();
            service.post("/v1/events", &event_here("after-the-anchor"));
            ["clock", "all"]
                .map(|scope| {
                    let body = here(json!({ "anchor_id": anchor, "scope": scope }));
                    Case {
                        then: vec![travel("1999-01-01T00:00:00Z")],
                        ..Case::repeatable("/v1/return-to-anchor", &body)
                    }
                })
                .into()
        }
        _ => return None,
    })
}

/// Lets a firing fail permanently and returns its id.
fn failed(service: &Service) -> String {
    let claim = |wait: &str| service.post("/v1/queues/hopeless/claim", &here(json!({ "wait": wait })));
    service.post("/v1/pause-time", &here(json!({})));
    service.post("/v1/travel", &here(json!({ "destination_time": "3000-01-01T00:00:00Z" })));
    let deliver = json!({ "to": "queue", "queue": "hopeless" });
    let timer = json!({ "timer_id": "hopeless", "at": "3000-01-02T00:00:00Z", "deliver": deliver });
    service.post("/v1/timers", &here(timer));
    claim("0s");
    service.post("/v1/fast-forward", &here(json!({ "duration": "2d", "wait": "0s" })));
    loop {
        let claimed = claim("20s")["firings"][0]["firing_id"].clone();
        let response = service.post("/v1/firings/fail", &here(json!({ "firing_ids": [claimed] })));
        if response["firings"][0]["state"] == "failed" {
            // The advance ends slightly later, and nothing is redelivered while it runs.
            until_so("the end of the advance", || {
                service.get("/v1/clock", &[("timeline_id", HERE)])["advance"].is_null()
            });
            return claimed.as_str().expect("an id").to_owned();
        }
    }
}

fn of_timers(service: &Service, id: &str) -> Option<Vec<Case>> {
    let timer = |timer_id: &str, at: &str| here(json!({ "timer_id": timer_id, "at": at }));
    let far = "9000-01-01T00:00:00Z";
    let to = |method: &str, timer_id: &str| Request::new(method, &at(&format!("/v1/timers/{timer_id}")));
    Some(match id {
        "set_timer" => vec![Case::repeatable("/v1/timers", &timer("set-once", far))],
        "change_timer" => {
            service.post("/v1/timers", &timer("changed", far));
            let request = to("PATCH", "changed").json(&json!({ "payload": 7 }));
            vec![Case { request, then: Vec::new(), refused: None }]
        }
        "cancel_timer" => {
            service.post("/v1/timers", &timer("cancelled", far));
            vec![Case { request: to("DELETE", "cancelled"), then: Vec::new(), refused: None }]
        }
        "acknowledge_firings" => {
            service.post("/v1/timers", &timer("late", "1900-01-01T00:00:00Z"));
            let claimed = service.post("/v1/queues/default/claim", &here(json!({ "wait": "20s" })));
            let body = here(json!({ "firing_ids": [claimed["firings"][0]["firing_id"]] }));
            vec![Case::repeatable("/v1/firings/ack", &body)]
        }
        "fail_firings" => {
            service.post("/v1/timers", &timer("failing", "1900-01-01T00:00:00Z"));
            let claimed = service.post("/v1/queues/default/claim", &here(json!({ "wait": "20s" })));
            let body = here(json!({ "firing_ids": [claimed["firings"][0]["firing_id"]] }));
            vec![Case::repeatable("/v1/firings/fail", &body)]
        }
        "hold_advances" => vec![Case::repeatable("/v1/holds", &here(json!({ "reason": "a test", "ttl": "1s" })))],
        "redeliver_firing" => {
            let request = Request::post(&at(&format!("/v1/firings/{}/redeliver", failed(service)))).json(&json!({}));
            vec![Case { request, then: Vec::new(), refused: Some(409) }]
        }
        _ => return None,
    })
}

fn of_events(service: &Service, id: &str) -> Option<Vec<Case>> {
    Some(match id {
        "record_events" => vec![
            Case::once(
                &at("/v1/events"),
                &event("recorded", "first"),
                409,
                vec![("/v1/correct-event", here(json!({ "event": event("recorded", "corrected") })))],
            ),
            Case::repeatable(&at("/v1/events"), &json!([{ "time": NOON }, { "time": NOON }])),
        ],
        "correct_event" => {
            service.post("/v1/events", &event_here("corrected"));
            let body = here(json!({ "event": event("corrected", "second") }));
            let request = Case::once("/v1/correct-event", &body, 412, Vec::new());
            let tag = service.send(Request::get(&at("/v1/events/corrected"))).header("etag").expect("a tag").to_owned();
            vec![Case { request: request.request.header("If-Match", &tag), ..request }]
        }
        "undo_import" => {
            let rows = br#"{"event_id":"imported","time":"2001-01-01T00:00:00Z"}"#;
            let import = Request::post(&at("/v1/import-events")).body("application/x-ndjson", rows);
            let import_id = service.send(import).expect(200)["import_id"].clone();
            vec![Case::repeatable("/v1/undo-import", &here(json!({ "import_id": import_id })))]
        }
        "manipulate_event" => {
            let mut cases = Vec::new();
            for (event_id, more) in [
                ("cancelled", json!({})),
                ("refused", json!({ "on_paradox": "reject" })),
                ("told", json!({ "on_paradox": "report" })),
            ] {
                service.post("/v1/events", &event_here(event_id));
                let mut body =
                    here(json!({ "event_id": event_id, "action": "cancel", "time": "1999-01-01T00:00:00Z" }));
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                // Later dependents of the event are not part of the first response.
                let mut later = event_here(&format!("after-{event_id}"));
                later["causes"] = json!([event_id]);
                cases.push(Case::once("/v1/manipulate-event", &body, 409, vec![("/v1/events", later)]));
            }
            cases
        }
        _ => return None,
    })
}

fn of_access(service: &Service, id: &str) -> Option<Vec<Case>> {
    Some(match id {
        "create_timeline" => {
            vec![
                Case::once("/timelines", &json!({ "timeline_id": "made" }), 409, Vec::new()),
                Case::once("/timelines", &json!({ "timeline_id": "forked", "fork_of": HERE }), 409, Vec::new()),
            ]
        }
        "end_timeline" => {
            service.post("/timelines", &json!({ "timeline_id": "over" }));
            let request = Request::new("DELETE", "/timeline/over");
            vec![Case { request, then: Vec::new(), refused: Some(404) }]
        }
        "create_user" => vec![Case::once("/v1/users", &json!({ "user_id": "ada" }), 409, Vec::new())],
        "create_api_key" => vec![Case::repeatable("/v1/api-keys", &json!({ "label": "once" }))],
        "set_access_control" => {
            let path = at("/v1/access-control");
            let tag = service.send(Request::get(&path)).header("etag").expect("a tag").to_owned();
            service.user("reader");
            let case = Case::once(
                "/v1/set-access-control",
                &here(json!({ "permissions": { "read": ["reader"] } })),
                412,
                Vec::new(),
            );
            vec![Case { request: case.request.header("If-Match", &tag), ..case }]
        }
        "prune" => {
            let pruned = |more: Value| {
                let mut body = json!({ "timeline_id": "pruned" });
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                body
            };
            service.post("/timelines", &pruned(json!({})));
            service.post("/v1/set-retention", &pruned(json!({ "reads": "1s" })));
            service.get("/v1/clock", &[("timeline_id", "pruned")]);
            while !service.post("/v1/prune", &pruned(json!({ "dry_run": true })))["would_prune"].is_object() {}
            vec![Case::repeatable("/v1/prune", &pruned(json!({})))]
        }
        "set_retention" => {
            vec![Case::repeatable("/v1/set-retention", &here(json!({ "reads": "90d", "rejections": null })))]
        }
        "restrict_time_travel" => {
            service.user("bob");
            let body = json!({ "user_id": "bob", "restriction_level": "read_only" });
            vec![Case::repeatable("/v1/restrict-time-travel", &body)]
        }
        _ => return None,
    })
}

fn of_erasing(service: &Service, id: &str) -> Option<Vec<Case>> {
    Some(match id {
        "encrypt_data" => {
            let body = here(json!({ "data": { "n": 1 }, "encryption_key": "a passphrase" }));
            vec![Case::repeatable("/v1/encrypt-data", &body)]
        }
        "erase_data" => {
            let body = here(json!({ "data": {}, "encryption_key": "a passphrase" }));
            let data_id = service.post("/v1/encrypt-data", &body)["data_id"].clone();
            service.post("/v1/events", &event_here("erased"));
            vec![
                Case::repeatable("/v1/erase-data", &json!({ "data_id": data_id })),
                Case::repeatable("/v1/erase-data", &here(json!({ "event_id": "erased" }))),
            ]
        }
        "erase_events" => {
            for event_id in ["named", "found"] {
                service.post("/v1/events", &event_here(event_id));
            }
            let named = here(json!({ "event_ids": ["named"], "include_forks": true }));
            let mut found = here(json!({ "location": "*", "time_range": "../..", "include_forks": true }));
            found["dry_run"] = json!(true);
            let foreseen = service.post("/v1/erase-events", &found);
            found["dry_run"] = json!(false);
            found["as_of_size"] = foreseen["as_of_size"].clone();
            vec![Case::repeatable("/v1/erase-events", &named), Case::repeatable("/v1/erase-events", &found)]
        }
        "erase_reads" => {
            service.get("/v1/clock", &[("timeline_id", HERE)]);
            let request = [("timeline_id", HERE), ("time_range", "../.."), ("action", "read")];
            let logs = service.get("/v1/access-logs", &request);
            let last = logs["logs"].as_array().unwrap().last().unwrap().clone();
            let body = here(json!({ "position": last["position"], "reads": [last["index"]] }));
            vec![Case::repeatable("/v1/erase-reads", &body)]
        }
        _ => return None,
    })
}

fn event_here(event_id: &str) -> Value {
    here(event(event_id, "first"))
}

fn at(path: &str) -> String {
    format!("{path}?timeline_id={HERE}")
}

/// Returns the number of entries on the timelines, without those of the counting reads.
fn entries(service: &Service) -> Vec<u64> {
    let timelines = [HERE, "system", "made", "forked"];
    timelines
        .iter()
        .map(|timeline| {
            let answer = service.send(Request::get(&format!("/timeline/{timeline}/checkpoint")));
            let text = answer.text();
            if answer.status == 200 { text.lines().nth(1).and_then(|size| size.parse().ok()).unwrap() } else { 0 }
        })
        .collect()
}

/// Sends requests and returns how many entries they created, without those of the counting reads.
fn counted(service: &Service, send: impl FnOnce() -> Vec<Answer>) -> (Vec<Answer>, Vec<u64>) {
    let (calm, before) = (entries(service), entries(service));
    let answers = send();
    let after = entries(service);
    let grown = (0..calm.len()).map(|at| (after[at] - before[at]).saturating_sub(before[at] - calm[at])).collect();
    (answers, grown)
}

fn twice_at_once(service: &Service, request: &Request) -> Vec<Answer> {
    let mut connections: Vec<Connection> = (0..2).map(|_| service.connect()).collect();
    thread::scope(|scope| {
        let sent: Vec<_> =
            connections.iter_mut().map(|one| scope.spawn(move || one.exchange(request).unwrap())).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Checks that a repetition returns the first response and writes nothing.
#[track_caller]
fn is_repetition(first: &Answer, (again, grown): (Vec<Answer>, Vec<u64>), what: &str) {
    for again in again {
        assert_eq!(again.header(REPLAYED), Some("true"), "{what}: {again}");
        assert_eq!(again.status, first.status, "{what}: {again}");
        assert_eq!(without_secrets(&again), without_secrets(first), "{what}");
    }
    assert!(grown.iter().all(|count| *count == 0), "{what}: {grown:?} entries more");
}

/// A secret is not returned again, and the status sentence says so.
fn without_secrets(answer: &Answer) -> Value {
    let mut body = answer.json();
    if body.get("key_id").is_some() {
        body["api_key"] = Value::Null;
        body["status"] = Value::Null;
    }
    body
}

fn check(service: &mut Service, id: &str, number: usize, case: &Case) {
    let what = format!("{id} {number}");
    let request = service.signed(case.request.clone().idempotent(&format!("{id}-{number}")));
    let both = twice_at_once(service, &request);
    let (replayed, first): (Vec<_>, Vec<_>) = both.into_iter().partition(|answer| answer.header(REPLAYED).is_some());
    let [first] = first.as_slice() else { panic!("{what}: {} of two are the first: {first:?}", first.len()) };
    assert!(first.status < 300, "{what}: {first}");
    is_repetition(first, (replayed, Vec::new()), &format!("{what}, at once"));
    is_repetition(first, counted(service, || vec![service.send(request.clone())]), &format!("{what}, in turn"));
    for (path, body) in &case.then {
        service.post(path, body);
    }
    if let Some(status) = case.refused {
        let refused = service.send(case.request.clone());
        assert_eq!(refused.status, status, "{what}, without a key: {refused}");
    }
    is_repetition(
        first,
        counted(service, || vec![service.send(request.clone())]),
        &format!("{what}, in another state"),
    );
    service.restart();
    let request = service.signed(case.request.clone().idempotent(&format!("{id}-{number}")));
    is_repetition(first, counted(service, || vec![service.send(request)]), &format!("{what}, after a restart"));
}

/// Returns the operations that store their responses.
fn with_keys(service: &Service) -> BTreeSet<String> {
    let all = operations::all(service).into_iter().filter(|operation| operation.stores_responses);
    let with_keys: BTreeSet<String> = all.map(|operation| operation.id).collect();
    assert!(with_keys.len() > 30 && with_keys.contains("end_timeline"), "{with_keys:?}");
    with_keys
}

#[test]
fn operations_with_idempotency_key_are_executed_once() {
    let mut service = Service::with(&["--retention-floor-secs", "0"]);
    service.post("/timelines", &json!({ "timeline_id": HERE }));
    service.post("/v1/pause-time", &here(json!({})));
    service.post("/v1/travel", &here(json!({ "destination_time": NOON })));
    for id in with_keys(&service) {
        for (number, case) in cases(&service, &id).iter().enumerate() {
            check(&mut service, &id, number, case);
        }
    }
    service.audit();
}

#[test]
fn operations_without_stored_responses_are_documented() {
    let service = Service::start();
    let posted = operations::all(&service).into_iter().filter(|operation| operation.method == "POST");
    let without: BTreeSet<String> = posted.filter(|one| !one.stores_responses).map(|operation| operation.id).collect();
    let mut expected: BTreeSet<String> = ANEW.map(str::to_owned).into();
    expected.insert("import_events".to_owned());
    assert_eq!(without, expected);
    service.audit();
}

/// Operations that read state before deciding also check the permissions of repetitions.
#[test]
fn repetition_without_permission_is_rejected_and_logged() {
    let service = Service::start();
    service.post("/timelines", &json!({ "timeline_id": HERE }));
    service.post("/v1/events", &event_here("cancelled"));
    let anchor = service.post("/v1/set-anchor", &here(json!({ "fixed": false })))["anchor_id"].clone();
    let ada = service.user("ada");
    let lists = |write: &[&str]| {
        let body = here(json!({ "permissions": { "read": [], "write": write, "admin": ["admin"] } }));
        service.post("/v1/set-access-control", &body);
    };
    let requests = [
        (
            "/v1/manipulate-event",
            here(json!({
            "event_id": "cancelled", "action": "cancel", "time": NOON, "on_paradox": "reject" })),
        ),
        ("/v1/return-to-anchor", here(json!({ "anchor_id": anchor, "scope": "all" }))),
        ("/timelines", json!({ "timeline_id": "forked", "fork_of": HERE })),
    ];
    let send = |(path, body): &(&str, Value)| service.send(Request::post(path).key(&ada).json(body).idempotent("once"));
    let refusals = || {
        let parameters = [
            ("timeline_id", HERE),
            ("time_range", "../.."),
            ("action", "unauthorized_access_attempt"),
            ("limit", "100"),
        ];
        service.get("/v1/access-logs", &parameters)["logs"].as_array().unwrap().len()
    };
    lists(&["ada"]);
    for request in &requests {
        let first = send(request);
        assert!(first.status < 300, "{} {first}", request.0);
    }
    lists(&[]);
    for (count, request) in (1..).zip(&requests) {
        let again = send(request);
        assert_eq!(again.header(REPLAYED), None, "{} {again}", request.0);
        again.refused(404, "not_found");
        assert_eq!(refusals(), count, "{}", request.0);
    }
    service.audit();
}
