//! Invalid erasures in a ledger written and signed by an attacker with the key or a modified service, as reported by
//! independent verifiers. They are those of the published bundles.

use std::path::Path;
use std::process::Command;

use aws_lc_rs::signature::Ed25519KeyPair;
use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{examples, has_python};
use crate::ledger::witness::stub_witness::StubWitness;
use crate::support::service;

/// The bundles that are rejected because of an erasure.
fn vectors() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/bundle-format-v1.json");
    let all: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let is_it = |vector: &&Value| vector["about"].as_str().unwrap().contains("names what is no event");
    all["refused"].as_array().unwrap().iter().filter(is_it).cloned().collect()
}

/// A ledger in service responses.
struct Claims {
    entries: Vec<Value>,
    note: String,
    head: String,
}

impl Claims {
    fn of(vector: &Value) -> Self {
        let lines = vector["lines"].as_array().unwrap().iter().map(|line| serde_json::from_str(line.as_str().unwrap()));
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
        let entries: Vec<Value> = lines.iter().filter_map(|line| line.get("entry").cloned()).collect();
        let note = lines.iter().find_map(|line| line["checkpoint"]["note"].as_str()).unwrap().to_owned();
        let [origin, size, root] = note.lines().take(3).collect::<Vec<_>>()[..] else { panic!("{note}") };
        let state = BASE64.encode(&[0; 32]);
        let text = format!("timenav-head/v1\n{origin}\n{size}\n{root}\n{state}\n-\n");
        let seed: Vec<u8> = (0..32).collect();
        let signature = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap().sign(text.as_bytes());
        let head = format!("{text}\n{}\n", BASE64.encode(signature.as_ref()));
        Self { entries: (0..).zip(entries).map(|(position, entry)| answered(position, &entry)).collect(), note, head }
    }

    fn answer(&self, path: &str) -> Value {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        match path {
            "/v1/detect-tampering" => json!({ "details": "", "checkpoint": { "note": self.note } }),
            "/timeline/apollo-11/head" => json!({ "head_statement": self.head }),
            "/timeline/apollo-11/proof" => json!({ "hashes": [], "checkpoint": self.note }),
            "/timeline/apollo-11/entries" => {
                let from = query.split('&').find_map(|part| part.strip_prefix("from=")).unwrap();
                let entries = self.entries.get(from.parse::<usize>().unwrap()..).unwrap_or_default();
                json!({ "entries": entries, "checkpoint": self.note })
            }
            other => panic!("{other} is asked"),
        }
    }
}

fn answered(position: u64, entry: &Value) -> Value {
    match entry["payload"].as_str().unwrap() {
        "" => json!({ "position": position, "leaf": entry["leaf"], "contents": "erased" }),
        payload => {
            let (leaf, salt) = (&entry["leaf"], &entry["salt"]);
            json!({ "position": position, "leaf": leaf, "contents": "visible", "salt": salt, "payload": payload })
        }
    }
}

/// Verifies service responses with the command. Returns the findings.
fn found(claims: Claims, vector: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, vector["verifier_key"].as_str().unwrap()).unwrap();
    let answer = move |path: &str| Some((200, "application/json", claims.answer(path).to_string()));
    let service = StubWitness::start("a.thief", move |_, (path, _)| answer(path));
    let mut command = service::timenav();
    command.args(["verify", "--contents", "--timeline", "apollo-11", "--url", &service.url(), "--key"]).arg(&key);
    let (code, output, complaint) = service::run(command.env("TIMENAV_API_KEY", "tnk_any"), "");
    assert_eq!(code, Some(7), "{}: {output}{complaint}", vector["about"]);
    let findings = output.lines().map(str::trim).filter(|line| line.starts_with("payload-mismatch"));
    findings.map(str::to_owned).collect()
}

#[test]
fn command_detects_invalid_erasures() {
    for vector in vectors() {
        let expected = "payload-mismatch at 2: salt and payload are missing, but no entry erased or pruned them";
        assert_eq!(found(Claims::of(&vector), &vector), [expected], "{}", vector["about"]);
    }
}

#[test]
fn command_detects_contents_hidden_from_readers() {
    let vector = &vectors()[0];
    let mut claims = Claims::of(vector);
    claims.entries[3] = json!({ "position": 3, "leaf": claims.entries[3]["leaf"], "contents": "restricted" });
    let findings = found(claims, vector);
    assert_eq!(findings[0], "payload-mismatch at 3: the payload of `erase_events` is hidden, but readers may see it");
}

/// Runs the content comparison of the script.
const CONTENTS: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import verify

class Answers:
    timeline = "apollo-11"
    def entries(self, first, count):
        return self.all[first:first + count]
    def proof(self, query, keys):
        return self.checkpoint, []
    def events(self, position):
        return []

for vector in json.loads(sys.stdin.read()):
    lines = [json.loads(line) for line in vector["lines"]]
    service, keys, problems = Answers(), [verify.read_key(vector["verifier_key"])], []
    note = next(line["checkpoint"]["note"] for line in lines if "checkpoint" in line)
    service.checkpoint = verify.open_checkpoint(note.encode(), keys)
    said = [line["entry"] for line in lines if "entry" in line]
    service.all = [{**one, "position": ("number", str(position)), "contents": "visible" if one["payload"] else "erased"}
                   for position, one in enumerate(said)]
    verify.verify_contents(service, keys, service.checkpoint, problems)
    print(json.dumps(problems))
"#;

#[test]
fn script_detects_invalid_erasures() {
    if !has_python() {
        return;
    }
    let vectors = vectors();
    assert_eq!(vectors.len(), 2);
    let mut command = Command::new("python3");
    command.args(["-B", "-c", CONTENTS]).arg(examples());
    let (code, stdout, stderr) = service::run(&mut command, &json!(vectors).to_string());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for found in stdout.lines() {
        let expected = json!([
            "entry 2 of apollo-11 (set_access_control): salt and payload are missing, and no entry erased them"
        ]);
        assert_eq!(serde_json::from_str::<Value>(found).unwrap(), expected);
    }
    assert_eq!(stdout.lines().count(), 2);
}
