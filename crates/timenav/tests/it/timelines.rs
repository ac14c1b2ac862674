//! `POST /timelines`, `GET /timelines`, `GET /timelines/diff`, `GET /timeline/{timeline_id}` and the proofs below it.

mod created;
mod diff;
mod ends;
mod many;
mod many_forks;
mod proofs;
mod tiles;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members, pages, texts};

#[test]
fn timelines_are_created_listed_and_read() {
    let service = Service::start();
    let make = Request::post("/v1/timelines").json(&json!({ "timeline_id": "billing-2027" }));
    snapshot::check("timeline-made", &service.send(make.clone()));
    snapshot::check("timeline-exists", &service.send(make));
    for timeline in ["billing-2027", "main"] {
        service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
        let (to, place) = ("2005-08-29T11:10:00Z", "Europe/Paris");
        let travel = json!({ "timeline_id": timeline, "destination_time": to, "location": place });
        service.post("/v1/travel", &travel);
    }
    for (name, path) in
        [("timelines", "timelines"), ("timeline", "timeline/billing-2027"), ("timeline-not-there", "timeline/nowhere")]
    {
        snapshot::check(name, &service.send(Request::get(&format!("/v1/{path}"))));
    }
    service.audit();
}

#[test]
fn invalid_or_taken_timeline_names_are_rejected() {
    let service = Service::start();
    let make = |name: &str| service.send(Request::post("/timelines").json(&json!({ "timeline_id": name })));
    for taken in ["main", "system"] {
        make(taken).refused(409, "already_exists");
    }
    for wrong in ["_x", "a/b", "..", "zoë"] {
        assert_invalid(make(wrong), "#/timeline_id");
    }
    for good in ["0", "a.b_c-d:e@f"] {
        make(good).expect(201);
        service.get(&format!("/timeline/{good}"), &[]);
    }
    service.audit();
}

#[test]
fn timeline_creator_becomes_its_administrator() {
    let service = Service::start();
    let ada = service.user("ada");
    let post = |path: &str, body: Value| service.send(Request::post(path).json(&body).key(&ada));
    post("/timelines", json!({ "timeline_id": "made" })).expect(201);
    // The first write creates a timeline; a read does not.
    service.send(Request::get("/v1/clock?timeline_id=written").key(&ada)).refused(404, "not_found");
    post("/v1/pause-time", json!({ "timeline_id": "written" })).expect(200);
    for timeline in ["made", "written"] {
        let read = service.send(Request::get(&format!("/timeline/{timeline}")).key(&ada)).expect(200);
        let permissions = json!({ "read": [], "write": [], "admin": ["ada"] });
        assert_members(&read, &json!({ "role": "admin", "permissions": permissions }));
        let expected = json!({ "role": "operator", "permissions": permissions });
        assert_members(&service.get(&format!("/timeline/{timeline}"), &[]), &expected);
    }
    // A rejected first write creates nothing.
    for duration in ["P9999Y", "x"] {
        let answer = post("/v1/fast-forward", json!({ "timeline_id": "no", "duration": duration }));
        assert!(answer.status >= 400, "{answer}");
    }
    let reader = service.key(&json!({ "user_id": "ada", "scopes": ["timeline:read"] }));
    let pause = Request::post("/v1/pause-time").json(&json!({ "timeline_id": "no" }));
    service.send(pause.key(&reader)).refused(403, "insufficient_scope");
    assert!(!service.timelines().contains(&"no".to_owned()));
    service.audit();
}

#[test]
fn first_writes_create_nothing_if_disabled() {
    let service = Service::with(&["--no-timelines-by-first-write"]);
    let ada = service.user("ada");
    let event = json!({ "time": "2001-01-01T00:00:00Z", "timeline_id": "new" });
    for key in [&ada, &service.admin] {
        for request in [
            Request::post("/v1/pause-time").json(&json!({ "timeline_id": "new" })),
            Request::post("/v1/events").json(&event),
            Request::post("/v1/import-events?timeline_id=new&format=csv").body("text/csv", b"time\n"),
            Request::post("/v1/set-anchor").json(&json!({ "timeline_id": "new" })),
        ] {
            service.send(request.key(key)).refused(404, "not_found");
        }
    }
    assert!(!service.timelines().contains(&"new".to_owned()));
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "new" })).key(&ada)).expect(201);
    service.send(Request::post("/v1/events").json(&event).key(&ada)).expect(201);
    service.audit();
}

#[test]
fn timelines_are_paged_by_name() {
    let service = Service::start();
    for number in 0..12 {
        service.post("/timelines", &json!({ "timeline_id": format!("t-{number:02}") }));
    }
    let listed = pages("timelines", |cursor| service.get("/timelines", &[&[("limit", "5")], cursor].concat()));
    assert_eq!(listed.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5, 4]);
    let created = (0..12).map(|number| format!("t-{number:02}"));
    let expected: Vec<String> = ["main", "system"].map(str::to_owned).into_iter().chain(created).collect();
    assert_eq!(texts(&listed.concat(), "timeline_id"), expected);
    service.audit();
}

#[test]
fn timeline_counts_match_its_events_and_anchors() {
    let service = Service::start();
    service.post(
        "/v1/events?timeline_id=counted",
        &json!([{ "time": "2001-01-01T00:00:00Z" }, { "time": "2002-01-01T00:00:00Z" }]),
    );
    for _ in 0..3 {
        service.post("/v1/set-anchor", &json!({ "timeline_id": "counted" }));
    }
    let read = service.get("/timeline/counted", &[]);
    assert_members(&read, &json!({ "events": 2, "anchors": 3 }));
    let head = crate::ledger::verified(read["head"]["checkpoint"].as_str().unwrap(), &service.public_key);
    assert_eq!((head.size, &read["head"]["root"]), (read["head"]["size"].as_u64().unwrap(), &json!(hex(&head.root))));
    assert_eq!(read["clock"].get("status"), None);
    service.audit();
}

#[test]
fn fork_response_includes_its_parent_and_position() {
    let service = Service::start();
    service.post("/v1/events", &json!({ "time": "2001-01-01T00:00:00Z" }));
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main", "at": 0 }));
    let anchor = service.post("/v1/set-anchor", &json!({ "timeline_id": "fork" }));
    let size = anchor["ledger"]["size"].clone();
    service.post("/timelines", &json!({ "timeline_id": "of-fork", "fork_of": "fork", "at": anchor["anchor_id"] }));
    assert_eq!(service.get("/timeline/main", &[]).get("fork"), None);
    snapshot::check("timeline-forked", &service.send(Request::get("/timeline/fork")));
    assert_eq!(service.get("/timeline/of-fork", &[])["fork"], json!({ "parent": "fork", "size": size }));
    let listed = service.get("/timelines", &[]);
    let listed = listed["timelines"].as_array().unwrap().iter();
    let forks: Vec<Value> = listed.map(|one| json!([one["timeline_id"], one["fork"]["parent"]])).collect();
    assert_eq!(json!(forks), json!([["fork", "main"], ["main", null], ["of-fork", "fork"], ["system", null]]));
    service.audit();
}

fn hex(hash: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(hash)
}
