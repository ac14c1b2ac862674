//! Differences from the signed state that an operator accepts, and the entries that explain them to other services.
//!
//! A loss is accepted once: the `accept_rollback` entry on `system` contains every lost signed checkpoint in full. A
//! service that has seen exactly such a tree continues from the current database. A service that has seen any other
//! tree refuses to, even for a later part of the same lost history. Only what was accepted is explained, so that an old
//! entry never covers a second rollback.

use std::collections::{BTreeMap, HashSet};

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Frontier, Hash, LeafRecord, Note};

use super::OpenError;
use crate::integrity::divergence::{Divergence, DivergenceKind, SeenTree};
use crate::ledger::action::Action;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{LostTree, RollbackAccepted};
use crate::ledger::stored_statement::signed_text;
use crate::ledger::tree::SignedTree;
use crate::ports::all::Ports;
use crate::ports::outside::ExternalCheckpoint;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::requests::options::{Acceptance, Options};
use crate::requests::refusal::Refusal;
use crate::writer::heads::Heads;

/// Entries searched for `accept_rollback`, from the newest of `system` on, only if there is a difference.
const EXAMINED_ENTRIES_MAX: u64 = 1 << 22;
const BLOCK_ENTRIES: u64 = 1_024;
const LOST_PER_ENTRY_MAX: usize = 256;

/// Signed trees that timelines no longer have: timeline, size, root.
pub(crate) type LostTrees = HashSet<(TimelineId, u64, Hash)>;

#[derive(Debug)]
pub(crate) struct AcceptedFinding {
    /// The timeline, if it still exists and can record an entry of its own.
    pub(crate) timeline: Option<TimelineId>,
    pub(crate) text: String,
    pub(crate) lost: Option<LostTree>,
}

#[derive(Debug, Default)]
pub(crate) struct Accepted(pub(crate) Vec<AcceptedFinding>);

impl Accepted {
    /// Returns the payloads to record on each timeline. Those of `system` come first and contain everything.
    pub(crate) fn payloads(self, acceptance: &Acceptance) -> Vec<(TimelineId, RollbackAccepted)> {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let payload = |findings: &[&AcceptedFinding]| RollbackAccepted {
            accepted_by: text(&acceptance.by),
            findings: findings.iter().map(|finding| finding.text.clone()).collect(),
            lost: findings.iter().filter_map(|finding| finding.lost.clone()).collect(),
            reason: text(&acceptance.reason),
        };
        let all: Vec<&AcceptedFinding> = self.0.iter().collect();
        let mut payloads: Vec<_> =
            all.chunks(LOST_PER_ENTRY_MAX).map(|part| (TimelineId::system(), payload(part))).collect();
        let mut of_timelines: BTreeMap<&TimelineId, Vec<&AcceptedFinding>> = BTreeMap::new();
        for finding in all {
            if let Some(timeline) = finding.timeline.as_ref().filter(|timeline| !timeline.is_system()) {
                of_timelines.entry(timeline).or_default().push(finding);
            }
        }
        payloads.extend(of_timelines.into_iter().map(|(timeline, part)| (timeline.clone(), payload(&part))));
        payloads
    }
}

pub(super) struct Accepting<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) heads: &'a Heads,
    pub(super) ports: &'a Ports,
    pub(super) options: &'a Options,
    accepted: Accepted,
    /// Losses explained by entries. Loaded on the first difference.
    explained: Option<LostTrees>,
    has_explained: bool,
}

impl<'a> Accepting<'a> {
    pub(super) fn new(store: &'a dyn Store, heads: &'a Heads, ports: &'a Ports, options: &'a Options) -> Self {
        let accepted = Accepted::default();
        Self { store, heads, ports, options, accepted, explained: None, has_explained: false }
    }

    pub(super) fn take(&mut self, compared: Result<(), OpenError>) -> Result<(), OpenError> {
        match compared {
            Err(error) if self.options.accept_rollback.is_some() && error.is_about_history() => {
                self.accept(&error, None);
                Ok(())
            }
            other => other,
        }
    }

    /// Like [`Accepting::take`], for a kept checkpoint. `found` is the tree of a timeline that has ended.
    pub(super) async fn take_stored(
        &mut self,
        stored: &ExternalCheckpoint,
        signed: Option<&Checkpoint>,
        found: Option<SeenTree>,
        error: OpenError,
    ) -> Result<(), OpenError> {
        let kind = match &error {
            OpenError::Rollback { .. } => DivergenceKind::Rollback,
            OpenError::Fork { .. } => DivergenceKind::Fork,
            _ => return self.take(Err(error)),
        };
        let Some(signed) = signed else { return self.take(Err(error)) };
        let seen = SeenTree { size: signed.size, root: signed.root };
        let is_explained = self.explains(&stored.timeline, seen).await?;
        if !is_explained && self.options.accept_rollback.is_none() {
            return Err(error);
        }
        let state = self.heads.get(&stored.timeline);
        let current = state.map(|state| SeenTree { size: state.head.frontier.size(), root: state.root });
        let nothing = || SeenTree { size: 0, root: Frontier::default().root() };
        let found = current.or(found).unwrap_or_else(nothing);
        let found_statement = state.map(|state| signed_text(&state.head.statement)).unwrap_or_default();
        // Save the evidence first: if the kept checkpoint is replaced, this is its only trace in the folder.
        let timeline = stored.timeline.clone();
        let divergence = Divergence { timeline, kind, seen, found, found_statement };
        self.ports.outside.keep_divergence(&divergence, &stored.note)?;
        if is_explained {
            tracing::warn!(%error, "an operator has accepted this loss in an `accept_rollback` entry of `system`");
            self.has_explained = true;
            return Ok(());
        }
        let (timeline_id, root) = (stored.timeline.to_string(), found.root.to_hex());
        let lost = LostTree { checkpoint: stored.note.to_string(), root, size: found.size, timeline_id };
        // If several witnesses have cosigned the same tree, one note is enough.
        let text = error.to_string();
        if !self.accepted.0.iter().any(|finding| finding.text == text) {
            self.accept(&error, Some(lost));
        }
        Ok(())
    }

    fn accept(&mut self, error: &OpenError, lost: Option<LostTree>) {
        // A difference of one timeline is also recorded there, because its next checkpoint signs the current state.
        let timeline = error.timeline().filter(|timeline| self.heads.get(timeline).is_some()).cloned();
        self.accepted.0.push(AcceptedFinding { timeline, text: error.to_string(), lost });
    }

    /// Returns whether an entry of `system` says that the loss of a tree was accepted.
    pub(super) async fn explains(&mut self, timeline: &TimelineId, seen: SeenTree) -> Result<bool, OpenError> {
        if self.explained.is_none() {
            let system = self.heads.get(&TimelineId::system());
            let trees = match system {
                Some(system) => accepted_losses(self.store, system).await,
                None => Ok(LostTrees::new()),
            };
            self.explained = Some(match trees {
                Ok(trees) => trees,
                Err(Refusal::Damaged(reason)) => {
                    tracing::warn!(reason, "entries that may explain a rollback do not match what was signed");
                    LostTrees::new()
                }
                Err(refusal) => return Err(StoreError::Unavailable(refusal.to_string()).into()),
            });
        }
        let key = (timeline.clone(), seen.size, seen.root);
        Ok(self.explained.as_ref().is_some_and(|trees| trees.contains(&key)))
    }

    /// Returns whether the kept checkpoint of `system` is of a history whose loss was accepted, so that it no longer
    /// restricts the database.
    pub(super) async fn explains_system(&mut self, signed: &Checkpoint) -> Result<bool, OpenError> {
        let Some(system) = self.heads.get(&TimelineId::system()).cloned() else { return Ok(false) };
        let there = SignedTree::of(&system).begins_with(self.store, (signed.size, signed.root)).await;
        let is_there = there.unwrap_or(false);
        let seen = SeenTree { size: signed.size, root: signed.root };
        Ok(!is_there && self.explains(&TimelineId::system(), seen).await?)
    }

    /// Returns what was accepted, and whether to replace the checkpoints outside by those of the store.
    pub(super) fn finish(self) -> (Accepted, bool) {
        let replaces = self.has_explained || !self.accepted.0.is_empty();
        (self.accepted, replaces)
    }
}

/// Returns the trees whose loss an operator has accepted, from entries of `system` that are in its signed tree.
///
/// # Errors
/// The store cannot be read, or such an entry differs from the signed one.
pub(crate) async fn accepted_losses(store: &dyn Store, system: &TimelineState) -> Result<LostTrees, Refusal> {
    let size = system.head.frontier.size();
    let (mut end, mut trees) = (size, LostTrees::new());
    while end > size.saturating_sub(EXAMINED_ENTRIES_MAX) {
        let first = end.saturating_sub(BLOCK_ENTRIES);
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        let leaves = store.leaves(system.head.key, first, count).await?;
        for (position, leaf) in (first..end).zip(&leaves) {
            let is_one =
                LeafRecord::decode(leaf).is_ok_and(|record| Action::of(&record) == Some(Action::AcceptRollback));
            if is_one {
                let entry = SignedTree::of(system).entry(store, position).await?;
                trees.extend(lost_in(&entry.payload));
            }
        }
        end = first;
    }
    Ok(trees)
}

/// Entries of earlier versions name none.
fn lost_in(payload: &[u8]) -> Vec<(TimelineId, u64, Hash)> {
    let Ok(RollbackAccepted { lost, .. }) = serde_json::from_slice(payload) else { return Vec::new() };
    let tree = |lost: LostTree| {
        let note = Note::parse(lost.checkpoint.as_bytes()).ok()?;
        let Checkpoint { size, root, .. } = Checkpoint::parse(note.text()).ok()?;
        Some((TimelineId::new(&lost.timeline_id).ok()?, size, root))
    };
    lost.into_iter().filter_map(tree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(timeline: Option<&str>, number: usize) -> AcceptedFinding {
        let timeline = timeline.map(|name| TimelineId::new(name).unwrap());
        AcceptedFinding { timeline, text: number.to_string(), lost: None }
    }

    #[test]
    fn accepted_findings_are_split_for_system_and_each_timeline() {
        let mut findings: Vec<_> = (0..LOST_PER_ENTRY_MAX).map(|number| finding(Some("main"), number)).collect();
        findings.extend([finding(None, 1_000), finding(Some("system"), 1_001)]);
        let acceptance = Acceptance { by: "ada".to_owned(), ..Acceptance::default() };
        let payloads = Accepted(findings).payloads(&acceptance);
        let seen: Vec<_> = payloads.iter().map(|(timeline, text)| (timeline.as_str(), text.findings.len())).collect();
        assert_eq!(seen, [("system", LOST_PER_ENTRY_MAX), ("system", 2), ("main", LOST_PER_ENTRY_MAX)]);
        assert!(payloads.iter().all(|(_, text)| text.accepted_by.as_deref() == Some("ada") && text.reason.is_none()));
    }

    #[test]
    fn accepted_payload_without_valid_checkpoints_names_no_trees() {
        let root = Frontier::default().root();
        let note = format!("s/main\n7\n{}\n\n\u{2014} s/main AAAAAAAA\n", root.to_base64());
        let payload = serde_json::json!({ "findings": [], "lost": [
            { "checkpoint": note, "root": "", "size": 3, "timeline_id": "main" },
            { "checkpoint": "none", "root": "", "size": 3, "timeline_id": "main" },
        ] });
        assert_eq!(lost_in(payload.to_string().as_bytes()), [(TimelineId::main(), 7, root)]);
        for text in ["{\"findings\":[\"x\"]}", "{}", "no"] {
            assert!(lost_in(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
