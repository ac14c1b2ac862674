//! What stands in the writer's queue: who asks for what, and who waits for the answer.

use timenav_core::access::Denial;
use timenav_core::ids::{EventId, TimelineId};
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::changes::{Change, LedgerPosition};
use crate::deciding::{Asking, Deciding};
use crate::draft::{Done, Draft};
use crate::idempotency::Idempotency;
use crate::refusal::Refusal;

/// One thing to be decided, on one timeline, by one actor.
pub(crate) struct Submission {
    pub(crate) actor: Actor,
    pub(crate) timeline: TimelineId,
    pub(crate) asked: Box<dyn Asked>,
    pub(crate) idempotency: Option<Idempotency>,
}

/// What is handed to the writer together: it comes into one group, unless that is full.
pub(crate) struct Handed {
    pub(crate) submission: Submission,
    /// What is decided right after it.
    pub(crate) then: Option<Submission>,
}

impl Handed {
    /// Returns whether anybody waits for an answer.
    pub(crate) fn is_awaited(&self) -> bool {
        self.each().any(|one| one.asked.is_awaited())
    }

    fn each(&self) -> impl Iterator<Item = &Submission> {
        std::iter::once(&self.submission).chain(&self.then)
    }

    /// Returns each submission of several that were handed over, in the order in which they are decided.
    pub(crate) fn each_of(handed: Vec<Self>) -> std::vec::IntoIter<Submission> {
        let each: Vec<Submission> =
            handed.into_iter().flat_map(|one| std::iter::once(one.submission).chain(one.then)).collect();
        each.into_iter()
    }
}

/// The outcome of a write, durable and signed.
#[derive(Clone, Debug)]
pub(crate) struct Answer<C> {
    /// On which timeline.
    pub(crate) timeline_id: TimelineId,
    /// What happened.
    pub(crate) change: C,
    /// Where it stands.
    pub(crate) ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub(crate) replayed: bool,
}

/// Where the outcome of a submission stands.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) timeline_id: TimelineId,
    pub(crate) ledger: LedgerPosition,
    pub(crate) replayed: bool,
}

/// Who waits for the answer to something.
pub(crate) type Reply<C> = oneshot::Sender<Result<Answer<C>, Refusal>>;

/// Something to be decided whose answer is of a type that the writer need not know.
pub(crate) trait Asked: Send {
    fn asking(&self) -> &dyn Asking;

    /// Decides, and remembers what is to be answered. It may be asked for again, and then the last time counts.
    fn decide(&mut self, draft: &mut Draft<'_>) -> Result<Done<()>, Refusal>;

    /// Remembers what was answered earlier, from JSON.
    fn repeat(&mut self, kept: &str) -> Result<(), Refusal>;

    /// Lets what is remembered be told to whoever asks again.
    fn check_told(&self, draft: &Draft<'_>) -> Result<(), Denial>;

    /// Returns what is remembered as JSON.
    fn keep(&self) -> Option<String>;

    /// Returns the event whose content is in what is remembered.
    fn event(&self) -> Option<EventId>;

    /// Returns whether anybody waits for the answer.
    fn is_awaited(&self) -> bool;

    /// Answers whoever waits.
    fn tell(self: Box<Self>, told: Result<Told, Refusal>);
}

/// Something to be decided, and who waits for its answer: nobody for a read whose entry is only buffered.
pub(crate) struct Pending<D: Deciding> {
    deciding: D,
    change: Option<D::Change>,
    reply: Option<Reply<D::Change>>,
}

impl<D: Deciding> Pending<D> {
    pub(crate) fn boxed(deciding: D, reply: Option<Reply<D::Change>>) -> Box<dyn Asked> {
        Box::new(Self { deciding, change: None, reply })
    }
}

impl<D: Deciding> Asked for Pending<D> {
    fn asking(&self) -> &dyn Asking {
        &self.deciding
    }

    fn decide(&mut self, draft: &mut Draft<'_>) -> Result<Done<()>, Refusal> {
        let Done { timeline_id, position, change } = self.deciding.decide(draft)?;
        self.change = Some(change);
        Ok(Done { timeline_id, position, change: () })
    }

    fn repeat(&mut self, kept: &str) -> Result<(), Refusal> {
        self.change = D::Change::read(kept);
        let unreadable = || Refusal::Damaged("a kept outcome cannot be read".to_owned());
        self.change.as_ref().map(|_| ()).ok_or_else(unreadable)
    }

    fn check_told(&self, draft: &Draft<'_>) -> Result<(), Denial> {
        self.change.as_ref().map_or(Ok(()), |change| self.deciding.check_told(draft, change))
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

    fn tell(self: Box<Self>, told: Result<Told, Refusal>) {
        let Self { change, reply, .. } = *self;
        let Some(reply) = reply else { return };
        let answer = told.and_then(|Told { timeline_id, ledger, replayed }| {
            let change = change.ok_or_else(|| Refusal::Damaged("nothing was decided".to_owned()))?;
            Ok(Answer { timeline_id, change, ledger, replayed })
        });
        // A receiver that is gone does not wait for an answer.
        let _ = reply.send(answer);
    }
}
