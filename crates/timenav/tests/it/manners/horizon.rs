//! A key with a horizon, over every way of asking there is: nothing that lies beyond is in any byte of an answer.

use std::collections::BTreeSet;
use std::io::Read as _;

use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};

use super::operations::{self, Operation, Takes};
use crate::http::{Answer, Request, target};
use crate::ledger;
use crate::service::Service;

mod views;

/// What the clock shows.
const NOW: &str = "2000-06-15T00:00:00Z";
/// Stands in whatever was known in time and is later than the clock, and nowhere else.
const LATER: &str = "zeppelin";
/// Stands in whatever the clock has passed and was learned after `known_at`, and nowhere else.
const LEARNED: &str = "quicksilver";
/// What is told to everybody, and has a prefix too.
const OPEN: [&str; 5] = ["healthz", "readyz", "metrics", "openapi", "openapi_3_2"];
/// What a key with a horizon is answered.
const ANSWERED: [&str; 14] = [
    "aggregate_events",
    "anchors",
    "check_timeline",
    "clock",
    "clock_stream",
    "event",
    "export_events",
    "limits",
    "monitor_events",
    "monitor_paradox",
    "scan_events",
    "session",
    "timeline",
    "timelines",
];

/// Two timelines, with names of one length, that hold the same within the horizon. Beyond it one holds more.
const BARE: &str = "trial-a";
const MORE: &str = "trial-b";

struct Keys {
    /// With `horizon: "clock"`.
    clock: String,
    /// With `known_at`.
    known: String,
    /// With both.
    both: String,
}

fn record(service: &Service, timeline: &str, event: &Value) {
    let answer = service.send(Request::post(&target("/v1/events", &[("timeline_id", timeline)])).json(event));
    assert_eq!(answer.status, 201, "{answer}");
}

fn marked(mark: &str, number: usize, time: &str) -> Value {
    json!({
        "event_id": format!("{mark}-{number}"), "time": time, "name": format!("{mark} {number}"),
        "description": format!("the {mark} of {number}"), "location": format!("{mark} field"),
        "actors": [format!("{mark} pilot"), "ada"], "source": mark, "attributes": { "kind": mark, "crewed": true },
    })
}

/// Makes a timeline, and a key of each kind for it.
fn furnished(service: &Service, timeline: &str) -> Keys {
    service.post("/v1/timelines", &json!({ "timeline_id": timeline }));
    service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
    service.post("/v1/travel", &json!({ "timeline_id": timeline, "destination_time": NOW }));
    let first = json!({
        "event_id": "open-1", "time": "2000-01-01T00:00:00Z", "name": "the launch", "location": "open field",
        "description": "as it was first told", "actors": ["ada"], "source": "the log",
        "attributes": { "kind": "open", "crewed": true },
    });
    record(service, timeline, &first);
    record(service, timeline, &json!({ "event_id": "open-2", "time": NOW, "location": "open field" }));
    if timeline == MORE {
        // One begins later, one ends later, and one may have been later.
        record(service, timeline, &marked(LATER, 1, "2010-01-01T00:00:00Z"));
        let mut ends_later = marked(LATER, 2, "2000-02-01T00:00:00Z");
        ends_later["end_time"] = json!("2010-01-01T00:00:00Z");
        record(service, timeline, &ends_later);
        let mut vague = marked(LATER, 3, "2000-03-01T00:00:00Z");
        vague["precision"] = json!("year");
        record(service, timeline, &vague);
        for number in 0..3 {
            let later = json!({
                "timeline_id": timeline, "description": format!("{LATER} {number}"), "timestamp": "2010-01-01T00:00:00Z",
            });
            service.post("/v1/set-anchor", &later);
        }
    }
    // This one is the first that anybody without them sees.
    let early = json!({ "timeline_id": timeline, "description": "early", "timestamp": "1999-01-01T00:00:00Z" });
    service.post("/v1/set-anchor", &early);
    let anchor = service.post("/v1/set-anchor", &json!({ "timeline_id": timeline, "description": "here" }));
    let known_at = anchor["anchor_id"].as_str().expect("an anchor").to_owned();
    let keys = Keys {
        clock: service.key(&json!({ "timeline_id": timeline, "horizon": "clock" })),
        known: service.key(&json!({ "timeline_id": timeline, "known_at": known_at })),
        both: service.key(&json!({ "timeline_id": timeline, "horizon": "clock", "known_at": known_at })),
    };
    if timeline == MORE {
        learn(service);
    }
    keys
}

/// Tells what was learned after `known_at`: another version, an event that the clock has passed, an anchor.
fn learn(service: &Service) {
    let corrected = json!({
        "event_id": "open-1", "time": "2000-01-01T00:00:00Z", "name": format!("the {LEARNED}"),
        "description": format!("as the {LEARNED} was told later"), "location": "open field",
    });
    service.post("/v1/correct-event", &json!({ "timeline_id": MORE, "event": corrected }));
    record(service, MORE, &marked(LEARNED, 1, "2000-04-01T00:00:00Z"));
    let anchor = json!({ "timeline_id": MORE, "description": format!("the {LEARNED} anchor") });
    service.post("/v1/set-anchor", &anchor);
    let done = json!({
        "timeline_id": MORE, "event_id": "open-2", "action": format!("rename to {LEARNED}"), "time": NOW,
    });
    service.post("/v1/manipulate-event", &done);
}

/// Sends a request, and returns the status and all of the answer as text: of a stream, the beginning.
fn whole(service: &Service, operation: &Operation, request: &Request) -> (u16, String) {
    let mut connection = service.connect();
    if !operation.id.ends_with("stream") {
        let answer = connection.exchange(request).unwrap_or_else(|error| panic!("{error}: {operation:?}"));
        return (answer.status, answer.to_string());
    }
    connection.send_request(request);
    let (status, headers) = connection.head().expect("an answer");
    let mut first = vec![0; 4_096];
    let read = connection.body(&headers).read(&mut first).expect("a body");
    (status, format!("{headers:?} {}", String::from_utf8_lossy(&first[..read])))
}

/// Returns a request for the timeline of the key.
fn asked(operation: &Operation, key: &str) -> Request {
    let mut parameters = operation.parameters();
    if let Some(timeline) = parameters.get_mut("timeline_id") {
        *timeline = json!(MORE);
    }
    let path = operation.path.replace("/timeline/main", &format!("/timeline/{MORE}"));
    let operation = &Operation { path, ..operation.clone() };
    let request = match &operation.takes {
        Takes::Parameters { .. } if operation.looks() => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let named = parameters.as_object().expect("parameters").iter();
            let named: Vec<(&str, String)> = named.map(|(name, value)| (name.as_str(), text(value))).collect();
            let named: Vec<(&str, &str)> = named.iter().map(|(name, value)| (*name, value.as_str())).collect();
            Request::new(&operation.method, &target(&operation.path, &named))
        }
        Takes::Parameters { .. } => operation.request().json(&parameters),
        Takes::Events => operation.request().json(&json!([{ "time": "2001-01-01T00:00:00Z" }])),
        Takes::File => operation.request().body("text/csv", b"time\n2001-01-01T00:00:00Z\n"),
        Takes::Nothing => operation.request(),
    };
    request.key(key)
}

#[test]
fn whatever_is_asked_for_nothing_beyond_is_in_the_answer() {
    let service = Service::start();
    let keys = furnished(&service, MORE);
    let hidden = [(&keys.clock, vec![LATER]), (&keys.known, vec![LEARNED]), (&keys.both, vec![LATER, LEARNED])];
    let mut answered = BTreeSet::new();
    // What is under no prefix is told to everybody, whatever they show.
    let described = operations::all(&service);
    for operation in described.iter().filter(|operation| operation.path.contains("/v1/")) {
        for (key, marks) in &hidden {
            let (status, text) = whole(&service, operation, &asked(operation, key));
            if text.contains("\"beyond_horizon\"") {
                assert_eq!(status, 403, "{operation:?}: {text}");
            } else {
                assert!(status < 500, "{operation:?}: {text}");
                answered.insert(operation.id.clone());
            }
            let told = marks.iter().find(|mark| text.contains(**mark));
            assert_eq!(told, None, "{operation:?}: {text}");
        }
    }
    let answered: Vec<&str> = answered.iter().map(String::as_str).filter(|id| !OPEN.contains(id)).collect();
    assert_eq!(answered, ANSWERED);
    service.audit();
}

#[test]
fn what_lies_beyond_makes_no_difference() {
    let service = Service::start();
    let [bare, more] = [BARE, MORE].map(|timeline| furnished(&service, timeline));
    let get = |path: &str, parameters: &[(&str, &str)]| Request::get(&target(path, parameters));
    let find = |location: &str, time_range: &str| {
        let parameters = [("location", location), ("time_range", time_range), ("limit", "2")];
        let body = json!({ "location": location, "time_range": time_range, "limit": 2 });
        [get("/v1/monitor-events", &parameters), Request::post("/v1/scan-events").json(&body)]
    };
    let export = |format| get("/v1/export-events", &[("format", format)]);
    let mut requests = vec![get("/v1/clock", &[]), export("ndjson"), export("csv")];
    requests.extend(["1", "2", "10"].map(|limit| get("/v1/anchors", &[("limit", limit)])));
    let names = ["open-1", "open-2", "zeppelin-1", "zeppelin-2", "quicksilver-1"];
    requests.extend(names.map(|name| get(&format!("/v1/events/{name}"), &[])));
    requests.extend(names.iter().flat_map(|name| find(name, "../..")));
    for location in ["*", "open field", "the launch", "zeppelin field", "zeppelin 2", "the quicksilver", "zeppelim"] {
        requests.extend(find(location, "../.."));
    }
    requests.extend(find("*", "2005-01-01T00:00:00Z/.."));
    requests.extend(find("*", "../2020-01-01T00:00:00Z"));
    requests.extend(filters().iter().flat_map(|filter| filtered(filter)));
    for as_of in ["0", "3", "9999", "2999-01-01T00:00:00Z"] {
        requests.push(get("/v1/events/open-1", &[("as_of", as_of)]));
        requests.push(get("/v1/monitor-events", &[("location", "*"), ("time_range", "../.."), ("as_of", as_of)]));
    }
    let mut statuses = BTreeSet::new();
    for request in requests {
        let ask = |key: &str, timeline: &str| plain(&service.send(request.clone().key(key)), timeline);
        let told = ask(&bare.both, BARE);
        assert_eq!(told, ask(&more.both, MORE), "{request:?}");
        statuses.insert(told.0);
    }
    assert_eq!(statuses, BTreeSet::from([200, 404]), "something is found, and something is not");
    service.audit();
}

/// What events may be asked for: what only hidden ones have, what only others have, and what both have.
fn filters() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut filters: Vec<Vec<_>> = [
        ("text", ["zeppelin", "told", "o", "the quicks"]),
        ("actor", ["zeppelin pilot", "quicksilver pilot", "ada", "bob"]),
        ("source", ["zeppelin", "quicksilver", "the log", "none"]),
        ("attribute.kind", ["zeppelin", "quicksilver", "open", "none"]),
    ]
    .iter()
    .flat_map(|(name, values)| values.iter().map(|value| vec![(*name, *value)]))
    .collect();
    filters.push(vec![("attribute.crewed", "true"), ("actor", "ada")]);
    filters.push(vec![("attribute.crewed", "true"), ("text", "as first")]);
    filters.push(Vec::new());
    filters
}

/// Returns requests in which a filter counts: pages from either end, a file, and counts by all that there is.
fn filtered(filter: &[(&str, &str)]) -> Vec<Request> {
    let all = [&[("location", "*"), ("time_range", "../..")], filter].concat();
    let mut requests = Vec::new();
    for order in ["oldest", "newest"] {
        let asked = [&all[..], &[("order", order), ("limit", "1")]].concat();
        requests.push(Request::get(&target("/v1/monitor-events", &asked)));
        let mut body: Value = asked.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        body["limit"] = json!(1);
        requests.push(Request::post("/v1/scan-events").json(&body));
        let file = [filter, &[("order", order), ("format", "csv")]].concat();
        requests.push(Request::get(&target("/v1/export-events", &file)));
    }
    for by in ["time", "cell", "actor", "source", "attribute.kind"] {
        requests.push(Request::get(&target("/v1/aggregate-events", &[&[("by", by)], filter].concat())));
    }
    requests
}

/// Returns status and body without what differs between any two requests: positions up to which was read, and names.
fn plain(answer: &Answer, timeline: &str) -> (u16, String) {
    let mut body = answer.json_or_null();
    let Some(members) = body.as_object_mut() else {
        return (answer.status, answer.text().replace(timeline, "trial"));
    };
    for name in ["as_of", "request_id", "next_cursor", "origin_host"] {
        members.remove(name);
    }
    for anchor in members.get_mut("anchors").and_then(Value::as_array_mut).into_iter().flatten() {
        let anchor = anchor.as_object_mut().expect("an anchor");
        anchor.retain(|name, _| !["anchor_id", "position", "set_at"].contains(&name.as_str()));
    }
    (answer.status, body.to_string().replace(timeline, "trial"))
}

#[test]
fn other_timelines_lie_beyond_be_they_there_or_not() {
    let service = Service::start();
    let keys = furnished(&service, BARE);
    for timeline in [MORE, "main", "system", "nowhere"] {
        for path in ["/v1/clock", "/v1/clock/stream", "/v1/events/open-1", "/v1/export-events"] {
            let request = Request::get(&target(path, &[("timeline_id", timeline)]));
            let refused = service.send(request.key(&keys.both)).refused(403, "beyond_horizon");
            let detail = refused["detail"].as_str().unwrap_or_default();
            assert!(detail.contains(BARE) && detail.contains("use another key"), "{refused}");
        }
    }
    // A key with a horizon makes none without one.
    let more = json!({ "timeline_id": BARE });
    service.send(Request::post("/v1/api-keys").json(&more).key(&keys.clock)).refused(403, "beyond_horizon");
    service.audit();
}

#[test]
fn the_clock_opens_what_it_reaches() {
    let service = Service::start();
    let keys = furnished(&service, MORE);
    let count = |key: &str| {
        let all = json!({ "location": "*", "time_range": "../.." });
        let found = service.send(Request::post("/v1/scan-events").json(&all).key(key)).expect(200);
        (found["events"].as_array().map(Vec::len), found["summary"]["count"].as_u64())
    };
    assert_eq!(count(&keys.both), (Some(2), Some(2)));
    assert_eq!(count(&keys.clock), (Some(3), Some(3)), "what was learned later, and the clock has passed");
    assert_eq!(count(&keys.known), (Some(5), Some(5)), "what was known in time, and is later than the clock");
    service.post("/v1/travel", &json!({ "timeline_id": MORE, "destination_time": "2010-01-01T00:00:00Z" }));
    assert_eq!(count(&keys.both), (Some(5), Some(5)));
    service.post("/v1/travel", &json!({ "timeline_id": MORE, "destination_time": "1999-01-01T00:00:00Z" }));
    assert_eq!(count(&keys.both), (Some(0), Some(0)));
    service.audit();
}

#[test]
fn a_horizon_that_cannot_be_is_refused() {
    let service = Service::start();
    let refused = |body: Value, field: &str| {
        let refused = service.send(Request::post("/v1/api-keys").json(&body)).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], format!("#/{field}"), "{refused}");
    };
    refused(json!({ "horizon": "tomorrow" }), "horizon");
    refused(json!({ "known_at": 9_999 }), "known_at");
    refused(json!({ "known_at": "1970-01-01T00:00:00Z" }), "known_at");
    refused(json!({ "horizon": "clock", "timeline_id": "system" }), "timeline_id");
    let none = json!({ "known_at": "anchor_01h455vb4pex5vsknk084sn02q" });
    service.send(Request::post("/v1/api-keys").json(&none)).refused(404, "not_found");
    let listed = service.send(Request::post("/v1/api-keys").json(&json!({ "horizon": "clock", "known_at": 0 })));
    let made = listed.expect(201);
    assert_eq!((&made["horizon"], &made["known_at"]), (&json!("clock"), &json!(0)));
    let listed = service.get("/v1/api-keys", &[]);
    assert_eq!((&listed["api_keys"][0]["horizon"], &listed["api_keys"][0]["known_at"]), (&json!("clock"), &json!(0)));
    service.audit();
}

#[test]
fn a_certificate_says_what_was_seen_and_what_is_not_certified() {
    let service = Service::start();
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    furnished(&service, BARE);
    let admins = json!({ "timeline_id": BARE, "permissions": { "read": ["ada"] } });
    service.post("/v1/set-access-control", &admins);
    let own = service.key(&json!({ "user_id": "ada", "timeline_id": BARE }));
    let body = json!({ "user_id": "ada", "timeline_id": BARE, "horizon": "clock", "known_at": 3 });
    let made = service.post("/v1/api-keys", &body);
    let (key, key_id) = (made["api_key"].as_str().unwrap(), made["key_id"].as_str().unwrap());
    for path in ["/v1/events/open-1", "/v1/clock"] {
        service.send(Request::get(path).key(key)).expect(200);
    }
    service.send(Request::get("/v1/stream").key(key)).refused(403, "beyond_horizon");
    let asked = target("/v1/certificates", &[("key_id", key_id)]);
    for asker in [&service.admin, &own] {
        let certified = service.send(Request::get(&asked).key(asker)).expect(200);
        assert_eq!(
            (&certified["reads"], &certified["refusals"], &certified["gone"]),
            (&json!(2), &json!(1), &json!(0))
        );
        assert_eq!((&certified["latest_time"], &certified["latest_position"]), (&json!(NOW), &json!(3)));
        assert_eq!((&certified["others"], &certified["horizon"]), (&json!(1), &json!("clock")));
        let entries = certified["entries"].as_array().expect("entries");
        assert_eq!(entries.len(), 2, "{certified}");
        let first = &entries[0]["reads"][0]["read"];
        assert_eq!((&first["action"], &first["key"]), (&json!("event"), &json!(key_id)), "{certified}");
        let parameters = first["parameters"].to_string();
        assert!(parameters.contains("known_at") && parameters.contains("clock"), "{parameters}");
        check_offline(&certified, &service.public_key);
    }
    // Nobody else is told whether there is such a key, and a key without a horizon has nothing to certify.
    let bob = service.user("bob");
    service.send(Request::get(&asked).key(&bob)).refused(404, "not_found");
    service.send(Request::get(&asked).key(key)).refused(403, "beyond_horizon");
    let none = service.post("/v1/api-keys", &json!({ "timeline_id": BARE }));
    let asked = target("/v1/certificates", &[("key_id", none["key_id"].as_str().unwrap())]);
    service.send(Request::get(&asked)).refused(400, "invalid_parameter");
    service.audit();
}

/// Checks a certificate as a stranger would, with nothing but the public key.
fn check_offline(certified: &Value, public_key: &[u8; 32]) {
    let told = ledger::verified_lines(certified["certificate"].as_str().expect("a note"), 1, public_key);
    let tree = ledger::verified(certified["checkpoint"].as_str().expect("a note"), public_key);
    assert_eq!((told[0].as_str(), &told[1]), ("timenav-certificate/v1", &tree.origin));
    let value = |word: &str| told.iter().find_map(|line| line.strip_prefix(&format!("{word} "))).expect("a line");
    assert_eq!(value("tree"), format!("{} {}", tree.size, BASE64.encode(&tree.root)));
    assert_eq!((value("latest-time"), value("latest-position")), (NOW, "3"));
    let mut reads = Vec::new();
    for entry in certified["entries"].as_array().expect("entries") {
        let leaf = entry["leaf"].as_str().expect("a leaf");
        let position = entry["position"].as_u64().expect("a position");
        let hash = ledger::leaf_hash(leaf.as_bytes());
        assert!(ledger::includes(&hash, position, tree.size, &ledger::hashes(&entry["hashes"]), &tree.root));
        let payload_hash = ledger::hash(&ledger::entry(leaf)["payload_hash"]);
        for shown in entry["reads"].as_array().expect("reads") {
            let salt = HEXLOWER.decode(shown["salt"].as_str().expect("a salt").as_bytes()).expect("digits");
            // A read is written with sorted keys, as this is.
            let hash = ledger::leaf_hash(&ledger::sha256(&[&salt, shown["read"].to_string().as_bytes()]));
            let (index, count) = (shown["index"].as_u64().unwrap(), shown["count"].as_u64().unwrap());
            assert!(ledger::includes(&hash, index, count, &ledger::hashes(&shown["hashes"]), &payload_hash));
            reads.push(hash);
        }
    }
    assert_eq!(value("reads"), reads.len().to_string());
    assert_eq!(value("reads-root"), BASE64.encode(&ledger::root(&reads)));
}

#[test]
fn no_cursor_anchor_or_restart_leads_beyond() {
    let mut service = Service::start();
    let keys = furnished(&service, MORE);
    let anchors = service.get("/v1/anchors", &[("timeline_id", MORE)]);
    let anchors = anchors["anchors"].as_array().expect("anchors");
    let anchor = |mark: &str| {
        let found = anchors.iter().find(|one| one["description"].as_str().is_some_and(|text| text.contains(mark)));
        found.and_then(|one| one["anchor_id"].as_str()).expect("an anchor")
    };
    let (learned, later) = (anchor(LEARNED), anchor(LATER));
    let as_of =
        |anchor: &str| target("/v1/monitor-events", &[("location", "*"), ("time_range", "../.."), ("as_of", anchor)]);
    for key in [&keys.clock, &keys.both] {
        service.send(Request::get(&as_of(later)).key(key)).refused(404, "not_found");
    }
    service.send(Request::get(&as_of(later)).key(&keys.known)).expect(200);
    let all = [("location", "*"), ("time_range", "../.."), ("limit", "1")];
    let open = service.get("/v1/monitor-events", &[&all[..], &[("timeline_id", MORE)]].concat());
    let cursor = open["next_cursor"].as_str().expect("a cursor").to_owned();
    for again in [false, true] {
        for key in [&keys.known, &keys.both] {
            let ask = |more: (&str, &str)| {
                let path = target("/v1/monitor-events", &[&all[..], &[more]].concat());
                service.send(Request::get(&path).key(key))
            };
            let refused = ask(("as_of", learned)).refused(404, "not_found");
            assert!(!refused.to_string().contains(LEARNED), "{refused}");
            // It was given to a key of the same user that sees more.
            ask(("cursor", &cursor)).refused(400, "invalid_parameter");
        }
        let path = target("/v1/monitor-events", &all);
        let page = service.send(Request::get(&path).key(&keys.both)).expect(200);
        let next = page["next_cursor"].as_str().expect("a cursor");
        let path = target("/v1/monitor-events", &[&all[..], &[("cursor", next)]].concat());
        let last = service.send(Request::get(&path).key(&keys.both)).expect(200);
        assert_eq!((&last["events"][0]["event_id"], &last["has_more"]), (&json!("open-2"), &json!(false)), "{last}");
        if !again {
            service.restart();
        }
    }
    service.audit();
}

#[test]
fn a_fork_has_a_horizon_of_its_own() {
    let service = Service::start();
    furnished(&service, MORE);
    service.post("/v1/timelines", &json!({ "timeline_id": "what-if", "fork_of": MORE }));
    service.post("/v1/pause-time", &json!({ "timeline_id": "what-if" }));
    let made = service.post("/v1/api-keys", &json!({ "timeline_id": "what-if", "horizon": "clock", "known_at": 0 }));
    let key = made["api_key"].as_str().expect("a key");
    record(&service, "what-if", &marked("galleon", 1, "2000-05-01T00:00:00Z"));
    let path = target("/v1/monitor-events", &[("location", "*"), ("time_range", "../..")]);
    let found = service.send(Request::get(&path).key(key)).expect(200);
    let ids = found["events"].as_array().expect("events").iter().map(|event| event["event_id"].as_str().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), ["open-1", "quicksilver-1", "open-2"], "what was there before the fork");
    service.audit();
}

/// More events are hidden than a page or a count looks through, and each of them has the word.
#[test]
fn what_is_hidden_is_not_looked_through() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": NOW }));
    let mut file = String::new();
    for number in 0..50_001 {
        let end_time = if number == 50_000 { NOW } else { "2010-01-01T00:00:00Z" };
        let event =
            json!({ "event_id": format!("e{number}"), "time": NOW, "end_time": end_time, "description": "needle" });
        file.push_str(&event.to_string());
        file.push('\n');
    }
    let import = Request::post("/v1/import-events").body("application/x-ndjson", file.as_bytes());
    assert_eq!(service.send(import).expect(200)["taken"], 50_001);
    let key = service.key(&json!({ "horizon": "clock" }));
    for filter in [&[][..], &[("text", "needle")]] {
        let asked = [&[("location", "*"), ("time_range", "../..")], filter].concat();
        for order in ["oldest", "newest"] {
            let path = target("/v1/monitor-events", &[&asked[..], &[("order", order)]].concat());
            let page = service.send(Request::get(&path).key(&key)).expect(200);
            assert_eq!(
                (&page["events"][0]["event_id"], &page["has_more"]),
                (&json!("e50000"), &json!(false)),
                "{page}"
            );
            assert_eq!((page["events"].as_array().map(Vec::len), page.get("searched_to")), (Some(1), None), "{page}");
        }
        let body: Value = asked.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let scanned = service.send(Request::post("/v1/scan-events").json(&body).key(&key)).expect(200);
        assert_eq!(scanned["summary"]["count"], 1, "{scanned}");
        let path = target("/v1/aggregate-events", &[&[("by", "actor")], filter].concat());
        let counted = service.send(Request::get(&path).key(&key)).expect(200);
        assert_eq!((&counted["count"], counted.get("counted_to")), (&json!(1), None), "{counted}");
        let file = service.send(Request::get(&target("/v1/export-events", filter)).key(&key)).text();
        assert_eq!(file.lines().count(), 1);
    }
    service.audit();
}
