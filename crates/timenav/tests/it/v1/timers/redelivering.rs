//! `POST /v1/firings/{firing_id}/redeliver`: redelivers failed firings.

use std::thread;

use serde_json::{Value, json};

use super::super::{paused_service, send};
use super::{acknowledge, claim, of, set};
use crate::support::http::Request;
use crate::support::service::Service;

/// Claims and fails a firing until it has failed permanently. Returns it.
fn fail_for_good(service: &Service) -> Value {
    loop {
        let claimed = claim(service, 1, "20s").pop().expect("a firing");
        let body = json!({ "firing_ids": [claimed["firing_id"]], "reason": "the card was declined" });
        if service.post("/v1/firings/fail", &body)["firings"][0]["state"] == "failed" {
            return claimed;
        }
    }
}

fn redeliver(service: &Service, firing: &Value) -> Request {
    let path = format!("/v1/firings/{}/redeliver", firing["firing_id"].as_str().expect("an id"));
    service.signed(Request::post(&path).json(&json!({})))
}

#[test]
fn finally_failed_firing_can_be_redelivered() {
    let service = paused_service();
    set(&service, "once", "2000-01-02T00:00:00Z");
    let rule = json!({ "rule": "FREQ=DAILY", "starts": "2000-01-04T00:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": "daily", "every": rule, "payload": { "of": "daily" } }));
    for (timer_id, forward) in [("once", "2d"), ("daily", "1d")] {
        let (failed, settled) = thread::scope(|scope| {
            assert!(claim(&service, 1, "0s").is_empty(), "so that the queue is heard");
            let failing = scope.spawn(|| fail_for_good(&service));
            let moved = service.post("/v1/fast-forward", &json!({ "duration": forward, "wait": "5m" }));
            (failing.join().expect("a firing"), moved["receipt"].clone())
        });
        assert_eq!((&settled["state"], &settled["failed"]), (&json!("settled"), &json!(1)), "{settled:#}");
        // It is a new firing of the same time. The failed one stays failed.
        let answer = service.send(redeliver(&service, &failed)).expect(200);
        let again = answer["firings"][0]["firing_id"].clone();
        assert_eq!(answer["firings"][0]["state"], "pending");
        assert_ne!(again, failed["firing_id"]);
        service.send(redeliver(&service, &failed)).refused(409, "conflict");
        let claimed = claim(&service, 1, "20s");
        assert_eq!((of(&claimed, "due"), &claimed[0]["firing_id"]), (of(std::slice::from_ref(&failed), "due"), &again));
        assert_eq!((&claimed[0]["attempt"], &claimed[0]["payload"]["of"]), (&json!(1), &json!(timer_id)));
        acknowledge(&service, &claimed);
        service.send(redeliver(&service, &failed)).refused(409, "conflict");
        service.send(redeliver(&service, &claimed[0])).refused(409, "conflict");
        let details = service.get(&format!("/v1/timers/{timer_id}"), &[]);
        let states: Vec<(&Value, &Value)> =
            details["firings"].as_array().expect("firings").iter().map(|one| (&one["round"], &one["state"])).collect();
        assert_eq!(states, [(&json!(1), &json!("acknowledged")), (&json!(0), &json!("failed"))], "{details:#}");
    }
    // The rule continues as scheduled, and the scan accepts all of it.
    let next = service.get("/v1/timers/daily", &[])["timer"]["next"].clone();
    assert_eq!(next, "2000-01-05T00:00:00Z");
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["findings"], json!([]), "{scan:#}");
    send(&service, "/v1/firings/firing_none/redeliver", &json!({})).refused(404, "not_found");
    service.audit();
}
