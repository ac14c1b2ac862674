//! Logs under a common prefix, signed by one key, as all ledgers of a service are.

use std::num::NonZeroU32;

use parking_lot::Mutex;
use timenav_core::ledger::VerifierKey;

use super::Pace;

pub(super) const PREFIXES_MAX: usize = 16;
/// Maximum number of logs per prefix. Each is in memory and has up to two files.
const LOGS_PER_PREFIX_MAX: usize = 1_000;
const PREFIX_CHECKPOINTS_PER_MINUTE_MAX: NonZeroU32 = NonZeroU32::new(1_200).expect("it is not zero");
/// Maximum length of an origin under a prefix, in bytes: a service name and a timeline id.
const ORIGIN_BYTES_MAX: usize = 255;
/// Maximum size of a checkpoint under a prefix with its stored signatures, in bytes. It stays in memory.
pub(super) const PREFIX_NOTE_BYTES_MAX: usize = 8 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct PrefixLimits {
    pub(super) logs_max: usize,
    pub(super) checkpoints_per_minute_max: NonZeroU32,
}

impl Default for PrefixLimits {
    fn default() -> Self {
        Self { logs_max: LOGS_PER_PREFIX_MAX, checkpoints_per_minute_max: PREFIX_CHECKPOINTS_PER_MINUTE_MAX }
    }
}

/// A prefix of origins with the key that signs all logs under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownPrefix {
    /// The prefix, with a trailing slash.
    pub(super) prefix: String,
    /// The public key. Its name, and so its id, differs per log: it is the origin.
    pub(super) public_key: [u8; 32],
}

impl std::str::FromStr for KnownPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write it as <prefix>/=<name>+<id>+<base64>";
        let (start, key) = text.split_once("/=").ok_or(FORM)?;
        let key = VerifierKey::parse(key).map_err(|error| format!("{error}; {FORM}"))?;
        let prefix = format!("{start}/");
        if start.is_empty() || prefix.len() >= ORIGIN_BYTES_MAX || start.contains(char::is_control) {
            return Err(format!(
                "a prefix cannot be empty, have {ORIGIN_BYTES_MAX} bytes or more, or contain control characters"
            ));
        }
        // A key of another service is a mistake: its holder could sign for this one.
        if key.name() != start && !key.name().starts_with(&prefix) {
            return Err(format!("the key is of `{}`, which is not under `{prefix}`", key.name()));
        }
        Ok(Self { prefix, public_key: *key.public_key() })
    }
}

pub(super) struct Prefix {
    pub(super) text: String,
    pub(super) public_keys: Vec<[u8; 32]>,
    /// The rate limit for all of its logs together.
    pub(super) pace: Pace,
    pub(super) limits: PrefixLimits,
    /// Number of logs. Locked while the first checkpoint of a new log is cosigned.
    pub(super) logs: Mutex<usize>,
}

impl Prefix {
    /// Returns the keys of a log, if its origin is under this prefix.
    pub(super) fn keys_of(&self, origin: &str) -> Option<Vec<VerifierKey>> {
        let rest = origin.strip_prefix(&self.text)?;
        // The origin is logged to stderr. The file name is a hash.
        let is_plain = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || origin.len() > ORIGIN_BYTES_MAX {
            return None;
        }
        self.public_keys.iter().map(|key| VerifierKey::new(origin, *key).ok()).collect()
    }
}
