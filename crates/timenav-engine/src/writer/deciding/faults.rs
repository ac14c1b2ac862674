use timenav_core::fault::{Fault, Faults};
use timenav_core::ids::{FollowerName, UserId};
use timenav_core::limits::FAULTS_PER_TIMELINE_MAX;

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::FaultOutcome;
use crate::ledger::payload::{FaultRecord, FaultSet, StatePayload, faults_record};
use crate::requests::options::LEVEL_OF_FAULTS;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Set the fault of a user's followers with some name; `None` removes it.
pub(crate) struct SetFault {
    pub(crate) whose: (UserId, FollowerName),
    pub(crate) fault: Option<Fault>,
}

impl Command for SetFault {
    type Output = FaultOutcome;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SetFault, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<FaultOutcome>, Refusal> {
        // Versions of an earlier level drop this field when they rewrite a head.
        if draft.level() < LEVEL_OF_FAULTS {
            return Err(Refusal::NotUpgraded { what: "the clock error of a follower", level: LEVEL_OF_FAULTS });
        }
        let ledger = draft.aimed()?;
        let Self { whose, fault } = self;
        let faults = &draft.state(ledger).head.timers.faults;
        if fault.is_some() && faults.get(whose).is_none() && faults.len() >= FAULTS_PER_TIMELINE_MAX {
            let what = "follower names with a clock error on this clock";
            return Err(Refusal::LimitReached { what, max: FAULTS_PER_TIMELINE_MAX });
        }
        let (before, mut after) = (faults.changed, Faults::clone(faults));
        // The position is not part of the entry.
        after.set(0, whose.clone(), *fault);
        let (user_id, follower) = (whose.0.to_string(), whose.1.to_string());
        let payload = StatePayload::Fault(FaultSet {
            user_id,
            follower: follower.clone(),
            fault: fault.as_ref().map(FaultRecord::of),
            faults: faults_record(&after),
            before,
        });
        let (entry, host) = ((Action::SetFault, follower.as_str()), draft.host(ledger));
        let position = draft.record(ledger, entry, &payload, host)?;
        Ok(draft.done(
            ledger,
            position,
            FaultOutcome { user_id: whose.0.clone(), follower: whose.1.clone(), fault: *fault },
        ))
    }
}
