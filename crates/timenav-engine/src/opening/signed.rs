//! The comparison of every timeline with what was signed and kept.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, CheckpointError, Hash, LeafRecord, Note, NoteSignature};

use super::{Accepted, OpenError};
use crate::doors::Doors;
use crate::head::{EndedTimeline, TimelineState};
use crate::heads::Heads;
use crate::options::Options;
use crate::outside::{KeptOutside, system_last};
use crate::scan::made_before;
use crate::statement::is_stated;
use crate::store::Store;
use crate::store_error::StoreError;
use crate::tree::root_at;

/// Entries of `system` and `main` together after the first start.
const FIRST_START_ENTRIES: u64 = 5;
/// Timelines below which their comparison is not worth a second thread.
const THREAD_TIMELINES_MIN: usize = 1_000;
/// Checkpoints without a seal from which on it is worth to write all of them anew: as many signatures take some
/// hundredths of a second at each start.
const UNSEALED_MAX: usize = 1_000;

/// What is kept outside, by timeline.
type Kept<'a> = HashMap<&'a TimelineId, &'a KeptOutside>;

/// Whether the rows of a timeline are those that were signed with its entries.
#[derive(PartialEq, Eq)]
enum Rows {
    Signed,
    Unsigned,
}

/// How a timeline stands to what is kept of it.
struct Compared {
    /// Whether its newest checkpoint is the one that is kept.
    is_kept: bool,
    /// Whether it was known by its seal.
    is_sealed: bool,
    rows: Rows,
    has_gone_over: bool,
    error: Option<OpenError>,
}

/// Compares every timeline with its own signature and with what was kept outside the database.
///
/// Returns what an operator has accepted although it is not as it was signed.
///
/// # Errors
/// Something is not as it was signed, and the operator has not accepted that.
pub(crate) async fn compare_with_signed(
    store: &dyn Store,
    (heads, ended): (&Heads, &[EndedTimeline]),
    all: Vec<KeptOutside>,
    doors: &Doors,
    options: &Options,
) -> Result<Accepted, OpenError> {
    let mut findings = Accepted::default();
    let mut accept = |compared: Result<(), OpenError>| match compared {
        Err(error) if options.accept_rollback && error.is_about_history() => {
            tracing::warn!(%error, "starting although the database is not what was signed, as the operator asked");
            let text = error.to_string();
            // What is about one timeline stands on it too: its next checkpoint signs what is there.
            let about = error.timeline().filter(|timeline| heads.get(timeline).is_some());
            if let Some(timeline) = about.filter(|timeline| !timeline.is_system()) {
                findings.timelines.entry(timeline.clone()).or_default().push(text.clone());
            }
            findings.all.push(text);
            Ok(())
        }
        other => other,
    };
    let kept: Kept<'_> = all.iter().map(|kept| (&kept.timeline, kept)).collect();
    let states: Vec<&TimelineState> = heads.all().map(|state| &**state).collect();
    let mut compared = compare_all(&states, &kept, heads.rows().root(), doors, options);
    for one in &mut compared {
        accept(one.error.take().map_or(Ok(()), Err))?;
    }
    warn_of_retired_key(compared.iter().filter(|one| one.has_gone_over).count());
    if kept.is_empty() {
        accept(compare_with_nothing(heads))?;
    } else {
        for timeline in not_kept(store, heads, &kept, doors, options).await? {
            accept(Err(OpenError::NotKept { timeline }))?;
        }
    }
    let known: HashMap<_, _> = states.iter().zip(&compared).map(|(state, one)| (&state.head.id, one)).collect();
    // What is kept is what stands in the database, which was compared already.
    let differing = all.iter().filter(|kept| known.get(&kept.timeline).is_none_or(|one| !one.is_kept));
    let (of_ended, differing): (Vec<_>, Vec<_>) = differing.partition(|kept| heads.rows().has_ended(&kept.timeline));
    for kept in differing {
        accept(compare_with_kept(store, heads, doors, options, kept).await)?;
    }
    for kept in compare_with_ended(store, ended, &of_ended, doors, options).await? {
        accept(Err(kept))?;
    }
    if let Some(state) = states.iter().find(|state| heads.rows().has_ended(&state.head.id)) {
        return Err(OpenError::Ended { timeline: state.head.id.clone() });
    }
    // Last: rows follow from history, so a history that was rewritten is what to name.
    for (state, _) in states.iter().zip(&compared).filter(|(_, one)| one.rows == Rows::Unsigned) {
        accept(check_of_version_1(store, state).await)?;
    }
    let is_accepted = !findings.all.is_empty();
    keep_newest(&states, &compared, is_accepted || of_ended.len() > UNSEALED_MAX, doors)?;
    Ok(findings)
}

/// Compares each timeline with itself, on as many threads as the machine has cores: signatures take long.
fn compare_all(
    states: &[&TimelineState],
    kept: &Kept<'_>,
    directory_root: Hash,
    doors: &Doors,
    options: &Options,
) -> Vec<Compared> {
    let compare = |states: &[&TimelineState]| -> Vec<Compared> {
        let kept_of = |state: &TimelineState| kept.get(&state.head.id).copied();
        states.iter().map(|state| compare_one(state, kept_of(state), directory_root, doors, options)).collect()
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

/// The newest checkpoint in the database is signed, and is that of the tree in the database.
fn compare_one(
    state: &TimelineState,
    kept: Option<&KeptOutside>,
    directory_root: Hash,
    doors: &Doors,
    options: &Options,
) -> Compared {
    let is_kept = kept.is_some_and(|kept| kept.note == state.head.checkpoint);
    let is_sealed = is_kept && kept.is_some_and(|kept| kept.is_sealed(&*doors.signer));
    let error = check_newest(state, is_sealed, doors, options).err();
    Compared {
        is_kept: is_kept && error.is_none(),
        is_sealed,
        rows: rows_of(state, directory_root, doors, options),
        has_gone_over: has_gone_over(state, doors, options),
        error,
    }
}

/// Makes sure that the newest checkpoint of a timeline is signed, and is that of its tree, and that its rows are those
/// that were signed with it.
///
/// # Errors
/// It is not.
pub(crate) async fn check_signed(
    store: &dyn Store,
    state: &TimelineState,
    heads: &Heads,
    doors: &Doors,
    options: &Options,
) -> Result<(), OpenError> {
    check_newest(state, false, doors, options)?;
    match rows_of(state, heads.rows().root(), doors, options) {
        Rows::Signed => Ok(()),
        Rows::Unsigned => check_of_version_1(store, state).await,
    }
}

fn check_newest(state: &TimelineState, is_sealed: bool, doors: &Doors, options: &Options) -> Result<(), OpenError> {
    let (timeline, found) = (&state.head.id, state.head.frontier.size());
    match open_checkpoint(timeline, &state.head.checkpoint, is_sealed, doors, options) {
        Err(error) => Err(OpenError::Head { timeline: timeline.clone(), error }),
        Ok(signed) if signed.size == found && signed.root == state.root => Ok(()),
        Ok(Checkpoint { size: signed, .. }) => Err(OpenError::Unsigned { timeline: timeline.clone(), signed, found }),
    }
}

fn rows_of(state: &TimelineState, directory_root: Hash, doors: &Doors, options: &Options) -> Rows {
    let signers: Vec<_> = std::iter::once(&doors.signer).chain(&doors.next_signer).map(|signer| &**signer).collect();
    let is_stated = is_stated(state, directory_root, &signers, &options.service_name);
    if is_stated { Rows::Signed } else { Rows::Unsigned }
}

/// Makes sure that a timeline whose rows were not signed is one from before they were: its last entry is of version 1,
/// with which nothing was signed but the tree.
async fn check_of_version_1(store: &dyn Store, state: &TimelineState) -> Result<(), OpenError> {
    let (timeline, size) = (state.head.id.clone(), state.head.frontier.size());
    let last = store.leaves(state.head.key, size.saturating_sub(1), 1).await?;
    let is_of_version_1 = |leaf: &Vec<u8>| LeafRecord::decode(leaf).is_ok_and(|leaf| leaf.authority.is_none());
    if state.head.statement.is_empty() && last.first().is_some_and(is_of_version_1) {
        return Ok(());
    }
    Err(OpenError::Rows { timeline, size })
}

/// Keeps what is not kept yet: a timeline whose making was the last thing before the process ended has nothing outside,
/// and must have it before `system` goes on.
fn keep_newest(
    states: &[&TimelineState],
    compared: &[Compared],
    is_all_kept: bool,
    doors: &Doors,
) -> Result<(), OpenError> {
    let newest = |is_meant: &dyn Fn(&Compared) -> bool| -> Vec<KeptOutside> {
        let meant = states.iter().zip(compared).filter(|(_, one)| is_meant(one));
        let heads = meant.map(|(state, _)| &state.head);
        heads.map(|head| KeptOutside::seal(head.id.clone(), Arc::clone(&head.checkpoint), &*doors.signer)).collect()
    };
    if is_all_kept || compared.iter().filter(|one| !one.is_sealed).count() > UNSEALED_MAX {
        return Ok(doors.outside.replace(&newest(&|_| true))?);
    }
    let mut behind = newest(&|one| !one.is_kept);
    if behind.is_empty() {
        return Ok(());
    }
    system_last(&mut behind);
    Ok(doors.outside.keep(&behind)?)
}

/// Returns whether a ledger went over to another key than the one that signs, and no rotation is under way.
fn has_gone_over(state: &TimelineState, doors: &Doors, options: &Options) -> bool {
    let note = Note::parse(state.head.checkpoint.as_bytes()).ok();
    // The key that takes over signs last.
    let last = note.as_ref().and_then(|note| note.signatures().last()).map(NoteSignature::id);
    let known = std::iter::once(&doors.signer).chain(&doors.next_signer);
    let mut known = known.filter_map(|signer| signer.ledger_key(&options.service_name, &state.head.id).ok());
    last.is_some_and(|last| known.all(|key| key.id() != last))
}

/// Says so where ledgers went over to another key: the one in the data folder may be an older copy. It opens the ledgers
/// as long as nothing was written after the rotation.
fn warn_of_retired_key(timelines: usize) {
    if timelines > 0 {
        tracing::warn!(
            timelines,
            "{timelines} timelines have gone over to another signing key than the one in the data folder, and no rotation is \
             under way: if the key is an older copy, stop the service and put the newer one back"
        );
    }
}

/// Returns how many entries there are.
fn entries_count(heads: &Heads) -> u64 {
    heads.all().map(|state| state.head.frontier.size()).sum()
}

/// Nothing is kept outside: right before the first commit was sealed, and never after it.
fn compare_with_nothing(heads: &Heads) -> Result<(), OpenError> {
    let entries = entries_count(heads);
    if entries <= FIRST_START_ENTRIES { Ok(()) } else { Err(OpenError::OutsideMissing { entries }) }
}

/// Returns the timelines of which nothing is kept outside although something was: all but those whose making `system`
/// tells of in its last entries, after the last of its checkpoints that was kept.
async fn not_kept(
    store: &dyn Store,
    heads: &Heads,
    kept: &Kept<'_>,
    doors: &Doors,
    options: &Options,
) -> Result<Vec<TimelineId>, OpenError> {
    let missing = heads.all().map(|state| &state.head.id).filter(|timeline| !kept.contains_key(timeline)).cloned();
    let mut missing: Vec<TimelineId> = missing.collect();
    missing.sort_unstable();
    // A crash may have left the first of the first two.
    if missing.is_empty() || entries_count(heads) <= FIRST_START_ENTRIES {
        return Ok(Vec::new());
    }
    let Some(system) = heads.all().find(|state| state.head.id.is_system()) else { return Ok(missing) };
    let Some(of_system) = kept.get(&system.head.id) else { return Ok(missing) };
    // One that does not verify is told where it is compared.
    let Ok(signed) = open_checkpoint(&system.head.id, &of_system.note, false, doors, options) else {
        return Ok(Vec::new());
    };
    Ok(made_before(store, &system.head, signed.size, missing).await?)
}

async fn compare_with_kept(
    store: &dyn Store,
    heads: &Heads,
    doors: &Doors,
    options: &Options,
    kept: &KeptOutside,
) -> Result<(), OpenError> {
    let timeline = &kept.timeline;
    let signed = open_checkpoint(timeline, &kept.note, false, doors, options);
    let signed = signed.map_err(|error| OpenError::Checkpoint { timeline: timeline.clone(), error })?;
    let state = heads.get(timeline);
    let found = state.map_or(0, |state| state.head.frontier.size());
    if found < signed.size {
        return Err(OpenError::Rollback { timeline: timeline.clone(), found, kept: signed.size });
    }
    let Some(state) = state else { return Ok(()) };
    let root = if found == signed.size {
        state.root
    } else {
        // The last commit was durable, its checkpoint not yet kept: the process was killed there.
        root_at(store, state.head.key, signed.size).await.map_err(|error| StoreError::Damaged(error.to_string()))?
    };
    if root == signed.root { Ok(()) } else { Err(OpenError::Fork { timeline: timeline.clone(), kept: signed.size }) }
}

/// Compares what is kept of timelines that have ended with their last trees, which the ledger `system` tells. Returns what
/// is wrong.
async fn compare_with_ended(
    store: &dyn Store,
    ended: &[EndedTimeline],
    all: &[&KeptOutside],
    doors: &Doors,
    options: &Options,
) -> Result<Vec<OpenError>, OpenError> {
    let mut wrong = Vec::new();
    if all.is_empty() {
        return Ok(wrong);
    }
    let ended: HashMap<_, _> = ended.iter().map(|ended| (&ended.id, ended)).collect();
    for kept in all {
        let Some(ended) = ended.get(&kept.timeline) else { continue };
        let timeline = ended.id.clone();
        let signed = open_checkpoint(&timeline, &kept.note, kept.is_sealed(&*doors.signer), doors, options);
        let signed = match signed {
            Ok(signed) => signed,
            Err(error) => {
                wrong.push(OpenError::Checkpoint { timeline, error });
                continue;
            }
        };
        // The end may have been committed, and the last checkpoint before it not kept: the process was killed there.
        let root = match signed.size.cmp(&ended.size) {
            std::cmp::Ordering::Equal => Some(ended.root),
            std::cmp::Ordering::Less => root_at(store, ended.key, signed.size).await.ok(),
            std::cmp::Ordering::Greater => None,
        };
        if root != Some(signed.root) {
            wrong.push(OpenError::Fork { timeline, kept: signed.size });
        }
    }
    Ok(wrong)
}

/// Reads a checkpoint. Where a seal says that its signature was verified or made here, that is not done again.
fn open_checkpoint(
    timeline: &TimelineId,
    note: &str,
    is_sealed: bool,
    doors: &Doors,
    options: &Options,
) -> Result<Checkpoint, CheckpointError> {
    let key = doors.signer.ledger_key(&options.service_name, timeline)?;
    Checkpoint::open(note.as_bytes(), &key, |public, message, signature| {
        is_sealed || doors.signer.verify(public, message, signature)
    })
}
