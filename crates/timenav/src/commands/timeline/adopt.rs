//! `timenav timeline adopt`: a timeline of another service goes on at this one.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use data_encoding::BASE64URL_NOPAD;
use indicatif::{ProgressBar, ProgressStyle};
use timenav_client::header::HeaderMap;
use timenav_core::ledger::TlogProof;

use crate::client::Client;
use crate::exit::Failure;
use crate::output;

const PROGRESS: &str = "{bar:30} {percent:>3} % of {total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Sends a bundle to be adopted.
///
/// # Errors
/// A file cannot be read, the service does not answer, or says no: nothing of the timeline is there then.
pub(super) fn adopt(
    client: &Client,
    path: &Path,
    verifier_key: String,
    map: &[String],
    rotations: &[PathBuf],
) -> Result<(), Failure> {
    let notes = rotations.iter().map(|file| note_of(file)).collect::<anyhow::Result<Vec<String>>>()?;
    let mut query = vec![("verifier_key", verifier_key)];
    query.extend((!map.is_empty()).then(|| ("map", map.join(","))));
    query.extend((!notes.is_empty()).then(|| ("rotations", notes.join(","))));
    let cannot = || format!("{} cannot be read", path.display());
    let file = File::open(path).with_context(cannot)?;
    let bytes = file.metadata().with_context(cannot)?.len();
    let style = ProgressStyle::with_template(PROGRESS).context("the progress bar is drawn wrongly")?;
    let progress = ProgressBar::new(bytes).with_style(style);
    let sent = progress.wrap_read(file);
    let answer = client.upload(&["timelines", "adopt"], &query, "application/x-ndjson", (None, HeaderMap::new()), sent);
    progress.finish_and_clear();
    client.show(&answer?, |answer| {
        let fields = [("timeline", "timeline_id"), ("came from", "origin"), ("entries", "entries")];
        output::status(answer) + &output::fields(answer, &fields)
    })
}

/// Returns the checkpoint in the proof of a rotation: what both keys have signed. The entry is in the bundle.
fn note_of(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let proof = TlogProof::parse(&bytes).with_context(|| format!("{} is not a proof file", path.display()))?;
    Ok(BASE64URL_NOPAD.encode(proof.checkpoint.as_bytes()))
}
