//! The door to the checkpoints kept outside the database.

use std::sync::Arc;

use timenav_core::ids::TimelineId;

use crate::divergence::Divergence;
use crate::signer::Signer;

/// Why checkpoints could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoints outside the database: {0}")]
pub struct OutsideError(pub std::io::Error);

// By hand, so that it is no source: the text has it, and would be followed by it again.
impl From<std::io::Error> for OutsideError {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

/// What the seal of a kept checkpoint is made for.
const SEAL_LABEL: &str = "kept checkpoint";

/// A signed checkpoint of a timeline, as it is kept outside the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOutside {
    /// Which timeline.
    pub timeline: TimelineId,
    /// The signed note.
    pub note: Arc<str>,
    /// Says that the service has made or verified the note: a code over it under a key that only the holder of the
    /// signing key has. It takes a tenth of the time of a signature to check, and where there is none, or another
    /// one, the signature is verified.
    pub seal: Option<[u8; Self::SEAL_BYTES]>,
}

impl KeptOutside {
    /// Bytes of a seal.
    pub const SEAL_BYTES: usize = 16;

    /// Returns a note that was just made or verified, with its seal.
    pub(crate) fn seal(timeline: TimelineId, note: Arc<str>, signer: &dyn Signer) -> Self {
        let seal = Some(seal_of(&note, signer));
        Self { timeline, note, seal }
    }

    /// Returns whether the service has made or verified the note, by its seal.
    pub(crate) fn is_sealed(&self, signer: &dyn Signer) -> bool {
        // Nobody measures how long a start takes to guess a code in a file.
        self.seal.is_some_and(|seal| seal == seal_of(&self.note, signer))
    }
}

fn seal_of(note: &str, signer: &dyn Signer) -> [u8; KeptOutside::SEAL_BYTES] {
    let code = signer.authenticate(SEAL_LABEL, note.as_bytes());
    let mut seal = [0; KeptOutside::SEAL_BYTES];
    seal.copy_from_slice(&code[..KeptOutside::SEAL_BYTES]);
    seal
}

/// Keeps the last signed checkpoint of every timeline where an attacker on the database is not.
///
/// An attacker who controls both the database and this place can take history back without being
/// found out by the service alone; one who controls only one of them cannot.
pub trait Outside: Send + Sync + 'static {
    /// Keeps these signed checkpoints, each the newest of its timeline. They are durable on `Ok`. What a crash leaves of
    /// them is the first ones, whole.
    ///
    /// # Errors
    /// Nothing may be assumed about what was kept; the service stops writing.
    fn keep(&self, checkpoints: &[KeptOutside]) -> Result<(), OutsideError>;

    /// Forgets everything and keeps these instead, all or nothing: where an operator accepts that a database was taken
    /// back, and where seals are missing.
    ///
    /// # Errors
    /// What was kept before is still kept.
    fn replace(&self, checkpoints: &[KeptOutside]) -> Result<(), OutsideError>;

    /// Keeps, beside the checkpoints, what this service has seen of a ledger (`seen`: its signed checkpoint) and what the
    /// store has of it instead. `seen` is the timeline's last checkpoint from then on, also at the next start, until
    /// [`Outside::replace`]: otherwise a restart would forget it, and write a second history.
    ///
    /// # Errors
    /// It may not be kept.
    fn keep_divergence(&self, divergence: &Divergence, seen: &str) -> Result<(), OutsideError>;

    /// Returns the last checkpoint of every timeline.
    ///
    /// # Errors
    /// They cannot be read.
    fn last(&self) -> Result<Vec<KeptOutside>, OutsideError>;
}

/// Puts that of `system` last. It tells which timelines there are, so that where it was kept theirs were too.
pub(crate) fn system_last(checkpoints: &mut [KeptOutside]) {
    checkpoints.sort_by_key(|kept| kept.timeline.is_system());
}
