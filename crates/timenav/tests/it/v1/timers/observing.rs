//! `GET /v1/firings/stream`: firings as they are offered, claimed and settled, for observers.

use serde_json::json;

use super::super::messages::{Message, Messages, open};
use super::super::{PREFIXES, paused_service};
use super::{acknowledge, claim, of, set};
use crate::support::http::Request;
use crate::support::service::Service;

fn stream(prefix: &str, query: &str) -> Request {
    Request::get(&format!("{prefix}/firings/stream{query}")).header("Accept", "text/event-stream")
}

/// Returns the next message that has data.
fn next(messages: &mut Messages<'_>) -> Message {
    loop {
        let message = messages.next().expect("a message");
        if !message.event.is_empty() {
            return message;
        }
    }
}

/// Reads the expected messages, each by event and timer.
fn read_messages(messages: &mut Messages<'_>, expected: &[(&str, &str)]) -> Vec<Message> {
    let one = |(change, timer_id): &(&str, &str)| {
        let message = next(messages);
        let firing = &message.data["firing"];
        assert_eq!((message.event.as_str(), &firing["change"]), ("firing", &json!(change)), "{message:#?}");
        assert_eq!((&firing["timer_id"], &message.data["position"]), (&json!(timer_id), &json!(message.id)));
        message
    };
    expected.iter().map(one).collect()
}

fn jump(service: &Service, duration: &str) {
    service.post("/v1/fast-forward", &json!({ "duration": duration, "wait_for_timers": false }));
}

#[test]
fn observed_firings_are_not_claimed() {
    for prefix in PREFIXES {
        let service = paused_service();
        set(&service, "one", "2000-01-02T00:00:00Z");
        let elsewhere = json!({ "to": "queue", "queue": "billing" });
        let at = "2000-01-02T00:00:00Z";
        service.post("/v1/timers", &json!({ "timer_id": "bill", "at": at, "deliver": elsewhere, "order_key": "a" }));
        let event = json!({ "to": "timeline", "event": { "name": "It happens" } });
        service.post("/v1/timers", &json!({ "timer_id": "event", "at": at, "deliver": event }));
        let (mut connection, mut other) = (service.connect(), service.connect());
        let mut default = open(&mut connection, &service, stream(prefix, "?queue=default"));
        let mut whole = open(&mut other, &service, stream(prefix, ""));
        jump(&service, "3d");
        let offered = read_messages(&mut default, &[("offered", "one")]).remove(0);
        let firing = &offered.data["firing"];
        assert_eq!((&firing["due"], &firing["queue"]), (&json!(at), &json!("default")));
        let all = read_messages(&mut whole, &[("offered", "one"), ("offered", "bill"), ("offered", "event")]);
        assert_eq!(all[0].place, all[2].place.replacen('~', ".0~", 1));
        assert_eq!((&all[1].data["firing"]["order_key"], all[2].data["firing"].get("queue")), (&json!("a"), None));
        let recorded = read_messages(&mut whole, &[("acknowledged", "event")]).remove(0);
        assert_eq!(recorded.data["firing"]["event_id"], recorded.data["firing"]["firing_id"]);
        // Nothing is held: a claim gets all of it.
        let claimed = claim(&service, 10, "20s");
        assert_eq!(of(&claimed, "timer_id"), ["one"]);
        let leased = read_messages(&mut default, &[("leased", "one")]).remove(0);
        let firing = &leased.data["firing"];
        assert_eq!((&firing["claimed_by"], &firing["attempt"]), (&json!("admin"), &json!(1)));
        assert_eq!(firing["leased_until"], claimed[0]["leased_until"]);
        assert_eq!(firing.get("lease_id"), None, "with it, somebody else could settle the firing");
        acknowledge(&service, &claimed);
        read_messages(&mut default, &[("acknowledged", "one")]);
        // A client that resumes misses no entry, and is told that claims may be missing.
        let mut third = service.connect();
        let request = stream(prefix, "?queue=default").header("Last-Event-ID", &offered.place);
        let mut again = open(&mut third, &service, request);
        let gap = next(&mut again);
        assert_eq!((gap.event.as_str(), gap.place.as_str()), ("gap", offered.place.as_str()));
        read_messages(&mut again, &[("acknowledged", "one")]);
        drop((default, whole, again));
        drop((connection, other, third));
        service.audit();
    }
}

#[test]
fn firing_stream_closes_when_permission_is_lost() {
    let service = paused_service();
    let ada = service.user("ada");
    let lists = |read: &[&str]| {
        service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": read } }));
    };
    service.send(stream("/v1", "").key(&ada)).refused(404, "not_found");
    lists(&["ada"]);
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream("/v1", "").key(&ada));
    set(&service, "one", "1999-01-01T00:00:00Z");
    read_messages(&mut messages, &[("offered", "one")]);
    lists(&[]);
    claim(&service, 1, "20s");
    assert_eq!(messages.next().map(|message| message.event), None, "who may not look any more hears nothing");
    drop(messages);
    drop(connection);
    service.send(stream("/v1", "?queue=no%20queue")).refused(400, "invalid_parameter");
    service.send(stream("/v1", "").header("Last-Event-ID", "soon")).refused(400, "invalid_parameter");
    service.send(stream("/v1", "").anonymous()).refused(401, "missing_credentials");
    service.audit();
}
