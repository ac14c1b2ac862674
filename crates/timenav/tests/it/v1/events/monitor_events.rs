//! `GET /v1/monitor-events`: by place and time.

mod paging;
mod places;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::PREFIXES;

/// Events around the world with distinct ids.
fn world() -> Service {
    let service = Service::start();
    let event = |id: &str, time: &str, place: &str, point: Option<(f64, f64)>| {
        let mut event = json!({ "event_id": id, "time": time });
        if !place.is_empty() {
            event["location"] = json!(place);
        }
        if let Some((lat, lon)) = point {
            event["geo"] = json!({ "lat": lat, "lon": lon });
        }
        event
    };
    service.post(
        "/v1/events",
        &json!([
            event("orleans", "2005-08-29T11:10:00Z", "New Orleans", Some((29.95, -90.07))),
            event("baton", "2005-08-29T12:00:00Z", "Baton Rouge", Some((30.45, -91.15))),
            event("suva", "2005-08-30T00:00:00Z", "Suva", Some((-18.14, 178.44))),
            event("apia", "2005-08-30T00:00:00Z", "Apia", Some((-13.83, -171.77))),
            event("pole", "1911-12-14T15:00:00Z", "South Pole", Some((-90.0, 0.0))),
            event("greenwich", "1884-10-22T12:00:00Z", "Greenwich", Some((51.48, 0.0))),
            event("nowhere", "-000043-03-15T12:00:00Z", "the Curia of Pompey", None),
            event("unsaid", "9999-12-31T23:59:59.999999Z", "", None),
            event("dateline", "2005-08-30T00:00:00.000001Z", "180", Some((0.0, 180.0))),
        ]),
    );
    service
}

fn ids(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event_id"].as_str().unwrap()).collect()
}

#[test]
fn event_pages_match_their_snapshots() {
    let service = world();
    for prefix in PREFIXES {
        let ask = |parameters: &[(&str, &str)]| {
            let answer = service.send(Request::get(&target(&format!("{prefix}/monitor-events"), parameters)));
            // A read is an entry, so the ledger size depends on earlier requests.
            let mut body = answer.json();
            body["as_of"] = json!("[size]");
            crate::support::http::Answer { body: body.to_string().into_bytes(), ..answer }
        };
        let always = ("time_range", "../..");
        snapshot::check("monitor-near", &ask(&[("location", "geo:29.95,-90.07;u=1000"), always]));
        snapshot::check("monitor-box", &ask(&[("location", "bbox:170,-30,-160,10"), always]));
        snapshot::check("monitor-text", &ask(&[("location", "the Curia of Pompey"), always]));
        snapshot::check("monitor-nothing", &ask(&[("location", "Narnia"), always]));
        snapshot::check("monitor-page", &ask(&[("location", "*"), always, ("limit", "1")]));
        snapshot::check("monitor-refused", &ask(&[("location", "bbox:1,2,3"), always]));
        snapshot::check("monitor-range-refused", &ask(&[("location", "*"), ("time_range", "2005/2004")]));
    }
    service.audit();
}

#[test]
fn location_filters_match_expected_events() {
    let service = world();
    for (location, expected) in [
        ("*", vec!["nowhere", "greenwich", "pole", "orleans", "baton", "suva", "apia", "dateline", "unsaid"]),
        ("New Orleans", vec!["orleans"]),
        ("  New Orleans ", vec!["orleans"]),
        ("the Curia of Pompey", vec!["nowhere"]),
        ("180", vec!["dateline"]),
        ("Paris", vec![]),
        // The default radius is fifty kilometers, and Baton Rouge is 118 away.
        ("29.95,-90.07", vec!["orleans"]),
        ("29.95, -90.07", vec!["orleans"]),
        ("geo:29.95,-90.07", vec!["orleans"]),
        ("GEO:29.95,-90.07;crs=wgs84;u=150000", vec!["orleans", "baton"]),
        ("29.95,-90.07;u=150000", vec!["orleans", "baton"]),
        ("geo:29.95,-90.07,12;u=0", vec!["orleans"]),
        ("geo:0,-179.9;u=20000", vec!["dateline"]),
        ("geo:0,179.9;u=20000", vec!["dateline"]),
        ("geo:-90,123;u=1", vec!["pole"]),
        ("geo:0,0;u=20037508", vec!["greenwich", "pole", "orleans", "baton", "suva", "apia", "dateline"]),
        ("bbox:-92,29,-90,31", vec!["orleans", "baton"]),
        ("bbox:-90.07,29.95,-90.07,29.95", vec!["orleans"]),
        ("bbox:170,-30,-160,10", vec!["suva", "apia", "dateline"]),
        ("bbox:170,-30,180,10", vec!["suva", "dateline"]),
        ("bbox:-180,-30,-160,10", vec!["apia", "dateline"]),
        ("bbox:-180,-90,180,90", vec!["greenwich", "pole", "orleans", "baton", "suva", "apia", "dateline"]),
    ] {
        for limit in ["1", "1000"] {
            let found = service.find_all("main", location, "../..", limit);
            assert_eq!(ids(&found), expected, "{location} by {limit}");
        }
    }
    service.audit();
}

#[test]
fn time_ranges_match_expected_events() {
    let service = world();
    for (range, expected) in [
        ("2005-08-29T11:10:00Z/2005-08-29T12:00:00Z", vec!["orleans", "baton"]),
        ("2005-08-29T11:10:00Z/2005-08-29T11:10:00Z", vec!["orleans"]),
        ("2005-08-29T11:10:00.000001Z/2005-08-29T11:59:59.999999Z", vec![]),
        ("2005-08-29T13:10:00+02:00/PT50M", vec!["orleans", "baton"]),
        ("P1D/2005-08-30T00:00:00Z", vec!["orleans", "baton", "suva", "apia"]),
        ("2005-08-30T00:00:00Z/2005-08-30T00:00:00.000001Z", vec!["suva", "apia", "dateline"]),
        ("../1884-10-22T12:00:00Z", vec!["nowhere", "greenwich"]),
        ("../1884-10-22T11:59:59.999999Z", vec!["nowhere"]),
        ("2005-08-30T00:00:00.000001Z/..", vec!["dateline", "unsaid"]),
        ("9999-12-31T23:59:59.999999Z/..", vec!["unsaid"]),
        ("../-000043-03-15T12:00:00Z", vec!["nowhere"]),
        ("-009999-01-01T00:00:00Z/9999-12-31T23:59:59.999999Z", ids(&service.find_all("main", "*", "../..", "100"))),
    ] {
        assert_eq!(ids(&service.find_all("main", "*", range, "2")), expected, "{range}");
    }
    service.audit();
}

#[test]
fn invalid_queries_are_rejected() {
    let service = world();
    let ask = |location: &str, range: &str| {
        service.send(Request::get("/v1/monitor-events").json(&json!({ "location": location, "time_range": range })))
    };
    for location in [
        "",
        " ",
        "91,0",
        "0,181",
        "1,2,3",
        "geo:1",
        "geo:x,y",
        "geo:1,2;u=-1",
        "geo:1,2;u=x",
        "geo:1,2;u=20037509",
        "geo:1,2;crs=nad27",
        "bbox:",
        "bbox:1,2,3",
        "bbox:1,2,3,4,5",
        "bbox:0,10,1,5",
        "bbox:-181,0,0,1",
        "bbox:0,-91,1,0",
        "bbox:a,b,c,d",
        "bbox:nan,0,1,1",
    ] {
        let refused = ask(location, "../..").refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/location", "{location}");
    }
    for range in [
        "",
        "/",
        "..",
        "2005-08-29T00:00:00Z",
        "2005-08-29T00:00:00Z/",
        "/2005-08-29T00:00:00Z",
        "2005-08-29/2005-08-30",
        "2005-08-30T00:00:00Z/2005-08-29T00:00:00Z",
        "PT1H/PT1H",
        "../PT1H",
        "a/b",
        "../../..",
        "2005-08-29T00:00:00/2005-08-30T00:00:00",
    ] {
        let refused = ask("*", range).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/time_range", "{range}");
    }
    for range in ["+010000-01-01T00:00:00Z/..", "9999-01-01T00:00:00Z/P2Y", "../+019999-01-01T00:00:00Z"] {
        let refused = ask("*", range).refused(422, "time_out_of_range");
        assert_eq!(refused["errors"][0]["pointer"], "#/time_range", "{range}");
    }
    service.audit();
}
