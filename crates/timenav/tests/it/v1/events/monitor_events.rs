//! `GET /v1/monitor-events`: by place and time.

mod paging;
mod places;

use serde_json::json;

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;

#[test]
fn event_pages_match_their_snapshots() {
    let service = Service::start();
    let event = |id: &str, time: &str, place: &str, lat: f64, lon: f64| json!({ "event_id": id, "time": time, "location": place, "geo": { "lat": lat, "lon": lon } });
    let events = json!([
        event("orleans", "2005-08-29T11:10:00Z", "New Orleans", 29.95, -90.07),
        event("baton", "2005-08-29T12:00:00Z", "Baton Rouge", 30.45, -91.15),
        event("suva", "2005-08-30T00:00:00Z", "Suva", -18.14, 178.44),
        event("apia", "2005-08-30T00:00:00Z", "Apia", -13.83, -171.77),
        event("pole", "1911-12-14T15:00:00Z", "South Pole", -90.0, 0.0),
        event("greenwich", "1884-10-22T12:00:00Z", "Greenwich", 51.48, 0.0),
        { "event_id": "nowhere", "time": "-000043-03-15T12:00:00Z", "location": "the Curia of Pompey" },
        { "event_id": "unsaid", "time": "9999-12-31T23:59:59.999999Z" },
        event("dateline", "2005-08-30T00:00:00.000001Z", "180", 0.0, 180.0),
    ]);
    service.post("/v1/events", &events);
    let find = |parameters: &[(&str, &str)]| {
        let answer = service.send(Request::get(&target("/v1/monitor-events", parameters)));
        // A read is an entry, so the ledger size depends on earlier requests.
        let mut body = answer.json();
        body["as_of"] = json!("[size]");
        Answer { body: body.to_string().into_bytes(), ..answer }
    };
    let always = ("time_range", "../..");
    snapshot::check("monitor-near", &find(&[("location", "geo:29.95,-90.07;u=1000"), always]));
    snapshot::check("monitor-box", &find(&[("location", "bbox:170,-30,-160,10"), always]));
    snapshot::check("monitor-text", &find(&[("location", "the Curia of Pompey"), always]));
    snapshot::check("monitor-nothing", &find(&[("location", "Narnia"), always]));
    snapshot::check("monitor-page", &find(&[("location", "*"), always, ("limit", "1")]));
    snapshot::check("monitor-refused", &find(&[("location", "bbox:1,2,3"), always]));
    snapshot::check("monitor-range-refused", &find(&[("location", "*"), ("time_range", "2005/2004")]));
    let beyond = [("location", "*"), ("time_range", "9999-01-01T00:00:00Z/P2Y")];
    let refused = service.send(Request::get(&target("/v1/monitor-events", &beyond))).refused(422, "time_out_of_range");
    assert_eq!(refused["errors"][0]["pointer"], "#/time_range");
    service.audit();
}
