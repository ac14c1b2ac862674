//! The next signing key, during a rotation.
//!
//! Its file has two lines: the key, and a MAC that only the holder of the current signing key can compute. An attacker
//! who can write to the folder but not read it can therefore not install their own key.

use anyhow::{Context as _, bail};
use data_encoding::BASE64;
use zeroize::Zeroizing;

use super::{KeyText, ServiceKey};
use crate::data_folder::{DataFolder, is_open_to_others, replace_secret, sync_folder_of, write_secret};

const LABEL: &str = "next signing key";

pub(crate) struct NextKey {
    pub(crate) key: ServiceKey,
    /// The key in the format of the signing key file.
    text: Zeroizing<String>,
}

pub(crate) enum NextKeyFile {
    None,
    /// Interrupted before the signing key was replaced.
    Begun(NextKey),
    /// Interrupted after that: the new key signs already.
    Left,
}

impl NextKey {
    /// Wraps a new key, which is not stored yet.
    pub(crate) fn new(text: &KeyText) -> anyhow::Result<Self> {
        Ok(Self { key: ServiceKey::of(text)?, text: text.to_secret_text() })
    }

    /// Stores it next to the signing key.
    pub(crate) fn keep(&self, folder: &DataFolder, current: &ServiceKey) -> anyhow::Result<()> {
        let path = folder.next_signing_key();
        let text = Zeroizing::new(format!("{}\n{}\n", &*self.text, code(current, &self.text)));
        write_secret(&path, &text).with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Replaces the signing key, which is destroyed. After an error, one of the two keys is in effect.
    pub(crate) fn take_place(&self, folder: &DataFolder) -> anyhow::Result<()> {
        let path = folder.signing_key();
        let text = Zeroizing::new(format!("{}\n", &*self.text));
        replace_secret(&path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
        remove(&folder.next_signing_key())
    }
}

impl NextKeyFile {
    /// Fails if the file is damaged or was not created by the holder of the signing key.
    pub(crate) fn read(folder: &DataFolder, current: &ServiceKey) -> anyhow::Result<Self> {
        let path = folder.next_signing_key();
        let named = || path.display().to_string();
        if !path.try_exists().with_context(named)? {
            return Ok(Self::None);
        }
        if is_open_to_others(&path).with_context(named)? {
            tracing::warn!(path = %path.display(), "users other than its owner can read the next signing key; run chmod 600 on it");
        }
        let lines = Zeroizing::new(std::fs::read_to_string(&path).with_context(named)?);
        parse(&lines, current).with_context(|| {
            format!(
                "the rotation cannot continue with the next signing key {}: remove it and start the rotation again; \
                 passwords that were already sealed with it must be set again",
                path.display()
            )
        })
    }

    /// Removes the leftover of a rotation that was interrupted at its very end.
    pub(crate) fn clear(folder: &DataFolder) -> anyhow::Result<()> {
        remove(&folder.next_signing_key())
    }
}

fn parse(lines: &str, current: &ServiceKey) -> anyhow::Result<NextKeyFile> {
    let (text, key_line) = lines.split_once('\n').context("it does not have two lines")?;
    let next = NextKey::new(&KeyText::parse(text)?)?;
    let name = &next.key.service_name;
    if *name != current.service_name {
        bail!("it belongs to the service `{name}`, but this one is `{}`", current.service_name);
    }
    if next.key.signer.public_key() == current.signer.public_key() {
        return Ok(NextKeyFile::Left);
    }
    // Not constant-time: whoever can try codes against a file in this folder can write the signing key itself.
    if key_line.trim_end() != code(current, text) {
        bail!("it was not created with the current signing key");
    }
    Ok(NextKeyFile::Begun(next))
}

/// Returns the MAC of a next key under the current signing key.
fn code(current: &ServiceKey, text: &str) -> String {
    BASE64.encode(&current.signer.authenticate(LABEL, text.as_bytes()))
}

fn remove(path: &std::path::Path) -> anyhow::Result<()> {
    std::fs::remove_file(path)
        .and_then(|()| sync_folder_of(path))
        .with_context(|| format!("{} cannot be removed", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_files::service_key;
    use crate::wiring::ports::OsEntropy;

    fn read(folder: &DataFolder, current: &ServiceKey) -> Result<NextKeyFile, String> {
        NextKeyFile::read(folder, current).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn next_key_is_stored_and_replaces_the_current_one() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let entropy = OsEntropy;
        let current = service_key(&folder, None, &entropy).unwrap();
        assert!(matches!(read(&folder, &current), Ok(NextKeyFile::None)));
        let next = NextKey::new(&KeyText::make(&current.service_name, &entropy).unwrap()).unwrap();
        assert!(matches!(read(&folder, &current), Ok(NextKeyFile::None)), "made, and not kept");
        next.keep(&folder, &current).unwrap();
        assert!(!is_open_to_others(&folder.next_signing_key()).unwrap());
        let Ok(NextKeyFile::Begun(again)) = read(&folder, &current) else { panic!("it was begun") };
        assert_eq!(again.key.signer.public_key(), next.key.signer.public_key());
        let left = std::fs::read_to_string(folder.next_signing_key()).unwrap();
        again.take_place(&folder).unwrap();
        let after = service_key(&folder, None, &entropy).unwrap();
        assert_eq!(after.signer.public_key(), next.key.signer.public_key());
        assert!(matches!(read(&folder, &after), Ok(NextKeyFile::None)));
        assert!(!is_open_to_others(&folder.signing_key()).unwrap());
        // Interrupted between the last two steps.
        std::fs::write(folder.next_signing_key(), left).unwrap();
        assert!(matches!(read(&folder, &after), Ok(NextKeyFile::Left)));
        NextKeyFile::clear(&folder).unwrap();
        assert!(matches!(read(&folder, &after), Ok(NextKeyFile::None)));
    }

    #[test]
    fn next_key_not_signed_by_the_current_one_is_rejected() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let other_parent = tempfile::tempdir().unwrap();
        let other_folder = DataFolder::open(other_parent.path()).unwrap();
        let entropy = OsEntropy;
        let current = service_key(&folder, None, &entropy).unwrap();
        // With the same name, but created by the holder of a different signing key.
        let other = service_key(&other_folder, None, &entropy).unwrap();
        NextKey::new(&KeyText::make(&other.service_name, &entropy).unwrap()).unwrap().keep(&folder, &other).unwrap();
        let planted = std::fs::read_to_string(folder.next_signing_key()).unwrap();
        NextKeyFile::clear(&folder).unwrap();
        NextKey::new(&KeyText::make(&current.service_name, &entropy).unwrap())
            .unwrap()
            .keep(&folder, &current)
            .unwrap();
        let right = std::fs::read_to_string(folder.next_signing_key()).unwrap();
        for wrong in [
            planted,
            String::new(),
            "\n".to_owned(),
            right.lines().next().unwrap().to_owned(),
            format!("{}\n", right.lines().next().unwrap()),
            right.replace("timenav.local", "timenav.other"),
            right[1..].to_owned(),
        ] {
            std::fs::write(folder.next_signing_key(), &wrong).unwrap();
            let refused = read(&folder, &current).err().expect("it is refused");
            assert!(refused.contains("remove it and start the rotation again"), "{refused}");
            assert!(!refused.contains("PRIVATE+KEY+timenav"), "{refused}");
        }
        std::fs::write(folder.next_signing_key(), right).unwrap();
        assert!(matches!(read(&folder, &current), Ok(NextKeyFile::Begun(_))));
    }
}
