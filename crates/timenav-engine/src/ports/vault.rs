use async_trait::async_trait;
use timenav_core::data::{EncryptionKey, Plaintext, SealedData};
use timenav_core::ids::{DataId, TimelineId, UserId};

/// The identity of a record. It cannot be opened under another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    pub timeline_id: TimelineId,
    pub data_id: DataId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The key does not open the record, or the record is damaged or belongs elsewhere. Neither the error nor its
    /// duration reveals which.
    #[error("the key does not open the record")]
    Closed,
    /// Too many requests wait for their turn.
    #[error("too many requests are sealing or opening data")]
    Busy,
    #[error("sealing or opening data failed")]
    Failed,
}

/// Seals with AES-256-GCM and commits to the key (see `docs/adr`). Stores neither key nor data, and wipes both from
/// memory.
///
/// An implementation sees all keys and data that pass through it.
#[async_trait]
pub trait Vault: Send + Sync + 'static {
    /// Seals data, in the turn of the requesting user. Two calls with the same arguments return different records.
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

    /// Opens a record, in the turn of the requesting user. The duration depends on the form of the key and the length
    /// of the record, but not on why it fails.
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
