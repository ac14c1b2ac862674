//! Cryptography behind the engine's interfaces: sealing data with AES-256-GCM and key commitment, and password hashing
//! with Argon2id.
//!
//! The scheme for data, frozen by `test-data/data-format-v1.json` and explained in `docs/adr`:
//!
//! - The text of the key yields 32 bytes: those it encodes, or its Argon2id hash with the record's salt.
//! - HKDF-SHA-256 with the same salt derives the cipher key and a commitment from these, bound to the record's place
//!   and the kind of key.
//! - AES-256-GCM seals the data with a new nonce, and authenticates place, format and kind.

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use async_trait::async_trait;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use timenav_core::data::{
    COMMITMENT_BYTES, DATA_FORMAT, EncryptionKey, KeyKind, NONCE_BYTES, Plaintext, SALT_BYTES, SealedData,
    associated_data,
};
use timenav_core::ids::UserId;
use timenav_engine::{Entropy, RecordPlace, Vault, VaultError};
use zeroize::{Zeroize as _, Zeroizing};

mod passwords;
#[cfg(test)]
mod tests;
mod turns;

pub use passwords::Argon2Passwords;
pub use turns::Turns;

const KEY_BYTES: usize = 32;
/// Memory of Argon2id, in KiB (the first choice of OWASP).
const ARGON2_MEMORY_KIB: u32 = 19 * 1_024;
const ARGON2_PASSES: u32 = 2;
const ARGON2_LANES: u32 = 1;
/// Up to this length, data with a random key is sealed and opened on the calling thread, which takes about 10 µs.
const QUICK_BYTES_MAX: usize = 64 * 1_024;
const CIPHER_KEY_LABEL: &[u8] = b"timenav data cipher key";
const COMMITMENT_LABEL: &[u8] = b"timenav data commitment";

/// Seals and opens data. Fast work runs on the calling thread, the rest on separate ones, with limited concurrency.
pub struct AesVault {
    entropy: Arc<dyn Entropy>,
    turns: Turns,
}

impl AesVault {
    /// Returns a vault that uses `entropy` for salts and nonces, and shares `turns` with others.
    #[must_use]
    pub const fn new(entropy: Arc<dyn Entropy>, turns: Turns) -> Self {
        Self { entropy, turns }
    }
}

#[async_trait]
impl Vault for AesVault {
    async fn seal(
        &self,
        user: &UserId,
        place: RecordPlace,
        data: Plaintext,
        key: EncryptionKey,
    ) -> Result<SealedData, VaultError> {
        let (mut salt, mut nonce) = ([0; SALT_BYTES], [0; NONCE_BYTES]);
        self.entropy.fill(&mut salt);
        self.entropy.fill(&mut nonce);
        if is_quick(&key, data.as_str().len()) {
            return seal(&place, &data, &key, salt, nonce);
        }
        self.turns.work(Some(user), move || seal(&place, &data, &key, salt, nonce)).await
    }

    async fn open(
        &self,
        user: &UserId,
        place: RecordPlace,
        sealed: SealedData,
        key: EncryptionKey,
    ) -> Result<Plaintext, VaultError> {
        if is_quick(&key, sealed.ciphertext.len()) {
            return open(&place, sealed, &key);
        }
        self.turns.work(Some(user), move || open(&place, sealed, &key)).await
    }
}

/// Returns whether the work takes less time than waking another thread.
fn is_quick(key: &EncryptionKey, length: usize) -> bool {
    length <= QUICK_BYTES_MAX && key.kind() == KeyKind::Random
}

fn seal(
    place: &RecordPlace,
    data: &Plaintext,
    key: &EncryptionKey,
    salt: [u8; SALT_BYTES],
    nonce: [u8; NONCE_BYTES],
) -> Result<SealedData, VaultError> {
    let kind = key.kind();
    let aad = associated_data(DATA_FORMAT, &place.timeline_id, &place.data_id, kind);
    let keys = RecordKeys::derive(key, &salt, &aad)?;
    // Includes space for the tag: growing the buffer would leave a copy of the plaintext in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(data.as_str().len() + AES_256_GCM.tag_len()));
    bytes.extend_from_slice(data.as_str().as_bytes());
    let sealing =
        keys.cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(&aad), &mut *bytes);
    sealing.map_err(|_| VaultError::Failed)?;
    Ok(SealedData {
        format: DATA_FORMAT,
        kind: kind.number(),
        salt: salt.to_vec(),
        nonce: nonce.to_vec(),
        commitment: keys.commitment.to_vec(),
        ciphertext: std::mem::take(&mut *bytes),
    })
}

/// Opens a record. All steps run regardless of earlier failures, so that a wrong key, a damaged record and a key of
/// another kind take the same time.
fn open(place: &RecordPlace, sealed: SealedData, key: &EncryptionKey) -> Result<Plaintext, VaultError> {
    let kind = key.kind();
    let is_known = sealed.format == DATA_FORMAT && KeyKind::from_number(sealed.kind) == Some(kind);
    let salt: Option<[u8; SALT_BYTES]> = sealed.salt.as_slice().try_into().ok();
    let nonce: Option<[u8; NONCE_BYTES]> = sealed.nonce.as_slice().try_into().ok();
    let is_whole = salt.is_some() && nonce.is_some();
    let aad = associated_data(sealed.format, &place.timeline_id, &place.data_id, kind);
    let keys = RecordKeys::derive(key, &salt.unwrap_or_default(), &aad)?;
    let is_committed = verify_slices_are_equal(&*keys.commitment, &sealed.commitment).is_ok();
    let mut bytes = Zeroizing::new(sealed.ciphertext);
    let nonce = Nonce::assume_unique_for_key(nonce.unwrap_or_default());
    let opened = keys.cipher.open_in_place(nonce, Aad::from(&aad), &mut bytes).map(|opened| opened.len());
    match opened {
        Ok(length) if is_known && is_whole && is_committed => {
            bytes.truncate(length);
            let text = String::from_utf8(std::mem::take(&mut *bytes)).map_err(|error| {
                error.into_bytes().zeroize();
                VaultError::Closed
            })?;
            Ok(Plaintext::new(Zeroizing::new(text)))
        }
        Ok(_) | Err(_) => Err(VaultError::Closed),
    }
}

/// The keys of one record, derived from the caller's key and the record's place.
struct RecordKeys {
    cipher: LessSafeKey,
    commitment: Zeroizing<[u8; COMMITMENT_BYTES]>,
}

impl RecordKeys {
    fn derive(key: &EncryptionKey, salt: &[u8; SALT_BYTES], aad: &[u8]) -> Result<Self, VaultError> {
        let secret = match key.random_bytes() {
            Some(bytes) => bytes,
            None => stretched(key, salt)?,
        };
        let root = Salt::new(HKDF_SHA256, salt).extract(&*secret);
        let cipher_key = expanded(&root, CIPHER_KEY_LABEL, aad)?;
        let commitment = expanded(&root, COMMITMENT_LABEL, aad)?;
        let cipher = UnboundKey::new(&AES_256_GCM, &*cipher_key).map_err(|_| VaultError::Failed)?;
        Ok(Self { cipher: LessSafeKey::new(cipher), commitment })
    }
}

/// Returns the Argon2id hash of a passphrase (RFC 9106).
fn stretched(key: &EncryptionKey, salt: &[u8; SALT_BYTES]) -> Result<Zeroizing<[u8; KEY_BYTES]>, VaultError> {
    let params = Params::new(ARGON2_MEMORY_KIB, ARGON2_PASSES, ARGON2_LANES, Some(KEY_BYTES));
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.map_err(|_| VaultError::Failed)?);
    let mut memory = Zeroizing::new(vec![Block::default(); argon2.params().block_count()]);
    let mut made = Zeroizing::new([0; KEY_BYTES]);
    let filled = argon2.hash_password_into_with_memory(key.as_bytes(), salt, &mut *made, memory.as_mut_slice());
    filled.map_err(|_| VaultError::Failed)?;
    Ok(made)
}

/// Derives 32 bytes for a purpose and a place (RFC 5869 §2.3).
fn expanded(root: &Prk, label: &[u8], aad: &[u8]) -> Result<Zeroizing<[u8; KEY_BYTES]>, VaultError> {
    struct Length;
    impl KeyType for Length {
        fn len(&self) -> usize {
            KEY_BYTES
        }
    }
    let mut made = Zeroizing::new([0; KEY_BYTES]);
    let info = [label, aad];
    let filled = root.expand(&info, Length).and_then(|okm| okm.fill(&mut *made));
    filled.map_err(|_| VaultError::Failed)?;
    Ok(made)
}
