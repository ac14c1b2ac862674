//! `GET /v1/firings/stream`: firings as they are offered, claimed and settled, for observers.

use serde_json::json;

use super::super::messages::{Message, Messages, open};
use super::super::{assert_members, paused_service};
use super::{acknowledge, claim, set, texts};
use crate::support::http::Request;

fn stream(query: &str) -> Request {
    Request::get(&format!("/v1/firings/stream{query}")).header("Accept", "text/event-stream")
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

/// Reads the message of a change of a timer's firing.
fn read_message(messages: &mut Messages<'_>, change: &str, timer_id: &str) -> Message {
    let message = next(messages);
    assert_eq!(message.event, "firing", "{message:#?}");
    assert_eq!(message.data["position"], message.id);
    assert_members(&message.data["firing"], &json!({ "change": change, "timer_id": timer_id }));
    message
}

#[test]
fn observed_firings_are_not_claimed() {
    let service = paused_service();
    set(&service, "one", "2000-01-02T00:00:00Z");
    let elsewhere = json!({ "to": "queue", "queue": "billing" });
    let at = "2000-01-02T00:00:00Z";
    service.post("/v1/timers", &json!({ "timer_id": "bill", "at": at, "deliver": elsewhere, "order_key": "a" }));
    let event = json!({ "to": "timeline", "event": { "name": "It happens" } });
    service.post("/v1/timers", &json!({ "timer_id": "event", "at": at, "deliver": event }));
    let (mut connection, mut other) = (service.connect(), service.connect());
    let mut default = open(&mut connection, &service, stream("?queue=default"));
    let mut whole = open(&mut other, &service, stream(""));
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "wait_for_timers": false }));
    let offered = read_message(&mut default, "offered", "one");
    let firing = &offered.data["firing"];
    assert_eq!((&firing["due"], &firing["queue"]), (&json!(at), &json!("default")));
    let all = ["one", "bill", "event"].map(|timer_id| read_message(&mut whole, "offered", timer_id));
    assert_eq!(all[0].place, all[2].place.replacen('~', ".0~", 1));
    assert_eq!((&all[1].data["firing"]["order_key"], all[2].data["firing"].get("queue")), (&json!("a"), None));
    let recorded = read_message(&mut whole, "acknowledged", "event");
    assert_eq!(recorded.data["firing"]["event_id"], recorded.data["firing"]["firing_id"]);
    // Nothing is held: a claim gets all of it.
    let claimed = claim(&service, 10, "20s");
    assert_eq!(texts(&claimed, "timer_id"), ["one"]);
    let leased = read_message(&mut default, "leased", "one");
    // With the lease id, somebody else could settle the firing.
    let until = &claimed[0]["leased_until"];
    let expected = json!({ "claimed_by": "admin", "attempt": 1, "leased_until": until, "lease_id": null });
    assert_members(&leased.data["firing"], &expected);
    acknowledge(&service, &claimed);
    read_message(&mut default, "acknowledged", "one");
    // A client that resumes misses no entry, and is told that claims may be missing.
    let mut third = service.connect();
    let request = stream("?queue=default").header("Last-Event-ID", &offered.place);
    let mut again = open(&mut third, &service, request);
    let gap = next(&mut again);
    assert_eq!((gap.event.as_str(), gap.place.as_str()), ("gap", offered.place.as_str()));
    read_message(&mut again, "acknowledged", "one");
    service.send(stream("?queue=no%20queue")).refused(400, "invalid_parameter");
    service.send(stream("").header("Last-Event-ID", "soon")).refused(400, "invalid_parameter");
    service.audit();
}
