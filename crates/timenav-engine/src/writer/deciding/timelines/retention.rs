use std::borrow::Cow;
use std::sync::Arc;

use timenav_core::ledger::{Retention, RetentionPolicies, Sweep};
use timenav_core::limits::RETENTION_POLICIES_MAX;
use timenav_core::time::{Instant, Wall};

use crate::ledger::action::Action;
use crate::ledger::changes::{Logged, PrunedContents, RetentionSet, Swept};
use crate::ledger::payload::{HostClockAccepted, StatePayload};
use crate::ports::rows::{SweepMark, SweepRow};
use crate::requests::json::json;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::{Aim, Command, CommandSpec};
use crate::writer::draft::{Done, Draft};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetentionPeriod {
    #[default]
    AsBefore,
    Seconds(u32),
    Ever,
}

impl RetentionPeriod {
    /// Returns the number of seconds, given the previous setting; `None` means without an end.
    const fn after(self, before: Option<u32>) -> Option<u32> {
        match self {
            Self::AsBefore => before,
            Self::Seconds(seconds) => Some(seconds),
            Self::Ever => None,
        }
    }
}

pub(crate) struct SetRetention {
    pub(crate) reads: RetentionPeriod,
    pub(crate) refusals: RetentionPeriod,
}

pub(crate) struct PrunePayloads {
    pub(crate) sweep: Sweep<'static>,
    pub(crate) policies: Arc<RetentionPolicies>,
    pub(crate) mark: SweepMark,
    /// The ledger's size that it was chosen for, if other services may sweep too.
    pub(crate) size: Option<u64>,
    /// How many contents of earlier sweeps the caller has deleted first.
    pub(crate) finished: u64,
}

pub(crate) struct AcceptHostClock {
    pub(crate) last: Instant<Wall>,
    pub(crate) now: Instant<Wall>,
}

impl Command for SetRetention {
    type Output = RetentionSet;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SetRetention, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<RetentionSet>, Refusal> {
        let ledger = draft.aimed()?;
        let policies = &draft.state(ledger).head.retention;
        if policies.as_slice().len() >= RETENTION_POLICIES_MAX {
            let what = "retention policies on this timeline";
            return Err(Refusal::LimitReached { what, max: RETENTION_POLICIES_MAX });
        }
        let before = policies.in_force();
        let retention = Retention {
            reads_seconds: self.reads.after(before.reads_seconds),
            refusals_seconds: self.refusals.after(before.refusals_seconds),
        };
        let floor = retention.check_floor(draft.options().retention_floor_seconds);
        floor.map_err(|below| Refusal::invalid(below.class.field(), below.to_string()))?;
        let host = draft.host(ledger);
        let (entry, payload) = ((Action::SetRetention, "retention"), StatePayload::Retention(retention));
        let position = draft.record(ledger, entry, &payload, host)?;
        Ok(draft.done(ledger, position, RetentionSet { retention }))
    }
}

impl Command for PrunePayloads {
    type Output = Swept;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::Sweep, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Swept>, Refusal> {
        let ledger = draft.aimed()?;
        // A longer policy may have been set since, or another service may have named the same entries.
        let head = &draft.state(ledger).head;
        let is_as_chosen = self.size.is_none_or(|size| head.frontier.size() == size);
        if head.retention != self.policies || !is_as_chosen {
            return Err(Refusal::ChangedMeanwhile);
        }
        let requested_by = Cow::Owned(draft.actor().name().to_owned());
        let sweep = Sweep { requested_by, positions: self.sweep.positions.clone(), ..self.sweep };
        let Sweep { class, cutoff, .. } = sweep;
        let (count, retention) = (sweep.positions.count(), self.policies.in_force());
        let host = draft.host(ledger);
        let payload = String::from_utf8_lossy(&sweep.encode()).into_owned();
        let position = draft.append(ledger, Action::Sweep, class.as_str(), payload, host);
        draft.step_mut(ledger).sweeps.push(SweepRow { position, mark: self.mark });
        let pruned = PrunedContents { position, class, count, cutoff };
        Ok(draft.done(ledger, position, Swept { pruned, finished: self.finished, retention }))
    }
}

impl Command for AcceptHostClock {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::AcceptHostClock, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let system = draft.system()?;
        let host = draft.host(system);
        let payload = json(&HostClockAccepted { last: self.last.to_string(), now: self.now.to_string() });
        let position = draft.append(system, Action::AcceptHostClock, "clock", payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}
