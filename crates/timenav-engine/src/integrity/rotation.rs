//! Rotation of the signing key of all ledgers.
//!
//! It may be interrupted at any time and started again: the signatures of each ledger's head show whether it was
//! rotated.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::directory::session::{SessionCommand, SessionsToEnd};
use timenav_core::ids::{TimelineId, UserId};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::ledger::head::TimelineState;
use crate::ledger::notes::{has_signed, keep_rotations, newest_note, signed_by_next};
use crate::ledger::proofs::InclusionProof;
use crate::ports::outside::{ExternalCheckpoint, OutsideError, system_last};
use crate::ports::signer::Signer;
use crate::read::long_work::off_thread;
use crate::requests::actor::Actor;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::Command;
use crate::writer::deciding::access::sessions::ChangeSessions;
use crate::writer::deciding::rotation::RotateSigningKey;

/// Ledgers or users submitted to the writer before the first response is awaited.
const WAITING_MAX: usize = 1_024;

#[derive(Clone, Debug)]
pub struct Rotation {
    /// The size of the checkpoint that both keys have signed, for every ledger.
    pub ledgers: BTreeMap<TimelineId, u64>,
    /// How many of them were rotated by this call.
    pub rotated: u64,
}

impl Engine {
    /// Signs the newest checkpoint of every ledger with the next key in addition to the current one, over an entry that
    /// names both, and ends all sessions. The engine must not be used for anything else in the meantime. Afterwards,
    /// the store can be opened with the next key alone.
    ///
    /// # Errors
    /// There is no next key, or a ledger cannot be written. Ledgers rotated so far stay so.
    #[boxed]
    pub async fn rotate_signing_key(&self) -> Result<Rotation, Refusal> {
        let next = self.ports().next_signer.clone();
        let next = next.ok_or(Refusal::FeatureDisabled { what: "rotating the signing key without a new one" })?;
        self.end_every_session().await?;
        // `system` comes last: once it is rotated, every ledger is.
        let (system, others): (Vec<_>, Vec<_>) = self.unsigned_by(&*next).into_iter().partition(TimelineId::is_system);
        let rotated = (system.len() + others.len()) as u64;
        for ledgers in [others, system] {
            let commands = ledgers.into_iter().map(|timeline| (timeline, RotateSigningKey));
            self.submit_all(commands).await?;
        }
        if let Some(timeline) = self.unsigned_by(&*next).first() {
            return Err(Refusal::Damaged(format!("the next key has not signed `{timeline}`")));
        }
        self.keep_outside().await?;
        let states = self.states();
        keep_rotations(states.iter().map(|state| &**state), self.store(), self.ports(), self.options()).await?;
        let ledgers = states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size())).collect();
        Ok(Rotation { ledgers, rotated })
    }

    /// Proves the rotation of a ledger: its last entry, which names both keys, in the tree that both have signed.
    /// Whoever trusts the retired key can learn the new one from it. Call this right after
    /// [`Engine::rotate_signing_key`].
    ///
    /// # Errors
    /// There is no such ledger, or the store cannot be read.
    #[boxed]
    pub async fn rotation_proof(&self, timeline: &TimelineId) -> Result<InclusionProof, Refusal> {
        let state = self.existing_state(timeline)?;
        self.prove_entry(&state, state.head.frontier.size().saturating_sub(1)).await
    }

    /// A holder of the retired key may have forged sessions, so none survives the rotation.
    async fn end_every_session(&self) -> Result<(), Refusal> {
        let mut users: Vec<UserId> = self.directory().sessions.values().map(|one| one.user_id.clone()).collect();
        users.sort_unstable();
        users.dedup();
        let system = TimelineId::system();
        let commands = users.into_iter().map(|user_id| {
            let which = SessionsToEnd::AllOf(user_id);
            (system.clone(), ChangeSessions(SessionCommand::End { which, is_log_out: false }))
        });
        self.submit_all(commands).await
    }

    fn unsigned_by(&self, signer: &dyn Signer) -> Vec<TimelineId> {
        let states = self.states();
        let unsigned = states.iter().filter(|state| !has_signed(state, signer, self.options()));
        let mut unsigned: Vec<_> = unsigned.map(|state| state.head.id.clone()).collect();
        unsigned.sort_unstable();
        unsigned
    }

    /// Returns when all are durable. Submits them concurrently, so that they end up in few groups.
    async fn submit_all<D: Command>(&self, commands: impl Iterator<Item = (TimelineId, D)>) -> Result<(), Refusal> {
        let mut commands = commands.peekable();
        while commands.peek().is_some() {
            let mut answers = Vec::new();
            for (timeline, deciding) in commands.by_ref().take(WAITING_MAX) {
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

    /// Keeps checkpoints outside that a crash after a commit left out, because with the next key, all of them must be
    /// signed by it. This includes ended timelines, whose ledgers are not rotated any more.
    async fn keep_outside(&self) -> Result<(), Refusal> {
        let engine = self.clone();
        off_thread(move || engine.shared().keeper.flush()).await?;
        let (ports, options) = (self.ports().clone(), self.options().clone());
        let sealed = |state: &Arc<TimelineState>| {
            let note = newest_note(state, &ports, &options)?;
            Ok(ExternalCheckpoint::seal(state.head.id.clone(), note, &*ports.signer))
        };
        let heads = self.states().iter().map(sealed).collect::<Result<Vec<ExternalCheckpoint>, Refusal>>()?;
        off_thread(move || {
            let unavailable = |error: OutsideError| Refusal::Unavailable(error.to_string());
            let last = ports.outside.last().map_err(unavailable)?;
            let mut last: BTreeMap<TimelineId, ExternalCheckpoint> =
                last.into_iter().map(|stored| (stored.timeline.clone(), stored)).collect();
            let mut missing = Vec::new();
            for head in heads {
                let stored = last.remove(&head.timeline);
                missing.extend(stored.is_none_or(|stored| stored.note != head.note).then_some(head));
            }
            for ended in last.values() {
                missing.extend(signed_by_next(ended, &ports, &options)?);
            }
            system_last(&mut missing);
            if missing.is_empty() { Ok(()) } else { ports.outside.keep(&missing).map_err(unavailable) }
        })
        .await?
    }
}
