//! Many concurrent requests: threads, memory and fairness.
//!
//! The tests measure threads and resident memory of the process, with tolerance for variation between runs.

use serde_json::{Value, json};

use crate::support::http::{Connection, Request};
use crate::support::service::{Service, memory_kib};

mod frames;

/// Connections of an attacker: more than there are threads of any kind.
const CROWD: usize = 540;
/// A body of the maximum length for changes.
const LONG_BYTES: usize = 4_000_000;

fn limit(service: &Service, name: &str) -> usize {
    let max = service.get("/v1/limits", &[])["limits"][name].as_u64().unwrap_or_else(|| panic!("no limit `{name}`"));
    usize::try_from(max).unwrap()
}

fn threads(service: &Service) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    line.trim().parse().unwrap()
}

/// Growth of resident memory in MiB, relative to `before` in KiB.
fn grown_mib(service: &Service, before: u64) -> u64 {
    memory_kib(service.pid(), "VmHWM").saturating_sub(before) / 1024
}

/// Sends part of a request on its own connection.
fn begun(service: &Service, request: &Request, length: usize, part: &[u8]) -> Connection {
    let mut connection = service.connect();
    connection.send_request(&request.clone().header("Content-Length", &length.to_string()));
    // A rejected connection may not be read any more.
    let _ = connection.send(part);
    connection
}

fn import(timeline: &str, key: &str) -> Request {
    Request::post(&format!("/v1/import-events?format=ndjson&timeline_id={timeline}")).key(key)
}

#[test]
fn stalled_imports_do_not_block_other_users() {
    let service = Service::start();
    let (ada, mallory) = (service.user("ada"), service.user("mallory"));
    service.post("/timelines", &json!({ "timeline_id": "closed" }));
    service.post("/v1/restrict-time-travel", &json!({ "user_id": "mallory", "restriction_level": "no_access" }));
    let (threads_before, memory) = (threads(&service), memory_kib(service.pid(), "VmHWM"));
    // Neither unauthorized nor authorized callers.
    let refused: Vec<Connection> =
        (0..CROWD).map(|_| begun(&service, &import("closed", &mallory), LONG_BYTES, b"{")).collect();
    let stalled: Vec<Connection> =
        (0..CROWD / 4).map(|_| begun(&service, &import("ada", &ada), LONG_BYTES, b"{")).collect();
    for mut connection in refused {
        let status = connection.answer(false).unwrap().status;
        assert!(status == 404 || status == 429, "{status}");
    }
    let imports = limit(&service, "imports_per_user_max") as u64;
    // The others belong to the store, which also reads with some.
    let most = threads_before + imports + 40;
    assert!(threads(&service) <= most, "{} threads, {threads_before} before", threads(&service));
    assert!(grown_mib(&service, memory) < 100, "{} MiB", grown_mib(&service, memory));
    service.send(Request::get("/readyz").anonymous()).expect(200);
    service.post("/v1/events", &json!({ "event_id": "one", "time": "2000-01-01T00:00:00Z" }));
    service.get("/v1/events/one", &[]);
    let other = Request::post("/v1/import-events").body("application/x-ndjson", b"{\"time\":\"2000-01-01T00:00:00Z\"}");
    assert_eq!(service.send(other).expect(200)["imported"], 1, "the import of somebody else");
    drop(stalled);
    service.audit();
}

#[test]
fn concurrent_imports_of_one_user_all_succeed() {
    let service = Service::start();
    let row = "{\"time\":\"2000-01-01T00:00:00Z\",\"actors\":[\"NAME\"]}\n";
    let connections: Vec<Connection> = (0..3 * limit(&service, "imports_per_user_max"))
        .map(|number| {
            let mut connection = service.connect();
            let rows = row.replace("NAME", &number.to_string());
            let request = Request::post("/v1/import-events").body("application/x-ndjson", rows.as_bytes());
            connection.send_request(&service.signed(request));
            connection
        })
        .collect();
    for mut connection in connections {
        assert_eq!(connection.answer(false).unwrap().expect(200)["imported"], 1);
    }
    service.audit();
}

#[test]
fn anonymous_request_bodies_use_little_memory() {
    let service = Service::start();
    let memory = memory_kib(service.pid(), "VmHWM");
    let request = Request::post("/v1/events").header("Content-Type", "application/json").anonymous();
    let part = vec![b' '; LONG_BYTES - 1];
    let connections: Vec<Connection> = (0..200).map(|_| begun(&service, &request, LONG_BYTES, &part)).collect();
    for mut connection in connections {
        // The response does not wait for the unread body. It may be lost on the way.
        if let Ok(answer) = connection.answer(false) {
            assert!(answer.status == 401 || answer.status == 429, "{answer}");
        }
    }
    // The read buffer of each connection: 417 792 bytes.
    assert!(grown_mib(&service, memory) < 150, "{} MiB", grown_mib(&service, memory));
    let statuses = frames::answers(service.address(), 100, None, &part);
    assert!(statuses.iter().all(|status| *status == 401 || *status == 429), "{statuses:?}");
    assert!(grown_mib(&service, memory) < 150, "{} MiB", grown_mib(&service, memory));
    service.audit();
}

#[test]
fn buffered_body_memory_per_user_is_limited() {
    let service = Service::start();
    let ada = service.user("ada");
    let memory = memory_kib(service.pid(), "VmHWM");
    let share = limit(&service, "buffered_body_bytes_per_user_max") as u64 >> 20;
    // Spaces with an invalid end, so that each is rejected once it is complete.
    let mut whole = vec![b' '; LONG_BYTES];
    whole[LONG_BYTES - 1] = b'x';
    let statuses = frames::answers(service.address(), 100, Some(&ada), &whole);
    assert!(statuses.iter().all(|status| *status == 400 || *status == 429), "{statuses:?}");
    assert!(statuses.contains(&400), "{statuses:?}");
    assert!(grown_mib(&service, memory) < share + 60, "{} MiB", grown_mib(&service, memory));
    service.audit();
}

#[test]
fn body_with_too_many_values_is_rejected_before_parsing() {
    let service = Service::start();
    let memory = memory_kib(service.pid(), "VmHWM");
    let objects = format!("{{\"attributes\":{{\"a\":[{}0]}}}}", "{\"\":0},".repeat(LONG_BYTES / 7));
    let bodies = [
        ("/v1/events", format!("[{objects}]")),
        ("/v1/events", objects.clone()),
        ("/v1/correct-event?timeline_id=main", format!("{{\"event\":{objects}}}")),
    ];
    for (path, body) in bodies {
        let refused = service.send(Request::post(path).body("application/json", body.as_bytes()));
        refused.refused(413, "content_too_large");
    }
    // The maximum number of items in an event is harmless.
    let numbers = format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"attributes\":{{\"a\":[{}0]}}}}", "1,".repeat(30_000));
    let recorded = service.send(Request::post("/v1/events").body("application/json", numbers.as_bytes()));
    recorded.expect(201);
    assert!(grown_mib(&service, memory) < 80, "{} MiB", grown_mib(&service, memory));
    service.audit();
}

#[test]
fn concurrent_requests_per_user_are_limited() {
    let service = Service::start();
    let (ada, bob) = (service.user("ada"), service.user("bob"));
    let max = limit(&service, "requests_at_once_per_user_max");
    let request = Request::post("/v1/pause-time").header("Content-Type", "application/json").key(&ada);
    let mut waiting: Vec<Connection> = (0..max).map(|_| begun(&service, &request, 2, b"{")).collect();
    let look = |key: &str| service.send(Request::get("/v1/limits").key(key));
    // A body that is parsed meanwhile may occupy the memory of a late one, which is rejected then.
    let mut answers = (0..10_000).map(|_| {
        waiting.push(begun(&service, &request, 2, b"{"));
        look(&ada)
    });
    let refused = answers.find(|answer| answer.status != 200);
    let refused = refused.expect("one request too many is rejected");
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    look(&bob).expect(200);
    let mut one = waiting.swap_remove(0);
    one.send(b"}").unwrap();
    one.answer(false).unwrap();
    look(&ada).expect(200);
    drop(waiting);
    service.audit();
}

#[test]
fn streams_per_user_are_limited_and_use_little_memory() {
    let service = Service::start();
    let (ada, bob) = (service.user("ada"), service.user("bob"));
    for user_id in ["ada", "bob"] {
        let tag = service.send(Request::get("/v1/access-control?timeline_id=main"));
        let mut permissions: Value = tag.json()["permissions"].clone();
        permissions["read"].as_array_mut().unwrap().push(json!(user_id));
        service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }));
    }
    let max = limit(&service, "streams_per_user_max");
    let memory = memory_kib(service.pid(), "VmHWM");
    let open = |number: usize, key: &str| {
        let mut connection = service.connect();
        let path = ["/v1/stream", "/v1/clock/stream", "/v1/firings/stream"][number % 3];
        connection.send_request(&Request::get(path).key(key));
        let (status, _) = connection.head().unwrap();
        (connection, status)
    };
    let mut open_ones: Vec<Connection> = Vec::new();
    for number in 0..max {
        let (connection, status) = open(number, &ada);
        assert_eq!(status, 200, "{number}");
        open_ones.push(connection);
    }
    for number in 0..2 {
        assert_eq!(open(number, &ada).1, 429);
    }
    assert_eq!(open(0, &bob).1, 200);
    // They are not requests in progress.
    service.send(Request::get("/v1/limits").key(&ada)).expect(200);
    let kib_each = memory_kib(service.pid(), "VmHWM").saturating_sub(memory) / max as u64;
    assert!(kib_each < 160, "{kib_each} KiB");
    open_ones.truncate(max - 1);
    assert!((0..10_000).any(|number| open(number, &ada).1 == 200), "one that ends makes room");
    drop(open_ones);
    service.audit();
}
