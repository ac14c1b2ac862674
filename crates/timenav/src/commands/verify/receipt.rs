//! A COSE receipt of an entry (RFC 9942), checked offline.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use serde_json::json;
use timenav_core::ledger::{Hash, LeafRecord, Receipt, VerifierKey};

use crate::doors::verify_signature;
use crate::exit::Failure;
use crate::output::{self, Unshown};

/// What no such receipt can show.
const NOT_CHECKED: [&str; 3] = [
    "the payload of the entry",
    "whether the user named in the entry was allowed to do that",
    "whether the service showed others another history",
];

/// Checks the bytes of a receipt, and tells of it.
///
/// # Errors
/// It does not hold.
pub(super) fn verify(bytes: &[u8], key: &VerifierKey, as_json: bool) -> Result<(), Failure> {
    let checked = check(bytes, key).map_err(|error| format!("{error:#}"));
    let text = match (&checked, as_json) {
        (Ok((receipt, root)), true) => {
            let told = json!({
                "origin": key.name(), "verifies": true, "position": receipt.index,
                "leaf": String::from_utf8_lossy(&receipt.leaf), "size": receipt.size, "root": root.to_hex(),
                "not_checked": NOT_CHECKED,
            });
            output::pretty(&told.to_string())
        }
        (Err(wrong), true) => {
            output::pretty(&json!({ "origin": key.name(), "verifies": false, "wrong": wrong }).to_string())
        }
        (Ok((receipt, root)), false) => told(receipt, root),
        (Err(wrong), false) => {
            format!("The receipt does not verify by the key of `{}`.\n  {}\n", key.name(), output::printable(wrong))
        }
    };
    let mut unshown = Unshown::default();
    unshown.after(output::write(&text));
    checked.map_err(|_| Failure::Tampered(1)).and_then(|_| unshown.end())
}

/// Leads the entry to a root that the key has signed.
fn check(bytes: &[u8], key: &VerifierKey) -> anyhow::Result<(Receipt, Hash)> {
    let receipt = Receipt::parse(bytes)?;
    let root = receipt.verify(key, verify_signature)?;
    let record = LeafRecord::decode(&receipt.leaf).context("the entry cannot be read")?;
    let timeline = key.name().rsplit_once('/').map_or(key.name(), |(_, timeline)| timeline);
    if record.seq != receipt.index || record.timeline_id != timeline {
        bail!("the entry says that it is entry {} of `{}`", record.seq, record.timeline_id);
    }
    Ok((receipt, root))
}

fn told(receipt: &Receipt, root: &Hash) -> String {
    let Receipt { index, origin, size, leaf, .. } = receipt;
    let mut text = format!("Entry {index} of `{}` is in a tree that the key has signed.\n", output::printable(origin));
    let _ = writeln!(text, "  entry: {}", output::printable(&String::from_utf8_lossy(leaf)));
    let _ = writeln!(text, "  tree: {size} entries, root {}", root.to_hex());
    for what in NOT_CHECKED {
        let _ = writeln!(text, "  not checked: {what}");
    }
    text
}
