//! Timelines shown to witnesses individually, in addition to `system`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::Witness;
use super::log::cosigned_at;
use super::service::{copy, is_ready, record, system_key, wait_for_some};
use super::stub_witness::StubWitness;
use crate::ledger::verifier_key;
use crate::process::refused_start;
use crate::support::http::Request;
use crate::support::service::{Service, ends, succeeds, timenav};
use crate::support::waiting::until;

const BOOKS: &str = "timenav.local/books";

fn books_key(service: &Service) -> String {
    verifier_key(BOOKS, &service.public_key)
}

/// Restarts a service with these timelines shown to a witness.
fn naming(service: &mut Service, witness: &str, timelines: &[&str]) {
    assert!(service.stop().success());
    let mut arguments = vec!["--witness", witness, "--witness-interval-secs", "1"];
    arguments.extend(timelines.iter().flat_map(|timeline| ["--witness-timeline", *timeline]));
    service.arguments(&arguments);
    service.start_again();
}

fn checkpoint(service: &Service, timeline: &str, query: &str) -> String {
    let path = format!("/timeline/{timeline}/checkpoint{query}");
    service.send(Request::get(&path).header("Accept", "text/plain")).text()
}

/// Waits for a cosigned checkpoint of a timeline of at least this size.
fn cosigned(service: &Service, timeline: &str, size_min: u64) -> String {
    wait_for_some(service, "a cosignature", || {
        let note = checkpoint(service, timeline, "");
        let size: u64 = note.lines().nth(1)?.parse().ok()?;
        (size >= size_min && note.contains("\n— witness.test/w1 ")).then_some(note)
    })
}

/// Waits for the state of a witness for a timeline.
fn wait_for_state(service: &Service, timeline: &str, state: &str) {
    wait_for_one_of(service, timeline, &[state]);
}

fn wait_for_one_of(service: &Service, timeline: &str, states: &[&str]) {
    let (who, name) = ("witness=\"witness.test/w1\"", "timenav_witness_timeline_state");
    let line = |state: &&str| format!("{name}{{{who},timeline=\"{timeline}\",{name}=\"{state}\"}} 1");
    let lines: Vec<String> = states.iter().map(line).collect();
    wait_for_some(service, &lines.join(" or "), || {
        let text = service.send(Request::get("/metrics").anonymous()).text();
        text.lines().any(|one| lines.iter().any(|line| line == one)).then_some(())
    });
}

#[test]
fn named_timeline_and_system_have_cosigned_checkpoints() {
    let mut service = Service::start();
    let mut witness = Witness::start(&[&system_key(&service), &books_key(&service)]);
    naming(&mut service, &witness.option(), &["books"]);
    // It need not exist yet.
    let warned = "`books` is not sent to witnesses: there is no such timeline";
    wait_for_some(&service, warned, || service.log_text().contains(warned).then_some(()));
    let position = record(&service, "books", "first");
    record(&service, "other", "x");
    let note = cosigned(&service, "books", position + 1);
    let of_system = cosigned(&service, "system", 1);
    for note in [&note, &of_system] {
        cosigned_at(note, &witness.key);
    }
    assert!(!checkpoint(&service, "books", "?newest=true").contains("witness.test/w1"));
    assert!(!checkpoint(&service, "other", "").contains("witness.test/w1"), "nobody named it");
    wait_for_state(&service, "books", "cosigning");
    // The stored checkpoint is available without the witness, and verifies on its own.
    witness.kill();
    service.restart();
    assert_eq!(cosigned(&service, "books", position + 1), note);
    cosigned_at(&cosigned(&service, "system", 1), &witness.key);
    wait_for_state(&service, "books", "unreachable");
    assert_eq!(is_ready(&service).0, 200, "nobody waits for a witness");
    for (timeline, key, file) in [
        ("books", books_key(&service), "cosigned.books.checkpoint"),
        ("system", system_key(&service), "cosigned.checkpoint"),
    ] {
        let key_file = service.data().join("../key");
        std::fs::write(&key_file, key).unwrap();
        let mut command = timenav();
        command.args(["verify", "--timeline", timeline, "--data"]).arg(service.data()).arg("--key").arg(key_file);
        command.arg("--checkpoint").arg(service.data().join(file)).args(["--witness", &witness.key]);
        succeeds(&mut command);
    }
    // The witness restarts, and gets the missed checkpoints.
    witness.start_again();
    let missed = record(&service, "books", "second");
    cosigned(&service, "books", missed + 1);
    // The end of a timeline is not an alarm.
    assert_eq!(service.send(Request::new("DELETE", "/timeline/books")).status, 200);
    service.restart();
    wait_for_some(&service, warned, || (service.log_text().matches(warned).count() > 1).then_some(()));
    assert_eq!(is_ready(&service).0, 200, "{}", is_ready(&service).1);
    service.audit();
}

#[test]
fn witness_without_named_timeline_still_cosigns_system() {
    let mut service = Service::start();
    let witness = Witness::start(&[&system_key(&service)]);
    naming(&mut service, &witness.option(), &["books"]);
    record(&service, "books", "first");
    wait_for_state(&service, "books", "refusing");
    cosigned(&service, "system", 1);
    assert!(!checkpoint(&service, "books", "").contains("witness.test/w1"));
    assert_eq!(is_ready(&service).0, 200);
    service.audit();
}

/// The witness only knows this timeline, so nothing else could detect it.
#[test]
fn rolled_back_named_timeline_stops_the_service() {
    let mut service = Service::start();
    let witness = Witness::start(&[&books_key(&service)]);
    naming(&mut service, &witness.option(), &["books"]);
    let old = record(&service, "books", "old");
    cosigned(&service, "books", old + 1);
    assert!(service.stop().success());
    let backup = tempfile::tempdir().unwrap();
    copy(&service.data(), backup.path());
    service.start_again();
    let new = record(&service, "books", "new");
    cosigned(&service, "books", new + 1);
    assert!(service.stop().success());
    let newer = std::fs::read(service.data().join("cosigned.books.checkpoint")).unwrap();
    copy(backup.path(), &service.data());
    service.errors_expected.extend([
        "the witness `witness.test/w1` does not cosign `books`: rollback",
        "the ledger does not match the cosigned checkpoint",
        "nothing is written until",
    ]);
    service.remembered.clear();
    service.start_again();
    wait_for_state(&service, "books", "rollback");
    let stopped = |service: &Service| {
        let refused = service.send(Request::get("/readyz").anonymous()).refused(503, "ledger_rollback_detected");
        assert!(refused["detail"].as_str().unwrap().contains("timeline `books`"), "{refused:#}");
        service
            .send(Request::post("/v1/users").json(&json!({ "user_id": "late" })))
            .refused(503, "ledger_rollback_detected");
    };
    stopped(&service);
    let diverged = std::fs::read_to_string(service.data().join("diverged.log")).unwrap();
    let last: Value = serde_json::from_str(diverged.lines().last().unwrap()).unwrap();
    assert_eq!((&last["timeline_id"], &last["kind"]), (&json!("books"), &json!("rollback")));
    assert!(last["seen"]["checkpoint"].as_str().unwrap().contains("\n— witness.test/w1 "), "{last:#}");
    // It no longer starts. A cosigned checkpoint in the folder proves the rollback without the witness.
    assert!(service.stop().success());
    assert!(refused_start(&service.data(), &[]).contains("timeline `books` has"));
    copy(backup.path(), &service.data());
    std::fs::write(service.data().join("cosigned.books.checkpoint"), newer).unwrap();
    service.start_again();
    wait_for_some(&service, "503", || (is_ready(&service).0 == 503).then_some(()));
    stopped(&service);
    // An operator accepts it: the state in the folder counts.
    assert!(service.stop().success());
    let mut accept = timenav();
    accept.args(["accept-rollback", "--by", "ada", "--reason", "a disk that was lost", "--data"]).arg(service.data());
    ends(&mut accept, 0);
    service.start_again();
    // Each read of the checkpoint was an entry too, so the two histories may have the same length by now.
    wait_for_one_of(&service, "books", &["rollback", "fork"]);
    assert_eq!(is_ready(&service).0, 200, "{}", is_ready(&service).1);
    record(&service, "books", "newer");
    service.audit();
}

/// A timeline that ends during a request is not a rollback, whatever the witness returns.
#[test]
fn ended_named_timeline_is_not_a_rollback() {
    let mut service = Service::start();
    let [is_requested, has_ended] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (request, blocked_by) = (Arc::clone(&is_requested), Arc::clone(&has_ended));
    let witness = StubWitness::start("witness.test/w1", move |_, (_, body)| {
        if !body.contains(BOOKS) {
            return Some((403, "text/plain", "no\n".to_owned()));
        }
        request.store(true, Ordering::SeqCst);
        until("the end of the timeline", || blocked_by.load(Ordering::SeqCst).then_some(()));
        Some((409, "text/x.tlog.size", "99999\n".to_owned()))
    });
    record(&service, "books", "first");
    naming(&mut service, &witness.option(), &["books"]);
    // One request at a time: that of `system` may come after this.
    wait_for_some(&service, "the question", || is_requested.load(Ordering::SeqCst).then_some(()));
    assert_eq!(service.send(Request::new("DELETE", "/timeline/books")).status, 200);
    has_ended.store(true, Ordering::SeqCst);
    wait_for_state(&service, "books", "refusing");
    assert_eq!(is_ready(&service).0, 200, "{}", is_ready(&service).1);
    service.audit();
}
