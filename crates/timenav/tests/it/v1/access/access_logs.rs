//! `GET /v1/access-logs`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{pages, permit};

const ALWAYS: [(&str, &str); 2] = [("timeline_id", "main"), ("time_range", "../..")];

fn logs(service: &Service, more: &[(&str, &str)]) -> Vec<Value> {
    service.get("/v1/access-logs", &[&ALWAYS, more].concat())["logs"].as_array().unwrap().clone()
}

fn actions(logs: &[Value]) -> Vec<String> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let names = ["user_id", "action", "subject"];
    logs.iter().map(|entry| names.map(|name| text(entry, name)).join(" ")).collect()
}

#[test]
fn changes_reads_and_rejections_are_logged() {
    let service = Service::with(&["--log-clock-reads"]);
    let stranger = service.user("eve");
    service.post("/v1/pause-time", &json!({}));
    service.get("/v1/clock", &[]);
    service.send(Request::get("/v1/clock").key(&stranger)).refused(404, "not_found");
    service.send(Request::get("/v1/clock?timeline_id=main").anonymous()).refused(401, "missing_credentials");
    let logged = logs(&service, &[]);
    let expected = [
        "system create_timeline main",
        // The fixture reads a checkpoint.
        "admin read checkpoint",
        "admin pause_time clock",
        "admin read clock",
        "eve unauthorized_access_attempt clock",
        "unknown unauthorized_access_attempt /v1/clock",
    ];
    assert_eq!(actions(&logged), expected);
    assert_eq!(positions(&logged), [0, 1, 2, 3, 4, 5]);
    assert!(actions(&logs(&service, &[])).ends_with(&["admin read access_logs".to_owned()]));
    service.audit();
}

fn positions(logs: &[Value]) -> Vec<u64> {
    logs.iter().map(|entry| entry["position"].as_u64().unwrap()).collect()
}

/// Returns the positions on all pages.
fn all_positions(service: &Service, more: &[(&str, &str)]) -> Vec<u64> {
    positions(&pages("logs", |cursor| service.get("/v1/access-logs", &[&ALWAYS, more, cursor].concat())).concat())
}

#[test]
fn newest_first_order_keeps_pages_stable() {
    let service = Service::with(&["--log-clock-reads"]);
    let first = service.get("/v1/access-logs", &[ALWAYS[0], ALWAYS[1], ("order", "newest"), ("limit", "1")]);
    let size = first["logs"][0]["position"].as_u64().unwrap() + 1;
    for _ in 0..1_500 {
        service.get("/v1/clock", &[]);
    }
    // Later reads are newer than the first page, and on none of the next ones.
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = positions(&logs(&service, &[("order", "newest"), ("cursor", cursor)]));
    assert_eq!(rest, (0..size - 1).rev().collect::<Vec<_>>());
    let all = all_positions(&service, &[("order", "newest"), ("limit", "1000")]);
    assert_eq!(all, (0..all.len() as u64).rev().collect::<Vec<_>>());
    assert!(all.len() > 1_500);
    // A different order is a different query.
    let target = format!("/v1/access-logs?timeline_id=main&time_range=../..&cursor={cursor}");
    service.send(Request::get(&target)).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn access_log_is_filtered_and_paged() {
    let service = Service::with(&["--log-clock-reads"]);
    let ada = service.user("ada");
    for number in 0..30 {
        let key = if number % 3 == 0 { &ada } else { &service.admin };
        service.send(Request::get("/v1/clock").key(key));
    }
    assert_eq!(logs(&service, &[("user_id", "ada")]).len(), 10);
    assert_eq!(logs(&service, &[("action", "unauthorized_access_attempt")]).len(), 10);
    assert_eq!(logs(&service, &[("user_id", "admin"), ("action", "unauthorized_access_attempt")]).len(), 0);
    let expected: Vec<u64> = (0..10).map(|number| 2 + number * 3).collect();
    assert_eq!(all_positions(&service, &[("user_id", "ada"), ("limit", "3")]), expected);
    let newest = all_positions(&service, &[("user_id", "ada"), ("limit", "3"), ("order", "newest")]);
    assert_eq!(newest, expected.into_iter().rev().collect::<Vec<_>>());
    let target = "/v1/access-logs?timeline_id=main&time_range=../..&order=random";
    service.send(Request::get(target)).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn time_range_is_inclusive_in_host_time() {
    let service = Service::with(&["--log-clock-reads"]);
    service.post("/v1/travel", &json!({ "destination_time": "1900-01-01T00:00:00Z" }));
    for _ in 0..5 {
        service.get("/v1/clock", &[]);
    }
    let all = logs(&service, &[]);
    let time = |index: usize| all[index]["timestamp"].as_str().unwrap().to_owned();
    for (range, order, expected) in [
        (format!("{}/{}", time(2), time(4)), "oldest", vec![2, 3, 4]),
        (format!("{}/{}", time(2), time(4)), "newest", vec![4, 3, 2]),
        (format!("{}/{}", time(2), time(2)), "oldest", vec![2]),
        (format!("../{}", time(1)), "oldest", vec![0, 1]),
        ("1900-01-01T00:00:00Z/1900-12-31T00:00:00Z".to_owned(), "oldest", vec![]),
    ] {
        let query = [("timeline_id", "main"), ("time_range", range.as_str()), ("order", order)];
        let expected: Vec<Value> = expected.into_iter().map(|index: usize| all[index].clone()).collect();
        assert_eq!(service.get("/v1/access-logs", &query)["logs"], json!(expected), "{range} {order}");
    }
    service.audit();
}

#[test]
fn access_log_page_matches_its_snapshot() {
    let service = Service::start();
    let key = service.user("ada");
    permit(&service, "main", &json!({ "write": ["ada"] }));
    let request = Request::get("/v1/access-logs?timeline_id=main&time_range=../..").key(&key);
    service.send(request).refused(403, "permission_denied");
    let body = json!({ "timeline_id": "main", "time_range": "../..", "limit": 2 });
    snapshot::check("access-logs", &service.send(Request::new("QUERY", "/v1/access-logs").json(&body)));
    service.audit();
}
