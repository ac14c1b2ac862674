//! Applies what other writers have committed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timenav_core::ids::TimelineId;

use super::{Committer, NotCommitted};
use crate::integrity::opening::catch_up::ReloadReason;
use crate::integrity::opening::moved::{Moved, SomeMoved};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::notes::keep_both;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::catching_up::CatchUp;
use crate::writer::sealing::keep_or_defer;
use crate::writer::shared::Committed;
use crate::writer::submission::Submission;

impl Committer {
    /// Returns whether catching up is all the group is for.
    pub(super) fn catch_up(&mut self, submissions: &[Submission]) -> Result<bool, NotCommitted> {
        let is_all = submissions.iter().all(|submission| catches_up(submission).is_some());
        if submissions.iter().any(|submission| catches_up(submission) == Some(&CatchUp::All)) {
            self.catch_up_with_all()?;
        }
        let mut keys = BTreeSet::new();
        for catches_up in submissions.iter().filter_map(catches_up) {
            match catches_up {
                CatchUp::Some(named) => keys.extend(named.iter().copied()),
                CatchUp::Aimed | CatchUp::All => {}
            }
        }
        if is_all {
            let aimed = submissions.iter().filter(|submission| catches_up(submission) == Some(&CatchUp::Aimed));
            let system = TimelineId::system();
            let aimed = aimed.flat_map(|submission| [&submission.timeline, &system]);
            keys.extend(aimed.filter_map(|id| Some(self.heads.get(id)?.head.key)));
        }
        if !keys.is_empty() {
            self.take_over_or_load(&keys.into_iter().collect::<Vec<_>>())?;
        }
        Ok(is_all)
    }

    fn catch_up_with_all(&mut self) -> Result<(), NotCommitted> {
        let now = self.shared.ports.clock.now();
        let sizes = self.wait_for(self.store.sizes()).map_err(|error| self.not_read(error))?;
        self.shared.following.note_lag(&self.heads, &sizes);
        let sizes: HashMap<TimelineKey, u64> = sizes.into_iter().collect();
        let is_moved = |state: &&Arc<TimelineState>| sizes.get(&state.head.key) != Some(&state.head.frontier.size());
        let moved: Vec<TimelineKey> = self.heads.all().filter(is_moved).map(|state| state.head.key).collect();
        if !moved.is_empty() || sizes.keys().any(|key| !self.heads.knows(*key)) {
            self.take_over_or_load(&moved)?;
        }
        self.shared.following.caught_up(now);
        Ok(())
    }

    /// Loads the commits of others on some timelines, and new timelines. Returns why a full reload is needed, if so.
    pub(super) fn take_over(
        &mut self,
        moved: &[TimelineKey],
        to_grow: &BTreeSet<TimelineKey>,
    ) -> Result<Option<ReloadReason>, NotCommitted> {
        match self.some_moved(moved) {
            Ok(SomeMoved::Moved(moved)) => self.go_on(Ok(moved), to_grow).map(|()| None),
            Ok(SomeMoved::ReloadReason(reload_reason)) => Ok(Some(reload_reason)),
            Err(refusal) => self.go_on(Err(refusal), to_grow).map(|()| None),
        }
    }

    /// Like `take_over`, without locks and with a full reload if needed.
    fn take_over_or_load(&mut self, moved: &[TimelineKey]) -> Result<(), NotCommitted> {
        match self.take_over(moved, &BTreeSet::new())? {
            Some(reload_reason) => self.load(reload_reason),
            None => Ok(()),
        }
    }

    /// Slow if there are many timelines.
    pub(super) fn load(&mut self, reload_reason: ReloadReason) -> Result<(), NotCommitted> {
        self.shared.following.loads.fetch_add(1, Ordering::Relaxed);
        tracing::info!(reason = %reload_reason, "reloading all timelines to apply the commits of other writers");
        let moved = self.heads_moved();
        self.go_on(moved, &BTreeSet::new())
    }

    /// If the store is not shared, it was tampered with: all writing stops, so that nothing of it is signed.
    pub(super) fn go_on_from_others(&mut self, timeline: &TimelineId) -> NotCommitted {
        let moved = if self.store.is_shared() {
            self.heads_moved()
        } else {
            Err(Refusal::Damaged(format!(
                "timeline `{timeline}` was modified by another program while the service ran"
            )))
        };
        self.go_on(moved, &BTreeSet::new()).err().unwrap_or(NotCommitted::Moved)
    }

    /// Continues from the commits of others. Their checkpoints are kept outside before readers see the state, except
    /// those of known timelines that are about to grow.
    fn go_on(&mut self, moved: Result<Moved, Refusal>, to_grow: &BTreeSet<TimelineKey>) -> Result<(), NotCommitted> {
        let shared = Arc::clone(&self.shared);
        let Moved { heads, directory, states, ended } = match moved {
            Ok(moved) => moved,
            Err(refusal @ (Refusal::Unavailable(_) | Refusal::OutcomeUnknown(_))) => return Err(refusal.into()),
            Err(refusal) => {
                if let Some(refusal) = self.wait_for(shared.misread(&*self.store, &refusal)) {
                    return Err(refusal.into());
                }
                tracing::error!(%refusal, "nothing is written until a restart");
                let described = match refusal {
                    Refusal::Diverged(divergence) => {
                        let known = self.heads.get(&divergence.timeline).map(|known| &**known);
                        keep_both(&divergence, known, &shared.ports, &shared.options);
                        Refusal::Diverged(divergence)
                    }
                    refusal => Refusal::Unavailable(refusal.to_string()),
                };
                shared.stop(described.clone());
                return Err(described.into());
            }
        };
        if heads.is_none() && states.is_empty() {
            return Ok(());
        }
        // Readers must see changes in order: first those committed here that are not yet sealed.
        while shared.sealing.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        let grows =
            |state: &TimelineState| to_grow.contains(&state.head.key) && self.heads.get(&state.head.id).is_some();
        let to_keep = states.iter().filter(|state| !grows(state));
        keep_or_defer(to_keep, &shared)?;
        self.forget_views(&states);
        let is_reported = directory.is_some();
        if let Some(heads) = heads {
            self.heads = heads;
        } else {
            let known = || (Arc::clone(&self.heads.directory), Arc::clone(&self.heads.rows));
            let (directory, rows) = directory.unwrap_or_else(known);
            self.heads.take_over(states.iter().cloned(), directory, rows);
            self.heads.end(&ended);
        }
        let sizes = states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size()));
        let sizes: Vec<(TimelineId, u64)> = sizes.collect();
        let (directory, rows) = (Arc::clone(&self.heads.directory), Arc::clone(&self.heads.rows));
        shared.publish(Committed { states, directory, rows, ended, entries_count: 0 });
        shared.live.grow(&sizes);
        if is_reported {
            // The rows of `system` were not read.
            shared.following.rows_moved.notify_one();
        }
        Ok(())
    }

    /// Events may have been erased on timelines that have moved; their own views detect that themselves.
    fn forget_views(&self, moved: &[Arc<TimelineState>]) {
        let moved: BTreeSet<TimelineKey> = moved.iter().map(|state| state.head.key).collect();
        let is_fork = |state: &&Arc<TimelineState>| state.ancestors.iter().any(|layer| moved.contains(&layer.timeline));
        let forks: BTreeSet<TimelineKey> = self.heads.all().filter(is_fork).map(|state| state.head.key).collect();
        if !forks.is_empty() {
            self.shared.views.forget(|timeline| forks.contains(&timeline));
        }
    }
}

fn catches_up(submission: &Submission) -> Option<&CatchUp> {
    submission.command.spec().catches_up
}
