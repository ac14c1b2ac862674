use timenav_core::timers::FiringState;

use crate::ledger::action::Action;
use crate::ledger::payload::{FiringsSettled, OutcomeOfFiring, StatePayload};
use crate::ports::timer_rows::FiringRow;
use crate::ports::wall_clock::Host;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Draft, Ledger};
use crate::writer::project::KnownTimerRows;

pub(super) struct Outcome<'a> {
    pub(super) firing: &'a FiringRow,
    pub(super) state: FiringState,
    pub(super) reason: Option<String>,
}

pub(super) fn record_outcomes(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    outcomes: &[Outcome<'_>],
    host: Host,
) -> Result<u64, Refusal> {
    let outcome_of = |Outcome { firing, state, reason }: &Outcome<'_>| OutcomeOfFiring {
        firing_id: firing.firing_id.to_string(),
        timer: firing.due_firing.position,
        due: firing.due_firing.due.micros(),
        round: firing.due_firing.round,
        outcome: state.as_str().to_owned(),
        reason: reason.clone(),
    };
    let before = draft.state(ledger).head.timers.last;
    let payload =
        StatePayload::FiringsSettled(FiringsSettled { outcomes: outcomes.iter().map(outcome_of).collect(), before });
    let known = KnownTimerRows::of_firings(outcomes.iter().map(|outcome| outcome.firing));
    draft.record_on_timers(ledger, (Action::SettleFirings, "firings"), &payload, &known, host)
}
