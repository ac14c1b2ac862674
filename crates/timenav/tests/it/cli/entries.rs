//! `timenav entries`, and `timenav verify --contents`, which compares entry contents with their signatures.

use serde_json::{Value, json};

use super::{answered, done};
use crate::support::http::Request;
use crate::support::service::{Service, ends, timenav};

#[test]
fn entries_command_lists_entry_contents() {
    let service = Service::start();
    service
        .post("/v1/events", &json!({ "event_id": "eagle", "time": "1969-07-20T20:17:40Z", "name": "The \"Eagle\"" }));
    let text = done(&service, "entries --from 2 --limit 1");
    let [headings, entry, status] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    let headings: Vec<&str> = headings.split("  ").map(str::trim).filter(|heading| !heading.is_empty()).collect();
    assert_eq!(headings, ["POSITION", "RECORDED AT", "USER", "ACTION", "SUBJECT", "SAYS"]);
    assert!(
        entry.starts_with("2  ") && entry.contains("  admin  record_event  eagle    {\"event_id\":\"eagle\","),
        "{text}"
    );
    assert!(status.starts_with("Entry 2 of "), "{text}");
    let answer = answered(&service, "entries --from 2 --limit 1 --timeline main");
    assert_eq!(answer["entries"][0]["contents"], "visible");
    assert_eq!(answer["next"], 3);
    service.audit();
}

/// Runs `timenav verify` through the service with the public signing key. Returns its output.
#[track_caller]
fn verify(service: &Service, key: &str, more: &[&str], expected: i32) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    let request = Request::get("/timeline/main/checkpoint").header("Accept", "application/json");
    let answer = service.send(request).expect(200);
    std::fs::write(file.path(), answer["verifier_key"].as_str().unwrap()).unwrap();
    let mut command = timenav();
    command.args(["verify", "--url", &service.url(), "--depth", "quick", "--key", file.path().to_str().unwrap()]);
    ends(command.args(more).env("TIMENAV_API_KEY", key), expected)
}

#[test]
fn verify_contents_detects_modified_payloads() {
    let mut service = Service::start();
    let event = |number: u32| json!({ "event_id": format!("event-{number}"), "time": "2000-01-01T00:00:00Z" });
    service.post("/v1/events", &(0..1_000).map(event).collect::<Vec<Value>>().into());
    service.post("/v1/erase-data", &json!({ "event_id": "event-7" }));
    let reader = service.user("reader");
    let lists = json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } });
    service.post("/v1/set-access-control", &lists);

    let output = verify(&service, &service.admin, &["--contents"], 0);
    assert!(output.contains(" payloads from the service") && !output.contains("cannot read"), "{output}");
    assert!(output.contains("\n  not checked: Payloads that were erased: 1.\n"), "{output}");
    let output = verify(&service, &reader, &["--contents"], 0);
    assert!(output.contains("\n  not checked: Payloads your API key cannot read: 2 detect_tampering, "), "{output}");

    let on = "instr(CAST(leaf AS TEXT), '\"event-9\"') AND instr(CAST(leaf AS TEXT), ?1)";
    let edit = |from: &str, to: &str| {
        format!(
            "UPDATE entries SET payload = CAST(replace(CAST(payload AS TEXT), '{from}', '{to}') AS BLOB) WHERE {on}"
        )
    };
    let salt = |salt: &str| format!("UPDATE entries SET salt = {salt} WHERE {on}");
    let erase = format!("UPDATE entries SET salt = x'', payload = x'' WHERE {on}");
    assert!(service.stop().success());
    let path = service.data().join("timenav.db");
    let database = || rusqlite::Connection::open(&path).unwrap();
    let is_it = "instr(CAST(leaf AS TEXT), '\"event-9\"')";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?));
    let select = format!("SELECT salt, payload FROM entries WHERE {is_it}");
    let original: (Vec<u8>, Vec<u8>) = database().query_row(&select, [], row).unwrap();
    for (statement, named) in [
        (edit("2000", "2001"), "payload-mismatch at 11: the payload hashes to "),
        (salt("zeroblob(16)"), "payload-mismatch at 11: the payload hashes to "),
        (salt("x'00'"), "payload-mismatch at 11: the salt has 1 bytes instead of 16"),
        (erase, "payload-mismatch at 11: salt and payload are missing, but no entry erased or pruned them"),
    ] {
        service.tamper(&statement, "record_event");
        service.start_again();
        // A quick scan only checks the end.
        verify(&service, &service.admin, &[], 0);
        let output = verify(&service, &service.admin, &["--contents"], 7);
        assert!(output.contains(named), "{output}");
        assert!(service.stop().success());
        let update = format!("UPDATE entries SET salt = ?1, payload = ?2 WHERE {is_it}");
        assert_eq!(database().execute(&update, (&original.0, &original.1)).unwrap(), 1);
    }
    service.start_again();
    verify(&service, &service.admin, &["--contents"], 0);
    service.audit();
}
