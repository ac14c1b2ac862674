//! A stranger names other users' resources in every possible way: the response is the same as if they did not exist,
//! and every attempt is logged at its target.
//!
//! Two operations are known to reveal that a name is taken, because names are global: creating a timeline of that name
//! returns 409, and a first write only creates a missing timeline. The second can be turned off. Response times are not
//! compared.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::operations::{self, Operation, Takes};
use crate::support::dice::Dice;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::messages::open;

const ENCRYPTION_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const STRANGER: &str = "mallory";
const PASSWORD: &str = "correct horse battery staple";
const AT: &str = "2001-01-01T00:00:00Z";
const REFUSED: &str = "unauthorized_access_attempt";

/// The ids of resources that belong to a user or do not exist.
#[derive(Clone)]
struct Things {
    ids: HashMap<&'static str, String>,
    cursor: String,
    tag: String,
    /// A key of the stranger that is bound to the timeline.
    bound: String,
}

/// How a request names its timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Address,
    Body,
    /// In a QUERY body.
    Query,
    /// Implicitly: the key is bound to it.
    Key,
}

/// A request of the stranger with the expected result.
struct Attempt {
    operation: String,
    request: Request,
    status: u16,
    /// The ledger of its target.
    at: String,
}

impl Things {
    fn id(&self, name: &str) -> Option<&str> {
        self.ids.get(name).map(String::as_str)
    }

    fn timeline(&self) -> &str {
        &self.ids["timeline_id"]
    }

    /// Removes all ids from a text.
    fn without(&self, text: &str) -> String {
        let mut ids: Vec<_> = self.ids.iter().collect();
        // An id may be part of another.
        ids.sort_unstable_by_key(|(_, id)| std::cmp::Reverse(id.len()));
        ids.into_iter().fold(text.to_owned(), |text, (name, id)| text.replace(id.as_str(), name))
    }
}

/// Creates a key of the stranger that is bound to another user's timeline, as an operator can. It grants nothing.
fn bound(service: &Service, timeline: &str) -> String {
    service.key(&json!({ "user_id": STRANGER, "timeline_id": timeline }))
}

/// Creates a timeline with one resource of each kind, and a key of the stranger that is bound to it.
fn made(service: &Service, owner: (&str, &str), timeline: &str) -> Things {
    let (user_id, key) = owner;
    let post = |path: &str, body: Value| {
        let mut body = body;
        body["timeline_id"] = json!(timeline);
        let answer = service.send(Request::post(path).json(&body).key(key).idempotent(&format!("{path}:{timeline}")));
        assert!(matches!(answer.status, 200 | 201), "{answer}");
        answer.json()
    };
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let event_id = format!("event-of-{timeline}");
    post("/v1/events", json!({ "event_id": event_id, "time": AT }));
    // A second one, so that a page can have a next one.
    service.post("/v1/events", &json!({ "time": AT, "timeline_id": timeline }));
    let anchor_id = text(&post("/v1/set-anchor", json!({}))["anchor_id"]);
    let sealed = post("/v1/encrypt-data", json!({ "data": {}, "encryption_key": ENCRYPTION_KEY }));
    let key_id = text(&post("/v1/api-keys", json!({}))["key_id"]);
    let session_id = text(&service.try_log_in(user_id, PASSWORD).expect(200)["session_id"]);
    let parameters = [("timeline_id", timeline), ("location", "*"), ("time_range", "../.."), ("limit", "1")];
    let page = service.send(Request::get(&target("/v1/monitor-events", &parameters)).key(key)).expect(200);
    let lists = service.send(Request::get(&target("/v1/access-control", &parameters[..1])).key(key));
    let (timer_id, settled) =
        fired(&post, &text(&service.get("/v1/clock", &parameters[..1])["current_time"]), timeline);
    let hold = post("/v1/holds", json!({ "reason": timeline, "ttl": "10m" }));
    Things {
        ids: HashMap::from([
            ("timeline_id", timeline.to_owned()),
            ("user_id", user_id.to_owned()),
            ("anchor_id", anchor_id),
            ("data_id", text(&sealed["data_id"])),
            ("event_id", event_id),
            ("key_id", key_id),
            ("session_id", session_id),
            ("timer_id", timer_id),
            ("advance_id", text(&settled["advance_id"])),
            ("hold_id", text(&hold["hold"]["hold_id"])),
            ("firing_id", text(&settled["firings"][0]["firing_id"])),
            ("follower_id", follower(service, key, timeline)),
            ("queue", format!("queue-of-{timeline}")),
        ]),
        cursor: text(&page["next_cursor"]),
        tag: lists.header("etag").expect("a tag").to_owned(),
        bound: bound(service, timeline),
    }
}

/// Briefly follows the clock of a timeline. Returns the id of the follower.
fn follower(service: &Service, key: &str, timeline: &str) -> String {
    let mut connection = service.connect();
    let request = target("/v1/clock/stream", &[("timeline_id", timeline), ("follow", "web"), ("faults", "true")]);
    let message = open(&mut connection, service, Request::get(&request).key(key)).next().expect("a message");
    message.data["follower_id"].as_str().expect("a text").to_owned()
}

/// Sets a timer and moves the clock past it. Returns its id and the receipt.
fn fired(post: &impl Fn(&str, Value) -> Value, now: &str, timeline: &str) -> (String, Value) {
    let year = now.split('-').next().and_then(|year| year.parse::<i32>().ok()).expect("a year") + 1;
    let timer_id = format!("timer-of-{timeline}");
    let deliver = json!({ "to": "queue", "queue": format!("queue-of-{timeline}") });
    let at = format!("{year}-01-01T00:00:00Z");
    post("/v1/timers", json!({ "timer_id": timer_id, "at": at, "deliver": deliver }));
    let moved = post("/v1/travel", json!({ "destination_time": format!("{year}-01-02T00:00:00Z") }));
    (timer_id, moved["receipt"].clone())
}

/// Creates timelines of several owners. The last one does not exist.
fn furnished(service: &Service) -> Vec<Things> {
    let (ada, bob) = (service.user("user-ada"), service.user("user-bob"));
    for user_id in ["user-ada", "user-bob", "admin"] {
        service.set_password(user_id, PASSWORD);
    }
    for (key, timeline) in [(&ada, "first-of-ada"), (&ada, "second-of-ada"), (&bob, "first-of-bob")] {
        service.send(Request::post("/timelines").json(&json!({ "timeline_id": timeline })).key(key)).expect(201);
    }
    let mut all = vec![
        made(service, ("user-ada", &ada), "first-of-ada"),
        made(service, ("user-ada", &ada), "second-of-ada"),
        made(service, ("user-bob", &bob), "first-of-bob"),
        made(service, ("admin", &service.admin), "main"),
    ];
    let mut system = Things { bound: bound(service, "system"), ..all[3].clone() };
    // It has no sealed record, and a record of another timeline belongs to that timeline.
    system.ids.extend([("timeline_id", "system".to_owned()), ("data_id", format!("data_{}", "0".repeat(26)))]);
    all.push(system);
    all
}

/// Returns whether an operation concerns one timeline, other than by the binding of a key.
fn is_on_a_timeline(operation: &Operation) -> bool {
    let named = match &operation.takes {
        Takes::Parameters { properties, .. } => properties.contains_key("timeline_id"),
        Takes::Events | Takes::File => true,
        Takes::Nothing => false,
    };
    let named = named || operation.id == "timelines_diff";
    (named || operation.template.contains("{timeline_id}")) && operation.id != "create_api_key"
}

/// Returns whether an operation can be called in this way.
fn can(operation: &Operation, way: Way) -> bool {
    let in_path = operation.template.contains("{timeline_id}");
    match (&operation.takes, way) {
        (Takes::Nothing, way) => way == Way::Address,
        (Takes::Parameters { required, .. }, Way::Key) => {
            let is_named = required.iter().any(|name| name == "timeline_id" || name == "base");
            is_on_a_timeline(operation) && !in_path && !is_named
        }
        (_, Way::Address | Way::Key) => true,
        (takes, Way::Body) => !matches!(takes, Takes::File),
        (_, Way::Query) => operation.looks(),
    }
}

/// Returns the parameters of an operation with all ids from `things`.
fn parameters(operation: &Operation, things: &Things, dice: &mut Dice) -> Value {
    let mut parameters = operation.parameters();
    if let Takes::Parameters { properties, .. } = &operation.takes {
        for name in properties.keys() {
            if let Some(id) = things.id(name) {
                parameters[name] = json!(id);
            }
        }
        if properties.contains_key("firing_ids") {
            parameters["firing_ids"] = json!([things.ids["firing_id"]]);
        }
        if properties.contains_key("as_of") && dice.below(2) == 0 {
            parameters["as_of"] = json!(things.ids["anchor_id"]);
        }
        if properties.contains_key("cursor") && dice.below(2) == 0 {
            parameters["cursor"] = json!(things.cursor);
        }
    } else if dice.below(2) == 0 {
        parameters["event_id"] = json!(things.ids["event_id"]);
    }
    let fields = parameters.as_object_mut().expect("parameters are an object");
    if operation.id == "erase_data" {
        // One resource is erased at a time.
        fields.remove(["data_id", "event_id"][usize::from(dice.below(2) == 0)]);
    }
    if operation.id == "erase_reads" {
        // Reads are named either directly or by their user.
        fields.remove(["reads", "user_id"][usize::from(dice.below(2) == 0)]);
    }
    match operation.id.as_str() {
        // One of them may be the stranger's own.
        "timelines_diff" => {
            let hidden = things.timeline();
            let (a, b) = match dice.below(3) {
                0 => (hidden, hidden),
                1 => ("own", hidden),
                _ => (hidden, "own"),
            };
            fields.extend([("base".to_owned(), json!(a)), ("compare".to_owned(), json!(b))]);
        }
        // The id of the fork is unused.
        "create_timeline" => {
            fields.insert("timeline_id".to_owned(), json!("fork"));
            fields.insert("fork_of".to_owned(), json!(things.timeline()));
            if dice.below(2) == 0 {
                fields.insert("at".to_owned(), json!(things.ids["anchor_id"]));
            }
        }
        _ => {
            fields.remove("timeline_id");
        }
    }
    if let Some(key) = fields.get_mut("encryption_key") {
        *key = json!(ENCRYPTION_KEY);
    }
    parameters
}

/// Returns the path of an operation with ids from `things`.
fn path(operation: &Operation, things: &Things) -> String {
    let path =
        things.ids.iter().fold(operation.template.clone(), |path, (name, id)| path.replace(&format!("{{{name}}}"), id));
    let path = path.replace("{tile}", "0/000.p/1");
    assert!(!path.contains('{'), "no id is known for {path}");
    path
}

/// Returns a request for other users' resources.
fn request(operation: &Operation, things: &Things, way: Way, stranger: &str, dice: &mut Dice) -> Request {
    let mut fields = parameters(operation, things, dice);
    let names_itself = ["timelines_diff", "create_timeline"].contains(&operation.id.as_str());
    let in_path = operation.template.contains("{timeline_id}");
    let named = !in_path && is_on_a_timeline(operation) && !names_itself && way != Way::Key;
    let mut in_address: Vec<(String, String)> = Vec::new();
    match way {
        _ if !named => {}
        Way::Address => in_address.push(("timeline_id".to_owned(), things.timeline().to_owned())),
        Way::Body | Way::Query | Way::Key => fields["timeline_id"] = json!(things.timeline()),
    }
    let in_body = !operation.looks() || matches!(way, Way::Body | Way::Query);
    if !in_body {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        in_address.extend(fields.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))));
    }
    let pairs: Vec<(&str, &str)> = in_address.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let method = if way == Way::Query { "QUERY" } else { &operation.method };
    let mut request = Request::new(method, &target(&path(operation, things), &pairs));
    match operation.takes {
        Takes::File => request = request.body("application/x-ndjson", fields.to_string().as_bytes()),
        Takes::Parameters { .. } | Takes::Events if in_body => request = request.json(&fields),
        Takes::Parameters { .. } | Takes::Events | Takes::Nothing => {}
    }
    if operation.id == "set_access_control" && dice.below(2) == 0 {
        request = request.header("If-Match", &things.tag);
    }
    if operation.method == "POST" && dice.below(2) == 0 {
        // The owner has used this key for a request.
        request = request.idempotent(&format!("{}:{}", operation.template, things.timeline()));
    }
    request.key(if way == Way::Key { &things.bound } else { stranger })
}

/// Returns every operation that can name a resource of a user.
fn naming(service: &Service) -> Vec<Operation> {
    let mut all = operations::all(service);
    // User names are not revealed, and everyone may try to log in.
    all.retain(|operation| operation.id != "log_in");
    all.retain(|operation| {
        let is_name = |name: &String| name.ends_with("_id") || ["a", "b"].contains(&name.as_str());
        let names = |takes: &Takes| match takes {
            Takes::Parameters { properties, .. } => properties.keys().any(is_name),
            Takes::Events | Takes::File => true,
            Takes::Nothing => false,
        };
        names(&operation.takes) || operation.template.contains("_id}")
    });
    all
}

/// Returns every operation under every path, in every way.
fn ways(service: &Service) -> Vec<(Operation, Way)> {
    let ways = [Way::Address, Way::Body, Way::Query, Way::Key];
    let of = |operation: Operation| ways.map(|way| (operation.clone(), way));
    naming(service).into_iter().flat_map(of).filter(|(operation, way)| can(operation, *way)).collect()
}

fn attempt(operation: &Operation, things: &Things, way: Way, stranger: &str, dice: &mut Dice) -> Attempt {
    let on_a_timeline = is_on_a_timeline(operation);
    Attempt {
        operation: operation.id.clone(),
        request: request(operation, things, way, stranger, dice),
        // 403 if only the permission is missing: that users and keys exist is not secret, their ids are.
        status: if on_a_timeline || ["revoke_api_key", "end_session"].contains(&operation.id.as_str()) {
            404
        } else {
            403
        },
        at: if on_a_timeline { things.timeline() } else { "system" }.to_owned(),
    }
}

/// Returns the rejected users and operations in a ledger, in order.
fn refusals(service: &Service, timeline: &str) -> Vec<(String, String)> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let mut parameters =
            vec![("timeline_id", timeline), ("time_range", "../.."), ("action", REFUSED), ("limit", "1000")];
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/v1/access-logs", &parameters);
        let text = |entry: &Value, name: &str| entry[name].as_str().expect("a text").to_owned();
        let logs = page["logs"].as_array().expect("a list");
        found.extend(logs.iter().map(|entry| (text(entry, "user_id"), text(entry, "subject"))));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return found,
        }
    }
}

/// Checks that the ledgers contain exactly these attempts, each in the ledger of its target, in order, and with one
/// name per operation.
fn check_ledgers(service: &Service, attempts: &[Attempt]) {
    let mut names: HashMap<String, String> = HashMap::new();
    for timeline in service.timelines() {
        let aimed: Vec<&Attempt> = attempts.iter().filter(|attempt| attempt.at == timeline).collect();
        let logged = refusals(service, &timeline);
        assert_eq!(logged.len(), aimed.len(), "attempts at {timeline}");
        for (attempt, (user_id, subject)) in aimed.into_iter().zip(logged) {
            assert_eq!(user_id, "mallory", "{timeline}: {:?}", attempt.request);
            let name = names.entry(attempt.operation.clone()).or_insert_with(|| subject.clone());
            assert_eq!(subject, *name, "{timeline}: {:?}", attempt.request);
        }
    }
    assert!(names.len() > 25, "{names:?}");
}

#[test]
fn foreign_resources_return_404_and_attempts_are_logged() {
    let service = Service::start();
    let stranger = service.user(STRANGER);
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "own" })).key(&stranger)).expect(201);
    let all = furnished(&service);
    let mut connection = service.connect();
    let mut dice = Dice::new(1);
    let mut attempts = Vec::new();
    for (operation, way) in ways(&service) {
        for things in &all {
            attempts.push(attempt(&operation, things, way, &stranger, &mut dice));
        }
    }
    assert!(attempts.len() > 900, "{}", attempts.len());
    for attempt in &attempts {
        let answer = connection.exchange(&attempt.request).unwrap();
        let code = if attempt.status == 404 { "not_found" } else { "permission_denied" };
        assert_eq!(answer.status, attempt.status, "{:?}: {answer}", attempt.request);
        answer.refused(attempt.status, code);
    }
    check_ledgers(&service, &attempts);
    let made = Request::post("/timelines").json(&json!({ "timeline_id": "first-of-ada" })).key(&stranger);
    service.send(made).refused(409, "already_exists");
    assert!(!service.timelines().contains(&"fork".to_owned()));
    service.audit();
}

/// Returns a response with the ids removed.
fn response_text(answer: &Answer, things: &Things) -> (u16, Vec<String>, String) {
    let mut body = answer.json();
    body["request_id"] = json!("");
    let headers = answer.headers.iter().map(|(name, _)| name.clone()).collect();
    (answer.status, headers, things.without(&body.to_string()))
}

#[test]
fn forbidden_and_missing_resources_return_the_same_404() {
    let service = Service::with(&["--no-timelines-by-first-write"]);
    let stranger = service.user(STRANGER);
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "own" })).key(&stranger)).expect(201);
    let all = furnished(&service);
    // Keys for nonexistent and for hidden timelines get the same response.
    let [theirs, nobodys] = ["first-of-ada", "no-such-timeline"].map(|timeline| {
        let bound = Request::post("/v1/api-keys").json(&json!({ "timeline_id": timeline })).key(&stranger);
        let refused = service.send(bound).refused(404, "not_found");
        refused["detail"].as_str().unwrap().replace(timeline, "it")
    });
    assert_eq!(theirs, nobodys);
    let nothing = Things {
        ids: HashMap::from([
            ("timeline_id", "no-such-timeline".to_owned()),
            ("user_id", "no-such-user".to_owned()),
            ("anchor_id", format!("anchor_{}", "0".repeat(26))),
            ("data_id", format!("data_{}", "0".repeat(26))),
            ("event_id", "no-such-event".to_owned()),
            ("key_id", format!("key_{}", "0".repeat(26))),
            ("session_id", format!("session_{}", "0".repeat(26))),
            ("timer_id", "no-such-timer".to_owned()),
            ("advance_id", format!("advance_{}", "0".repeat(26))),
            ("hold_id", format!("hold_{}", "0".repeat(26))),
            ("firing_id", format!("firing_{}", "0".repeat(26))),
            ("follower_id", format!("follower_{}", "0".repeat(26))),
            ("queue", "no-such-queue".to_owned()),
        ]),
        ..all[0].clone()
    };
    let mut connection = service.connect();
    for (seed, (operation, way)) in (0..).zip(ways(&service)).filter(|(_, (_, way))| *way != Way::Key) {
        for things in &all {
            // The same random choices for both, so that only the ids differ.
            let [hidden, missing] = [things, &nothing].map(|things| {
                let request = request(&operation, things, way, &stranger, &mut Dice::new(seed));
                response_text(&connection.exchange(&request).unwrap(), things)
            });
            assert_eq!(hidden, missing, "{} {way:?} {}", operation.id, things.timeline());
        }
    }
    service.audit();
}

#[test]
fn foreign_ids_on_own_timeline_are_not_found() {
    let service = Service::start();
    let stranger = service.user(STRANGER);
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "own" })).key(&stranger)).expect(201);
    let all = furnished(&service);
    let mut connection = service.connect();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for things in &all[..4] {
        let ask = |path: &str, body: Value| Request::post(path).json(&body).key(&stranger);
        for name in ["anchor_id", "event_id", "data_id"] {
            let path = if name == "anchor_id" { "/v1/return-to-anchor" } else { "/v1/erase-data" };
            let request = ask(path, json!({ "timeline_id": "own", name: things.ids[name] }));
            connection.exchange(&request).unwrap().refused(404, "not_found");
        }
        let opening = |timeline: Value| {
            let body =
                json!({ "timeline_id": timeline, "data_id": things.ids["data_id"], "encryption_key": ENCRYPTION_KEY });
            ask("/v1/decrypt-data", body)
        };
        connection.exchange(&opening(json!("own"))).unwrap().refused(404, "not_found");
        connection.exchange(&opening(Value::Null)).unwrap().refused(404, "not_found");
        // An anchor belongs to its own timeline only.
        let look = |anchor: &str| {
            let parameters = [("timeline_id", "own"), ("location", "*"), ("time_range", "../.."), ("as_of", anchor)];
            Request::get(&target("/v1/monitor-events", &parameters)).key(&stranger)
        };
        let of_nobody = format!("anchor_{}", "0".repeat(26));
        let [theirs, nobodys] = [&things.ids["anchor_id"], &of_nobody].map(|anchor| {
            let answer = connection.exchange(&look(anchor)).unwrap();
            let mut body = answer.json();
            body["request_id"] = json!("");
            (answer.status, body.to_string().replace(anchor.as_str(), "anchor"))
        });
        assert_eq!((theirs.0, &theirs), (404, &nobodys));
        let fork = json!({ "timeline_id": "fork", "fork_of": "own", "at": things.ids["anchor_id"] });
        connection.exchange(&ask("/timelines", fork)).unwrap().refused(404, "not_found");
        // A sealed record has an owner wherever it is looked up; an event or anchor belongs to a timeline, and another
        // timeline may have one with the same id.
        *at.entry("own").or_default() += 2;
        *at.entry(things.timeline()).or_default() += 1;
    }
    for timeline in service.timelines() {
        let expected = at.get(timeline.as_str()).copied().unwrap_or(0);
        let logged = refusals(&service, &timeline);
        assert_eq!(logged.len(), expected, "attempts at {timeline}: {logged:?}");
        assert!(logged.iter().all(|(user_id, _)| user_id == "mallory"));
    }
    service.audit();
}
