//! `GET /v1/access-logs`.

use serde_json::{Value, json};

use super::send;
use crate::http::Request;
use crate::service::Service;
use crate::snapshot;

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
fn changes_reads_and_refusals_are_told() {
    let service = Service::start();
    let stranger = service.user("eve");
    send(&service, "/v1/pause-time", &json!({})).expect(200);
    service.get("/v1/clock", &[]);
    service.send(Request::get("/v1/clock").key(&stranger)).refused(404, "not_found");
    service.send(Request::get("/v1/clock?timeline_id=main").anonymous()).refused(401, "missing_credentials");
    let told = logs(&service, &[]);
    assert_eq!(
        actions(&told),
        [
            "system create_timeline main",
            // The fixture remembers a checkpoint.
            "admin read checkpoint",
            "admin pause_time clock",
            "admin read clock",
            "eve unauthorized_access_attempt clock",
            "unknown unauthorized_access_attempt /v1/clock",
        ]
    );
    let positions: Vec<u64> = told.iter().map(|entry| entry["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, [0, 1, 2, 3, 4, 5]);
    assert!(actions(&logs(&service, &[])).ends_with(&["admin read access_logs".to_owned()]));
    service.audit();
}

#[test]
fn filters_and_pages() {
    let service = Service::start();
    let ada = service.user("ada");
    for number in 0..30 {
        let key = if number % 3 == 0 { &ada } else { &service.admin };
        service.send(Request::get("/v1/clock").key(key));
    }
    assert_eq!(logs(&service, &[("user_id", "ada")]).len(), 10);
    assert_eq!(logs(&service, &[("action", "unauthorized_access_attempt")]).len(), 10);
    assert_eq!(logs(&service, &[("user_id", "admin"), ("action", "unauthorized_access_attempt")]).len(), 0);
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut parameters = ALWAYS.to_vec();
        parameters.extend([("user_id", "ada"), ("limit", "3")]);
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/v1/access-logs", &parameters);
        seen.extend(page["logs"].as_array().unwrap().iter().map(|entry| entry["position"].as_u64().unwrap()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let expected: Vec<u64> = (0..10).map(|number| 2 + number * 3).collect();
    assert_eq!(seen, expected);
    service.audit();
}

#[test]
fn a_range_is_of_host_time_and_includes_both_ends() {
    let service = Service::start();
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
    service.audit();
}

#[test]
fn what_is_needed_and_who_may() {
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
