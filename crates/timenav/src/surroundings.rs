//! What the process was given beside its command line.

/// What the process was given beside its command line.
pub(crate) struct Surroundings {
    /// The API key to show to the service.
    pub(crate) api_key: Option<String>,
}
