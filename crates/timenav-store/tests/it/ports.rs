//! In-memory implementations of the engine's interfaces, controlled by tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use parking_lot::Mutex;
use timenav_core::data::{
    COMMITMENT_BYTES, DATA_FORMAT, EncryptionKey, NONCE_BYTES, Plaintext, SALT_BYTES, SealedData,
};
use timenav_core::ids::TimelineId;
use timenav_core::ids::UserId;
use timenav_core::ledger::{Checkpoint, sha256};
use timenav_core::password::Password;
use timenav_core::place::{LocationQuery, Point};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{
    Divergence, Entropy, ExternalCheckpoint, Gazetteer, KnownPlace, Outside, OutsideError, PasswordMatch, Passwords,
    RecordPlace, Signer, Vault, VaultError, WallClock,
};
use zeroize::Zeroizing;

use crate::sample::host;

/// A clock that moves when the test moves it, and by `tick` at each reading.
pub(crate) struct FakeClock {
    micros: AtomicI64,
    tick: AtomicI64,
}

impl FakeClock {
    /// 2026-01-01T00:00:00Z.
    pub(crate) const START: i64 = 1_767_225_600_000_000;

    /// Returns a clock whose readings are all different, like those of a real one.
    pub(crate) fn new() -> Self {
        Self { micros: AtomicI64::new(Self::START), tick: AtomicI64::new(1) }
    }

    /// Returns another clock with the same time.
    pub(crate) fn copied(&self) -> Self {
        let copy = |of: &AtomicI64| AtomicI64::new(of.load(Ordering::SeqCst));
        Self { micros: copy(&self.micros), tick: copy(&self.tick) }
    }

    /// Stops the clock, except for the test's own moves.
    pub(crate) fn stop(&self) {
        self.tick.store(0, Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, micros: i64) {
        self.micros.fetch_add(micros, Ordering::SeqCst);
    }
}

impl WallClock for FakeClock {
    fn now(&self) -> Instant<Wall> {
        host(self.micros.fetch_add(self.tick.load(Ordering::SeqCst), Ordering::SeqCst))
    }

    fn measured(&self) -> Instant<Wall> {
        host(self.micros.load(Ordering::SeqCst))
    }
}

/// Predictable bytes that never repeat.
#[derive(Default)]
pub(crate) struct CountingEntropy(AtomicU64);

impl CountingEntropy {
    /// Returns a generator that continues with the same bytes.
    pub(crate) fn copied(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::SeqCst)))
    }
}

impl Entropy for CountingEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            let count = self.0.fetch_add(1, Ordering::SeqCst);
            chunk.copy_from_slice(&sha256(&[&count.to_be_bytes()]).as_bytes()[..chunk.len()]);
        }
    }
}

/// A key derived from a seed. It records which checkpoints it has signed.
pub(crate) struct SeedSigner {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
    checkpoints: Mutex<Vec<Checkpoint>>,
}

impl SeedSigner {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
        Self { seed, pair, checkpoints: Mutex::default() }
    }

    /// Returns every signed checkpoint, in order.
    pub(crate) fn checkpoints(&self) -> Vec<Checkpoint> {
        self.checkpoints.lock().clone()
    }
}

impl Signer for SeedSigner {
    fn public_key(&self) -> [u8; 32] {
        self.pair.public_key().as_ref().try_into().unwrap()
    }

    fn sign(&self, message: &[u8]) -> [u8; 64] {
        let checkpoint = std::str::from_utf8(message).ok().and_then(|text| Checkpoint::parse(text).ok());
        self.checkpoints.lock().extend(checkpoint);
        self.pair.sign(message).as_ref().try_into().unwrap()
    }

    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        UnparsedPublicKey::new(&ED25519, public_key).verify(message, signature).is_ok()
    }

    fn authenticate(&self, label: &'static str, message: &[u8]) -> [u8; 32] {
        let made = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.seed), label.as_bytes());
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, made.as_ref()), message);
        tag.as_ref().try_into().unwrap()
    }
}

type Notes = BTreeMap<TimelineId, String>;

/// Checkpoints in memory, with their history and a switch to make writing fail.
#[derive(Default)]
pub(crate) struct MemoryOutside {
    /// The stored notes after each call, oldest first.
    steps: Mutex<Vec<Notes>>,
    /// The last seal of each timeline, regardless of [`MemoryOutside::hold`].
    seals: Mutex<BTreeMap<TimelineId, [u8; ExternalCheckpoint::SEAL_BYTES]>>,
    /// Ledgers that diverged from what was seen of them, with what was seen.
    pub(crate) diverged: Mutex<Vec<(Divergence, String)>>,
    fails: AtomicBool,
}

impl MemoryOutside {
    /// Returns another place with the same checkpoints.
    pub(crate) fn copied(&self) -> Self {
        let (steps, seals) = (self.steps.lock().clone(), self.seals.lock().clone());
        Self { steps: Mutex::new(steps), seals: Mutex::new(seals), ..Self::default() }
    }

    pub(crate) fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    pub(crate) fn notes(&self) -> Notes {
        self.steps.lock().last().cloned().unwrap_or_default()
    }

    /// Discards the last step, like a crash between a commit and storing its checkpoints.
    pub(crate) fn lose_last(&self) {
        assert!(self.steps.lock().pop().is_some(), "nothing was kept");
    }

    /// Returns the number of steps.
    pub(crate) fn steps_count(&self) -> usize {
        self.steps.lock().len()
    }

    /// Returns the stored notes after each call, oldest first.
    pub(crate) fn steps(&self) -> Vec<Notes> {
        self.steps.lock().clone()
    }

    fn named<'a>(&'a self, checkpoints: &'a [ExternalCheckpoint]) -> impl Iterator<Item = (TimelineId, String)> + 'a {
        checkpoints.iter().map(|stored| {
            self.seals.lock().insert(stored.timeline.clone(), stored.seal.expect("what the service keeps is sealed"));
            (stored.timeline.clone(), stored.note.to_string())
        })
    }

    /// Replaces the stored checkpoints.
    pub(crate) fn hold(&self, notes: Notes) {
        self.steps.lock().push(notes);
    }

    fn check(&self) -> Result<(), OutsideError> {
        if self.fails.load(Ordering::SeqCst) { Err(std::io::Error::other("the disk is gone").into()) } else { Ok(()) }
    }
}

impl Outside for MemoryOutside {
    fn keep(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        self.check()?;
        let mut notes = self.notes();
        notes.extend(self.named(checkpoints));
        self.steps.lock().push(notes);
        Ok(())
    }

    fn replace(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        self.check()?;
        let notes = self.named(checkpoints).collect();
        self.steps.lock().push(notes);
        Ok(())
    }

    fn keep_divergence(&self, divergence: &Divergence, seen: &str) -> Result<(), OutsideError> {
        self.check()?;
        self.diverged.lock().push((divergence.clone(), seen.to_owned()));
        Ok(())
    }

    fn last(&self) -> Result<Vec<ExternalCheckpoint>, OutsideError> {
        self.check()?;
        let seals = self.seals.lock();
        let stored = |(timeline, note): (TimelineId, String)| {
            let seal = seals.get(&timeline).copied();
            ExternalCheckpoint { timeline, note: note.into(), seal }
        };
        Ok(self.notes().into_iter().map(stored).collect())
    }
}

/// A vault without encryption: a record contains its data, and its commitment the key and the place.
#[derive(Default)]
pub(crate) struct FakeVault {
    /// Number of keys tried on records.
    pub(crate) opened_count: AtomicU64,
    busy: AtomicBool,
}

impl FakeVault {
    pub(crate) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::SeqCst);
    }

    fn commitment(place: &RecordPlace, key: &EncryptionKey) -> [u8; COMMITMENT_BYTES] {
        let place = format!("{} {} ", place.timeline_id, place.data_id);
        *sha256(&[place.as_bytes(), key.as_bytes()]).as_bytes()
    }

    fn enter(&self) -> Result<(), VaultError> {
        if self.busy.load(Ordering::SeqCst) { Err(VaultError::Busy) } else { Ok(()) }
    }
}

#[async_trait]
impl Vault for FakeVault {
    async fn seal(
        &self,
        _user: &UserId,
        place: RecordPlace,
        data: Plaintext,
        key: EncryptionKey,
    ) -> Result<SealedData, VaultError> {
        self.enter()?;
        Ok(SealedData {
            format: DATA_FORMAT,
            kind: key.kind().number(),
            salt: vec![1; SALT_BYTES],
            nonce: vec![2; NONCE_BYTES],
            commitment: Self::commitment(&place, &key).to_vec(),
            ciphertext: data.as_str().as_bytes().to_vec(),
        })
    }

    async fn open(
        &self,
        _user: &UserId,
        place: RecordPlace,
        sealed: SealedData,
        key: EncryptionKey,
    ) -> Result<Plaintext, VaultError> {
        self.enter()?;
        self.opened_count.fetch_add(1, Ordering::SeqCst);
        if sealed.commitment != Self::commitment(&place, &key) {
            return Err(VaultError::Closed);
        }
        let text = String::from_utf8(sealed.ciphertext).map_err(|_| VaultError::Closed)?;
        Ok(Plaintext::new(Zeroizing::new(text)))
    }
}

/// Passwords stored in plain text after the scheme's number. Those of an older scheme need rehashing.
#[derive(Default)]
pub(crate) struct FakePasswords {
    scheme: AtomicU64,
    /// Number of comparisons, with a stored password or with none.
    pub(crate) compared_count: AtomicU64,
    busy: AtomicBool,
}

impl FakePasswords {
    pub(crate) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::SeqCst);
    }

    /// Requires a newer scheme from now on.
    pub(crate) fn raise(&self) {
        self.scheme.fetch_add(1, Ordering::SeqCst);
    }

    fn enter(&self) -> Result<u64, VaultError> {
        if self.busy.load(Ordering::SeqCst) { Err(VaultError::Busy) } else { Ok(self.scheme.load(Ordering::SeqCst)) }
    }
}

#[async_trait]
impl Passwords for FakePasswords {
    async fn hash(&self, _asker: Option<&UserId>, password: Password) -> Result<String, VaultError> {
        let scheme = self.enter()?;
        Ok(format!("{scheme}${}", password.as_str()))
    }

    async fn compare(
        &self,
        _asker: Option<&UserId>,
        password: Password,
        stored: Option<Arc<str>>,
    ) -> Result<PasswordMatch, VaultError> {
        let scheme = self.enter()?.to_string();
        self.compared_count.fetch_add(1, Ordering::SeqCst);
        Ok(match stored.as_deref().and_then(|stored| stored.split_once('$')) {
            Some((made, text)) if text == password.as_str() && made == scheme => PasswordMatch::Right,
            Some((_, text)) if text == password.as_str() => PasswordMatch::RightButWeak,
            Some(_) | None => PasswordMatch::Wrong,
        })
    }
}

/// A gazetteer with one city.
pub(crate) struct OneCity;

impl Gazetteer for OneCity {
    fn find(&self, name: &str) -> Option<KnownPlace> {
        let center = Point::new(29.9547, -90.0751)?;
        (name == "New Orleans").then(|| KnownPlace {
            name: name.to_owned(),
            location: LocationQuery::Near { center, radius_m: 10_000.0 },
            is_ambiguous: false,
            others: Vec::new(),
        })
    }

    fn suggestions(&self, name: &str, _: usize) -> Vec<String> {
        if name == "New Orlean" { vec!["New Orleans".to_owned()] } else { Vec::new() }
    }

    fn zone_of(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn zone_at(&self, _: Point) -> &'static str {
        "UTC"
    }
}
