use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use timenav_core::ids::TimelineId;

use super::{Committer, Grouped, NotCommitted};
use crate::integrity::opening::moved::{Moved, SomeMoved, heads_moved, some_moved};
use crate::ledger::head::TimelineKey;
use crate::ports::store::{Commit, Locked};
use crate::ports::store_error::StoreError;
use crate::requests::refusal::Refusal;
use crate::writer::commit_times::{CommitPart, OnWritten};
use crate::writer::draft::SaltPool;
use crate::writer::group::Finished;
use crate::writer::submission::Submission;

impl Committer {
    pub(super) fn commit_timed(&mut self, submissions: Vec<Submission>) -> Option<Grouped> {
        let (shared, requests) = (Arc::clone(&self.shared), submissions.len());
        let began = shared.ports.clock.measured();
        let waiting = shared.commit_times.begin_commit(began);
        let grouped = self.commit(submissions);
        drop(waiting);
        if grouped.as_ref().is_some_and(|grouped| grouped.sealed.committed.entries_count > 0) {
            let ended = shared.ports.clock.measured();
            shared.commit_times.note_commit(requests, began, ended);
            shared.queue.note_commit(requests, ended.since(began));
        } else if grouped.is_none() {
            shared.queue.note_failure();
        }
        grouped
    }

    fn timed<T>(&mut self, part: CommitPart, run: impl FnOnce(&mut Self) -> T) -> T {
        let shared = Arc::clone(&self.shared);
        let began = shared.ports.clock.measured();
        let done = run(self);
        shared.commit_times.note_part(part, began, shared.ports.clock.measured());
        done
    }

    pub(super) fn store_commit(&self, mut commit: Commit) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let (began, written) = (shared.ports.clock.measured(), Arc::new(OnceLock::new()));
        let note = (Arc::clone(&shared), Arc::clone(&written));
        commit.on_written = OnWritten::new(move || _ = note.1.set(note.0.ports.clock.measured()));
        let committed = self.wait_for(self.store.commit(commit));
        if let (Ok(()), Some(written)) = (&committed, written.get()) {
            shared.commit_times.note_part(CommitPart::Write, began, *written);
            shared.commit_times.note_part(CommitPart::Commit, *written, shared.ports.clock.measured());
        }
        committed
    }

    pub(super) fn some_moved(&mut self, moved: &[TimelineKey]) -> Result<SomeMoved, Refusal> {
        self.timed(CommitPart::CatchUp, |committer| {
            let Self { store, heads, shared, .. } = &*committer;
            committer.wait_for(some_moved(&**store, heads, moved, &shared.ports, &shared.options))
        })
    }

    pub(super) fn heads_moved(&mut self) -> Result<Moved, Refusal> {
        self.timed(CommitPart::CatchUp, |committer| {
            let Self { store, heads, shared, .. } = &*committer;
            committer.wait_for(heads_moved(&**store, heads, &shared.ports, &shared.options))
        })
    }

    pub(super) fn decide_timed(
        &mut self,
        submissions: &mut [Submission],
        salts: SaltPool,
        locked: Option<&BTreeSet<TimelineKey>>,
        also: &mut BTreeSet<TimelineId>,
    ) -> Result<Finished, NotCommitted> {
        self.timed(CommitPart::Decide, |committer| committer.decide(submissions, salts, locked, also))
    }

    pub(super) fn lock_heads(&mut self, heads: &[TimelineKey]) -> Result<Option<Locked>, StoreError> {
        self.timed(CommitPart::Lock, |committer| committer.wait_for(committer.store.lock(heads)))
    }
}
