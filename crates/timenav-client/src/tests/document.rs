//! The calls and types of the client match the OpenAPI document.

use std::collections::BTreeSet;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::KEY;
use crate::{
    Assertion, Call, Cause, Client, Effect, Geo, Instant, Misfire, NewEvent, Order, Permissions, Request,
    RestrictionLevel, ReturnScope, Timer, TimerState,
};

const MOMENT: &str = "2027-01-01T00:00:00Z";
/// In a sample, the member that represents members of any name.
const ANY: &str = "*";

/// A call with its options, and a function that parses and serializes its response.
struct Row {
    request: Request,
    read: fn(Value) -> Result<Value, serde_json::Error>,
}

fn row<T: DeserializeOwned + Serialize, O>(call: Call<'_, T, O>) -> Row {
    Row { request: call.build().unwrap(), read: |value| serde_json::to_value(serde_json::from_value::<T>(value)?) }
}

fn at() -> Instant {
    MOMENT.parse().unwrap()
}

fn event() -> NewEvent {
    let event = NewEvent::new(at()).event_id("e").end_time(at()).name("n").description("d").location("l");
    let event = event.geo(Geo::new(1.0, 2.0).radius_m(3.0)).actors(["a"]).attributes(Map::new()).kind("scheduled");
    let event = event.precision("day").source("s").sequence(1).causes([Cause::from("c"), Cause::contributes("d")]);
    event.asserts([Assertion::new("door", "state", "open")])
}

fn clock_rows(client: &Client) -> Vec<Row> {
    let travel = client.travel(at()).location("Paris").refire(true).wait_for_timers(true).dry_run(true);
    vec![
        row(client.clock()),
        row(travel.followers(["a"]).wait("5s").if_match(7)),
        row(client.pause_time().followers(["a"]).wait("5s").if_match(7)),
        row(client.resume_time().followers(["a"]).wait("5s").if_match(7)),
        row(client.set_rate(2.0).followers(["a"]).wait("5s").if_match(7)),
        row(client.fast_forward("1d").wait_for_timers(true).dry_run(true).followers(["a"]).wait("5s").if_match(7)),
        row(client.rewind("1d").refire(true).dry_run(true).followers(["a"]).wait("5s").if_match(7)),
        row(client.advance_to_next().until(at()).dry_run(true).followers(["a"]).wait("5s").if_match(7)),
        row(client.elapse("1d").since(at()).dry_run(true).followers(["a"]).wait("5s").if_match(7)),
        row(client.return_to_anchor("a").scope(ReturnScope::All).dry_run(true).followers(["a"]).wait("5s").if_match(7)),
        row(client.receipt("a").wait("5s")),
        row(client.firings().advance_id("a").queue("q").state("failed").timer_id("t").limit(1)),
        row(client.set_timer(&Timer::at(at())).if_match("*")),
        row(client.timer("t")),
        row(client.timers().state(TimerState::Armed).limit(1)),
        row(client.cancel_timer("t")),
    ]
}

fn history_rows(client: &Client) -> Vec<Row> {
    let found = client.monitor_events("*", ..).actor("a").source("s").text("t").attribute("a", "1").as_of(7);
    let scanned = client.scan_events("*", ..).actor("a").source("s").text("t").attribute("a", "1").as_of(7);
    let paradoxes = client.monitor_paradox("t", ..).kinds(["P01"]).include(["observations"]).as_of(7).limit(1);
    let manipulated = client.manipulate_event("e", "cancel", at()).effect(Effect::Cancel).dry_run(true);
    vec![
        row(client.record_events([event()]).if_match("*")),
        row(client.event("e").as_of(7)),
        row(found.order(Order::Newest).limit(1).overlapping(true)),
        row(scanned.order(Order::Newest).limit(1)),
        row(manipulated.on_paradox("reject").causes(["c"])),
        row(paradoxes.speed_kmh(900.0).tolerance("1s")),
        row(client.check_timeline("t", "e").as_of(7)),
        row(client.timelines().limit(1)),
        row(client.timeline("t")),
        row(client.create_timeline("t").fork_of("u").at(7).deliver_webhooks(true).expires_in("1d")),
        row(client.end_timeline("t")),
        row(client.set_anchor().description("d").timestamp(at()).fixed(true).if_match("*")),
        row(client.anchors().limit(1)),
    ]
}

fn access_rows(client: &Client) -> Vec<Row> {
    let users = || Some(vec!["ada".to_owned()]);
    let permissions = Permissions { read: users(), write: users(), admin: users(), ..Permissions::default() };
    vec![
        row(client.access_control("t")),
        row(client.set_access_control("t", permissions).if_match("*")),
        row(client.access_logs("t", ..).user_id("u").action("a").order(Order::Newest).limit(1)),
        row(client.restrict_time_travel("u", RestrictionLevel::ReadOnly)),
        row(client.encrypt_data("t", json!({ "pin": 1 }), "key").if_match("*")),
        row(client.decrypt_data("d", "key")),
        row(client.detect_tampering("t").scan_depth("full")),
    ]
}

struct Document(Value);

struct Operation<'a> {
    name: String,
    value: &'a Value,
}

impl Document {
    fn read() -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api/openapi.json");
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    fn operation(&self, request: &Request) -> Operation<'_> {
        let method = request.method().as_str().to_ascii_lowercase();
        let is_path = |template: &str| {
            let template: Vec<&str> = template.trim_start_matches('/').split('/').collect();
            let pairs = || template.iter().zip(request.path());
            template.len() == request.path().len() && pairs().all(|(a, b)| a.starts_with('{') || a == b)
        };
        let paths = self.0["paths"].as_object().unwrap();
        // Paths are sorted, and `{` sorts after letters: in reverse order, a path with parameters comes first.
        let found = paths.iter().rev().find(|(path, item)| is_path(path) && item.get(&method).is_some());
        let (path, item) = found.unwrap_or_else(|| panic!("the document has no {method} {:?}", request.path()));
        Operation { name: format!("{method} {path}"), value: &item[&method] }
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => self.resolve(&self.0["components"]["schemas"][name.rsplit('/').next().unwrap()]),
            None => schema,
        }
    }

    fn properties(&self, name: &str) -> BTreeSet<String> {
        keys(&self.0["components"]["schemas"][name]["properties"])
    }

    /// Returns a value with all members of a schema, or with only the required ones. Each string is a timestamp,
    /// because the schemas of responses have no formats.
    fn sample(&self, schema: &Value, is_complete: bool) -> Value {
        let schema = self.resolve(schema);
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.sample(part, is_complete));
            return parts.flat_map(|part| part.as_object().unwrap().clone()).collect::<Map<_, _>>().into();
        }
        if let Some(variants) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let object = variants.iter().find(|variant| self.resolve(variant)["properties"].is_object());
            return self
                .sample(object.or(variants.iter().find(|variant| variant["type"] != "null")).unwrap(), is_complete);
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"].as_array()?.iter().find_map(|kind| kind.as_str()));
        match kind {
            Some("object") => self.object(schema, is_complete),
            Some("array") => json!([self.sample(&schema["items"], is_complete)]),
            Some("boolean") => true.into(),
            Some("integer") => 1.into(),
            Some("number") => 1.5.into(),
            _ => schema["enum"].get(0).cloned().unwrap_or_else(|| MOMENT.into()),
        }
    }

    fn object(&self, schema: &Value, is_complete: bool) -> Value {
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_needed = |name: &str| is_complete || required.iter().any(|member| member == name);
        let member = |(name, schema): (&String, &Value)| match name.as_str() {
            // A clock in any other state cannot be parsed.
            "state" => (name.clone(), "paused".into()),
            _ => (name.clone(), self.sample(schema, is_complete)),
        };
        let members = schema["properties"].as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| is_needed(name)).map(member);
        let others = schema["additionalProperties"].as_object().filter(|_| is_complete);
        members.chain(others.map(|other| (ANY.to_owned(), self.sample(&json!(other), true)))).collect()
    }
}

impl Operation<'_> {
    fn parameters(&self, place: &str) -> BTreeSet<String> {
        let parameters =
            self.value["parameters"].as_array().into_iter().flatten().filter(|parameter| parameter["in"] == place);
        parameters.map(|parameter| parameter["name"].as_str().unwrap().to_ascii_lowercase()).collect()
    }
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn check_request(document: &Document, request: &Request, operation: &Operation<'_>) {
    let name = &operation.name;
    let sent = request.query_pairs().iter().map(|(name, _)| name.split('.').next().unwrap().to_owned());
    let unknown: Vec<String> = sent.filter(|sent| !operation.parameters("query").contains(sent)).collect();
    assert!(unknown.is_empty(), "{name} has no query parameter {unknown:?}");
    let head = request.header_map().keys().filter(|field| ![ACCEPT, CONTENT_TYPE].contains(field));
    let unknown: Vec<_> = head.filter(|field| !operation.parameters("header").contains(field.as_str())).collect();
    assert!(unknown.is_empty(), "{name} has no header {unknown:?}");
    let content = &operation.value["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(content.is_object(), request.body_bytes().is_some(), "{name}");
    let Some(body) = request.body_bytes() else { return };
    let body: Value = serde_json::from_slice(body).unwrap();
    let schema = document.resolve(content);
    if body.is_object() {
        check_members(&document.object(schema, true), &body, name);
        let required: BTreeSet<String> = keys(&document.object(schema, false));
        assert!(required.is_subset(&keys(&body)), "{name} requires {required:?}");
    }
}

/// Panics if a member is not in the document. An object without members in the document may have any member.
fn check_members(document: &Value, value: &Value, path: &str) {
    if document.as_object().is_some_and(Map::is_empty) {
        return;
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let schema = document.get(name).or_else(|| document.get(ANY));
        let schema = schema.unwrap_or_else(|| panic!("the document has no {path}/{name}"));
        check_members(schema, value, &format!("{path}/{name}"));
    }
    for (schema, value) in document.as_array().into_iter().flatten().zip(value.as_array().into_iter().flatten()) {
        check_members(schema, value, path);
    }
}

#[test]
fn calls_match_the_openapi_document() {
    let (document, client) = (Document::read(), Client::builder().api_key(KEY).timeline_id("t").build().unwrap());
    let rows = [clock_rows(&client), history_rows(&client), access_rows(&client)];
    for Row { request, read } in rows.into_iter().flatten() {
        let operation = document.operation(&request);
        check_request(&document, &request, &operation);
        let responses = operation.value["responses"].as_object().unwrap();
        let (_, response) = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap();
        let schema = &response["content"]["application/json"]["schema"];
        let complete = document.sample(schema, true);
        let round_trip =
            read(complete.clone()).unwrap_or_else(|error| panic!("{}: {error} in {complete}", operation.name));
        check_members(&complete, &round_trip, &operation.name);
        let minimal = document.sample(schema, false);
        read(minimal.clone()).unwrap_or_else(|error| panic!("{}: {error} in {minimal}", operation.name));
    }
}

#[test]
fn builders_have_all_members_of_the_openapi_document() {
    let document = Document::read();
    assert_eq!(keys(&json!(event())), document.properties("EventRecord"));
    let client = Client::builder().api_key(KEY).timeline_id("t").build().unwrap();
    let timers = [
        Timer::at(at()).id("t").payload(1).order_key("k").queue("q"),
        Timer::every("FREQ=DAILY", at(), "UTC").misfire(Misfire::Once).catch_up().record(json!({ "name": "n" })),
        Timer::cron("0 9 * * *", "UTC").webhook("https://example.org", Some("secret")),
    ];
    let (mut members, mut deliver) = (BTreeSet::new(), BTreeSet::new());
    for timer in timers {
        let request = client.set_timer(&timer).build().unwrap();
        let body: Value = serde_json::from_slice(request.body_bytes().unwrap()).unwrap();
        deliver.extend(keys(&body["deliver"]));
        members.extend(keys(&body));
    }
    assert_eq!(members, document.properties("SetTimerRequest"));
    assert_eq!(deliver, document.properties("DeliverRequest"));
}

#[test]
fn effects_have_all_members_of_the_openapi_document() {
    let text = || MOMENT.to_owned();
    let effects = [
        Effect::Cancel,
        Effect::Restore,
        Effect::Delay { duration: "2h".into() },
        Effect::Advance { duration: "2h".into() },
        Effect::Move { time: at() },
        Effect::Relocate { location: text(), geo: Some(Geo::new(1.0, 2.0)) },
        Effect::Describe { description: text() },
        Effect::Rename { name: text() },
        Effect::Note,
    ];
    let document = Document::read();
    let schema = document.0["components"]["schemas"]["EffectRequest"]["oneOf"].as_array().unwrap().iter();
    let schema: Vec<_> = schema
        .map(|variant| (variant["properties"]["kind"]["enum"][0].clone(), keys(&variant["properties"])))
        .collect();
    let sent = effects.map(|effect| json!(effect)).map(|effect| (effect["kind"].clone(), keys(&effect)));
    assert_eq!(sent.to_vec(), schema);
}
