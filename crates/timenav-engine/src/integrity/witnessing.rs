//! Witnesses: commitments of `system` to the trees of timelines, cosignatures, and proofs based on them.
//!
//! This module does not contact witnesses. The program that runs the engine does, and controls when.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Checkpoint, CommittedHead, CommittedHeads, HEADS_MAX, Hash, HeadProof, LeafRecord, Note, NoteSignature, WitnessKey,
    consistency_nodes, inclusion_hashes, inclusion_nodes, leaf_hash, origin, verify_consistency, verify_inclusion,
};

use crate::engine::Engine;
use crate::integrity::opening::accepted::accepted_losses;
use crate::integrity::witnessed::{Cosigned, HeadAt, WitnessStatus, WitnessedLog};
use crate::ledger::action::Action;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::Reading;
use crate::ledger::proofs::SignedCheckpoint;
use crate::ledger::tree::{SignedTree, node_hashes, root_at};
use crate::ports::lookups::OneFact as _;
use crate::read::long_work::off_thread;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::heads::CommitHeads;

/// Maximum number of `heads` entries per interval. Timelines beyond it are committed to in the next one.
const HEADS_ENTRIES_MAX: usize = 64;
/// If the newest `heads` entry is not among these, all timelines are committed to again at startup.
pub(crate) const RECALLED_ENTRIES_MAX: u64 = 65_536;
pub(crate) const BLOCK_ENTRIES: u64 = 256;

#[derive(Clone, Debug)]
pub struct WitnessedProof {
    pub position: u64,
    /// The hashed bytes.
    pub leaf: Vec<u8>,
    /// The hashes from the entry to the root of its timeline.
    pub hashes: Vec<Hash>,
    pub tree: Checkpoint,
    /// Proves that `system` is committed to that tree; `None` for the tree of `system` itself.
    pub head: Option<HeadProof>,
    pub cosigned: Arc<Cosigned>,
    /// The public key of the service's signature on it, as text.
    pub verifier_key: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedCheckpoint {
    pub checkpoint: Checkpoint,
    pub contradiction: Option<String>,
    /// Whether an operator has accepted the loss of this very tree.
    pub is_accepted: bool,
}

impl Engine {
    /// Commits `system` to the trees of all timelines that have grown since the last call, in one or several entries.
    /// Returns the number of timelines.
    ///
    /// # Errors
    /// The ledger cannot be written.
    #[boxed]
    pub async fn commit_heads(&self) -> Result<usize, Refusal> {
        let _one_at_a_time = self.witnessed().committing.lock().await;
        self.learn_heads(u64::MAX, self.witnessed().size()).await?;
        let engine = self.clone();
        let moved = off_thread(move || engine.moved_heads()).await?;
        let count = moved.len();
        for chunk in moved.chunks(HEADS_MAX) {
            let keys: BTreeMap<&TimelineId, TimelineKey> =
                chunk.iter().map(|(key, head)| (&head.timeline_id, *key)).collect();
            let previous = self.witnessed().commitments.lock().last;
            let heads = chunk.iter().map(|(_, head)| head.clone()).collect();
            let Some(heads) = CommittedHeads::new(heads, previous) else { continue };
            let sizes: Vec<_> = heads.as_slice().iter().map(|head| (keys[&head.timeline_id], head.size)).collect();
            let answer = self.submit_service(TimelineId::system(), CommitHeads { heads }).await?;
            let (position, cosigned_size) = (answer.ledger.position, self.witnessed().size());
            let mut commitments = self.witnessed().commitments.lock();
            commitments.last = commitments.last.max(Some(position));
            for (index, (key, size)) in sizes.into_iter().enumerate() {
                commitments.insert(key, HeadAt { position, index, size }, cosigned_size);
            }
        }
        self.witnesses_moved();
        Ok(count)
    }

    /// Returns those that waited longest first, up to the limit of one interval.
    fn moved_heads(&self) -> Vec<(TimelineKey, CommittedHead)> {
        let states = self.states();
        let commitments = self.witnessed().commitments.lock();
        let mut moved: Vec<_> = states
            .iter()
            // Layers of an adopted timeline never change, and the adopting timeline records them.
            .filter(|state| !state.head.id.is_system() && state.head.id.adopting_fork().is_none())
            .filter_map(|state| {
                let before = commitments.newest(state.head.key);
                let is_reported = before.is_some_and(|at| at.size == state.head.frontier.size());
                (!is_reported).then(|| (before.map(|at| at.position), state))
            })
            .collect();
        moved.sort_by_key(|(before, _)| *before);
        moved.truncate(HEADS_ENTRIES_MAX * HEADS_MAX);
        let head = |state: &TimelineState| CommittedHead {
            root: state.root,
            size: state.head.frontier.size(),
            timeline_id: state.head.id.clone(),
        };
        moved.into_iter().map(|(_, state)| (state.head.key, head(state))).collect()
    }

    /// Finds the newest `heads` entry, and whether an operator has accepted a rollback of the database since.
    pub(crate) async fn newest_heads(&self, system: &TimelineState) -> Result<Recall, Refusal> {
        let size = system.head.frontier.size();
        let (mut end, mut is_accepted) = (size, false);
        while end > size.saturating_sub(RECALLED_ENTRIES_MAX) {
            let first = end.saturating_sub(BLOCK_ENTRIES);
            let count = usize::try_from(end - first).unwrap_or(usize::MAX);
            let leaves = self.store().leaves(system.head.key, first, count).await?;
            if leaves.len() != count {
                return Err(Refusal::Damaged(format!("some of the entries {first} to {end} of `system` are missing")));
            }
            for (position, leaf) in (first..end).rev().zip(leaves.iter().rev()) {
                let action = LeafRecord::decode(leaf).ok().and_then(|record| Action::of(&record));
                is_accepted |= action == Some(Action::AcceptRollback);
                if action == Some(Action::Heads) {
                    return Ok(Recall { newest: Some(position), is_accepted });
                }
            }
            end = first;
        }
        Ok(Recall { newest: None, is_accepted })
    }

    /// Returns the commitments of an entry of `system`, and its bytes, after verifying that it is in the tree.
    pub(crate) async fn heads_at(
        &self,
        system: &TimelineState,
        position: u64,
    ) -> Result<(CommittedHeads, Vec<u8>), Refusal> {
        let damaged = |what: &str| Refusal::Damaged(format!("the `heads` entry at {position} of `system` {what}"));
        let entry = SignedTree::of(system).entry(self.store(), position).await?;
        let record = LeafRecord::decode(&entry.leaf).map_err(|_| damaged("cannot be read"))?;
        let is_it = Action::of(&record) == Some(Action::Heads);
        let heads = CommittedHeads::decode(&entry.payload).ok().filter(|_| is_it);
        let heads = heads.filter(|heads| heads.subject(&self.options().service_name) == record.subject);
        Ok((heads.ok_or_else(|| damaged("has a payload other than the signed one"))?, entry.leaf))
    }

    pub(crate) fn system_state(&self) -> Result<Arc<TimelineState>, Refusal> {
        self.state(&TimelineId::system()).ok_or_else(|| Refusal::Damaged("the timeline `system` is missing".to_owned()))
    }

    pub(crate) fn state_even_expired(&self, timeline: &TimelineId) -> Option<Arc<TimelineState>> {
        self.shared().timelines.read().get(timeline).cloned()
    }

    /// Returns the newest checkpoint of a timeline, to show to witnesses; `None` if the timeline does not exist.
    ///
    /// # Errors
    /// It cannot be signed.
    pub fn witness_checkpoint(&self, timeline: &TimelineId) -> Result<Option<SignedCheckpoint>, Refusal> {
        self.state(timeline).map(|state| self.newest_checkpoint(&state)).transpose()
    }

    /// Proves that a checkpoint of a timeline extends the tree of an earlier size.
    ///
    /// # Errors
    /// The stored tree does not prove it.
    #[boxed]
    pub async fn witness_consistency(
        &self,
        timeline: &TimelineId,
        from: u64,
        to: &SignedCheckpoint,
    ) -> Result<Vec<Hash>, Refusal> {
        let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(format!("`{timeline}` from {from} on: {error}"));
        let state = self.state(timeline).ok_or_else(|| damaged(&"the timeline no longer exists"))?;
        let nodes = consistency_nodes(from, to.size).map_err(|error| damaged(&error))?;
        let hashes = node_hashes(self.store(), state.head.key, &nodes).await?;
        let root = root_at(self.store(), state.head.key, from).await?;
        // Otherwise a damaged tile would look like a different history.
        verify_consistency(from, &root, to.size, &to.root, &hashes).map_err(|error| damaged(&error))?;
        Ok(hashes)
    }

    /// Restores the cosigned checkpoint of a timeline from the previous run. If it contradicts the database, all
    /// writing stops, and the contradiction is returned as the text of the refusal. Returns the checkpoint with the
    /// cosignatures of the given witnesses; `None` if there are none, or another key signed it.
    ///
    /// # Errors
    /// The checkpoint contradicts the database, or the store does not respond.
    #[boxed]
    pub async fn recall_cosigned(
        &self,
        timeline: &TimelineId,
        note: &str,
        witnesses: &[WitnessKey],
    ) -> Result<Option<Arc<Cosigned>>, Refusal> {
        let Some(ComparedCheckpoint { checkpoint, contradiction, is_accepted }) =
            self.compare_signed(timeline, note).await?
        else {
            return Ok(None);
        };
        if let Some(contradiction) = contradiction {
            if is_accepted {
                tracing::warn!(
                    "an operator has accepted this loss, so the cosigned checkpoint is ignored: {contradiction}"
                );
                return Ok(None);
            }
            // Stop all writing first. Otherwise the first reported reason would be a different one.
            self.stop_as_taken_back(timeline, &checkpoint, note);
            self.witnessed().contradiction.lock().get_or_insert_with(|| contradiction.clone());
            return Err(Refusal::Damaged(contradiction));
        }
        let signer = &self.ports().signer;
        let verify = |key: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(key, message, signature);
        let parsed = Note::parse(note.as_bytes()).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let by = witnesses.iter().filter_map(|witness| {
            let (time, _) = witness.cosigned_at(&parsed, verify).ok()?;
            Some((witness.name().to_owned(), time))
        });
        let by: BTreeMap<String, u64> = by.collect();
        if by.is_empty() {
            return Ok(None);
        }
        let (size, root) = (checkpoint.size, checkpoint.root);
        let cosigned = Arc::new(Cosigned { size, root, note: note.into(), by });
        // If services share the database, a request may have found a newer one.
        self.witnessed_log(timeline)?.cosigned.rcu(|known| match known {
            Some(known) if known.size >= size => Some(Arc::clone(known)),
            Some(_) | None => Some(Arc::clone(&cosigned)),
        });
        Ok(Some(cosigned))
    }

    /// Parses a checkpoint of a timeline, supposedly signed by this service, and compares it with the database. `None`
    /// if this service has not signed it, or if the timeline has ended: `system` records its last tree.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn compare_signed(
        &self,
        timeline: &TimelineId,
        note: &str,
    ) -> Result<Option<ComparedCheckpoint>, Refusal> {
        let signer = &self.ports().signer;
        let verify = |key: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(key, message, signature);
        let key = signer.ledger_key(&self.options().service_name, timeline);
        let key = key.map_err(|error| Refusal::Damaged(error.to_string()))?;
        let Ok(checkpoint) = Checkpoint::open(note.as_bytes(), &key, verify) else { return Ok(None) };
        let contradiction = match self.state_even_expired(timeline) {
            Some(state) => self.contradiction_of(&state, &checkpoint).await?,
            None if self.has_ended(timeline) => return Ok(None),
            None => Some(format!(
                "rollback: a checkpoint of `{timeline}` with {} entries was cosigned, but the timeline no longer \
                 exists",
                checkpoint.size
            )),
        };
        let is_accepted = contradiction.is_some() && {
            let system = self.system_state()?;
            let losses = self.witnessed().accepted.get_or_try_init(|| accepted_losses(self.store(), &system)).await?;
            losses.contains(&(timeline.clone(), checkpoint.size, checkpoint.root))
        };
        Ok(Some(ComparedCheckpoint { checkpoint, contradiction, is_accepted }))
    }

    async fn contradiction_of(&self, state: &TimelineState, signed: &Checkpoint) -> Result<Option<String>, Refusal> {
        let (timeline, size, here) = (&state.head.id, signed.size, state.head.frontier.size());
        if size > here {
            let detail =
                format!("a checkpoint of `{timeline}` with {size} entries was cosigned, but it now has {here}");
            return Ok(Some(format!("rollback: {detail}")));
        }
        let continues = SignedTree::of(state).begins_with(self.store(), (size, signed.root)).await?;
        Ok((!continues).then(|| format!("fork: the first {size} entries of `{timeline}` are not the cosigned ones")))
    }

    fn witnessed_log(&self, timeline: &TimelineId) -> Result<&WitnessedLog, Refusal> {
        let unknown = || Refusal::Damaged(format!("`{timeline}` is not sent to witnesses separately"));
        self.witnessed().log(timeline).ok_or_else(unknown)
    }

    /// Adds a verified cosignature. Returns the newest cosigned checkpoint if it has changed and must be stored.
    ///
    /// # Errors
    /// The checkpoint cannot take it.
    pub fn add_cosignature(
        &self,
        timeline: &TimelineId,
        checkpoint: &SignedCheckpoint,
        (witness, line, time): (&WitnessKey, NoteSignature, u64),
    ) -> Result<Option<Arc<Cosigned>>, Refusal> {
        let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(error.to_string());
        let mut newer = None;
        let mut failure = None;
        self.witnessed_log(timeline)?.cosigned.rcu(|before| {
            failure = None;
            let before = before.as_ref();
            if before.is_some_and(|before| before.size > checkpoint.size) {
                newer = None;
                return before.cloned();
            }
            let same = before.filter(|before| before.size == checkpoint.size);
            let (note, mut by) =
                same.map_or((checkpoint.note.as_str(), BTreeMap::new()), |same| (&same.note, same.by.clone()));
            let note = Note::parse(note.as_bytes()).and_then(|note| note.with_signature(line.clone()));
            match note {
                Ok(note) => {
                    by.insert(witness.name().to_owned(), time);
                    let (size, root) = (checkpoint.size, checkpoint.root);
                    newer = Some(Arc::new(Cosigned { size, root, note: note.to_string().into(), by }));
                    newer.clone()
                }
                Err(error) => {
                    failure = Some(damaged(&error));
                    before.cloned()
                }
            }
        });
        failure.map_or(Ok(newer), Err)
    }

    /// Returns whether the database contradicts a commitment of `system` or a cosigned checkpoint.
    #[must_use]
    pub fn contradicts_itself(&self) -> bool {
        self.witnessed().contradiction.lock().is_some()
    }

    pub fn note_witness(&self, timeline: &TimelineId, name: &str, status: WitnessStatus) {
        if let Some(log) = self.witnessed().log(timeline) {
            log.board.lock().insert(name.to_owned(), status);
        }
        self.witnesses_moved();
    }

    #[must_use]
    pub fn witnesses(&self, timeline: &TimelineId) -> BTreeMap<String, WitnessStatus> {
        self.witnessed().log(timeline).map(|log| log.board.lock().clone()).unwrap_or_default()
    }

    pub fn named_to_witnesses(&self) -> impl Iterator<Item = &TimelineId> {
        self.witnessed().named.get().into_iter().flat_map(BTreeMap::keys)
    }

    #[must_use]
    pub fn cosigned(&self, timeline: &TimelineId) -> Option<Arc<Cosigned>> {
        self.witnessed().log(timeline)?.cosigned.load_full()
    }

    /// Proves that an entry is in a tree that witnesses vouch for.
    ///
    /// # Errors
    /// No cosigned checkpoint covers it yet, the caller may not read the timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn witnessed_proof(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        position: u64,
    ) -> Result<WitnessedProof, Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Look, Reading::InclusionProof { position }).await?;
        self.learn_cosigned().await?;
        let cosigned = self.cosigned(&TimelineId::system()).ok_or(Refusal::FeatureDisabled { what: NO_COSIGNATURE })?;
        let (head, system) = (&look.state.head, self.system_state()?);
        let key = self.ports().signer.ledger_key(&self.options().service_name, &system.head.id);
        let verifier_key = key.map_err(|error| Refusal::Damaged(error.to_string()))?.to_string();
        let not_yet = |covered: u64| {
            let detail = format!("witnesses vouch for {covered} entries of this timeline so far; ask again later");
            Refusal::invalid("position", detail)
        };
        let checkpoint_of = |size, root| {
            let origin = origin(&self.options().service_name, head.id.as_str());
            Checkpoint { origin, size, root, extensions: Vec::new() }
        };
        let (tree, proof) = if head.id.is_system() {
            (checkpoint_of(cosigned.size, cosigned.root), None)
        } else {
            let at = self.witnessed().commitments.lock().within(head.key, cosigned.size).ok_or_else(|| not_yet(0))?;
            let (heads, leaf) = self.heads_at(&system, at.position).await?;
            let own = heads.as_slice().get(at.index).filter(|own| own.timeline_id == head.id);
            let own = own.ok_or_else(|| Refusal::Damaged("a `heads` entry has changed".to_owned()))?;
            let leaves = heads.leaves(&self.options().service_name);
            let index = at.index as u64;
            let damaged = |error: timenav_core::ledger::ProofError| Refusal::Damaged(error.to_string());
            let nodes = inclusion_nodes(at.position, cosigned.size).map_err(damaged)?;
            let proof = HeadProof {
                index,
                count: leaves.len() as u64,
                hashes: inclusion_hashes(&leaves, index).map_err(damaged)?,
                position: at.position,
                leaf,
                system_hashes: node_hashes(self.store(), system.head.key, &nodes).await?,
            };
            (checkpoint_of(own.size, own.root), Some(proof))
        };
        if position >= tree.size {
            return Err(not_yet(tree.size));
        }
        let entry = self.store().entry(head.key, position).await?;
        let missing = || Refusal::Damaged(format!("entry {position} of `{timeline}` is missing"));
        let leaf = entry.ok_or_else(missing)?.leaf;
        let nodes = inclusion_nodes(position, tree.size).map_err(|_| not_yet(tree.size))?;
        let hashes = node_hashes(self.store(), head.key, &nodes).await?;
        let proof = WitnessedProof { position, leaf, hashes, tree, head: proof, cosigned, verifier_key };
        proof.check().map(|()| proof)
    }
}

impl WitnessedProof {
    /// Verifies the proof except for signatures, because stored data may be damaged.
    fn check(&self) -> Result<(), Refusal> {
        let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(error.to_string());
        let Self { position, leaf, hashes, tree, head, cosigned, .. } = self;
        verify_inclusion(*position, tree.size, &leaf_hash(leaf), hashes, &tree.root)
            .map_err(|error| damaged(&error))?;
        let system =
            Checkpoint { origin: String::new(), size: cosigned.size, root: cosigned.root, extensions: Vec::new() };
        head.as_ref().map_or(Ok(()), |head| head.verify(tree, &system).map_err(|error| damaged(&error)))
    }
}

const NO_COSIGNATURE: &str = "proving an entry with witnesses, which have not cosigned anything yet,";

pub(crate) struct Recall {
    pub(crate) newest: Option<u64>,
    pub(crate) is_accepted: bool,
}
