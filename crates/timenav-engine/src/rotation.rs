//! The rotation of the signing key: every ledger goes over to the next key.
//!
//! It may be cut off at any moment and begun again: what is newest in each ledger tells by its signatures how far
//! it came.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::directory::session::{SessionCommand, SessionsToEnd};
use timenav_core::ids::{TimelineId, UserId};
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::deciding::Deciding;
use crate::deciding::rotation::RotateSigningKey;
use crate::deciding::sessions::ChangeSessions;
use crate::engine::Engine;
use crate::head::TimelineState;
use crate::notes::{has_signed, keep_rotations, newest_note, signed_by_next};
use crate::outside::{KeptOutside, OutsideError, system_last};
use crate::proofs::InclusionProof;
use crate::refusal::Refusal;
use crate::signer::Signer;

/// Ledgers or users about which the writer is asked before the first answer is waited for.
const WAITING_MAX: usize = 1_024;

/// A rotation that is done, but for the file of the key.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Every ledger, with the size of the checkpoint that both keys have signed.
    pub ledgers: BTreeMap<TimelineId, u64>,
    /// How many of them had not gone over before.
    pub rotated: u64,
}

impl Engine {
    /// Has the next key sign the newest checkpoint of every ledger, beside the key whose place it takes and over an
    /// entry that names both; ends all sessions. Nothing else may be asked of the engine meanwhile. From there on the next key alone will do to open what is kept.
    ///
    /// # Errors
    /// There is no next key, or a ledger cannot be written. The ledgers that went over have.
    #[boxed]
    pub async fn rotate_signing_key(&self) -> Result<Rotation, Refusal> {
        let next = self.doors().next_signer.clone();
        let next = next.ok_or(Refusal::FeatureDisabled { what: "rotating the signing key without a new one" })?;
        self.end_every_session().await?;
        // `system` is the last: where it has gone over, every ledger has.
        let (system, others): (Vec<_>, Vec<_>) = self.unsigned_by(&*next).into_iter().partition(TimelineId::is_system);
        let rotated = (system.len() + others.len()) as u64;
        for ledgers in [others, system] {
            let asked = ledgers.into_iter().map(|timeline| (timeline, RotateSigningKey));
            self.submit_all(asked).await?;
        }
        if let Some(timeline) = self.unsigned_by(&*next).first() {
            return Err(Refusal::Damaged(format!("the next key has not signed `{timeline}`")));
        }
        self.keep_outside().await?;
        let states = self.states();
        keep_rotations(states.iter().map(|state| &**state), self.store(), self.doors(), self.options()).await?;
        let ledgers = states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size())).collect();
        Ok(Rotation { ledgers, rotated })
    }

    /// Shows that a ledger has gone over: its last entry, which names both keys, in the tree that both have signed. Whoever
    /// trusts the retired key can learn the new one from it. To be asked right after [`Engine::rotate_signing_key`].
    ///
    /// # Errors
    /// There is no such ledger, or what is kept cannot be read.
    #[boxed]
    pub async fn rotation_proof(&self, timeline: &TimelineId) -> Result<InclusionProof, Refusal> {
        let state = self.state(timeline);
        let state = state.ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })?;
        self.prove_entry(&state, state.head.frontier.size().saturating_sub(1)).await
    }

    /// Who has the key that goes may have forged their way in: nobody stays logged in beside the next one.
    async fn end_every_session(&self) -> Result<(), Refusal> {
        let mut users: Vec<UserId> = self.directory().sessions.values().map(|one| one.user_id.clone()).collect();
        users.sort_unstable();
        users.dedup();
        let system = TimelineId::system();
        let asked = users.into_iter().map(|user_id| {
            let which = SessionsToEnd::AllOf(user_id);
            (system.clone(), ChangeSessions(SessionCommand::End { which, is_log_out: false }))
        });
        self.submit_all(asked).await
    }

    /// Returns the timelines whose newest head that key has not signed.
    fn unsigned_by(&self, signer: &dyn Signer) -> Vec<TimelineId> {
        let states = self.states();
        let unsigned = states.iter().filter(|state| !has_signed(state, signer, self.options()));
        let mut unsigned: Vec<_> = unsigned.map(|state| state.head.id.clone()).collect();
        unsigned.sort_unstable();
        unsigned
    }

    /// Submits what the service itself asks for, and returns when all are durable. What waits for the writer at once becomes
    /// few groups.
    async fn submit_all<D: Deciding>(&self, asked: impl Iterator<Item = (TimelineId, D)>) -> Result<(), Refusal> {
        let mut asked = asked.peekable();
        while asked.peek().is_some() {
            let mut answers = Vec::new();
            for (timeline, deciding) in asked.by_ref().take(WAITING_MAX) {
                let (reply, outcome) = oneshot::channel();
                self.send(Actor::Service, timeline, deciding, None, Some(reply)).await?;
                answers.push(outcome);
            }
            for outcome in answers {
                let ended = |_| Refusal::Unavailable("the writer has ended".to_owned());
                outcome.await.map_err(ended)??;
            }
        }
        Ok(())
    }

    /// Keeps outside what a crash between a commit and its keeping left out: with the next key, what is kept there
    /// must be signed by it too. That of timelines that have ended as well, whose ledgers do not go over any more.
    async fn keep_outside(&self) -> Result<(), Refusal> {
        let (doors, options) = (self.doors().clone(), self.options().clone());
        let sealed = |state: &Arc<TimelineState>| {
            let note = newest_note(state, &doors, &options)?;
            Ok(KeptOutside::seal(state.head.id.clone(), note, &*doors.signer))
        };
        let heads = self.states().iter().map(sealed).collect::<Result<Vec<KeptOutside>, Refusal>>()?;
        let kept = tokio::task::spawn_blocking(move || {
            let unavailable = |error: OutsideError| Refusal::Unavailable(error.to_string());
            let last = doors.outside.last().map_err(unavailable)?;
            let mut last: BTreeMap<TimelineId, KeptOutside> =
                last.into_iter().map(|kept| (kept.timeline.clone(), kept)).collect();
            let mut missing = Vec::new();
            for head in heads {
                let kept = last.remove(&head.timeline);
                missing.extend(kept.is_none_or(|kept| kept.note != head.note).then_some(head));
            }
            for ended in last.values() {
                missing.extend(signed_by_next(ended, &doors, &options)?);
            }
            system_last(&mut missing);
            if missing.is_empty() { Ok(()) } else { doors.outside.keep(&missing).map_err(unavailable) }
        });
        kept.await.map_err(|error| Refusal::Unavailable(error.to_string()))?
    }
}
