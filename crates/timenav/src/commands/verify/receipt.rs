//! A COSE receipt (RFC 9942) of an entry or of growth, checked offline.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use timenav_core::ledger::{Checkpoint, ConsistencyReceipt, Hash, LeafRecord, Receipt, VerifierKey};

use crate::doors::verify_signature;
use crate::exit::Failure;
use crate::output::{self, Unshown};

/// What no receipt of an entry can show.
const NOT_CHECKED_OF_ENTRY: &[&str] = &[
    "the payload of the entry",
    "whether the user named in the entry was allowed to do that",
    "whether the service showed others another history",
];

/// What no receipt of growth can show.
const NOT_CHECKED_OF_GROWTH: &[&str] = &[
    "the number of entries in the newer tree: the key signed its root alone",
    "whether the service showed others another history",
];

/// What else is open where no checkpoint was kept.
const WITHOUT_CHECKPOINT: &str = "whether the older tree is the one that you know: give its --checkpoint";

/// A receipt that holds, and the root that the key has signed.
enum Checked {
    Entry(Receipt, Hash),
    Growth { receipt: ConsistencyReceipt, root: Hash, is_from_kept: bool },
}

/// Checks the bytes of a receipt, one of growth against a kept checkpoint too, and tells of it.
///
/// # Errors
/// It does not hold, or the checkpoint cannot be read.
pub(super) fn verify(bytes: &[u8], key: &VerifierKey, checkpoint: Option<&Path>, as_json: bool) -> Result<(), Failure> {
    let kept = checkpoint.map(super::read_checkpoint).transpose()?;
    let checked = check(bytes, key, kept.as_ref().map(|kept| kept.note.as_str()));
    let checked = checked.map_err(|error| format!("{error:#}"));
    let text = match (&checked, as_json) {
        (Ok(checked), true) => output::pretty(&checked.json(key).to_string()),
        (Err(wrong), true) => {
            output::pretty(&json!({ "origin": key.name(), "verifies": false, "wrong": wrong }).to_string())
        }
        (Ok(checked), false) => checked.text(key),
        (Err(wrong), false) => {
            format!("The receipt does not verify by the key of `{}`.\n  {}\n", key.name(), output::printable(wrong))
        }
    };
    let mut unshown = Unshown::default();
    unshown.after(output::write(&text));
    checked.map_err(|_| Failure::Tampered(1)).and_then(|_| unshown.end())
}

/// Leads a receipt to a root that the key has signed.
fn check(bytes: &[u8], key: &VerifierKey, kept: Option<&str>) -> anyhow::Result<Checked> {
    if let Ok(receipt) = ConsistencyReceipt::parse(bytes) {
        let root = receipt.verify(key, verify_signature)?;
        if let Some(note) = kept {
            check_older(&receipt, key, note)?;
        }
        return Ok(Checked::Growth { receipt, root, is_from_kept: kept.is_some() });
    }
    let receipt = Receipt::parse(bytes)?;
    if kept.is_some() {
        bail!("it is a receipt of an entry, which --checkpoint says nothing about");
    }
    let root = receipt.verify(key, verify_signature)?;
    let record = LeafRecord::decode(&receipt.leaf).context("the entry cannot be read")?;
    let timeline = key.name().rsplit_once('/').map_or(key.name(), |(_, timeline)| timeline);
    if record.seq != receipt.index || record.timeline_id != timeline {
        bail!("the entry says that it is entry {} of `{}`", record.seq, record.timeline_id);
    }
    Ok(Checked::Entry(receipt, root))
}

/// Checks that a receipt starts from the tree of a checkpoint that the user kept.
fn check_older(receipt: &ConsistencyReceipt, key: &VerifierKey, note: &str) -> anyhow::Result<()> {
    let kept = Checkpoint::open(note.as_bytes(), key, verify_signature).context("the checkpoint")?;
    if kept.size != receipt.from {
        bail!("the receipt starts from {} entries, and the checkpoint has {}", receipt.from, kept.size);
    }
    if kept.root != receipt.from_root {
        bail!("the receipt starts from another tree of {} entries than the checkpoint", kept.size);
    }
    Ok(())
}

impl Checked {
    fn json(&self, key: &VerifierKey) -> Value {
        let mut told = match self {
            Self::Entry(Receipt { index, leaf, size, .. }, root) => json!({
                "position": index, "leaf": String::from_utf8_lossy(leaf), "size": size, "root": root.to_hex(),
            }),
            Self::Growth { receipt: ConsistencyReceipt { from, from_root, size, .. }, root, .. } => json!({
                "from": from, "from_root": from_root.to_hex(), "size": size, "root": root.to_hex(),
            }),
        };
        told["origin"] = json!(key.name());
        told["verifies"] = json!(true);
        told["not_checked"] = json!(self.not_checked());
        told
    }

    fn text(&self, key: &VerifierKey) -> String {
        let origin = output::printable(key.name());
        let mut text = match self {
            Self::Entry(Receipt { index, leaf, size, .. }, root) => format!(
                "Entry {index} of `{origin}` is in a tree that the key has signed.\n  entry: {}\n  \
                 tree: {size} entries, root {}\n",
                output::printable(&String::from_utf8_lossy(leaf)),
                root.to_hex()
            ),
            Self::Growth { receipt: ConsistencyReceipt { from, from_root, size, .. }, root, is_from_kept } => {
                let which = if *is_from_kept { "of your checkpoint" } else { "in the receipt" };
                format!(
                    "The ledger `{origin}`, as the key has signed it, continues the one {which}.\n  \
                     from: {from} entries, root {}\n  to: {size} entries, root {}\n",
                    from_root.to_hex(),
                    root.to_hex()
                )
            }
        };
        for what in self.not_checked() {
            let _ = writeln!(text, "  not checked: {what}");
        }
        text
    }

    fn not_checked(&self) -> Vec<&'static str> {
        match self {
            Self::Entry(..) => NOT_CHECKED_OF_ENTRY.to_vec(),
            Self::Growth { is_from_kept: true, .. } => NOT_CHECKED_OF_GROWTH.to_vec(),
            Self::Growth { is_from_kept: false, .. } => [&[WITHOUT_CHECKPOINT], NOT_CHECKED_OF_GROWTH].concat(),
        }
    }
}
