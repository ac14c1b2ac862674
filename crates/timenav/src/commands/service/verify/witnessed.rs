use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde_json::json;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Checkpoint, Hash, HeadProof, LeafRecord, Note, VerifierKey, WitnessKey, leaf_hash, origin, verify_inclusion,
};

use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::verify_signature;

const NOT_CHECKED: [&str; 3] = [
    "the payload of the entry",
    "whether the user named in the entry was allowed to do that",
    "whether the witnesses collude with the service",
];

/// The verified members of a response of `GET /timeline/{timeline_id}/proof?witnessed=true`.
#[derive(Deserialize)]
struct WitnessedResponse {
    position: u64,
    leaf: String,
    hashes: Vec<String>,
    size: u64,
    root: String,
    head: Option<WitnessedHead>,
    checkpoint: String,
}

#[derive(Deserialize)]
struct WitnessedHead {
    index: u64,
    count: u64,
    hashes: Vec<String>,
    position: u64,
    leaf: String,
    system_hashes: Vec<String>,
}

struct Checked {
    position: u64,
    leaf: String,
    size: u64,
    system_size: u64,
    /// When each witness cosigned, in seconds since 1970.
    by: BTreeMap<String, u64>,
}

/// Returns whether a file starts like a witnessed proof and not like a bundle.
pub(super) fn begins(begin: &[u8]) -> bool {
    let begin = begin.trim_ascii_start();
    begin.starts_with(b"{") && !begin[1..].trim_ascii_start().starts_with(b"\"bundle\"")
}

/// Verifies that enough of these witnesses have cosigned a checkpoint. Returns when each did.
pub(super) fn cosigned(note: &str, witnesses: &[WitnessKey], quorum: usize) -> anyhow::Result<BTreeMap<String, u64>> {
    use timenav_core::ledger::CosignatureError;
    let note = Note::parse(note.as_bytes())?;
    let mut by = BTreeMap::new();
    for witness in witnesses {
        match witness.cosigned_at(&note, verify_signature) {
            Ok((time, _)) => drop(by.insert(witness.name().to_owned(), time)),
            Err(CosignatureError::Missing(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let missing = witnesses.iter().map(WitnessKey::name).filter(|name| !by.contains_key(*name));
    let missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
    if by.len() < quorum {
        bail!(
            "{} of {} witnesses have cosigned, and {quorum} are required; missing: {}",
            by.len(),
            witnesses.len(),
            missing.join(", ")
        );
    }
    Ok(by)
}

pub(super) fn verify(
    text: &str,
    key: &VerifierKey,
    (witnesses, quorum): (&[WitnessKey], usize),
    as_json: bool,
) -> Result<(), Failure> {
    let checked = check(text, key, (witnesses, quorum)).map_err(|error| format!("{error:#}"));
    let failed = format!("The proof of `{}` does not verify.", key.name());
    let proof_json = |checked: &Checked| {
        let Checked { position, leaf, size, system_size, by } = checked;
        json!({
            "origin": key.name(), "verifies": true, "position": position, "leaf": leaf, "size": size,
            "system_size": system_size, "witnesses": by, "not_checked": NOT_CHECKED,
        })
    };
    super::show_file(&checked, (key.name(), &failed), as_json, (proof_json, |checked| proof_text(checked, key)))
}

/// Verifies the chain from the entry to the root of its timeline, from there to an entry of `system`, and from there to
/// a checkpoint signed by the service and cosigned by witnesses.
fn check(text: &str, key: &VerifierKey, (witnesses, quorum): (&[WitnessKey], usize)) -> anyhow::Result<Checked> {
    let stored: WitnessedResponse = serde_json::from_str(text).context("it is not a witnessed proof")?;
    let WitnessedResponse { position, leaf, hashes, size, root, head, checkpoint } = stored;
    let (service_name, timeline) = key.name().rsplit_once('/').context("the key is not that of a timeline")?;
    let system_key = VerifierKey::new(&origin(service_name, TimelineId::SYSTEM), *key.public_key())?;
    let system = Checkpoint::open(checkpoint.as_bytes(), &system_key, verify_signature).context("the checkpoint")?;
    let by = cosigned(&checkpoint, witnesses, quorum)?;
    let root = Hash::from_hex(&root).context("the root is not a hash")?;
    let tree = Checkpoint { origin: key.name().to_owned(), size, root, extensions: Vec::new() };
    match head {
        Some(head) => {
            let WitnessedHead { index, count, hashes, position, leaf, system_hashes } = head;
            let (hashes, system_hashes) = (read(&hashes)?, read(&system_hashes)?);
            HeadProof { index, count, hashes, position, leaf: leaf.into_bytes(), system_hashes }
                .verify(&tree, &system)?;
        }
        None => ensure!(
            timeline == TimelineId::SYSTEM && (size, root) == (system.size, system.root),
            "it does not show that `system` is committed to the timeline"
        ),
    }
    verify_inclusion(position, size, &leaf_hash(leaf.as_bytes()), &read(&hashes)?, &root)
        .context("the entry is not in the timeline's tree")?;
    let record = LeafRecord::decode(leaf.as_bytes()).context("the entry cannot be read")?;
    if record.seq != position || record.timeline_id != timeline {
        bail!("the entry says that it is entry {} of `{}`", record.seq, record.timeline_id);
    }
    Ok(Checked { position, leaf, size, system_size: system.size, by })
}

fn read(hashes: &[String]) -> anyhow::Result<Vec<Hash>> {
    hashes.iter().map(|text| Hash::from_hex(text)).collect::<Option<_>>().context("a line is not a hash")
}

fn proof_text(checked: &Checked, key: &VerifierKey) -> String {
    let Checked { position, leaf, size, system_size, by } = checked;
    let mut text = format!("Entry {position} of `{}` is in a tree that witnesses cosigned.\n", key.name());
    let _ = writeln!(text, "  entry: {}", output::printable(leaf));
    let _ = writeln!(text, "  tree: {size} entries, committed to by `system`, cosigned with {system_size} entries");
    for (name, time) in by {
        let micros = i64::try_from(*time).ok().and_then(|time| time.checked_mul(1_000_000));
        let at = micros.and_then(timenav_core::time::Instant::<timenav_core::time::Wall>::from_micros);
        let at = at.map_or_else(|| format!("{time} seconds after 1970"), |at| at.to_string());
        let _ = writeln!(text, "  cosigned by `{}` at {at}", output::printable(name));
    }
    text + &super::not_checked_text(&NOT_CHECKED)
}
