//! `POST /v1/set-rate`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::instant::micros;
use crate::support::service::Service;
use crate::v1::{PREFIXES, lasting, paused_service, refused_and_unchanged, send};

#[test]
fn rate_changes_match_their_snapshots() {
    for prefix in PREFIXES {
        let service = paused_service();
        let set = |rate: Value| send(&service, &format!("{prefix}/set-rate"), &json!({ "rate": rate }));
        snapshot::check("set-rate", &set(json!(60)));
        snapshot::check("set-rate-again", &set(json!(60.0)));
        snapshot::check("set-rate-refused", &set(json!(0)));
        service.audit();
    }
}

#[test]
fn rate_change_continues_from_the_current_time() {
    let service = Service::start();
    let mut earlier = service.get("/v1/clock", &[]);
    for rate in [1_000_000.0, 0.5, 86_400.0, 0.000_001, 1.0, 3.25] {
        let answer = send(&service, "/v1/set-rate", &json!({ "rate": rate })).expect(200);
        let at = |answer: &Value, name: &str| micros(answer[name].as_str().unwrap());
        #[expect(clippy::cast_possible_truncation, reason = "rates are whole millionths")]
        let old_rate = (earlier["rate"].as_f64().unwrap() * 1e6).round() as i128;
        let ran = (at(&answer, "origin_host") - at(&earlier, "origin_host")) * old_rate;
        assert_eq!(at(&answer, "current_time"), at(&earlier, "origin_virtual") + ran.div_euclid(1_000_000), "{rate}");
        assert_eq!(at(&answer, "origin_virtual"), at(&answer, "current_time"));
        assert_eq!(answer["rate"], rate);
        assert_eq!(answer["state"], "running");
        assert_eq!(lasting(&service.get("/v1/clock", &[])), lasting(&answer));
        earlier = answer;
    }
    service.audit();
}

#[test]
fn rate_of_paused_clock_applies_on_resume() {
    let service = paused_service();
    let set = send(&service, "/v1/set-rate", &json!({ "rate": 86_400 })).expect(200);
    assert_eq!((&set["state"], &set["current_time"]), (&json!("paused"), &json!("2000-01-01T00:00:00Z")));
    let resumed = send(&service, "/v1/resume-time", &json!({})).expect(200);
    assert_eq!((&resumed["rate"], &resumed["current_time"]), (&json!(86_400.0), &json!("2000-01-01T00:00:00Z")));
    let paused = send(&service, "/v1/pause-time", &json!({})).expect(200);
    let host =
        ["origin_host"].map(|name| micros(paused[name].as_str().unwrap()) - micros(resumed[name].as_str().unwrap()))[0];
    let virtual_passed = micros(paused["paused_at"].as_str().unwrap()) - micros("2000-01-01T00:00:00Z");
    assert_eq!(virtual_passed, host * 86_400);
    service.audit();
}

#[test]
fn invalid_rates_are_rejected() {
    let service = paused_service();
    for rate in
        [json!(0), json!(-1), json!(0.000_000_1), json!(1e7), json!(1e300), json!("fast"), json!(null), json!([1])]
    {
        let refused =
            refused_and_unchanged(&service, "/v1/set-rate", &json!({ "rate": rate }), 400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/rate", "{rate}");
    }
    for rate in [json!(0.000_001), json!(1_000_000), json!("2.5")] {
        send(&service, "/v1/set-rate", &json!({ "rate": rate })).expect(200);
    }
    service.audit();
}
