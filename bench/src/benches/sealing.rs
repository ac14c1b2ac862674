//! Sealing and opening 1 KiB with a random key, without HTTP, against the bare ciphers (goal 10).

use std::sync::Arc;

use anyhow::anyhow;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use timenav_core::data::{EncryptionKey, NONCE_BYTES, Plaintext, SALT_BYTES, SealedData};
use timenav_core::ids::{DataId, TimelineId, UserId};
use timenav_engine::{Entropy as _, RecordPlace, Vault as _};
use timenav_vault::{AesVault, Turns};
use tokio::runtime::Runtime;
use zeroize::Zeroizing;

use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::SystemEntropy;

const DATA_BYTES: usize = 1_024;
/// Records timed together, because a single one is too short for the clock's resolution.
const BATCH: u32 = 100;
const BATCHES: usize = 200;
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const FLOOR: &str = "HKDF-SHA-256 with a new salt, and AES-256-GCM with a new nonce, of the same bytes";

struct Subject {
    runtime: Runtime,
    vault: AesVault,
    user: UserId,
    place: RecordPlace,
    key: EncryptionKey,
    data: Plaintext,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    setting.cores.measured(|| {
        let subject = Subject::new()?;
        let sealed = subject.seal()?;
        let finding = |name: &str, rounds| Finding::new(name, Unit::Micros, rounds, Goal::AtMost(3.0), FLOOR);
        let sealing = Rounds::measure(setting, || median_micros(bare_seal), || median_micros(|| subject.seal()))?;
        let bare = bare_seal()?;
        let opening = Rounds::measure(
            setting,
            || median_micros(|| bare_open(&bare)),
            || median_micros(|| subject.open(&sealed)),
        )?;
        Ok(vec![finding("encrypt-1k", sealing), finding("decrypt-1k", opening)])
    })
}

impl Subject {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            runtime: tokio::runtime::Builder::new_current_thread().build()?,
            vault: AesVault::new(Arc::new(SystemEntropy), Turns::default()),
            user: UserId::new("admin")?,
            place: RecordPlace {
                timeline_id: TimelineId::new(TimelineId::MAIN)?,
                data_id: DataId::new("data_01h455vb4pex5vsknk084sn02q")?,
            },
            key: EncryptionKey::new(Zeroizing::new(KEY.to_owned()))?,
            data: Plaintext::new(Zeroizing::new("x".repeat(DATA_BYTES))),
        })
    }

    fn seal(&self) -> anyhow::Result<SealedData> {
        let sealing = self.vault.seal(&self.user, self.place.clone(), self.data.clone(), self.key.clone());
        Ok(self.runtime.block_on(sealing)?)
    }

    fn open(&self, sealed: &SealedData) -> anyhow::Result<usize> {
        let opening = self.vault.open(&self.user, self.place.clone(), sealed.clone(), self.key.clone());
        Ok(self.runtime.block_on(opening)?.as_str().len())
    }
}

struct Bare {
    salt: [u8; SALT_BYTES],
    nonce: [u8; NONCE_BYTES],
    bytes: Vec<u8>,
}

fn bare_seal() -> anyhow::Result<Bare> {
    let (mut salt, mut nonce) = ([0; SALT_BYTES], [0; NONCE_BYTES]);
    SystemEntropy.fill(&mut salt);
    SystemEntropy.fill(&mut nonce);
    let mut bytes = vec![b'x'; DATA_BYTES];
    let nonced = Nonce::assume_unique_for_key(nonce);
    let sealing = bare_cipher(&salt)?.seal_in_place_append_tag(nonced, Aad::empty(), &mut bytes);
    sealing.map_err(|_| anyhow!("the bare cipher does not seal"))?;
    Ok(Bare { salt, nonce, bytes })
}

fn bare_open(bare: &Bare) -> anyhow::Result<usize> {
    let mut bytes = bare.bytes.clone();
    let nonce = Nonce::assume_unique_for_key(bare.nonce);
    let opened = bare_cipher(&bare.salt)?.open_in_place(nonce, Aad::empty(), &mut bytes);
    Ok(opened.map_err(|_| anyhow!("the bare cipher does not open"))?.len())
}

fn bare_cipher(salt: &[u8; SALT_BYTES]) -> anyhow::Result<LessSafeKey> {
    let root = Salt::new(HKDF_SHA256, salt).extract(&[7; 32]);
    let unbound = root.expand(&[b"bench"], &AES_256_GCM).map(UnboundKey::from);
    Ok(LessSafeKey::new(unbound.map_err(|_| anyhow!("no key can be made"))?))
}

fn median_micros<T>(mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<f64> {
    let mut micros = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let watch = Stopwatch::start();
        for _ in 0..BATCH {
            std::hint::black_box(work()?);
        }
        micros.push(watch.micros() / f64::from(BATCH));
    }
    Ok(Spread::of(&micros).median)
}
