//! Followers of a clock: `follow` on its stream, `POST /v1/followers/confirm`, `GET /v1/followers`, and `followers` of
//! a clock change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::command;
use crate::support::http::{Answer, Connection, Request};
use crate::support::service::{Service, run};
use crate::support::waiting::{Patience, until_so};
use crate::v1::messages::{Message, Messages, open};
use crate::v1::{assert_invalid, assert_members, paused_service, permit, post_invalid, send};

fn following(name: &str) -> Request {
    Request::get(&format!("/v1/clock/stream?follow={name}")).header("Accept", "text/event-stream")
}

fn confirm(service: &Service, message: &Message) -> Value {
    let body = json!({ "follower_id": message.data["follower_id"], "generation": message.data["generation"] });
    service.post("/v1/followers/confirm", &body)
}

/// Moves the clock. Returns the followers and the status sentence.
fn forward(service: &Service, followers: &Value, wait: impl Into<Value>) -> (Value, String) {
    let body = json!({ "duration": "1h", "followers": followers, "wait": wait.into() });
    let answer = send(service, "/v1/fast-forward", &body).expect(200);
    assert_eq!(answer["followers"]["generation"], answer["generation"]);
    (answer["followers"].clone(), answer["status"].as_str().unwrap().to_owned())
}

fn states(awaited: &Value) -> Vec<(&str, &str)> {
    let followers = awaited["followers"].as_array().unwrap();
    followers.iter().map(|one| (one["name"].as_str().unwrap(), one["state"].as_str().unwrap())).collect()
}

#[test]
fn change_waits_until_all_followers_confirm() {
    let service = paused_service();
    let reader = service.user("reader");
    permit(&service, "main", &json!({ "read": ["reader"] }));
    let (nobody, output) = forward(&service, &json!("all"), "0s");
    assert_eq!((nobody["state"].as_str(), states(&nobody)), (Some("confirmed"), vec![]));
    assert!(output.ends_with("No follower has to confirm it."), "{output}");

    let mut connections: Vec<Connection> = (0..3).map(|_| service.connect()).collect();
    let [web, db, looker] = connections.as_mut_slice() else { unreachable!() };
    // One after the other: they are listed in the order in which they began to follow.
    let mut web = open(web, &service, following("web"));
    let of_web = web.next().unwrap();
    let mut db = open(db, &service, following("db"));
    let of_db = db.next().unwrap();
    let mut looker = open(looker, &service, following("looker").key(&reader));
    let first: [Message; 3] = [of_web, of_db, looker.next().unwrap()];
    let newest = service.get("/v1/clock", &[])["generation"].clone();
    assert!(first.iter().all(|message| message.data["generation"] == newest), "the clock as it is comes first");
    let (awaited, output) = forward(&service, &json!("all"), "0s");
    assert_eq!(states(&awaited), [("web", "lagging"), ("db", "lagging")], "a reader holds nobody up");
    assert!(output.ends_with("Not confirmed by `web` (lagging), `db` (lagging)."), "{output}");

    // Confirming a change confirms all earlier ones; an older confirmation changes nothing.
    let message = [web.next().unwrap(), db.next().unwrap()];
    assert_eq!(confirm(&service, &message[0])["status"], "`web` has confirmed the newest change.");
    confirm(&service, &first[0]);
    let listed = service.get("/v1/followers", &[]);
    let of_all = [("web", "up_to_date"), ("db", "lagging"), ("looker", "lagging")];
    assert_eq!(states(&listed), of_all);
    assert_eq!(listed["followers"][0]["generation"], listed["generation"]);
    let own = service.send(Request::get("/v1/followers").key(&reader)).expect(200);
    assert_eq!(states(&own), [("looker", "lagging")], "who may not write sees their own");

    // The response is sent after the last confirmation.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| forward(&service, &json!(["db", "web"]), "10m"));
        let message = [web.next().unwrap(), db.next().unwrap()];
        confirm(&service, &message[0]);
        assert!(!waiting.is_finished(), "db has not confirmed");
        confirm(&service, &message[1]);
        let (awaited, output) = waiting.join().unwrap();
        assert_eq!(states(&awaited), [("db", "confirmed"), ("web", "confirmed")]);
        assert!(output.ends_with("All 2 followers have confirmed it."), "{output}");
    });

    // Named followers are waited for in any case, and must be connected.
    let (awaited, _) = forward(&service, &json!("looker,nobody"), "0s");
    assert_eq!(states(&awaited), [("looker", "lagging"), ("nobody", "unknown")]);
    // A follower that reconnects with the same name replaces the old one.
    drop((web, db, looker));
    drop(connections);
    until_so("the end of three streams", || {
        states(&service.get("/v1/followers", &[])).iter().all(|(_, state)| *state == "disconnected")
    });
    // No follower reconnects, so the response is sent after the default wait.
    let (awaited, output) = forward(&service, &json!(["db"]), Value::Null);
    assert_eq!((states(&awaited), awaited["state"].as_str()), (vec![("db", "disconnected")], Some("waiting")));
    assert!(output.ends_with("Not confirmed by `db` (disconnected)."), "{output}");
    let left = json!({ "follower_id": first[1].data["follower_id"], "generation": 1 });
    send(&service, "/v1/followers/confirm", &left).refused(404, "not_found");
    let mut back = service.connect();
    let newest = service.get("/v1/clock", &[])["generation"].as_u64().unwrap();
    let again = following("db").header("Last-Event-ID", &newest.to_string());
    let mut db = open(&mut back, &service, again);
    let message = db.next().unwrap();
    assert_eq!((message.event.as_str(), message.id), ("clock", newest), "it is told its id, whatever it has seen");
    assert_ne!(message.data["follower_id"], first[1].data["follower_id"]);
    confirm(&service, &message);
    let listed = service.get("/v1/followers", &[]);
    let mut found = states(&listed);
    found.sort_unstable();
    assert_eq!(found, [("db", "up_to_date"), ("looker", "disconnected"), ("web", "disconnected")]);
    service.audit();
}

/// Every clock change supports followers, and is kept without their confirmation. A script that continues only when all
/// have confirmed would otherwise fail on the way.
#[test]
fn unfinished_advance_is_not_reported_as_confirmed() {
    let service = paused_service();
    service.post("/v1/timers", &json!({ "timer_id": "t", "at": "2000-01-01T01:00:00Z" }));
    service.post("/v1/holds", &json!({ "reason": "somebody looks", "ttl": "10m" }));
    let mut connection = service.connect();
    let mut web = open(&mut connection, &service, following("web"));
    web.next().unwrap();
    let body = json!({ "duration": "2h", "followers": "all", "wait": "1s" });
    let moved = std::thread::scope(|scope| {
        let moved = scope.spawn(|| service.post("/v1/fast-forward", &body));
        confirm(&service, &web.next().unwrap());
        moved.join().unwrap()
    });
    assert_eq!(moved["receipt"]["state"], "running", "{moved}");
    assert_eq!(moved["followers"]["state"], "waiting", "{moved}");
    assert_eq!(states(&moved["followers"]), [("web", "lagging")]);
    let status = moved["status"].as_str().unwrap();
    let expected = "0 open. The advance has not finished yet: Not confirmed by `web` (lagging).";
    assert!(status.ends_with(expected), "{status}");
    service.post("/v1/pause-time", &json!({}));
    let travel = ["clock", "travel", "2000-01-01T05:00:00Z", "--followers", "--wait", "1s"];
    let (code, stdout, stderr) = run(&mut command(&service, &travel), "");
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stderr.contains("the clock is still advancing to 2000-01-01T05:00:00Z"), "{stderr}");
    service.audit();
}

#[test]
fn every_clock_change_waits_for_followers() {
    let service = paused_service();
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let mut connection = service.connect();
    let mut stream = open(&mut connection, &service, following("web"));
    stream.next().unwrap();
    let waited_for = |path: &str, body: &Value| {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| send(&service, path, body).expect(200));
            // The newest change is confirmed until it is the awaited one.
            until_so("an answer", || {
                let listed = service.get("/v1/followers", &[]);
                let follower_id = &listed["followers"][0]["follower_id"];
                let confirmed = json!({ "follower_id": follower_id, "generation": listed["generation"] });
                service.post("/v1/followers/confirm", &confirmed);
                waiting.is_finished()
            });
            waiting.join().unwrap()
        })
    };
    for (path, mut body) in [
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z" })),
        ("/v1/fast-forward", json!({ "duration": "1h" })),
        ("/v1/rewind", json!({ "duration": "1h" })),
        ("/v1/set-rate", json!({ "rate": 60 })),
        ("/v1/resume-time", json!({})),
        ("/v1/pause-time", json!({})),
        ("/v1/return-to-anchor", json!({ "anchor_id": anchor })),
    ] {
        (body["followers"], body["wait"]) = (json!("all"), json!("0s"));
        let answer = send(&service, path, &body).expect(200);
        assert_eq!(answer["followers"]["state"], "waiting", "{path}: {answer}");
        assert_eq!(states(&answer["followers"]), [("web", "lagging")], "{path}");
        body["wait"] = json!("10m");
        let answer = waited_for(path, &body);
        assert_eq!(answer["followers"]["state"], "confirmed", "{path}: {answer}");
    }
    // After an advance, its end is confirmed.
    service.post("/v1/timers", &json!({ "at": "2000-01-01T00:30:00Z" }));
    let answer = waited_for("/v1/fast-forward", &json!({ "duration": "1h", "followers": "all", "wait": "10m" }));
    assert_members(&answer["receipt"], &json!({ "state": "settled", "fired": 1 }));
    assert_eq!(answer["followers"]["state"], "confirmed", "{answer}");
    assert_eq!(answer["followers"]["generation"], answer["generation"]);
    service.audit();
}

/// Parses a duration of host time under a minute into microseconds.
fn length(duration: &Value) -> i128 {
    let text = duration.as_str().unwrap_or_else(|| panic!("a duration, not {duration}"));
    let digits = text.strip_prefix("PT").and_then(|rest| rest.strip_suffix('S')).unwrap();
    let (seconds, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    seconds.parse::<i128>().unwrap() * 1_000_000 + format!("{fraction:0<6}").parse::<i128>().unwrap()
}

/// Returns a follower from a list. Those of the same millisecond are in any order.
fn by_name<'a>(listed: &'a Value, name: &str) -> &'a Value {
    let followers = listed["followers"].as_array().unwrap_or_else(|| panic!("{listed}"));
    followers.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name}: {listed}"))
}

/// The location reported by a follower, and how long its last confirmation took.
#[test]
fn follower_location_and_confirmation_time_are_listed() {
    let service = paused_service();
    let (mut web_connection, mut db_connection) = (service.connect(), service.connect());
    let placed = following("web").header("Timenav-Host", "web-1.example.org").header("timenav-process", "4711");
    let mut web = open(&mut web_connection, &service, placed);
    let mut db = open(&mut db_connection, &service, following("db"));
    confirm(&service, &web.next().unwrap());
    db.next().unwrap();
    let listed = service.get("/v1/followers", &[]);
    assert_members(by_name(&listed, "web"), &json!({ "host": "web-1.example.org", "process": 4711 }));
    assert_members(by_name(&listed, "db"), &json!({ "host": null, "process": null, "latency": null }));
    let at = |value: &Value| crate::support::instant::micros(value.as_str().unwrap());
    let check_latency = |follower: &Value, since: &Value| {
        assert_eq!(length(&follower["latency"]), at(&follower["confirmed_at"]) - at(since), "{follower}");
    };
    // It connected after the last change, and could not confirm before that.
    let of_web = by_name(&listed, "web");
    check_latency(of_web, &of_web["since"]);

    let (awaited, _) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| forward(&service, &json!("all"), "10m"));
        for stream in [&mut web, &mut db] {
            confirm(&service, &stream.next().unwrap());
        }
        waiting.join().unwrap()
    });
    let listed = service.get("/v1/followers", &[]);
    let changed = service.get("/v1/clock", &[])["origin_host"].clone();
    for name in ["web", "db"] {
        let follower = by_name(&listed, name);
        check_latency(follower, &changed);
        assert_eq!(by_name(&awaited, name)["latency"], follower["latency"], "{awaited}");
    }
    // The next change is not confirmed yet.
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    let listed = service.get("/v1/followers", &[]);
    assert_members(by_name(&listed, "web"), &json!({ "state": "lagging", "latency": null }));

    // No entry contains any of it.
    let log = [("timeline_id", "main"), ("time_range", "../.."), ("limit", "1000")];
    let entries = format!("{}{}", service.get("/timeline/main/entries", &[]), service.get("/v1/access-logs", &log));
    assert!(entries.contains("clock_stream") && !entries.contains("web-1.example.org"), "{entries}");
    for (name, value, advice) in [
        ("Timenav-Host", "caf\u{e9}", "visible ASCII characters"),
        ("Timenav-Host", &"x".repeat(254), "1 to 253"),
        ("Timenav-Process", "+7", "a number from 1 to 999999999"),
    ] {
        let refused = service.send(following("web").header(name, value)).refused(400, "invalid_parameter");
        assert!(refused["detail"].as_str().unwrap().contains(advice), "{refused}");
        assert!(refused["errors"][0].to_string().contains(name), "{refused}");
    }
    let twice = following("web").header("Timenav-Host", "a").header("Timenav-Host", "b");
    service.send(twice).refused(400, "invalid_parameter");
    service.audit();
}

/// Maximum wait of firings for followers.
const STEP_WAIT: Duration = Duration::from_secs(5);

fn confirm_step(service: &Service, message: &Message) -> Value {
    let step = &message.data["advance"]["step"];
    let (follower_id, generation) = (&message.data["follower_id"], &message.data["generation"]);
    let body = json!({ "follower_id": follower_id, "generation": generation, "step": step });
    service.post("/v1/followers/confirm", &body)
}

/// Reads messages up to a step of an advance.
fn up_to_step(stream: &mut Messages<'_>, step: u64) -> Message {
    loop {
        let message = stream.next().unwrap();
        if message.data["advance"]["step"] == step {
            return message;
        }
    }
}

fn claimed(service: &Service, wait: &str) -> Vec<Value> {
    let claimed = service.post("/v1/queues/q/claim", &json!({ "max": 10, "wait": wait }));
    claimed["firings"].as_array().unwrap().clone()
}

/// No handler sees a follower with an earlier time.
#[test]
fn firings_wait_for_followers_that_confirm_steps() {
    let owned = paused_service();
    let service = &owned;
    for minute in ["05", "30"] {
        let at = format!("2000-01-01T00:{minute}:00Z");
        service.post("/v1/timers", &json!({ "at": at, "deliver": { "to": "queue", "queue": "q" } }));
    }
    // The first one falls due before there is a follower, and is handed out.
    service.post("/v1/fast-forward", &json!({ "duration": "10m" }));
    let mut connection = service.connect();
    let mut stream = open(&mut connection, service, following("web&steps=true"));
    confirm(service, &stream.next().unwrap());
    assert_eq!(claimed(service, "60s")[0]["due"], "2000-01-01T00:05:00Z");
    std::thread::scope(|scope| {
        let (claiming, patience) = (scope.spawn(move || claimed(service, "60s")), Patience::of(STEP_WAIT));
        let forward = json!({ "duration": "1h", "wait": "5m" });
        let moving = scope.spawn(move || service.post("/v1/fast-forward", &forward));
        let message = up_to_step(&mut stream, 1);
        assert_eq!(message.data["current_time"], "2000-01-01T00:30:00Z");
        let advance = format!("/v1/advances/{}", message.data["advance"]["advance_id"].as_str().unwrap());
        let held = || service.get(&advance, &[])["receipt"]["held_by"].clone();
        // Confirming the change without the step is not enough.
        confirm(service, &message);
        let (held_by, is_handed_out) = (held(), claiming.is_finished());
        // If the machine stalled that long, the follower was not waited for.
        if patience.lasts() {
            assert_eq!(held_by, "followers that have not confirmed the instant: `web`");
            assert!(!is_handed_out);
        }
        assert_members(&service.get("/v1/followers", &[])["followers"][0], &json!({ "steps": true, "step": null }));
        let beyond = json!({ "follower_id": message.data["follower_id"], "generation": message.id, "step": 2 });
        post_invalid(service, "/v1/followers/confirm", &beyond, "#/step");
        confirm_step(service, &message);
        let firings = claiming.join().unwrap();
        assert_members(&firings[0], &json!({ "due": "2000-01-01T00:30:00Z", "step": 1 }));
        assert_eq!(service.get("/v1/followers", &[])["followers"][0]["step"], 1);
        assert_eq!(held(), Value::Null);
        let firing_ids = json!({ "firing_ids": [firings[0]["firing_id"]] });
        service.post("/v1/firings/ack", &firing_ids);
        assert_members(&moving.join().unwrap()["receipt"], &json!({ "state": "settled", "acknowledged": 1 }));
    });
    owned.audit();
}

#[test]
fn invalid_followers_are_rejected_with_advice() {
    let service = paused_service();
    for (follow, advice) in [("all", "choose another name"), ("a%20b", "an id can contain only"), ("", "at least one")]
    {
        let refused = assert_invalid(service.send(following(follow)), "#/follow");
        assert!(refused["detail"].as_str().unwrap().contains(advice), "{refused}");
    }
    for parameter in ["steps", "faults"] {
        let unnamed = Request::get(&format!("/v1/clock/stream?{parameter}=true")).header("Accept", "text/event-stream");
        assert_invalid(service.send(unnamed), &format!("#/{parameter}"));
    }
    let before = service.get("/v1/clock", &[]);
    let many: Vec<String> = (0..=100).map(|number| format!("web-{number}")).collect();
    for (followers, advice) in [
        (json!(["web", "all"]), "give `all`, or the names of 1 to 100 followers"),
        (json!([]), "give `all`, or the names of 1 to 100 followers"),
        (json!(many), "give `all`, or the names of 1 to 100 followers"),
        (json!("a b"), "or write `all`"),
    ] {
        let body = json!({ "duration": "1h", "followers": followers });
        let refused = post_invalid(&service, "/v1/fast-forward", &body, "#/followers");
        assert!(refused["detail"].as_str().unwrap().contains(advice), "{refused}");
    }
    let late = json!({ "duration": "1h", "followers": "all", "wait": "11m" });
    post_invalid(&service, "/v1/fast-forward", &late, "#/wait");
    assert_eq!(service.get("/v1/clock", &[])["generation"], before["generation"]);
    service.post("/v1/fast-forward", &json!({ "duration": "1h", "followers": many[..100], "wait": "0s" }));
    let mut connection = service.connect();
    let mut stream = open(&mut connection, &service, following("web"));
    let message = stream.next().unwrap();
    let ahead = json!({ "follower_id": message.data["follower_id"], "generation": message.id + 1 });
    post_invalid(&service, "/v1/followers/confirm", &ahead, "#/generation");
    service.audit();
}

fn set_fault(service: &Service, follower_id: &Value, body: &Value) -> Answer {
    send(service, &format!("/v1/followers/{}/fault", follower_id.as_str().unwrap()), body)
}

#[test]
fn follower_receives_its_clock_fault() {
    let service = paused_service();
    let (mut connection, mut other_connection) = (service.connect(), service.connect());
    let following = |name: &str| following(&format!("{name}&faults=true"));
    let mut web = open(&mut connection, &service, following("web"));
    let first = web.next().unwrap();
    assert!(first.data.get("fault").is_none());
    let fault = json!({
        "offset": "-1500ms", "drift_ppm": 200, "jitter": "5ms", "jitter_seed": 7, "slew_ppm": 500,
        "leap": "insert@2028-12-31T23:59:59Z", "leap_smear": "24h",
    });
    let mut stored = fault.clone();
    stored["leap_smear"] = json!("86400s");
    let answer = set_fault(&service, &first.data["follower_id"], &json!({ "fault": fault })).expect(200);
    assert_members(&answer, &json!({ "name": "web", "user_id": "admin", "fault": stored }));
    // The clock is unchanged, and the message is sent anyway.
    let message = web.next().unwrap();
    assert_eq!((&message.data["fault"], message.id), (&stored, first.id));
    assert_eq!(message.data["current_time"], first.data["current_time"], "the message has the true clock");
    assert_eq!(service.get("/v1/followers", &[])["followers"][0]["fault"], stored);
    // Later changes contain it too, and so does the first message after a reconnect; other followers do not get it.
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(web.next().unwrap().data["fault"], stored);
    let mut db = open(&mut other_connection, &service, following("db"));
    assert!(db.next().unwrap().data.get("fault").is_none());
    drop(web);
    drop(connection);
    let mut connection = service.connect();
    let mut web = open(&mut connection, &service, following("web"));
    let back = web.next().unwrap();
    assert_eq!(back.data["fault"], stored);
    let invalid = set_fault(&service, &back.data["follower_id"], &json!({ "fault": { "jitter": "1s" } }));
    assert_invalid(invalid, "#/fault/jitter");
    // In JSON `2.0` is an integer.
    let changes = [(json!({ "drift_ppm": -2.0 }), json!({ "drift_ppm": -2 })), (Value::Null, Value::Null)];
    for (fault, expected) in changes {
        let answer = set_fault(&service, &back.data["follower_id"], &json!({ "fault": fault })).expect(200);
        assert_eq!((&answer["fault"], &web.next().unwrap().data["fault"]), (&expected, &expected));
    }
    service.audit();
}
