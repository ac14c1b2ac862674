//! `POST /v1/elapse`: time that work took while the clock was paused.

use std::thread;

use serde_json::{Value, json};

use super::super::{paused_service, post_invalid, send};
use super::{acknowledge, claim, set, texts};
use crate::support::service::Service;

fn spend(service: &Service, body: &Value) -> Value {
    service.post("/v1/elapse", body)
}

#[test]
fn spent_time_adds_up_and_parallel_work_counts_once() {
    let service = paused_service();
    assert_eq!(spend(&service, &json!({ "duration": "20m" }))["current_time"], "2000-01-01T00:20:00Z");
    // In parallel, since one time: the longest counts.
    let began = "2000-01-01T00:20:00Z";
    for (duration, new_times) in [("20m", "00:40"), ("10m", "00:40"), ("45m", "01:05")] {
        let answer = spend(&service, &json!({ "duration": duration, "since": began }));
        assert_eq!(answer["current_time"], format!("2000-01-01T{new_times}:00Z"), "{duration}");
    }
    let late = json!({ "duration": "1m", "since": "2000-01-01T02:00:00Z" });
    post_invalid(&service, "/v1/elapse", &late, "#/since");
    // In sequence, but sent concurrently: everything passes, and each waits for those before.
    set(&service, "on-the-way", "2000-01-01T01:10:00Z");
    assert!(claim(&service, 1, "0s").is_empty(), "so that the queue is heard");
    let new_times: Vec<Value> = thread::scope(|scope| {
        let spending =
            [1, 2, 3, 4].map(|_| scope.spawn(|| spend(&service, &json!({ "duration": "15m", "wait": "5m" }))));
        let firings = claim(&service, 1, "30s");
        assert_eq!(texts(&firings, "due"), ["2000-01-01T01:10:00Z"]);
        acknowledge(&service, &firings);
        spending.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    // At its own end: by the time of the response, the clock may show the next one.
    let mut new_times: Vec<&str> = new_times.iter().map(|one| one["new_time"].as_str().expect("a time")).collect();
    new_times.sort_unstable();
    let expected = ["01:20", "01:35", "01:50", "02:05"].map(|time| format!("2000-01-01T{time}:00Z"));
    assert_eq!(new_times, expected);
    let would = service.post("/v1/elapse", &json!({ "duration": "1d", "dry_run": true }));
    assert_eq!(would["would_fire"]["count"], 0);
    // A running clock has passed it already, and no clock is created.
    service.post("/v1/resume-time", &json!({}));
    send(&service, "/v1/elapse", &json!({ "duration": "1m" })).refused(409, "clock_running");
    send(&service, "/v1/elapse", &json!({ "duration": "1m", "timeline_id": "new" })).refused(404, "not_found");
    service.audit();
}
