//! Timelines that go over from one service to another, by the command line and over HTTP.

mod erased;
mod large;

use serde_json::{Value, json};

use crate::bundles::{Away, PASSPHRASE, event, key_of, seal};
use crate::http::{Answer, Request, target};
use crate::ledger;
use crate::service::{Service, run, timenav};
use crate::verifier::{has_python, verify_at};

const NAME: &str = "lived-in";

fn bundle(away: &Away, name: &str) -> Vec<u8> {
    std::fs::read(away.path(name)).unwrap()
}

fn request(key: &str, map: &str, file: &[u8]) -> Request {
    let path = target("/timelines/adopt", &[("verifier_key", key), ("map", map)]);
    Request::post(&path).body("application/x-ndjson", file)
}

fn adopt(service: &Service, key: &str, file: &[u8]) -> Answer {
    service.send(request(key, "", file))
}

fn is_there(service: &Service, timeline: &str) -> bool {
    service.send(Request::get(&format!("/timeline/{timeline}"))).status == 200
}

/// Has everything happen to a timeline that leaves something behind.
fn live(service: &Service) {
    service.post(
        "/v1/travel",
        &json!({ "timeline_id": NAME, "destination_time": "2001-06-01T12:00:00Z",
        "location": "Europe/Paris" }),
    );
    for (number, place) in ["Paris", "Rome", "Lima"].iter().enumerate() {
        let body = json!({ "event_id": format!("in-{number}"), "time": "2001-01-02T00:00:00Z", "location": place,
            "name": format!("Journey {number}"), "description": "d", "actors": ["ada"] });
        service.send(Request::post(&target("/v1/events", &[("timeline_id", NAME)])).json(&body)).expect(201);
    }
    let effect = json!({ "event_id": "effect", "time": "2001-03-01T00:00:00Z", "description": "because of it",
        "causes": [{ "event_id": "cause", "kind": "requires" }] });
    event(service, NAME, "cause");
    service.send(Request::post(&target("/v1/events", &[("timeline_id", NAME)])).json(&effect)).expect(201);
    for number in 0..30 {
        event(service, NAME, &format!("event-{number}"));
    }
    service.post("/v1/set-anchor", &json!({ "timeline_id": NAME, "description": "before" }));
    let correction = json!({ "event_id": "event-7", "time": "2002-01-01T00:00:00Z" });
    service.post("/v1/correct-event", &json!({ "timeline_id": NAME, "event": correction }));
    let deed = |event_id: &str, action: &str| {
        service.post(
            "/v1/manipulate-event",
            &json!({ "timeline_id": NAME, "event_id": event_id, "action": action,
            "time": "2001-01-01T00:00:00Z" }),
        );
    };
    deed("cause", "cancel");
    deed("event-1", "delay by 2h");
    deed("event-2", "cancel");
    deed("event-2", "restore");
    deed("event-3", "cancel");
    deed("event-4", "relocate to Berlin");
    // Erased ones: as it stands, cancelled, and changed.
    for event_id in ["event-5", "event-3", "event-1"] {
        service.post("/v1/erase-data", &json!({ "timeline_id": NAME, "event_id": event_id }));
    }
    service.post("/v1/fast-forward", &json!({ "timeline_id": NAME, "duration": "1d" }));
}

/// Returns what a service answers of the timeline, without what depends on where the entry of the question stands.
fn answers(service: &Service, anchor: &str, last: u64) -> Vec<Value> {
    let of = |path: &str, more: &[(&str, &str)]| {
        let parameters: Vec<(&str, &str)> = [("timeline_id", NAME)].into_iter().chain(more.iter().copied()).collect();
        let mut answer = service.get(path, &parameters);
        for member in ["as_of", "ledger", "next_cursor", "current_time"] {
            answer.as_object_mut().unwrap().remove(member);
        }
        answer
    };
    let last = last.to_string();
    let at = [last.as_str(), "20", anchor];
    let found = |location: &str, as_of: &str| {
        of(
            "/v1/monitor-events",
            &[("location", location), ("time_range", "../.."), ("as_of", as_of), ("limit", "1000")],
        )
    };
    let mut all = Vec::new();
    for as_of in at {
        all.extend(["*", "Rome", "52.5,13.4;u=50000"].map(|location| found(location, as_of)));
        all.push(of("/v1/monitor-paradox", &[("time_range", "../.."), ("as_of", as_of)]));
    }
    for event_id in ["event-7", "event-1", "event-2", "event-3", "event-4", "cause", "in-1"] {
        let answer = service.send(Request::get(&target(&format!("/v1/events/{event_id}"), &[("timeline_id", NAME)])));
        let mut answer = answer.json();
        for member in ["as_of", "request_id", "ledger"] {
            answer.as_object_mut().unwrap().remove(member);
        }
        all.push(answer);
    }
    all.push(of("/v1/anchors", &[]));
    all.push(of("/v1/check-timeline", &[("significant_event", "cause"), ("as_of", &last)]));
    // Forks of a moment before begin alike, and differ from it alike.
    service.post("/timelines", &json!({ "timeline_id": "forked", "fork_of": NAME, "at": 25 }));
    let mut diff = service.get("/timelines/diff", &[("a", NAME), ("b", "forked")]);
    all.extend(["common", "differences"].map(|member| diff[member].take()));
    all.push(service.get("/timeline/forked", &[])["events"].clone());
    all
}

#[test]
fn both_services_give_the_same_answers() {
    let there = Service::start();
    let away = Away::new();
    live(&there);
    let (sealed, erased) = (seal(&there, NAME), seal(&there, NAME));
    there.post("/v1/erase-data", &json!({ "data_id": erased }));
    away.export(&there, NAME, "a");
    let size = there.get(&format!("/timeline/{NAME}"), &[])["head"]["size"].as_u64().unwrap() - 1;
    let here = Service::start();
    let mut command = timenav();
    command.args(["timeline", "adopt", "--url", &here.url(), "--verifier-key", &key_of(&there, NAME)]);
    let (code, stdout, stderr) = run(command.arg(away.path("a")).env("TIMENAV_API_KEY", &here.admin), "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("its clock is paused") && stdout.contains("timenav.local/lived-in"), "{stdout}");
    let clock = here.get("/v1/clock", &[("timeline_id", NAME)]);
    assert_eq!((&clock["state"], &clock["location"]), (&json!("paused"), &json!("Europe/Paris")));
    let anchor = there.get("/v1/anchors", &[("timeline_id", NAME)])["anchors"][0]["anchor_id"].clone();
    let last = size - 1;
    let (theirs, ours) =
        (answers(&there, anchor.as_str().unwrap(), last), answers(&here, anchor.as_str().unwrap(), last));
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(&ours) {
        // Whoever did something there is shown as somebody of there.
        assert_eq!(theirs.to_string(), ours.to_string().replace("admin@timenav.local/lived-in", "admin"));
    }

    // Whoever has the key opens what was sealed there, and what was erased is gone.
    let opened = json!({ "data_id": sealed, "encryption_key": PASSPHRASE });
    assert_eq!(here.post("/v1/decrypt-data", &opened)["data"], json!({ "n": 1 }));
    let gone = json!({ "data_id": erased, "encryption_key": PASSPHRASE });
    here.send(Request::post("/v1/decrypt-data").json(&gone)).refused(404, "not_found");

    // The log tells whose entries are whose.
    let logs = here.get("/v1/access-logs", &[("timeline_id", NAME), ("time_range", "../.."), ("limit", "1000")]);
    let by: Vec<&str> =
        logs["logs"].as_array().unwrap().iter().map(|entry| entry["user_id"].as_str().unwrap()).collect();
    let (before, since) = by.split_at(usize::try_from(last + 1).unwrap());
    assert!(before.iter().all(|user| *user == "admin@timenav.local/lived-in"), "{before:?}");
    assert!(since.iter().all(|user| *user == "admin"), "{since:?}");

    // It goes on, and can go on elsewhere again.
    event(&here, NAME, "later");
    here.post("/v1/resume-time", &json!({ "timeline_id": NAME }));
    away.export(&here, NAME, "b");
    let (verifies, said) = away.verify("b", &key_of(&here, NAME), &[]);
    assert!(verifies, "{said:?}");
    if has_python() {
        let key = key_of(&here, NAME);
        let script = ["--contents", "--verifier-key", &key];
        let (code, said) = verify_at(&here.url(), NAME, &here.admin, &script);
        assert_eq!(code, Some(0), "{said}");
    }
    let scan = here.post("/v1/detect-tampering", &json!({ "timeline_id": NAME, "scan_depth": "full" }));
    assert_eq!(scan["tampering_detected"], json!(false), "{scan}");
    let third = Service::start();
    adopt(&third, &key_of(&here, NAME), &bundle(&away, "b")).expect(201);
    let logs = third.get("/v1/access-logs", &[("timeline_id", NAME), ("time_range", "../.."), ("limit", "1000")]);
    assert_eq!(logs["logs"][0]["user_id"], "admin@timenav.local/lived-in");
    [there, here, third].into_iter().for_each(Service::audit);
}

#[test]
fn users_of_the_same_name_may_nothing_unless_they_are_named() {
    let (there, mut here) = (Service::start(), Service::start());
    let away = Away::new();
    there.user("bob");
    let (bob, _eve) = (here.user("bob"), here.user("eve"));
    event(&there, NAME, "first");
    let lists = json!({ "read": [], "write": ["bob"], "admin": ["admin"] });
    there.post("/v1/set-access-control", &json!({ "timeline_id": NAME, "permissions": lists }));
    away.export(&there, NAME, "a");
    let (key, file) = (key_of(&there, NAME), bundle(&away, "a"));
    for (map, detail) in
        [("bob=nobody", "no user `nobody`"), ("carol=eve", "`carol` had no role"), ("bob", "there=here")]
    {
        let refused = here.send(request(&key, map, &file)).refused(400, "invalid_parameter");
        assert!(refused["detail"].as_str().unwrap().contains(detail), "{refused}");
    }
    adopt(&here, &key, &file).expect(201);
    let sees = |service: &Service| service.send(Request::get(&format!("/timeline/{NAME}")).key(&bob));
    sees(&here).refused(404, "not_found");
    // A restart compares what was signed.
    here.restart();
    sees(&here).refused(404, "not_found");
    here.audit();
    let named = Service::start();
    let bob = named.user("robert");
    named.send(request(&key, "bob=robert", &file)).expect(201);
    let view = named.get(&format!("/timeline/{NAME}"), &[]);
    assert_eq!(view["permissions"], json!({ "read": [], "write": ["robert"], "admin": ["admin"] }));
    let body = json!({ "event_id": "of-bob", "time": "2001-01-01T00:00:00Z" });
    named.send(Request::post(&target("/v1/events", &[("timeline_id", NAME)])).key(&bob).json(&body)).expect(201);
    named.audit();
    there.audit();
}

#[test]
fn what_is_not_whole_or_not_signed_leaves_nothing() {
    let (there, here) = (Service::start(), Service::start());
    let away = Away::new();
    event(&there, NAME, "first");
    let erased = seal(&there, NAME);
    there.post("/v1/erase-data", &json!({ "data_id": erased }));
    seal(&there, NAME);
    away.export(&there, NAME, "a");
    let (key, file) = (key_of(&there, NAME), bundle(&away, "a"));
    let before = here.get("/timeline/system", &[])["head"]["size"].as_u64().unwrap();
    let refused = |key: &str, file: &[u8], code: &str| {
        let answer = adopt(&here, key, file).refused(400, code);
        assert!(!is_there(&here, NAME), "{answer}");
        answer
    };
    // One byte of each kind of line.
    let text = String::from_utf8(file.clone()).unwrap();
    let mut at = 0;
    let mut kinds = Vec::new();
    for line in text.split_inclusive('\n') {
        let middle = at + line.len() / 2;
        let mut changed = file.clone();
        changed[middle] ^= 1;
        refused(&key, &changed, "invalid_parameter");
        kinds.push(line[2..].split('"').next().unwrap());
        at += line.len();
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["bundle", "checkpoint", "data", "end", "entry", "layer"]);
    for end in [0, 1, file.len() / 3, file.len() / 2, file.len() - 1] {
        refused(&key, &file[..end], "invalid_parameter");
    }
    refused(&key, &[&file[..], b"{}\n"].concat(), "invalid_parameter");
    // Another's key, that of another ledger, that of `system`, and none.
    let name = format!("timenav.local/{NAME}");
    let other = refused(&ledger::verifier_key(&name, &[7; 32]), &file, "invalid_parameter");
    assert!(other["detail"].as_str().unwrap().contains("is not signed by the key"), "{other}");
    adopt(&here, &key_of(&there, "main"), &file).refused(409, "already_exists");
    let system = refused(&key_of(&there, "system"), &file, "invalid_parameter");
    assert!(system["detail"].as_str().unwrap().contains("`system`"), "{system}");
    refused("timenav.local/lived-in", &file, "invalid_parameter");
    here.send(Request::post("/timelines/adopt").body("application/x-ndjson", &file)).refused(400, "missing_parameter");
    let system = here.get("/timeline/system", &[])["head"]["size"].as_u64().unwrap();
    assert_eq!(before + 1, system, "nothing was told but that it was looked at");
    assert_eq!(adopt(&here, &key, &file).expect(201)["let_go"], 0);
    adopt(&here, &key, &file).refused(409, "already_exists");
    there.audit();
    here.audit();
}

#[test]
fn a_fork_brings_what_it_goes_on_from_and_can_go_on_again() {
    let (there, mut here) = (Service::start(), Service::start());
    let away = Away::new();
    live(&there);
    event(&there, "main", "unrelated");
    there.post("/timelines", &json!({ "timeline_id": "middle", "fork_of": NAME }));
    let deed = json!({ "timeline_id": "middle", "event_id": "event-8", "action": "cancel",
        "time": "2001-01-01T00:00:00Z" });
    there.post("/v1/manipulate-event", &deed);
    event(&there, NAME, "after-the-fork");
    there.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "middle" }));
    event(&there, "fork", "own");
    away.export(&there, "fork", "a");
    // There is a timeline of that name here, which has nothing to do with it.
    event(&here, NAME, "local");
    let answer = adopt(&here, &key_of(&there, "fork"), &bundle(&away, "a")).expect(201);
    let status = answer["status"].as_str().unwrap();
    assert!(status.contains("and the 2 timelines it descends from came with it"), "{status}");
    let found = |service: &Service| {
        let parameters = [("timeline_id", "fork"), ("location", "*"), ("time_range", "../.."), ("limit", "1000")];
        let mut events = service.get("/v1/monitor-events", &parameters)["events"].take();
        let of: Vec<Value> =
            events.as_array_mut().unwrap().iter_mut().map(|event| event["timeline_id"].take()).collect();
        (events, of)
    };
    let (theirs, ours) = (found(&there), found(&here));
    assert_eq!(theirs.0, ours.0);
    assert!(ours.1.contains(&json!(format!("fork/{NAME}"))), "{:?}", ours.1);
    assert_eq!(here.get("/timeline/fork", &[])["fork"]["of"], "fork/middle");
    // Nobody can ask for what came with it.
    for path in ["/timeline/fork%2Fmiddle", "/timeline/fork/middle", "/timeline/fork%2Fmiddle/checkpoint"] {
        let answer = here.send(Request::get(path));
        assert!([400, 404].contains(&answer.status), "{path}: {}", answer.status);
    }
    let body = json!({ "timeline_id": "x", "fork_of": "fork/middle" });
    here.send(Request::post("/timelines").json(&body)).refused(400, "invalid_parameter");
    here.restart();
    event(&here, "fork", "here");
    let scan = here.post("/v1/detect-tampering", &json!({ "timeline_id": "fork", "scan_depth": "full" }));
    assert_eq!(scan["tampering_detected"], json!(false), "{scan}");
    away.export(&here, "fork", "b");
    let (verifies, said) = away.verify("b", &key_of(&here, "fork"), &[]);
    assert!(verifies, "{said:?}");
    if has_python() {
        let script = ["--contents", "--verifier-key", &key_of(&here, "fork")];
        let (code, said) = verify_at(&here.url(), "fork", &here.admin, &script);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("middle of another service, which fork came with"), "{said}");
    }
    let third = Service::start();
    adopt(&third, &key_of(&here, "fork"), &bundle(&away, "b")).expect(201);
    assert_eq!(found(&third).0, found(&here).0);
    here.send(Request::new("DELETE", "/timeline/fork")).expect(200);
    [there, here, third].into_iter().for_each(Service::audit);
}

#[test]
fn what_is_too_large_is_refused() {
    let (there, here) = (Service::start(), Service::start());
    let path = target("/timelines/adopt", &[("verifier_key", &key_of(&there, "large"))]);
    let claimed = Request::post(&path).header("content-type", "application/x-ndjson");
    let claimed = here.signed(claimed.header("content-length", "1073741825"));
    let mut connection = here.connect();
    connection.send_request(&claimed);
    connection.answer(false).unwrap().refused(413, "content_too_large");
    there.audit();
    here.audit();
}

#[test]
fn a_rotated_key_is_followed_here_too() {
    let (mut there, here) = (Service::start(), Service::start());
    let away = Away::new();
    event(&there, NAME, "before");
    let first = key_of(&there, NAME);
    assert!(there.stop().success());
    there.rotate_signing_key();
    there.start_again();
    event(&there, NAME, "after");
    let lines = away.export(&there, NAME, "a");
    let without: Vec<&Value> = lines.iter().filter(|line| line.get("rotation").is_none()).collect();
    away.write("b", &without);
    adopt(&here, &first, &bundle(&away, "b")).refused(400, "invalid_parameter");
    let note = lines.iter().find_map(|line| line["rotation"]["note"].as_str()).unwrap();
    let note = data_encoding::BASE64URL_NOPAD.encode(note.as_bytes());
    let path = target("/timelines/adopt", &[("verifier_key", &first), ("rotations", &note)]);
    let sent = Request::post(&path).body("application/x-ndjson", &bundle(&away, "b"));
    assert_eq!(here.send(sent).expect(201)["rotations_followed"], 1);
    let second = Service::start();
    assert_eq!(adopt(&second, &first, &bundle(&away, "a")).expect(201)["rotations_followed"], 1);
    // A key of this service may rotate as well, over what another has signed.
    let mut second = second;
    assert!(second.stop().success());
    second.rotate_signing_key();
    second.start_again();
    event(&second, NAME, "under-a-third-key");
    [there, here, second].into_iter().for_each(Service::audit);
}

#[test]
fn what_was_handed_over_is_read_and_not_changed() {
    let mut there = Service::start();
    let away = Away::new();
    event(&there, NAME, "first");
    let mut command = timenav();
    command.args(["timeline", "export", "--end", "--timeline", NAME, "--url", &there.url(), "--bundle"]);
    let (code, stdout, stderr) = run(command.arg(away.path("a")).env("TIMENAV_API_KEY", &there.admin), "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let text = std::fs::read_to_string(away.path("a")).unwrap();
    let last = text.lines().rfind(|line| line.starts_with("{\"entry\"")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(ledger::entry(last["entry"]["leaf"].as_str().unwrap())["action"], "handed_over");
    let head = there.get(&format!("/timeline/{NAME}"), &[])["head"].clone();
    let key = key_of(&there, NAME);
    let check = |service: &Service| {
        let refused = service
            .send(Request::post("/v1/pause-time").json(&json!({ "timeline_id": NAME })))
            .refused(409, "conflict");
        assert!(refused["detail"].as_str().unwrap().contains("handed over to another service"), "{refused}");
        let lists = json!({ "timeline_id": NAME, "permissions": {} });
        service.send(Request::post("/v1/set-access-control").json(&lists)).refused(409, "conflict");
        service.send(Request::post("/v1/hand-over").json(&json!({ "timeline_id": NAME }))).refused(409, "conflict");
        assert_eq!(service.find_all(NAME, "*", "../..", "10").len(), 1);
        service.get("/v1/clock", &[("timeline_id", NAME)]);
    };
    check(&there);
    there.restart();
    check(&there);
    assert_eq!(there.get(&format!("/timeline/{NAME}"), &[])["head"], head, "nothing more is written to it");
    let here = Service::start();
    adopt(&here, &key, &bundle(&away, "a")).expect(201);
    event(&here, NAME, "second");
    let proof = |service: &Service, position: u64| {
        let path = target(&format!("/timeline/{NAME}/proof"), &[("position", &position.to_string())]);
        service.send(Request::get(&path)).expect(200)["leaf"].clone()
    };
    for position in 0..head["size"].as_u64().unwrap() {
        assert_eq!(proof(&there, position), proof(&here, position), "{position}");
    }
    // The service's own keys may still change, and it stays as it is.
    assert!(there.stop().success());
    there.rotate_signing_key();
    there.start_again();
    check(&there);
    assert!(there.stop().success());
    // Whoever makes the last entry another one is found out.
    let data = there.data();
    let database = rusqlite::Connection::open(data.join("timenav.db")).unwrap();
    let select = "SELECT entry, leaf FROM entries WHERE instr(leaf, CAST('\"action\":\"handed_over\"' AS BLOB)) > 0";
    let (entry, leaf): (i64, Vec<u8>) =
        database.query_row(select, [], |row| Ok((row.get(0).unwrap(), row.get(1).unwrap()))).unwrap();
    let put = |leaf: &[u8]| {
        let update = "UPDATE entries SET leaf = ?1 WHERE entry = ?2";
        assert_eq!(database.execute(update, rusqlite::params![leaf, entry]).unwrap(), 1);
    };
    put(String::from_utf8(leaf.clone()).unwrap().replace("handed_over", "pause_time").as_bytes());
    let mut verify = timenav();
    let (code, stdout, _) = run(verify.args(["verify", "--data"]).arg(&data).args(["--timeline", NAME]), "");
    assert_eq!(code, Some(7), "{stdout}");
    put(&leaf);
    drop(database);
    there.start_again();
    there.audit();
    here.audit();
}

/// One after the other: the second is not read before the first is done.
#[test]
fn bundles_arrive_in_turn_and_with_few_notes() {
    let (there, here) = (Service::start(), Service::start());
    let away = Away::new();
    for name in ["one", "two"] {
        event(&there, name, "first");
        away.export(&there, name, name);
    }
    let [first, second] = ["one", "two"].map(|name| {
        let file = bundle(&away, name);
        let path = target("/timelines/adopt", &[("verifier_key", &key_of(&there, name))]);
        (here.signed(Request::post(&path).header("content-length", &file.len().to_string())), file)
    });
    let (mut slow, mut quick) = (here.connect(), here.connect());
    slow.send_request(&first.0);
    slow.send(&first.1[..first.1.len() / 2]).unwrap();
    quick.send_request(&second.0);
    quick.send(&second.1).unwrap();
    slow.send(&first.1[first.1.len() / 2..]).unwrap();
    for connection in [&mut slow, &mut quick] {
        connection.answer(false).unwrap().expect(201);
    }
    let notes = vec!["AA"; 17].join(",");
    let path = target("/timelines/adopt", &[("verifier_key", &key_of(&there, "three")), ("rotations", &notes)]);
    let refused = here.send(Request::post(&path).body("application/x-ndjson", b"")).refused(400, "invalid_parameter");
    assert!(refused["detail"].as_str().unwrap().contains("at most 16 notes"), "{refused}");
    there.audit();
    here.audit();
}

#[test]
fn a_kill_while_it_arrives_leaves_all_or_nothing() {
    let there = Service::start();
    let away = Away::new();
    let draft = |number: u32| json!({ "event_id": format!("e{number}"), "time": "2001-01-01T00:00:00Z" });
    for first in 0..8 {
        let drafts: Vec<Value> = (first * 500..(first + 1) * 500).map(draft).collect();
        there.post(&target("/v1/events", &[("timeline_id", NAME)]), &drafts.into());
    }
    away.export(&there, NAME, "a");
    let (key, file) = (key_of(&there, NAME), bundle(&away, "a"));
    let path = target("/timelines/adopt", &[("verifier_key", &key)]);
    let mut arrived = 0;
    let mut here = Service::start();
    for part in 1..=6 {
        let length = file.len().to_string();
        let head = Request::post(&path).header("content-type", "application/x-ndjson");
        let head = here.signed(head.header("content-length", &length));
        let mut connection = here.connect();
        connection.send_request(&head);
        // All of it is sent in the second half of the rounds.
        let sent = if part < 4 { file.len() * part / 4 } else { file.len() };
        let _ = connection.send(&file[..sent]);
        if part == 6 {
            connection.answer(false).unwrap().expect(201);
        }
        here.kill();
        here.start_again();
        if is_there(&here, NAME) {
            arrived += 1;
            assert_eq!(here.get(&format!("/timeline/{NAME}"), &[])["events"], 4_000);
            break;
        }
    }
    assert_eq!(arrived, 1, "what was answered is there");
    there.audit();
    here.audit();
}
