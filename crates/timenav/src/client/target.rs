//! Finds the service and the key to use.

use std::path::{Path, PathBuf};

use anyhow::bail;
use reqwest::Url;
use zeroize::Zeroizing;

use super::options::{ServiceOptions, is_this_machine, service_url};
use crate::data_folder::{ADMIN_KEY_FILE, DATA_DEFAULT, Listening, listening};
use crate::exit::Failure;
use crate::key_files::read_api_key;
use crate::profiles::{Profile, Profiles};
use crate::wiring::surroundings::Surroundings;

const URL_DEFAULT: &str = "http://127.0.0.1:8080";
const KEY: &str = "TIMENAV_API_KEY";

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) key: Zeroizing<String>,
    /// A description of the source of the key.
    pub(crate) key_source: String,
    pub(crate) ca: Option<PathBuf>,
}

/// The order is --url, --profile, --data, the default profile, ./timenav-data, and the default URL. The key of a
/// profile or data folder is only sent to the service of that profile or folder, unless --url is given together with
/// --data.
pub(crate) fn find(options: &ServiceOptions, surroundings: &Surroundings) -> Result<Target, Failure> {
    let key = environment_key(surroundings)?;
    let folder = surroundings.config_folder.as_deref();
    if let Some(name) = &options.profile {
        if options.url.is_some() {
            let text =
                "a profile and a URL name two services; leave out --profile (TIMENAV_PROFILE) or --url (TIMENAV_URL)";
            return Err(anyhow::anyhow!(text).into());
        }
        return of_profile(options, name, Profiles::read(folder)?.get(name)?, key);
    }
    if options.url.is_none() && options.data.is_none() {
        let profiles = Profiles::read(folder)?;
        if let Some(name) = &profiles.default {
            return of_profile(options, name, profiles.get(name)?, key);
        }
    }
    match &options.url {
        Some(url) => of_url(options, url.clone(), key),
        None => of_folder(options, key),
    }
}

/// Returns the key of the environment. An empty one is an error, not a reason to use another key.
fn environment_key(surroundings: &Surroundings) -> Result<Option<Zeroizing<String>>, Failure> {
    let Some(key) = &surroundings.api_key else { return Ok(None) };
    match key.trim() {
        "" => Err(Failure::NoKey(format!("{KEY} is set but empty; set it to an API key, or unset it"))),
        key => Ok(Some(Zeroizing::new(key.to_owned()))),
    }
}

/// Returns the service of a profile. Its key takes precedence over the environment, which may be for another service.
fn of_profile(
    options: &ServiceOptions,
    name: &str,
    profile: &Profile,
    key: Option<Zeroizing<String>>,
) -> Result<Target, Failure> {
    let (key, key_source) = match (&profile.key, key) {
        (Some(key), _) => (Zeroizing::new(key.clone()), format!("of the profile `{name}`")),
        (None, Some(key)) => (key, format!("from {KEY}")),
        (None, None) => {
            return Err(Failure::NoKey(format!("the profile `{name}` has no key, and {KEY} is not set")));
        }
    };
    let ca = options.ca.clone().or_else(|| profile.ca.clone());
    let url = service_url(&profile.url).map_err(|error| anyhow::anyhow!("the URL of the profile `{name}`: {error}"))?;
    Ok(Target { url, key, key_source, ca })
}

fn of_url(options: &ServiceOptions, url: Url, key: Option<Zeroizing<String>>) -> Result<Target, Failure> {
    // The key of the local service is not sent to other machines unless --data is given.
    let folder = options.data.clone().or_else(|| is_this_machine(&url).then(|| DATA_DEFAULT.into()));
    let (key, key_source) = match (key, folder) {
        (Some(key), _) => (key, format!("from {KEY}")),
        (None, Some(folder)) => folder_key(&folder)?,
        (None, None) => return Err(Failure::NoKey(format!("there is no API key; set {KEY}"))),
    };
    Ok(Target { url, key, key_source, ca: options.ca.clone() })
}

fn of_folder(options: &ServiceOptions, key: Option<Zeroizing<String>>) -> Result<Target, Failure> {
    let folder = options.data.clone().unwrap_or_else(|| DATA_DEFAULT.into());
    let is_named = options.data.is_some();
    let url = match listening(&folder) {
        Ok(Listening::At(address)) => address_of(&address, &folder)?,
        // With an explicit key, the default folder may not be the intended service.
        Ok(Listening::No | Listening::Ended(_)) | Err(_) if key.is_some() && !is_named => default_url()?,
        Ok(state) if folder.join(ADMIN_KEY_FILE).exists() || is_named && folder.exists() => {
            return Err(not_running(&folder, &state));
        }
        // The folder does not exist. A missing key is reported below.
        Ok(_) => default_url()?,
        Err(error) => {
            let text = format!("the address of the service cannot be read in {}: {error}", folder.display());
            return Err(anyhow::anyhow!(text).into());
        }
    };
    let (key, key_source) = match key {
        Some(key) => (key, format!("from {KEY}")),
        None => folder_key(&folder)?,
    };
    Ok(Target { url, key, key_source, ca: options.ca.clone() })
}

fn address_of(address: &str, folder: &Path) -> anyhow::Result<Url> {
    match service_url(address) {
        Ok(url) => Ok(url),
        Err(error) => bail!("the data folder {} says that its service is at {address:?}: {error}", folder.display()),
    }
}

fn default_url() -> anyhow::Result<Url> {
    Ok(Url::parse(URL_DEFAULT)?)
}

fn not_running(folder: &Path, state: &Listening) -> Failure {
    let folder = folder.display();
    let detail = match state {
        Listening::Ended(address) => {
            format!(
                "it was killed or lost power; before that it was at {address}. Start it again: timenav serve --data {folder}"
            )
        }
        Listening::At(_) | Listening::No => format!("it is not running. Start it: timenav serve --data {folder}"),
    };
    Failure::Unreachable { service: format!("of the data folder {folder}"), detail, was_sent: false }
}

fn folder_key(folder: &Path) -> Result<(Zeroizing<String>, String), Failure> {
    let path = folder.join(ADMIN_KEY_FILE);
    match read_api_key(&path) {
        Ok(key) if key.is_empty() => Err(Failure::NoKey(format!("there is no API key: {} is empty", path.display()))),
        Ok(key) => Ok((key, format!("from {}", path.display()))),
        Err(error) => {
            let path = path.display();
            Err(Failure::NoKey(format!(
                "there is no API key: {KEY} is not set, and {path} cannot be read: {error}; give the service's data \
                 folder with --data, or set {KEY}"
            )))
        }
    }
}
