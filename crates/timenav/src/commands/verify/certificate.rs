//! A certificate of what a key with a horizon has seen, checked offline.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use timenav_core::horizon::Horizon;
use timenav_core::ledger::{
    Certificate, CertificateCheck, Checkpoint, Hash, Note, ReadParameters, ReadProof, VerifierKey,
};

use crate::doors::verify_signature;
use crate::exit::Failure;
use crate::output::{self, Unshown};

#[cfg(test)]
mod tests;

/// What no certificate can show.
const NOT_CHECKED: [&str; 4] = [
    "whether a read of the key was left out: the service signs that none was",
    "what the reader knew before, or learned elsewhere",
    "what the user read with other keys and sessions",
    "what a clock showed while it was streamed",
];

/// An answer of `GET /v1/certificates`, as far as it is checked. What else it says, the certificate says too.
#[derive(Deserialize)]
struct Kept {
    certificate: String,
    checkpoint: String,
    entries: Vec<KeptEntry>,
}

#[derive(Deserialize)]
struct KeptEntry {
    position: u64,
    leaf: String,
    hashes: Vec<String>,
    reads: Vec<Value>,
}

/// Returns whether the beginning of a file is that of a certificate's file, and not of a bundle.
pub(super) fn is_one(begin: &[u8]) -> bool {
    let begin = begin.trim_ascii_start();
    begin.starts_with(b"{") && !begin[1..].trim_ascii_start().starts_with(b"\"bundle\"")
}

/// Checks the file of a certificate, and tells of it.
///
/// # Errors
/// It does not hold.
pub(super) fn verify(text: &str, key: &VerifierKey, as_json: bool) -> Result<(), Failure> {
    let checked = check(text, key).map_err(|error| format!("{error:#}"));
    let text = match (&checked, as_json) {
        (Ok(certificate), true) => output::pretty(&as_value(certificate, key).to_string()),
        (Err(wrong), true) => {
            output::pretty(&json!({ "origin": key.name(), "verifies": false, "wrong": wrong }).to_string())
        }
        (Ok(certificate), false) => told(certificate, key),
        (Err(wrong), false) => {
            format!("The certificate of `{}` does not verify.\n  {}\n", key.name(), output::printable(wrong))
        }
    };
    let mut unshown = Unshown::default();
    unshown.after(output::write(&text));
    checked.map_err(|_| Failure::Tampered(1)).and_then(|_| unshown.end())
}

/// Checks both signatures, leads each read to the signed root, and has the text follow from the reads.
fn check(text: &str, key: &VerifierKey) -> anyhow::Result<Certificate> {
    let Kept { certificate, checkpoint, entries } = serde_json::from_str(text).context("it is not a certificate")?;
    let note = Note::parse(certificate.as_bytes()).context("the certificate is not a signed note")?;
    note.verify(std::slice::from_ref(key), verify_signature).context("the certificate")?;
    let mut check = CertificateCheck::new(note.text())?;
    if check.certificate().origin != key.name() {
        bail!("the certificate is of `{}`", check.certificate().origin);
    }
    let tree = Checkpoint::open(checkpoint.as_bytes(), key, verify_signature).context("the checkpoint")?;
    if (tree.size, tree.root) != (check.certificate().size, check.certificate().root) {
        bail!("the checkpoint is of another tree than the certificate");
    }
    let horizon = check.certificate().horizon;
    for KeptEntry { position, leaf, hashes, reads } in entries {
        let hashes: Option<Vec<Hash>> = hashes.iter().map(|text| Hash::from_hex(text)).collect();
        let hashes = hashes.with_context(|| format!("a hash of entry {position} is not one"))?;
        let mut proofs = Vec::with_capacity(reads.len());
        for read in reads {
            // With sorted keys, and without blanks, whatever the file was written with.
            let proof = ReadProof::decode(read.to_string().as_bytes());
            let proof = proof.with_context(|| format!("a read of entry {position} is not written as reads are"))?;
            proofs.push(proof);
        }
        check.entry(position, leaf.as_bytes(), &hashes, &proofs)?;
        for proof in &proofs {
            if !is_within(proof, horizon) {
                bail!("a read of entry {position} was answered within another horizon");
            }
        }
    }
    Ok(check.finish()?)
}

/// Returns whether a read says that it was answered within that horizon. Of long parameters, the beginning alone is kept,
/// which does not say.
fn is_within(proof: &ReadProof, horizon: Horizon) -> bool {
    let Ok(read) = timenav_core::ledger::Read::decode(&proof.read) else { return false };
    let ReadParameters::Whole(text) = &read.parameters else { return true };
    let Ok(told) = serde_json::from_str::<Map<String, Value>>(text) else { return false };
    let word = horizon.until_clock.then(|| Value::from(Horizon::CLOCK));
    told.get("horizon") == word.as_ref() && told.get("known_at") == horizon.known_at.map(Value::from).as_ref()
}

fn told(certificate: &Certificate, key: &VerifierKey) -> String {
    let Certificate { origin, key_id, user_id, horizon, from, to, seen, size, others, .. } = certificate;
    let mut text =
        format!("The certificate of `{}` matches what was signed, by the key with the id {}.\n", origin, key.id());
    let _ = writeln!(text, "  API key `{key_id}` of `{user_id}`, in the entries from {from} to {to} of {size}");
    let clock = if horizon.until_clock { "what the clock showed" } else { "nothing" };
    let known_at = horizon.known_at.map_or_else(|| "all".to_owned(), |position| format!("up to position {position}"));
    let _ = writeln!(text, "  its horizon: in time, {clock}; of the ledger, {known_at}");
    let _ = writeln!(text, "  reads: {}, of these streams: {}; refusals: {}", seen.reads, seen.streams, seen.refusals);
    if let Some(time) = seen.latest_time {
        let _ = writeln!(text, "  nothing later than {time} on the clock");
    }
    if let Some(position) = seen.latest_position {
        let _ = writeln!(text, "  nothing after position {position} of the ledger");
    }
    let _ = writeln!(text, "  entries or reads that are gone: {}; other keys and sessions: {others}", seen.gone);
    for what in NOT_CHECKED {
        let _ = writeln!(text, "  not checked: {what}");
    }
    text
}

fn as_value(certificate: &Certificate, key: &VerifierKey) -> Value {
    let Certificate { origin, key_id, user_id, horizon, from, to, seen, size, root, others } = certificate;
    json!({
        "origin": origin,
        "verifies": true,
        "verifier_key": key.to_string(),
        "key_id": key_id.as_str(),
        "user_id": user_id.as_str(),
        "horizon": horizon.until_clock.then_some(Horizon::CLOCK),
        "known_at": horizon.known_at,
        "from": from,
        "to": to,
        "size": size,
        "root": root.to_hex(),
        "reads": seen.reads,
        "streams": seen.streams,
        "refusals": seen.refusals,
        "gone": seen.gone,
        "latest_time": seen.latest_time.map(|time| time.to_string()),
        "latest_position": seen.latest_position,
        "others": others,
        "not_checked": NOT_CHECKED,
    })
}
