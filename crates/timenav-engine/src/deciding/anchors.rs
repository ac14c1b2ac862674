//! Marked moments.

use timenav_core::access::Denial;
use timenav_core::ids::AnchorId;
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX};
use timenav_core::time::{Instant, Virtual};

use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::anchor::Anchor;
use crate::changes::AnchorMarked;
use crate::draft::{Done, Draft};
use crate::json::json;
use crate::payload::AnchorSet;
use crate::refusal::Refusal;

/// Mark a moment: that of the clock, if no other is given.
pub(crate) struct SetAnchor {
    pub(crate) anchor_id: AnchorId,
    pub(crate) timestamp: Option<Instant<Virtual>>,
    pub(crate) description: String,
    pub(crate) fixed: bool,
}

impl Asking for SetAnchor {
    fn action(&self) -> Action {
        Action::SetAnchor
    }

    fn aim(&self) -> Aim {
        Aim::TimelineOrNew
    }
}

impl Deciding for SetAnchor {
    type Change = AnchorMarked;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<AnchorMarked>, Refusal> {
        if self.description.len() > DESCRIPTION_BYTES_MAX {
            let detail = format!("a description has at most {DESCRIPTION_BYTES_MAX} bytes");
            return Err(Refusal::invalid("description", detail));
        }
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        let timestamp = self.timestamp.unwrap_or_else(|| head.clock.now(host));
        draft.admit_moment(timestamp)?;
        if head.anchors_count >= ANCHORS_PER_TIMELINE_MAX as u64 {
            return Err(Refusal::LimitReached { what: "anchors on this timeline", max: ANCHORS_PER_TIMELINE_MAX });
        }
        let anchor = Anchor {
            anchor_id: self.anchor_id.clone(),
            position: head.frontier.size(),
            set_at: host,
            timestamp,
            description: self.description.clone(),
            fixed: self.fixed,
            moment: head.clock.moment(host),
        };
        draft.state_mut(ledger).head.anchors_count += 1;
        let payload = json(&AnchorSet::of(&anchor));
        let position = draft.append(ledger, Action::SetAnchor, anchor.anchor_id.as_str(), payload, host);
        draft.step_mut(ledger).anchors.push(anchor);
        Ok(draft.done(ledger, position, AnchorMarked { anchor_id: self.anchor_id.clone(), timestamp }))
    }

    fn check_told(&self, draft: &Draft<'_>, change: &AnchorMarked) -> Result<(), Denial> {
        draft.admit_moment(change.timestamp)
    }
}
