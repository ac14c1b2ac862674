//! `examples/verify.py`, a verifier written from `docs/specs/ledger.md` alone, on an intact ledger, one edited in the
//! database, and one that has grown.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ledger;
use crate::support::http::Request;
use crate::support::service::{self, Service};

mod contents;
mod erased;
mod version_2;

pub(crate) use contents::prune_some_reads;

/// Edited positions, and the expected report. Only one ledger is that long.
///
/// A full tile contradicts the edited entry. The partial tile at the end is computed from it, so only the root differs,
/// which does not identify the entry.
const EDITS: [(u64, &str); 2] = [(200, "\nWRONG       entry 200: its hash is "), (300, "\nWRONG       entries 0 to ")];

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns whether a suitable Python is installed; prints a message if not.
pub(crate) fn has_python() -> bool {
    let is_new_enough = "import sys; sys.exit(sys.version_info < (3, 9))";
    let found = Command::new("python3").args(["-c", is_new_enough]).status().is_ok_and(|status| status.success());
    if !found {
        println!("skipped: this needs python3, 3.9 or later");
    }
    found
}

/// Runs the script on `main`. Returns its exit code and output.
fn verify(service: &Service, api_key: &str, arguments: &[&str]) -> (Option<i32>, String) {
    verify_at(&service.url(), "main", api_key, arguments)
}

/// Runs the script on a timeline of a service.
pub(crate) fn verify_at(url: &str, timeline: &str, api_key: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("python3");
    command.arg(examples().join("verify.py")).args([url, timeline]).args(arguments);
    command.env("TIMENAV_API_KEY", api_key).env("no_proxy", "*");
    let (code, stdout, stderr) = service::run(&mut command, "");
    (code, format!("{stdout}{stderr}"))
}

/// Edits an entry while the service is stopped.
fn replace_in_entry(service: &mut Service, position: u64, old: &str, new: &str) {
    assert!(service.stop().success());
    let statement = format!(
        "UPDATE entries SET leaf = CAST(replace(CAST(leaf AS TEXT), '{old}', '{new}') AS BLOB) \
         WHERE instr(CAST(leaf AS TEXT), ?1)"
    );
    service.tamper(&statement, &format!("\"seq\":{position},"));
    service.start_again();
}

#[test]
fn independent_script_verifies_a_ledger() {
    if !has_python() {
        return;
    }
    let mut service = Service::start();
    let history = std::fs::read(examples().join("demo-history.ndjson")).unwrap();
    service.send(Request::post("/v1/import-events").body("application/x-ndjson", &history)).expect(200);
    let key = ledger::verifier_key("timenav.local/main", &service.public_key);
    let stored = service.data().join("main.checkpoint");
    let stored = stored.to_str().unwrap();

    let (code, text) = verify(&service, &service.admin, &["--verifier-key", &key, "--save", stored]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("main verifies.\n"), "{text}");

    let since = ["--verifier-key", &key, "--checkpoint", stored];
    let grown = |service: &Service| {
        let (code, text) = verify(service, &service.admin, &since);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("\nsaved       the first "), "{text}");
    };
    grown(&service);

    for (position, named) in EDITS {
        replace_in_entry(&mut service, position, "\"actor\":\"admin\"", "\"actor\":\"bdmin\"");
        let (code, text) = verify(&service, &service.admin, &since);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(named), "{text}");
        assert!(text.contains("are not those of the saved checkpoint\n"), "{text}");
        replace_in_entry(&mut service, position, "\"actor\":\"bdmin\"", "\"actor\":\"admin\"");
        grown(&service);
    }

    // Nothing could be verified, which differs from a failed verification.
    let (code, text) = verify(&service, "tn_not_a_key", &since);
    assert_eq!(code, Some(2), "{text}");
    // Without an independent key, it explains what the result proves.
    let (code, text) = verify(&service, &service.admin, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("That pins nothing"), "{text}");
    let (code, text) = verify(&service, &service.admin, &["--self-test"]);
    assert_eq!(code, Some(0), "{text}");
    service.audit();
}

/// Runs the script on a proof file, without a service. Returns its exit code and output.
fn verify_proof(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("python3");
    command.arg(examples().join("verify.py")).args(arguments).env_remove("TIMENAV_API_KEY");
    let (code, stdout, stderr) = service::run(&mut command, "");
    (code, format!("{stdout}{stderr}"))
}

/// Runs the program on a proof file, without a service. Returns its exit code and output.
fn verify_file(file: &str, key: &str, more: &[&str]) -> (Option<i32>, String) {
    let mut command = service::timenav();
    let (code, stdout, stderr) = service::run(command.args(["verify", file, "--verifier-key", key]).args(more), "");
    (code, format!("{stdout}{stderr}"))
}

/// The program verifies a proof with its entry, and reports what is missing without it.
fn check_by_program(saved: &str, bare: &str, key: &str) {
    let (code, text) = verify_file(saved, key, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("Entry 5 of `timenav.local/main` is in a tree that the key has signed.\n"), "{text}");
    let (code, text) = verify_file(saved, key, &["--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["verifies"], &report["position"]), (Some(0), &true.into(), &5.into()), "{report:#}");
    let (code, text) = verify_file(bare, key, &[]);
    assert_eq!(code, Some(7), "{text}");
    assert!(text.contains("there is no entry in it"), "{text}");
}

#[test]
fn entry_proof_is_verified_offline_by_program_and_script() {
    if !has_python() {
        return;
    }
    let mut service = Service::start();
    for number in 0..9 {
        let event = serde_json::json!({ "time": "2001-01-01T00:00:00Z", "description": format!("number {number}") });
        service.post("/v1/events", &event);
    }
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (saved, bare, entry) = (named("5.tlog-proof"), named("bare.tlog-proof"), named("entry.json"));
    let prove = |more: &[&str]| {
        let mut command = service::timenav();
        command.args(["proof", "--position", "5", "--url", &service.url()]).args(more);
        let (code, stdout, stderr) = service::run(command.env("TIMENAV_API_KEY", &service.admin), "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        stdout
    };
    let printed = prove(&[]);
    assert_eq!(prove(&["--save", &saved]) + &prove(&["--json", "--save", &named("5.json")]), "");
    assert!(std::fs::read_to_string(named("5.json")).unwrap().contains("\"kind\": \"inclusion\""));
    assert!(service.stop().success());

    let text = std::fs::read_to_string(&saved).unwrap();
    assert_eq!(ledger::proof_file(&text).1, ledger::proof_file(&printed).1);
    let (_, leaf, ..) = ledger::proof_file(&text);
    let without_extra: String = text.split_inclusive('\n').filter(|line| !line.starts_with("extra ")).collect();
    std::fs::write(&bare, without_extra).unwrap();
    std::fs::write(&entry, &leaf).unwrap();
    let key = ledger::verifier_key("timenav.local/main", &service.public_key);
    check_by_program(&saved, &bare, &key);
    for arguments in [&["--proof", &saved][..], &["--proof", &bare, "--entry", &entry]] {
        let (code, text) = verify_proof(&[arguments, &["--verifier-key", &key]].concat());
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("\"seq\":5,") && text.ends_with("entry 5 of timenav.local/main verifies.\n"), "{text}");
    }

    // Any change of the entry, its position, a hash or the note is detected.
    let edited = String::from_utf8(leaf).unwrap().replace("\"actor\":\"admin\"", "\"actor\":\"bdmin\"");
    std::fs::write(&entry, edited).unwrap();
    let hash = text.lines().nth(3).unwrap();
    let wrong = named("wrong.tlog-proof");
    for changed in [
        text.replace("index 5\n", "index 6\n"),
        text.replace(&format!("{hash}\n"), ""),
        text.replace("@v1", "@v2"),
        text.replace("\n\n", "\n"),
        text.replace("/main\n", "/demo\n"),
    ] {
        assert_ne!(changed, text);
        std::fs::write(&wrong, changed).unwrap();
        let (code, text) = verify_proof(&["--proof", &wrong, "--verifier-key", &key]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("WRONG") && text.ends_with("does NOT verify.\n"), "{text}");
        let (code, text) = verify_file(&wrong, &key, &[]);
        assert_eq!(code, Some(7), "{text}");
        assert!(text.starts_with("The proof does not verify with the key of `timenav.local/main`.\n"), "{text}");
    }
    let other_key = ledger::verifier_key("timenav.local/demo", &service.public_key);
    assert_eq!(verify_file(&saved, &other_key, &[]).0, Some(7));
    for arguments in [
        ["--proof", &saved, "--entry", &entry, "--verifier-key", &key],
        ["--proof", &saved, "--entry", &saved, "--verifier-key", &key],
        ["--proof", &saved, "--proof", &saved, "--verifier-key", &other_key],
    ] {
        let (code, text) = verify_proof(&arguments);
        assert_eq!(code, Some(1), "{text}");
    }
    // Without a key there is nothing to verify it with.
    assert_eq!(verify_proof(&["--proof", &saved]).0, Some(2));
    assert_eq!(verify_proof(&["--proof", &named("nowhere"), "--verifier-key", &key]).0, Some(2));
    service.start_again();
    service.audit();
}
