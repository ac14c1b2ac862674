//! What the process was given beside its command line.

use std::path::PathBuf;

/// What the process was given beside its command line.
pub(crate) struct Surroundings {
    /// The API key to show to the service.
    pub(crate) api_key: Option<String>,
    /// Where programs keep what the user configured.
    pub(crate) config_folder: Option<PathBuf>,
}
