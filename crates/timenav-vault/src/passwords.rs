//! Password hashing with Argon2id (RFC 9106), stored as PHC strings.
//!
//! `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`, with salt and tag in base64 without padding. Hashes with other
//! parameters are compared using theirs.

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use async_trait::async_trait;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use data_encoding::BASE64_NOPAD;
use timenav_core::ids::UserId;
use timenav_core::password::Password;
use timenav_engine::{Entropy, PasswordMatch, Passwords, VaultError};
use zeroize::Zeroizing;

use crate::turns::Turns;
use crate::{ARGON2_LANES, ARGON2_MEMORY_KIB, ARGON2_PASSES};

const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 32;
/// Highest parameters accepted from a stored hash, so that a manipulated row cannot stop the service.
const MEMORY_KIB_MAX: u32 = 256 * 1_024;
const PASSES_MAX: u32 = 16;
const LANES_MAX: u32 = 16;
/// Compared with if there is no stored hash, to take the same time. No password matches: no Argon2id output is its tag.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes and compares passwords on separate threads, with limited concurrency.
pub struct Argon2Passwords {
    entropy: Arc<dyn Entropy>,
    turns: Turns,
}

impl Argon2Passwords {
    /// Returns a hasher that uses `entropy` for salts, and shares `turns` with others.
    #[must_use]
    pub const fn new(entropy: Arc<dyn Entropy>, turns: Turns) -> Self {
        Self { entropy, turns }
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(&self, asker: Option<&UserId>, password: Password) -> Result<String, VaultError> {
        let mut salt = [0; SALT_BYTES];
        self.entropy.fill(&mut salt);
        self.turns.work(asker, move || Work::NOW.hash(&password, &salt)).await
    }

    async fn compare(
        &self,
        asker: Option<&UserId>,
        password: Password,
        stored: Option<Arc<str>>,
    ) -> Result<PasswordMatch, VaultError> {
        self.turns.work(asker, move || compare(&password, stored.as_deref())).await
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Work {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Work {
    /// The current parameters (OWASP, RFC 9106).
    const NOW: Self = Self { memory_kib: ARGON2_MEMORY_KIB, passes: ARGON2_PASSES, lanes: ARGON2_LANES };

    fn tag(self, password: &Password, salt: &[u8], length: usize) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(length));
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.map_err(|_| VaultError::Failed)?);
        let mut memory = Zeroizing::new(vec![Block::default(); argon2.params().block_count()]);
        let mut tag = Zeroizing::new(vec![0; length]);
        let text = password.as_str().as_bytes();
        let filled = argon2.hash_password_into_with_memory(text, salt, &mut tag, memory.as_mut_slice());
        filled.map_err(|_| VaultError::Failed)?;
        Ok(tag)
    }

    fn hash(self, password: &Password, salt: &[u8]) -> Result<String, VaultError> {
        let tag = self.tag(password, salt, TAG_BYTES)?;
        let Self { memory_kib, passes, lanes } = self;
        let (salt, tag) = (BASE64_NOPAD.encode(salt), Zeroizing::new(BASE64_NOPAD.encode(&tag)));
        Ok(format!("$argon2id$v=19$m={memory_kib},t={passes},p={lanes}${salt}${}", *tag))
    }

    const fn is_less_than(self, other: Self) -> bool {
        self.memory_kib < other.memory_kib || self.passes < other.passes || self.lanes < other.lanes
    }
}

struct StoredHash {
    work: Work,
    salt: Vec<u8>,
    tag: Vec<u8>,
}

impl StoredHash {
    /// Parses a PHC string in the only form that this service writes.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("$argon2id$v=19$")?.split('$');
        let (work, salt, tag) = (parts.next()?, parts.next()?, parts.next()?);
        let mut numbers = work.split(',').zip(["m=", "t=", "p="]).map(|(part, name)| part.strip_prefix(name));
        let mut number = || numbers.next()??.parse::<u32>().ok();
        let work = Work { memory_kib: number()?, passes: number()?, lanes: number()? };
        let is_bearable = work.memory_kib <= MEMORY_KIB_MAX && work.passes <= PASSES_MAX && work.lanes <= LANES_MAX;
        let is_possible = Params::new(work.memory_kib, work.passes, work.lanes, Some(TAG_BYTES)).is_ok();
        let decode = |text: &str| BASE64_NOPAD.decode(text.as_bytes()).ok();
        let stored = Self { work, salt: decode(salt)?, tag: decode(tag)? };
        let is_whole = stored.salt.len() == SALT_BYTES && stored.tag.len() == TAG_BYTES && parts.next().is_none();
        (is_bearable && is_possible && is_whole).then_some(stored)
    }
}

/// Compares a password with a stored hash. If it is missing or malformed, the same work is done.
fn compare(password: &Password, stored: Option<&str>) -> Result<PasswordMatch, VaultError> {
    let found = stored.and_then(StoredHash::read);
    let is_kept = found.is_some();
    let stored = found.or_else(|| StoredHash::read(NOBODYS)).ok_or(VaultError::Failed)?;
    let tag = stored.work.tag(password, &stored.salt, TAG_BYTES)?;
    let is_right = verify_slices_are_equal(&tag, &stored.tag).is_ok();
    Ok(match is_right && is_kept {
        false => PasswordMatch::Wrong,
        true if stored.work.is_less_than(Work::NOW) => PasswordMatch::RightButWeak,
        true => PasswordMatch::Right,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(0);
        }
    }

    fn password(text: &str) -> Password {
        Password::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    /// Created with another implementation: `argon2-cffi` for Python, on the reference library in C.
    const BY_ANOTHER: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IG9mIDE2Yg$zt1UeY5dLxyH+XV+SoTBhfIcdiitbWI8dVoiZnkcdoI";

    #[test]
    fn password_hash_matches_another_implementation() {
        let made = Work::NOW.hash(&password("correct horse battery staple"), b"some salt of 16b").unwrap();
        assert_eq!(made, BY_ANOTHER);
    }

    #[test]
    fn password_matches_only_its_own_hash() {
        let weak = Work { passes: 1, ..Work::NOW };
        let (now, before) = (Work::NOW, weak.hash(&password("open sesame"), &[7; SALT_BYTES]).unwrap());
        let now = now.hash(&password("open sesame"), &[7; SALT_BYTES]).unwrap();
        let check = |text: &str, stored: Option<&str>, expected| {
            assert_eq!(compare(&password(text), stored).unwrap(), expected, "{text} {stored:?}");
        };
        check("open sesame", Some(&now), PasswordMatch::Right);
        check("open sesame", Some(&before), PasswordMatch::RightButWeak);
        check("Open sesame", Some(&now), PasswordMatch::Wrong);
        check("Open sesame", Some(&before), PasswordMatch::Wrong);
        check("open sesame", None, PasswordMatch::Wrong);
        // A hash that is damaged, or exceeds the parameter limits, matches no password.
        for wrong in [
            "",
            "open sesame",
            "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA",
            &now[..now.len() - 1],
            &format!("{now}$"),
            &now.replace("m=19456", "m=4294967295"),
            &now.replace("t=2", "t=17"),
            &now.replace("m=19456", "m=1"),
            &now.replace("m=", "x="),
        ] {
            check("open sesame", Some(wrong), PasswordMatch::Wrong);
        }
        check("x", Some(NOBODYS), PasswordMatch::Wrong);
    }

    #[tokio::test]
    async fn passwords_are_hashed_and_compared() {
        let (passwords, ada) = (Argon2Passwords::new(Arc::new(Zeros), Turns::default()), UserId::new("ada").unwrap());
        let stored: Arc<str> = passwords.hash(Some(&ada), password("open sesame")).await.unwrap().into();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"), "{stored}");
        let matched = passwords.compare(None, password("open sesame"), Some(Arc::clone(&stored))).await;
        assert_eq!(matched, Ok(PasswordMatch::Right));
        assert_eq!(passwords.compare(None, password("sesame"), Some(stored)).await, Ok(PasswordMatch::Wrong));
    }
}
