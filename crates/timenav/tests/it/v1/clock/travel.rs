//! `POST /v1/travel`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{paused_service, refused_and_unchanged, send};

#[test]
fn travel_responses_match_their_snapshots() {
    let service = Service::start();
    let travel = |destination: &str, location: Option<&str>| {
        let body = json!({ "destination_time": destination, "timeline_id": "somewhere", "location": location });
        send(&service, "/v1/travel", &body)
    };
    snapshot::check("travel-to-a-place", &travel("2005-08-29T11:10:00Z", Some("New Orleans")));
    snapshot::check("travel-without-a-place", &travel("1969-07-20T20:17:40Z", None));
    snapshot::check("travel-to-a-zone", &travel("2005-08-29T11:10:00Z", Some("America/Chicago")));
    snapshot::check("travel-refused", &travel("yesterday", None));
    service.audit();
}

#[test]
fn invalid_destinations_change_nothing() {
    let service = paused_service();
    for (destination, status, code) in [
        ("2023-02-29T00:00:00Z", 400, "invalid_parameter"),
        ("+010000-01-01T00:00:00Z", 422, "time_out_of_range"),
        ("9999-12-31T23:59:59-01:00", 422, "time_out_of_range"),
    ] {
        let body = json!({ "destination_time": destination });
        let refused = refused_and_unchanged(&service, "/v1/travel", &body, status, code);
        assert_eq!(refused["errors"][0]["pointer"], "#/destination_time");
    }
    service.audit();
}

#[test]
fn local_time_follows_the_location() {
    let service = paused_service();
    for (place, local) in [
        ("America/Chicago", json!("2005-08-29T06:10:00-05:00")),
        ("paris, tx", json!("2005-08-29T06:10:00-05:00")),
        ("Saigon", json!("2005-08-29T18:10:00+07:00")),
        ("27.7,85.32", json!("2005-08-29T16:55:00+05:45")),
        ("geo:0,-150;u=10", json!("2005-08-29T01:10:00-10:00")),
        // A zone name is the zone, whatever else has that name.
        ("EST", json!("2005-08-29T06:10:00-05:00")),
        ("Narnia", json!(null)),
        ("bbox:2,48,3,49", json!(null)),
        ("*", json!(null)),
        // Longitude before latitude, and a negative radius.
        ("-106.475,33.675", json!(null)),
        ("geo:48,2;u=-1", json!(null)),
    ] {
        let moved =
            service.post("/v1/travel", &json!({ "destination_time": "2005-08-29T11:10:00Z", "location": place }));
        assert_eq!(moved["local_time"], local, "{place}");
        let is_utc = moved["status"].as_str().unwrap().contains("is unknown, so months and days are in UTC");
        assert_eq!(is_utc, local.is_null(), "{place}: {}", moved["status"]);
        assert_eq!(service.get("/v1/clock", &[])["local_time"], local, "{place}");
    }
    service.audit();
}

#[test]
fn request_can_override_the_timeline_of_its_key() {
    let service = Service::start();
    let early = Request::post("/v1/api-keys").json(&json!({ "timeline_id": "hers" }));
    service.send(early).refused(404, "not_found");
    service.post("/v1/timelines", &json!({ "timeline_id": "hers" }));
    let bound = service.key(&json!({ "timeline_id": "hers" }));
    for (key, named, expected) in [(&bound, None, "hers"), (&service.admin, None, "main"), (&bound, Some("new"), "new")]
    {
        let body = json!({ "destination_time": "2001-01-01T00:00:00Z", "timeline_id": named });
        let moved = service.send(Request::post("/v1/travel").json(&body).key(key)).expect(200);
        assert_eq!(moved["timeline_id"], expected);
    }
    service.audit();
}
