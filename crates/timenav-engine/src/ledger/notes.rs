//! Signing of checkpoints, after their entries are durable.
//!
//! A checkpoint is a pure function of the ledger's name, the size, the root and the key, because Ed25519 is
//! deterministic. Checkpoints therefore need not be stored in the database, are never signed for a group that failed,
//! and cannot be lost by a crash between a commit and its checkpoint. Only those signed by two keys during a rotation
//! are stored, because one key alone could not recreate them.

use std::sync::Arc;

use timenav_core::ledger::{Checkpoint, LeafRecord, VerifierKey, origin};

use crate::integrity::divergence::Divergence;
use crate::ledger::action::Action;
use crate::ledger::head::{Head, TimelineState};
use crate::ledger::statement::{StatementState, how_stated};
use crate::ledger::stored_statement::open_newest;
use crate::ports::all::Ports;
use crate::ports::outside::ExternalCheckpoint;
use crate::ports::signer::Signer;
use crate::ports::store::{RotationNote, Store};
use crate::requests::options::Options;
use crate::requests::refusal::Refusal;

const ROTATIONS_MAX: usize = 1_024;

/// Signs it if needed; the state must be committed. During a rotation, both keys sign.
pub(crate) fn newest_note(state: &TimelineState, ports: &Ports, options: &Options) -> Result<Arc<str>, Refusal> {
    if let Some(note) = state.note.get() {
        return Ok(Arc::clone(note));
    }
    let next = ports.next_signer.as_deref().filter(|next| has_signed(state, *next, options));
    let tree = Checkpoint {
        origin: origin(&options.service_name, state.head.id.as_str()),
        size: state.head.frontier.size(),
        root: state.root,
        extensions: Vec::new(),
    };
    let note = sign(&tree, (&*ports.signer, next))?;
    Ok(Arc::clone(state.note.get_or_init(|| note)))
}

pub(crate) fn has_signed(state: &TimelineState, signer: &dyn Signer, options: &Options) -> bool {
    // Head statements of other ledgers do not include the directory root.
    let directory_root = state.directory_root.unwrap_or(state.root);
    how_stated(state, directory_root, &[signer], &options.service_name) != StatementState::Not
}

/// Stores the signed trees of both sides if the store does not continue the known ledger, as evidence for whoever
/// decides which one counts.
pub(crate) fn keep_both(divergence: &Divergence, known: Option<&TimelineState>, ports: &Ports, options: &Options) {
    let seen = known.map(|seen| newest_note(seen, ports, options));
    let stored = match seen {
        Some(Ok(note)) => ports.outside.keep_divergence(divergence, &note).map_err(|error| error.to_string()),
        Some(Err(refusal)) => Err(refusal.to_string()),
        None => Err("its earlier state is unknown".to_owned()),
    };
    if let Err(error) = stored {
        tracing::error!(error, timeline_id = %divergence.timeline, "could not store both versions as evidence, will \
            retry; keep the database");
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

/// Signs the checkpoint of a tree that a scan has verified against its head statement.
pub(crate) fn note_of_scanned(tree: &Checkpoint, signer: &dyn Signer) -> Result<Arc<str>, Refusal> {
    sign(tree, (signer, None))
}

/// Adds a signature by the next key to the kept checkpoint of an ended timeline. `None` if it has one already.
///
/// # Errors
/// The kept checkpoint is not signed by the current key.
pub(crate) fn signed_by_next(
    stored: &ExternalCheckpoint,
    ports: &Ports,
    options: &Options,
) -> Result<Option<ExternalCheckpoint>, Refusal> {
    let Some(next) = ports.next_signer.as_deref() else { return Ok(None) };
    let opened = |signer: &dyn Signer, is_sealed: bool| {
        let key = signer.ledger_key(&options.service_name, &stored.timeline)?;
        Checkpoint::open(stored.note.as_bytes(), &key, |public, message, signature| {
            is_sealed || signer.verify(public, message, signature)
        })
    };
    if opened(next, false).is_ok() {
        return Ok(None);
    }
    let wrong = |error| Refusal::Damaged(format!("the stored checkpoint of `{}`: {error}", stored.timeline));
    let tree = opened(&*ports.signer, stored.is_sealed(&*ports.signer)).map_err(wrong)?;
    let note = sign(&tree, (&*ports.signer, Some(next)))?;
    Ok(Some(ExternalCheckpoint::seal(stored.timeline.clone(), note, &*ports.signer)))
}

/// Returns the newest checkpoints of the timelines of a stopped service, as it would keep them outside the database:
/// stored ones, or else newly signed ones of stated trees.
///
/// # Errors
/// A head differs from its statement.
pub fn newest_checkpoints(
    heads: &[Head],
    newest_note: impl Fn(&Head) -> Option<Arc<str>>,
    signer: &dyn Signer,
    service_name: &str,
) -> Result<Vec<ExternalCheckpoint>, Refusal> {
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
        let note = match newest_note(head).filter(is_newest) {
            Some(note) => note,
            None if is_newest(&head.carried_note) => Arc::clone(&head.carried_note),
            None => {
                let stated = open_newest(head, &keys, verify).ok();
                let stated = stated.filter(|stated| (stated.size, stated.root) == tree);
                let not =
                    || Refusal::Damaged(format!("the head of timeline `{}` does not match what was signed", head.id));
                sign(&stated.ok_or_else(not)?, (signer, None))?
            }
        };
        Ok(ExternalCheckpoint::seal(head.id.clone(), note, signer))
    };
    heads.iter().map(newest).collect()
}

/// Stores the checkpoints of rotations that were just committed, or interrupted before this: of timelines whose last
/// entry records a rotation, and whose head both keys have signed.
pub(crate) async fn keep_rotations<'a>(
    states: impl Iterator<Item = &'a TimelineState>,
    store: &dyn Store,
    ports: &Ports,
    options: &Options,
) -> Result<(), Refusal> {
    let Some(next) = &ports.next_signer else { return Ok(()) };
    let mut notes = Vec::new();
    for state in
        states.filter(|state| has_signed(state, &**next, options) && has_signed(state, &*ports.signer, options))
    {
        let Some(position) = state.head.frontier.size().checked_sub(1) else { continue };
        let last = store.leaves(state.head.key, position, 1).await?;
        let action = last.first().and_then(|leaf| LeafRecord::decode(leaf).ok()).and_then(|leaf| Action::of(&leaf));
        if action != Some(Action::RotateSigningKey) {
            continue;
        }
        notes.push(RotationNote { timeline: state.head.key, position, note: newest_note(state, ports, options)? });
        if notes.len() == ROTATIONS_MAX {
            store.keep_rotations(std::mem::take(&mut notes)).await?;
        }
    }
    if notes.is_empty() { Ok(()) } else { Ok(store.keep_rotations(notes).await?) }
}
