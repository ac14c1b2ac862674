//! `POST /v1/fast-forward` and `POST /v1/rewind`.

use serde_json::json;

use crate::snapshot;
use crate::v1::{create_paused, paused_service, refused_and_unchanged, send};

#[test]
fn fast_forward_and_rewind_move_the_clock() {
    let service = paused_service();
    let shift =
        |operation: &str, duration: &str| send(&service, &format!("/v1/{operation}"), &json!({ "duration": duration }));
    snapshot::check("fast-forward", &shift("fast-forward", "12h"));
    snapshot::check("rewind", &shift("rewind", "30m"));
    snapshot::check("rewind-refused", &shift("rewind", "-30m"));
    service.audit();
}

#[test]
fn months_follow_the_calendar_at_the_location() {
    let service = paused_service();
    for (from, operation, duration, place, to) in [
        ("2024-01-31T12:00:00Z", "fast-forward", "P1M", "nowhere in particular", "2024-02-29T12:00:00Z"),
        // Daylight saving time starts in between: the same local hour is a different one in UTC.
        ("2024-03-15T12:00:00Z", "fast-forward", "P1M", "Europe/Paris", "2024-04-15T11:00:00Z"),
        ("2024-04-15T11:00:00Z", "rewind", "P1M", "Europe/Paris", "2024-03-15T12:00:00Z"),
        ("2024-03-15T12:00:00Z", "fast-forward", "P1M", "Paris", "2024-04-15T11:00:00Z"),
        ("2024-04-15T11:00:00Z", "rewind", "P1M", "48.85,2.35", "2024-03-15T12:00:00Z"),
        // A day is 86 400 seconds wherever the clock is.
        ("2024-03-30T12:00:00Z", "fast-forward", "1d", "Europe/Paris", "2024-03-31T12:00:00Z"),
    ] {
        service.post("/v1/travel", &json!({ "destination_time": from, "location": place }));
        let moved = service.post(&format!("/v1/{operation}"), &json!({ "duration": duration }));
        assert_eq!(moved["new_time"], to, "{from} {operation} {duration} {place}");
    }
    service.audit();
}

#[test]
fn moves_beyond_the_end_of_time_are_rejected() {
    let service = paused_service();
    for (from, path, duration) in [
        ("9999-12-31T23:59:59.999999Z", "/v1/fast-forward", "0.000001s"),
        ("-009999-01-01T00:00:00Z", "/v1/rewind", "0.000001s"),
        ("9999-12-31T23:59:59Z", "/v1/fast-forward", "P1M"),
        ("2000-01-01T00:00:00Z", "/v1/rewind", "P12000Y"),
        ("2000-01-01T00:00:00Z", "/v1/rewind", "99999999999999999999d"),
        ("2000-01-01T00:00:00Z", "/v1/fast-forward", "P999999999999M"),
    ] {
        create_paused(&service, from);
        refused_and_unchanged(&service, path, &json!({ "duration": duration }), 422, "time_out_of_range");
    }
    create_paused(&service, "9999-12-31T23:59:59.999998Z");
    let last = service.post("/v1/fast-forward", &json!({ "duration": "0.000001s" }));
    assert_eq!(last["new_time"], "9999-12-31T23:59:59.999999Z");
    service.audit();
}
