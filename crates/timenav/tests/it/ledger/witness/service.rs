//! A service with witnesses.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::Witness;
use super::log::cosigned_at;
use super::stub_witness::StubWitness;
use crate::ledger::verifier::{examples, has_python};
use crate::ledger::{self, verifier_key};
use crate::process::refused_start;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::{Service, ends, timenav};
use crate::support::waiting::try_until;

pub(super) fn system_key(service: &Service) -> String {
    verifier_key("timenav.local/system", &service.public_key)
}

/// Restarts a service with witnesses.
fn with_witnesses(service: &mut Service, witnesses: &[&str]) {
    assert!(service.stop().success());
    let arguments: Vec<&str> = witnesses.iter().flat_map(|witness| ["--witness", *witness]).collect();
    service.arguments(&[&arguments[..], &["--witness-interval-secs", "1"]].concat());
    service.start_again();
}

/// Starts a service with a witness.
fn witnessed() -> (Service, Witness) {
    let mut service = Service::start();
    let witness = Witness::start(&[&system_key(&service)]);
    with_witnesses(&mut service, &[&witness.option()]);
    (service, witness)
}

pub(super) fn wait_for_some<T>(service: &Service, what: &str, look: impl Fn() -> Option<T>) -> T {
    try_until(look).unwrap_or_else(|| panic!("{what} does not come: {}", service.log_text()))
}

/// Waits for the state of a witness in `/metrics`.
fn wait_for_state(service: &Service, witness: &str, state: &str) {
    let line = format!("timenav_witness_state{{witness=\"{witness}\",timenav_witness_state=\"{state}\"}} 1");
    wait_for_some(service, &line, || {
        let text = service.send(Request::get("/metrics").anonymous()).text();
        text.lines().any(|one| one == line).then_some(())
    });
}

/// Waits for the witnessed proof of an entry.
fn proof(service: &Service, timeline: &str, position: u64) -> Value {
    wait_for_some(service, "a proof", || {
        let path = format!("/timeline/{timeline}/proof?position={position}&witnessed=true");
        let answer = service.send(Request::get(&path));
        (answer.status == 200).then(|| answer.json())
    })
}

pub(super) fn is_ready(service: &Service) -> (u16, String) {
    let answer = service.send(Request::get("/readyz").anonymous());
    (answer.status, answer.text())
}

pub(super) fn record(service: &Service, timeline: &str, event_id: &str) -> u64 {
    let event = json!({ "timeline_id": timeline, "time": "2000-01-01T00:00:00Z", "event_id": event_id });
    service.post("/v1/events", &event)["ledger"]["position"].as_u64().expect("a position")
}

/// Copies a data folder without locks.
pub(super) fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn one_cosignature_covers_every_timeline() {
    let (service, witness) = witnessed();
    let position = record(&service, "apollo", "eagle");
    record(&service, "other", "x");
    let proof = proof(&service, "apollo", position);
    assert_eq!((proof["kind"].as_str(), proof["origin"].as_str()), (Some("witnessed"), Some("timenav.local/apollo")));
    // From the entry to the tree of its timeline, to the entry on `system`, to the cosigned root: with code of the
    // test.
    let leaf = ledger::leaf_hash(proof["leaf"].as_str().unwrap().as_bytes());
    let (size, root) = (proof["size"].as_u64().unwrap(), ledger::hash(&proof["root"]));
    assert!(ledger::includes(&leaf, position, size, &ledger::hashes(&proof["hashes"]), &root), "{proof:#}");
    let (head, note) = (&proof["head"], proof["checkpoint"].as_str().unwrap());
    let text = format!("timenav.local/apollo\n{size}\n{}\n", data_encoding::BASE64.encode(&root));
    let entry = head["leaf"].as_str().unwrap();
    let (index, count) = (head["index"].as_u64().unwrap(), head["count"].as_u64().unwrap());
    let subject = ledger::entry(entry)["subject"].as_str().unwrap().to_owned();
    let heads_root = ledger::hash(&subject.strip_prefix(&format!("{count}:")).expect("the number of heads").into());
    let of_head = ledger::leaf_hash(text.as_bytes());
    assert!(ledger::includes(&of_head, index, count, &ledger::hashes(&head["hashes"]), &heads_root), "{proof:#}");
    let (lines, of_entry) = (note.split("\n\n").next().unwrap().lines(), ledger::leaf_hash(entry.as_bytes()));
    let [origin, system_size, system_root] = lines.collect::<Vec<_>>().try_into().expect("three lines");
    assert_eq!(origin, "timenav.local/system");
    let system_root = data_encoding::BASE64.decode(system_root.as_bytes()).unwrap().try_into().unwrap();
    let (at, path) = (head["position"].as_u64().unwrap(), ledger::hashes(&head["system_hashes"]));
    assert!(ledger::includes(&of_entry, at, system_size.parse().unwrap(), &path, &system_root), "{proof:#}");
    let recorded_at = micros(ledger::entry(entry)["recorded_at"].as_str().unwrap()) / 1_000_000;
    assert!(i128::from(cosigned_at(note, &witness.key)).abs_diff(recorded_at) < 60, "{note}");
    assert_eq!(is_ready(&service).0, 200);
    wait_for_state(&service, "witness.test/w1", "cosigning");
    service.audit();
}

#[test]
fn witness_with_log_prefix_cosigns_the_service() {
    let mut service = Service::start();
    let prefix = format!("timenav.local/={}", verifier_key("timenav.local/main", &service.public_key));
    let witness = Witness::with_options(&["--log-prefix", &prefix]);
    with_witnesses(&mut service, &[&witness.option()]);
    let position = record(&service, "apollo", "eagle");
    cosigned_at(proof(&service, "apollo", position)["checkpoint"].as_str().unwrap(), &witness.key);
    wait_for_state(&service, "witness.test/w1", "cosigning");
    service.audit();
}

/// Returns invalid proofs: with a changed digit in each hash, in the entry, in the sizes and in the note.
fn wrong_ones(proof: &Value, position: u64) -> Vec<(&'static str, Value)> {
    let mut wrong = Vec::new();
    let mut change = |what: &'static str, pointer: &str, new: Value| {
        let mut changed = proof.clone();
        *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}: {proof:#}")) = new;
        wrong.push((what, changed));
    };
    let flipped = |value: &Value| {
        let text = value.as_str().unwrap();
        let first = if text.starts_with('0') { "1" } else { "0" };
        Value::from(format!("{first}{}", &text[1..]))
    };
    for list in ["/hashes", "/head/hashes", "/head/system_hashes"] {
        let hashes = proof.pointer(list).unwrap().as_array().unwrap();
        for (at, hash) in hashes.iter().enumerate() {
            change("a hash", &format!("{list}/{at}"), flipped(hash));
        }
    }
    change("the root", "/root", flipped(&proof["root"]));
    change("the size", "/size", (proof["size"].as_u64().unwrap() + 1).into());
    change("the position", "/position", (position + 1).into());
    change("the entry", "/leaf", proof["leaf"].as_str().unwrap().replace("admin", "bdmin").into());
    change("the index", "/head/index", (proof["head"]["index"].as_u64().unwrap() + 1).into());
    change("the count", "/head/count", (proof["head"]["count"].as_u64().unwrap() + 1).into());
    change("the commitment", "/head/leaf", proof["head"]["leaf"].as_str().unwrap().replace("heads", "reads").into());
    change("no commitment", "/head", Value::Null);
    let note = proof["checkpoint"].as_str().unwrap();
    change(
        "no cosignature",
        "/checkpoint",
        note.split_inclusive('\n').filter(|line| !line.contains("w1")).collect::<String>().into(),
    );
    wrong
}

#[test]
fn witnessed_proof_is_verified_offline_by_both_verifiers() {
    let (service, witness) = witnessed();
    let position = record(&service, "apollo", "eagle");
    let proof = proof(&service, "apollo", position);
    let file = service.data().join("../apollo.json");
    let key = verifier_key("timenav.local/apollo", &service.public_key);
    let other = StubWitness::start("witness.test/w2", |_, _| None).option();
    let other = other.split_once('=').unwrap().0;
    let check = |command: &mut Command, arguments: &[&str], expected: i32| {
        ends(command.arg(&file).args(["--verifier-key", &key]).args(arguments), expected)
    };
    let rust = |arguments: &[&str], expected: i32| check(timenav().arg("verify"), arguments, expected);
    let python = |arguments: &[&str], expected: i32| {
        check(Command::new("python3").arg(examples().join("verify.py")), arguments, expected)
    };
    let write = |value: &Value| std::fs::write(&file, value.to_string()).unwrap();
    write(&proof);
    let output = rust(&["--witness", &witness.key], 0);
    assert!(output.contains("cosigned by `witness.test/w1` at 2"), "{output}");
    // All given witnesses must have cosigned, unless a quorum is given.
    rust(&["--witness", &witness.key, "--witness", other], 7);
    rust(&["--witness", &witness.key, "--witness", other, "--witness-quorum", "1"], 0);
    let output = rust(&[], 1);
    assert!(output.contains("--witness"), "{output}");
    let tries_python = has_python();
    if tries_python {
        let output = python(&["--witness", &witness.key], 0);
        assert!(output.contains("cosigned    by witness.test/w1 at 2"), "{output}");
        python(&["--witness", &witness.key, "--witness", other], 1);
    }
    for (what, changed) in wrong_ones(&proof, position) {
        println!("{what}");
        write(&changed);
        rust(&["--witness", &witness.key], 7);
        if tries_python {
            python(&["--witness", &witness.key], 1);
        }
    }
    service.audit();
}

/// docs/security.md: the attacker owns the disk and has restored all of it.
#[test]
fn rollback_of_whole_disk_is_detected_for_every_timeline() {
    let (mut service, witness) = witnessed();
    let old = record(&service, "apollo", "old");
    proof(&service, "apollo", old);
    assert!(service.stop().success());
    let backup = tempfile::tempdir().unwrap();
    copy(&service.data(), backup.path());
    service.start_again();
    // A change on one timeline only; `system` just records its head.
    let new = record(&service, "apollo", "new");
    proof(&service, "apollo", new);
    assert!(service.stop().success());
    copy(backup.path(), &service.data());
    // Database, checkpoints and cosignatures have the same age, so the service itself cannot detect it.
    service
        .errors_expected
        .extend(["the witness `witness.test/w1` does not cosign `system`: ", "nothing is written until"]);
    service.remembered.clear();
    service.start_again();
    wait_for_state(&service, "witness.test/w1", "rollback");
    check_stopped(&service, "rollback");
    assert!(service.log_text().lines().any(|line| line.contains("ERROR") && line.contains("rollback")));
    // A restart keeps the state, with or without the witness.
    assert!(service.stop().success());
    service.arguments(&[]);
    let log = refused_start(&service.data(), &[]);
    assert!(log.contains("were signed and kept outside"), "{log}");
    let found = ends(timenav().args(["verify", "--data"]).arg(service.data()), 7);
    assert!(found.contains("`system` does not match what was signed"), "{found}");
    let found = ends(timenav().args(["accept-rollback", "--data"]).arg(service.data()), 1);
    for (words, is_there) in
        [("timeline `system` has", true), ("give --by and --reason", true), ("starting although", false)]
    {
        assert_eq!(found.contains(words), is_there, "{words}: {found}");
    }
    // If it has grown beyond the cosigned size while no witness was asked, it is a fork.
    copy(backup.path(), &service.data());
    service.start_again();
    for number in 0..30 {
        service.post("/v1/users", &json!({ "user_id": format!("user-{number}") }));
    }
    with_witnesses(&mut service, &[&witness.option()]);
    wait_for_state(&service, "witness.test/w1", "fork");
    check_stopped(&service, "fork");
    assert!(witness.log_text().contains("does not continue the cosigned one"), "{}", witness.log_text());
    // It continues once an operator has accepted exactly that loss, and the witness's checkpoint stays valid.
    assert!(service.stop().success());
    let shown = cosigned_by(&witness);
    let mut accept = timenav();
    accept.args(["accept-rollback", "--by", "ada", "--reason", "a disk that was lost", "--data"]).arg(service.data());
    ends(accept.arg("--trusted-checkpoint").arg(shown), 0);
    service.start_again();
    wait_for_state(&service, "witness.test/w1", "fork");
    assert_eq!(is_ready(&service).0, 200, "{}", is_ready(&service).1);
    record(&service, "apollo", "newer");
    service.audit();
}

/// Checks that nothing is written or read any more, and that the evidence was stored.
fn check_stopped(service: &Service, kind: &str) {
    let code = format!("ledger_{kind}_detected");
    let code = code.as_str();
    let refused = service.send(Request::get("/readyz").anonymous()).refused(503, code);
    assert!(refused["detail"].as_str().unwrap().contains("timeline `system`"), "{refused:#}");
    service.send(Request::post("/v1/users").json(&json!({ "user_id": "late" }))).refused(503, code);
    service.send(Request::get("/v1/users")).refused(503, code);
    let diverged = std::fs::read_to_string(service.data().join("diverged.log")).unwrap();
    let last: Value = serde_json::from_str(diverged.lines().last().unwrap()).unwrap();
    assert_eq!((&last["timeline_id"], &last["kind"]), (&json!("system"), &json!(kind)));
    assert!(last["seen"]["checkpoint"].as_str().unwrap().contains("\n\u{2014} witness.test/w1 "), "{last:#}");
}

/// Returns the file of a witness with its only log.
pub(super) fn cosigned_by(witness: &Witness) -> PathBuf {
    let files = std::fs::read_dir(witness.data()).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "checkpoint")).expect("it has cosigned")
}

#[test]
fn faulty_witness_does_not_block_while_another_cosigns() {
    let mut service = Service::start();
    let witness = Witness::start(&[&system_key(&service)]);
    // A different size each time without evidence; a signature on something else; a wrong clock; no response.
    let liar = |name, answer: fn(&str) -> (u16, &'static str, String)| {
        StubWitness::start(name, move |_, (_, body)| Some(answer(body)))
    };
    let size = liar("liar.test/size", |_| (409, "text/x.tlog.size", "99999\n".to_owned()));
    let fork = liar("liar.test/fork", |_| (422, "text/plain", "no\n".to_owned()));
    let long = liar("liar.test/long", |_| (200, "text/plain", "x".repeat(1 << 20)));
    let text = |body: &str| {
        let note = body.split_once("\n\n").unwrap().1;
        note.split_once("\n\n").unwrap().0.to_owned() + "\n"
    };
    let else_ = StubWitness::start("liar.test/else", move |signer, (path, body)| {
        assert_eq!(path, "/prefix/add-checkpoint");
        Some((200, "text/plain", signer.line(&text(body).replace("system", "other"), 1_700_000_000)))
    });
    let late = StubWitness::start("liar.test/late", move |signer, (_, body)| {
        Some((200, "text/plain", signer.line(&text(body), 1_000_000_000)))
    });
    let silent = StubWitness::start("silent.test", |_, _| None);
    // The stand-ins share one key under different names. A service accepts each key once, so they are tested in
    // sequence.
    for (stub_witness, name, state) in [
        (&size, "liar.test/size", "rollback"),
        (&fork, "liar.test/fork", "fork"),
        (&long, "liar.test/long", "refusing"),
        (&else_, "liar.test/else", "refusing"),
        (&late, "liar.test/late", "refusing"),
    ] {
        with_witnesses(&mut service, &[&stub_witness.option(), &witness.option()]);
        wait_for_state(&service, name, state);
        wait_for_state(&service, "witness.test/w1", "cosigning");
        let position = record(&service, "main", &name.replace('/', "-"));
        let proof = proof(&service, "main", position);
        let note = proof["checkpoint"].as_str().unwrap();
        cosigned_at(note, &witness.key);
        assert!(!note.contains(name), "{note}");
        assert_eq!(is_ready(&service).0, 200, "one that shows nothing is not believed while another cosigns");
        assert!(stub_witness.requests_count() > 0);
    }
    with_witnesses(&mut service, &[&silent.option(), &witness.option()]);
    wait_for_some(&service, "a question", || (silent.requests_count() > 0).then_some(()));
    let position = record(&service, "main", "while-it-waits");
    proof(&service, "main", position);
    assert_eq!(is_ready(&service).0, 200);
    // A single such witness raises an alarm: nothing contradicts it.
    service
        .errors_expected
        .extend(["the witness `liar.test/size` does not cosign", "the witness `liar.test/fork` does not"]);
    with_witnesses(&mut service, &[&size.option()]);
    wait_for_some(&service, "503", || Some(is_ready(&service)).filter(|(status, _)| *status == 503));
    service.audit();
}
