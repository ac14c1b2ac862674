//! External checkpoints for a replica whose own folder has none yet (`--join`): from another replica, an archive or the
//! witnesses. They are a lower bound: the service does not start if the database does not continue a checkpoint that
//! the service has signed.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Client, Url};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Note, VerifierKey, sha256};
use timenav_engine::ExternalCheckpoint;
use timenav_store::CheckpointFile;

use crate::client::{built, is_this_machine};
use crate::config::{CheckpointSource, Settings, WitnessUrl};
use crate::wiring::ports::verify_signature;

/// Request timeout. The start waits for it.
const ANSWER_SECONDS_MAX: Duration = Duration::from_secs(10);
/// Maximum size of a downloaded checkpoint file, in bytes: enough for two hundred thousand timelines.
const CHECKPOINT_FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reads external checkpoints from the configured sources and from the witnesses. Witnesses are only asked if the
/// service's own checkpoint file is empty, so all other starts wait for nobody.
///
/// An unreachable witness is logged, because another one may respond. Without any, the service reports that it had
/// nothing to compare with. A configured source that cannot be read is an error.
pub(crate) async fn checkpoints_of_others(
    settings: &Settings,
    (key, own): (&VerifierKey, &Path),
) -> anyhow::Result<Vec<ExternalCheckpoint>> {
    if !settings.join {
        return Ok(Vec::new());
    }
    let mut stored = Vec::new();
    for from in &settings.trusted_checkpoint {
        let read = match from {
            CheckpointSource::File(path) => read_checkpoints(path),
            CheckpointSource::Url(url) => {
                async { parse_checkpoints(fetch(url).await?) }.await.with_context(|| url.to_string())
            }
        };
        stored.extend(read.context("the source in --trusted-checkpoint cannot be used")?);
    }
    // A file that cannot be read is reported when it is compared.
    let is_known_here = CheckpointFile::read_only(own).is_ok_and(|stored| !stored.is_empty());
    for witness in settings.witnesses.witness_urls.iter().filter(|_| !is_known_here) {
        match cosigned_by(witness, key).await {
            Ok(checkpoint) => stored.extend(checkpoint),
            Err(error) => tracing::warn!(
                witness = witness.key.name(),
                "the checkpoint from the witness `{}` cannot be compared with the database: {error:#}",
                witness.key.name()
            ),
        }
    }
    Ok(stored)
}

/// Returns the last checkpoint of `system` that a witness has cosigned, if any. A checkpoint not signed by `key` is an
/// error: a lying witness must not prevent a start.
async fn cosigned_by(witness: &WitnessUrl, key: &VerifierKey) -> anyhow::Result<Option<ExternalCheckpoint>> {
    let system = TimelineId::system();
    let log = sha256(&[key.name().as_bytes()]).to_hex();
    let url = witness.below(&[&log, "checkpoint"]);
    let Some(bytes) = fetch_found(&url).await? else { return Ok(None) };
    let note = std::str::from_utf8(&bytes).context("it is not text")?;
    Checkpoint::open(note.as_bytes(), key, verify_signature).context("this service has not signed it")?;
    Ok(Some(ExternalCheckpoint { timeline: system, note: note.into(), seal: None }))
}

async fn fetch(url: &Url) -> anyhow::Result<Vec<u8>> {
    fetch_found(url).await?.context("it was not found (404)")
}

/// Downloads a URL; `None` if it does not exist.
async fn fetch_found(url: &Url) -> anyhow::Result<Option<Vec<u8>>> {
    let http = built(url, || {
        let builder = Client::builder()
            .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
            .timeout(ANSWER_SECONDS_MAX)
            .redirect(reqwest::redirect::Policy::none());
        if is_this_machine(url) { builder.no_proxy() } else { builder }
    })?;
    let mut response = http.get(url.clone()).send().await.map_err(reqwest::Error::without_url)?;
    if response.status() == reqwest::StatusCode::NOT_FOUND {
        return Ok(None);
    }
    if !response.status().is_success() {
        bail!("it returned {}", response.status());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + chunk.len() > CHECKPOINT_FILE_BYTES_MAX {
            bail!("it is longer than {CHECKPOINT_FILE_BYTES_MAX} bytes");
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Reads checkpoints: a checkpoint file of a service, with one per line, or a single signed note.
pub(crate) fn read_checkpoints(path: &Path) -> anyhow::Result<Vec<ExternalCheckpoint>> {
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    parse_checkpoints(bytes).with_context(|| path.display().to_string())
}

fn parse_checkpoints(bytes: Vec<u8>) -> anyhow::Result<Vec<ExternalCheckpoint>> {
    const IS_NONE: &str = "it is neither a file of checkpoints nor a signed checkpoint";
    if bytes.first() == Some(&b'{') {
        return CheckpointFile::read_from(bytes).map_err(|error: io::Error| error.into());
    }
    let note = Note::parse(&bytes).context(IS_NONE)?;
    let checkpoint = Checkpoint::parse(note.text()).context(IS_NONE)?;
    let (_, timeline) = checkpoint.origin.rsplit_once('/').context(IS_NONE)?;
    let timeline = TimelineId::new(timeline).context(IS_NONE)?;
    Ok(vec![ExternalCheckpoint { timeline, note: note.to_string().into(), seal: None }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_checkpoint_text_is_rejected() {
        for wrong in [&b""[..], b"{}\n", b"<html></html>\n", b"a\n\n"] {
            assert!(parse_checkpoints(wrong.to_vec()).is_err(), "{wrong:?}");
        }
        // A crash can truncate the last line of a file, which then does not count.
        assert!(parse_checkpoints(b"{".to_vec()).unwrap().is_empty());
    }
}
