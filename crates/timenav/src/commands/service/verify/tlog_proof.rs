//! Offline verification of inclusion proofs (C2SP tlog-proof).

use anyhow::Context as _;
use serde_json::json;
use timenav_core::ledger::{Checkpoint, LeafRecord, TlogProof, VerifierKey, leaf_hash, verify_inclusion};

use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::verify_signature;

const NOT_CHECKED: [&str; 3] = [
    "the payload of the entry",
    "whether the user named in the entry was allowed to do that",
    "whether the service showed others a different history",
];

pub(super) fn verify(bytes: &[u8], key: &VerifierKey, as_json: bool) -> Result<(), Failure> {
    let checked = check(bytes, key).map_err(|error| format!("{error:#}"));
    let origin = key.name();
    let failed = format!("The proof does not verify with the key of `{}`.", output::printable(origin));
    let proof_json = |(proof, tree): &(TlogProof, Checkpoint)| {
        json!({
            "origin": origin, "verifies": true, "position": proof.index, "leaf": leaf_text(proof),
            "size": tree.size, "root": tree.root.to_hex(), "not_checked": NOT_CHECKED,
        })
    };
    let proof_text = |(proof, tree): &(TlogProof, Checkpoint)| {
        let text = format!(
            "Entry {} of `{}` is in a tree that the key has signed.\n  entry: {}\n  tree: {} entries, root {}\n",
            proof.index,
            output::printable(origin),
            output::printable(&leaf_text(proof)),
            tree.size,
            tree.root.to_hex(),
        );
        text + &super::not_checked_text(&NOT_CHECKED)
    };
    super::show_file(&checked, (origin, &failed), as_json, (proof_json, proof_text))
}

/// Verifies that the entry leads to the checkpoint in the proof, and that the key has signed it.
fn check(bytes: &[u8], key: &VerifierKey) -> anyhow::Result<(TlogProof, Checkpoint)> {
    let proof = TlogProof::parse(bytes)?;
    anyhow::ensure!(!proof.extra.is_empty(), "there is no entry in it: it has no `extra` line");
    let tree = Checkpoint::open(proof.checkpoint.as_bytes(), key, verify_signature)?;
    verify_inclusion(proof.index, tree.size, &leaf_hash(&proof.extra), &proof.hashes, &tree.root)?;
    let record = LeafRecord::decode(&proof.extra).context("the entry cannot be read")?;
    let timeline = key.name().rsplit_once('/').map_or(key.name(), |(_, timeline)| timeline);
    anyhow::ensure!(
        record.seq == proof.index && record.timeline_id == timeline,
        "the entry says that it is entry {} of `{}`",
        record.seq,
        record.timeline_id
    );
    Ok((proof, tree))
}

fn leaf_text(proof: &TlogProof) -> String {
    String::from_utf8_lossy(&proof.extra).into_owned()
}
