//! Shares cosigned checkpoints between services on one database.
//!
//! The shared row can be changed by any writer of the database, so only its signatures are trusted: those of the
//! service and of the configured witnesses. A row without them is replaced by a service that has a better one.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{LeafRecord, Note, NoteSignature, VerifierKey, WitnessKey};

use crate::engine::Engine;
use crate::integrity::witnessed::{Evidence, HeadAt, SharedCosigned, WitnessState, WitnessStatus, WitnessedLog};
use crate::integrity::witnessing::{BLOCK_ENTRIES, ComparedCheckpoint, RECALLED_ENTRIES_MAX};
use crate::ledger::action::Action;
use crate::ledger::proofs::SignedCheckpoint;
use crate::requests::refusal::Refusal;

/// Maximum number of attempts to write the row if others write it too.
const SHARE_TRIES_MAX: usize = 4;

enum Judged {
    /// A checkpoint of the current tree, with its cosigners and times.
    Good { checkpoint: SignedCheckpoint, lines: Vec<(WitnessKey, NoteSignature, u64)> },
    /// Invalid or useless.
    Ignored(String),
    /// Signed by the service, but contradicts the database.
    Contradiction(String),
}

impl Engine {
    /// Sets the witnesses whose cosignatures count if another service requested them. Call this once, before requests
    /// are served.
    pub fn trust_witnesses(&self, keys: Vec<WitnessKey>) {
        let _ = self.witnessed().trusted.set(keys);
    }

    /// Sets the timelines shown to witnesses in addition to `system`. Call this once, before requests are served.
    pub fn name_to_witnesses(&self, timelines: impl IntoIterator<Item = TimelineId>) {
        let named = timelines.into_iter().map(|timeline| (timeline, WitnessedLog::default())).collect();
        let _ = self.witnessed().named.set(named);
    }

    /// Loads the cosigned checkpoint shared by other services, so that later responses are based on it or a newer one.
    /// Invalid data is ignored and logged.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn learn_cosigned(&self) -> Result<(), Refusal> {
        if self.shares_cosigned() {
            self.read_cosigned(&mut *self.witnessed().shared.lock().await).await?;
        }
        Ok(())
    }

    /// Shares the newest cosigned checkpoint with other services, unless it is shared already.
    ///
    /// # Errors
    /// The store does not respond, or other writers keep changing the row.
    #[boxed]
    pub async fn share_cosigned(&self) -> Result<(), Refusal> {
        if !self.shares_cosigned() {
            return Ok(());
        }
        let mut shared = self.witnessed().shared.lock().await;
        for _ in 0..SHARE_TRIES_MAX {
            self.read_cosigned(&mut shared).await?;
            let Some(newest) = self.cosigned(&TimelineId::system()) else { return Ok(()) };
            let held = (newest.size, newest.by.clone());
            if shared.holds.as_ref() == Some(&held) {
                return Ok(());
            }
            let note = newest.note.as_bytes().to_vec();
            if self.store().keep_cosigned_note(shared.read.clone(), note.clone()).await? {
                *shared = SharedCosigned { read: Some(note), size: newest.size, holds: Some(held) };
                return Ok(());
            }
        }
        Err(Refusal::Unavailable("the cosigned checkpoint in the database kept changing".to_owned()))
    }

    fn shares_cosigned(&self) -> bool {
        self.has_others() && self.witnessed().trusted.get().is_some_and(|trusted| !trusted.is_empty())
    }

    async fn read_cosigned(&self, shared: &mut SharedCosigned) -> Result<(), Refusal> {
        let note = self.store().cosigned_note().await?;
        if note == shared.read {
            return Ok(());
        }
        let judged = match &note {
            Some(note) => self.judge_cosigned(note).await?,
            None => Judged::Ignored("it is missing".to_owned()),
        };
        (shared.read, shared.holds) = (note, None);
        match judged {
            Judged::Good { checkpoint, .. } if checkpoint.size < shared.size => {
                let (size, before) = (checkpoint.size, shared.size);
                tracing::warn!(
                    size,
                    before,
                    "the cosigned checkpoint in the database went back from {before} entries to {size} and is ignored"
                );
            }
            Judged::Good { checkpoint, lines } => {
                if let Err(refusal) = self.learn_heads(checkpoint.size, checkpoint.size).await {
                    let Refusal::Damaged(contradiction) = refusal else { return Err(refusal) };
                    tracing::error!("trees that other services committed to on `system` are missing: {contradiction}");
                    *self.witnessed().contradiction.lock() = Some(contradiction);
                }
                let by: BTreeMap<String, u64> =
                    lines.iter().map(|(witness, _, time)| (witness.name().to_owned(), *time)).collect();
                for (witness, line, time) in lines {
                    self.take_cosignature(&checkpoint, (&witness, line, time));
                }
                shared.size = checkpoint.size;
                shared.holds = Some((checkpoint.size, by));
            }
            Judged::Ignored(reason) => {
                tracing::warn!(reason, "the cosigned checkpoint in the database is ignored: {reason}");
            }
            Judged::Contradiction(contradiction) => {
                tracing::error!("the cosigned checkpoint in the database contradicts the ledger: {contradiction}");
                *self.witnessed().contradiction.lock() = Some(contradiction);
            }
        }
        Ok(())
    }

    async fn judge_cosigned(&self, bytes: &[u8]) -> Result<Judged, Refusal> {
        let ignored = |reason: &str| Ok(Judged::Ignored(reason.to_owned()));
        let (Ok(text), Ok(note)) = (std::str::from_utf8(bytes), Note::parse(bytes)) else {
            return ignored("it is not a signed note");
        };
        let mut compared = self.compare_cosigned(text).await?;
        if matches!(&compared, Ok(Some(ComparedCheckpoint { contradiction: Some(_), .. }))) {
            // Another service may have written the entries just now.
            self.catch_up_with(&TimelineId::system()).await?;
            compared = self.compare_cosigned(text).await?;
        }
        let checkpoint = match compared {
            Err(damage) => return Ok(Judged::Ignored(damage)),
            Ok(None) => return ignored("the key of this service has not signed it"),
            Ok(Some(ComparedCheckpoint { contradiction: Some(contradiction), is_accepted: true, .. })) => {
                return ignored(&format!("an operator has accepted its loss: {contradiction}"));
            }
            Ok(Some(ComparedCheckpoint { contradiction: Some(contradiction), checkpoint, .. })) => {
                self.stop_as_taken_back(&TimelineId::system(), &checkpoint, text);
                return Ok(Judged::Contradiction(contradiction));
            }
            Ok(Some(ComparedCheckpoint { checkpoint, contradiction: None, .. })) => checkpoint,
        };
        let key = self.system_key()?;
        let signer = &self.ports().signer;
        let verify = |key: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(key, message, signature);
        let trusted = self.witnessed().trusted.get().into_iter().flatten();
        let lines = trusted.filter_map(|witness| {
            let (time, line) = witness.cosigned_at(&note, verify).ok()?;
            Some((witness.clone(), line.clone(), time))
        });
        let lines: Vec<_> = lines.collect();
        if lines.is_empty() {
            return ignored("no witness of this service has cosigned it");
        }
        // Other lines cannot be verified here.
        let own = note.retaining(|line| line.name() == key.name() && line.id() == key.id());
        let checkpoint = SignedCheckpoint {
            origin: key.name().to_owned(),
            size: checkpoint.size,
            root: checkpoint.root,
            note: own.to_string(),
            verifier_key: key.to_string(),
        };
        Ok(Judged::Good { checkpoint, lines })
    }

    /// Like [`Engine::compare_signed`] for `system`, with damage as text.
    async fn compare_cosigned(&self, note: &str) -> Result<Result<Option<ComparedCheckpoint>, String>, Refusal> {
        match self.compare_signed(&TimelineId::system(), note).await {
            Ok(compared) => Ok(Ok(compared)),
            Err(Refusal::Damaged(damage)) => Ok(Err(damage)),
            Err(refusal) => Err(refusal),
        }
    }

    fn system_key(&self) -> Result<VerifierKey, Refusal> {
        let key = self.ports().signer.ledger_key(&self.options().service_name, &TimelineId::system());
        key.map_err(|error| Refusal::Damaged(error.to_string()))
    }

    fn take_cosignature(
        &self,
        checkpoint: &SignedCheckpoint,
        (witness, line, time): (&WitnessKey, NoteSignature, u64),
    ) {
        let system = TimelineId::system();
        let is_known = self.cosigned(&system).is_some_and(|known| {
            known.size == checkpoint.size && known.by.get(witness.name()).is_some_and(|known| *known >= time)
        });
        if !is_known && let Err(refusal) = self.add_cosignature(&system, checkpoint, (witness, line, time)) {
            tracing::warn!(%refusal, "a cosignature requested by another service was rejected: {refusal}");
            return;
        }
        let status = self.witnesses(&system).remove(witness.name()).unwrap_or_default();
        // A divergence that it reported to this service outweighs a cosignature for another one.
        let is_at_odds = matches!(status.state, WitnessState::Rollback | WitnessState::Fork);
        if !is_at_odds && status.size <= checkpoint.size {
            let (state, size) = (WitnessState::Cosigning, checkpoint.size);
            let status = WitnessStatus { state, size, time, detail: String::new(), evidence: Evidence::None };
            self.note_witness(&system, witness.name(), status);
        }
    }

    /// Loads the commitments of `system` by other services, in its first `end` entries. `cosigned_size` of these are
    /// cosigned.
    pub(crate) async fn learn_heads(&self, end: u64, cosigned_size: u64) -> Result<(), Refusal> {
        if !self.has_others() {
            return Ok(());
        }
        let system = self.system_state()?;
        let end = end.min(system.head.frontier.size());
        let known = {
            let commitments = self.witnessed().commitments.lock();
            commitments
                .searched_to
                .max(commitments.last.map_or(0, |last| last + 1))
                .max(end.saturating_sub(RECALLED_ENTRIES_MAX))
        };
        let mut first = known;
        while first < end {
            let next = end.min(first + BLOCK_ENTRIES);
            let count = usize::try_from(next - first).unwrap_or(usize::MAX);
            let leaves = self.store().leaves(system.head.key, first, count).await?;
            for (position, leaf) in (first..next).zip(&leaves) {
                let action = LeafRecord::decode(leaf).ok().and_then(|record| Action::of(&record));
                if action == Some(Action::Heads) {
                    let (heads, _) = self.heads_at(&system, position).await?;
                    let heads = heads.as_slice().iter().enumerate().filter_map(|(index, head)| {
                        let state = self.state_even_expired(&head.timeline_id)?;
                        Some((state.head.key, HeadAt { position, index, size: head.size }))
                    });
                    let heads: Vec<_> = heads.collect();
                    let mut commitments = self.witnessed().commitments.lock();
                    if commitments.last < Some(position) {
                        commitments.last = Some(position);
                        for (key, at) in heads {
                            commitments.insert(key, at, cosigned_size);
                        }
                    }
                }
            }
            first = next;
        }
        let mut commitments = self.witnessed().commitments.lock();
        commitments.searched_to = commitments.searched_to.max(end);
        Ok(())
    }
}
