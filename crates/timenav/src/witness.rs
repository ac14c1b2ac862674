//! Cosigns checkpoints of known logs, as long as each continues the previous one (C2SP tlog-witness). The last one of a
//! log is stored durably before the cosignature is returned, and no request can remove it.

mod folder;
mod prefix;
mod server;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use parking_lot::{Mutex, RwLock};
use timenav_core::ledger::{
    AddCheckpoint, Note, NoteSignature, VerifierKey, WitnessKey, WitnessRefusal, Witnessed, decide_witnessing, sha256,
};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Signer, WallClock};

use crate::wiring::ports::{HostClock, verify_signature};

pub(crate) use folder::WitnessFolder;
pub(crate) use prefix::KnownPrefix;
pub(crate) use server::router;

use prefix::{PREFIX_NOTE_BYTES_MAX, PREFIXES_MAX, Prefix, PrefixLimits};

/// Checkpoints of one log that are cosigned per minute. More would be pointless: each costs a disk write.
pub(crate) const LOG_CHECKPOINTS_PER_MINUTE_MAX: NonZeroU32 = NonZeroU32::new(60).expect("sixty is not zero");
pub(crate) const LOGS_MAX: usize = 10_000;
/// Maximum number of keys per log or prefix: the current one and earlier ones.
const KEYS_PER_LOG_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLog {
    pub(crate) key: VerifierKey,
    /// The first line of the log's checkpoints.
    pub(crate) origin: String,
}

impl std::str::FromStr for KnownLog {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The base64 of a key is unpadded, so the first equals sign ends it.
        let (key, origin) = text.split_once('=').map_or((text, None), |(key, origin)| (key, Some(origin)));
        let key =
            VerifierKey::parse(key).map_err(|error| format!("{error}; write it as <name>+<id>+<base64>[=origin]"))?;
        let origin = origin.unwrap_or(key.name()).to_owned();
        if origin.is_empty() || origin.contains(char::is_control) {
            return Err("the origin of a log cannot be empty or contain control characters".to_owned());
        }
        Ok(Self { key, origin })
    }
}

struct HostTime {
    clock: Arc<HostClock>,
    began: Instant<Wall>,
}

impl Clock for HostTime {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let micros = self.clock.now().since(self.began).micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

type Pace = RateLimiter<NotKeyed, InMemoryState, HostTime, NoOpMiddleware<Duration>>;

struct Log {
    origin: String,
    /// The prefix that it was added under, unless it is named.
    prefix: Option<Arc<Prefix>>,
    keys: Vec<VerifierKey>,
    pace: Pace,
    /// Locked from the comparison until the cosigned checkpoint is stored.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    witnessed: Witnessed,
    /// The checkpoint with the signatures of the log and the witness.
    note: Option<Arc<str>>,
    /// Whether the stored checkpoint may differ because a write failed. Nothing is cosigned until a restart.
    is_unknown: bool,
}

pub(crate) struct Witness {
    key: WitnessKey,
    signer: Arc<dyn Signer>,
    clock: Arc<HostClock>,
    folder: WitnessFolder,
    /// By the SHA-256 of each origin in hexadecimal.
    logs: RwLock<HashMap<String, Arc<Log>>>,
    /// Longest first: the first match applies.
    prefixes: Vec<Arc<Prefix>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwitnessed {
    #[error("this witness does not know the log")]
    UnknownLog,
    #[error(transparent)]
    Refused(#[from] WitnessRefusal),
    #[error("this log sends more than {LOG_CHECKPOINTS_PER_MINUTE_MAX} requests a minute")]
    TooOften,
    #[error("the logs under `{prefix}` send more than {max} requests a minute")]
    PrefixTooOften {
        prefix: String,
        /// The limit per minute.
        max: NonZeroU32,
    },
    #[error("this witness has the maximum of {max} logs under `{prefix}`")]
    PrefixFull {
        prefix: String,
        /// The limit.
        max: usize,
    },
    #[error("a checkpoint of a log under a prefix can have at most {PREFIX_NOTE_BYTES_MAX} bytes with its signatures")]
    TooLong,
    #[error("the cosigned checkpoint cannot be stored: {0}")]
    NotStored(String),
}

impl Witness {
    /// Fails if a stored checkpoint is missing, damaged, or not cosigned by this witness.
    pub(crate) fn open(
        folder: WitnessFolder,
        name: Option<&str>,
        logs: Vec<KnownLog>,
        prefixes: Vec<KnownPrefix>,
    ) -> anyhow::Result<Self> {
        Self::open_within(PrefixLimits::default(), folder, name, (logs, prefixes))
    }

    fn open_within(
        limits: PrefixLimits,
        folder: WitnessFolder,
        name: Option<&str>,
        (logs, prefixes): (Vec<KnownLog>, Vec<KnownPrefix>),
    ) -> anyhow::Result<Self> {
        let (key, signer) = folder.key(name)?;
        let clock = Arc::new(HostClock::start());
        let logs = together(logs.into_iter().map(|log| (log.origin, log.key)), "log")?;
        if logs.len() > LOGS_MAX {
            bail!("a witness can have at most {LOGS_MAX} logs, not {}", logs.len());
        }
        let prefixes = together(prefixes.into_iter().map(|known| (known.prefix, known.public_key)), "prefix")?;
        if prefixes.len() > PREFIXES_MAX {
            bail!("a witness can have at most {PREFIXES_MAX} prefixes, not {}", prefixes.len());
        }
        let mut witness = Self { key, signer, clock, folder, logs: RwLock::default(), prefixes: Vec::new() };
        for (text, public_keys) in prefixes {
            let pace = witness.pace(limits.checkpoints_per_minute_max);
            witness.prefixes.push(Arc::new(Prefix { text, public_keys, pace, limits, logs: Mutex::new(0) }));
        }
        witness.prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.text.len()));
        for (origin, keys) in logs {
            let last = witness
                .last_stored(&origin)
                .with_context(|| format!("the cosigned checkpoint of the log `{origin}`"))?;
            witness.take_in(witness.log(origin, None, keys, last));
        }
        witness.take_in_under_prefixes()?;
        Ok(witness)
    }

    /// Fails if the checkpoint of any log is missing: without the file, the prefix of its log is unknown.
    fn take_in_under_prefixes(&self) -> anyhow::Result<()> {
        if self.prefixes.is_empty() {
            return Ok(());
        }
        for hash in self.folder.stored_hashes()? {
            if self.logs.read().contains_key(&hash) {
                continue;
            }
            let Some(text) = self.folder.checkpoint(&hash)? else { continue };
            let origin = text.lines().next().unwrap_or_default();
            if hash_of(origin) != hash {
                bail!("the cosigned checkpoint {hash}.checkpoint is not of the log in its file name");
            }
            let Some((prefix, keys)) = self.prefix_of(origin) else { continue };
            let last =
                self.last_stored(origin).with_context(|| format!("the cosigned checkpoint of the log `{origin}`"))?;
            *prefix.logs.lock() += 1;
            self.take_in(self.log(origin.to_owned(), Some(prefix), keys, last));
        }
        Ok(())
    }

    fn pace(&self, per_minute_max: NonZeroU32) -> Pace {
        let clock = HostTime { clock: Arc::clone(&self.clock), began: self.clock.now() };
        RateLimiter::direct_with_clock(Quota::per_minute(per_minute_max), clock)
    }

    fn log(&self, origin: String, prefix: Option<Arc<Prefix>>, keys: Vec<VerifierKey>, last: Last) -> Arc<Log> {
        let pace = self.pace(LOG_CHECKPOINTS_PER_MINUTE_MAX);
        Arc::new(Log { origin, prefix, keys, pace, last: Mutex::new(last) })
    }

    fn take_in(&self, log: Arc<Log>) {
        self.logs.write().insert(hash_of(&log.origin), log);
    }

    /// Returns a log. The lock of the map is released on return, so a slow disk delays no other log.
    fn found(&self, origin: &str) -> Option<Arc<Log>> {
        self.logs.read().get(&hash_of(origin)).cloned()
    }

    fn prefix_of(&self, origin: &str) -> Option<(Arc<Prefix>, Vec<VerifierKey>)> {
        let prefix = self.prefixes.iter().find(|prefix| origin.starts_with(&prefix.text))?;
        Some((Arc::clone(prefix), prefix.keys_of(origin)?))
    }

    /// Reads the last cosigned checkpoint of a log, which is authenticated by the witness's own cosignature.
    fn last_stored(&self, origin: &str) -> anyhow::Result<Last> {
        let Some(text) = self.folder.checkpoint(&hash_of(origin))? else { return Ok(Last::default()) };
        let note = Note::parse(text.as_bytes())?;
        self.key.cosigned_at(&note, verify_signature).context("the file was not written by this witness")?;
        let checkpoint = timenav_core::ledger::Checkpoint::parse(note.text())?;
        if checkpoint.origin != origin {
            bail!("the file belongs to the log `{}`", checkpoint.origin);
        }
        let witnessed = Witnessed { size: checkpoint.size, root: checkpoint.root };
        Ok(Last { witnessed, note: Some(text.into()), is_unknown: false })
    }

    pub(crate) const fn key(&self) -> &WitnessKey {
        &self.key
    }

    pub(crate) fn logs_count(&self) -> usize {
        self.logs.read().len()
    }

    pub(crate) fn prefixes_count(&self) -> usize {
        self.prefixes.len()
    }

    /// Cosigns a checkpoint if it continues the last one. It is stored durably when this returns. Blocks on the disk.
    pub(crate) fn add_checkpoint(&self, request: &AddCheckpoint) -> Result<NoteSignature, Unwitnessed> {
        let origin = request.origin();
        if let Some(log) = self.found(origin) {
            return self.cosign(&log, request);
        }
        let (prefix, keys) = self.prefix_of(origin).ok_or(Unwitnessed::UnknownLog)?;
        // A request without a valid signature takes no slot, does not wait and leaves nothing on disk.
        decide_witnessing(request, &keys, Witnessed::default(), verify_signature)?;
        self.cosign_first(&prefix, keys, request)
    }

    /// Cosigns the first checkpoint of a log under a prefix. From then on it is handled like a named log.
    fn cosign_first(
        &self,
        prefix: &Arc<Prefix>,
        keys: Vec<VerifierKey>,
        request: &AddCheckpoint,
    ) -> Result<NoteSignature, Unwitnessed> {
        let origin = request.origin();
        let mut count = prefix.logs.lock();
        if let Some(log) = self.found(origin) {
            // A concurrent request was faster.
            drop(count);
            return self.cosign(&log, request);
        }
        let max = prefix.limits.logs_max;
        if *count >= max {
            return Err(Unwitnessed::PrefixFull { prefix: prefix.text.clone(), max });
        }
        let log = self.log(origin.to_owned(), Some(Arc::clone(prefix)), keys, Last::default());
        let cosigned = self.cosign(&log, request);
        if cosigned.is_ok() || log.last.lock().is_unknown {
            *count += 1;
            self.take_in(log);
            if *count == max {
                let prefix = &prefix.text;
                tracing::warn!(prefix, "the prefix has the maximum of {max} logs; further ones are rejected");
            }
        }
        cosigned
    }

    fn cosign(&self, log: &Log, request: &AddCheckpoint) -> Result<NoteSignature, Unwitnessed> {
        let origin = log.origin.as_str();
        let mut last = log.last.lock();
        if last.is_unknown {
            return Err(Unwitnessed::NotStored("it failed before; restart the witness".to_owned()));
        }
        let decided = decide_witnessing(request, &log.keys, last.witnessed, verify_signature);
        let (note, witnessed) = match decided {
            Ok(decided) => decided,
            Err(refusal) => {
                if matches!(refusal, WitnessRefusal::Inconsistent(_) | WitnessRefusal::NotEmpty) {
                    self.folder.keep_evidence(&hash_of(origin), &request.to_text());
                }
                return Err(refusal.into());
            }
        };
        // After the signature was verified, so that only the log itself can use up its rate limit.
        log.check_pace()?;
        let not_stored = |error: &dyn std::fmt::Display| Unwitnessed::NotStored(error.to_string());
        let seconds = u64::try_from(self.clock.now().micros() / 1_000_000).unwrap_or(0);
        let line = self.key.cosign(note.text(), seconds, |message| self.signer.sign(message));
        let line = line.map_err(|error| not_stored(&error))?;
        let note =
            only_of(note, &log.keys).with_signature(line.clone()).map_err(|error| not_stored(&error))?.to_string();
        if log.prefix.is_some() && note.len() > PREFIX_NOTE_BYTES_MAX {
            return Err(Unwitnessed::TooLong);
        }
        if let Err(error) = self.folder.keep_checkpoint(&hash_of(origin), &note) {
            last.is_unknown = true;
            tracing::error!(origin, %error, "a checkpoint could not be stored; this log is not cosigned until a \
                                             restart");
            return Err(not_stored(&error));
        }
        (last.witnessed, last.note) = (witnessed, Some(note.into()));
        tracing::info!(origin, size = witnessed.size, "cosigned a checkpoint of {} entries", witnessed.size);
        Ok(line)
    }

    /// Returns the newest cosigned checkpoint of a log, by the SHA-256 of its origin in hexadecimal.
    pub(crate) fn checkpoint(&self, origin_hash: &str) -> Option<Arc<str>> {
        let log = self.logs.read().get(origin_hash).cloned()?;
        log.last.lock().note.clone()
    }
}

impl Log {
    fn check_pace(&self) -> Result<(), Unwitnessed> {
        self.pace.check().map_err(|_| Unwitnessed::TooOften)?;
        let Some(prefix) = &self.prefix else { return Ok(()) };
        let max = prefix.limits.checkpoints_per_minute_max;
        prefix.pace.check().map_err(|_| Unwitnessed::PrefixTooOften { prefix: prefix.text.clone(), max })
    }
}

fn together<K: PartialEq>(
    pairs: impl Iterator<Item = (String, K)>,
    what: &str,
) -> anyhow::Result<HashMap<String, Vec<K>>> {
    let mut keys: HashMap<String, Vec<K>> = HashMap::new();
    for (name, key) in pairs {
        let of_one = keys.entry(name).or_default();
        if !of_one.contains(&key) {
            of_one.push(key);
        }
    }
    match keys.iter().find(|(_, keys)| keys.len() > KEYS_PER_LOG_MAX) {
        Some((name, keys)) => bail!("the {what} `{name}` can have at most {KEYS_PER_LOG_MAX} keys, not {}", keys.len()),
        None => Ok(keys),
    }
}

/// Returns a note with only the signatures of known keys: others were added by the sender.
fn only_of(note: Note, keys: &[VerifierKey]) -> Note {
    note.retaining(|line| keys.iter().any(|key| key.id() == line.id() && key.name() == line.name()))
}

/// Returns the name of a log in URLs and file names.
fn hash_of(origin: &str) -> String {
    sha256(&[origin.as_bytes()]).to_hex()
}
