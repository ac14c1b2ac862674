//! Log entries without other effects: reads, rejections, scans, and an operator's acceptance.

use timenav_core::access::Demand;
use timenav_core::ids::UserId;

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::Logged;
use crate::ledger::payload::{RollbackAccepted, ScanPayload};
use crate::requests::json::json;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

pub(crate) struct LogRead {
    pub(crate) operation: &'static str,
    /// JSON text.
    pub(crate) parameters: String,
    pub(crate) demands: &'static [Demand],
    /// Whether the response was already sent, as permitted at that time.
    pub(crate) is_answered: bool,
}

pub(crate) struct LogScan {
    pub(crate) depth: String,
}

/// Log that the service was started although the database differs from what was signed.
pub(crate) struct LogRollbackAccepted {
    pub(crate) payload: RollbackAccepted,
}

pub(crate) struct LogRefusal {
    operation: String,
    code: &'static str,
    detail: String,
}

impl LogRefusal {
    pub(crate) fn new(operation: &str, code: &'static str, reason: &(impl ToString + ?Sized)) -> Self {
        Self { operation: operation.to_owned(), code, detail: reason.to_string() }
    }
}

pub(crate) struct LogRefusals {
    pub(crate) payload: String,
}

impl Command for LogRead {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        // A read that was already answered is logged, even if it would be rejected now.
        let demands = if self.is_answered { &[] } else { self.demands };
        let spec = CommandSpec::of(Action::Reads, Aim::Ledger);
        CommandSpec { operation: self.operation, demands, needs_credential: !self.is_answered, ..spec }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        // An entry claims that its reader was authorized. If that is no longer true when the entry is written, log a
        // rejection instead.
        if self.is_answered
            && let Err((code, why)) = draft.check_reader(self.demands)
        {
            let detail = format!("this was answered because it was still allowed when it was requested: {why}");
            let (ledger, position) = draft.append_refusal(self.operation, code, &detail)?;
            return Ok(draft.done(ledger, position, Logged {}));
        }
        let (ledger, operation) = match draft.aimed() {
            Err(Refusal::HandedOver { timeline_id }) => (draft.system()?, format!("{} {timeline_id}", self.operation)),
            aimed => (aimed?, self.operation.to_owned()),
        };
        let position = draft.append_read(ledger, &operation, &self.parameters);
        Ok(draft.done(ledger, position, Logged {}))
    }
}

impl Command for LogScan {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::DetectTampering, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let payload = json(&ScanPayload { scan_depth: self.depth.clone() });
        log(draft, Action::DetectTampering, draft.timeline().as_str(), payload)
    }
}

impl Command for LogRollbackAccepted {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::AcceptRollback, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let payload = json(&self.payload);
        let ledger = draft.ledger_of_service(draft.timeline())?;
        let (host, subject) = (draft.host(ledger), draft.timeline().as_str());
        let position = draft.append(ledger, Action::AcceptRollback, subject, payload, host);
        Ok(draft.done(ledger, position, Logged {}))
    }
}

impl Command for LogRefusal {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec { operation: &self.operation, ..CommandSpec::of(Action::Attempt, Aim::Ledger) }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let (ledger, position) = draft.append_refusal(&self.operation, self.code, &self.detail)?;
        Ok(draft.done(ledger, position, Logged {}))
    }
}

impl Command for LogRefusals {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::AttemptsCounted, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        log(draft, Action::AttemptsCounted, UserId::UNKNOWN, self.payload.clone())
    }
}

/// The ledger of a timeline that was handed over is closed, so log on `system` with the timeline's name.
fn log(draft: &mut Draft<'_>, action: Action, subject: &str, payload: String) -> Result<Done<Logged>, Refusal> {
    let (ledger, subject) = match draft.aimed() {
        Err(Refusal::HandedOver { timeline_id }) if subject != timeline_id => {
            (draft.system()?, format!("{subject} {timeline_id}"))
        }
        Err(Refusal::HandedOver { .. }) => (draft.system()?, subject.to_owned()),
        aimed => (aimed?, subject.to_owned()),
    };
    let host = draft.host(ledger);
    let position = draft.append(ledger, action, &subject, payload, host);
    Ok(draft.done(ledger, position, Logged {}))
}
