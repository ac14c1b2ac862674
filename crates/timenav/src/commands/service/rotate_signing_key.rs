use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::{Value, json};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{TlogProof, VerifierKey, origin};
use timenav_engine::{Engine, InclusionProof, Rotation};

use crate::commands::service::runtime;
use crate::commands::service::stopped_service::{StoppedService, folder_of};
use crate::config::Settings;
use crate::data_folder::{DataFolder, check_replaceable};
use crate::exit::Failure;
use crate::key_files::{KeyText, NextKey, NextKeyFile, ServiceKey, service_key, stored_service_key};
use crate::wiring::ports::OsEntropy;
use crate::{output, wiring};

const UNFINISHED: &str = "the rotation is not finished; run the command again";

/// Replaces the signing key of a stopped service.
///
/// Every ledger gets an entry with both keys and a checkpoint signed by both. To restore earlier backups, you need the
/// old key: copy it first. Sessions end; passwords and API keys stay valid. If the command is interrupted, run it again
/// to continue; until then, the old key signs.
#[derive(Debug, clap::Args)]
pub(crate) struct RotateSigningKeyCommand {
    #[command(flatten)]
    service: StoppedService,
    /// The folder for the rotation proof of each ledger, for anyone who trusts the old key. You cannot create it later.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Fails if a service uses the folder or its data does not match its signatures.
pub(crate) fn run(command: RotateSigningKeyCommand) -> Result<(), Failure> {
    let RotateSigningKeyCommand { service, save, json } = command;
    let settings = service.settings()?;
    let folder = folder_of(&settings)?;
    let entropy = OsEntropy;
    let name = settings.service_name.as_deref();
    let current = match &settings.store {
        Some(_) => stored_service_key(&folder, name)?,
        None => service_key(&folder, name, &entropy)?,
    };
    let (next, is_begun) = match NextKeyFile::read(&folder, &current)? {
        NextKeyFile::None => (NextKey::new(&KeyText::make(&current.service_name, &entropy)?)?, false),
        NextKeyFile::Begun(next) => (next, true),
        NextKeyFile::Left => {
            NextKeyFile::clear(&folder)?;
            let new = verifier_key(&current.service_name, current.signer.public_key())?;
            return show(&Rotated { retired: None, new, ledgers: BTreeMap::new() }, json);
        }
    };
    let key = folder.signing_key();
    // Checked before the first ledger is changed, as is whether proofs can be saved.
    check_replaceable(&key).with_context(|| {
        format!("the new key cannot be written to {}: if that is a mounted copy, rotate the original", key.display())
    })?;
    if let Some(save) = &save {
        std::fs::create_dir_all(save).with_context(|| format!("{} cannot be created", save.display()))?;
    }
    let rotation = runtime()?.block_on(rotate(&folder, &settings, &current, &next, is_begun, save.as_deref()))?;
    next.take_place(&folder).context(UNFINISHED)?;
    let rotated = Rotated {
        retired: Some(verifier_key(&current.service_name, current.signer.public_key())?),
        new: verifier_key(&current.service_name, next.key.signer.public_key())?,
        ledgers: rotation.ledgers,
    };
    show(&rotated, json)
}

struct Rotated {
    /// The replaced key of `main`; `None` if it was replaced earlier.
    retired: Option<VerifierKey>,
    new: VerifierKey,
    /// Every ledger with its size at the key change.
    ledgers: BTreeMap<TimelineId, u64>,
}

/// The next key is stored before any ledger names it, and only after the folder has been verified.
async fn rotate(
    folder: &DataFolder,
    settings: &Settings,
    current: &ServiceKey,
    next: &NextKey,
    is_begun: bool,
    save: Option<&Path>,
) -> anyhow::Result<Rotation> {
    let wired = wiring::open_to_rotate(folder, settings, current.clone(), Arc::clone(&next.key.signer)).await?;
    let rotation = async {
        if !is_begun {
            next.keep(folder, current)?;
        }
        let rotation = wired.engine.rotate_signing_key().await.context(UNFINISHED)?;
        if let Some(save) = save {
            save_proofs(&wired.engine, &rotation, save).await.context(UNFINISHED)?;
        }
        Ok(rotation)
    }
    .await;
    wired.engine.close().await;
    rotation
}

/// Saves a proof file (C2SP tlog-proof) of the rotation entry of each ledger.
async fn save_proofs(engine: &Engine, rotation: &Rotation, folder: &Path) -> anyhow::Result<()> {
    for timeline in rotation.ledgers.keys() {
        let InclusionProof { position, leaf, hashes, checkpoint, .. } = engine.rotation_proof(timeline).await?;
        let proof = TlogProof { extra: leaf, index: position, hashes, checkpoint: checkpoint.note };
        let file = folder.join(format!("{timeline}.tlog-proof"));
        std::fs::write(&file, proof.to_text()).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

/// Returns a public key under the ledger name of `main`.
pub(in crate::commands) fn verifier_key(service_name: &str, public_key: [u8; 32]) -> anyhow::Result<VerifierKey> {
    Ok(VerifierKey::new(&origin(service_name, TimelineId::MAIN), public_key)?)
}

fn show(rotated: &Rotated, as_json: bool) -> Result<(), Failure> {
    let Rotated { retired, new, ledgers } = rotated;
    let status = match retired {
        Some(_) => "The signing key was rotated.",
        None => "The signing key was already rotated; the new key signs.",
    };
    if as_json {
        let ledger = |(timeline, size): (&TimelineId, &u64)| json!({ "timeline_id": timeline.as_str(), "size": size });
        let answer = json!({
            "status": status,
            "retired_verifier_key": retired.as_ref().map(ToString::to_string),
            "verifier_key": new.to_string(),
            "ledgers": ledgers.iter().map(ledger).collect::<Vec<Value>>(),
        });
        return output::write_json(&answer);
    }
    let mut text = format!("{status}\n");
    if let Some(retired) = retired {
        let _ = writeln!(text, "  retired key  {retired}");
    }
    let _ = writeln!(text, "  new key      {new}");
    text.push_str("These are the keys for the ledger of `main`; each other ledger has them under its own name.\n");
    let main = ledgers.iter().find(|(timeline, _)| timeline.as_str() == TimelineId::MAIN);
    if let Some((_, size)) = main {
        let count = ledgers.len();
        let _ = writeln!(
            text,
            "Both have signed the latest checkpoint of each of {count} ledgers, at {size} entries of `main`.\n\
             Tell everyone who verifies to trust the new key, and the retired one only up to that size.\n\
             All sessions have ended. Timers whose webhooks have a secret need it again, before they fire.\n\
             Back up the new key."
        );
    }
    output::write(&text)
}
