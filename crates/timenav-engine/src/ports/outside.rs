use std::sync::Arc;

use timenav_core::ids::TimelineId;

use crate::integrity::divergence::Divergence;
use crate::ports::signer::Signer;

#[derive(Debug, thiserror::Error)]
#[error("the checkpoints outside the database: {0}")]
pub struct OutsideError(pub std::io::Error);

// Not `#[from]`, which would make it the error's source too and print its text twice.
impl From<std::io::Error> for OutsideError {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

const SEAL_LABEL: &str = "kept checkpoint";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalCheckpoint {
    pub timeline: TimelineId,
    pub note: Arc<str>,
    /// An authentication code under a key derived from the signing key, which proves that the service has created or
    /// verified the note. Checking it takes a tenth of the time of a signature. If it is missing or invalid, the
    /// signature is verified.
    pub seal: Option<[u8; Self::SEAL_BYTES]>,
}

impl ExternalCheckpoint {
    pub const SEAL_BYTES: usize = 16;

    pub(crate) fn seal(timeline: TimelineId, note: Arc<str>, signer: &dyn Signer) -> Self {
        let seal = Some(seal_of(&note, signer));
        Self { timeline, note, seal }
    }

    pub(crate) fn is_sealed(&self, signer: &dyn Signer) -> bool {
        // Timing attacks on a code in a file during startup are not realistic.
        self.seal.is_some_and(|seal| seal == seal_of(&self.note, signer))
    }
}

fn seal_of(note: &str, signer: &dyn Signer) -> [u8; ExternalCheckpoint::SEAL_BYTES] {
    let code = signer.authenticate(SEAL_LABEL, note.as_bytes());
    let mut seal = [0; ExternalCheckpoint::SEAL_BYTES];
    seal.copy_from_slice(&code[..ExternalCheckpoint::SEAL_BYTES]);
    seal
}

/// Keeps the last signed checkpoint of every timeline out of reach of an attacker on the database.
///
/// An attacker who controls both the database and this storage can roll history back without being detected by the
/// service alone. An attacker who controls only one of them cannot.
pub trait Outside: Send + Sync + 'static {
    /// Keeps signed checkpoints, each the newest of its timeline. They are durable on `Ok`. A crash leaves a complete
    /// prefix of them.
    ///
    /// # Errors
    /// The result is undefined; the service stops writing.
    fn keep(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError>;

    /// Atomically replaces all checkpoints: if an operator accepts a rollback of the database, or if seals are missing.
    ///
    /// # Errors
    /// The previous checkpoints are still there.
    fn replace(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError>;

    /// Keeps evidence of a divergence: the signed checkpoint that this service has seen (`seen`), and the tree in the
    /// store. `seen` remains the timeline's last checkpoint, across restarts, until [`Outside::replace`]. Otherwise a
    /// restart would forget it, and write a second history.
    ///
    /// # Errors
    /// It may not be kept.
    fn keep_divergence(&self, divergence: &Divergence, seen: &str) -> Result<(), OutsideError>;

    /// Returns the last checkpoint of every timeline.
    ///
    /// # Errors
    /// They cannot be read.
    fn last(&self) -> Result<Vec<ExternalCheckpoint>, OutsideError>;
}

/// Moves that of `system` to the end. It implies which timelines exist, so theirs must be kept before.
pub(crate) fn system_last(checkpoints: &mut [ExternalCheckpoint]) {
    checkpoints.sort_by_key(|stored| stored.timeline.is_system());
}
