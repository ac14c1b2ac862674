use std::sync::Arc;

use timenav_core::timers::FiringState;

use crate::ledger::action::Action;
use crate::ledger::payload::{FiringsSettled, OutcomeOfFiring};
use crate::ports::timer_rows::FiringRow;
use crate::ports::wall_clock::Host;
use crate::requests::json::json;
use crate::writer::draft::{Draft, Ledger};
use crate::writer::project::firings_settled;

pub(super) struct Outcome<'a> {
    pub(super) firing: &'a FiringRow,
    pub(super) state: FiringState,
    pub(super) reason: Option<String>,
}

pub(super) fn tell_outcomes(draft: &mut Draft<'_>, ledger: Ledger, outcomes: &[Outcome<'_>], host: Host) -> u64 {
    let told = |Outcome { firing, state, reason }: &Outcome<'_>| OutcomeOfFiring {
        firing_id: firing.firing_id.to_string(),
        timer: firing.due_firing.position,
        due: firing.due_firing.due.micros(),
        round: firing.due_firing.round,
        outcome: state.as_str().to_owned(),
        reason: reason.clone(),
    };
    let before = draft.state(ledger).head.timers.last;
    let told = FiringsSettled { outcomes: outcomes.iter().map(told).collect(), before };
    let position = draft.append(ledger, Action::SettleFirings, "firings", json(&told), host);
    let ends = firings_settled(&told, position).expect("moments and outcomes of firings can be read again");
    let step = draft.step_mut(ledger);
    let timers = Arc::make_mut(&mut step.state.head.timers);
    timers.last = Some(position);
    for Outcome { firing, state, .. } in outcomes {
        timers.settled(*state, firing.advance, firing.made);
    }
    step.timers.settled.extend(ends);
    position
}
