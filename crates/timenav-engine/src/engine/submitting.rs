use timenav_core::ids::TimelineId;
use tokio::sync::oneshot;

use super::Engine;
use crate::requests::actor::Actor;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::batch_delay::hand_over;
use crate::writer::committer::Committer;
use crate::writer::deciding::Command;
use crate::writer::deciding::repeated::{RepeatableOutput, RepeatedRequest};
use crate::writer::submission::{Answer, PendingCommand, QueueItem, QueuedCommand, Reply, Submission};

impl Engine {
    /// Submits a request, and returns when its outcome is durable and signed.
    pub(crate) async fn submit<D: Command>(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        command: D,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<D::Output>, Refusal> {
        self.ask(Actor::Caller(caller.clone()), timeline, command, idempotency).await
    }

    /// Returns the response to an earlier request with the same key, if there was one. For use cases that must read
    /// state before they can submit, because the earlier request may have changed that state.
    ///
    /// # Errors
    /// There was one, and the caller is no longer authorized for its response; or the key was used for another request.
    pub(crate) async fn answered_before<C: RepeatableOutput>(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        again: RepeatedRequest<C>,
        idempotency: Option<Idempotency>,
    ) -> Result<Option<Answer<C>>, Refusal> {
        if idempotency.is_none() {
            return Ok(None);
        }
        match self.submit(caller, timeline.clone(), again, idempotency).await {
            Err(Refusal::ChangedMeanwhile) => Ok(None),
            other => other.map(Some),
        }
    }

    pub(crate) async fn submit_unknown<D: Command>(
        &self,
        timeline: TimelineId,
        command: D,
    ) -> Result<Answer<D::Output>, Refusal> {
        self.ask(Actor::Unknown, timeline, command, None).await
    }

    pub(crate) async fn submit_service<D: Command>(
        &self,
        timeline: TimelineId,
        command: D,
    ) -> Result<Answer<D::Output>, Refusal> {
        self.ask(Actor::Service, timeline, command, None).await
    }

    async fn ask<D: Command>(
        &self,
        actor: Actor,
        timeline: TimelineId,
        command: D,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<D::Output>, Refusal> {
        self.ask_and_then(actor, timeline, (command, idempotency), None).await
    }

    /// Submits a request and, right after it in the same group, one by the service on the same timeline. The outcome of
    /// the latter is ignored: whoever depends on it submits it again.
    pub(crate) async fn ask_and_then<D: Command>(
        &self,
        actor: Actor,
        timeline: TimelineId,
        (command, idempotency): (D, Option<Idempotency>),
        then: Option<Box<dyn QueuedCommand>>,
    ) -> Result<Answer<D::Output>, Refusal> {
        let (reply, outcome) = oneshot::channel();
        let spec = command.spec();
        let (is_held_back, is_check_only) = (self.is_held_back(&actor, &spec), spec.is_check_only);
        let by_service =
            |command| Submission { actor: Actor::Service, timeline: timeline.clone(), command, idempotency: None };
        let then = then.map(by_service);
        let command = PendingCommand::boxed(command, Some(reply));
        self.queue(Submission { actor, timeline, command, idempotency }, then).await?;
        let answer = outcome.await.unwrap_or_else(|_| Err(stopping(self.0.shared.failure())))?;
        if is_held_back && (!is_check_only || answer.ledger.timeline_created) {
            self.until_vouched_for(&answer.timeline_id, answer.ledger.position).await?;
        }
        Ok(answer)
    }

    pub(crate) async fn send<D: Command>(
        &self,
        actor: Actor,
        timeline: TimelineId,
        command: D,
        idempotency: Option<Idempotency>,
        reply: Option<Reply<D::Output>>,
    ) -> Result<(), Refusal> {
        let command = PendingCommand::boxed(command, reply);
        self.queue(Submission { actor, timeline, command, idempotency }, None).await
    }

    async fn queue(&self, submission: Submission, then: Option<Submission>) -> Result<(), Refusal> {
        // Without a receiver, the writer's rejection would go unnoticed. Check now.
        if let Some(refusal) = self.0.shared.failure() {
            return Err(refusal);
        }
        // An entry recorded by a wrong clock would stall all services until their clocks have reached its time.
        if self.has_others()
            && submission.command.spec().catches_up.is_none()
            && let Some(offset) = self.host_clock().apart_from_database()
        {
            return Err(Refusal::Unavailable(offset.to_string()));
        }
        let sender = self.0.submissions.read().clone();
        let sender = sender.ok_or_else(|| stopping(None))?;
        let item = QueueItem { submission, then };
        let queue = &self.0.shared.queue;
        let Some(item) = Committer::commit_alone(&self.0.committer, queue, item) else { return Ok(()) };
        let company = (item.is_awaited(), &self.0.shared.delay);
        hand_over(&sender, item, company).await.map_err(|_| stopping(self.0.shared.failure()))?;
        queue.note_queued();
        Ok(())
    }
}

fn stopping(failure: Option<Refusal>) -> Refusal {
    failure.unwrap_or_else(|| Refusal::Unavailable("the service is stopping".to_owned()))
}
