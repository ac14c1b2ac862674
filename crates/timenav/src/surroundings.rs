//! What the process was given beside its command line.

use std::path::PathBuf;

/// What the process was given beside its command line.
pub(crate) struct Surroundings {
    /// The API key to show to the service, as it is in the environment: empty where somebody set it to nothing.
    pub(crate) api_key: Option<String>,
    /// The folder of the user's configuration.
    pub(crate) config_folder: Option<PathBuf>,
}
