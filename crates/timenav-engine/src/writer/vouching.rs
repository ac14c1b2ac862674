//! Delays responses to changes until witnesses vouch for them, if the operator requires that.
//!
//! The entry is durable and signed before the wait: only the response is delayed. Nothing here measures time or
//! contacts witnesses; the program that runs the engine does both, and wakes the waiting requests.

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::PruneClass;

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::requests::actor::Actor;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::CommandSpec;

/// Log entries (reads, rejections, scans) are not relied on, nor are sessions: a user can log in again.
fn is_relied_on(action: Action) -> bool {
    PruneClass::of(action.word()).is_none()
        && !matches!(action, Action::DetectTampering | Action::LogIn | Action::RenewSession)
}

impl Engine {
    /// Returns whether the response is delayed until witnesses vouch for it: only for changes requested by a caller.
    pub(crate) fn is_held_back(&self, actor: &Actor, spec: &CommandSpec<'_>) -> bool {
        self.options().witnesses_required > 0
            && !matches!(actor, Actor::Service)
            && spec.catches_up.is_none()
            && is_relied_on(spec.action)
    }

    /// Waits until enough witnesses vouch for an entry.
    ///
    /// # Errors
    /// They did not in time, and may or may not do so later.
    pub(crate) async fn until_vouched_for(&self, timeline: &TimelineId, position: u64) -> Result<(), Refusal> {
        let (required, wait) = (self.options().witnesses_required, self.options().witness_wait);
        let witnessed = self.witnessed();
        let begun = self.now();
        let mut needed = None;
        witnessed.requested.notify_one();
        loop {
            let moved = witnessed.moved.notified();
            tokio::pin!(moved);
            // Notifications from here on are not missed.
            moved.as_mut().enable();
            needed = needed.or_else(|| self.system_size_over(timeline, position));
            if needed.is_some_and(|needed| needed <= witnessed.vouched_size(required)) {
                return Ok(());
            }
            if self.now().since(begun) >= wait {
                let seconds = wait.micros() / 1_000_000;
                let detail = format!(
                    "it is entry {position} of `{timeline}`, which {required} witnesses have not vouched for within {seconds} s"
                );
                return Err(Refusal::OutcomeUnknown(detail));
            }
            moved.await;
        }
    }

    /// Waits until a request waits for witnesses.
    #[boxed]
    pub async fn witnesses_requested(&self) {
        self.witnessed().requested.notified().await;
    }

    /// Wakes requests that wait for witnesses: there is a new commitment or cosignature, or time has passed.
    pub fn witnesses_moved(&self) {
        self.witnessed().moved.notify_waiters();
    }

    /// Returns the size of `system` that covers an entry of a timeline, once it is known.
    fn system_size_over(&self, timeline: &TimelineId, position: u64) -> Option<u64> {
        if timeline.is_system() {
            return Some(position + 1);
        }
        let Some(state) = self.shared().timelines.read().get(timeline).cloned() else {
            // It has ended, and an entry of `system` records that with its root.
            return Some(self.state(&TimelineId::system())?.head.frontier.size());
        };
        let newest = self.witnessed().commitments.lock().newest(state.head.key)?;
        (newest.size > position).then_some(newest.position + 1)
    }
}
