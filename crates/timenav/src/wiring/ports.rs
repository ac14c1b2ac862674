//! The engine's access to clock, randomness and signing key. Nothing else in the project reads a clock or random bytes;
//! `clippy.toml` enforces that.

use std::time::{Duration, SystemTime};

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use parking_lot::RwLock;
use rustix::time::{ClockId, clock_gettime};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{BootClock, Entropy, Signer, WallClock};

use crate::boot::Kernel;

/// A counter that includes time asleep (`clock_gettime(2)`).
#[cfg(target_os = "linux")]
const COUNTER: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const COUNTER: ClockId = ClockId::Monotonic;

/// Number of simultaneous readings of both clocks at the start. The fastest one is the most precise.
const READINGS: usize = 16;

/// Host time: the system clock at the start, advanced by a monotonic counter that nobody can set.
///
/// It never goes back or jumps, whatever happens to the system clock. Corrections of that clock take effect on the next
/// start. Time asleep is included.
pub(crate) struct HostClock {
    /// How far host time is ahead of the counter, in whole microseconds: services started on one kernel usually agree.
    ahead: i64,
    /// The same for other readers of the counter.
    boot: Option<BootClock>,
}

impl HostClock {
    pub(crate) fn start() -> Self {
        let quickest = (0..READINGS).map(|_| apart()).min_by_key(|(took, _)| *took);
        let ahead = quickest.map_or(0, |(_, ahead)| ahead);
        let boot = Kernel::here().map(|Kernel { boot_id, shift }| BootClock {
            boot_id,
            host_ahead_nanos: i128::from(ahead) * 1_000 + shift,
        });
        Self { ahead, boot }
    }
}

/// Returns how long reading both clocks took, and how far the system clock is ahead of the counter, in microseconds.
#[expect(clippy::disallowed_methods, reason = "the program reads host time only here")]
fn apart() -> (Duration, i64) {
    let before = counted();
    let now = SystemTime::now();
    let took = counted().saturating_sub(before);
    let middle = i128::try_from((before + took / 2).as_nanos()).unwrap_or(i128::MAX);
    let micros = (wall_nanos(now) - middle + 500).div_euclid(1_000);
    (took, i64::try_from(micros).unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "the program reads host time only here")]
pub(crate) fn counted() -> Duration {
    let counted = clock_gettime(COUNTER);
    // The counter starts at zero and is never negative.
    let (seconds, nanos) = (u64::try_from(counted.tv_sec), u32::try_from(counted.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

impl WallClock for HostClock {
    fn now(&self) -> Instant<Wall> {
        let counted = i64::try_from(counted().as_micros()).unwrap_or(i64::MAX);
        Instant::from_micros(self.ahead.saturating_add(counted)).unwrap_or(Instant::MAX)
    }

    fn boot(&self) -> Option<&BootClock> {
        self.boot.as_ref()
    }
}

/// Returns a system time in nanoseconds since 1970.
fn wall_nanos(time: SystemTime) -> i128 {
    let nanos = |length: Duration| i128::try_from(length.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => -nanos(before.duration()),
    }
}

/// Random bytes of the operating system. The generator of aws-lc measures CPU jitter first, which took two fifths of
/// the CPU time of a start, and is seeded by the system anyway.
#[derive(Debug)]
pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::disallowed_methods, reason = "the program draws random bytes only here")]
    fn fill(&self, buffer: &mut [u8]) {
        // Without randomness there are no keys, so the process must stop.
        getrandom::fill(buffer).expect("the operating system provides random bytes");
    }
}

/// The secret from which the keys of [`Signer::authenticate`] are derived (RFC 5869), and the keys in use. To derive one
/// takes longer than the code of a short message.
struct Seals {
    secret: Prk,
    keys: RwLock<Vec<(&'static str, hmac::Key)>>,
}

impl Seals {
    fn of(secret: &[u8; 32]) -> Self {
        let secret = Salt::new(HKDF_SHA256, b"timenav authenticate v1").extract(secret);
        Self { secret, keys: RwLock::default() }
    }

    /// Returns the MAC of a message under the key of a label.
    fn authenticate(&self, label: &'static str, message: &[u8]) -> [u8; 32] {
        let sign = |(known, key): &(&str, hmac::Key)| (*known == label).then(|| hmac::sign(key, message));
        let known = self.keys.read().iter().find_map(sign);
        let tag = known.unwrap_or_else(|| {
            let info = [label.as_bytes()];
            let key = self.secret.expand(&info, HMAC_SHA256).expect("HKDF returns a key of 32 bytes").into();
            let tag = hmac::sign(&key, message);
            self.keys.write().push((label, key));
            tag
        });
        tag.as_ref().try_into().expect("an HMAC-SHA-256 tag has 32 bytes")
    }
}

/// Signs with the key of the data folder. Keeps only the part of the seed that signing needs.
pub(crate) struct FileSigner {
    pair: Ed25519KeyPair,
    public_key: [u8; 32],
    seals: Seals,
}

impl FileSigner {
    /// Creates a signer from a seed (RFC 8032 §5.1.5), or returns `None` if the seed is rejected.
    pub(crate) fn new(seed: &[u8; 32]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public_key = pair.public_key().as_ref().try_into().ok()?;
        Some(Self { pair, public_key, seals: Seals::of(seed) })
    }
}

/// Verifies a signature (RFC 8032).
pub(crate) fn verify_signature(public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    UnparsedPublicKey::new(&ED25519, public_key).verify(message, signature).is_ok()
}

impl Signer for FileSigner {
    fn public_key(&self) -> [u8; 32] {
        self.public_key
    }

    fn sign(&self, message: &[u8]) -> [u8; 64] {
        let signature = self.pair.sign(message);
        signature.as_ref().try_into().expect("an Ed25519 signature has 64 bytes")
    }

    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        verify_signature(public_key, message, signature)
    }

    fn authenticate(&self, label: &'static str, message: &[u8]) -> [u8; 32] {
        self.seals.authenticate(label, message)
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::*;

    #[test]
    fn host_time_never_decreases() {
        let clock = HostClock::start();
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    /// The kernel's uptime includes time asleep (`proc_uptime(5)`).
    #[cfg(target_os = "linux")]
    #[test]
    fn host_clock_includes_suspended_time() {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
        let late = counted().as_secs_f64() - uptime;
        assert!((-0.01..60.0).contains(&late), "{late} s after the uptime");
    }

    #[test]
    fn system_times_are_counted_from_1970() {
        let nanos = Duration::from_nanos;
        assert_eq!(wall_nanos(SystemTime::UNIX_EPOCH), 0);
        assert_eq!(wall_nanos(SystemTime::UNIX_EPOCH + nanos(1_999)), 1_999);
        assert_eq!(wall_nanos(SystemTime::UNIX_EPOCH - nanos(1)), -1);
    }

    #[expect(clippy::disallowed_methods, reason = "compares host time with its source clock")]
    #[test]
    fn host_time_matches_the_system_clock() {
        let clock = HostClock::start();
        let before = wall_nanos(SystemTime::now());
        let host = i128::from(clock.now().micros()) * 1_000;
        let after = wall_nanos(SystemTime::now());
        // Within the error of one reading, plus a microsecond per rounding.
        assert!((before - 1_000_000..=after + 1_000_000).contains(&host), "{before} {host} {after}");
    }

    /// Other readers of the boot clock compute the same host time.
    #[cfg(target_os = "linux")]
    #[test]
    fn host_time_follows_from_the_boot_clock() {
        let clock = HostClock::start();
        let (boot, kernel) = (clock.boot().unwrap(), Kernel::here().unwrap());
        assert_eq!(boot.boot_id, kernel.boot_id);
        let own = |counted: Duration| i128::try_from(counted.as_nanos()).unwrap() - kernel.shift;
        let before = own(counted()) + boot.host_ahead_nanos;
        let host = i128::from(clock.now().micros()) * 1_000;
        let after = own(counted()) + boot.host_ahead_nanos;
        assert!((before - 1_000 < host) && host <= after, "{before} {host} {after}");
    }

    #[test]
    fn os_random_bytes_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        OsEntropy.fill(&mut a);
        OsEntropy.fill(&mut b);
        assert_ne!(a, b);
        assert_ne!(a, [0; 32]);
    }

    #[test]
    fn signatures_match_rfc_8032() {
        // RFC 8032 §7.1, test 2.
        let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
        let public_key = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
        let signature = concat!(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        );
        let seed = HEXLOWER.decode(seed.as_bytes()).unwrap().try_into().unwrap();
        let signer = FileSigner::new(&seed).unwrap();
        assert_eq!(HEXLOWER.encode(&signer.public_key()), public_key);
        let made = signer.sign(&[0x72]);
        assert_eq!(HEXLOWER.encode(&made), signature);
        assert!(signer.verify(&signer.public_key(), &[0x72], &made));
        assert!(!signer.verify(&signer.public_key(), &[0x73], &made));
        assert!(!signer.verify(&[7; 32], &[0x72], &made));
    }

    #[test]
    fn authentication_depends_on_seed_label_and_message() {
        let signers = [1, 2].map(|seed| FileSigner::new(&[seed; 32]).unwrap());
        let code = signers[0].authenticate("cursor", b"x");
        assert_eq!(code, signers[0].authenticate("cursor", b"x"), "with the cached key");
        assert_eq!(code, FileSigner::new(&[1; 32]).unwrap().authenticate("cursor", b"x"));
        let of_others = [
            signers[1].authenticate("cursor", b"x"),
            signers[0].authenticate("other", b"x"),
            signers[0].authenticate("cursor", b"y"),
        ];
        assert!(!of_others.contains(&code));
    }
}
