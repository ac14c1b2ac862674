//! Checkpoints, signed once it is known that their entries are there for good.
//!
//! A checkpoint is a pure function of the ledger's name, the size, the root and the key, because Ed25519 is
//! deterministic: whoever signs it, and whenever, makes the same bytes. So none is kept in the database, none is signed of
//! a group that failed, and none is lost by a crash between a commit and its checkpoint. Those that two keys have signed
//! where one took the place of the other are kept, as one key alone could not make them again.

use std::sync::Arc;

use timenav_core::ledger::{Checkpoint, LeafRecord, VerifierKey, origin};

use crate::action::Action;
use crate::divergence::Divergence;
use crate::doors::Doors;
use crate::head::{Head, TimelineState};
use crate::options::Options;
use crate::outside::KeptOutside;
use crate::refusal::Refusal;
use crate::signer::Signer;
use crate::stated::open_newest;
use crate::statement::{HowStated, how_stated};
use crate::store::{RotationNote, Store};

/// Rotations that are kept in one step.
const ROTATIONS_MAX: usize = 1_024;

/// Returns the newest checkpoint of a timeline, and signs it if it was not signed yet. To be asked of states that are
/// known to be committed, and of no others. Both keys sign where the next one is about to take the place of the other.
///
/// # Errors
/// The key or the name is none that a note can have.
pub(crate) fn newest_note(state: &TimelineState, doors: &Doors, options: &Options) -> Result<Arc<str>, Refusal> {
    if let Some(note) = state.note.get() {
        return Ok(Arc::clone(note));
    }
    let next = doors.next_signer.as_deref().filter(|next| has_signed(state, *next, options));
    let tree = Checkpoint {
        origin: origin(&options.service_name, state.head.id.as_str()),
        size: state.head.frontier.size(),
        root: state.root,
        extensions: Vec::new(),
    };
    let note = sign(&tree, (&*doors.signer, next))?;
    Ok(Arc::clone(state.note.get_or_init(|| note)))
}

/// Returns whether a key has signed the newest head of a timeline.
pub(crate) fn has_signed(state: &TimelineState, signer: &dyn Signer, options: &Options) -> bool {
    // What it is on other ledgers is in no statement.
    let directory_root = state.directory_root.unwrap_or(state.root);
    how_stated(state, directory_root, &[signer], &options.service_name) != HowStated::Not
}

/// Keeps what was signed of a ledger on both sides where the store does not go on from what is known of it, for whoever has
/// to decide which one counts.
pub(crate) fn keep_both(divergence: &Divergence, known: Option<&TimelineState>, doors: &Doors, options: &Options) {
    let seen = known.map(|seen| newest_note(seen, doors, options));
    let kept = match seen {
        Some(Ok(note)) => doors.outside.keep_divergence(divergence, &note).map_err(|error| error.to_string()),
        Some(Err(refusal)) => Err(refusal.to_string()),
        None => Err("nothing is known of it".to_owned()),
    };
    if let Err(error) = kept {
        tracing::error!(error, timeline_id = %divergence.timeline, "both sides could not be kept, which is tried again; keep the database");
    }
}

fn sign(tree: &Checkpoint, (signer, next): (&dyn Signer, Option<&dyn Signer>)) -> Result<Arc<str>, Refusal> {
    let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(format!("a checkpoint cannot be signed: {error}"));
    let key =
        |signer: &dyn Signer| VerifierKey::new(&tree.origin, signer.public_key()).map_err(|error| damaged(&error));
    let own = key(signer)?;
    let mut note = tree.sign(&own, |message| signer.sign(message)).map_err(|error| damaged(&error))?;
    if let Some(next) = next {
        let own = key(next)?;
        note = note.countersign(&own, |message| next.sign(message)).map_err(|error| damaged(&error))?;
    }
    Ok(note.to_string().into())
}

/// Signs the checkpoint of a tree that a scan has found to be there and to be what its head statement says.
///
/// # Errors
/// The key or the name is none that a note can have.
pub(crate) fn note_of_scanned(tree: &Checkpoint, signer: &dyn Signer) -> Result<Arc<str>, Refusal> {
    sign(tree, (signer, None))
}

/// Has the next key sign what is kept of a timeline that has ended, beside the key that has signed it. `None` where it has.
///
/// # Errors
/// What is kept is not signed by the key that goes.
pub(crate) fn signed_by_next(
    kept: &KeptOutside,
    doors: &Doors,
    options: &Options,
) -> Result<Option<KeptOutside>, Refusal> {
    let Some(next) = doors.next_signer.as_deref() else { return Ok(None) };
    let opened = |signer: &dyn Signer, is_sealed: bool| {
        let key = signer.ledger_key(&options.service_name, &kept.timeline)?;
        Checkpoint::open(kept.note.as_bytes(), &key, |public, message, signature| {
            is_sealed || signer.verify(public, message, signature)
        })
    };
    if opened(next, false).is_ok() {
        return Ok(None);
    }
    let wrong = |error| Refusal::Damaged(format!("the checkpoint that is kept of `{}`: {error}", kept.timeline));
    let tree = opened(&*doors.signer, kept.is_sealed(&*doors.signer)).map_err(wrong)?;
    let note = sign(&tree, (&*doors.signer, Some(next)))?;
    Ok(Some(KeptOutside::seal(kept.timeline.clone(), note, &*doors.signer)))
}

/// Returns the newest checkpoints of timelines whose service does not run, as it would keep them outside the database:
/// those that are kept there, or else what the key makes of trees that it has stated.
///
/// # Errors
/// A head is not what was stated.
pub fn newest_checkpoints(
    heads: &[Head],
    kept: impl Fn(&Head) -> Option<Arc<str>>,
    signer: &dyn Signer,
    service_name: &str,
) -> Result<Vec<KeptOutside>, Refusal> {
    let newest = |head: &Head| {
        let key = signer.ledger_key(service_name, &head.id);
        let keys = key.map_err(|error| Refusal::Damaged(error.to_string()))?.into();
        let verify =
            |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature);
        let tree = (head.frontier.size(), head.frontier.root());
        let is_newest = |note: &Arc<str>| {
            let opened = Checkpoint::open_newest(note.as_bytes(), &keys, verify);
            opened.is_ok_and(|signed| (signed.size, signed.root) == tree)
        };
        let note = match kept(head).filter(is_newest) {
            Some(note) => note,
            None if is_newest(&head.carried_note) => Arc::clone(&head.carried_note),
            None => {
                let stated = open_newest(head, &keys, verify).ok();
                let stated = stated.filter(|stated| (stated.size, stated.root) == tree);
                let not = || Refusal::Damaged(format!("the head of timeline `{}` is not what was signed", head.id));
                sign(&stated.ok_or_else(not)?, (signer, None))?
            }
        };
        Ok(KeptOutside::seal(head.id.clone(), note, signer))
    };
    heads.iter().map(newest).collect()
}

/// Keeps the checkpoints of rotations that were just committed, or whose keeping was cut off: those of timelines whose
/// last entry tells of one, and whose head both keys have signed.
///
/// # Errors
/// They cannot be signed or kept.
pub(crate) async fn keep_rotations<'a>(
    states: impl Iterator<Item = &'a TimelineState>,
    store: &dyn Store,
    doors: &Doors,
    options: &Options,
) -> Result<(), Refusal> {
    let Some(next) = &doors.next_signer else { return Ok(()) };
    let mut notes = Vec::new();
    for state in
        states.filter(|state| has_signed(state, &**next, options) && has_signed(state, &*doors.signer, options))
    {
        let Some(position) = state.head.frontier.size().checked_sub(1) else { continue };
        let last = store.leaves(state.head.key, position, 1).await?;
        let action = last.first().and_then(|leaf| LeafRecord::decode(leaf).ok()).and_then(|leaf| Action::of(&leaf));
        if action != Some(Action::RotateSigningKey) {
            continue;
        }
        notes.push(RotationNote { timeline: state.head.key, position, note: newest_note(state, doors, options)? });
        if notes.len() == ROTATIONS_MAX {
            store.keep_rotations(std::mem::take(&mut notes)).await?;
        }
    }
    if notes.is_empty() { Ok(()) } else { Ok(store.keep_rotations(notes).await?) }
}
