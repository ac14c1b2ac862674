//! `POST /v1/fast-forward` and `POST /v1/rewind`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::instant::micros;
use crate::support::service::Service;
use crate::v1::{PREFIXES, create_paused, lasting, paused_service, refused_and_unchanged, send};

const MINUTE: i128 = 60_000_000;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

#[test]
fn fast_forward_and_rewind_move_the_clock() {
    for prefix in PREFIXES {
        let service = paused_service();
        let shift = |operation: &str, duration: &str| {
            send(&service, &format!("{prefix}/{operation}"), &json!({ "duration": duration }))
        };
        snapshot::check("fast-forward", &shift("fast-forward", "12h"));
        snapshot::check("rewind", &shift("rewind", "30m"));
        snapshot::check("rewind-refused", &shift("rewind", "-30m"));
        service.audit();
    }
}

#[test]
fn duration_formats_are_all_accepted() {
    let service = paused_service();
    for (duration, length) in [
        ("1s", 1_000_000),
        ("90m", 90 * MINUTE),
        ("5m", 5 * MINUTE),
        ("2h", 2 * HOUR),
        ("1.5h", 90 * MINUTE),
        ("5d", 5 * DAY),
        ("2w", 14 * DAY),
        ("1d12h", 36 * HOUR),
        ("1w2d3h4m5.25s", 9 * DAY + 3 * HOUR + 4 * MINUTE + 5_250_000),
        ("PT2H", 2 * HOUR),
        ("PT1M", MINUTE),
        ("P2W", 14 * DAY),
        ("P1DT12H", 36 * HOUR),
        ("PT0.000001S", 1),
        ("0.000001s", 1),
        ("3650000d", 3_650_000 * DAY),
    ] {
        if length < 1_000_000 * DAY {
            let forward = send(&service, "/v1/fast-forward", &json!({ "duration": duration })).expect(200);
            assert_eq!(
                micros(forward["new_time"].as_str().unwrap()),
                micros("2000-01-01T00:00:00Z") + length,
                "{duration}"
            );
        }
        create_paused(&service, "2000-01-01T00:00:00Z");
        let back = send(&service, "/v1/rewind", &json!({ "duration": duration })).expect(200);
        assert_eq!(micros(back["new_time"].as_str().unwrap()), micros("2000-01-01T00:00:00Z") - length, "{duration}");
        assert_eq!(back["new_time"], back["current_time"]);
        create_paused(&service, "2000-01-01T00:00:00Z");
    }
    service.audit();
}

#[test]
fn months_and_years_follow_the_calendar() {
    let service = paused_service();
    for (from, operation, duration, place, to) in [
        ("2024-01-31T12:00:00Z", "fast-forward", "P1M", None, "2024-02-29T12:00:00Z"),
        ("2023-01-31T12:00:00Z", "fast-forward", "P1M", None, "2023-02-28T12:00:00Z"),
        ("2024-03-31T12:00:00Z", "rewind", "P1M", None, "2024-02-29T12:00:00Z"),
        ("2024-02-29T12:00:00Z", "fast-forward", "P1Y", None, "2025-02-28T12:00:00Z"),
        ("2024-01-01T00:00:00Z", "fast-forward", "P1Y2M10DT2H30M", None, "2025-03-11T02:30:00Z"),
        // Daylight saving time starts in between: the same local hour is a different one in UTC.
        ("2024-03-15T12:00:00Z", "fast-forward", "P1M", Some("Europe/Paris"), "2024-04-15T11:00:00Z"),
        ("2024-04-15T11:00:00Z", "rewind", "P1M", Some("Europe/Paris"), "2024-03-15T12:00:00Z"),
        // A known place has the calendar of its time zone.
        ("2024-03-15T12:00:00Z", "fast-forward", "P1M", Some("Paris"), "2024-04-15T11:00:00Z"),
        ("2024-04-15T11:00:00Z", "rewind", "P1M", Some("48.85,2.35"), "2024-03-15T12:00:00Z"),
        // A day is 86 400 seconds wherever the clock is.
        ("2024-03-30T12:00:00Z", "fast-forward", "1d", Some("Europe/Paris"), "2024-03-31T12:00:00Z"),
        // Local time is the first of the month, UTC still the last of the previous one.
        ("2024-01-31T23:30:00Z", "fast-forward", "P1M", Some("Europe/Paris"), "2024-02-29T23:30:00Z"),
    ] {
        let place = place.unwrap_or("nowhere in particular");
        send(&service, "/v1/travel", &json!({ "destination_time": from, "location": place })).expect(200);
        let answer = send(&service, &format!("/v1/{operation}"), &json!({ "duration": duration })).expect(200);
        assert_eq!(answer["new_time"], to, "{from} {operation} {duration} {place}");
    }
    service.audit();
}

#[test]
fn invalid_durations_are_rejected() {
    let service = paused_service();
    for duration in [
        "",
        "0h",
        "PT0S",
        "-2h",
        "+2h",
        "90",
        "h",
        "2H",
        "5M",
        "1y",
        "P",
        "PT",
        "P1H",
        "1h1d",
        "1h1h",
        "1 h",
        "1,5h",
        "P1.5M",
        "one hour",
        "1e3h",
        "0.0000001s",
        "∞",
    ] {
        for path in ["/v1/fast-forward", "/v1/rewind"] {
            let body = json!({ "duration": duration });
            let refused = refused_and_unchanged(&service, path, &body, 400, "invalid_parameter");
            assert_eq!(refused["errors"][0]["pointer"], "#/duration", "{duration}");
        }
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
        ("2000-01-01T00:00:00Z", "/v1/fast-forward", "P8000Y"),
        ("2000-01-01T00:00:00Z", "/v1/rewind", "P12000Y"),
        ("2000-01-01T00:00:00Z", "/v1/rewind", "99999999999999999999d"),
        ("2000-01-01T00:00:00Z", "/v1/fast-forward", "P999999999999M"),
    ] {
        create_paused(&service, from);
        refused_and_unchanged(&service, path, &json!({ "duration": duration }), 422, "time_out_of_range");
        assert_eq!(service.get("/v1/clock", &[])["current_time"], from);
    }
    create_paused(&service, "9999-12-31T23:59:59.999998Z");
    let last = send(&service, "/v1/fast-forward", &json!({ "duration": "0.000001s" })).expect(200);
    assert_eq!(last["new_time"], "9999-12-31T23:59:59.999999Z");
    service.audit();
}

#[test]
fn clock_moves_keep_the_running_state() {
    let service = Service::start();
    for (state, before) in [("running", "/v1/resume-time"), ("paused", "/v1/pause-time")] {
        send(&service, before, &json!({})).expect(200);
        for path in ["/v1/fast-forward", "/v1/rewind"] {
            let earlier = service.get("/v1/clock", &[]);
            let answer = send(&service, path, &json!({ "duration": "1h" })).expect(200);
            assert_eq!(answer["state"], state, "{path}");
            assert_eq!(answer["generation"].as_u64(), earlier["generation"].as_u64().map(|count| count + 1));
            // The response has the time of the jump, so the result can be computed to the microsecond.
            let at = |answer: &Value, name: &str| micros(answer[name].as_str().unwrap());
            let ran = if state == "running" { at(&answer, "origin_host") - at(&earlier, "origin_host") } else { 0 };
            let length = if path == "/v1/rewind" { -HOUR } else { HOUR };
            assert_eq!(at(&answer, "new_time"), at(&earlier, "origin_virtual") + ran + length, "{path}");
            assert_eq!(lasting(&service.get("/v1/clock", &[])), lasting(&answer));
        }
    }
    service.audit();
}
