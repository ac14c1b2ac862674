//! `examples/verify.py`, a verifier written from `docs/specs/ledger.md` alone, on an intact ledger, one edited in the
//! database, and one that has grown.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ledger;
use crate::support::http::Request;
use crate::support::service::{Service, ends, run, succeeds, timenav};

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

/// Runs the script on `main`. Returns its output.
#[track_caller]
fn verify(service: &Service, api_key: &str, arguments: &[&str], expected: i32) -> String {
    verify_at(&service.url(), "main", api_key, arguments, expected)
}

/// Runs the script on a timeline of a service. Returns its output.
#[track_caller]
pub(crate) fn verify_at(url: &str, timeline: &str, api_key: &str, arguments: &[&str], expected: i32) -> String {
    let mut command = Command::new("python3");
    command.arg(examples().join("verify.py")).args([url, timeline]).args(arguments);
    ends(command.env("TIMENAV_API_KEY", api_key).env("no_proxy", "*"), expected)
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

    let text = verify(&service, &service.admin, &["--verifier-key", &key, "--save", stored], 0);
    assert!(text.ends_with("main verifies.\n"), "{text}");

    let since = ["--verifier-key", &key, "--checkpoint", stored];
    let grown = |service: &Service| {
        let text = verify(service, &service.admin, &since, 0);
        assert!(text.contains("\nsaved       the first "), "{text}");
    };
    grown(&service);

    for (position, named) in EDITS {
        replace_in_entry(&mut service, position, "\"actor\":\"admin\"", "\"actor\":\"bdmin\"");
        let text = verify(&service, &service.admin, &since, 1);
        assert!(text.contains(named), "{text}");
        assert!(text.contains("are not those of the saved checkpoint\n"), "{text}");
        replace_in_entry(&mut service, position, "\"actor\":\"bdmin\"", "\"actor\":\"admin\"");
        grown(&service);
    }

    // Nothing could be verified, which differs from a failed verification.
    verify(&service, "tn_not_a_key", &since, 2);
    // Without an independent key, it explains what the result proves.
    let text = verify(&service, &service.admin, &[], 0);
    assert!(text.contains("That pins nothing"), "{text}");
    verify(&service, &service.admin, &["--self-test"], 0);
    service.audit();
}

/// Runs the script with each list of arguments in one process, because a start takes longer than most checks.
const CALLS: &str = r#"
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import verify
for arguments in json.load(sys.stdin):
    sys.argv = ["verify.py", *arguments]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = verify.main()
        except SystemExit as end:
            code = end.code
    print(json.dumps([code or 0, output.getvalue()]))
"#;

/// Calls of the script without a service, with their expected exit codes and output.
#[derive(Default)]
pub(crate) struct ScriptCalls {
    arguments: Vec<Vec<String>>,
    expected: Vec<(i64, String)>,
}

impl ScriptCalls {
    pub(crate) fn expect(&mut self, code: i64, words: &str, arguments: &[&str]) {
        self.arguments.push(arguments.iter().map(|&argument| argument.to_owned()).collect());
        self.expected.push((code, words.to_owned()));
    }

    /// Runs the script and compares the results.
    pub(crate) fn check(self) {
        let mut command = Command::new("python3");
        command.args(["-B", "-c", CALLS]).arg(examples()).env_remove("TIMENAV_API_KEY");
        let (code, stdout, stderr) = run(&mut command, &serde_json::json!(self.arguments).to_string());
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        let results: Vec<(i64, String)> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(results.len(), self.expected.len());
        for ((arguments, (expected, words)), (code, output)) in self.arguments.iter().zip(self.expected).zip(results) {
            assert_eq!(code, expected, "{arguments:?}: {output}");
            assert!(output.contains(&words), "{arguments:?}: no {words:?} in {output}");
            // Output and exit code agree.
            assert_eq!(output.ends_with(" verifies.\n"), code == 0, "{output}");
        }
    }
}

/// Runs the program on a proof file, without a service. Returns its output.
#[track_caller]
fn verify_file(file: &str, key: &str, more: &[&str], expected: i32) -> String {
    ends(timenav().args(["verify", file, "--verifier-key", key]).args(more), expected)
}

/// The program verifies a proof with its entry, and reports what is missing without it.
fn check_by_program(saved: &str, bare: &str, key: &str) {
    let text = verify_file(saved, key, &[], 0);
    assert!(text.starts_with("Entry 5 of `timenav.local/main` is in a tree that the key has signed.\n"), "{text}");
    let report: serde_json::Value = serde_json::from_str(&verify_file(saved, key, &["--json"], 0)).unwrap();
    assert_eq!((&report["verifies"], &report["position"]), (&true.into(), &5.into()), "{report:#}");
    let text = verify_file(bare, key, &[], 7);
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
        let mut command = timenav();
        command.args(["proof", "--position", "5", "--url", &service.url()]).args(more);
        succeeds(command.env("TIMENAV_API_KEY", &service.admin))
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
    let mut calls = ScriptCalls::default();
    for arguments in [&["--proof", &saved][..], &["--proof", &bare, "--entry", &entry]] {
        let arguments = [arguments, &["--verifier-key", &key]].concat();
        calls.expect(0, "entry 5 of timenav.local/main verifies.\n", &arguments);
        calls.expect(0, "\"seq\":5,", &arguments);
    }
    // Any change of the entry, its position, a hash or the note is detected.
    let edited = String::from_utf8(leaf).unwrap().replace("\"actor\":\"admin\"", "\"actor\":\"bdmin\"");
    let edited_entry = named("edited.json");
    std::fs::write(&edited_entry, edited).unwrap();
    let hash = text.lines().nth(3).unwrap();
    for (number, changed) in [
        text.replace("index 5\n", "index 6\n"),
        text.replace(&format!("{hash}\n"), ""),
        text.replace("@v1", "@v2"),
        text.replace("\n\n", "\n"),
        text.replace("/main\n", "/demo\n"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_ne!(changed, text);
        let wrong = named(&format!("wrong-{number}.tlog-proof"));
        std::fs::write(&wrong, changed).unwrap();
        calls.expect(1, "WRONG", &["--proof", &wrong, "--verifier-key", &key]);
        calls.expect(1, "does NOT verify.\n", &["--proof", &wrong, "--verifier-key", &key]);
        let text = verify_file(&wrong, &key, &[], 7);
        assert!(text.starts_with("The proof does not verify with the key of `timenav.local/main`.\n"), "{text}");
    }
    let other_key = ledger::verifier_key("timenav.local/demo", &service.public_key);
    verify_file(&saved, &other_key, &[], 7);
    calls.expect(1, "", &["--proof", &saved, "--entry", &edited_entry, "--verifier-key", &key]);
    calls.expect(1, "", &["--proof", &saved, "--entry", &saved, "--verifier-key", &key]);
    calls.expect(1, "", &["--proof", &saved, "--proof", &saved, "--verifier-key", &other_key]);
    // Without a key there is nothing to verify it with.
    calls.expect(2, "", &["--proof", &saved]);
    calls.expect(2, "", &["--proof", &named("nowhere"), "--verifier-key", &key]);
    calls.check();
    service.start_again();
    service.audit();
}
