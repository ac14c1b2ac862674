//! Two services on one database with one witness: one asks for both, and either continues without the other. Also the
//! output of `timenav upgrade`.

use std::net::SocketAddr;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::super::postgres::Cluster;
use super::{Replica, restart_both, send, two};
use crate::ledger::verifier_key;
use crate::ledger::witness::Witness;
use crate::ledger::witness::stub_witness::StubWitness;
use crate::support::http::Request;
use crate::support::service::{ends, timenav};
use crate::support::waiting::until;

/// Records an event on `main` and returns the cosigned checkpoints with which each service proves it.
fn proven(replica: SocketAddr, admin: &str, event_id: &str, services: &[SocketAddr]) -> Vec<String> {
    let event = json!({ "time": "2000-01-01T00:00:00Z", "event_id": event_id });
    let recorded = send(replica, &Request::post("/v1/events").json(&event).key(admin)).unwrap().json();
    let position = recorded["ledger"]["position"].as_u64().unwrap_or_else(|| panic!("{recorded:#}"));
    let path = format!("/timeline/main/proof?position={position}&witnessed=true");
    let prove = |address: &SocketAddr| {
        let proof = until("a proof that a witness vouches for", || {
            let answer = send(*address, &Request::get(&path).key(admin)).unwrap();
            (answer.status == 200).then(|| answer.json())
        });
        proof["checkpoint"].as_str().unwrap().to_owned()
    };
    services.iter().map(prove).collect()
}

/// If responses require cosignatures, they do so at each service, whichever asks the witness, and for repetitions at
/// another service too.
#[test]
fn responses_of_each_replica_wait_for_cosignatures() {
    let cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    let mut witness = Witness::start(&[&verifier_key("timenav.local/system", &first.public_key)]);
    let option = witness.option();
    let waits = ["--witness-quorum", "1", "--witness-timeout-secs", "6", "--witness-interval-secs", "86400"];
    let arguments = [&["--store", &cluster.url, "--replicas", "--witness", &option][..], &waits].concat();
    restart_both(&mut first, &mut second, &arguments);
    let both = [first.address(), second.process.address];
    let record = |address: SocketAddr, event_id: &str| {
        let event = json!({ "time": "2000-01-01T00:00:00Z", "event_id": event_id });
        send(address, &Request::post("/v1/events").json(&event).idempotent(event_id).key(&second.admin)).unwrap()
    };
    // One of them asks the witness regularly, the other one on demand: every response is cosigned at either.
    for (number, address) in both.into_iter().cycle().take(4).enumerate() {
        let recorded = record(address, &format!("vouched-{number}")).expect(201);
        let path = format!("/timeline/main/proof?position={}&witnessed=true", recorded["ledger"]["position"]);
        for services in both {
            let proof = send(services, &Request::get(&path).key(&second.admin)).unwrap().expect(200);
            assert!(proof["checkpoint"].as_str().unwrap().contains("\n— witness.test/w1 "), "{proof:#}");
        }
    }
    // Killed services are listed for a few seconds.
    let status = until("two services that run", || {
        let status = upgrade(&cluster, &[]);
        let running = status["services"].as_array().unwrap().iter().filter(|one| one["state"] == "running");
        let versions: Vec<&Value> = running.map(|one| &one["version"]).collect();
        (versions == [env!("CARGO_PKG_VERSION"); 2]).then_some(status)
    });
    assert_eq!((&status["feature_level"], &status["raised"]), (&status["known_level"], &json!(false)), "{status:#}");
    let status = upgrade(&cluster, &["--finish"]);
    assert!(status["status"].as_str().unwrap().starts_with("Nothing to finish"), "{status:#}");
    witness.kill();
    for (writes, repeats) in [(0, 1), (1, 0)] {
        let event_id = format!("alone-{writes}");
        record(both[writes], &event_id).refused(503, "outcome_unknown");
        record(both[repeats], &event_id).refused(503, "outcome_unknown");
    }
    witness.start_again();
    for (writes, repeats) in [(0, 1), (1, 0)] {
        let event_id = format!("alone-{writes}");
        let repeated = until("an answer that the witness vouches for", || {
            let answer = record(both[repeats], &event_id);
            (answer.status != 503).then(|| answer.json())
        });
        let position = &repeated["ledger"]["position"];
        assert!(position.is_u64(), "{repeated:#}");
        assert_eq!(*position, record(both[writes], &event_id).json()["ledger"]["position"]);
    }
    drop(second);
    first.audit();
}

/// Returns the output of `timenav upgrade`.
fn upgrade(cluster: &Cluster, more: &[&str]) -> Value {
    let stdout = ends(timenav().args(["upgrade", "--json", "--store", &cluster.url]).args(more), 0);
    serde_json::from_str(&stdout).unwrap()
}

/// Returns a cosigned checkpoint of `main` over at least `size_min` entries.
fn cosigned_main(replica: SocketAddr, admin: &str, size_min: u64) -> String {
    until("a checkpoint that the witness has cosigned", || {
        let request = Request::get("/timeline/main/checkpoint").header("Accept", "text/plain").key(admin);
        let note = send(replica, &request).unwrap().text();
        let size: u64 = note.lines().nth(1)?.parse().ok()?;
        (size >= size_min && note.contains("\n— witness.test/w1 ")).then_some(note)
    })
}

/// A timeline with individual cosignatures is shown to the witness by each service.
#[test]
fn each_replica_submits_named_timeline_to_the_witness() {
    let cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    let keys = ["system", "main"].map(|log| verifier_key(&format!("timenav.local/{log}"), &first.public_key));
    let witness = Witness::start(&keys.each_ref().map(String::as_str));
    let option = witness.option();
    let named = ["--witness-interval-secs", "1", "--witness-timeline", "main"];
    let arguments = [&["--store", &cluster.url, "--replicas", "--witness", &option][..], &named].concat();
    restart_both(&mut first, &mut second, &arguments);
    let both = [first.address(), second.process.address];
    let record = |replica: SocketAddr, event_id: &str| {
        let event = json!({ "time": "2000-01-01T00:00:00Z", "event_id": event_id });
        let recorded = send(replica, &Request::post("/v1/events").json(&event).key(&second.admin)).unwrap().expect(201);
        recorded["ledger"]["position"].as_u64().unwrap() + 1
    };
    for (number, replica) in both.into_iter().enumerate() {
        let size = record(replica, &format!("both-{number}"));
        for services in both {
            cosigned_main(services, &second.admin, size);
        }
    }
    first.kill();
    let size = record(both[1], "without-the-first");
    cosigned_main(both[1], &second.admin, size);
    first.start_again();
    cosigned_main(first.address(), &second.admin, size);
    drop(second);
    first.audit();
}

/// A new replica uses the cosigned checkpoints of witnesses, and ignores a history that the service never signed.
#[test]
fn joining_replica_compares_with_cosigned_checkpoints_that_are_signed() {
    let cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    let liar = StubWitness::start("witness.test/liar", |signer, (path, _)| {
        if !path.ends_with("/checkpoint") {
            return Some((404, "text/plain", String::new()));
        }
        let text = format!("timenav.local/system\n1000000\n{}\n", BASE64.encode(&[7; 32]));
        let forged = BASE64.encode(&[7; 4 + 64]);
        let note = format!("{text}\n— timenav.local/system {forged}\n{}", signer.line(&text, 1_800_000_000));
        Some((200, "text/plain; charset=utf-8", note))
    });
    let witness = Witness::start(&[&verifier_key("timenav.local/system", &first.public_key)]);
    let with = |witness: &str, interval: &str| {
        ["--store", &cluster.url, "--replicas", "--witness", witness, "--witness-interval-secs", interval]
            .map(str::to_owned)
    };
    let mut join = |arguments: [String; 7]| {
        second.process.end();
        std::fs::remove_file(second.folder.path().join("data/checkpoints.log")).unwrap();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["--join"]).collect();
        second.process = Replica::start(second.folder.path(), &arguments);
        send(second.process.address, &Request::get("/readyz").anonymous()).unwrap().expect(200)
    };
    join(with(&liar.option(), "86400"));
    assert!(liar.requests_count() > 0, "nobody asked the witness");
    let arguments = with(&witness.option(), "1");
    assert!(first.stop().success());
    first.arguments(&arguments.each_ref().map(String::as_str));
    first.start_again();
    proven(first.address(), &first.admin, "cosigned", &[first.address()]);
    let ready = join(arguments);
    assert_eq!(ready["status"], "The service is ready.", "{ready:#}");
    let log = std::fs::read_to_string(second.folder.path().join("log")).unwrap();
    assert!(log.contains("this service has not signed it"), "{log}");
    drop(second);
    first.audit();
}
