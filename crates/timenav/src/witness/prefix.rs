//! Logs that a witness is told of together: those under one prefix, which one key signs, as it does all ledgers of a
//! service.

use std::num::NonZeroU32;

use parking_lot::Mutex;
use timenav_core::ledger::VerifierKey;

use super::Pace;

/// Most prefixes of one witness.
pub(super) const PREFIXES_MAX: usize = 16;
/// Most logs that one prefix brings. Each is in memory, and has two files at most.
const LOGS_PER_PREFIX_MAX: usize = 1_000;
/// Checkpoints of all logs under one prefix that are cosigned in a minute.
const PREFIX_CHECKPOINTS_PER_MINUTE_MAX: NonZeroU32 = NonZeroU32::new(1_200).expect("it is not zero");
/// Longest origin under a prefix, in bytes: the names of a service and a timeline.
const ORIGIN_BYTES_MAX: usize = 255;
/// Longest checkpoint of a log under a prefix, with the signatures that are kept, in bytes. It stays in memory.
pub(super) const PREFIX_NOTE_BYTES_MAX: usize = 8 * 1024;

/// How much one prefix brings.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrefixLimits {
    /// Most logs.
    pub(super) logs_max: usize,
    /// Most checkpoints of all of them in a minute.
    pub(super) checkpoints_per_minute_max: NonZeroU32,
}

impl Default for PrefixLimits {
    fn default() -> Self {
        Self { logs_max: LOGS_PER_PREFIX_MAX, checkpoints_per_minute_max: PREFIX_CHECKPOINTS_PER_MINUTE_MAX }
    }
}

/// A prefix of origins that a witness is told of, and the key that signs each log under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownPrefix {
    /// What the origins begin with. It ends in a slash.
    pub(super) prefix: String,
    /// The public key. Its name, and so its id, is another one for each log: the origin.
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
        // A key of another service is a slip: whoever has it would sign for this one.
        if key.name() != start && !key.name().starts_with(&prefix) {
            return Err(format!("the key is of `{}`, which is not under `{prefix}`", key.name()));
        }
        Ok(Self { prefix, public_key: *key.public_key() })
    }
}

/// A prefix, and how much it has brought.
pub(super) struct Prefix {
    pub(super) text: String,
    pub(super) public_keys: Vec<[u8; 32]>,
    /// For all of its logs together.
    pub(super) pace: Pace,
    pub(super) limits: PrefixLimits,
    /// How many logs it has brought. Held while one more is cosigned for the first time.
    pub(super) logs: Mutex<usize>,
}

impl Prefix {
    /// Returns the keys of the log with that origin, if it is under this prefix.
    pub(super) fn keys_of(&self, origin: &str) -> Option<Vec<VerifierKey>> {
        let rest = origin.strip_prefix(&self.text)?;
        // It goes into the log on stderr. Its file is named by a hash.
        let is_plain = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || origin.len() > ORIGIN_BYTES_MAX {
            return None;
        }
        self.public_keys.iter().map(|key| VerifierKey::new(origin, *key).ok()).collect()
    }
}
