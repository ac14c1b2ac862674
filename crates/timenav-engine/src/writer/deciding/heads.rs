//! Commitments of `system` to the trees of other timelines. Cosigning `system` thereby vouches for them.

use timenav_core::ledger::CommittedHeads;

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::Logged;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Commit `system` to trees that are durable and signed.
pub(crate) struct CommitHeads {
    pub(crate) heads: CommittedHeads,
}

impl Command for CommitHeads {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::Heads, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        // Committed trees never go back, and a timeline that has ended since keeps its tree.
        let is_ahead = self
            .heads
            .as_slice()
            .iter()
            .any(|head| draft.look(&head.timeline_id).is_some_and(|state| state.head.frontier.size() < head.size));
        if is_ahead {
            return Err(Refusal::ChangedMeanwhile);
        }
        let system = draft.system()?;
        let host = draft.host(system);
        let subject = self.heads.subject(&draft.options().service_name);
        let payload = String::from_utf8_lossy(&self.heads.encode()).into_owned();
        let position = draft.append(system, Action::Heads, &subject, payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}
