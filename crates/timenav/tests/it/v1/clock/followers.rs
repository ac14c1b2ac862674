//! Followers of a clock: `follow` on its stream, `POST /v1/followers/confirm`, `GET /v1/followers`, and `followers` of
//! a clock change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::command;
use crate::support::http::{Answer, Connection, Request};
use crate::support::service::{Service, run};
use crate::support::waiting::{Patience, until, until_so};
use crate::v1::messages::{Message, Messages, open};
use crate::v1::{paused_service, send};

fn following(name: &str) -> Request {
    Request::get(&format!("/v1/clock/stream?follow={name}")).header("Accept", "text/event-stream")
}

/// Confirms the change in a message.
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

/// Returns name and state of each follower.
fn states(awaited: &Value) -> Vec<(&str, &str)> {
    let followers = awaited["followers"].as_array().unwrap();
    followers.iter().map(|one| (one["name"].as_str().unwrap(), one["state"].as_str().unwrap())).collect()
}

#[test]
fn change_waits_until_all_followers_confirm() {
    let service = paused_service();
    let reader = service.user("reader");
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } }));
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
    until("three streams that have ended", || {
        let listed = service.get("/v1/followers", &[]);
        states(&listed).iter().all(|(_, state)| *state == "disconnected").then_some(())
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
    let (listed, all) = (
        service.get("/v1/followers", &[]),
        [("db", "up_to_date"), ("web", "disconnected"), ("looker", "disconnected")],
    );
    let mut found = states(&listed);
    found.sort_unstable();
    let mut expected = all.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
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
    assert_eq!(
        (states(&moved["followers"]), &moved["followers"]["state"]),
        (vec![("web", "lagging")], &json!("waiting"))
    );
    let output = moved["status"].as_str().unwrap();
    assert!(
        output.ends_with("0 open. The advance has not finished yet: Not confirmed by `web` (lagging)."),
        "{output}"
    );
    service.post("/v1/pause-time", &json!({}));
    let (code, stdout, stderr) =
        run(&mut command(&service, &["clock", "travel", "2000-01-01T05:00:00Z", "--followers", "--wait", "1s"]), "");
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
    assert_eq!((&answer["receipt"]["state"], &answer["receipt"]["fired"]), (&json!("settled"), &json!(1)));
    assert_eq!(answer["followers"]["state"], "confirmed", "{answer}");
    assert_eq!(answer["followers"]["generation"], answer["generation"]);
    drop(stream);
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
    let mut connections: Vec<Connection> = (0..2).map(|_| service.connect()).collect();
    let [web, db] = connections.as_mut_slice() else { unreachable!() };
    let placed = following("web").header("Timenav-Host", "web-1.example.org").header("timenav-process", "4711");
    let mut web = open(web, &service, placed);
    let mut db = open(db, &service, following("db"));
    confirm(&service, &web.next().unwrap());
    db.next().unwrap();
    let listed = service.get("/v1/followers", &[]);
    let [of_web, of_db] = [by_name(&listed, "web"), by_name(&listed, "db")];
    assert_eq!((&of_web["host"], &of_web["process"]), (&json!("web-1.example.org"), &json!(4711)), "{listed}");
    assert_eq!((&of_db["host"], &of_db["process"], &of_db["latency"]), (&Value::Null, &Value::Null, &Value::Null));
    let at = |value: &Value| crate::support::instant::micros(value.as_str().unwrap());
    // It connected after the last change, and could not confirm before that.
    assert_eq!(length(&of_web["latency"]), at(&of_web["confirmed_at"]) - at(&of_web["since"]), "{listed}");

    let (awaited, _) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| forward(&service, &json!("all"), "10m"));
        let messages = [web.next().unwrap(), db.next().unwrap()];
        confirm(&service, &messages[0]);
        until("a confirmation that was listed", || {
            let listed = service.get("/v1/followers", &[]);
            (by_name(&listed, "web")["state"] == "up_to_date").then_some(())
        });
        confirm(&service, &messages[1]);
        waiting.join().unwrap()
    });
    let listed = service.get("/v1/followers", &[]);
    let changed = service.get("/v1/clock", &[])["origin_host"].clone();
    for name in ["web", "db"] {
        let follower = by_name(&listed, name);
        assert_eq!(length(&follower["latency"]), at(&follower["confirmed_at"]) - at(&changed), "{follower}");
        assert_eq!(by_name(&awaited, name)["latency"], follower["latency"], "{awaited}");
    }
    let latency = |name: &str| length(&by_name(&listed, name)["latency"]);
    assert!(latency("web") <= latency("db"), "{listed}");
    // The next change is not confirmed yet.
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    let listed = service.get("/v1/followers", &[]);
    let web_now = by_name(&listed, "web");
    assert_eq!((&web_now["state"], &web_now["latency"]), (&json!("lagging"), &Value::Null));
    drop((web, db));
    drop(connections);

    // No entry contains any of it.
    let log = [("timeline_id", "main"), ("time_range", "../.."), ("limit", "1000")];
    let messages = format!("{}{}", service.get("/timeline/main/entries", &[]), service.get("/v1/access-logs", &log));
    assert!(messages.contains("clock_stream") && !messages.contains("web-1.example.org"), "{messages}");
    for (name, value, output) in [
        ("Timenav-Host", "web 1", "visible ASCII characters"),
        ("Timenav-Host", "caf\u{e9}", "visible ASCII characters"),
        ("Timenav-Host", &"x".repeat(254), "1 to 253"),
        ("Timenav-Process", "0", "a number from 1 to 999999999"),
        ("Timenav-Process", "+7", "a number from 1 to 999999999"),
        ("Timenav-Process", "1000000000", "a number from 1 to 999999999"),
        ("Timenav-Process", "x", "a number from 1 to 999999999"),
    ] {
        let refused = service.send(following("web").header(name, value)).refused(400, "invalid_parameter");
        assert!(refused["detail"].as_str().unwrap().contains(output), "{refused}");
        assert!(refused["errors"][0].to_string().contains(name), "{refused}");
    }
    let twice = following("web").header("Timenav-Host", "a").header("Timenav-Host", "b");
    service.send(twice).refused(400, "invalid_parameter");
    service.audit();
}

/// Maximum wait of firings for followers.
const STEP_WAIT: Duration = Duration::from_secs(5);

/// Confirms the step of an advance in a message.
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

fn acknowledge(service: &Service, firings: &[Value]) {
    let firing_ids: Vec<&Value> = firings.iter().map(|firing| &firing["firing_id"]).collect();
    service.post("/v1/firings/ack", &json!({ "firing_ids": firing_ids }));
}

/// No handler sees a follower with an earlier time, and an unresponsive follower delays firings only briefly.
#[test]
fn firings_wait_for_followers_that_confirm_steps() {
    let owned = paused_service();
    let service = &owned;
    for minute in ["05", "30", "40"] {
        let at = format!("2000-01-01T00:{minute}:00Z");
        service.post("/v1/timers", &json!({ "at": at, "deliver": { "to": "queue", "queue": "q" } }));
    }
    // The first one falls due before there is a follower, and is handed out.
    service.post("/v1/fast-forward", &json!({ "duration": "10m" }));
    let mut connection = service.connect();
    let mut stream = open(&mut connection, service, following("web&steps=true"));
    confirm(service, &stream.next().unwrap());
    std::thread::scope(|scope| {
        let listening = || scope.spawn(move || claimed(service, "60s"));
        assert_eq!(listening().join().unwrap()[0]["due"], "2000-01-01T00:05:00Z");
        let (first, patience) = (listening(), Patience::of(STEP_WAIT));
        let move_on = json!({ "duration": "1h", "wait": "5m" });
        let moving = scope.spawn(move || send(service, "/v1/fast-forward", &move_on).expect(200));
        let message = up_to_step(&mut stream, 1);
        assert_eq!(message.data["current_time"], "2000-01-01T00:30:00Z");
        let advance = format!("/v1/advances/{}", message.data["advance"]["advance_id"].as_str().unwrap());
        let held = || service.get(&advance, &[])["receipt"]["held_by"].clone();
        // Confirming the change without the step is not enough.
        confirm(service, &message);
        let (held_by, is_handed_out) = (held(), first.is_finished());
        // If the machine stalled that long, the follower was not waited for.
        if patience.lasts() {
            assert_eq!(held_by, "followers that have not confirmed the instant: `web`");
            assert!(!is_handed_out);
        }
        let follower = service.get("/v1/followers", &[])["followers"][0].clone();
        assert_eq!((&follower["steps"], &follower["step"]), (&json!(true), &Value::Null), "{follower}");
        let beyond = json!({ "follower_id": message.data["follower_id"], "generation": message.id, "step": 2 });
        let refused = send(service, "/v1/followers/confirm", &beyond).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/step", "{refused}");
        confirm_step(service, &message);
        let firings = first.join().unwrap();
        assert_eq!((&firings[0]["due"], &firings[0]["step"]), (&json!("2000-01-01T00:30:00Z"), &json!(1)));
        assert_eq!(service.get("/v1/followers", &[])["followers"][0]["step"], 1);
        assert_eq!(held(), Value::Null);

        // The next one is not confirmed, and is handed out anyway.
        let second = listening();
        acknowledge(service, &firings);
        let message = up_to_step(&mut stream, 2);
        let firings = second.join().unwrap();
        assert_eq!((&firings[0]["due"], &firings[0]["step"]), (&json!("2000-01-01T00:40:00Z"), &json!(2)));
        let late = service.get("/v1/followers", &[])["followers"][0].clone();
        assert_eq!((&late["step"], &late["generation"]), (&json!(1), &json!(message.id)), "{late}");
        acknowledge(service, &firings);
        let answer = moving.join().unwrap();
        let settled = &answer["receipt"];
        assert_eq!((&settled["state"], &settled["acknowledged"]), (&json!("settled"), &json!(2)), "{answer}");
    });
    drop(stream);
    owned.audit();
}

#[test]
fn invalid_followers_are_rejected_with_advice() {
    let service = paused_service();
    let field = |refused: &Value| refused["errors"][0]["pointer"].as_str().unwrap().to_owned();
    for (follow, output) in [("all", "choose another name"), ("a%20b", "an id can contain only"), ("", "at least one")]
    {
        let refused = service.send(following(follow)).refused(400, "invalid_parameter");
        assert!(refused["detail"].as_str().unwrap().contains(output), "{refused}");
        assert_eq!(field(&refused), "#/follow");
    }
    let unnamed = Request::get("/v1/clock/stream?steps=true").header("Accept", "text/event-stream");
    assert_eq!(field(&service.send(unnamed).refused(400, "invalid_parameter")), "#/steps");
    let before = service.get("/v1/clock", &[]);
    let many: Vec<String> = (0..=100).map(|number| format!("web-{number}")).collect();
    for (followers, output) in [
        (json!(["web", "all"]), "give `all`, or the names of 1 to 100 followers"),
        (json!([]), "give `all`, or the names of 1 to 100 followers"),
        (json!(many), "give `all`, or the names of 1 to 100 followers"),
        (json!("a b"), "or write `all`"),
    ] {
        let body = json!({ "duration": "1h", "followers": followers });
        let refused = send(&service, "/v1/fast-forward", &body).refused(400, "invalid_parameter");
        assert!(refused["detail"].as_str().unwrap().contains(output), "{refused}");
        assert_eq!(field(&refused), "#/followers");
    }
    let late = json!({ "duration": "1h", "followers": "all", "wait": "11m" });
    assert_eq!(field(&send(&service, "/v1/fast-forward", &late).refused(400, "invalid_parameter")), "#/wait");
    let after = service.get("/v1/clock", &[]);
    assert_eq!(after["generation"], before["generation"], "nothing was changed");
    send(&service, "/v1/fast-forward", &json!({ "duration": "1h", "followers": many[..100], "wait": "0s" }))
        .expect(200);
    let mut connection = service.connect();
    let mut stream = open(&mut connection, &service, following("web"));
    let message = stream.next().unwrap();
    let ahead = json!({ "follower_id": message.data["follower_id"], "generation": message.id + 1 });
    let refused = send(&service, "/v1/followers/confirm", &ahead).refused(400, "invalid_parameter");
    assert_eq!(field(&refused), "#/generation");
    drop(stream);
    service.audit();
}

/// Sets the fault of a follower.
fn set_fault(service: &Service, follower_id: &Value, body: &Value) -> Answer {
    send(service, &format!("/v1/followers/{}/fault", follower_id.as_str().unwrap()), body)
}

#[test]
fn follower_receives_its_clock_fault() {
    let service = paused_service();
    let (mut one, mut other) = (service.connect(), service.connect());
    let following = |name: &str| following(&format!("{name}&faults=true"));
    let mut web = open(&mut one, &service, following("web"));
    let first = web.next().unwrap();
    let follower_id = &first.data["follower_id"];
    assert!(first.data.get("fault").is_none());
    let all = json!({
        "offset": "-1500ms", "drift_ppm": 200, "jitter": "5ms", "jitter_seed": 7, "slew_ppm": 500,
        "leap": "insert@2028-12-31T23:59:59Z", "leap_smear": "24h",
    });
    let mut document = all.clone();
    document["leap_smear"] = json!("86400s");
    let answer = set_fault(&service, follower_id, &json!({ "fault": all })).expect(200);
    assert_eq!((&answer["name"], &answer["user_id"], &answer["fault"]), (&json!("web"), &json!("admin"), &document));
    // The clock is unchanged, and the message is sent anyway.
    let message = web.next().unwrap();
    assert_eq!((&message.data["fault"], message.id), (&document, first.id));
    assert_eq!(message.data["current_time"], first.data["current_time"], "the message has the true clock");
    assert_eq!(service.get("/v1/followers", &[])["followers"][0]["fault"], document);
    // Later changes contain it too, and so does the first message after a reconnect; other followers do not get it.
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(web.next().unwrap().data["fault"], document);
    let mut plain = open(&mut other, &service, following("db"));
    assert!(plain.next().unwrap().data.get("fault").is_none());
    drop(web);
    drop(one);
    let mut one = service.connect();
    let mut web = open(&mut one, &service, following("web"));
    let back = web.next().unwrap();
    assert_eq!(back.data["fault"], document);
    // In JSON `2.0` is an integer.
    let decimal = set_fault(&service, &back.data["follower_id"], &json!({ "fault": { "drift_ppm": -2.0 } }));
    assert_eq!(decimal.expect(200)["fault"], json!({ "drift_ppm": -2 }));
    assert_eq!(web.next().unwrap().data["fault"], json!({ "drift_ppm": -2 }));
    let right = set_fault(&service, &back.data["follower_id"], &json!({ "fault": null })).expect(200);
    assert!(right.get("fault").is_none());
    assert!(web.next().unwrap().data.get("fault").is_none());
    service.audit();
}

#[test]
fn invalid_faults_are_rejected_with_advice() {
    let service = paused_service();
    let reader = service.user("reader");
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } }));
    let (mut one, mut other) = (service.connect(), service.connect());
    let mut web = open(&mut one, &service, following("web&faults=true"));
    let mut page = open(&mut other, &service, following("page"));
    let (web, page) =
        (web.next().unwrap().data["follower_id"].clone(), page.next().unwrap().data["follower_id"].clone());
    for (fault, field, output) in [
        (json!({}), "", "null"),
        (json!({ "offset": "soon" }), "/offset", ""),
        (json!({ "drift_ppm": 0.5 }), "/drift_ppm", "number"),
        (json!({ "drift_ppm": 100_001 }), "/drift_ppm", "100000"),
        (json!({ "jitter": "1s" }), "/jitter", "250 ms"),
        (json!({ "jitter_seed": 1 }), "/jitter_seed", "`jitter`"),
        (json!({ "slew_ppm": 500 }), "/slew_ppm", "`offset`"),
        (json!({ "leap": "2028" }), "/leap", "insert@"),
        (json!({ "leap_smear": "24h" }), "/leap_smear", "`leap`"),
    ] {
        let problem = set_fault(&service, &web, &json!({ "fault": fault })).refused(400, "invalid_parameter");
        let error = &problem["errors"][0];
        assert_eq!(error["pointer"], format!("#/fault{field}"), "{problem}");
        assert!(error["detail"].as_str().unwrap().contains(output), "{problem}");
    }
    set_fault(&service, &web, &json!({})).refused(400, "missing_parameter");
    let fault = json!({ "fault": { "offset": "2s" } });
    let refused = set_fault(&service, &page, &fault).refused(400, "invalid_parameter");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("`timenav exec`"), "{refused}");
    set_fault(&service, &json!("follower_none"), &fault).refused(404, "not_found");
    let path = format!("/v1/followers/{}/fault", web.as_str().unwrap());
    service.send(Request::post(&path).json(&fault).key(&reader)).refused(403, "permission_denied");
    let unnamed = Request::get("/v1/clock/stream?faults=true").header("Accept", "text/event-stream");
    let problem = service.send(unnamed).refused(400, "invalid_parameter");
    assert_eq!(problem["errors"][0]["pointer"], "#/faults");
    service.audit();
}
