use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Adopted, Checkpoint, CheckpointError, Hash, HeadError, HeadStatement, LeafRecord, Note, NoteSignature, origin,
};

use super::accepted::{Accepted, Accepting};
use super::{HeadFault, OpenError};
use crate::integrity::divergence::SeenTree;
use crate::integrity::scan::made_before;
use crate::ledger::action::Action;
use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::ledger::notes::newest_note;
use crate::ledger::statement::{StatementState, how_stated, is_sealed};
use crate::ledger::stored_statement::{StoredStatement, signed_by};
use crate::ledger::tree::SignedTree;
use crate::ports::all::Ports;
use crate::ports::archive::EntryRow;
use crate::ports::outside::{ExternalCheckpoint, system_last};
use crate::ports::signer::Signer;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::requests::options::Options;
use crate::requests::refusal::Refusal;
use crate::writer::heads::Heads;

/// Number of entries of `system` and `main` together after the first start.
const FIRST_START_ENTRIES: u64 = 5;
/// Minimum number of timelines for which a second thread pays off.
const THREAD_TIMELINES_MIN: usize = 1_000;
/// More checkpoints without a seal are all written again: verifying them takes hundredths of a second per start.
const UNSEALED_MAX: usize = 1_000;

/// A kept checkpoint of an ended timeline that differs: the kept note, its parsed checkpoint, the last tree, and the
/// error.
type WrongOfEnded<'k> = (&'k ExternalCheckpoint, Option<Checkpoint>, SeenTree, OpenError);

type ExternalCheckpoints<'a> = HashMap<&'a TimelineId, &'a ExternalCheckpoint>;

struct Compared {
    is_stored: bool,
    is_sealed: bool,
    rows: StatementState,
    has_rotated_key: bool,
    error: Option<OpenError>,
}

/// Compares every timeline with its own signature and with the checkpoints kept outside the database.
///
/// Returns the differences that an operator has accepted.
pub(crate) async fn compare_with_signed(
    store: &dyn Store,
    (heads, ended): (&Heads, &[EndedTimeline]),
    all: Vec<ExternalCheckpoint>,
    ports: &Ports,
    options: &Options,
) -> Result<Accepted, OpenError> {
    let mut accepting = Accepting::new(store, heads, ports, options);
    let stored: ExternalCheckpoints<'_> = all.iter().map(|stored| (&stored.timeline, stored)).collect();
    let states: Vec<&TimelineState> = heads.all().map(|state| &**state).collect();
    let mut compared = compare_all(&states, &stored, heads.rows.root(), ports, options);
    let has_rotated_key = states.iter().zip(&compared).filter(|(_, one)| one.has_rotated_key).map(|(state, _)| *state);
    if let Some(state) = has_rotated_key.min_by_key(|state| &state.head.id).filter(|_| store.has_others()) {
        // Check this first: timelines that were created after the rotation do not verify with the retired key, although
        // they were not tampered with.
        return Err(OpenError::OtherKey { timeline: state.head.id.clone() });
    }
    // Ordered by name, so that each start reports the same one.
    let mut failed: Vec<(&TimelineId, OpenError)> = (states.iter().zip(&mut compared))
        .filter_map(|(state, one)| Some((&state.head.id, one.error.take()?)))
        .collect();
    failed.sort_by_key(|(id, _)| *id);
    for (_, error) in failed {
        accepting.take(Err(error))?;
    }
    warn_of_retired_key(compared.iter().filter(|one| one.has_rotated_key).count());
    if stored.is_empty() {
        if !options.joins {
            accepting.take(compare_with_nothing(heads))?;
        }
    } else {
        for timeline in not_stored(&mut accepting, &stored).await? {
            accepting.take(Err(OpenError::NotStored { timeline }))?;
        }
    }
    let known: HashMap<_, _> = states.iter().zip(&compared).map(|(state, one)| (&state.head.id, one)).collect();
    // If the kept checkpoint is the one in the database, it was compared already.
    let differing = all.iter().filter(|stored| known.get(&stored.timeline).is_none_or(|one| !one.is_stored));
    // Checkpoints kept by other services are passed in if the loss is to be accepted.
    let of_others = options.accept_rollback.iter().flat_map(|acceptance| &acceptance.checkpoints);
    let of_others = of_others.chain(&options.checkpoints_of_others);
    let (of_ended, differing): (Vec<_>, Vec<_>) =
        differing.chain(of_others).partition(|stored| heads.rows.has_ended(&stored.timeline));
    for stored in differing {
        let (signed, compared) = compare_with_stored(store, heads, ports, options, stored).await;
        if let Err(error) = compared {
            accepting.take_stored(stored, signed.as_ref(), None, error).await?;
        }
    }
    for (stored, signed, found, error) in compare_with_ended(store, ended, &of_ended, ports, options).await? {
        accepting.take_stored(stored, signed.as_ref(), Some(found), error).await?;
    }
    if let Some(state) = states.iter().find(|state| heads.rows.has_ended(&state.head.id)) {
        return Err(OpenError::Ended { timeline: state.head.id.clone() });
    }
    // Rows come last: they follow from history, so a rewritten history is the better error.
    for (state, one) in states.iter().zip(&compared) {
        let checked = match one.rows {
            StatementState::Whole => continue,
            StatementState::AsFormerly => check_held(store, state).await,
            StatementState::Not => check_of_version_1(store, state).await,
        };
        accepting.take(checked)?;
    }
    let (findings, is_accepted) = accepting.finish();
    keep_newest(&states, &compared, is_accepted || of_ended.len() > UNSEALED_MAX, ports, options)?;
    Ok(findings)
}

/// Compares each timeline with its signature, on one thread per core, because verification is slow.
fn compare_all(
    states: &[&TimelineState],
    stored: &ExternalCheckpoints<'_>,
    directory_root: Hash,
    ports: &Ports,
    options: &Options,
) -> Vec<Compared> {
    let compare = |states: &[&TimelineState]| -> Vec<Compared> {
        let stored_of = |state: &TimelineState| stored.get(&state.head.id).copied();
        states.iter().map(|state| compare_one(state, stored_of(state), directory_root, ports, options)).collect()
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let chunk = states.len().div_ceil(cores).max(THREAD_TIMELINES_MIN);
    std::thread::scope(|scope| {
        let running: Vec<_> = states.chunks(chunk).skip(1).map(|part| scope.spawn(move || compare(part))).collect();
        let mut compared = compare(states.chunks(chunk).next().unwrap_or_default());
        for part in running {
            compared.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        compared
    })
}

/// Checks that the tree and rows in the database are those that were signed with the newest entries.
fn compare_one(
    state: &TimelineState,
    stored: Option<&ExternalCheckpoint>,
    directory_root: Hash,
    ports: &Ports,
    options: &Options,
) -> Compared {
    let is_sealed = stored.is_some_and(|stored| stored.is_sealed(&*ports.signer));
    let is_newest = |stored: &&ExternalCheckpoint| {
        let opened = open_checkpoint(&state.head.id, &stored.note, is_sealed, ports, options);
        opened.is_ok_and(|signed| signed.size == state.head.frontier.size() && signed.root == state.root)
    };
    let stored = stored.filter(is_newest);
    let rows = rows_of(state, directory_root, ports, options);
    let error = if rows == StatementState::Not { check_unstated(state, ports, options).err() } else { None };
    if let Some(stored) = stored {
        // Keep the note as it is, because it may be signed by two keys.
        let _ = state.note.set(Arc::clone(&stored.note));
    } else if state.head.statement.is_empty() {
        // Nothing else vouches for it, so do not sign another checkpoint over it in passing.
        let _ = state.note.set(Arc::clone(&state.head.carried_note));
    }
    let is_stored = stored.is_some() && error.is_none();
    // Another key has taken over signing, and no rotation is in progress.
    let has_rotated_key = !is_by_known_key(state, ports, options);
    Compared { is_stored, is_sealed: is_stored && is_sealed, rows, has_rotated_key, error }
}

pub(crate) async fn check_signed(
    store: &dyn Store,
    state: &TimelineState,
    directory_root: Hash,
    ports: &Ports,
    options: &Options,
) -> Result<(), OpenError> {
    match rows_of(state, directory_root, ports, options) {
        StatementState::Whole => Ok(()),
        StatementState::AsFormerly => check_held(store, state).await,
        StatementState::Not => {
            check_unstated(state, ports, options)?;
            check_of_version_1(store, state).await
        }
    }
}

/// Checks whether at least the tree was signed: then the rows differ, or it predates head statements.
fn check_unstated(state: &TimelineState, ports: &Ports, options: &Options) -> Result<(), OpenError> {
    let (head, found) = (&state.head, state.head.frontier.size());
    let timeline = || head.id.clone();
    let (size, root) = match StoredStatement::read(&head.statement) {
        Some(stated) => {
            let HeadStatement { origin: found, size, root, .. } = &stated.statement;
            let expected = origin(&options.service_name, head.id.as_str());
            let fault = if *found != expected {
                Some(HeadError::OriginMismatch { expected, found: found.clone() }.into())
            } else if is_sealed(&head.statement, &stated.statement, &signers(ports)) {
                None
            } else if is_by_known_key(state, ports, options) {
                Some(HeadError::BadSignature.into())
            } else {
                Some(HeadFault::UnknownKey)
            };
            if let Some(error) = fault {
                return Err(OpenError::Head { timeline: timeline(), error });
            }
            (*size, *root)
        }
        None if head.statement.is_empty() && head.carried_note.is_empty() => {
            return Err(OpenError::Head { timeline: timeline(), error: HeadFault::Missing });
        }
        None => match open_checkpoint(&head.id, &head.carried_note, false, ports, options) {
            Ok(signed) => (signed.size, signed.root),
            Err(error) => return Err(OpenError::Head { timeline: timeline(), error: error.into() }),
        },
    };
    let is_tree = (size, root) == (found, state.root);
    if is_tree { Ok(()) } else { Err(OpenError::Unsigned { timeline: timeline(), signed: size, found }) }
}

/// After a rotation, both keys have signed the same tree, and the retired key must not sign the next one.
pub(crate) fn check_current(state: &TimelineState, ports: &Ports, options: &Options) -> Result<(), Refusal> {
    if is_by_known_key(state, ports, options) {
        return Ok(());
    }
    Err(Refusal::OtherKey { timeline_id: state.head.id.to_string() })
}

fn signers(ports: &Ports) -> Vec<&dyn Signer> {
    std::iter::once(&ports.signer).chain(&ports.next_signer).map(|signer| &**signer).collect()
}

/// Returns whether the last key that signed the newest head of a timeline belongs to this service. The statement names
/// the key, or else the note that the head carries. If neither does, returns `true`.
fn is_by_known_key(state: &TimelineState, ports: &Ports, options: &Options) -> bool {
    let last = signed_by(&state.head.statement).last().and_then(|signed| signed.id);
    let of_note = || {
        let note = Note::parse(state.head.carried_note.as_bytes()).ok();
        note.as_ref().and_then(|note| note.signatures().last()).map(NoteSignature::id)
    };
    // The key that takes over signs last.
    let Some(last) = last.or_else(of_note) else { return true };
    let keys = signers(ports).into_iter();
    let mut known = keys.filter_map(|signer| signer.ledger_key(&options.service_name, &state.head.id).ok());
    known.any(|key| key.id() == last)
}

pub(crate) fn rows_of(state: &TimelineState, directory_root: Hash, ports: &Ports, options: &Options) -> StatementState {
    how_stated(state, directory_root, &signers(ports), &options.service_name)
}

/// Checks that each policy and each origin of a timeline has an entry, for timelines signed by a version that did not
/// include them in statements. Removed ones are detected once the next entry is signed.
async fn check_held(store: &dyn Store, state: &TimelineState) -> Result<(), OpenError> {
    let (tree, head) = (SignedTree::of(state), &state.head);
    let is_reported = async {
        for (position, retention) in head.retention.as_slice() {
            let entry = tree.entry(store, *position).await?;
            if !is_of(&entry, Action::SetRetention) || entry.payload != retention.encode() {
                return Ok(false);
            }
        }
        for origin in &*head.origins {
            let entry = tree.entry(store, origin.end).await?;
            let adopted = Adopted::decode(&entry.payload).ok().filter(|_| is_of(&entry, Action::Adopt));
            if adopted.is_none_or(|adopted| adopted.origin != origin.origin) {
                return Ok(false);
            }
        }
        Ok::<_, Refusal>(true)
    };
    // An entry that is not found in the tree does not count.
    match is_reported.await {
        Ok(true) => Ok(()),
        Ok(false) | Err(Refusal::Damaged(_)) => {
            Err(OpenError::Rows { timeline: head.id.clone(), size: head.frontier.size() })
        }
        Err(refusal) => Err(StoreError::Unavailable(refusal.to_string()).into()),
    }
}

fn is_of(entry: &EntryRow, action: Action) -> bool {
    LeafRecord::decode(&entry.leaf).is_ok_and(|leaf| leaf.action == action.word())
}

/// Checks that a timeline whose rows were not signed predates head statements: its last entry is of version 1, which
/// signed only the tree.
async fn check_of_version_1(store: &dyn Store, state: &TimelineState) -> Result<(), OpenError> {
    let (timeline, size) = (state.head.id.clone(), state.head.frontier.size());
    let last = store.leaves(state.head.key, size.saturating_sub(1), 1).await?;
    let is_of_version_1 = |leaf: &Vec<u8>| LeafRecord::decode(leaf).is_ok_and(|leaf| leaf.authority.is_none());
    if state.head.statement.is_empty() && last.first().is_some_and(is_of_version_1) {
        return Ok(());
    }
    Err(OpenError::Rows { timeline, size })
}

/// Keeps checkpoints that are not kept yet. If the process ended right after it created a timeline, that timeline has
/// nothing outside, and must have it before `system` continues.
fn keep_newest(
    states: &[&TimelineState],
    compared: &[Compared],
    is_all_stored: bool,
    ports: &Ports,
    options: &Options,
) -> Result<(), OpenError> {
    let newest = |is_match: &dyn Fn(&Compared) -> bool| -> Result<Vec<ExternalCheckpoint>, OpenError> {
        let matching = states.iter().zip(compared).filter(|(_, one)| is_match(one));
        let sealed = matching.map(|(state, _)| {
            let note = newest_note(state, ports, options).map_err(|error| StoreError::Damaged(error.to_string()))?;
            Ok(ExternalCheckpoint::seal(state.head.id.clone(), note, &*ports.signer))
        });
        sealed.collect()
    };
    if is_all_stored || compared.iter().filter(|one| !one.is_sealed).count() > UNSEALED_MAX {
        return Ok(ports.outside.replace(&newest(&|_| true)?)?);
    }
    let mut behind = newest(&|one| !one.is_stored)?;
    if behind.is_empty() {
        return Ok(());
    }
    system_last(&mut behind);
    Ok(ports.outside.keep(&behind)?)
}

/// Warns if ledgers have moved to another key: the one in the data folder may be an older copy. It is valid as long as
/// nothing was written after the rotation.
fn warn_of_retired_key(timelines: usize) {
    if timelines > 0 {
        tracing::warn!(
            timelines,
            "{timelines} timelines use another signing key than the one in the data folder, and no rotation is in \
             progress: if the key is an older copy, stop the service and put the newer one back"
        );
    }
}

/// Warns if no checkpoint was available to compare the store with, from here or from others for `system`, so that the
/// store is trusted as it is. Returns whether that is the case.
pub(crate) fn joins_unseen(is_anything_stored: bool, heads: &Heads, options: &Options) -> bool {
    let is_seen = is_anything_stored || options.checkpoints_of_others.iter().any(|stored| stored.timeline.is_system());
    let is_unseen = options.joins && !is_seen && entries_count(heads) > FIRST_START_ENTRIES;
    if is_unseen {
        tracing::warn!(
            entries = entries_count(heads),
            "no checkpoint was stored here, so the database was trusted as found (--join): this service cannot detect \
             entries lost before this start"
        );
    }
    is_unseen
}

fn entries_count(heads: &Heads) -> u64 {
    heads.all().map(|state| state.head.frontier.size()).sum()
}

/// An empty set of kept checkpoints is valid only until the first commit was sealed.
fn compare_with_nothing(heads: &Heads) -> Result<(), OpenError> {
    let entries = entries_count(heads);
    if entries <= FIRST_START_ENTRIES { Ok(()) } else { Err(OpenError::OutsideMissing { entries }) }
}

/// Returns the timelines without a kept checkpoint that must have had one: all except those that `system` created after
/// its last kept checkpoint.
async fn not_stored(
    accepting: &mut Accepting<'_>,
    stored: &ExternalCheckpoints<'_>,
) -> Result<Vec<TimelineId>, OpenError> {
    let Accepting { store, heads, ports, options, .. } = *accepting;
    let missing = heads.all().map(|state| &state.head.id).filter(|timeline| !stored.contains_key(timeline)).cloned();
    let mut missing: Vec<TimelineId> = missing.collect();
    missing.sort_unstable();
    // A crash during the first start may have kept only the first of the two checkpoints.
    if missing.is_empty() || entries_count(heads) <= FIRST_START_ENTRIES {
        return Ok(Vec::new());
    }
    let Some(system) = heads.all().find(|state| state.head.id.is_system()) else { return Ok(missing) };
    let Some(of_system) = stored.get(&system.head.id) else { return Ok(missing) };
    // An invalid checkpoint is reported where it is compared.
    let Ok(signed) = open_checkpoint(&system.head.id, &of_system.note, false, ports, options) else {
        return Ok(Vec::new());
    };
    if accepting.explains_system(&signed).await? {
        return Ok(Vec::new());
    }
    Ok(made_before(store, &system.head, signed.size, missing).await?)
}

async fn compare_with_stored(
    store: &dyn Store,
    heads: &Heads,
    ports: &Ports,
    options: &Options,
    stored: &ExternalCheckpoint,
) -> (Option<Checkpoint>, Result<(), OpenError>) {
    let timeline = &stored.timeline;
    match open_checkpoint(timeline, &stored.note, false, ports, options) {
        Ok(signed) => {
            let compared = compare_with_tree(store, heads, timeline, &signed).await;
            (Some(signed), compared)
        }
        Err(error) => (None, Err(OpenError::Checkpoint { timeline: timeline.clone(), error })),
    }
}

async fn compare_with_tree(
    store: &dyn Store,
    heads: &Heads,
    timeline: &TimelineId,
    signed: &Checkpoint,
) -> Result<(), OpenError> {
    let state = heads.get(timeline);
    let found = state.map_or(0, |state| state.head.frontier.size());
    if found < signed.size {
        return Err(OpenError::Rollback { timeline: timeline.clone(), found, stored: signed.size });
    }
    let Some(state) = state else { return Ok(()) };
    // The tree may be larger: other services continued it, or the process was killed after a commit and before its
    // checkpoint was kept.
    let continues = SignedTree::of(state).begins_with(store, (signed.size, signed.root)).await;
    if continues.map_err(|error| StoreError::Damaged(error.to_string()))? {
        Ok(())
    } else {
        Err(OpenError::Fork { timeline: timeline.clone(), stored: signed.size })
    }
}

async fn compare_with_ended<'k>(
    store: &dyn Store,
    ended: &[EndedTimeline],
    all: &[&'k ExternalCheckpoint],
    ports: &Ports,
    options: &Options,
) -> Result<Vec<WrongOfEnded<'k>>, OpenError> {
    let mut wrong = Vec::new();
    if all.is_empty() {
        return Ok(wrong);
    }
    let ended: HashMap<_, _> = ended.iter().map(|ended| (&ended.id, ended)).collect();
    for stored in all {
        let Some(ended) = ended.get(&stored.timeline) else { continue };
        let timeline = ended.id.clone();
        let found = SeenTree { size: ended.size, root: ended.root };
        let signed = open_checkpoint(&timeline, &stored.note, stored.is_sealed(&*ports.signer), ports, options);
        let signed = match signed {
            Ok(signed) => signed,
            Err(error) => {
                wrong.push((*stored, None, found, OpenError::Checkpoint { timeline, error }));
                continue;
            }
        };
        // The process may have been killed after the end was committed and before the last checkpoint was kept.
        let last = SignedTree { key: ended.key, id: timeline.clone(), size: ended.size, root: ended.root };
        if !last.begins_with(store, (signed.size, signed.root)).await.unwrap_or(false) {
            let error = OpenError::Fork { timeline, stored: signed.size };
            wrong.push((*stored, Some(signed), found, error));
        }
    }
    Ok(wrong)
}

/// A checkpoint with a valid seal was verified or created here, and is not verified again.
fn open_checkpoint(
    timeline: &TimelineId,
    note: &str,
    is_sealed: bool,
    ports: &Ports,
    options: &Options,
) -> Result<Checkpoint, CheckpointError> {
    let key = ports.signer.ledger_key(&options.service_name, timeline)?;
    Checkpoint::open(note.as_bytes(), &key, |public, message, signature| {
        is_sealed || ports.signer.verify(public, message, signature)
    })
}
