use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use parking_lot::Mutex;
use timenav_core::ledger::{Hash, WitnessKey};
use timenav_engine::Signer;

use crate::data_folder::{LOCK_FILE, hold, replace_secret, write_secret};
use crate::key_files::{make_signing_key, read_signing_key};
use crate::wiring::ports::OsEntropy;

const KEY_FILE: &str = "witness.key";
/// The logs with a cosigned checkpoint, one per line, so that a missing file is noticed.
const KNOWN_FILE: &str = "logs";
const CHECKPOINT_ENDING: &str = ".checkpoint";
pub(crate) const NAME_DEFAULT: &str = "timenav.local/witness";

pub(crate) struct WitnessFolder {
    path: PathBuf,
    known: Mutex<BTreeSet<String>>,
    _lock: File,
}

impl WitnessFolder {
    /// Locks a folder, creating it if necessary. Fails if another process holds it, or it is the data folder of a
    /// service.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path.join(crate::data_folder::DATABASE_FILE).exists() {
            bail!(
                "{} is the data folder of a service: give the witness a folder of its own, best on another machine",
                path.display()
            );
        }
        let lock = hold(path, LOCK_FILE).map_err(|error| anyhow!("the folder {} {error:#}", path.display()))?;
        let known = match std::fs::read_to_string(path.join(KNOWN_FILE)) {
            Ok(text) => text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        Ok(Self { path: path.to_owned(), known: Mutex::new(known), _lock: lock })
    }

    /// Reads the key, or creates it on the first start. Fails if it is missing although something was cosigned, or has
    /// another name.
    pub(super) fn key(&self, name: Option<&str>) -> anyhow::Result<(WitnessKey, Arc<dyn Signer>)> {
        let path = self.path.join(KEY_FILE);
        let named = || format!("the key of the witness, {}", path.display());
        if !path.try_exists().with_context(named)? {
            if !self.known.lock().is_empty() {
                bail!("{} is missing: put it back; another key cannot replace it for earlier cosignatures", named());
            }
            let name = name.unwrap_or(NAME_DEFAULT);
            make_signing_key(&path, name, &OsEntropy).with_context(|| format!("{} for `{name}`", named()))?;
        }
        let key = read_signing_key(&path).with_context(named)?;
        if let Some(name) = name.filter(|name| *name != key.service_name) {
            bail!("the witness is named `{}`, and cannot be renamed to `{name}`", key.service_name);
        }
        let public = WitnessKey::new(&key.service_name, key.signer.public_key())?;
        Ok((public, key.signer))
    }

    /// Fails if the checkpoint of a known log is missing.
    pub(super) fn checkpoint(&self, log: &str) -> anyhow::Result<Option<String>> {
        let path = self.checkpoint_file(log);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                // A crash may have come between the two writes.
                self.know(log)?;
                Ok(Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.known.lock().contains(log) {
                    bail!(
                        "{} is missing, so the log could roll back cosigned entries: restore it from a backup, or, to \
                         start over with this log, remove its line from {}",
                        path.display(),
                        self.path.join(KNOWN_FILE).display()
                    );
                }
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    /// Returns the logs with a checkpoint file or an entry in the list.
    pub(super) fn stored_hashes(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut logs = self.known.lock().clone();
        let cannot = || format!("{} cannot be read", self.path.display());
        // A crash may have come before a log was added to the list.
        for file in std::fs::read_dir(&self.path).with_context(cannot)? {
            let name = file.with_context(cannot)?.file_name();
            let log = name.to_str().and_then(|name| name.strip_suffix(CHECKPOINT_ENDING));
            if let Some(log) = log.filter(|log| Hash::from_hex(log).is_some()) {
                logs.insert(log.to_owned());
            }
        }
        Ok(logs)
    }

    /// The checkpoint is durable on return. After an error it is unknown whether it was stored.
    pub(super) fn keep_checkpoint(&self, log: &str, note: &str) -> io::Result<()> {
        replace_secret(&self.checkpoint_file(log), note)?;
        self.know(log)
    }

    /// Stores the first request per log that proves a split view. A failure must not prevent the response.
    pub(super) fn keep_evidence(&self, log: &str, request: &str) {
        let path = self.path.join(format!("{log}.evidence"));
        match write_secret(&path, request) {
            Ok(()) => {
                let path = path.display();
                tracing::error!(%path, "a log signed a checkpoint that does not continue the cosigned one");
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => tracing::error!(path = %path.display(), %error, "evidence against a log could not be stored"),
        }
    }

    fn know(&self, log: &str) -> io::Result<()> {
        let mut known = self.known.lock();
        if known.contains(log) {
            return Ok(());
        }
        let lines: Vec<&str> = known.iter().map(String::as_str).chain([log]).collect();
        replace_secret(&self.path.join(KNOWN_FILE), &(lines.join("\n") + "\n"))?;
        known.insert(log.to_owned());
        Ok(())
    }

    fn checkpoint_file(&self, log: &str) -> PathBuf {
        self.path.join(format!("{log}{CHECKPOINT_ENDING}"))
    }
}
