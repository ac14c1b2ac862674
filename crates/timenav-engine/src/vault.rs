//! The door to what seals data under its owner's key, and opens it.

use async_trait::async_trait;
use timenav_core::data::{EncryptionKey, Plaintext, SealedData};
use timenav_core::ids::{DataId, TimelineId, UserId};

/// Where a record belongs. It opens nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its timeline.
    pub timeline_id: TimelineId,
    /// Its id.
    pub data_id: DataId,
}

/// Why data was not sealed or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The key does not open the record, or the record is damaged, or belongs elsewhere. Which of
    /// these is not told, and takes as long to find out.
    #[error("the key does not open the record")]
    Closed,
    /// Too many wait for their turn already.
    #[error("too many requests are sealing or opening data")]
    Busy,
    /// Something is wrong with the vault itself.
    #[error("sealing or opening data ended badly")]
    Failed,
}

/// Seals with AES-256-GCM and commits to the key (`docs/adr` says how). Keeps neither key nor
/// data, and wipes both from the memory that it used.
///
/// Whoever controls an implementation reads every key and all data that pass through it.
#[async_trait]
pub trait Vault: Send + Sync + 'static {
    /// Seals data, in the turn of the user who asks. Two calls with the same arguments give different records.
    ///
    /// # Errors
    /// [`VaultError::Busy`] or [`VaultError::Failed`].
    async fn seal(
        &self,
        user: &UserId,
        place: RecordPlace,
        data: Plaintext,
        key: EncryptionKey,
    ) -> Result<SealedData, VaultError>;

    /// Opens a record, in the turn of the user who asks. How long that takes depends on the form of the key and the length of the
    /// record, and not on why it fails.
    ///
    /// # Errors
    /// The key does not open the record, or the vault is busy.
    async fn open(
        &self,
        user: &UserId,
        place: RecordPlace,
        sealed: SealedData,
        key: EncryptionKey,
    ) -> Result<Plaintext, VaultError>;
}
