//! `POST /v1/travel`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::Service;
use crate::v1::{PREFIXES, lasting, paused_service, refused_and_unchanged, send};

#[test]
fn travel_responses_match_their_snapshots() {
    let service = Service::start();
    for prefix in PREFIXES {
        let path = format!("{prefix}/travel");
        let timeline = format!("of{}", prefix.replace('/', "-"));
        let go = |destination: &str, location: Option<&str>| {
            let mut body = json!({ "destination_time": destination, "timeline_id": timeline });
            if let Some(location) = location {
                body["location"] = json!(location);
            }
            let answer = send(&service, &path, &body);
            // The names differ so that the bodies can be the same.
            crate::support::http::Answer { body: answer.text().replace(&timeline, "somewhere").into_bytes(), ..answer }
        };
        snapshot::check("travel-to-a-place", &go("2005-08-29T11:10:00Z", Some("New Orleans")));
        snapshot::check("travel-without-a-place", &go("1969-07-20T20:17:40Z", None));
        snapshot::check("travel-to-a-zone", &go("2005-08-29T11:10:00Z", Some("America/Chicago")));
        snapshot::check("travel-refused", &go("yesterday", None));
    }
    service.audit();
}

#[test]
fn destination_formats_are_all_accepted() {
    let service = paused_service();
    for (destination, expected) in [
        ("1969-07-20T20:17:40Z", "1969-07-20T20:17:40Z"),
        ("2345-06-07T08:09:10Z", "2345-06-07T08:09:10Z"),
        ("-000043-03-15T12:00:00Z", "-000043-03-15T12:00:00Z"),
        ("-002150-01-01T00:00:00Z", "-002150-01-01T00:00:00Z"),
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"),
        ("-009999-01-01T00:00:00Z", "-009999-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2024-07-20T22:17:40+02:00", "2024-07-20T20:17:40Z"),
        ("2024-07-20T15:17:40.5-05:00", "2024-07-20T20:17:40.5Z"),
        ("2024-07-20T20:17:40-00:00", "2024-07-20T20:17:40Z"),
        ("2024-07-20t20:17:40z", "2024-07-20T20:17:40Z"),
        ("2024-07-20T20:17:40.100Z", "2024-07-20T20:17:40.1Z"),
        ("2024-07-20T20:17:40.1234567Z", "2024-07-20T20:17:40.123456Z"),
        ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
        ("2022-07-08T00:14:07Z[Europe/Paris]", "2022-07-08T00:14:07Z"),
        ("2022-07-08T02:14:07+02:00[!Europe/Paris]", "2022-07-08T00:14:07Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ] {
        let answer = send(&service, "/v1/travel", &json!({ "destination_time": destination })).expect(200);
        assert_eq!(answer["current_time"], expected, "{destination}");
        assert_eq!(answer["origin_virtual"], expected, "{destination}");
        assert_eq!(answer["state"], "paused", "{destination}");
    }
    service.audit();
}

#[test]
fn invalid_destinations_are_rejected() {
    let service = paused_service();
    let missing_zone = "the time zone is missing: end it in `Z`, an offset such as `+02:00`, or a zone such as \
        `[Europe/Paris]`, like `2024-07-20T20:17:40Z`";
    let missing_time = "the time of day and its zone are missing: write `2024-07-20T00:00:00Z`";
    for (destination, piece) in [
        ("2024-07-20T20:17:40", missing_zone),
        ("2024-07-20", missing_time),
        ("", "the timestamp is empty"),
        ("tomorrow", "not a timestamp"),
        ("2024-13-20T20:17:40Z", "month"),
        ("2023-02-29T00:00:00Z", "has 28 days"),
        ("2024-07-20T24:00:00Z", "the hour 24 does not exist"),
        ("2024-12-31T23:59:60Z", "no leap second"),
        ("-000000-01-01T00:00:00Z", "does not exist"),
        ("12024-01-01T00:00:00Z", "four digits"),
        ("1721507860", "not a timestamp"),
        ("2022-07-08T00:14:07Z[!u-ca=hebrew]", "marked critical but not supported"),
        ("2022-07-08T00:14:07Z[Europe/Atlantis]", "is unknown"),
    ] {
        let body = json!({ "destination_time": destination });
        let refused = refused_and_unchanged(&service, "/v1/travel", &body, 400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/destination_time");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(piece), "{destination}: {detail}");
    }
    for destination in ["+010000-01-01T00:00:00Z", "-010000-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"] {
        let body = json!({ "destination_time": destination });
        let refused = refused_and_unchanged(&service, "/v1/travel", &body, 422, "time_out_of_range");
        assert_eq!(refused["errors"][0]["pointer"], "#/destination_time");
    }
    service.audit();
}

#[test]
fn location_is_kept_until_another_is_given() {
    let service = paused_service();
    let go = |body: &serde_json::Value| send(&service, "/v1/travel", body);
    assert_eq!(service.get("/v1/clock", &[])["location"], json!(null));
    let longest = "x".repeat(512);
    for place in ["New Orleans", "東京", "29.95,-90.07", "*", longest.as_str()] {
        let answer = go(&json!({ "destination_time": "2005-08-29T11:10:00Z", "location": place })).expect(200);
        assert_eq!(answer["location"], place);
        let answer = go(&json!({ "destination_time": "2006-08-29T11:10:00Z" })).expect(200);
        assert_eq!(answer["location"], place, "a journey without a place stays");
        for (path, body) in [
            ("/v1/resume-time", json!({})),
            ("/v1/pause-time", json!({})),
            ("/v1/fast-forward", json!({ "duration": "1h" })),
            ("/v1/rewind", json!({ "duration": "1h" })),
            ("/v1/set-rate", json!({ "rate": 2 })),
            ("/v1/set-rate", json!({ "rate": 1 })),
        ] {
            assert_eq!(send(&service, path, &body).expect(200)["location"], place, "{path}");
        }
    }
    let too_long = "x".repeat(513);
    for wrong in ["", too_long.as_str()] {
        let body = json!({ "destination_time": "2005-08-29T11:10:00Z", "location": wrong });
        let refused = refused_and_unchanged(&service, "/v1/travel", &body, 400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/location");
    }
    service.audit();
}

#[test]
fn local_time_follows_the_location() {
    let service = paused_service();
    for (at, place, local) in [
        ("2005-08-29T11:10:00Z", "America/Chicago", json!("2005-08-29T06:10:00-05:00")),
        ("2005-01-29T11:10:00Z", "America/Chicago", json!("2005-01-29T05:10:00-06:00")),
        ("2005-08-29T11:10:00Z", "Asia/Kathmandu", json!("2005-08-29T16:55:00+05:45")),
        ("2005-08-29T11:10:00Z", "New Orleans", json!("2005-08-29T06:10:00-05:00")),
        ("2005-08-29T11:10:00Z", "paris, tx", json!("2005-08-29T06:10:00-05:00")),
        ("2005-08-29T11:10:00Z", "Saigon", json!("2005-08-29T18:10:00+07:00")),
        ("2005-08-29T11:10:00Z", "27.7,85.32", json!("2005-08-29T16:55:00+05:45")),
        ("2005-08-29T11:10:00Z", "geo:0,-150;u=10", json!("2005-08-29T01:10:00-10:00")),
        // A zone name is the zone, whatever else has that name.
        ("2005-08-29T11:10:00Z", "EST", json!("2005-08-29T06:10:00-05:00")),
        ("2005-08-29T11:10:00Z", "Narnia", json!(null)),
        ("2005-08-29T11:10:00Z", "bbox:2,48,3,49", json!(null)),
        ("2005-08-29T11:10:00Z", "*", json!(null)),
        // Longitude before latitude, and a negative radius.
        ("2005-08-29T11:10:00Z", "-106.475,33.675", json!(null)),
        ("2005-08-29T11:10:00Z", "geo:48,2;u=-1", json!(null)),
    ] {
        let answer = send(&service, "/v1/travel", &json!({ "destination_time": at, "location": place })).expect(200);
        assert_eq!(answer["local_time"], local, "{place}");
        let says_so = answer["status"].as_str().unwrap().contains("is unknown, so months and days are in UTC");
        assert_eq!(says_so, local.is_null(), "{place}: {}", answer["status"]);
        assert_eq!(service.get("/v1/clock", &[])["local_time"], local, "{place}");
    }
    service.audit();
}

#[test]
fn travel_keeps_the_running_or_paused_state() {
    let service = Service::start();
    let go = |at: &str| send(&service, "/v1/travel", &json!({ "destination_time": at })).expect(200);
    let running = go("1900-01-01T00:00:00Z");
    assert_eq!((&running["state"], &running["current_time"]), (&json!("running"), &json!("1900-01-01T00:00:00Z")));
    let later = service.get("/v1/clock", &[]);
    assert_eq!(lasting(&later), lasting(&running));
    let at = |clock: &serde_json::Value| micros(clock["current_time"].as_str().unwrap());
    assert!(at(&later) > at(&running), "{later}");
    send(&service, "/v1/pause-time", &json!({})).expect(200);
    let paused = go("2100-01-01T00:00:00Z");
    assert_eq!((&paused["state"], &paused["current_time"]), (&json!("paused"), &json!("2100-01-01T00:00:00Z")));
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2100-01-01T00:00:00Z");
    service.audit();
}

#[test]
fn request_can_override_the_timeline_of_its_key() {
    let service = Service::start();
    let early = Request::post("/v1/api-keys").json(&json!({ "timeline_id": "hers" }));
    service.send(early).refused(404, "not_found");
    service.post("/v1/timelines", &json!({ "timeline_id": "hers" }));
    let bound = service.key(&json!({ "timeline_id": "hers" }));
    let go = |key: &str, body: &serde_json::Value| {
        service.send(Request::post("/v1/travel").json(body).key(key)).expect(200)["timeline_id"].clone()
    };
    let there = json!({ "destination_time": "2001-01-01T00:00:00Z" });
    assert_eq!(go(&bound, &there), "hers");
    assert_eq!(go(&service.admin, &there), "main");
    let named = json!({ "destination_time": "2001-01-01T00:00:00Z", "timeline_id": "another" });
    assert_eq!(go(&bound, &named), "another");
    for wrong in ["", "_x", "a b", "Zürich", "a/b", "x".repeat(129).as_str()] {
        let body = json!({ "destination_time": "2001-01-01T00:00:00Z", "timeline_id": wrong });
        let refused = send(&service, "/v1/travel", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/timeline_id");
    }
    service.audit();
}
