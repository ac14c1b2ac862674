//! `examples/verify.py` on the published vectors of version 2, which the service does not write yet.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{examples, has_python, verify_proof};
use crate::support::service::run;

/// The vectors, and a folder for extracts.
struct Vectors {
    all: Value,
    key: String,
    folder: TempDir,
}

impl Vectors {
    fn read() -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test-data/ledger-format-v2.json");
        let all: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let key = text(&all["key"]["verifier_key"]).to_owned();
        Self { all, key, folder: tempfile::tempdir().unwrap() }
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs the script with the key of the vectors. Returns whether everything verifies, and the output.
    fn verify(&self, arguments: &[&str]) -> (bool, String) {
        let (code, output) = verify_proof(&[arguments, &["--verifier-key", &self.key]].concat());
        assert!(matches!(code, Some(0 | 1)), "{output}");
        assert_eq!(code == Some(0), output.ends_with(" verifies.\n"), "{output}");
        (code == Some(0), output)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn entries_and_their_payloads_verify() {
    if !has_python() {
        return;
    }
    let vectors = Vectors::read();
    let reads = &vectors.all["reads"];
    for proof in vectors.all["tlog_proofs"].as_array().unwrap() {
        let index = usize::try_from(proof["index"].as_u64().unwrap()).unwrap();
        let file = vectors.file("proof", text(&proof["text"]));
        let (verifies, output) = vectors.verify(&["--proof", &file]);
        assert!(verifies && output.contains("NOT CHECKED the payload, whether the actor might do this\n"), "{output}");

        let of = vectors.all["leaves"].get(index).unwrap_or(reads);
        let payload = vectors.file("payload", text(&of["payload"]));
        let (verifies, output) =
            vectors.verify(&["--proof", &file, "--payload", &payload, "--salt", text(&of["salt"])]);
        assert!(verifies && output.contains("NOT CHECKED whether the actor might do this\n"), "{output}");
        let (verifies, output) = vectors.verify(&["--proof", &file, "--payload", &payload, "--salt", &"00".repeat(16)]);
        assert!(!verifies && output.contains("WRONG       the payload hashes to "), "{output}");
    }
}

#[test]
fn reads_verify_individually_and_after_erasure() {
    if !has_python() {
        return;
    }
    let vectors = Vectors::read();
    let reads = &vectors.all["reads"];
    let proof = vectors.file("proof", text(&vectors.all["tlog_proofs"][3]["text"]));
    let opened = vectors.file("opened", text(&reads["without_read_1"]));
    let (verifies, output) = vectors.verify(&["--proof", &proof, "--payload", &opened]);
    assert!(verifies && output.contains("; reads that were erased: 1\n"), "{output}");

    for read in reads["reads"].as_array().unwrap() {
        let read_file = vectors.file("shown", text(&read["handed_around"]));
        let (verifies, output) = vectors.verify(&["--proof", &proof, "--read", &read_file]);
        assert!(verifies && output.contains(&format!("read        {}\n", text(&read["read"]))), "{output}");
        let changed = text(&read["handed_around"]).replace("\"user\":\"", "\"user\":\"x");
        let changed = vectors.file("changed", &changed);
        let (verifies, output) = vectors.verify(&["--proof", &proof, "--read", &changed]);
        assert!(!verifies && output.contains("WRONG       the proof does not lead from "), "{output}");
        // No other entry is an entry of reads.
        let other = vectors.file("other", text(&vectors.all["tlog_proofs"][1]["text"]));
        assert!(!vectors.verify(&["--proof", &other, "--read", &read_file]).0);
    }
}

#[test]
fn head_statements_verify_and_are_not_checkpoints() {
    if !has_python() {
        return;
    }
    let vectors = Vectors::read();
    for head in vectors.all["heads"].as_array().unwrap() {
        let handed_around = text(&head["handed_around"]);
        let (verifies, output) = vectors.verify(&["--head", &vectors.file("head", handed_around)]);
        assert!(verifies && output.contains("NOT CHECKED entries, the state hash, "), "{output}");
        assert_eq!(output.contains("the index root"), !head["index_root"].is_null(), "{output}");
        for changed in [
            handed_around.replace("/apollo-11\n", "/apollo-12\n"),
            handed_around.replace("head/v1", "head/v2"),
            handed_around.replace("\n\n", "\n"),
            handed_around.replacen("=\n", "=\n\n", 1),
            handed_around.replace(&format!("\n{}\n", head["size"]), "\n7\n"),
        ] {
            assert_ne!(changed, handed_around);
            let (verifies, output) = vectors.verify(&["--head", &vectors.file("changed", &changed)]);
            assert!(!verifies && output.starts_with("WRONG"), "{output}");
        }
        // It is not a valid checkpoint.
        let proof = text(&vectors.all["tlog_proofs"][0]["text"]);
        let checkpoint = text(&vectors.all["checkpoint"]["note"]);
        let changed = vectors.file("proof", &proof.replace(checkpoint, handed_around));
        assert!(!vectors.verify(&["--proof", &changed]).0);
    }
    let checkpoint = vectors.file("checkpoint", text(&vectors.all["checkpoint"]["note"]));
    assert!(!vectors.verify(&["--head", &checkpoint]).0);
}

/// Runs the script's functions on the entry with which an adopted fork continues.
const ADOPTED: &str = r#"
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import verify
before, forks = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[2:])
leaf = forks["leaf"]
tree = verify.Tree()
for one in [*before["leaves"], before["reads"]["entry"], leaf]:
    tree.append(verify.leaf_hash(one["entry"].encode()))
assert (tree.size, tree.root().hex()) == (leaf["seq"] + 1, forks["root"])
assert verify.leaf_hash(leaf["entry"].encode()).hex() == leaf["leaf_hash"]
payload = json.loads(leaf["payload"])
assert verify.canonical(payload).decode() == leaf["payload"]
hashed = verify.hashlib.sha256(bytes.fromhex(leaf["salt"]) + leaf["payload"].encode()).hexdigest()
entry = json.loads(leaf["entry"])
assert hashed == entry["payload_hash"]
for layer, row in zip(payload["layers"], forks["directory"]["rows"], strict=True):
    name = f"{leaf['timeline_id']}/{layer['timeline_id']}"
    said = {"kind": "ended", "root": layer["root"], "size": layer["size"], "timeline_id": name}
    assert verify.canonical(said).decode() == row["row"]
# The version of the directory goes down here, and nowhere else.
directory = before["leaves"][-1]["directory"]
assert verify.directory_after(directory, entry) == leaf["directory"] < directory
try:
    verify.directory_after(directory, {**entry, "action": "travel"})
except ValueError as wrong:
    print(wrong)
"#;

#[test]
fn script_reads_an_adopted_fork() {
    if !has_python() {
        return;
    }
    let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    let mut command = Command::new("python3");
    command.args(["-B", "-c", ADOPTED]).arg(examples());
    command.args(["ledger-format-v2.json", "ledger-format-v2-forks.json"].map(|file| vectors.join(file)));
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("of a lower version than what is in front of it"), "{stdout}");
}
