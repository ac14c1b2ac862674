//! `POST /v1/set-anchor`, `GET /v1/anchors`, `GET /v1/anchors/{anchor_id}`, `POST /v1/return-to-anchor`.

use serde_json::{Value, json};

use super::{assert_invalid, assert_members, create_paused, pages, paused_service, send};
use crate::snapshot;
use crate::support::http::Request;

#[test]
fn anchor_operations_match_their_snapshots() {
    let service = paused_service();
    let set = |body: Value| send(&service, "/v1/set-anchor", &body);
    let first = set(json!({ "description": "before the levees fail" }));
    snapshot::check("set-anchor", &first);
    snapshot::check("set-anchor-elsewhere", &set(json!({ "timestamp": "2005-08-29T11:10:00Z", "fixed": false })));
    snapshot::check("set-anchor-refused", &set(json!({ "timestamp": "2005-08-29" })));
    snapshot::check("anchors", &service.send(Request::get("/v1/anchors")));
    create_paused(&service, "2010-01-01T00:00:00Z");
    let return_to = |anchor_id: &Value| send(&service, "/v1/return-to-anchor", &json!({ "anchor_id": anchor_id }));
    snapshot::check("return-to-anchor", &return_to(&first.json()["anchor_id"]));
    snapshot::check("return-to-nothing", &return_to(&json!("x")));
    service.audit();
}

#[test]
fn anchors_are_paged_in_creation_order() {
    let service = paused_service();
    let set = |number: usize| {
        let timestamp = format!("{:04}-01-01T00:00:00Z", 3000 - number);
        let body = json!({ "description": number.to_string(), "timestamp": timestamp });
        service.post("/v1/set-anchor", &body)["anchor_id"].clone()
    };
    let ids: Vec<Value> = (0..25).map(set).collect();
    let listed = pages("anchors", |cursor| service.get("/v1/anchors", &[&[("limit", "10")], cursor].concat()));
    assert_eq!(listed.len(), 3);
    assert_eq!(
        listed.concat().iter().map(|anchor| &anchor["anchor_id"]).collect::<Vec<_>>(),
        ids.iter().collect::<Vec<_>>()
    );
    assert_eq!(service.get("/timeline/main", &[])["anchors"], 25);
    assert_invalid(service.send(Request::get("/v1/anchors?cursor=nonsense")), "#/cursor");
    assert_eq!(service.get("/v1/anchors", &[("timeline_id", "system")])["anchors"], json!([]));
    service.audit();
}

#[test]
fn fork_lists_the_anchors_it_can_return_to() {
    let service = paused_service();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let set = |timeline: &str| {
        let set = service.post("/v1/set-anchor", &json!({ "timeline_id": timeline }));
        (text(&set["anchor_id"]), timeline.to_owned())
    };
    let fork = |timeline: &str, of: &str| {
        service.post("/timelines", &json!({ "timeline_id": timeline, "fork_of": of }));
    };
    let listed = |timeline: &str, limit: &str| {
        let filter = [("timeline_id", timeline), ("limit", limit)];
        let all = pages("anchors", |cursor| service.get("/v1/anchors", &[&filter, cursor].concat())).concat();
        all.iter().map(|anchor| (text(&anchor["anchor_id"]), text(&anchor["timeline_id"]))).collect::<Vec<_>>()
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
            let found = service.get(&format!("/v1/anchors/{anchor_id}"), &[("timeline_id", "of-fork")]);
            assert_members(&found["anchor"], &json!({ "anchor_id": anchor_id, "timeline_id": owner }));
            service.post("/v1/return-to-anchor", &json!({ "timeline_id": "of-fork", "anchor_id": anchor_id }));
        }
    }
    // It was set after the fork, so the fork cannot return to it.
    let elsewhere = Request::get(&format!("/v1/anchors/{}?timeline_id=of-fork", later.0));
    service.send(elsewhere).refused(404, "not_found");
    service.audit();
}
