//! A witness: it cosigns checkpoints of the logs that it is told of, as long as each continues the one before (C2SP
//! tlog-witness).
//!
//! What it cosigned last of a log is kept durably before the cosignature is given out, and nothing it is asked makes it
//! forget that.

mod folder;
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
use parking_lot::Mutex;
use timenav_core::ledger::{
    AddCheckpoint, Note, NoteSignature, VerifierKey, WitnessKey, WitnessRefusal, Witnessed, decide_witnessing, sha256,
};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{SignFailure, Signer, WallClock};

use crate::doors::{HostClock, verify_signature};

pub(crate) use folder::WitnessFolder;
pub(crate) use server::router;

/// Checkpoints of one log that are cosigned in a minute. A log that asks more often gains nothing: each is a write to the
/// disk.
pub(crate) const LOG_CHECKPOINTS_PER_MINUTE_MAX: NonZeroU32 = NonZeroU32::new(60).expect("sixty is not zero");
/// Most logs of one witness.
pub(crate) const LOGS_MAX: usize = 10_000;
/// Most keys of one log: the one that signs today, and those before it.
const KEYS_PER_LOG_MAX: usize = 16;

/// A key of a log that a witness is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLog {
    /// The key.
    pub(crate) key: VerifierKey,
    /// The first line of the log's checkpoints.
    pub(crate) origin: String,
}

impl std::str::FromStr for KnownLog {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The base64 of a key has no padding, so the first equals sign ends it.
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

/// Host time since the witness began, for the limiter.
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

/// One log.
struct Log {
    keys: Vec<VerifierKey>,
    pace: Pace,
    /// Held from the comparison until what was cosigned is kept.
    last: Mutex<Last>,
}

/// What was cosigned last of a log.
#[derive(Default)]
struct Last {
    witnessed: Witnessed,
    /// The checkpoint with the log's signatures and the witness's.
    note: Option<Arc<str>>,
    /// Whether it may be another one on the disk: it could not be kept. Nothing is cosigned until a restart.
    is_unknown: bool,
}

/// A witness, and what it has cosigned.
pub(crate) struct Witness {
    key: WitnessKey,
    signer: Arc<dyn Signer>,
    clock: Arc<HostClock>,
    folder: WitnessFolder,
    logs: HashMap<String, Log>,
    /// The names of the logs by the SHA-256 of each in hexadecimal digits.
    names: HashMap<String, String>,
}

/// Why a checkpoint is not cosigned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwitnessed {
    /// The log is not one that the witness was told of.
    #[error("this witness does not know the log")]
    UnknownLog,
    /// It does not continue what was cosigned, or is not signed.
    #[error(transparent)]
    Refused(#[from] WitnessRefusal),
    /// The log asks too often.
    #[error("this log asks more than {LOG_CHECKPOINTS_PER_MINUTE_MAX} times a minute")]
    TooOften,
    /// Nothing is cosigned now.
    #[error(transparent)]
    NotSigned(SignFailure),
    /// It could not be kept.
    #[error("what is cosigned cannot be kept: {0}")]
    NotKept(String),
}

impl Witness {
    /// Opens a witness for the logs that it is told of.
    ///
    /// # Errors
    /// What is kept of one is missing, damaged, or not what this witness has cosigned.
    pub(crate) fn open(folder: WitnessFolder, name: Option<&str>, logs: Vec<KnownLog>) -> anyhow::Result<Self> {
        let (key, signer) = folder.key(name)?;
        let clock = Arc::new(HostClock::start());
        let mut keys: HashMap<String, Vec<VerifierKey>> = HashMap::new();
        for KnownLog { key, origin } in logs {
            let of_log = keys.entry(origin).or_default();
            if !of_log.contains(&key) {
                of_log.push(key);
            }
        }
        if keys.len() > LOGS_MAX {
            bail!("a witness can have at most {LOGS_MAX} logs, not {}", keys.len());
        }
        let mut witness =
            Self { key, signer, clock, folder, logs: HashMap::with_capacity(keys.len()), names: HashMap::new() };
        for (origin, keys) in keys {
            if keys.len() > KEYS_PER_LOG_MAX {
                bail!("the log `{origin}` can have at most {KEYS_PER_LOG_MAX} keys, not {}", keys.len());
            }
            let last = witness.kept(&origin).with_context(|| format!("what was cosigned of the log `{origin}`"))?;
            let quota = Quota::per_minute(LOG_CHECKPOINTS_PER_MINUTE_MAX);
            let clock = HostTime { clock: Arc::clone(&witness.clock), began: witness.clock.now() };
            let log = Log { keys, pace: RateLimiter::direct_with_clock(quota, clock), last: Mutex::new(last) };
            witness.names.insert(hash_of(&origin), origin.clone());
            witness.logs.insert(origin, log);
        }
        Ok(witness)
    }

    /// Reads what was cosigned last of a log. The witness's own cosignature says that it is what it was.
    fn kept(&self, origin: &str) -> anyhow::Result<Last> {
        let Some(text) = self.folder.checkpoint(&hash_of(origin))? else { return Ok(Last::default()) };
        let note = Note::parse(text.as_bytes())?;
        self.key.cosigned_at(&note, verify_signature).context("the file was not written by this witness")?;
        let checkpoint = timenav_core::ledger::Checkpoint::parse(note.text())?;
        if checkpoint.origin != origin {
            bail!("the file is of the log `{}`", checkpoint.origin);
        }
        let witnessed = Witnessed { size: checkpoint.size, root: checkpoint.root };
        Ok(Last { witnessed, note: Some(text.into()), is_unknown: false })
    }

    /// Returns the key that verifies what this witness cosigns.
    pub(crate) const fn key(&self) -> &WitnessKey {
        &self.key
    }

    /// Returns how many logs it is told of.
    pub(crate) fn logs_count(&self) -> usize {
        self.logs.len()
    }

    /// Cosigns a checkpoint, if it continues what was cosigned last. It is kept when this returns. Writes to the disk.
    ///
    /// # Errors
    /// Why it is not cosigned.
    pub(crate) fn add_checkpoint(&self, request: &AddCheckpoint) -> Result<NoteSignature, Unwitnessed> {
        let origin = request.origin();
        let log = self.logs.get(origin).ok_or(Unwitnessed::UnknownLog)?;
        let mut last = log.last.lock();
        if last.is_unknown {
            return Err(Unwitnessed::NotKept("it failed before; restart the witness".to_owned()));
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
        // After the signature: whoever cannot sign cannot use up what the log may ask for.
        log.pace.check().map_err(|_| Unwitnessed::TooOften)?;
        let not_kept = |error: &dyn std::fmt::Display| Unwitnessed::NotKept(error.to_string());
        let seconds = u64::try_from(self.clock.now().micros() / 1_000_000).unwrap_or(0);
        let line = self.signer.lend(|sign| self.key.cosign(note.text(), seconds, sign));
        let line = line.map_err(Unwitnessed::NotSigned)?.map_err(|error| not_kept(&error))?;
        let note = only_of(note, &log.keys).with_signature(line.clone()).map_err(|error| not_kept(&error))?.to_string();
        if let Err(error) = self.folder.keep_checkpoint(&hash_of(origin), &note) {
            last.is_unknown = true;
            tracing::error!(origin, %error, "a checkpoint could not be kept; nothing of this log is cosigned until a restart");
            return Err(not_kept(&error));
        }
        (last.witnessed, last.note) = (witnessed, Some(note.into()));
        tracing::info!(origin, size = witnessed.size, "cosigned a checkpoint of {} entries", witnessed.size);
        Ok(line)
    }

    /// Returns the newest checkpoint that was cosigned of the log whose name has this hash, in hexadecimal digits.
    pub(crate) fn checkpoint(&self, origin_hash: &str) -> Option<Arc<str>> {
        let log = self.logs.get(self.names.get(origin_hash)?)?;
        log.last.lock().note.clone()
    }
}

/// Returns a note with the signatures of known keys alone: others are of whoever sent it.
fn only_of(note: Note, keys: &[VerifierKey]) -> Note {
    note.retaining(|line| keys.iter().any(|key| key.id() == line.id() && key.name() == line.name()))
}

/// Returns what a log is called in addresses and names of files.
fn hash_of(origin: &str) -> String {
    sha256(&[origin.as_bytes()]).to_hex()
}
