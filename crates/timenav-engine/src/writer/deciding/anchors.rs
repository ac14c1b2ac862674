use timenav_core::access::Denial;
use timenav_core::anchor::{self, AnchorCommand};

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::AnchorMarked;
use crate::ledger::payload::{AnchorSet, StatePayload};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

pub(crate) struct SetAnchor(pub(crate) AnchorCommand);

impl Command for SetAnchor {
    type Output = AnchorMarked;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SetAnchor, Aim::TimelineOrNew)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<AnchorMarked>, Refusal> {
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        let set = anchor::decide(head.anchors_count, &self.0, &head.clock, (head.frontier.size(), host))?;
        draft.admit_moment(set.timestamp)?;
        let payload = StatePayload::Anchor(AnchorSet::of(&set));
        let entry = (Action::SetAnchor, set.anchor_id.as_str());
        let position = draft.record(ledger, entry, &payload, host)?;
        let marked = AnchorMarked { anchor_id: set.anchor_id, timestamp: set.timestamp };
        Ok(draft.done(ledger, position, marked))
    }

    fn check_output(&self, draft: &Draft<'_>, change: &AnchorMarked) -> Result<(), Denial> {
        draft.admit_moment(change.timestamp)
    }
}
