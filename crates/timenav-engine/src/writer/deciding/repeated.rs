use std::marker::PhantomData;

use timenav_core::access::{Demand, Denial};

use super::clocks::check_clock_output;
use super::{Aim, Command};
use crate::ledger::action::Action;
use crate::ledger::changes::{
    AdvancesHeld, Change, ClockAfter, EventIntervened, FaultOutcome, FiringsAfter, Swept, TimelineMade,
};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Return the response to an earlier request with the same key, without a change.
pub(crate) struct Again<C> {
    action: Action,
    demands: &'static [Demand],
    aim: Aim,
    change: PhantomData<fn() -> C>,
}

/// Store the response to a request that has no entry, without another change.
pub(crate) struct Keep<C> {
    pub(crate) operation: &'static str,
    pub(crate) change: C,
}

impl<C> Again<C> {
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
    fn check_output(&self, draft: &Draft<'_>) -> Result<(), Denial>;
}

impl RepeatableOutput for ClockAfter {
    fn check_output(&self, draft: &Draft<'_>) -> Result<(), Denial> {
        check_clock_output(draft, self)
    }
}

impl RepeatableOutput for TimelineMade {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for EventIntervened {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for Swept {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for FiringsAfter {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for AdvancesHeld {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl RepeatableOutput for FaultOutcome {
    fn check_output(&self, _: &Draft<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

impl<C: RepeatableOutput> Command for Again<C> {
    type Output = C;

    fn action(&self) -> Action {
        self.action
    }

    fn demands(&self) -> &'static [Demand] {
        self.demands
    }

    fn aim(&self) -> Aim {
        self.aim
    }

    fn is_repeat_only(&self) -> bool {
        true
    }

    fn decide(&self, _draft: &mut Draft<'_>) -> Result<Done<C>, Refusal> {
        // There is no earlier request.
        Err(Refusal::ChangedMeanwhile)
    }

    fn check_output(&self, draft: &Draft<'_>, change: &C) -> Result<(), Denial> {
        change.check_output(draft)
    }
}

impl<C: RepeatableOutput + Sync> Command for Keep<C> {
    type Output = C;

    /// The required permission is that to settle firings, for responses about firings and holds.
    fn action(&self) -> Action {
        Action::SettleFirings
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }

    fn operation(&self) -> &str {
        self.operation
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<C>, Refusal> {
        let ledger = draft.aimed()?;
        Ok(draft.done(ledger, draft.last_position(ledger), self.change.clone()))
    }

    fn check_output(&self, draft: &Draft<'_>, change: &C) -> Result<(), Denial> {
        change.check_output(draft)
    }
}
