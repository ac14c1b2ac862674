//! Quotas: requests of a key, and failed attempts of an address.

use crate::http::{Answer, Request};
use crate::service::Service;

/// More than any quota here and what comes back to it while it is spent.
const ENOUGH: usize = 5_000;

/// Sends a request until it is refused for there being too many, and returns that answer.
fn spend(service: &Service, request: &Request, quota: usize) -> Answer {
    let mut connection = service.connect();
    for count in 0..ENOUGH {
        let answer = connection.exchange(request).unwrap();
        if answer.status == 429 {
            assert!(count >= quota, "refused after {count} of {quota}");
            return answer;
        }
    }
    panic!("{ENOUGH} requests were not too many");
}

#[test]
fn a_key_has_its_quota_and_others_have_theirs() {
    let service = Service::with(&["--requests-per-minute", "1000"]);
    let key = service.user("ada");
    let request = service.signed(Request::get("/v1/limits").key(&key));
    let first = service.send(Request::get("/v1/limits").key(&key));
    assert_eq!(first.header("ratelimit-policy"), Some("\"requests\";q=1000;w=60"));
    assert_eq!(first.header("ratelimit"), Some("\"requests\";r=999;t=0"));
    assert_eq!(first.json()["limits"]["requests_per_minute"], 1_000);
    let refused = spend(&service, &request, 999);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"requests\";q=1000;w=60"));
    assert_eq!(refused.header("ratelimit"), Some("\"requests\";r=0;t=1"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    assert_eq!(service.send(Request::get("/v1/limits")).status, 200, "the key of somebody else");
    service.audit();
}

#[test]
fn failed_attempts_are_limited_and_leave_no_more_entries() {
    let service = Service::start();
    let request = Request::get("/v1/clock").anonymous();
    let refused = spend(&service, &request, 600);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"failed-attempts\";q=600;w=60"));
    refused.refused(429, "rate_limited");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

#[test]
fn without_a_quota_nothing_is_told_of_one() {
    let service = Service::start();
    let answer = service.send(Request::get("/v1/clock"));
    assert_eq!((answer.header("ratelimit"), answer.header("ratelimit-policy")), (None, None));
    service.audit();
}
