use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use timenav_core::ledger::{TlogProof, VerifierKey};
use timenav_engine::{BUNDLE_LINE_BYTES_MAX, BundleCheck, CheckedBundle};

use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::verify_signature;

#[cfg(test)]
mod tests;

/// Lines between progress updates.
const LINES_BETWEEN_LOOKS: u64 = 1_000;

const NOT_CHECKED: [&str; 4] = [
    "whether users named in entries were allowed to do what they did",
    "the state derived from the entries: clock, permissions, events, paradoxes",
    "the checkpoints quoted in entries of forks, beyond their roots",
    "whether other clients were shown a different history: compare checkpoints that were kept",
];

pub(super) fn verify(path: &Path, key: VerifierKey, rotations: &[PathBuf], as_json: bool) -> Result<(), Failure> {
    let rotations = rotations.iter().map(|file| read_proof(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let name = key.name().to_owned();
    let check = BundleCheck::new(key, rotations, &verify_signature);
    let checked = read(BufReader::new(file), check).with_context(|| format!("{} cannot be read", path.display()))?;
    let failed = format!("The bundle of `{name}` does not verify.");
    super::show_file(&checked, (&name, &failed), as_json, (bundle_json, bundle_text))
}

fn read_proof(path: &Path) -> anyhow::Result<TlogProof> {
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    TlogProof::parse(&bytes).with_context(|| format!("{} is not a proof file", path.display()))
}

/// Reads the file to its end or to the first fault. A fault is not an `Err`.
fn read(mut file: impl BufRead, mut check: BundleCheck<'_>) -> std::io::Result<Result<CheckedBundle, String>> {
    let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} entries, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let most = BUNDLE_LINE_BYTES_MAX as u64 + 1;
        if file.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if let Err(wrong) = check.line(&line) {
            bar.finish_and_clear();
            return Ok(Err(format!("line {number}: {wrong}")));
        }
        if number.is_multiple_of(LINES_BETWEEN_LOOKS) {
            let (entries, all) = check.progress();
            bar.set_length(all);
            bar.set_position(entries);
        }
    }
    bar.finish_and_clear();
    Ok(check.finish())
}

fn bundle_text(bundle: &CheckedBundle) -> String {
    let (origin, key) = (output::printable(&bundle.origin), bundle.key.id());
    let size = bundle.layers.last().map_or(0, |(_, size)| *size);
    let mut text =
        format!("The bundle of `{origin}` matches what was signed: {size} entries, by the key with the id {key}.\n");
    for (timeline, size) in bundle.layers.iter().rev().skip(1).rev() {
        let _ = writeln!(text, "  forked from: {size} entries of `{timeline}`");
    }
    if bundle.rotations_followed > 0 {
        let _ = writeln!(text, "  rotations of the key followed: {}", bundle.rotations_followed);
    }
    let CheckedBundle { payloads, data, missing_contents, pruned, .. } = bundle;
    let _ = writeln!(text, "  checked: {payloads} payloads, {data} sealed records");
    let _ = writeln!(text, "  erased, and listed by an entry: {missing_contents}");
    if *pruned > 0 {
        let _ = writeln!(text, "  of these, pruned: {pruned}");
    }
    text + &super::not_checked_text(&NOT_CHECKED)
}

fn bundle_json(bundle: &CheckedBundle) -> Value {
    let layer = |(timeline, size): &(_, u64)| json!({ "timeline_id": format!("{timeline}"), "size": size });
    json!({
        "origin": bundle.origin,
        "verifies": true,
        "layers": bundle.layers.iter().map(layer).collect::<Vec<_>>(),
        "root": bundle.root.to_hex(),
        "checkpoint": bundle.checkpoint,
        "verifier_key": bundle.key.to_string(),
        "rotations_followed": bundle.rotations_followed,
        "recorded_at": bundle.recorded_at.map(|at| at.to_string()),
        "payloads": bundle.payloads,
        "data": bundle.data,
        "gone": bundle.missing_contents,
        "pruned": bundle.pruned,
        "sha256": bundle.sha256.to_hex(),
        "not_checked": NOT_CHECKED,
    })
}
