//! Repetitions after the permission was lost, from the routes table: they are rejected like the same request without a
//! key, the rejection is logged, and nothing of the first response is returned. `identity/repeated.rs` revokes roles,
//! which operators do not need.

use serde_json::json;

use super::{Case, HERE, REPLAYED, cases, here, with_keys};
use crate::support::http::{Answer, Request};
use crate::support::service::Service;

/// Operations on the service or on other timelines: they do not depend on `here`.
const ELSEWHERE: [&str; 6] =
    ["create_api_key", "create_timeline", "create_user", "end_timeline", "prune", "restrict_time_travel"];

/// Operations on permissions and retention: restrictions on time travel do not apply to them.
const ADMINISTRATIVE: [&str; 6] =
    ["create_api_key", "create_user", "prune", "restrict_time_travel", "set_access_control", "set_retention"];

/// A request and its response.
struct Repeated {
    id: String,
    what: String,
    request: Request,
    first: Answer,
}

impl Repeated {
    fn by(&self, key: &str) -> Request {
        self.request.clone().key(key)
    }
}

/// Sends one request per operation as `eve`, who may do everything.
fn ask_everything(service: &Service, key: &str) -> Vec<Repeated> {
    let mut requested = Vec::new();
    for id in with_keys(service) {
        for (number, Case { request, .. }) in cases(service, &id).into_iter().enumerate() {
            let what = format!("{id} {number}");
            let request = request.idempotent(&what.replace(' ', "-"));
            let first = service.send(request.clone().key(key));
            assert!(first.status < 300, "{what}: {first}");
            requested.push(Repeated { id: id.clone(), what, request, first });
        }
    }
    requested
}

/// Returns the number of logged rejections.
fn refusals(service: &Service) -> usize {
    let of = |timeline: &str| {
        let (mut count, mut cursor) = (0, String::new());
        loop {
            let mut path = format!(
                "/v1/access-logs?timeline_id={timeline}&time_range=..%2F..&action=unauthorized_access_attempt&limit=1000"
            );
            if !cursor.is_empty() {
                path = format!("{path}&cursor={cursor}");
            }
            let answer = service.send(Request::get(&path));
            if answer.status != 200 {
                return count;
            }
            let page = answer.json();
            count += page["logs"].as_array().unwrap().len();
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => return count,
            }
        }
    };
    // Some requests have their own timelines.
    let listed = service.send(Request::get("/timelines?limit=1000")).json();
    let listed = listed["timelines"].as_array().unwrap().iter();
    let others = listed.map(|one| one["timeline_id"].as_str().unwrap()).filter(|id| *id != "system");
    others.chain(["system"]).map(of).sum()
}

/// Repeats everything. `refused` returns the expected status and code of a rejection; other requests get the first
/// response.
fn repeat(
    service: &Service,
    request: &[Repeated],
    key: &str,
    refused: impl Fn(&Repeated) -> Option<(u16, &'static str)>,
) {
    let before = refusals(service);
    let (mut expected, mut wrong) = (0, Vec::new());
    for one in request {
        let again = service.send(one.by(key));
        let outcome = match refused(one) {
            None => (again.status, again.header(REPLAYED)) == (one.first.status, Some("true")),
            Some((status, code)) => {
                expected += 1;
                let refusal = (again.status, again.json()["code"].as_str().map(str::to_owned));
                refusal == (status, Some(code.to_owned())) && again.header(REPLAYED).is_none()
            }
        };
        if !outcome {
            wrong.push(format!("{}: {} {}", one.what, again.status, again.text()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(expected > request.len() / 2, "{expected} of {} were refused", request.len());
    let is_all = request.iter().all(|one| refused(one).is_some());
    assert_eq!(refusals(service) - before, expected, "each refusal is logged (all: {is_all})");
}

#[test]
fn repetition_after_lost_authority_is_rejected_and_logged() {
    let mut service = Service::with(&["--retention-floor-secs", "0"]);
    let boss = service.admin.clone();
    service.post("/v1/users", &json!({ "user_id": "eve", "operator": true }));
    let made = service.post("/v1/api-keys", &json!({ "user_id": "eve" }));
    let (key_id, key) = (made["key_id"].as_str().unwrap(), made["api_key"].as_str().unwrap().to_owned());
    let narrow = service.key(&json!({ "user_id": "eve", "scopes": ["timeline:read"] }));
    // The sender creates the prerequisites of its requests.
    service.admin.clone_from(&key);
    service.post("/timelines", &json!({ "timeline_id": HERE }));
    service.post("/v1/pause-time", &here(json!({})));
    let request = ask_everything(&service, &key);
    service.admin = boss;
    // Data erased with its event is not returned.
    let repeat_all = |service: &Service| -> Vec<String> {
        let logged = request.iter().filter(|one| service.send(one.by(&key)).header(REPLAYED) == Some("true"));
        logged.map(|one| one.what.clone()).collect()
    };
    let first_responses = repeat_all(&service);
    assert!(first_responses.len() + 3 >= request.len(), "{first_responses:?}");

    // A key without the scope.
    repeat(&service, &request, &narrow, |_| Some((403, "insufficient_scope")));
    // Restricted.
    let restrict = |level: &str| {
        service.post("/v1/restrict-time-travel", &json!({ "user_id": "eve", "restriction_level": level }));
    };
    restrict("no_access");
    let is_administrative = |one: &Repeated| ADMINISTRATIVE.contains(&one.id.as_str());
    repeat(&service, &request, &key, |one| (!is_administrative(one)).then_some((403, "time_travel_restricted")));
    restrict("full_access");
    // With the permission restored, the response is returned again.
    assert_eq!(repeat_all(&service), first_responses);
    // The timeline has ended.
    service.send(Request::new("DELETE", &format!("/timeline/{HERE}"))).expect(200);
    repeat(&service, &request, &key, |one| match one.id.as_str() {
        // Forks share data that no longer exists.
        "create_timeline" if one.what.ends_with('1') => Some((404, "timeline_ended")),
        // The first names a record without a timeline.
        "erase_data" if one.what.ends_with('0') => Some((404, "not_found")),
        id => (!ELSEWHERE.contains(&id)).then_some((404, "timeline_ended")),
    });
    // The key was revoked.
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{key_id}"))).expect(200);
    repeat(&service, &request, &key, |_| Some((401, "invalid_credentials")));
    service.audit();
}
