//! `POST /v1/set-anchor`, `GET /v1/anchors`, `GET /v1/anchors/{anchor_id}`, `POST /v1/return-to-anchor`.

use serde_json::{Value, json};

use super::{PREFIXES, create_paused, paused_service, refused_and_unchanged, send};
use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;

#[test]
fn anchor_operations_match_their_snapshots() {
    for prefix in PREFIXES {
        let service = paused_service();
        let set = |body: Value| send(&service, &format!("{prefix}/set-anchor"), &body);
        let first = set(json!({ "description": "before the levees fail" }));
        snapshot::check("set-anchor", &first);
        snapshot::check("set-anchor-elsewhere", &set(json!({ "timestamp": "2005-08-29T11:10:00Z", "fixed": false })));
        snapshot::check("set-anchor-refused", &set(json!({ "timestamp": "2005-08-29" })));
        snapshot::check("anchors", &service.send(Request::get(&format!("{prefix}/anchors"))));
        create_paused(&service, "2010-01-01T00:00:00Z");
        let back = json!({ "anchor_id": first.json()["anchor_id"] });
        snapshot::check("return-to-anchor", &send(&service, &format!("{prefix}/return-to-anchor"), &back));
        snapshot::check(
            "return-to-nothing",
            &send(&service, &format!("{prefix}/return-to-anchor"), &json!({ "anchor_id": "x" })),
        );
        service.audit();
    }
}

#[test]
fn anchor_defaults_to_the_current_clock_time() {
    let service = Service::start();
    send(&service, "/v1/travel", &json!({ "destination_time": "1969-07-20T20:17:40Z" })).expect(200);
    let before = service.get("/v1/clock", &[]);
    let anchor = service.send(Request::post("/v1/set-anchor")).expect(200);
    let after = service.get("/v1/clock", &[]);
    let at = |value: &Value| crate::support::instant::micros(value.as_str().unwrap());
    assert!(at(&before["current_time"]) <= at(&anchor["timestamp"]), "{anchor}");
    assert!(at(&anchor["timestamp"]) <= at(&after["current_time"]), "{anchor}");
    assert_eq!(before["generation"], after["generation"], "an anchor does not move the clock");
    for far in ["-009999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"] {
        let anchor = send(&service, "/v1/set-anchor", &json!({ "timestamp": far })).expect(200);
        assert_eq!(anchor["timestamp"], far);
    }
    let longest = "é".repeat(8_192);
    send(&service, "/v1/set-anchor", &json!({ "description": longest })).expect(200);
    let refused =
        send(&service, "/v1/set-anchor", &json!({ "description": longest + "x" })).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/description");
    service.audit();
}

#[test]
fn return_to_anchor_restores_the_whole_clock() {
    let service = Service::start();
    send(&service, "/v1/travel", &json!({ "destination_time": "2005-08-29T11:10:00Z", "location": "America/Chicago" }))
        .expect(200);
    send(&service, "/v1/set-rate", &json!({ "rate": 60 })).expect(200);
    send(&service, "/v1/pause-time", &json!({})).expect(200);
    create_paused(&service, "2005-08-29T11:10:00Z");
    let paused_service = send(&service, "/v1/set-anchor", &json!({})).expect(200);
    send(&service, "/v1/resume-time", &json!({})).expect(200);
    let running = send(&service, "/v1/set-anchor", &json!({ "timestamp": "1999-12-31T23:59:59Z" })).expect(200);
    send(&service, "/v1/travel", &json!({ "destination_time": "3000-01-01T00:00:00Z", "location": "elsewhere" }))
        .expect(200);
    send(&service, "/v1/set-rate", &json!({ "rate": 2 })).expect(200);
    for (anchor, state) in [(&paused_service, "paused"), (&running, "running"), (&paused_service, "paused")] {
        let generation = service.get("/v1/clock", &[])["generation"].as_u64().unwrap();
        let body = json!({ "anchor_id": anchor["anchor_id"], "scope": "clock" });
        let back = send(&service, "/v1/return-to-anchor", &body).expect(200);
        assert_eq!(back["current_time"], anchor["timestamp"]);
        assert_eq!(back["anchor_id"], anchor["anchor_id"]);
        assert_eq!((&back["state"], &back["rate"]), (&json!(state), &json!(60.0)));
        assert_eq!(back["location"], "America/Chicago");
        assert_eq!(back["generation"], generation + 1);
    }
    service.audit();
}

#[test]
fn anchors_are_paged_in_creation_order() {
    let service = paused_service();
    let set = |number: usize| {
        let body =
            json!({ "description": number.to_string(), "timestamp": format!("{:04}-01-01T00:00:00Z", 3000 - number) });
        send(&service, "/v1/set-anchor", &body).expect(200)["anchor_id"].clone()
    };
    let ids: Vec<Value> = (0..25).map(set).collect();
    let mut listed = Vec::new();
    let mut page = service.get("/v1/anchors", &[("limit", "10")]);
    let mut pages = 1;
    loop {
        listed.extend(page["anchors"].as_array().unwrap().iter().map(|anchor| anchor["anchor_id"].clone()));
        assert_eq!(page["has_more"], page["next_cursor"].is_string());
        let Some(cursor) = page["next_cursor"].as_str().map(str::to_owned) else { break };
        page = service.get("/v1/anchors", &[("limit", "10"), ("cursor", &cursor)]);
        pages += 1;
    }
    assert_eq!((listed, pages), (ids, 3));
    assert_eq!(service.get("/timeline/main", &[])["anchors"], 25);
    let refused = service.send(Request::get(&target("/v1/anchors", &[("cursor", "nonsense")])));
    let refused = refused.refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/cursor");
    for wrong in ["0", "1001", "-1", "ten", ""] {
        let refused =
            service.send(Request::get(&target("/v1/anchors", &[("limit", wrong)]))).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/limit", "{wrong}");
    }
    service.audit();
}

#[test]
fn anchors_belong_to_their_timeline() {
    let service = paused_service();
    let anchor = send(&service, "/v1/set-anchor", &json!({ "timeline_id": "other" })).expect(200);
    assert_eq!(service.get("/v1/anchors", &[])["anchors"], json!([]));
    assert_eq!(service.get("/v1/anchors", &[("timeline_id", "other")])["anchors"][0]["anchor_id"], anchor["anchor_id"]);
    let body = json!({ "anchor_id": anchor["anchor_id"] });
    refused_and_unchanged(&service, "/v1/return-to-anchor", &body, 404, "not_found");
    for scope in ["history", "", "Clock"] {
        let body = json!({ "anchor_id": anchor["anchor_id"], "timeline_id": "other", "scope": scope });
        let refused = send(&service, "/v1/return-to-anchor", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/scope");
    }
    service.audit();
}

#[test]
fn fork_lists_the_anchors_it_can_return_to() {
    let service = paused_service();
    let set = |timeline: &str| {
        let set = send(&service, "/v1/set-anchor", &json!({ "timeline_id": timeline })).expect(200);
        (set["anchor_id"].as_str().expect("an id").to_owned(), timeline.to_owned())
    };
    let fork = |timeline: &str, of: &str| {
        service.post("/timelines", &json!({ "timeline_id": timeline, "fork_of": of }));
    };
    let listed = |timeline: &str, limit: &str| {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut parameters = vec![("timeline_id", timeline), ("limit", limit)];
            parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = service.get("/v1/anchors", &parameters);
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            let anchors = page["anchors"].as_array().unwrap();
            all.extend(anchors.iter().map(|one| (text(&one["anchor_id"]), text(&one["timeline_id"]))));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return all,
            }
        }
    };
    let first = set("main");
    fork("fork", "main");
    let (later, second) = (set("main"), set("fork"));
    fork("of-fork", "fork");
    let (third, of_fork) = (set("fork"), set("of-fork"));
    assert_eq!(listed("main", "1"), [first.clone(), later.clone()]);
    assert_eq!(listed("fork", "2"), [first.clone(), second.clone(), third]);
    for limit in ["1", "2", "3"] {
        let all = listed("of-fork", limit);
        assert_eq!(all, [first.clone(), second.clone(), of_fork.clone()], "{limit}");
        for (anchor_id, owner) in all {
            let one = service.get(&format!("/v1/anchors/{anchor_id}"), &[("timeline_id", "of-fork")]);
            assert_eq!(
                (&one["anchor"]["anchor_id"], &one["anchor"]["timeline_id"]),
                (&json!(anchor_id), &json!(owner))
            );
            let back = json!({ "timeline_id": "of-fork", "anchor_id": anchor_id });
            send(&service, "/v1/return-to-anchor", &back).expect(200);
        }
    }
    // It was set after the fork, so the fork cannot return to it.
    let (later, _) = later;
    let elsewhere = Request::get(&target(&format!("/v1/anchors/{later}"), &[("timeline_id", "of-fork")]));
    service.send(elsewhere).refused(404, "not_found");
    service.audit();
}
