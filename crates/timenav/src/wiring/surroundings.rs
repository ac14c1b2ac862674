use std::ffi::OsString;
use std::path::PathBuf;

/// Inputs of the process other than its command line.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// The API key in the environment; empty if the variable is set to nothing.
    pub(crate) api_key: Option<String>,
    pub(crate) config_folder: Option<PathBuf>,
    pub(crate) program_folders: OsString,
}

const API_KEY_VARIABLE: &str = "TIMENAV_API_KEY";

impl Surroundings {
    /// Reads inputs that must not be arguments, because those are visible in the process list.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads a secret from the environment")]
    pub(crate) fn of_process() -> Self {
        let api_key = std::env::var(API_KEY_VARIABLE).ok();
        // The XDG Base Directory Specification says to ignore relative paths.
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config_folder = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
        let program_folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        Self { api_key, config_folder, program_folders }
    }
}
