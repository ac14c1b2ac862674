//! Startup: creation of a new database, and comparison of an existing one with its signatures.

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

use crate::access::directory_rows::{DirectoryRows, ended_row};
use crate::access::seals::are_ours;
use crate::access::secrets::{key_digest, new_key_text};
use crate::clock::host_clock::HostClock;
use crate::ledger::head::{EndedTimeline, Fork, Head, Layer, TimelineKey, TimelineState};
use crate::ledger::notes::newest_note;
use crate::ledger::tree::root_at;
use crate::ledger::unknown_entry::UnknownEntry;
use crate::ports::all::{Ports, uuid};
use crate::ports::outside::{ExternalCheckpoint, OutsideError, system_last};
use crate::ports::store::{Opened, Store};
use crate::ports::store_error::StoreError;
use crate::requests::actor::Actor;
use crate::requests::options::{FEATURE_LEVEL, Options};
use crate::writer::deciding::Command;
use crate::writer::deciding::access::identity::{ChangeUser, CreateKey};
use crate::writer::deciding::timelines::CreateTimeline;
use crate::writer::draft::{Known, SaltPool};
use crate::writer::group::{Finished, Group};
use crate::writer::heads::Heads;
use crate::writer::submission::{PendingCommand, Submission};

pub(crate) mod accepted;
pub(crate) mod later;
pub(crate) mod loaded;
pub(crate) mod moved;
pub(crate) mod signed;
pub(crate) mod strays;
pub(crate) mod catch_up;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Outside(#[from] OutsideError),
    #[error(
        "the signature of timeline `{timeline}` in the database does not verify ({error}): the database was modified \
         outside timenav, or belongs to another service; keep it as evidence and restore a backup"
    )]
    Head { timeline: TimelineId, error: HeadFault },
    #[error(
        "timeline `{timeline}` has a signed tree of {signed} entries, but holds another one of {found} entries: the \
         database was modified outside timenav; keep it as evidence, or accept it with `timenav accept-rollback`"
    )]
    Unsigned {
        timeline: TimelineId,
        /// Entries in the signed tree.
        signed: u64,
        found: u64,
    },
    #[error(
        "the database holds {entries} entries, but no checkpoint is kept outside it: the file of checkpoints \
         was removed; put it back, or accept that with `timenav accept-rollback`"
    )]
    OutsideMissing { entries: u64 },
    #[error(
        "no checkpoint of timeline `{timeline}` is kept outside the database, and there was one: its lines were removed \
         from the file of checkpoints; put them back, or accept that with `timenav accept-rollback`"
    )]
    NotStored { timeline: TimelineId },
    #[error(
        "the checkpoint of timeline `{timeline}` kept outside the database does not verify: {error}; if the \
        signing key was rotated with another service's folder, take the checkpoints.log of that folder too"
    )]
    Checkpoint { timeline: TimelineId, error: CheckpointError },
    #[error(
        "timeline `{timeline}` has {found} entries, but {stored} were signed and kept outside the database: \
         the database was rolled back; restore a newer copy, or accept the loss with `timenav accept-rollback`"
    )]
    Rollback {
        timeline: TimelineId,
        found: u64,
        /// Entries that were signed.
        stored: u64,
    },
    /// Permissions, a clock or a count in the database differ from the signed ones.
    #[error(
        "the rows of timeline `{timeline}` in the database do not match those signed with its {size} entries: {}; keep \
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
        timeline: TimelineId,
        /// Its number of entries.
        size: u64,
    },
    #[error(
        "timeline `{timeline}` has ended, but the database lists it as active: it was put back outside timenav; keep \
         the database as evidence and restore a backup"
    )]
    Ended { timeline: TimelineId },
    #[error(
        "timeline `{timeline}` differs from the {stored} entries that were signed and kept outside the database: \
         its history was rewritten; keep both as evidence, or accept it with `timenav accept-rollback`"
    )]
    Fork {
        timeline: TimelineId,
        /// Entries that were signed.
        stored: u64,
    },
    /// The database is signed by another key, possibly that of other services after a rotation.
    #[error(
        "timeline `{timeline}` is not signed with the key of this service: if the signing key was rotated, put the \
         new `signing.key` into the data folder, or name it with --signing-key; if not, the database belongs to another \
         service"
    )]
    OtherKey { timeline: TimelineId },
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    #[error("the first start failed: {0}")]
    Bootstrap(String),
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum HeadFault {
    /// The note of an earlier version.
    #[error(transparent)]
    Note(#[from] CheckpointError),
    #[error(transparent)]
    Statement(#[from] HeadError),
    #[error("there is no head statement")]
    Missing,
    #[error("the head statement is signed by another key")]
    UnknownKey,
}

pub(crate) fn states_of(heads: Vec<Head>, ended: &[EndedTimeline]) -> HashMap<TimelineId, Arc<TimelineState>> {
    let mut forks: HashMap<TimelineKey, (Option<Fork>, bool)> =
        heads.iter().map(|head| (head.key, (head.fork, head.overrides_count > 0))).collect();
    // Few timelines are forks: only the names of their ancestors are read.
    let names: HashMap<TimelineKey, TimelineId> = if heads.iter().any(|head| head.fork.is_some()) {
        // A fork may continue a timeline that has ended.
        forks.extend(ended.iter().map(|ended| (ended.key, (ended.fork, ended.overrides))));
        let ended = ended.iter().map(|ended| (ended.key, ended.id.clone()));
        ended.chain(heads.iter().map(|head| (head.key, head.id.clone()))).collect()
    } else {
        HashMap::new()
    };
    let state_of = |head: Head| {
        let root = head.frontier.root();
        // Changes from before the start are older than any later decision.
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

fn ancestors(forks: &HashMap<TimelineKey, (Option<Fork>, bool)>, fork: Option<Fork>) -> Arc<[Layer]> {
    let mut layers = Vec::new();
    let mut next = fork;
    // If a damaged database lists a timeline as its own ancestor, the start must not hang.
    while let Some(fork) = next.filter(|_| layers.len() < FORK_DEPTH_MAX) {
        let (before, overrides) = forks.get(&fork.of).copied().unwrap_or_default();
        layers.push(Layer { timeline: fork.of, as_of: fork.size, overrides });
        next = before;
    }
    layers.reverse();
    layers.into()
}

/// Returns the stored heads and the ended timelines. The rows that authorize callers have not been verified yet.
///
/// # Errors
/// The store cannot be read; or the rows of `system` were never signed together, and one was not written by the
/// service.
pub(crate) async fn heads_of(
    store: &dyn Store,
    opened: Opened,
    ports: &Ports,
) -> Result<(Heads, Vec<EndedTimeline>), OpenError> {
    let Opened { heads, ended, mut directory, seals } = opened;
    let ended_rows = ended.iter().map(|ended| ended_row(&ended.id, ended.size, ended.root));
    let rows = Arc::new(DirectoryRows::of(&directory, ended_rows));
    let system = heads.iter().find(|head| head.id.is_system());
    if let Some(system) = system.filter(|system| system.statement.is_empty() && !are_ours(&directory, &seals, ports)) {
        return Err(OpenError::Rows { timeline: system.id.clone(), size: system.frontier.size() });
    }
    directory.version = system.map_or(0, |system| system.directory);
    directory.leave_out_dead(ports.clock.now());
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
            // Without the root, the timeline does not match any statement.
            Arc::make_mut(state).fork_root = root.ok();
        }
    }
    Ok((Heads::new(states, Arc::new(directory), rows, &ended), ended))
}

/// Creates the first operator, their key, `system` and `main` in one atomic step.
async fn bootstrap(
    store: &dyn Store,
    heads: &mut Heads,
    ports: &Ports,
    options: &Options,
    keep_first_key: impl FnOnce(&str) -> std::io::Result<()>,
) -> Result<(), OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::Bootstrap(error.to_string());
    let system = TimelineId::system();
    let main = TimelineId::main();
    let admin = UserId::new("admin").map_err(|error| failed(&error))?;
    let key_id = KeyId::new(&type_id("key", uuid(ports))).map_err(|error| failed(&error))?;
    let secret = new_key_text(&*ports.entropy);
    let key = ApiKey {
        key_id,
        hash: key_digest(&secret),
        user_id: admin.clone(),
        timeline_id: main.clone(),
        label: "made on the first start".to_owned(),
        scopes: None,
        horizon: Horizon::default(),
        created_at: ports.clock.now(),
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
    let host_clock = HostClock::known(ports.clock.now(), None);
    let mut group = Group::new(heads, &known, (ports, options, FEATURE_LEVEL), &host_clock, SaltPool::default());
    group.decide_all(&mut submissions);
    if let Some(refusal) = group.refused() {
        return Err(failed(refusal));
    }
    let Finished { commit, states, directory, rows, .. } =
        group.finish(&submissions).map_err(|error| failed(&error))?;
    store.commit(commit).await?;
    heads.take_over(states.iter().cloned(), directory, rows);
    let sealed = |state: &Arc<TimelineState>| {
        let note = newest_note(state, ports, options).map_err(|error| failed(&error))?;
        Ok(ExternalCheckpoint::seal(state.head.id.clone(), note, &*ports.signer))
    };
    let mut checkpoints = states.iter().map(sealed).collect::<Result<Vec<_>, OpenError>>()?;
    system_last(&mut checkpoints);
    Ok(ports.outside.keep(&checkpoints)?)
}

fn by_service<D: Command>(timeline: &TimelineId, command: D) -> Submission {
    let (actor, command) = (Actor::Service, PendingCommand::boxed(command, None));
    Submission { actor, timeline: timeline.clone(), command, idempotency: None }
}

/// Logs a warning if the host's clock lags the ledgers, so that it was wrong before or is wrong now. Returns the
/// host time of the newest entry.
fn warn_of_host_clock(heads: &Heads, ports: &Ports) -> Instant<Wall> {
    let now = ports.clock.now();
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
    const fn timeline(&self) -> Option<&TimelineId> {
        match self {
            Self::Checkpoint { timeline, .. }
            | Self::Head { timeline, .. }
            | Self::Unsigned { timeline, .. }
            | Self::NotStored { timeline }
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

    /// Returns whether the error says that history differs from the signed one, which an operator may accept.
    const fn is_about_history(&self) -> bool {
        match self {
            Self::Unsigned { .. }
            | Self::OutsideMissing { .. }
            | Self::NotStored { .. }
            | Self::Rollback { .. }
            | Self::Fork { .. } => true,
            // An unverifiable signature may belong to another service. Its history must not be continued.
            Self::Checkpoint { .. }
            | Self::Head { .. }
            | Self::OtherKey { .. }
            // An attacker may have written them to gain access.
            | Self::Rows { .. }
            // An ended timeline does not become history again by being in a table.
            | Self::Ended { .. }
            | Self::Store(_)
            | Self::Outside(_)
            // The history is correct; a version that knows the entry can continue it.
            | Self::UnknownEntry(_)
            | Self::Bootstrap(_)
            | Self::Thread(_) => false,
        }
    }
}
