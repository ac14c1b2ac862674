//! What is worked out from many events, for a key with a horizon: paradoxes, what is around an event, a timeline.

use serde_json::{Value, json};

use super::{BARE, Keys, LATER, MORE, NOW, furnished, record};
use crate::http::{Request, target};
use crate::service::Service;

/// Records events that contradict each other, the same on each timeline; and on one of them more, which a key with a
/// horizon does not see.
fn entangled(service: &Service, timeline: &str) -> Keys {
    service.post("/v1/timelines", &json!({ "timeline_id": timeline }));
    service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
    service.post("/v1/travel", &json!({ "timeline_id": timeline, "destination_time": NOW }));
    let tell = |event_id: &str, time: &str, causes: Value| {
        let event = json!({
            "event_id": event_id, "time": time, "causes": causes, "name": format!("the {event_id}"),
            "description": format!("what is told of {event_id}"), "actors": ["ada"],
        });
        record(service, timeline, &event);
    };
    tell("landing", "2000-03-01T00:00:00Z", json!(["launch"]));
    tell("launch", "2000-04-01T00:00:00Z", json!([]));
    tell("report", "2000-05-01T00:00:00Z", json!(["landing", "order"]));
    let anchor = service.post("/v1/set-anchor", &json!({ "timeline_id": timeline, "description": "here" }));
    let known_at = anchor["anchor_id"].as_str().expect("an anchor").to_owned();
    if timeline == MORE {
        // Later than the clock: a cause that comes after its effect, one that makes a circle, a twin in name and words.
        tell("order", "2010-01-01T00:00:00Z", json!(["report"]));
        let twin = json!({
            "event_id": "a-twin", "time": "2010-01-02T00:00:00Z", "name": "the launch", "actors": [LATER],
            "description": "what is told of launch", "causes": ["launch"],
        });
        record(service, timeline, &twin);
        tell(LATER, "2010-01-03T00:00:00Z", json!(["twin"]));
    }
    Keys {
        clock: service.key(&json!({ "timeline_id": timeline, "horizon": "clock" })),
        known: service.key(&json!({ "timeline_id": timeline, "known_at": known_at })),
        both: service.key(&json!({ "timeline_id": timeline, "horizon": "clock", "known_at": known_at })),
    }
}

#[test]
fn paradoxes_and_surroundings_are_those_of_what_is_seen() {
    let service = Service::start();
    let [bare, more] = [BARE, MORE].map(|timeline| entangled(&service, timeline));
    let paradoxes = |more: &[(&str, &str)]| {
        let asked = [&[("timeline_id", "TIMELINE"), ("time_range", "../..")], more].concat();
        Request::get(&target("/v1/monitor-paradox", &asked))
    };
    let mut requests = vec![
        paradoxes(&[]),
        paradoxes(&[("include", "observations")]),
        paradoxes(&[("kinds", "P01,P02,P09,P10,P11")]),
        paradoxes(&[("speed_kmh", "1")]),
        paradoxes(&[("limit", "1")]),
    ];
    let later = [("timeline_id", "TIMELINE"), ("time_range", "2005-01-01T00:00:00Z/..")];
    requests.push(Request::get(&target("/v1/monitor-paradox", &later)));
    let named = ["launch", "landing", "report", "order", "the launch", "the order", "THE LANDING", "the lunch", LATER];
    let described = ["what is told of launch", "what is told of order", "what is told of nothing"];
    requests.extend(named.iter().chain(&described).map(|name| {
        Request::get(&target("/v1/check-timeline", &[("timeline_id", "TIMELINE"), ("significant_event", name)]))
    }));
    let ask = |request: &Request, key: &str, timeline: &str| {
        let mut request = request.clone();
        request.target = request.target.replace("TIMELINE", timeline);
        service.send(request.key(key)).expect(200)
    };
    let whole = |request: &Request, key: &str, timeline: &str| {
        let answer = ask(request, key, timeline);
        let mut answer = answer.as_object().expect("an object").clone();
        answer.retain(|name, _| !["as_of", "next_cursor", "request_id"].contains(&name.as_str()));
        json!(answer).to_string().replace(timeline, "trial")
    };
    let mut told = String::new();
    for request in &requests {
        for (of_bare, of_more) in [(&bare.clock, &more.clock), (&bare.both, &more.both)] {
            let expected = whole(request, of_bare, BARE);
            assert_eq!(whole(request, of_more, MORE), expected, "{request:?}");
            told.push_str(&expected);
        }
        // Observations tell when the clock was moved, by the host.
        if !request.target.contains("observations") {
            assert_eq!(whole(request, &more.known, MORE), whole(request, &bare.known, BARE), "{request:?}");
        }
    }
    assert!(told.contains("effect_before_cause") && told.contains("occurs in the past of the clock"), "{told}");
    assert!(!told.contains(LATER) || told.matches(LATER).count() == 2, "it is named in what was asked for alone");
    // There is more, for whoever has no horizon.
    let all = [("timeline_id", MORE), ("time_range", "../..")];
    let all = service.get("/v1/monitor-paradox", &all);
    let seen = ask(&paradoxes(&[]), &more.clock, MORE);
    assert!(all["total"].as_u64() > seen["total"].as_u64(), "{all} {seen}");
    assert_eq!(seen["total"], 1, "{seen}");
    let check = |name: &str| {
        let path = target("/v1/check-timeline", &[("timeline_id", MORE), ("significant_event", name)]);
        service.send(Request::get(&path).key(&more.clock)).expect(200)
    };
    let landing = check("landing");
    assert_eq!((&landing["occurs"], &landing["proof"]), (&json!(true), &Value::Null), "{landing}");
    assert_eq!(landing["causes"][0]["event_id"], "launch", "{landing}");
    assert_eq!(landing["consequences"]["event_ids"], json!(["report"]), "{landing}");
    // Once the clock has passed them, they are there.
    service.post("/v1/travel", &json!({ "timeline_id": MORE, "destination_time": "2011-01-01T00:00:00Z" }));
    let seen = ask(&paradoxes(&[]), &more.clock, MORE);
    assert_eq!(seen["total"], all["total"], "{seen} {all}");
    assert_eq!(check("order")["occurs"], true);
    service.audit();
}

#[test]
fn a_timeline_is_told_without_what_it_holds() {
    let service = Service::start();
    let keys = furnished(&service, MORE);
    furnished(&service, BARE);
    let own = format!("/v1/timeline/{MORE}");
    for key in [&keys.clock, &keys.known, &keys.both] {
        let told = service.send(Request::get(&own).key(key)).expect(200);
        let names: Vec<&str> = told.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(names, ["clock", "created_at", "role", "status", "timeline_id"], "{told}");
        assert_eq!(told["clock"]["current_time"], NOW);
        let list = service.send(Request::get("/v1/timelines").key(key)).expect(200);
        assert_eq!((&list["status"], &list["has_more"]), (&json!("1 timeline."), &json!(false)), "{list}");
        let listed = list["timelines"][0].as_object().expect("a timeline");
        let names: Vec<&str> = listed.keys().map(String::as_str).collect();
        assert_eq!(names, ["clock", "created_at", "role", "timeline_id"], "{list}");
        let after = service.send(Request::get(&target("/v1/timelines", &[("cursor", MORE)])).key(key)).expect(200);
        assert_eq!(after["timelines"], json!([]));
        for other in [BARE, "main", "system", "nowhere"] {
            let asked = Request::get(&format!("/v1/timeline/{other}")).key(key);
            let refused = service.send(asked).refused(403, "beyond_horizon");
            assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("another key")), "{refused}");
        }
    }
    service.audit();
}

#[test]
fn a_refusal_says_what_to_do() {
    let service = Service::start();
    let keys = furnished(&service, BARE);
    for (path, expected) in [
        ("/v1/stream", "clock/stream"),
        (&format!("/v1/timeline/{BARE}/checkpoint"), "/v1/certificates"),
        (&format!("/v1/timeline/{BARE}/head"), "/v1/certificates"),
        (&format!("/v1/timeline/{BARE}/proof?position=0"), "/v1/certificates"),
        (&format!("/v1/timeline/{BARE}/entries"), "/v1/certificates"),
        ("/v1/access-logs?timeline_id=trial-a&time_range=../..", "use a key that has no horizon"),
        ("/v1/users", "use a key that has no horizon"),
    ] {
        let refused = service.send(Request::get(path).key(&keys.clock)).refused(403, "beyond_horizon");
        assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains(expected)), "{path}: {refused}");
    }
    service.audit();
}
