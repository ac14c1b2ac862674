//! The head statement: what of a timeline lets somebody in, moves something or lets something go, signed with its tree.
//!
//! It is signed within the transaction that writes the rows, and compared with them at the start. An old row put back, a
//! new one, or one that was taken away makes another hash; to put the statement back too, the ledger would have to be
//! put back, which the checkpoints outside tell.
//!
//! Nothing else is signed before it is known that the transaction happened: a checkpoint of one that did not would be
//! evidence of a lie ([`notes`](crate::notes)).

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{ForkedFrom, Hash, HeadStatement, Held, TimelineCounts, TimelineFacts, origin};

use crate::head::TimelineState;
use crate::options::LEVEL_OF_HELD;
use crate::payload::timers_text;
use crate::refusal::Refusal;
use crate::signer::Signer;
use crate::stated::{Stated, kept, signed_by};

/// Says what the code is for.
const LABEL: &str = "head statement";

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covers {
    /// All that there is.
    All,
    /// What versions before feature level 7 stated: not what of the ledger is another service's, nor what of it may be let
    /// go.
    Former,
}

impl Covers {
    /// Returns what services on a database of a feature level state.
    pub(crate) const fn at(level: u64) -> Self {
        if level >= LEVEL_OF_HELD { Self::All } else { Self::Former }
    }
}

/// How a timeline stands to what was stated of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HowStated {
    /// It is as it was stated.
    Whole,
    /// So it is as far as versions before stated it. What they did not state is told by entries alone.
    AsFormerly,
    /// It is not as anybody has stated it.
    Not,
}

/// Returns the statement of a timeline as it is. `directory_root` counts for `system` alone.
pub(crate) fn statement(
    state: &TimelineState,
    directory_root: Option<Hash>,
    service_name: &str,
    covers: Covers,
) -> HeadStatement {
    let head = &state.head;
    // A layer has the name that the first entry tells.
    let fork_of = state.lineage.last().map(TimelineId::told);
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

/// Returns what is kept of the statement of a timeline, signed by each of these keys.
///
/// # Errors
/// The name is none that a key can have.
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
    Ok(kept(&statement, signed.collect::<Result<Vec<_>, Refusal>>()?).into())
}

/// Returns whether a timeline is as one of these keys has stated it.
pub(crate) fn how_stated(
    state: &TimelineState,
    directory_root: Hash,
    signers: &[&dyn Signer],
    service_name: &str,
) -> HowStated {
    let is_stated = |covers| {
        let statement = statement(state, Some(directory_root), service_name, covers);
        is_sealed(&state.head.statement, &statement, signers)
    };
    let holds_nothing = || {
        let head = &state.head;
        !head.is_handed_over && head.origins.is_empty() && head.retention.as_slice().is_empty()
    };
    if is_stated(Covers::All) {
        HowStated::Whole
    } else if !holds_nothing() && is_stated(Covers::Former) {
        HowStated::AsFormerly
    } else {
        HowStated::Not
    }
}

/// Returns whether one of these keys has made a statement of which something is kept.
pub(crate) fn is_sealed(kept: &[u8], statement: &HeadStatement, signers: &[&dyn Signer]) -> bool {
    // Who looks with the public key alone goes by the text that is kept.
    if Stated::read(kept).is_some_and(|stated| stated.statement != *statement) {
        return false;
    }
    let text = statement.to_text();
    signed_by(kept)
        .any(|signed| signers.iter().any(|signer| signer.authenticate(LABEL, text.as_bytes()) == *signed.seal))
}
