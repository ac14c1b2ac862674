//! Changes that are answered once witnesses vouch for them, where the operator requires that.
//!
//! The entry is durable and signed before anybody waits: what is held back is the answer. Nothing here measures time: whoever
//! runs the engine wakes those who wait, and asks the witnesses.

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LetGoClass;

use crate::action::Action;
use crate::actor::Actor;
use crate::deciding::Asking;
use crate::engine::Engine;
use crate::refusal::Refusal;

/// Returns whether somebody who is told of an action may rely on it from then on. That something was read, refused or
/// looked for is only noted, and whoever loses a session logs in again.
fn is_relied_on(action: Action) -> bool {
    LetGoClass::of(action.word()).is_none()
        && !matches!(action, Action::DetectTampering | Action::LogIn | Action::RenewSession)
}

impl Engine {
    /// Returns whether what is decided is answered only once witnesses vouch for it: a change that somebody asks for.
    pub(crate) fn is_held_back(&self, actor: &Actor, asking: &dyn Asking) -> bool {
        self.options().witnesses_required > 0
            && !matches!(actor, Actor::Service)
            && asking.catches_up().is_none()
            && is_relied_on(asking.action())
    }

    /// Waits until enough witnesses vouch for an entry.
    ///
    /// # Errors
    /// They did not in the time that they have: whether they will is not known.
    pub(crate) async fn until_vouched_for(&self, timeline: &TimelineId, position: u64) -> Result<(), Refusal> {
        let (required, wait) = (self.options().witnesses_required, self.options().witness_wait);
        let witnessed = self.witnessed();
        let begun = self.now();
        let mut needed = None;
        witnessed.wanted.notify_one();
        loop {
            let moved = witnessed.moved.notified();
            tokio::pin!(moved);
            // Whatever happens from here on is heard of.
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

    /// Waits until somebody waits for witnesses.
    #[boxed]
    pub async fn witnesses_wanted(&self) {
        self.witnessed().wanted.notified().await;
    }

    /// Has those who wait for witnesses look again: something was committed to or cosigned, or time has passed.
    pub fn witnesses_moved(&self) {
        self.witnessed().moved.notify_waiters();
    }

    /// Returns how many entries of `system` cover an entry of a timeline, as soon as that is known.
    fn system_size_over(&self, timeline: &TimelineId, position: u64) -> Option<u64> {
        if timeline.is_system() {
            return Some(position + 1);
        }
        let Some(state) = self.published().read().get(timeline).cloned() else {
            // It has ended, and an entry of `system` says so, and with what root.
            return Some(self.state(&TimelineId::system())?.head.frontier.size());
        };
        let told = self.witnessed().told.lock().newest(state.head.key)?;
        (told.size > position).then_some(told.position + 1)
    }
}
