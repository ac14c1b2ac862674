//! The head statement: what of a timeline lets somebody in or moves something, signed with its tree.
//!
//! It is signed within the transaction that writes the rows, and compared with them at the start. An old row put back, a
//! new one, or one that was taken away makes another hash; to put the statement back too, the ledger would have to be
//! put back, which the checkpoints outside tell.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, ForkedFrom, Hash, HeadStatement, TimelineCounts, TimelineFacts, origin};

use crate::head::{Head, TimelineState};
use crate::refusal::Refusal;
use crate::signer::Signer;

/// Bytes of a signature, and of the code beside it that this service checks faster.
const SIGNATURE_BYTES: usize = 64;
const SEAL_BYTES: usize = 32;
const STATED_BYTES: usize = SIGNATURE_BYTES + SEAL_BYTES;
/// Says what the code is for.
const LABEL: &str = "head statement";

/// Returns the statement of a timeline as it is. `directory_root` counts for `system` alone.
pub(crate) fn statement(state: &TimelineState, directory_root: Option<Hash>, service_name: &str) -> HeadStatement {
    let head = &state.head;
    // A layer has the name that the first entry tells.
    let fork_of = state.lineage.last().map(TimelineId::told);
    let forked = head.fork.zip(fork_of.as_ref()).zip(state.fork_root);
    let facts = TimelineFacts {
        clock: &head.clock,
        counts: TimelineCounts {
            anchors: head.anchors_count,
            data: head.data_count,
            events: head.events_count,
            overrides: head.overrides_count,
        },
        directory_root: directory_root.filter(|_| head.id.is_system()),
        fork: forked.map(|((fork, timeline_id), root)| ForkedFrom { timeline_id, size: fork.size, root }),
        permissions: &head.permissions,
    };
    HeadStatement {
        origin: origin(service_name, head.id.as_str()),
        size: head.frontier.size(),
        root: state.root,
        state_hash: facts.hash(),
        index_root: None,
    }
}

/// Returns the signed note over all entries of a timeline, and its root. It is the same whenever it is made. The next key
/// signs too where that is to take the place of the one that signs.
///
/// # Errors
/// The key or the name is none that a note can have.
pub(crate) fn checkpoint(
    head: &Head,
    (signer, next): (&dyn Signer, Option<&dyn Signer>),
    service_name: &str,
) -> Result<(Hash, Arc<str>), Refusal> {
    let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(format!("a checkpoint cannot be signed: {error}"));
    let root = head.frontier.root();
    let checkpoint = Checkpoint {
        origin: origin(service_name, head.id.as_str()),
        size: head.frontier.size(),
        root,
        extensions: Vec::new(),
    };
    let key = signer.ledger_key(service_name, &head.id).map_err(|error| damaged(&error))?;
    let mut note = checkpoint.sign(&key, |message| signer.sign(message)).map_err(|error| damaged(&error))?;
    if let Some(next) = next {
        let key = next.ledger_key(service_name, &head.id).map_err(|error| damaged(&error))?;
        note = note.countersign(&key, |message| next.sign(message)).map_err(|error| damaged(&error))?;
    }
    Ok((root, note.to_string().into()))
}

/// Returns what is kept of the statement of a timeline: for each key that signs, its signature and a code.
pub(crate) fn state(
    state: &TimelineState,
    directory_root: Hash,
    signers: &[&dyn Signer],
    service_name: &str,
) -> Arc<[u8]> {
    let statement = statement(state, Some(directory_root), service_name);
    let text = statement.to_text();
    let mut stated = Vec::with_capacity(signers.len() * STATED_BYTES);
    for signer in signers {
        stated.extend(signer.sign(text.as_bytes()));
        stated.extend(signer.authenticate(LABEL, text.as_bytes()));
    }
    stated.into()
}

/// Returns the signatures in what is kept of a statement.
pub(crate) fn signatures(stated: &[u8]) -> impl Iterator<Item = &[u8; SIGNATURE_BYTES]> {
    stated.chunks_exact(STATED_BYTES).filter_map(|stated| stated.first_chunk())
}

/// Returns whether a timeline is as one of these keys has stated it.
pub(crate) fn is_stated(
    state: &TimelineState,
    directory_root: Hash,
    signers: &[&dyn Signer],
    service_name: &str,
) -> bool {
    let text = statement(state, Some(directory_root), service_name).to_text();
    state.head.statement.chunks_exact(STATED_BYTES).any(|stated| {
        let (_, seal) = stated.split_at(SIGNATURE_BYTES);
        signers.iter().any(|signer| signer.authenticate(LABEL, text.as_bytes()) == *seal)
    })
}
