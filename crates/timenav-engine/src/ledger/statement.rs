//! The head statement: everything in a timeline's state that grants access, moves clocks or timers, or allows pruning,
//! signed together with its tree.
//!
//! It is signed within the transaction that writes the rows, and compared with them at startup. Any row that was
//! restored, added or removed results in a different hash. Restoring the old statement too would require rolling back
//! the ledger, which the checkpoints outside detect.
//!
//! Nothing else is signed before the transaction is known to be committed: a checkpoint of an aborted one would be
//! false evidence of a rollback ([`notes`](crate::ledger::notes)).

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{ForkedFrom, Hash, HeadStatement, Held, TimelineCounts, TimelineFacts, origin};

use crate::ledger::head::TimelineState;
use crate::ledger::payload::timers_text;
use crate::ledger::stored_statement::{SignedBy, StoredStatement, encode_statement, signed_by, signed_with_text};
use crate::ports::signer::Signer;
use crate::requests::options::LEVEL_OF_HELD;
use crate::requests::refusal::Refusal;

const LABEL: &str = "head statement";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covers {
    All,
    /// The scope of versions before feature level 7: without the origins of entries and without retention policies.
    Former,
}

impl Covers {
    pub(crate) const fn at(level: u64) -> Self {
        if level >= LEVEL_OF_HELD { Self::All } else { Self::Former }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementState {
    Whole,
    /// It matches in the scope of earlier versions. The rest is only in entries.
    AsFormerly,
    Not,
}

/// `directory_root` only matters for `system`.
pub(crate) fn statement(
    state: &TimelineState,
    directory_root: Option<Hash>,
    service_name: &str,
    covers: Covers,
) -> HeadStatement {
    let head = &state.head;
    // For an adopted layer, use the name in its first entry.
    let fork_of = state.lineage.last().map(TimelineId::entry_name);
    let forked = head.fork.zip(fork_of.as_ref()).zip(state.fork_root);
    let timers = timers_text(&head.timers);
    let origins: Vec<(u64, &str)> = head.origins.iter().map(|origin| (origin.end, origin.origin.as_str())).collect();
    let of_others = Held { is_handed_over: head.is_handed_over, origins: &origins, retention: &head.retention };
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
        held: if covers == Covers::All { of_others } else { Held::NOTHING },
        permissions: &head.permissions,
        timers: &timers,
    };
    HeadStatement {
        origin: origin(service_name, head.id.as_str()),
        size: head.frontier.size(),
        root: state.root,
        state_hash: facts.hash(),
        index_root: None,
    }
}

/// Returns the stored form of a timeline's statement, signed by each of these keys.
///
/// # Errors
/// The name is not valid for a key.
pub(crate) fn state(
    state: &TimelineState,
    directory_root: Hash,
    signers: &[&dyn Signer],
    (service_name, covers): (&str, Covers),
) -> Result<Arc<[u8]>, Refusal> {
    let statement = statement(state, Some(directory_root), service_name, covers);
    let text = statement.to_text();
    let signed = signers.iter().map(|signer| {
        let key = signer.ledger_key(service_name, &state.head.id);
        let id = key.map_err(|error| Refusal::Damaged(format!("a head cannot be signed: {error}")))?.id();
        Ok((id, signer.sign(text.as_bytes()), signer.authenticate(LABEL, text.as_bytes())))
    });
    Ok(encode_statement(&statement, signed.collect::<Result<Vec<_>, Refusal>>()?).into())
}

pub(crate) fn how_stated(
    state: &TimelineState,
    directory_root: Hash,
    signers: &[&dyn Signer],
    service_name: &str,
) -> StatementState {
    let is_stated = |covers| {
        let statement = statement(state, Some(directory_root), service_name, covers);
        is_sealed(&state.head.statement, &statement, signers)
    };
    let holds_nothing = || {
        let head = &state.head;
        !head.is_handed_over && head.origins.is_empty() && head.retention.as_slice().is_empty()
    };
    if is_stated(Covers::All) {
        StatementState::Whole
    } else if !holds_nothing() && is_stated(Covers::Former) {
        StatementState::AsFormerly
    } else {
        StatementState::Not
    }
}

/// Returns whether one of these keys has signed a statement, given its stored form.
pub(crate) fn is_sealed(stored: &[u8], statement: &HeadStatement, signers: &[&dyn Signer]) -> bool {
    let text = statement.to_text();
    let is_by_signer =
        |signed: SignedBy<'_>| signers.iter().any(|signer| signer.authenticate(LABEL, text.as_bytes()) == *signed.seal);
    // Verifiers with only the public key rely on the stored text, so it must match.
    match signed_with_text(stored, &text) {
        Some(mut signed) => signed.any(is_by_signer),
        None if StoredStatement::read(stored).is_some_and(|stated| stated.statement != *statement) => false,
        None => signed_by(stored).any(is_by_signer),
    }
}
