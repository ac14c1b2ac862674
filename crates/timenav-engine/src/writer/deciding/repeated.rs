use std::marker::PhantomData;

use timenav_core::access::{Demand, Denial};

use super::clocks::check_clock_output;
use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::{
    AdvancesHeld, Change, ClockAfter, EventIntervened, EventsErasureResult, FaultOutcome, FiringsAfter, Swept,
    TimelineMade,
};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Return the response to an earlier request with the same key, without a change.
pub(crate) struct RepeatedRequest<C> {
    action: Action,
    demands: &'static [Demand],
    aim: Aim,
    change: PhantomData<fn() -> C>,
}

/// Store the response to a request that has no entry, without another change.
pub(crate) struct StoreResponse<C> {
    pub(crate) operation: &'static str,
    pub(crate) change: C,
}

impl<C> RepeatedRequest<C> {
    /// Asks for the response to a request that required these permissions, which are checked again.
    pub(crate) const fn of(action: Action, demands: &'static [Demand]) -> Self {
        Self { action, demands, aim: Aim::Timeline, change: PhantomData }
    }

    pub(crate) fn aimed(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }
}

/// A response that can be requested again, with its authorization check.
pub(crate) trait RepeatableOutput: Change {
    fn check_output(&self, _draft: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for ClockAfter {
    fn check_output(&self, draft: &Draft<'_>) -> Result<(), Denial> {
        check_clock_output(draft, self)
    }
}

impl RepeatableOutput for AdvancesHeld {}
impl RepeatableOutput for EventIntervened {}
impl RepeatableOutput for EventsErasureResult {}
impl RepeatableOutput for FaultOutcome {}
impl RepeatableOutput for FiringsAfter {}
impl RepeatableOutput for Swept {}
impl RepeatableOutput for TimelineMade {}

impl<C: RepeatableOutput> Command for RepeatedRequest<C> {
    type Output = C;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec { demands: self.demands, is_repeat_only: true, ..CommandSpec::of(self.action, self.aim) }
    }

    fn decide(&self, _draft: &mut Draft<'_>) -> Result<Done<C>, Refusal> {
        // There is no earlier request.
        Err(Refusal::ChangedMeanwhile)
    }

    fn check_output(&self, draft: &Draft<'_>, change: &C) -> Result<(), Denial> {
        change.check_output(draft)
    }
}

impl<C: RepeatableOutput + Sync> Command for StoreResponse<C> {
    type Output = C;

    /// The required permission is that to settle firings, for responses about firings and holds.
    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec { operation: self.operation, ..CommandSpec::of(Action::SettleFirings, Aim::Timeline) }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<C>, Refusal> {
        let ledger = draft.aimed()?;
        Ok(draft.done(ledger, draft.last_position(ledger), self.change.clone()))
    }

    fn check_output(&self, draft: &Draft<'_>, change: &C) -> Result<(), Denial> {
        change.check_output(draft)
    }
}
