use timenav_core::ids::FiringId;
use timenav_core::timers::{DueFiring, FiringState};

use crate::ledger::action::Action;
use crate::ledger::changes::FiringsAfter;
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timers::restoring::{Restored, Restoring, TimerChanged, restore};
use crate::writer::deciding::{Aim, Command, CommandSpec, Needs, TimersNeeded};
use crate::writer::draft::{Done, Draft};

pub(crate) struct Redeliver {
    pub(crate) firing_id: FiringId,
    /// The position of its timer, which firings do not change.
    pub(crate) position: u64,
    /// Its ids in later rounds of its timer, as far as there are any.
    pub(crate) later: Vec<FiringId>,
}

impl Redeliver {
    fn query(&self) -> [TimerQuery; 3] {
        [
            TimerQuery::Firings(vec![self.firing_id.clone()]),
            TimerQuery::Firings(self.later.clone()),
            TimerQuery::At(vec![self.position]),
        ]
    }
}

impl Command for Redeliver {
    type Output = FiringsAfter;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::RestoreTimers, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { timers: TimersNeeded::exactly(self.query().into()), ..Needs::default() }
    }

    /// The firing keeps its outcome. Its due time recurs, as it does when a clock goes back.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<FiringsAfter>, Refusal> {
        let ledger = draft.aimed()?;
        let head = &draft.state(ledger).head;
        if let Some(advance) = &head.timers.advance {
            let advance_id = advance.advance_id.to_string();
            return Err(Refusal::AdvanceInProgress { advance_id, is_inside: false });
        }
        let (timeline, next) = (head.id.entry_name(), head.timers.next);
        let [named, later, timers] = self.query().map(|query| draft.known_timers(ledger, &query));
        let no = |why| Refusal::NotRedelivered { firing_id: self.firing_id.to_string(), why };
        let firing = named.and_then(|found| found.firings.first());
        let firing = firing.ok_or_else(|| Refusal::NotFound { what: "firing", id: self.firing_id.to_string() })?;
        if firing.state != FiringState::Failed {
            return Err(no("it has not failed"));
        }
        if firing.records_event() {
            return Err(no("its timer records an event directly, so there is nothing to deliver; record the event"));
        }
        let timer = timers.and_then(|found| found.timers.first());
        let timer = timer.ok_or_else(|| no("its timer no longer exists; set another one"))?;
        let is_again = |one: &FiringRow| one.state != FiringState::Failed && one.state != FiringState::Superseded;
        if later.is_some_and(|found| found.firings.iter().any(is_again)) {
            return Err(no("it was already delivered again"));
        }
        let round = timer.round + 1;
        let due_firing = DueFiring { round, ..firing.due_firing };
        let again = FiringRow { due_firing, ..firing.clone() };
        let is = TimerRow { round, ..timer.clone() };
        let timers = vec![TimerChanged { was: Some(timer.clone()), is: Some(is) }];
        let restoring = Restoring { timers, superseded: Vec::new(), fired: vec![again], next };
        restore(draft, ledger, &restoring, Restored::Redeliver)?;
        let firings = vec![(due_firing.firing_id(&timeline), FiringState::Pending)];
        Ok(draft.done(ledger, draft.last_position(ledger), FiringsAfter { firings, is_withheld: false }))
    }
}
