//! Advances interrupted by a crash.

use serde_json::json;

use super::{acknowledge, claim, set, texts, work_off};
use crate::v1::paused_service;

#[test]
fn advance_resumes_after_a_crash() {
    let mut service = paused_service();
    for day in 2..=5 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    assert!(claim(&service, 1, "0s").is_empty());
    let begun = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    let advance = begun["receipt"]["advance_id"].as_str().unwrap().to_owned();
    acknowledge(&service, &claim(&service, 1, "20s"));
    let lost = claim(&service, 1, "20s");
    assert_eq!(texts(&lost, "timer_id"), ["day-3"]);
    service.kill();
    service.start_again();
    // The lease is lost, and the firing is the same. There may have been no listener before the clock moved on.
    let receipt = |wait: &str| service.get(&format!("/v1/advances/{advance}"), &[("wait", wait)]);
    let done = work_off(&service, 3);
    assert_eq!(texts(&done, "timer_id"), ["day-3", "day-4", "day-5"]);
    assert_eq!((&done[0]["firing_id"], &done[0]["attempt"]), (&lost[0]["firing_id"], &json!(1)));
    let settled = receipt("20s")["receipt"].clone();
    assert_eq!((&settled["state"], &settled["fired"]), (&json!("settled"), &json!(4)));
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-11T00:00:00Z");
    service.audit();
}
