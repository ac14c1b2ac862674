//! `GET /timeline/{timeline_id}/checkpoint` and `/proof`.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use data_encoding::BASE64;
use serde_json::json;

use super::hex;
use crate::ledger;
use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members};

#[test]
fn checkpoint_is_a_note_unless_json_is_requested() {
    let service = Service::start();
    let note = service.send(Request::get("/v1/timeline/main/checkpoint"));
    assert_eq!(note.header("content-type"), Some("text/plain; charset=utf-8"));
    let note = ledger::verified(&note.text(), &service.public_key);
    assert_eq!(note.origin, "timenav.local/main");
    for request in [
        Request::get("/v1/timeline/main/checkpoint").header("Accept", "application/json"),
        Request::get("/v1/timeline/main/checkpoint").json(&json!({})),
        Request::new("QUERY", "/v1/timeline/main/checkpoint").json(&json!({})),
    ] {
        let body = service.send(request).expect(200);
        let wrapped = ledger::verified(body["checkpoint"].as_str().unwrap(), &service.public_key);
        assert!(wrapped.size > note.size, "the read before is an entry");
        assert_eq!(body["verifier_key"], ledger::verifier_key("timenav.local/main", &service.public_key));
    }
    service.audit();
}

#[test]
fn head_statement_is_signed_and_extends_the_tree() {
    let service = Service::start();
    for timeline in ["main", "system"] {
        let path = format!("/v1/timeline/{timeline}/head");
        let answer = service.send(Request::get(&path));
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        let (text, root) = stated(&answer.text(), &service, timeline);
        let size: u64 = text[2].parse().unwrap();
        service.continues(timeline, size, &root);
        let body = service.send(Request::get(&path).header("Accept", "application/json")).expect(200);
        let (wrapped, root) = stated(body["head_statement"].as_str().unwrap(), &service, timeline);
        assert!(wrapped[2].parse::<u64>().unwrap() > size, "the read before is an entry");
        assert_eq!(body["size"].to_string(), wrapped[2]);
        assert_eq!(body["root"], hex(&root));
        let name = format!("timenav.local/{timeline}");
        assert_eq!(body["verifier_key"], ledger::verifier_key(&name, &service.public_key));
    }
    service.audit();
}

/// Returns the lines and the root of a head statement after verifying its signature.
fn stated(text: &str, service: &Service, timeline: &str) -> (Vec<String>, ledger::Hash) {
    let (text, signature) = text.strip_suffix('\n').unwrap().split_once("\n\n").unwrap();
    let signature = BASE64.decode(signature.as_bytes()).unwrap();
    let key = UnparsedPublicKey::new(&ED25519, &service.public_key);
    key.verify(format!("{text}\n").as_bytes(), &signature).expect("the signature is right");
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    assert_eq!(lines[..2], ["timenav-head/v1".to_owned(), format!("timenav.local/{timeline}")]);
    assert_eq!((lines.len(), lines[5].as_str()), (6, "-"));
    let root = BASE64.decode(lines[3].as_bytes()).unwrap().try_into().unwrap();
    (lines, root)
}

#[test]
fn invalid_proof_requests_are_rejected() {
    let service = Service::start();
    let size = service.checkpoint("main").size;
    let ask = |query: &str| service.send(Request::get(&format!("/timeline/main/proof{query}")));
    ask("").refused(400, "missing_parameter");
    ask("?position=0&from=1").refused(400, "conflicting_parameters");
    let beyond = (size + 1_000).to_string();
    assert_invalid(ask("?position=18446744073709551615"), "#/position");
    for wrong in ["-1", "18446744073709551616", &beyond] {
        for name in ["position", "from"] {
            assert_invalid(ask(&format!("?{name}={wrong}")), &format!("#/{name}"));
        }
    }
    snapshot::check("proof-refused", &ask("?position=1000000"));
    let empty = ask("?from=0").expect(200);
    assert_eq!((&empty["hashes"], &empty["from_root"]), (&json!([]), &json!(hex(&ledger::sha256(&[])))));
    service.audit();
}

#[test]
fn entry_proof_is_available_as_tlog_file() {
    let service = Service::start();
    for number in 0..20 {
        service.post("/v1/events", &json!({ "time": "2001-01-01T00:00:00Z", "event_id": number.to_string() }));
    }
    let by_format = Request::get("/v1/timeline/main/proof?position=7&format=tlog-proof");
    for request in [
        by_format.clone(),
        by_format.header("Accept", "application/json"),
        Request::get("/v1/timeline/main/proof?position=7").header("Accept", "text/plain"),
        Request::new("QUERY", "/v1/timeline/main/proof").json(&json!({ "position": 7, "format": "tlog-proof" })),
    ] {
        let answer = service.send(request);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
        let (index, leaf, hashes, note) = ledger::proof_file(&answer.text());
        let checkpoint = ledger::verified(&note, &service.public_key);
        assert_eq!((index, checkpoint.origin.as_str()), (7, "timenav.local/main"));
        assert!(ledger::includes(&ledger::leaf_hash(&leaf), 7, checkpoint.size, &hashes, &checkpoint.root));
        let (entry, _) = service.entry("main", 7);
        assert_eq!(ledger::entry(std::str::from_utf8(&leaf).unwrap()), entry);
    }
    let plainly = Request::get("/v1/timeline/main/proof?position=7");
    for request in [
        plainly.clone(),
        plainly.clone().header("Accept", "*/*"),
        plainly.header("Accept", "application/json, text/plain"),
    ] {
        assert_eq!(service.send(request).expect(200)["kind"], "inclusion");
    }
    let json = Request::get("/v1/timeline/main/proof?position=7&format=json").header("Accept", "text/plain");
    assert_eq!(service.send(json).expect(200)["kind"], "inclusion");
    // There is no such file format for consistency proofs.
    let from = Request::get("/v1/timeline/main/proof?from=1").header("Accept", "text/plain");
    assert_eq!(service.send(from).expect(200)["kind"], "consistency");
    for query in [
        "from=1&format=tlog-proof",
        "from=1&format=xml",
        "position=1&format=tlog-proof&witnessed=true",
        "position=1&format=cose",
        "position=1&format=xml",
        "position=1&format=",
    ] {
        assert_invalid(service.send(Request::get(&format!("/v1/timeline/main/proof?{query}"))), "#/format");
    }
    service.audit();
}

/// A read is durable before its response, so the tree in the response includes it.
#[test]
fn reads_are_recorded_as_entries() {
    let service = Service::with(&["--log-clock-reads"]);
    let first = service.checkpoint("main").size;
    service.post("/v1/users", &json!({ "user_id": "second", "operator": true }));
    let key = service.key(&json!({ "user_id": "second" }));
    let reads = [
        ("clock", Request::get("/v1/clock")),
        ("monitor_events", Request::get("/v1/monitor-events?location=*&time_range=../..")),
        ("anchors", Request::get("/v1/anchors")),
        ("timeline", Request::get("/timeline/main")),
        ("proof", Request::get("/timeline/main/proof?position=0")),
        ("checkpoint", Request::get("/timeline/main/checkpoint")),
    ];
    for (position, (operation, request)) in (first..).zip(reads) {
        let answer = service.send(request.key(&key));
        assert_eq!(answer.status, 200, "{operation}: {answer}");
        if operation == "proof" {
            assert_eq!(answer.json()["size"], position + 1);
        }
    }
    for (position, operation) in
        (first..).zip(["clock", "monitor_events", "anchors", "timeline", "proof", "checkpoint"])
    {
        assert_members(&service.entry("main", position).0, &json!({ "action": "reads", "actor": "", "subject": "" }));
        assert_eq!(service.reads_at("main", position), [("second".to_owned(), operation.to_owned())]);
    }
    service.audit();
}
