//! The engine's doors to this machine: its clock, its randomness, and the signing key.
//!
//! Nothing else in the project reads a clock or asks for randomness; `clippy.toml` sees to it.

use std::time::{Duration, SystemTime};

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustix::time::{ClockId, clock_gettime};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Entropy, Signer, WallClock};

/// What counts on from the start of the service, also while the machine sleeps (`clock_gettime(2)`).
#[cfg(target_os = "linux")]
const COUNTER: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const COUNTER: ClockId = ClockId::Monotonic;

/// Host time: the system clock once, at the start, and a counter from there on that nobody can set.
///
/// So it never goes down and never jumps, whatever is done to the system clock; a correction of
/// that clock counts from the next start. While a machine sleeps, it counts on.
pub(crate) struct HostClock {
    started: Instant<Wall>,
    since: Duration,
}

impl HostClock {
    /// Reads the system clock.
    #[expect(clippy::disallowed_methods, reason = "the door by which host time enters")]
    pub(crate) fn start() -> Self {
        let since = counted();
        Self { started: wall(SystemTime::now()), since }
    }
}

/// Returns what the counter shows.
#[expect(clippy::disallowed_methods, reason = "the door by which host time enters")]
pub(crate) fn counted() -> Duration {
    let counted = clock_gettime(COUNTER);
    // The counter begins at zero, and what it shows is never negative.
    let (seconds, nanos) = (u64::try_from(counted.tv_sec), u32::try_from(counted.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

impl WallClock for HostClock {
    fn now(&self) -> Instant<Wall> {
        let elapsed = i64::try_from(counted().saturating_sub(self.since).as_micros()).unwrap_or(i64::MAX);
        let micros = self.started.micros().saturating_add(elapsed);
        Instant::from_micros(micros).unwrap_or(Instant::MAX)
    }
}

/// Returns the instant of a system time, cut to whole microseconds towards the past.
fn wall(time: SystemTime) -> Instant<Wall> {
    let micros = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()),
        Err(before) => i64::try_from(before.duration().as_nanos().div_ceil(1_000)).map(|micros| -micros),
    };
    micros.ok().and_then(Instant::from_micros).unwrap_or(Instant::EPOCH)
}

/// Random bytes from a generator that the operating system seeds.
#[derive(Debug)]
pub(crate) struct OsEntropy(SystemRandom);

impl OsEntropy {
    /// Returns the generator.
    #[expect(clippy::disallowed_methods, reason = "the door by which randomness enters")]
    pub(crate) fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        // Without randomness there are no keys; nothing sensible could be done but to stop.
        self.0.fill(buffer).expect("the operating system gives random bytes");
    }
}

/// Signs with the key of the data folder. Holds no more of its seed than signing needs.
pub(crate) struct FileSigner {
    pair: Ed25519KeyPair,
    public_key: [u8; 32],
    /// The key from which those of [`Signer::authenticate`] are made (RFC 5869 §2.2).
    root: Prk,
}

impl FileSigner {
    /// Returns the signer with that seed (RFC 8032 §5.1.5), or `None` where it is refused.
    pub(crate) fn new(seed: &[u8; 32]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public_key = pair.public_key().as_ref().try_into().ok()?;
        let root = Salt::new(HKDF_SHA256, b"timenav authenticate v1").extract(seed);
        Some(Self { pair, public_key, root })
    }
}

/// Returns whether a signature of a message was made with the key behind `public_key` (RFC 8032).
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

    fn authenticate(&self, label: &str, message: &[u8]) -> [u8; 32] {
        let info = [label.as_bytes()];
        let key = self.root.expand(&info, HMAC_SHA256).expect("HKDF gives a key of 32 bytes");
        let tag = hmac::sign(&hmac::Key::from(key), message);
        tag.as_ref().try_into().expect("a tag of HMAC-SHA-256 has 32 bytes")
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::*;

    #[test]
    fn host_time_never_goes_down() {
        let clock = HostClock::start();
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    /// The kernel counts the time asleep into its uptime (`proc_uptime(5)`).
    #[cfg(target_os = "linux")]
    #[test]
    fn sleep_of_the_machine_counts() {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
        let late = counted().as_secs_f64() - uptime;
        assert!((-0.01..60.0).contains(&late), "{late} s after the uptime");
    }

    #[test]
    fn system_times_are_cut_towards_the_past() {
        let nanos = Duration::from_nanos;
        let check = |time: SystemTime, micros: i64| assert_eq!(wall(time).micros(), micros);
        check(SystemTime::UNIX_EPOCH, 0);
        check(SystemTime::UNIX_EPOCH + nanos(1_999), 1);
        check(SystemTime::UNIX_EPOCH - nanos(1), -1);
        check(SystemTime::UNIX_EPOCH - nanos(1_000), -1);
        check(SystemTime::UNIX_EPOCH - nanos(1_001), -2);
    }

    #[test]
    fn random_bytes_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        OsEntropy::new().fill(&mut a);
        OsEntropy::new().fill(&mut b);
        assert_ne!(a, b);
        assert_ne!(a, [0; 32]);
    }

    #[test]
    fn signatures_are_those_of_rfc_8032() {
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
        let code =
            |seed: u8, label: &str, message: &[u8]| FileSigner::new(&[seed; 32]).unwrap().authenticate(label, message);
        let one = code(1, "cursor", b"x");
        assert_eq!(one, code(1, "cursor", b"x"));
        for other in [code(2, "cursor", b"x"), code(1, "other", b"x"), code(1, "cursor", b"y")] {
            assert_ne!(one, other);
        }
    }
}
