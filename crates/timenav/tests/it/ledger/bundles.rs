//! Bundles, exported by the command line and verified by two programs that share no code.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ledger;
use crate::ledger::verifier::{ScriptCalls, examples, has_python};
use crate::support::http::{Request, target};
use crate::support::service::{Service, ends, fails, memory_kib, run, timenav};

/// Maximum memory growth of the service while it writes a bundle of 100 000 entries, in KiB.
const GROWTH_KIB_MAX: u64 = 48 * 1_024;
/// Maximum memory of a verifier for that bundle, in KiB: an interpreter, or a program of this size, and a line.
const CHECK_KIB_MAX: u64 = 96 * 1_024;
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// A folder of bundles.
pub(crate) struct Away {
    folder: TempDir,
}

impl Away {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exports a timeline. Returns the exit code and stderr.
    fn try_export(&self, service: &Service, timeline: &str, name: &str, key: &str) -> (Option<i32>, String) {
        let mut command = timenav();
        command.args(["timeline", "export", "--timeline", timeline, "--url", &service.url(), "--bundle"]);
        let (code, stdout, stderr) = run(command.arg(self.path(name)).env("TIMENAV_API_KEY", key), "");
        assert_eq!(stdout, "");
        (code, stderr)
    }

    /// Exports a timeline and returns its lines.
    pub(crate) fn export(&self, service: &Service, timeline: &str, name: &str) -> Vec<Value> {
        let (code, output) = self.try_export(service, timeline, name, &service.admin);
        assert_eq!(code, Some(0), "{output}");
        let hint = format!("check it with `timenav verify {} --verifier-key KEY`", self.path(name).display());
        assert!(output.contains(&hint), "{output}");
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Writes a bundle with these lines and a matching end.
    pub(crate) fn write(&self, name: &str, lines: &[&Value]) {
        let (end, lines) = lines.split_last().unwrap();
        let text: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
        let mut end = (*end).clone();
        end["end"]["sha256"] = data_encoding::HEXLOWER.encode(&ledger::sha256(&[text.as_bytes()])).into();
        std::fs::write(self.path(name), text + &format!("{end}\n")).unwrap();
    }

    /// Verifies a bundle with both programs, which must agree. Returns the outputs.
    pub(crate) fn verify(&self, name: &str, key: &str, more: &[&str]) -> (bool, [String; 2]) {
        let mut ours = timenav();
        ours.arg("verify").arg(self.path(name)).args(["--verifier-key", key]).args(more);
        let (code, stdout, stderr) = run(&mut ours, "");
        let verifies = code == Some(0);
        assert!(verifies || code == Some(7), "{code:?} {stdout}{stderr}");
        let mut output = [stdout + &stderr, String::new()];
        if has_python() {
            let mut theirs = Command::new("python3");
            theirs.arg(examples().join("verify.py")).arg(self.path(name)).args(["--verifier-key", key]).args(more);
            let (code, stdout, stderr) = run(theirs.env_remove("TIMENAV_API_KEY"), "");
            output[1] = stdout + &stderr;
            assert_eq!((code, verifies), (Some(i32::from(!verifies)), verifies), "{output:?}");
        }
        (verifies, output)
    }
}

pub(crate) fn key_of(service: &Service, timeline: &str) -> String {
    ledger::verifier_key(&format!("timenav.local/{timeline}"), &service.public_key)
}

pub(crate) fn event(service: &Service, timeline: &str, event_id: &str) {
    let body = json!({ "event_id": event_id, "time": "2001-01-01T00:00:00Z", "description": "Größe \"x\" \\ \u{1}\n" });
    service.send(Request::post(&target("/v1/events", &[("timeline_id", timeline)])).json(&body)).expect(201);
}

pub(crate) fn seal(service: &Service, timeline: &str) -> String {
    let body = json!({ "timeline_id": timeline, "data": { "n": 1 }, "encryption_key": PASSPHRASE });
    service.post("/v1/encrypt-data", &body)["data_id"].as_str().unwrap().to_owned()
}

fn count(lines: &[Value], kind: &str) -> usize {
    lines.iter().filter(|line| line.get(kind).is_some()).count()
}

#[test]
fn bundle_of_used_timeline_is_complete_and_verifies() {
    let service = Service::start();
    let away = Away::new();
    for number in 0..300 {
        event(&service, "lived-in", &format!("event-{number}"));
    }
    let correction = json!({ "event_id": "event-7", "time": "2002-01-01T00:00:00Z" });
    service.post("/v1/correct-event", &json!({ "timeline_id": "lived-in", "event": correction }));
    let (stored, erased) = (seal(&service, "lived-in"), seal(&service, "lived-in"));
    service.post("/v1/erase-data", &json!({ "timeline_id": "lived-in", "data_id": erased }));
    service.post("/v1/erase-data", &json!({ "timeline_id": "lived-in", "event_id": "event-7" }));
    let lines = away.export(&service, "lived-in", "a");
    let header = &lines[0]["bundle"];
    assert_eq!((&header["origin"], &header["format"]), (&json!("timenav.local/lived-in"), &json!("timenav-bundle/v1")));
    assert_eq!(count(&lines, "entry") as u64, header["layers"][0]["size"].as_u64().unwrap());
    let data: Vec<&Value> = lines.iter().filter_map(|line| line.get("data")).collect();
    assert_eq!((data.len(), &data[0]["data_id"], &data[1]["data_id"]), (2, &json!(stored), &json!(erased)));
    assert_eq!((&data[0]["erased_by"], &data[1]["ciphertext"]), (&Value::Null, &json!("")));
    // The export itself is the last entry, exactly once.
    let last = lines.iter().rev().find_map(|line| line.get("entry")).unwrap();
    assert_eq!(ledger::entry(last["leaf"].as_str().unwrap())["action"], "reads");
    let reads: Value = serde_json::from_str(last["payload"].as_str().unwrap()).unwrap();
    assert_eq!((reads.as_array().unwrap().len(), &reads[0]["action"]), (1, &json!("bundle")));
    let (verifies, [ours, theirs]) = away.verify("a", &key_of(&service, "lived-in"), &[]);
    assert!(verifies, "{ours}{theirs}");
    assert!(ours.contains("1 sealed records\n  erased, and listed by an entry: 3\n"), "{ours}");
    assert!(ours.contains("  not checked: whether users named in entries"), "{ours}");
    assert!(theirs.is_empty() || theirs.contains("erased, and listed by an entry: 3\nNOT CHECKED "), "{theirs}");

    // It does not replace an existing file and leaves no temporary file.
    let (code, output) = away.try_export(&service, "lived-in", "a", &service.admin);
    assert_eq!(code, Some(1));
    assert!(output.contains("already exists and is not overwritten"), "{output}");
    assert_eq!(std::fs::read_dir(away.folder.path()).unwrap().count(), 1);
    service.audit();
}

#[test]
fn empty_timeline_exports_a_verifiable_bundle() {
    let service = Service::start();
    let away = Away::new();
    service.post("/timelines", &json!({ "timeline_id": "empty" }));
    let lines = away.export(&service, "empty", "a");
    assert_eq!(count(&lines, "entry"), 2, "its making, and the export");
    let key = key_of(&service, "empty");
    assert!(away.verify("a", &key, &[]).0);
    for wrong in [key_of(&service, "main"), ledger::verifier_key("timenav.local/empty", &[7; 32])] {
        let (verifies, output) = away.verify("a", &wrong, &[]);
        assert!(!verifies, "{output:?}");
    }
    // Without a key the command fails instead of reporting success.
    fails(timenav().arg("verify").arg(away.path("a")), 2, "--verifier-key");
    service.audit();
}

#[test]
fn bundle_of_nested_fork_includes_parent_entries() {
    let service = Service::start();
    let away = Away::new();
    event(&service, "main", "first");
    event(&service, "main", "second");
    let data_id = seal(&service, "main");
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    event(&service, "fork", "third");
    service.post("/timelines", &json!({ "timeline_id": "leaf", "fork_of": "fork" }));
    event(&service, "leaf", "fourth");
    // Pruned after the forks were created, so the entries about it are not on the forks.
    let later = |number: u32| json!({ "time": "2001-01-01T00:00:00Z", "description": format!("later {number}") });
    service.post("/v1/events", &(0..900).map(later).collect::<Vec<Value>>().into());
    service.post("/v1/erase-data", &json!({ "timeline_id": "main", "event_id": "first" }));
    service.post("/v1/erase-data", &json!({ "timeline_id": "main", "data_id": data_id }));
    service.post("/v1/erase-data", &json!({ "timeline_id": "fork", "event_id": "third" }));
    let lines = away.export(&service, "leaf", "a");
    let layers: Vec<&str> = lines.iter().filter_map(|line| line["layer"]["timeline_id"].as_str()).collect();
    assert_eq!((layers, count(&lines, "erasure")), (vec!["main", "fork", "leaf"], 3));
    let (verifies, [ours, theirs]) = away.verify("a", &key_of(&service, "leaf"), &[]);
    assert!(verifies, "{ours}{theirs}");
    assert!(ours.contains(" entries of `main`\n") && ours.contains(" entries of `fork`\n"), "{ours}");
    assert!(ours.contains("erased, and listed by an entry: 3\n"), "{ours}");
    service.audit();
}

#[test]
fn rotated_key_is_followed_only_with_its_rotation_proof() {
    let mut service = Service::start();
    let away = Away::new();
    event(&service, "main", "before");
    let first = key_of(&service, "main");
    assert!(service.stop().success());
    let proofs = away.path("proofs");
    ends(timenav().args(["rotate-signing-key", "--data"]).arg(service.data()).arg("--save").arg(&proofs), 0);
    let text = std::fs::read_to_string(service.data().join("signing.key")).unwrap();
    service.public_key = ledger::public_key(&text);
    service.start_again();
    event(&service, "main", "after");
    let lines = away.export(&service, "main", "a");
    assert_eq!(count(&lines, "rotation"), 1, "the service has kept what both keys signed");
    let newest = key_of(&service, "main");
    assert!(away.verify("a", &newest, &[]).0);
    let (verifies, [ours, theirs]) = away.verify("a", &first, &[]);
    assert!(verifies && ours.contains("rotations of the key followed: 1"), "{ours}{theirs}");
    // Without the line, like a bundle of a service that has not stored such notes.
    let without: Vec<&Value> = lines.iter().filter(|line| line.get("rotation").is_none()).collect();
    away.write("b", &without);
    let (verifies, [ours, theirs]) = away.verify("b", &first, &[]);
    assert!(!verifies && ours.contains("which proves nothing by itself: give the proof of that rotation"), "{ours}");
    assert!(theirs.is_empty() || theirs.contains("give the proof of that rotation with --rotation"), "{theirs}");
    let find = |name: &str| {
        let files = std::fs::read_dir(&proofs).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|path| path.to_str().unwrap().contains(name)).unwrap().to_str().unwrap().to_owned()
    };
    let (verifies, [ours, theirs]) = away.verify("b", &first, &["--rotation", &find("main")]);
    assert!(verifies && ours.contains("rotations of the key followed: 1"), "{ours}{theirs}");
    assert!(!away.verify("b", &first, &["--rotation", &find("system")]).0, "it is the proof of another ledger");
    service.audit();
}

#[test]
fn bundle_export_requires_admin_on_every_layer() {
    let service = Service::start();
    let away = Away::new();
    let (ada, bob) = (service.user("ada"), service.user("bob"));
    let lists = |timeline: &str, permissions: Value| {
        service.post("/v1/set-access-control", &json!({ "timeline_id": timeline, "permissions": permissions }));
    };
    event(&service, "main", "first");
    lists("main", json!({ "read": ["ada", "bob"], "write": [], "admin": ["admin"] }));
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    lists("fork", json!({ "read": ["bob"], "write": [], "admin": ["ada"] }));
    let refused = |key: &str, timeline: &str, status: u16, code: &str| {
        service.send(Request::get(&format!("/timeline/{timeline}/bundle")).key(key)).refused(status, code);
    };
    refused(&ada, "fork", 403, "permission_denied");
    refused(&bob, "fork", 403, "permission_denied");
    refused(&service.admin, "system", 400, "invalid_parameter");
    refused(&ada, "system", 404, "not_found");
    refused(&ada, "nowhere", 404, "not_found");
    assert_eq!(away.try_export(&service, "fork", "a", &ada).0, Some(4));
    // The attempt is logged on the target timeline.
    let log = service.get("/v1/access-logs", &[("timeline_id", "main"), ("time_range", "../.."), ("user_id", "ada")]);
    assert!(log["logs"].to_string().contains("\"bundle\""), "{log}");
    lists("main", json!({ "admin": ["admin", "ada"] }));
    assert_eq!(away.try_export(&service, "fork", "a", &ada).0, Some(0));
    assert!(away.verify("a", &key_of(&service, "fork"), &[]).0);
    // With hidden clocks it is rejected, because entries reveal them.
    service.post("/v1/restrict-time-travel", &json!({ "user_id": "ada", "restriction_level": "no_access" }));
    refused(&ada, "fork", 403, "time_travel_restricted");
    assert_eq!(std::fs::read_dir(away.folder.path()).unwrap().count(), 1);
    service.audit();
}

#[test]
#[ignore = "moves hundreds of megabytes; `cargo xtask soak` runs it"]
fn memory_use_is_independent_of_bundle_size() {
    let service = Service::start();
    let away = Away::new();
    let mut file = Vec::new();
    for number in 0..100_000 {
        let note = "a remark that makes the file large enough to be a test; ".repeat(4);
        let event = json!({ "event_id": format!("e{number}"), "time": "2000-01-01T00:00:00Z", "description": note });
        writeln!(file, "{event}").unwrap();
    }
    let path = target("/v1/import-events", &[("timeline_id", "large")]);
    let taken = service.send(Request::post(&path).body("application/x-ndjson", &file)).expect(200);
    assert_eq!(taken["imported"], 100_000);
    // The second export needs no new allocations.
    service.post("/timelines", &json!({ "timeline_id": "small" }));
    away.export(&service, "small", "small");
    let before = memory_kib(service.pid(), "VmHWM");
    let (code, output) = away.try_export(&service, "large", "a", &service.admin);
    assert_eq!(code, Some(0), "{output}");
    let grown = memory_kib(service.pid(), "VmHWM").saturating_sub(before);
    let bytes = std::fs::metadata(away.path("a")).unwrap().len();
    println!("the service grew by {grown} KiB for a bundle of {bytes} bytes");
    assert!(bytes > 60_000_000 && grown < GROWTH_KIB_MAX, "{grown} KiB for {bytes} bytes");
    if has_python() {
        let ours = timenav().get_program().to_str().unwrap().to_owned();
        let theirs = examples().join("verify.py").to_str().unwrap().to_owned();
        for program in [vec![ours, "verify".to_owned()], vec!["python3".to_owned(), theirs]] {
            let peak = "import resource, subprocess, sys\n\
                done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n\
                print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
            let mut command = Command::new("python3");
            command.args(["-c", peak]).args(&program).arg(away.path("a"));
            let (_, output, stderr) = run(command.args(["--verifier-key", &key_of(&service, "large")]), "");
            let (code, kib) = output.trim().split_once(' ').unwrap_or_else(|| panic!("{output}{stderr}"));
            println!("{program:?}: {kib} KiB");
            assert_eq!(code, "0", "{program:?} {stderr}");
            assert!(kib.parse::<u64>().unwrap() < CHECK_KIB_MAX, "{program:?}: {kib} KiB");
        }
    }
    service.audit();
}

/// The program has its own tests with these vectors.
#[test]
fn script_accepts_valid_and_rejects_invalid_bundle_vectors() {
    if !has_python() {
        return;
    }
    let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test-data/bundle-format-v1.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(vectors).unwrap()).unwrap();
    let away = Away::new();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut calls = ScriptCalls::default();
    let mut files_count = 0;
    let mut write = |text: &str| {
        files_count += 1;
        let path = away.path(&files_count.to_string());
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut expect = |vector: &Value, key: &Value, code: i64, words: &str| {
        let file: String = list(&vector["lines"]).iter().map(|line| text(line) + "\n").collect();
        let mut arguments = vec![write(&file), "--verifier-key".to_owned(), text(key)];
        for proof in list(&vector["rotation_proofs"]) {
            arguments.extend(["--rotation".to_owned(), write(&text(&proof))]);
        }
        calls.expect(code, words, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    };
    for vector in list(&vectors["bundles"]) {
        for key in list(&vector["verifier_keys"]) {
            expect(&vector, &key, 0, &format!("erased, and listed by an entry: {}\n", vector["gone"]));
        }
    }
    for vector in list(&vectors["refused"]) {
        println!("{}", vector["about"]);
        expect(&vector, &vector["verifier_key"], 1, "WRONG       ");
    }
    calls.check();
}

#[test]
fn bundle_verification_reports_the_number_of_pruned_payloads() {
    let mut service = Service::start();
    let pruned = crate::ledger::verifier::prune_some_reads(&mut service);
    let away = Away::new();
    away.export(&service, "main", "a");
    let key = ledger::verifier_key("timenav.local/main", &service.public_key);
    let (verifies, output) = away.verify("a", &key, &[]);
    assert!(verifies, "{output:?}");
    let expected = format!("of these, pruned: {pruned}\n");
    assert!(output[0].contains(&expected) && (output[1].is_empty() || output[1].contains(&expected)), "{output:?}");
    service.audit();
}
