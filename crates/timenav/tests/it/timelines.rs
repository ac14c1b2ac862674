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
use crate::support::http::{Request, target};
use crate::support::service::Service;

/// All prefixes of timeline reads.
const PREFIXES: [&str; 3] = ["", "/v1", "/api/v1"];

#[test]
fn timelines_are_created_listed_and_read() {
    for prefix in PREFIXES {
        let service = Service::start();
        let made = Request::post(&format!("{prefix}/timelines")).json(&json!({ "timeline_id": "billing-2027" }));
        snapshot::check("timeline-made", &service.send(made.clone()));
        snapshot::check("timeline-exists", &service.send(made));
        for timeline in ["billing-2027", "main"] {
            let stand = json!({ "timeline_id": timeline });
            service.send(Request::post("/v1/pause-time").json(&stand)).expect(200);
            let stand = json!({ "timeline_id": timeline, "destination_time": "2005-08-29T11:10:00Z", "location": "Europe/Paris" });
            service.send(Request::post("/v1/travel").json(&stand)).expect(200);
        }
        snapshot::check("timelines", &service.send(Request::get(&format!("{prefix}/timelines"))));
        snapshot::check("timeline", &service.send(Request::get(&format!("{prefix}/timeline/billing-2027"))));
        snapshot::check("timeline-not-there", &service.send(Request::get(&format!("{prefix}/timeline/nowhere"))));
        service.audit();
    }
}

#[test]
fn invalid_or_taken_timeline_names_are_rejected() {
    let service = Service::start();
    let make = |name: &str| service.send(Request::post("/timelines").json(&json!({ "timeline_id": name })));
    for taken in ["main", "system"] {
        make(taken).refused(409, "already_exists");
    }
    let long = "x".repeat(129);
    for wrong in ["", "_x", "a b", "a/b", "..", "zoë", long.as_str()] {
        let refused = make(wrong).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/timeline_id", "{wrong}");
    }
    let longest = "x".repeat(128);
    for good in ["0", "a.b_c-d:e@f", longest.as_str()] {
        make(good).expect(201);
        service.get(&format!("/timeline/{good}"), &[]);
    }
    service.audit();
}

#[test]
fn timeline_creator_becomes_its_administrator() {
    let service = Service::start();
    let ada = service.user("ada");
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "made" })).key(&ada)).expect(201);
    // The first write creates a timeline; a read does not.
    let write = json!({ "timeline_id": "written", "destination_time": "2001-01-01T00:00:00Z" });
    service.send(Request::get("/v1/clock?timeline_id=written").key(&ada)).refused(404, "not_found");
    service.send(Request::post("/v1/travel").json(&write).key(&ada)).expect(200);
    for timeline in ["made", "written"] {
        let read = service.send(Request::get(&format!("/timeline/{timeline}")).key(&ada)).expect(200);
        assert_eq!(read["role"], "admin");
        assert_eq!(read["permissions"], json!({ "read": [], "write": [], "admin": ["ada"] }));
        let seen = service.get(&format!("/timeline/{timeline}"), &[]);
        assert_eq!(seen["role"], "operator");
        assert_eq!(seen["permissions"], read["permissions"], "operators administer");
    }
    // A rejected first write creates nothing.
    for body in [json!({ "timeline_id": "no", "duration": "P9999Y" }), json!({ "timeline_id": "no", "duration": "x" })]
    {
        let answer = service.send(Request::post("/v1/fast-forward").json(&body).key(&ada));
        assert!(answer.status >= 400, "{answer}");
    }
    let reader = service.key(&json!({ "user_id": "ada", "scopes": ["timeline:read"] }));
    let body = json!({ "timeline_id": "no" });
    service.send(Request::post("/v1/pause-time").json(&body).key(&reader)).refused(403, "insufficient_scope");
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
    let mut names: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let mut parameters = vec![("limit", "5")];
        if !cursor.is_empty() {
            parameters.push(("cursor", cursor.as_str()));
        }
        let page = service.send(Request::get(&target("/timelines", &parameters))).expect(200);
        let listed = page["timelines"].as_array().unwrap();
        assert!(listed.len() <= 5);
        names.extend(listed.iter().map(|one| one["timeline_id"].clone()));
        assert_eq!(page["has_more"], page["next_cursor"].is_string());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    let expected: Vec<Value> = ["main".to_owned(), "system".to_owned()]
        .into_iter()
        .chain((0..12).map(|n| format!("t-{n:02}")))
        .map(Value::from)
        .collect();
    assert_eq!(names, expected);
    service.audit();
}

#[test]
fn timeline_counts_match_its_events_and_anchors() {
    let service = Service::start();
    service.post("/v1/events?timeline_id=counted", &json!(vec![json!({ "time": "2001-01-01T00:00:00Z" }); 7]));
    for _ in 0..3 {
        service.post("/v1/set-anchor", &json!({ "timeline_id": "counted" }));
    }
    let read = service.get("/timeline/counted", &[]);
    assert_eq!((&read["events"], &read["anchors"]), (&json!(7), &json!(3)));
    let head = crate::ledger::verified(read["head"]["checkpoint"].as_str().unwrap(), &service.public_key);
    assert_eq!((head.size, &read["head"]["root"]), (read["head"]["size"].as_u64().unwrap(), &json!(hex(&head.root))));
    assert_eq!(read["clock"].get("status"), None, "a part has no sentence of its own");
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
    let forks = listed["timelines"].as_array().unwrap().iter().map(|one| (&one["timeline_id"], &one["fork"]["parent"]));
    let forks: Vec<Value> = forks.map(|(timeline, of)| json!([timeline, of])).collect();
    assert_eq!(json!(forks), json!([["fork", "main"], ["main", null], ["of-fork", "fork"], ["system", null]]));
    service.audit();
}

fn hex(hash: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(hash)
}
