//! Opening: the first start, and the comparison with what was signed.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use timenav_core::directory::ApiKey;
use timenav_core::directory::session::HOST_CLOCK_TOLERANCE;
use timenav_core::directory::user::UserCommand;
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, TimelineId, UserId, type_id};
use timenav_core::ledger::{CheckpointError, HeadError};
use timenav_core::limits::FORK_DEPTH_MAX;
use timenav_core::time::{Instant, Wall};

use crate::actor::Actor;
use crate::asked::{Pending, Submission};
use crate::deciding::Deciding;
use crate::deciding::identity::{ChangeUser, CreateKey};
use crate::deciding::timelines::CreateTimeline;
use crate::directory_rows::{DirectoryRows, ended_row};
use crate::doors::{Doors, uuid};
use crate::draft::{Known, SaltPool};
use crate::group::{Finished, Group};
use crate::head::{EndedTimeline, Fork, Head, Layer, TimelineKey, TimelineState};
use crate::heads::Heads;
use crate::host_clock::HostClock;
use crate::notes::newest_note;
use crate::options::{FEATURE_LEVEL, Options};
use crate::outside::{KeptOutside, OutsideError, system_last};
use crate::seals::are_ours;
use crate::secrets::{key_digest, new_key_text};
use crate::store::{Opened, Store};
use crate::store_error::StoreError;
use crate::tree::root_at;
use crate::unknown_entry::UnknownEntry;

pub(crate) mod accepted;
pub(crate) mod later;
pub(crate) mod loaded;
pub(crate) mod moved;
pub(crate) mod signed;
pub(crate) mod strays;
pub(crate) mod told;

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The checkpoints outside the database cannot be read.
    #[error(transparent)]
    Outside(#[from] OutsideError),
    /// What is signed with the newest entries in the database does not verify.
    #[error(
        "the signature of timeline `{timeline}` in the database does not verify ({error}): the database was modified \
         outside timenav, or belongs to another service; keep it as evidence and restore a backup"
    )]
    Head {
        /// Which timeline.
        timeline: TimelineId,
        /// What is wrong with it.
        error: HeadFault,
    },
    /// The tree in the database is not the one that was signed.
    #[error(
        "timeline `{timeline}` has a signed tree of {signed} entries, but holds another one of {found} entries: the \
         database was modified outside timenav; keep it as evidence, or accept it with `timenav accept-rollback`"
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
         was removed; put it back, or accept that with `timenav accept-rollback`"
    )]
    OutsideMissing {
        /// Entries in the database.
        entries: u64,
    },
    /// The checkpoints of one timeline outside the database are gone.
    #[error(
        "no checkpoint of timeline `{timeline}` is kept outside the database, and there was one: its lines were removed \
         from the file of checkpoints; put them back, or accept that with `timenav accept-rollback`"
    )]
    NotKept {
        /// Which timeline.
        timeline: TimelineId,
    },
    /// A checkpoint outside the database does not verify.
    #[error(
        "the checkpoint of timeline `{timeline}` kept outside the database does not verify: {error}; if the \
        signing key was rotated with another service's folder, take the checkpoints.log of that folder too"
    )]
    Checkpoint {
        /// Which timeline.
        timeline: TimelineId,
        /// What is wrong with it.
        error: CheckpointError,
    },
    /// The database lost entries, or was replaced by an older copy.
    #[error(
        "timeline `{timeline}` has {found} entries, but {kept} were signed and kept outside the database: \
         the database was rolled back; restore a newer copy, or accept the loss with `timenav accept-rollback`"
    )]
    Rollback {
        /// Which timeline.
        timeline: TimelineId,
        /// How many entries the database has.
        found: u64,
        /// How many were signed.
        kept: u64,
    },
    /// Who may do what, a clock or a count in the database is not what was signed.
    #[error(
        "the rows of timeline `{timeline}` in the database are not the ones signed with its {size} entries: {}; keep \
         the database as evidence and restore a backup",
        if timeline.is_system() {
            "a user, a key, a password, a session, a restriction or the end of a timeline was added, changed, \
             restored or removed outside timenav"
        } else {
            "its permissions, its clock, its counts, how long its reads are kept, the entries it was forked from or whose \
             they are were modified outside timenav"
        }
    )]
    Rows {
        /// Which timeline.
        timeline: TimelineId,
        /// How many entries it has.
        size: u64,
    },
    /// A timeline that has ended stands in the database.
    #[error(
        "timeline `{timeline}` has ended, but the database lists it as active: it was put back outside timenav; keep \
         the database as evidence and restore a backup"
    )]
    Ended {
        /// Which timeline.
        timeline: TimelineId,
    },
    /// The database holds another history than the one that was signed.
    #[error(
        "timeline `{timeline}` differs from the {kept} entries that were signed and kept outside the database: \
         its history was rewritten; keep both as evidence, or accept it with `timenav accept-rollback`"
    )]
    Fork {
        /// Which timeline.
        timeline: TimelineId,
        /// How many entries were signed.
        kept: u64,
    },
    /// Another key signs by now, and other services may use it.
    #[error(
        "timeline `{timeline}` is signed by another key than that of this service: if the signing key was rotated, put the \
         new `signing.key` into the data folder, or name it with --signing-key; if not, the database belongs to another \
         service"
    )]
    OtherKey {
        /// Which timeline.
        timeline: TimelineId,
    },
    /// A later version has written what this one does not know.
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    /// The first start failed.
    #[error("the first start failed: {0}")]
    Bootstrap(String),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// What is wrong with what is signed with the newest entries of a timeline.
#[derive(Debug, thiserror::Error)]
pub enum HeadFault {
    /// The note that a version before has left there.
    #[error(transparent)]
    Note(#[from] CheckpointError),
    /// The head statement.
    #[error(transparent)]
    Statement(#[from] HeadError),
    /// There is nothing.
    #[error("there is no head statement")]
    Missing,
    /// The head statement, by the key.
    #[error("the head statement is signed by another key")]
    UnknownKey,
}

/// Returns timelines as the engine knows them.
pub(crate) fn states_of(heads: Vec<Head>, ended: &[EndedTimeline]) -> HashMap<TimelineId, Arc<TimelineState>> {
    let mut forks: HashMap<TimelineKey, (Option<Fork>, bool)> =
        heads.iter().map(|head| (head.key, (head.fork, head.overrides_count > 0))).collect();
    // Few timelines are forks: only the names of their ancestors are looked for.
    let names: HashMap<TimelineKey, TimelineId> = if heads.iter().any(|head| head.fork.is_some()) {
        // A fork goes on from one that has ended as well.
        forks.extend(ended.iter().map(|ended| (ended.key, (ended.fork, ended.overrides))));
        let ended = ended.iter().map(|ended| (ended.key, ended.id.clone()));
        ended.chain(heads.iter().map(|head| (head.key, head.id.clone()))).collect()
    } else {
        HashMap::new()
    };
    let state_of = |head: Head| {
        let root = head.frontier.root();
        // What changed before the start is older than anything decided since.
        let events_changed_at = head.frontier.size();
        let ancestors = ancestors(&forks, head.fork);
        let lineage = ancestors.iter().filter_map(|layer| names.get(&layer.timeline).cloned()).collect();
        let (fork_root, directory_root) = (None, None);
        let id = head.id.clone();
        let state = TimelineState {
            head,
            root,
            fork_root,
            directory_root,
            ancestors,
            lineage,
            events_changed_at,
            note: OnceLock::new(),
        };
        (id, Arc::new(state))
    };
    heads.into_iter().map(state_of).collect()
}

/// Returns what a timeline was forked from, as layers, the oldest first.
fn ancestors(forks: &HashMap<TimelineKey, (Option<Fork>, bool)>, fork: Option<Fork>) -> Arc<[Layer]> {
    let mut layers = Vec::new();
    let mut next = fork;
    // A file that says that a timeline is its own ancestor is damaged, and must not hang the start.
    while let Some(fork) = next.filter(|_| layers.len() < FORK_DEPTH_MAX) {
        let (before, overrides) = forks.get(&fork.of).copied().unwrap_or_default();
        layers.push(Layer { timeline: fork.of, as_of: fork.size, overrides });
        next = before;
    }
    layers.reverse();
    layers.into()
}

/// Returns the heads that the store holds, and what has ended. Who may be let in is decided by rows that are still to be
/// compared.
///
/// # Errors
/// The store cannot be read; or the rows of `system` were never signed together, and one was not written by the service.
pub(crate) async fn heads_of(
    store: &dyn Store,
    opened: Opened,
    doors: &Doors,
) -> Result<(Heads, Vec<EndedTimeline>), OpenError> {
    let Opened { heads, ended, mut directory, seals } = opened;
    let ended_rows = ended.iter().map(|ended| ended_row(&ended.id, ended.size, ended.root));
    let rows = Arc::new(DirectoryRows::of(&directory, ended_rows));
    let system = heads.iter().find(|head| head.id.is_system());
    if let Some(system) = system.filter(|system| system.statement.is_empty() && !are_ours(&directory, &seals, doors)) {
        return Err(OpenError::Rows { timeline: system.id.clone(), size: system.frontier.size() });
    }
    directory.version = system.map_or(0, |system| system.directory);
    directory.leave_out_dead(doors.clock.now());
    let retired = directory.keys.values().filter(|key| !key.horizon.is_open()).count();
    if retired > 0 {
        tracing::warn!(retired, "API keys with a horizon no longer work: revoke them, and create keys without one");
    }
    let mut states = states_of(heads, &ended);
    for state in states.values_mut() {
        if state.head.id.is_system() {
            Arc::make_mut(state).directory_root = Some(rows.root());
        }
        if let Some(fork) = state.head.fork {
            let root = root_at(store, fork.of, fork.size).await;
            // Where it cannot be told, the timeline is none that was stated.
            Arc::make_mut(state).fork_root = root.ok();
        }
    }
    Ok((Heads::new(states, Arc::new(directory), rows, &ended), ended))
}

/// Makes the first operator, their key, `system` and `main`: all of it, or nothing.
async fn bootstrap(
    store: &dyn Store,
    heads: &mut Heads,
    doors: &Doors,
    options: &Options,
    keep_first_key: impl FnOnce(&str) -> std::io::Result<()>,
) -> Result<(), OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::Bootstrap(error.to_string());
    let system = TimelineId::system();
    let main = TimelineId::main();
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
        horizon: Horizon::default(),
        created_at: doors.clock.now(),
        expires_at: None,
        revoked_at: None,
    };
    keep_first_key(&secret).map_err(|error| failed(&error))?;
    let mut submissions = [
        by_service(&system, CreateTimeline::default()),
        by_service(&system, ChangeUser(UserCommand::Create { user_id: admin, operator: true })),
        by_service(&main, CreateTimeline::default()),
        by_service(&system, CreateKey(key)),
    ];
    let known = Known::default();
    let host_clock = HostClock::known(doors.clock.now(), None);
    let mut group = Group::new(heads, &known, (doors, options, FEATURE_LEVEL), &host_clock, SaltPool::default());
    group.decide_all(&mut submissions);
    if let Some(refusal) = group.refused() {
        return Err(failed(refusal));
    }
    let Finished { commit, states, directory, rows, .. } =
        group.finish(&submissions).map_err(|error| failed(&error))?;
    store.commit(commit).await?;
    heads.take_over(states.iter().cloned(), directory, rows);
    let sealed = |state: &Arc<TimelineState>| {
        let note = newest_note(state, doors, options).map_err(|error| failed(&error))?;
        Ok(KeptOutside::seal(state.head.id.clone(), note, &*doors.signer))
    };
    let mut checkpoints = states.iter().map(sealed).collect::<Result<Vec<_>, OpenError>>()?;
    system_last(&mut checkpoints);
    Ok(doors.outside.keep(&checkpoints)?)
}

/// Returns what the service itself asks for, and waits for no answer to.
fn by_service<D: Deciding>(timeline: &TimelineId, deciding: D) -> Submission {
    let (actor, asked) = (Actor::Service, Pending::boxed(deciding, None));
    Submission { actor, timeline: timeline.clone(), asked, idempotency: None }
}

/// Says that the host's clock is behind what the ledgers tell, so was wrong before or is wrong now. Returns the host time
/// of the newest entry.
fn warn_of_host_clock(heads: &Heads, doors: &Doors) -> Instant<Wall> {
    let now = doors.clock.now();
    let latest = now.checked_add(HOST_CLOCK_TOLERANCE).unwrap_or(Instant::MAX);
    let ahead: Vec<_> = heads.all().filter(|state| state.head.recorded_at > latest).collect();
    let newest = heads.all().map(|state| state.head.recorded_at).max().unwrap_or(now);
    if !ahead.is_empty() {
        let (timelines, of_all) = (ahead.len(), heads.len());
        let running = ahead.iter().filter(|state| state.head.clock.is_running()).count();
        tracing::warn!(
            host_time = %now,
            newest_entry = %newest,
            timelines,
            "the host's clock says {now}, but the newest entry was recorded at {newest}: the clock was wrong then, or \
             is wrong now. Until {newest}, {timelines} of {of_all} timelines record every entry with the time of \
             their last one, and {running} running clocks stop. See \"When the host's clock was wrong\" in \
             docs/operations.md"
        );
    }
    newest
}

impl OpenError {
    /// Returns the timeline that the error is about, if it is about one.
    const fn timeline(&self) -> Option<&TimelineId> {
        match self {
            Self::Checkpoint { timeline, .. }
            | Self::Head { timeline, .. }
            | Self::Unsigned { timeline, .. }
            | Self::NotKept { timeline }
            | Self::Rollback { timeline, .. }
            | Self::Rows { timeline, .. }
            | Self::Ended { timeline }
            | Self::OtherKey { timeline }
            | Self::Fork { timeline, .. } => Some(timeline),
            Self::OutsideMissing { .. }
            | Self::Store(_)
            | Self::Outside(_)
            | Self::UnknownEntry(_)
            | Self::Bootstrap(_)
            | Self::Thread(_) => None,
        }
    }

    /// Returns whether the error says that history is not what was signed, which an operator may
    /// accept.
    const fn is_about_history(&self) -> bool {
        match self {
            Self::Unsigned { .. }
            | Self::OutsideMissing { .. }
            | Self::NotKept { .. }
            | Self::Rollback { .. }
            | Self::Fork { .. } => true,
            // A signature that does not verify may be another service's, whose history is not ours to go on with.
            Self::Checkpoint { .. }
            | Self::Head { .. }
            | Self::OtherKey { .. }
            // Whoever wrote them wants to be let in.
            | Self::Rows { .. }
            // Nor is what is over history again because it is in a table.
            | Self::Ended { .. }
            | Self::Store(_)
            | Self::Outside(_)
            // It is history, and right: another version goes on with it.
            | Self::UnknownEntry(_)
            | Self::Bootstrap(_)
            | Self::Thread(_) => false,
        }
    }
}
