//! Profiles: named services of a user with URL and key.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::data_folder::{is_open_to_others, replace_secret};

const PROFILES_FILE: &str = "timenav/profiles.toml";
const NAME_CHARS_MAX: usize = 64;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiles {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<String>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) url: String,
    /// The API key, sent only to this service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca: Option<PathBuf>,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Profiles {
    pub(crate) fn path(folder: Option<&Path>) -> anyhow::Result<PathBuf> {
        let folder = folder.context("no folder for profiles: neither XDG_CONFIG_HOME nor HOME is set")?;
        Ok(folder.join(PROFILES_FILE))
    }

    /// A missing file has no profiles. Fails if other users can read its keys.
    pub(crate) fn read(folder: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = folder.map(|folder| folder.join(PROFILES_FILE)) else { return Ok(Self::default()) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| format!("the profiles in {} cannot be read", path.display()));
            }
        };
        let profiles: Self =
            toml::from_str(&text).with_context(|| format!("the profiles in {} cannot be read", path.display()))?;
        let has_keys = profiles.profiles.values().any(|profile| profile.key.is_some());
        if has_keys && is_open_to_others(&path)? {
            bail!("other users can read the keys in {path}; run `chmod 600 {path}`", path = path.display());
        }
        Ok(profiles)
    }

    /// Writes the profiles so that only their owner can read them.
    pub(crate) fn write(&self, folder: Option<&Path>) -> anyhow::Result<()> {
        let path = Self::path(folder)?;
        let cannot = || format!("the profiles in {} cannot be written", path.display());
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(cannot)?;
        }
        replace_secret(&path, &toml::to_string(self)?).with_context(cannot)
    }

    pub(crate) fn get(&self, name: &str) -> anyhow::Result<&Profile> {
        let names = || match self.profiles.len() {
            0 => "none exist; `timenav profile add` creates one".to_owned(),
            _ => format!("there are {}", self.profiles.keys().cloned().collect::<Vec<_>>().join(", ")),
        };
        self.profiles.get(name).with_context(|| format!("there is no profile `{name}`; {}", names()))
    }
}

pub(crate) fn profile_name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || text.chars().count() > NAME_CHARS_MAX || !text.chars().all(is_name) {
        return Err(format!("a name has 1 to {NAME_CHARS_MAX} letters, digits, `.`, `_` or `-`"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn profile(key: Option<&str>) -> Profile {
        Profile { url: "https://time.example".to_owned(), key: key.map(str::to_owned), ca: None }
    }

    #[test]
    fn profiles_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Some(folder.path());
        assert!(Profiles::read(folder).unwrap().profiles.is_empty());
        let profiles = Profiles {
            default: Some("a".to_owned()),
            profiles: BTreeMap::from([("a".to_owned(), profile(Some("tnk_a"))), ("b".to_owned(), profile(None))]),
        };
        profiles.write(folder).unwrap();
        let path = Profiles::path(folder).unwrap();
        assert!(!is_open_to_others(&path).unwrap());
        let read = Profiles::read(folder).unwrap();
        assert_eq!((read.default.as_deref(), read.get("a").unwrap().key.as_deref()), (Some("a"), Some("tnk_a")));
        assert!(!format!("{read:?}").contains("tnk_a"));
        let refused = read.get("c").unwrap_err().to_string();
        assert_eq!(refused, "there is no profile `c`; there are a, b");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Profiles::read(folder).unwrap_err().to_string().contains("chmod 600"));
        std::fs::write(&path, "profiles = 1").unwrap();
        assert!(Profiles::read(folder).is_err());
    }

    #[test]
    fn profile_names_are_short_words() {
        assert!(profile_name("staging-2.eu_west").is_ok());
        for wrong in ["", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(profile_name(wrong).is_err(), "{wrong}");
        }
    }
}
