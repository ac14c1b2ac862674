//! `GET /v1/access-logs`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::send;

const ALWAYS: [(&str, &str); 2] = [("timeline_id", "main"), ("time_range", "../..")];

fn logs(service: &Service, more: &[(&str, &str)]) -> Vec<Value> {
    let parameters: Vec<(&str, &str)> = ALWAYS.iter().chain(more).copied().collect();
    service.get("/v1/access-logs", &parameters)["logs"].as_array().unwrap().clone()
}

fn actions(logs: &[Value]) -> Vec<String> {
    let one = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        format!("{} {} {}", text("user_id"), text("action"), text("subject"))
    };
    logs.iter().map(one).collect()
}

#[test]
fn changes_reads_and_rejections_are_logged() {
    let service = Service::with(&["--log-clock-reads"]);
    let stranger = service.user("eve");
    send(&service, "/v1/pause-time", &json!({})).expect(200);
    service.get("/v1/clock", &[]);
    service.send(Request::get("/v1/clock").key(&stranger)).refused(404, "not_found");
    service.send(Request::get("/v1/clock?timeline_id=main").anonymous()).refused(401, "missing_credentials");
    let logged = logs(&service, &[]);
    assert_eq!(
        actions(&logged),
        [
            "system create_timeline main",
            // The fixture reads a checkpoint.
            "admin read checkpoint",
            "admin pause_time clock",
            "admin read clock",
            "eve unauthorized_access_attempt clock",
            "unknown unauthorized_access_attempt /v1/clock",
        ]
    );
    let positions: Vec<u64> = logged.iter().map(|entry| entry["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, [0, 1, 2, 3, 4, 5]);
    assert!(actions(&logs(&service, &[])).ends_with(&["admin read access_logs".to_owned()]));
    service.audit();
}

/// Returns the positions on all pages.
fn positions(service: &Service, more: &[(&str, &str)]) -> Vec<u64> {
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut parameters: Vec<(&str, &str)> = ALWAYS.iter().chain(more).copied().collect();
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/v1/access-logs", &parameters);
        seen.extend(page["logs"].as_array().unwrap().iter().map(|entry| entry["position"].as_u64().unwrap()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return seen,
        }
    }
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
    let rest = service.get("/v1/access-logs", &[ALWAYS[0], ALWAYS[1], ("order", "newest"), ("cursor", cursor)]);
    let rest: Vec<u64> =
        rest["logs"].as_array().unwrap().iter().map(|entry| entry["position"].as_u64().unwrap()).collect();
    assert_eq!(rest, (0..size - 1).rev().collect::<Vec<_>>());
    let all = positions(&service, &[("order", "newest"), ("limit", "1000")]);
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
    assert_eq!(positions(&service, &[("user_id", "ada"), ("limit", "3")]), expected);
    let newest = positions(&service, &[("user_id", "ada"), ("limit", "3"), ("order", "newest")]);
    assert_eq!(newest, expected.into_iter().rev().collect::<Vec<_>>());
    let target = "/v1/access-logs?timeline_id=main&time_range=../..&order=random";
    service.send(Request::get(target)).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn time_range_is_inclusive_in_host_time() {
    let service = Service::with(&["--log-clock-reads"]);
    send(&service, "/v1/travel", &json!({ "destination_time": "1900-01-01T00:00:00Z" })).expect(200);
    for _ in 0..5 {
        service.get("/v1/clock", &[]);
    }
    let all = logs(&service, &[]);
    let time = |index: usize| all[index]["timestamp"].as_str().unwrap().to_owned();
    let within = |range: &str| {
        let found = service.get("/v1/access-logs", &[("timeline_id", "main"), ("time_range", range)]);
        found["logs"].as_array().unwrap().len()
    };
    assert_eq!(within(&format!("{}/{}", time(2), time(4))), 3);
    assert_eq!(within(&format!("{}/{}", time(2), time(2))), 1);
    assert_eq!(within(&format!("../{}", time(1))), 2);
    assert_eq!(within("1900-01-01T00:00:00Z/1900-12-31T00:00:00Z"), 0);
    let range = format!("{}/{}", time(2), time(4));
    let newest = [("timeline_id", "main"), ("time_range", range.as_str()), ("order", "newest")];
    let found = service.get("/v1/access-logs", &newest)["logs"].as_array().unwrap().clone();
    assert_eq!(found, [all[4].clone(), all[3].clone(), all[2].clone()]);
    service.audit();
}

#[test]
fn access_log_requires_parameters_and_admin_role() {
    let service = Service::start();
    let key = service.user("ada");
    let lists = json!({ "timeline_id": "main", "permissions": { "write": ["ada"] } });
    send(&service, "/v1/set-access-control", &lists).expect(200);
    let target = "/v1/access-logs?timeline_id=main&time_range=../..";
    service.send(Request::get(target).key(&key)).refused(403, "permission_denied");
    service.send(Request::get("/v1/access-logs?timeline_id=main")).refused(400, "missing_parameter");
    service.send(Request::get("/v1/access-logs?time_range=../..")).refused(400, "missing_parameter");
    service.send(Request::get("/v1/access-logs?timeline_id=nowhere&time_range=../..")).refused(404, "not_found");
    let query = Request::new("QUERY", "/v1/access-logs")
        .json(&json!({ "timeline_id": "main", "time_range": "../..", "limit": 2 }));
    snapshot::check("access-logs", &service.send(query));
    assert!(
        !service.get("/v1/access-logs", &[("timeline_id", "system"), ("time_range", "../..")])["logs"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    service.audit();
}
