//! Checkpoints signed by this service that contradict the database, which proves a rollback.
//!
//! Only this service can have signed such a checkpoint. Wherever it appears, in a witness, a file or a row, all writing
//! stops: each further signature would attest a second history.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Checkpoint;

use crate::engine::Engine;
use crate::integrity::divergence::{Divergence, DivergenceKind, SeenTree};
use crate::integrity::witnessed::Evidence;
use crate::integrity::witnessing::ComparedCheckpoint;
use crate::ledger::head::TimelineState;
use crate::ledger::stored_statement::signed_text;
use crate::requests::refusal::Refusal;

impl Engine {
    /// Evaluates a checkpoint with which a witness reports a rollback. If it proves one that no operator has accepted,
    /// all writing stops.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn judge_evidence(&self, timeline: &TimelineId, note: &str) -> Result<Evidence, Refusal> {
        let mut compared = self.compare_signed(timeline, note).await?;
        let contradicts = compared.as_ref().is_some_and(|compared| compared.contradiction.is_some());
        if contradicts && self.failure().is_none() {
            // Another service may have written the entries just now.
            self.catch_up_with(timeline).await?;
            compared = self.compare_signed(timeline, note).await?;
        }
        Ok(match compared {
            Some(ComparedCheckpoint { contradiction: Some(_), is_accepted: true, .. }) => Evidence::Accepted,
            Some(ComparedCheckpoint { contradiction: Some(_), checkpoint, .. }) => {
                self.stop_as_taken_back(timeline, &checkpoint, note);
                Evidence::Proven
            }
            Some(ComparedCheckpoint { contradiction: None, .. }) | None => Evidence::None,
        })
    }

    /// Stops all writing, because this service has signed a checkpoint that contradicts the database. Stores both as
    /// evidence.
    pub(crate) fn stop_as_taken_back(&self, timeline: &TimelineId, signed: &Checkpoint, note: &str) {
        let Some(state) = self.state_even_expired(timeline).filter(|_| self.failure().is_none()) else { return };
        let divergence = Arc::new(divergence(signed, &state));
        let refusal = Refusal::Diverged(Arc::clone(&divergence));
        tracing::error!(%refusal, "nothing is written until a restart");
        if let Err(error) = self.ports().outside.keep_divergence(&divergence, note) {
            tracing::error!(%error, "could not store both versions as evidence, will retry; keep the database");
        }
        // `system` must not be committed to anything more, either.
        self.witnessed().contradiction.lock().get_or_insert_with(|| divergence.to_string());
        self.stop_writing(refusal);
    }
}

fn divergence(signed: &Checkpoint, state: &TimelineState) -> Divergence {
    let here = state.head.frontier.size();
    Divergence {
        timeline: state.head.id.clone(),
        kind: if signed.size > here { DivergenceKind::Rollback } else { DivergenceKind::Fork },
        seen: SeenTree { size: signed.size, root: signed.root },
        found: SeenTree { size: here, root: state.root },
        found_statement: signed_text(&state.head.statement),
    }
}
