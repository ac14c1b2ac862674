use timenav_core::access::Denial;
use timenav_core::ids::{EventId, TimelineId};
use tokio::sync::oneshot;

use crate::ledger::changes::{Change, LedgerPosition};
use crate::requests::actor::Actor;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::{Command, CommandSpec, Needs};
use crate::writer::draft::{Done, Draft};

/// A request by one actor on one timeline, to be decided by the writer.
pub(crate) struct Submission {
    pub(crate) actor: Actor,
    pub(crate) timeline: TimelineId,
    pub(crate) command: Box<dyn QueuedCommand>,
    pub(crate) idempotency: Option<Idempotency>,
}

/// Submissions that belong into the same group, unless that is full.
pub(crate) struct QueueItem {
    pub(crate) submission: Submission,
    /// Decided right after `submission`.
    pub(crate) then: Option<Submission>,
}

impl QueueItem {
    pub(crate) fn is_awaited(&self) -> bool {
        self.each().any(|one| one.command.is_awaited())
    }

    pub(crate) fn events_count(&self) -> usize {
        self.each().map(|one| one.command.spec().events_count).sum()
    }

    fn each(&self) -> impl Iterator<Item = &Submission> {
        std::iter::once(&self.submission).chain(&self.then)
    }

    pub(crate) fn each_of(item: Vec<Self>) -> std::vec::IntoIter<Submission> {
        let each: Vec<Submission> =
            item.into_iter().flat_map(|one| std::iter::once(one.submission).chain(one.then)).collect();
        each.into_iter()
    }
}

/// The outcome of a write, durable and signed.
#[derive(Clone, Debug)]
pub struct Answer<C> {
    pub timeline_id: TimelineId,
    pub change: C,
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) timeline_id: TimelineId,
    pub(crate) ledger: LedgerPosition,
    pub(crate) replayed: bool,
}

pub(crate) type Reply<C> = oneshot::Sender<Result<Answer<C>, Refusal>>;

/// A pending request, independent of the type of its response.
pub(crate) trait QueuedCommand: Send {
    fn spec(&self) -> CommandSpec<'_>;
    fn needs(&self) -> Needs<'_>;

    /// Decides the request, and stores the response. May be called again, in which case the last call counts.
    fn decide(&mut self, draft: &mut Draft<'_>) -> Result<Done<()>, Refusal>;

    /// Stores an earlier response, given as JSON.
    fn repeat(&mut self, stored: &str) -> Result<(), Refusal>;

    /// Checks whether the stored response may be returned for a repeated request.
    fn check_output(&self, draft: &Draft<'_>) -> Result<(), Denial>;

    /// Returns the stored response as JSON.
    fn keep(&self) -> Option<String>;

    fn event(&self) -> Option<EventId>;

    fn is_awaited(&self) -> bool;

    fn respond(self: Box<Self>, recorded: Result<Recorded, Refusal>);
}

/// A request and the receiver of its response, which is missing for a read with a buffered entry.
pub(crate) struct PendingCommand<D: Command> {
    command: D,
    change: Option<D::Output>,
    reply: Option<Reply<D::Output>>,
}

impl<D: Command> PendingCommand<D> {
    pub(crate) fn boxed(command: D, reply: Option<Reply<D::Output>>) -> Box<dyn QueuedCommand> {
        Box::new(Self { command, change: None, reply })
    }
}

impl<D: Command> QueuedCommand for PendingCommand<D> {
    fn spec(&self) -> CommandSpec<'_> {
        self.command.spec()
    }

    fn needs(&self) -> Needs<'_> {
        self.command.needs()
    }

    fn decide(&mut self, draft: &mut Draft<'_>) -> Result<Done<()>, Refusal> {
        let Done { timeline_id, position, change } = self.command.decide(draft)?;
        self.change = Some(change);
        Ok(Done { timeline_id, position, change: () })
    }

    fn repeat(&mut self, stored: &str) -> Result<(), Refusal> {
        self.change = D::Output::read(stored);
        let unreadable = || Refusal::Damaged("a stored outcome cannot be read".to_owned());
        self.change.as_ref().map(|_| ()).ok_or_else(unreadable)
    }

    fn check_output(&self, draft: &Draft<'_>) -> Result<(), Denial> {
        self.change.as_ref().map_or(Ok(()), |change| self.command.check_output(draft, change))
    }

    fn keep(&self) -> Option<String> {
        self.change.as_ref().map(Change::keep)
    }

    fn event(&self) -> Option<EventId> {
        self.change.as_ref().and_then(Change::event).cloned()
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_some()
    }

    fn respond(self: Box<Self>, recorded: Result<Recorded, Refusal>) {
        let Self { change, reply, .. } = *self;
        let Some(reply) = reply else { return };
        let answer = recorded.and_then(|Recorded { timeline_id, ledger, replayed }| {
            let change = change.ok_or_else(|| Refusal::Damaged("nothing was decided".to_owned()))?;
            Ok(Answer { timeline_id, change, ledger, replayed })
        });
        // The receiver may have been dropped.
        let _ = reply.send(answer);
    }
}
