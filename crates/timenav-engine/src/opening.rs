//! Opening: the first start, and the comparison with what was signed.

use std::collections::BTreeMap;
use std::sync::Arc;

use timenav_core::ids::{KeyId, TimelineId, UserId, type_id};
use timenav_core::ledger::{Checkpoint, CheckpointError, Note, NoteSignature};

use crate::command::{Actor, Command, Submission};
use crate::engine::{Doors, Engine, Options, uuid};
use crate::group::{Group, Known, SaltPool};
use crate::identity::{key_digest, new_key_text};
use crate::outside::OutsideError;
use crate::proofs::root_at;
use crate::refusal::Refusal;
use crate::state::{ApiKey, TimelineState, World};
use crate::store::{Store, StoreError};

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The checkpoints outside the database cannot be read.
    #[error(transparent)]
    Outside(#[from] OutsideError),
    /// The newest checkpoint in the database does not verify.
    #[error(
        "the newest checkpoint of timeline `{timeline}` in the database does not verify ({error}): \
         the database was changed by another hand or is another service's; keep it as evidence and restore a backup"
    )]
    Head {
        /// Which timeline.
        timeline: TimelineId,
        /// What is wrong with it.
        error: CheckpointError,
    },
    /// The tree in the database is not the one that was signed.
    #[error(
        "timeline `{timeline}` has a signed tree of {signed} entries, but holds another one, of {found} entries: \
         the database was changed by another hand; keep it as evidence, or start with --accept-rollback"
    )]
    Unsigned {
        /// Which timeline.
        timeline: TimelineId,
        /// Entries in the tree that was signed.
        signed: u64,
        /// Entries in the tree that the database holds.
        found: u64,
    },
    /// The checkpoints outside the database are gone.
    #[error(
        "the database holds {entries} entries, but no checkpoint is kept outside it: the file of checkpoints \
         was removed; put it back, or start with --accept-rollback"
    )]
    OutsideMissing {
        /// Entries in the database.
        entries: u64,
    },
    /// A checkpoint outside the database does not verify.
    #[error("the checkpoint of timeline `{timeline}` kept outside the database does not verify: {error}")]
    Checkpoint {
        /// Which timeline.
        timeline: TimelineId,
        /// What is wrong with it.
        error: CheckpointError,
    },
    /// The database lost entries, or was replaced by an older copy.
    #[error(
        "timeline `{timeline}` has {found} entries, but {kept} were signed and kept outside the database: \
         the database was taken back; restore a newer copy, or start with --accept-rollback"
    )]
    Rollback {
        /// Which timeline.
        timeline: TimelineId,
        /// How many entries the database has.
        found: u64,
        /// How many were signed.
        kept: u64,
    },
    /// The database holds another history than the one that was signed.
    #[error(
        "timeline `{timeline}` differs from the {kept} entries that were signed and kept outside the database: \
         its history was rewritten; keep both as evidence, or start with --accept-rollback"
    )]
    Fork {
        /// Which timeline.
        timeline: TimelineId,
        /// How many entries were signed.
        kept: u64,
    },
    /// The first start failed.
    #[error("the first start failed: {0}")]
    Bootstrap(String),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// Makes the first operator, their key, `system` and `main`: all of it, or nothing.
pub(crate) async fn bootstrap(
    store: &dyn Store,
    world: &mut World,
    doors: &Doors,
    options: &Options,
    keep_first_key: impl FnOnce(&str) -> std::io::Result<()>,
) -> Result<(), OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::Bootstrap(error.to_string());
    let system = TimelineId::new(TimelineId::SYSTEM).map_err(|error| failed(&error))?;
    let main = TimelineId::new(TimelineId::MAIN).map_err(|error| failed(&error))?;
    let admin = UserId::new("admin").map_err(|error| failed(&error))?;
    let key_id = KeyId::new(&type_id("key", uuid(doors))).map_err(|error| failed(&error))?;
    let secret = new_key_text(&*doors.entropy);
    let key = ApiKey {
        key_id,
        hash: key_digest(&secret),
        user_id: admin.clone(),
        timeline_id: main.clone(),
        label: "made on the first start".to_owned(),
        scopes: None,
        created_at: doors.clock.now(),
        expires_at: None,
        revoked_at: None,
    };
    keep_first_key(&secret).map_err(|error| failed(&error))?;
    let mut group = Group::new(world, doors, options, Known::default(), SaltPool::default());
    for (timeline, command) in [
        (&system, Command::CreateTimeline { fork: None }),
        (&system, Command::CreateUser { user_id: admin, operator: true }),
        (&main, Command::CreateTimeline { fork: None }),
        (&system, Command::CreateKey(key)),
    ] {
        group.decide(Submission {
            actor: Actor::Service,
            timeline: timeline.clone(),
            command,
            idempotency: None,
            answer: None,
        });
    }
    if let Some(refusal) = group.refused() {
        return Err(failed(refusal));
    }
    let (commit, sealed, _) = group.finish().map_err(|error| failed(&error))?;
    store.commit(commit).await?;
    let checkpoints: Vec<_> =
        sealed.timelines.iter().map(|state| (state.head.id.clone(), Arc::clone(&state.head.checkpoint))).collect();
    Ok(doors.outside.keep(&checkpoints)?)
}

/// What an operator has accepted although it is not as it was signed.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    all: Vec<String>,
    timelines: BTreeMap<TimelineId, Vec<String>>,
}

/// Entries of `system` and `main` together after the first start.
const FIRST_START_ENTRIES: u64 = 5;

/// Compares every timeline with its own signature and with what was kept outside the database.
///
/// Returns what an operator has accepted although it is not as it was signed.
///
/// # Errors
/// Something is not as it was signed, and the operator has not accepted that.
pub(crate) async fn compare_with_signed(
    store: &dyn Store,
    world: &World,
    doors: &Doors,
    options: &Options,
) -> Result<Accepted, OpenError> {
    let mut findings = Accepted::default();
    let mut accept = |compared: Result<(), OpenError>| match compared {
        Err(error) if options.accept_rollback && error.is_about_history() => {
            tracing::warn!(%error, "starting although the database is not what was signed, as the operator asked");
            let text = error.to_string();
            // What is about one timeline stands on it too: its next checkpoint signs what is there.
            let about = error.timeline().filter(|timeline| world.timelines.contains_key(*timeline));
            if let Some(timeline) = about.filter(|timeline| !timeline.is_system()) {
                findings.timelines.entry(timeline.clone()).or_default().push(text.clone());
            }
            findings.all.push(text);
            Ok(())
        }
        other => other,
    };
    for state in world.timelines.values() {
        accept(compare_with_itself(state, doors, options))?;
    }
    warn_of_retired_key(world, doors, options);
    let kept = doors.outside.last()?;
    if kept.is_empty() {
        accept(compare_with_nothing(world))?;
    }
    for (timeline, note) in kept {
        accept(compare_with_kept(store, world, doors, options, &timeline, &note).await)?;
    }
    if !findings.all.is_empty() {
        let heads = world.timelines.values().map(|state| &state.head);
        let checkpoints: Vec<_> = heads.map(|head| (head.id.clone(), Arc::clone(&head.checkpoint))).collect();
        doors.outside.replace(&checkpoints)?;
    }
    Ok(findings)
}

/// The newest checkpoint in the database is signed, and is that of the tree in the database.
fn compare_with_itself(state: &TimelineState, doors: &Doors, options: &Options) -> Result<(), OpenError> {
    let timeline = &state.head.id;
    let signed = open_checkpoint(timeline, &state.head.checkpoint, doors, options);
    let signed = signed.map_err(|error| OpenError::Head { timeline: timeline.clone(), error })?;
    if signed.size == state.head.frontier.size() && signed.root == state.root {
        Ok(())
    } else {
        Err(OpenError::Unsigned { timeline: timeline.clone(), signed: signed.size, found: state.head.frontier.size() })
    }
}

/// Says so where ledgers went over to another key than the one that signs, and no rotation is under way: the key in the
/// data folder may be an older copy. It opens the ledgers as long as nothing was written after the rotation.
fn warn_of_retired_key(world: &World, doors: &Doors, options: &Options) {
    let has_gone_over = |state: &TimelineState| {
        let note = Note::parse(state.head.checkpoint.as_bytes()).ok();
        // The key that takes over signs last.
        let last = note.as_ref().and_then(|note| note.signatures().last()).map(NoteSignature::id);
        let known = std::iter::once(&doors.signer).chain(&doors.next_signer);
        let mut known = known.filter_map(|signer| signer.ledger_key(&options.service_name, &state.head.id).ok());
        last.is_some_and(|last| known.all(|key| key.id() != last))
    };
    let timelines = world.timelines.values().filter(|state| has_gone_over(state)).count();
    if timelines > 0 {
        tracing::warn!(
            timelines,
            "{timelines} timelines have gone over to another signing key than the one in the data folder, and no rotation is \
             under way: if the key is an older copy, stop the service and put the newer one back"
        );
    }
}

/// Nothing is kept outside: right before the first commit was sealed, and never after it.
fn compare_with_nothing(world: &World) -> Result<(), OpenError> {
    let entries: u64 = world.timelines.values().map(|state| state.head.frontier.size()).sum();
    if entries <= FIRST_START_ENTRIES { Ok(()) } else { Err(OpenError::OutsideMissing { entries }) }
}

async fn compare_with_kept(
    store: &dyn Store,
    world: &World,
    doors: &Doors,
    options: &Options,
    timeline: &TimelineId,
    note: &str,
) -> Result<(), OpenError> {
    let kept = open_checkpoint(timeline, note, doors, options);
    let kept = kept.map_err(|error| OpenError::Checkpoint { timeline: timeline.clone(), error })?;
    let state = world.timelines.get(timeline);
    let found = state.map_or(0, |state| state.head.frontier.size());
    if found < kept.size {
        return Err(OpenError::Rollback { timeline: timeline.clone(), found, kept: kept.size });
    }
    let Some(state) = state else { return Ok(()) };
    let root = if found == kept.size {
        state.root
    } else {
        // The last commit was durable, its checkpoint not yet kept: the process was killed there.
        root_at(store, state.head.key, kept.size).await.map_err(|error| StoreError::Damaged(error.to_string()))?
    };
    if root == kept.root { Ok(()) } else { Err(OpenError::Fork { timeline: timeline.clone(), kept: kept.size }) }
}

fn open_checkpoint(
    timeline: &TimelineId,
    note: &str,
    doors: &Doors,
    options: &Options,
) -> Result<Checkpoint, CheckpointError> {
    let key = doors.signer.ledger_key(&options.service_name, timeline)?;
    Checkpoint::open(note.as_bytes(), &key, |public, message, signature| {
        doors.signer.verify(public, message, signature)
    })
}

impl OpenError {
    /// Returns the timeline that the error is about, if it is about one.
    const fn timeline(&self) -> Option<&TimelineId> {
        match self {
            Self::Checkpoint { timeline, .. }
            | Self::Head { timeline, .. }
            | Self::Unsigned { timeline, .. }
            | Self::Rollback { timeline, .. }
            | Self::Fork { timeline, .. } => Some(timeline),
            Self::OutsideMissing { .. } | Self::Store(_) | Self::Outside(_) | Self::Bootstrap(_) | Self::Thread(_) => {
                None
            }
        }
    }

    /// Returns whether the error says that history is not what was signed, which an operator may
    /// accept.
    const fn is_about_history(&self) -> bool {
        match self {
            Self::Unsigned { .. } | Self::OutsideMissing { .. } | Self::Rollback { .. } | Self::Fork { .. } => true,
            // A signature that does not verify may be another service's, whose history is not ours to go on with.
            Self::Checkpoint { .. }
            | Self::Head { .. }
            | Self::Store(_)
            | Self::Outside(_)
            | Self::Bootstrap(_)
            | Self::Thread(_) => false,
        }
    }
}

impl Engine {
    /// Leaves an entry on `system`, and on every timeline concerned, that says what was accepted.
    pub(crate) async fn log_accepted(&self, accepted: Accepted) -> Result<(), OpenError> {
        if accepted.all.is_empty() {
            return Ok(());
        }
        let logged: Result<(), Refusal> = async {
            let system = std::iter::once((self.system()?, accepted.all));
            for (timeline, findings) in system.chain(accepted.timelines) {
                self.submit_service(timeline, Command::LogRollbackAccepted { findings }).await?;
            }
            Ok(())
        }
        .await;
        logged.map_err(|refusal| OpenError::Store(StoreError::Unavailable(refusal.to_string())))
    }
}
