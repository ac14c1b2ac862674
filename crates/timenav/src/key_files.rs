//! The secrets in the data folder: the signing key, the next signing key during a rotation, and the first API key.

mod key_text;
mod next_key;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use timenav_engine::{Entropy, Signer};
use zeroize::Zeroizing;

use crate::data_folder::{
    DataFolder, is_open_to_others, replace_secret, sync_folder_of, unfinished_restore_in, write_secret,
};

pub(crate) use key_text::KeyText;
pub(crate) use next_key::{NextKey, NextKeyFile};

pub(crate) const SERVICE_NAME_DEFAULT: &str = "timenav.local";

/// The signing key of a data folder with the service name that it is bound to.
#[derive(Clone)]
pub(crate) struct ServiceKey {
    pub(crate) signer: Arc<dyn Signer>,
    /// Part of every checkpoint, so it can never change.
    pub(crate) service_name: String,
}

impl ServiceKey {
    pub(crate) fn of(text: &KeyText) -> anyhow::Result<Self> {
        Ok(Self { signer: text.signer()?, service_name: text.name().to_owned() })
    }
}

/// Reads the signing key, or creates it on the very first start. Fails if a restore of the folder was interrupted, or
/// if the key is missing although there is a database, is damaged, or belongs to a service name other than `service_name`.
pub(crate) fn service_key(
    folder: &DataFolder,
    service_name: Option<&str>,
    entropy: &dyn Entropy,
) -> anyhow::Result<ServiceKey> {
    if let Some(unfinished) = unfinished_restore_in(folder.path()) {
        bail!(unfinished);
    }
    let path = folder.signing_key();
    if !path.try_exists().with_context(|| format!("{} cannot be read", path.display()))? {
        if folder.database().try_exists().context("the database cannot be read")? {
            bail!(
                "the database {} exists, but the key that signs its ledgers, {}, is missing: put the key back; \
                 without it the history can be read but not continued",
                folder.database().display(),
                path.display(),
            );
        }
        make_signing_key(&path, service_name.unwrap_or(SERVICE_NAME_DEFAULT), entropy)?;
    }
    stored_service_key(folder, service_name)
}

/// Fails if the key is missing, damaged, or belongs to a service name other than `service_name`.
pub(crate) fn stored_service_key(folder: &DataFolder, service_name: Option<&str>) -> anyhow::Result<ServiceKey> {
    let path = folder.signing_key();
    let key = read_signing_key(&path).with_context(|| format!("the signing key {}", path.display()))?;
    match service_name {
        Some(service_name) if service_name != key.service_name => bail!(
            "the service name is `{}` and cannot be changed to `{service_name}`: it is in every signed checkpoint",
            key.service_name
        ),
        Some(_) | None => Ok(key),
    }
}

/// Fails if the file exists or the name is invalid.
pub(crate) fn make_signing_key(path: &Path, service_name: &str, entropy: &dyn Entropy) -> anyhow::Result<()> {
    let key = KeyText::make(service_name, entropy)?;
    let text = Zeroizing::new(format!("{}\n", &*key.to_secret_text()));
    write_secret(path, &text).with_context(|| format!("{} cannot be written", path.display()))
}

pub(crate) fn read_signing_key(path: &Path) -> anyhow::Result<ServiceKey> {
    if is_open_to_others(path)? {
        tracing::warn!(path = %path.display(), "users other than its owner can read the signing key; run chmod 600 on it");
    }
    let text = Zeroizing::new(std::fs::read_to_string(path)?);
    ServiceKey::of(&KeyText::parse(text.trim_end())?)
}

/// Reads the service name and the public key. The secret key is dropped.
pub(crate) fn read_public_key(path: &Path) -> anyhow::Result<(String, [u8; 32])> {
    let key = read_signing_key(path)?;
    Ok((key.service_name, key.signer.public_key()))
}

/// Used until the key is known to be valid: if several services start at once, only one initializes the database.
fn unsettled(path: &Path) -> PathBuf {
    path.with_extension("key.first")
}

/// Stores the first API key under a temporary name before anything is committed; see [`settle_first_key`].
pub(crate) fn keep_first_key(path: &Path, secret: &str) -> io::Result<()> {
    replace_secret(&unsettled(path), &Zeroizing::new(format!("{secret}\n")))
}

/// Renames the first API key if it `opens` the service. Otherwise another service was first, or an interrupted first
/// start was repeated, and the key is removed because it is useless.
///
/// An existing file with the final name is useless too, since there was no key before. It is moved aside, not
/// overwritten.
pub(crate) fn settle_first_key(path: &Path, opens: impl FnOnce(&str) -> bool) -> io::Result<()> {
    let first = unsettled(path);
    if !first.try_exists()? {
        return Ok(());
    }
    if !opens(&read_api_key(&first)?) {
        std::fs::remove_file(&first)?;
        return sync_folder_of(path);
    }
    if path.try_exists()? {
        let aside = path.with_extension("key.old");
        std::fs::rename(path, &aside)?;
        sync_folder_of(path)?;
        tracing::warn!(path = %aside.display(), "moved aside an API key left by an unfinished first start or another database");
    }
    std::fs::rename(&first, path)?;
    sync_folder_of(path)?;
    tracing::info!(
        path = %path.display(),
        "first start: wrote the API key of operator `admin` to {}; anyone who can read that file can do everything",
        path.display()
    );
    Ok(())
}

pub(crate) fn read_api_key(path: &Path) -> io::Result<Zeroizing<String>> {
    let text = Zeroizing::new(std::fs::read_to_string(path)?);
    Ok(Zeroizing::new(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::ports::OsEntropy;

    fn open(folder: &DataFolder, service_name: Option<&str>) -> Result<ServiceKey, String> {
        service_key(folder, service_name, &OsEntropy).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn signing_key_is_created_once_with_a_fixed_name() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let made = open(&folder, Some("clock.example")).unwrap();
        assert!(!is_open_to_others(&folder.signing_key()).unwrap());
        let again = open(&folder, None).unwrap();
        assert_eq!(again.service_name, "clock.example");
        assert_eq!(again.signer.public_key(), made.signer.public_key());
        let refused = open(&folder, Some("other.example")).err().unwrap();
        assert!(refused.contains("`clock.example` and cannot be changed to `other.example`"), "{refused}");
    }

    #[test]
    fn database_without_its_signing_key_is_rejected() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        std::fs::write(folder.database(), "").unwrap();
        let refused = open(&folder, None).err().unwrap();
        assert!(refused.contains("put the key back"), "{refused}");
        assert!(!folder.signing_key().exists());
    }

    #[test]
    fn invalid_names_and_damaged_keys_are_rejected() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let refused = open(&folder, Some("two words")).err().unwrap();
        assert!(refused.contains("`two words` cannot be the name in a key"), "{refused}");
        open(&folder, None).unwrap();
        let text = std::fs::read_to_string(folder.signing_key()).unwrap();
        std::fs::write(folder.signing_key(), text.replace("timenav.local", "timenav.other")).unwrap();
        let refused = open(&folder, None).err().unwrap();
        assert!(refused.contains("is damaged"), "{refused}");
    }

    #[test]
    fn service_key_of_agent_file_names_the_file_and_the_way_out() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        std::fs::write(folder.signing_key(), "AGENT+KEY timenav.local+1234abcd+AQID c2Vj /run/agent.sock\n").unwrap();
        let error = open(&folder, None).err().unwrap();
        assert!(error.starts_with(&format!("the signing key {}: ", folder.signing_key().display())), "{error}");
        assert!(error.contains("no longer supported") && error.contains("--in-file"), "{error}");
    }

    #[test]
    fn first_key_moves_an_older_one_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admin.key");
        for secret in ["one", "two"] {
            keep_first_key(&path, secret).unwrap();
            settle_first_key(&path, |found| found == secret).unwrap();
        }
        assert_eq!(*read_api_key(&path).unwrap(), "two");
        assert_eq!(std::fs::read_to_string(folder.path().join("admin.key.old")).unwrap(), "one\n");
        assert!(!is_open_to_others(&path).unwrap());
    }

    #[test]
    fn first_key_without_access_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admin.key");
        keep_first_key(&path, "one").unwrap();
        assert!(!path.exists(), "nobody knows yet");
        settle_first_key(&path, |_| false).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        settle_first_key(&path, |_| panic!("there is none")).unwrap();
    }
}
