//! Repetitions by somebody who may not do it any more, from the table of routes: they are refused, as the same request
//! without a key is, that is logged, and nothing of the first answer is told.

use serde_json::json;

use super::{Case, HERE, REPLAYED, cases, here, with_keys};
use crate::http::{Answer, Request};
use crate::service::Service;

/// Operations of the service, or of timelines that `eve` has no role on any more because there is no such timeline, or
/// because nothing can be changed about it: roles on another timeline do not matter to them.
const ELSEWHERE: [&str; 7] =
    ["create_api_key", "create_timeline", "create_user", "end_timeline", "hand_over", "prune", "restrict_time_travel"];

/// Something that was asked for, and answered.
struct Asked {
    id: String,
    what: String,
    request: Request,
    first: Answer,
}

impl Asked {
    fn by(&self, key: &str) -> Request {
        self.request.clone().key(key)
    }
}

/// Sends one request of each operation as `eve`, who may do everything.
fn ask_everything(service: &Service, key: &str) -> Vec<Asked> {
    let mut asked = Vec::new();
    for id in with_keys(service) {
        for (number, Case { request, .. }) in cases(service, &id).into_iter().enumerate() {
            let what = format!("{id} {number}");
            let request = request.idempotent(&what.replace(' ', "-"));
            let first = service.send(request.clone().key(key));
            assert!(first.status < 300, "{what}: {first}");
            asked.push(Asked { id: id.clone(), what, request, first });
        }
    }
    asked
}

/// Returns how many refusals are told of.
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
    [HERE, "system", "main"].into_iter().map(of).sum()
}

/// Repeats everything. `refused` says with which status and code what is refused; what is not gets the first answer.
fn repeat(service: &Service, asked: &[Asked], key: &str, refused: impl Fn(&Asked) -> Option<(u16, &'static str)>) {
    let before = refusals(service);
    let mut expected = 0;
    for one in asked {
        let again = service.send(one.by(key));
        let Some((status, code)) = refused(one) else {
            assert_eq!(
                (again.status, again.header(REPLAYED)),
                (one.first.status, Some("true")),
                "{}: {again}",
                one.what
            );
            continue;
        };
        assert_eq!(again.header(REPLAYED), None, "{}: {again}", one.what);
        assert_eq!((again.status, again.json()["code"].as_str()), (status, Some(code)), "{}: {again}", one.what);
        expected += 1;
    }
    assert!(expected > asked.len() / 2, "{expected} of {} were refused", asked.len());
    assert_eq!(refusals(service) - before, expected, "each refusal is logged");
}

#[test]
fn what_authority_refuses_by_now_is_refused_and_logged() {
    let mut service = Service::with(&["--retention-floor-secs", "0"]);
    let boss = service.admin.clone();
    service.post("/v1/users", &json!({ "user_id": "eve", "operator": true }));
    let made = service.post("/v1/api-keys", &json!({ "user_id": "eve" }));
    let (key_id, key) = (made["key_id"].as_str().unwrap(), made["api_key"].as_str().unwrap().to_owned());
    let narrow = service.key(&json!({ "user_id": "eve", "scopes": ["timeline:read"] }));
    // What requests need is made by whoever sends them.
    service.admin.clone_from(&key);
    service.post("/timelines", &json!({ "timeline_id": HERE }));
    service.post("/v1/pause-time", &here(json!({})));
    let asked = ask_everything(&service, &key);
    let lists = |service: &Service, admins: &[&str]| {
        let lists = json!({ "read": [], "write": [], "admin": admins });
        service.post("/v1/set-access-control", &here(json!({ "permissions": lists })));
    };
    lists(&service, &["admin", "eve"]);
    service.admin = boss;

    // A key that was not made for it.
    repeat(&service, &asked, &narrow, |_| Some((403, "insufficient_scope")));
    // No role any more.
    let is_elsewhere = |one: &Asked| ELSEWHERE.contains(&one.id.as_str());
    lists(&service, &["admin"]);
    repeat(&service, &asked, &key, |one| (!is_elsewhere(one)).then_some((404, "not_found")));
    lists(&service, &["admin", "eve"]);
    // Restricted.
    let restrict = |level: &str| {
        service.post("/v1/restrict-time-travel", &json!({ "user_id": "eve", "restriction_level": level }));
    };
    restrict("no_access");
    repeat(&service, &asked, &key, |_| Some((403, "time_travel_restricted")));
    restrict("full_access");
    // Whoever may do it again is told again.
    for one in &asked {
        assert_eq!(service.send(one.by(&key)).header(REPLAYED), Some("true"), "{}", one.what);
    }
    // The timeline has ended.
    service.send(Request::new("DELETE", &format!("/timeline/{HERE}"))).expect(200);
    repeat(&service, &asked, &key, |one| (!is_elsewhere(one)).then_some((404, "timeline_ended")));
    // The key was revoked.
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{key_id}"))).expect(200);
    repeat(&service, &asked, &key, |_| Some((401, "invalid_credentials")));
    service.audit();
}
