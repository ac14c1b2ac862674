//! What the process was given beside its command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the process was given beside its command line.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// The API key to show to the service, as it is in the environment: empty where somebody set it to nothing.
    pub(crate) api_key: Option<String>,
    /// The folder of the user's configuration.
    pub(crate) config_folder: Option<PathBuf>,
    /// The folders in which programs are looked for.
    pub(crate) program_folders: OsString,
}

/// The environment variable that holds a client's API key.
const API_KEY_VARIABLE: &str = "TIMENAV_API_KEY";

impl Surroundings {
    /// Reads what the command line may not carry: an argument would show in the list of processes.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads a secret from the environment")]
    pub(crate) fn of_process() -> Self {
        let api_key = std::env::var(API_KEY_VARIABLE).ok();
        // The XDG Base Directory Specification: a relative path there is none.
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config_folder = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
        let program_folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        Self { api_key, config_folder, program_folders }
    }
}
