//! `examples/verify.py` on the published vectors of version 2, which the service does not write yet.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{ScriptCalls, examples, has_python};
use crate::support::service::run;

/// The vectors, a folder for extracts, and the calls of the script.
struct Vectors {
    all: Value,
    key: String,
    folder: TempDir,
    files_count: usize,
    calls: ScriptCalls,
}

impl Vectors {
    /// Reads the vectors, if the script can be run.
    fn read() -> Option<Self> {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test-data/ledger-format-v2.json");
        let all: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let key = text(&all["key"]["verifier_key"]).to_owned();
        let folder = tempfile::tempdir().unwrap();
        has_python().then(|| Self { all, key, folder, files_count: 0, calls: ScriptCalls::default() })
    }

    /// Writes a file and returns its path.
    fn file(&mut self, content: &str) -> String {
        self.files_count += 1;
        let path = self.folder.path().join(self.files_count.to_string());
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Calls the script with the key of the vectors, which finds nothing wrong and prints these words.
    fn verifies(&mut self, arguments: &[&str], words: &str) {
        self.calls.expect(0, words, &[arguments, &["--verifier-key", &self.key.clone()]].concat());
    }

    /// Calls the script with the key of the vectors, which finds something wrong and prints these words.
    fn fails(&mut self, arguments: &[&str], words: &str) {
        self.calls.expect(1, words, &[arguments, &["--verifier-key", &self.key.clone()]].concat());
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn entries_and_their_payloads_verify() {
    let Some(mut vectors) = Vectors::read() else { return };
    let all = vectors.all.clone();
    for proof in all["tlog_proofs"].as_array().unwrap() {
        let index = usize::try_from(proof["index"].as_u64().unwrap()).unwrap();
        let of = all["leaves"].get(index).unwrap_or(&all["reads"]);
        let (file, payload) = (vectors.file(text(&proof["text"])), vectors.file(text(&of["payload"])));
        let with = |salt| ["--proof", &file, "--payload", &payload, "--salt", salt];
        vectors.verifies(&["--proof", &file], "NOT CHECKED the payload, whether the actor might do this\n");
        vectors.verifies(&with(text(&of["salt"])), "NOT CHECKED whether the actor might do this\n");
        vectors.fails(&with(&"00".repeat(16)), "WRONG       the payload hashes to ");
    }
    vectors.calls.check();
}

#[test]
fn reads_verify_individually_and_after_erasure() {
    let Some(mut vectors) = Vectors::read() else { return };
    let all = vectors.all.clone();
    let reads = &all["reads"];
    let proof = vectors.file(text(&all["tlog_proofs"][3]["text"]));
    let opened = vectors.file(text(&reads["without_read_1"]));
    vectors.verifies(&["--proof", &proof, "--payload", &opened], "; reads that were erased: 1\n");
    // No other entry is an entry of reads.
    let other = vectors.file(text(&all["tlog_proofs"][1]["text"]));
    for read in reads["reads"].as_array().unwrap() {
        let handed_around = text(&read["handed_around"]);
        let read_file = vectors.file(handed_around);
        let changed = vectors.file(&handed_around.replace("\"user\":\"", "\"user\":\"x"));
        vectors.verifies(&["--proof", &proof, "--read", &read_file], &format!("read        {}\n", text(&read["read"])));
        vectors.fails(&["--proof", &proof, "--read", &changed], "WRONG       the proof does not lead from ");
        vectors.fails(&["--proof", &other, "--read", &read_file], "");
    }
    vectors.calls.check();
}

#[test]
fn head_statements_verify_and_are_not_checkpoints() {
    let Some(mut vectors) = Vectors::read() else { return };
    let all = vectors.all.clone();
    let checkpoint = text(&all["checkpoint"]["note"]);
    for head in all["heads"].as_array().unwrap() {
        let handed_around = text(&head["handed_around"]);
        let file = vectors.file(handed_around);
        let root = if head["index_root"].is_null() { "" } else { ", the index root" };
        let words = format!("NOT CHECKED entries, the state hash{root}, that the transaction happened\n");
        vectors.verifies(&["--head", &file], &words);
        for changed in [
            handed_around.replace("/apollo-11\n", "/apollo-12\n"),
            handed_around.replace("head/v1", "head/v2"),
            handed_around.replace("\n\n", "\n"),
            handed_around.replacen("=\n", "=\n\n", 1),
            handed_around.replace(&format!("\n{}\n", head["size"]), "\n7\n"),
        ] {
            assert_ne!(changed, handed_around);
            let changed = vectors.file(&changed);
            vectors.fails(&["--head", &changed], "WRONG");
        }
        // It is not a valid checkpoint.
        let proof = text(&all["tlog_proofs"][0]["text"]).replace(checkpoint, handed_around);
        let proof = vectors.file(&proof);
        vectors.fails(&["--proof", &proof], "");
    }
    let checkpoint = vectors.file(checkpoint);
    vectors.fails(&["--head", &checkpoint], "");
    vectors.calls.check();
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
