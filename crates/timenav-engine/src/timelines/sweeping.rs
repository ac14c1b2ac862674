//! Sweeps prune data whose retention has passed. An entry names the positions first, then their contents are deleted.
//!
//! A sweep has bounded size, and there is one at a time. It can be interrupted safely: contents that were named and not
//! yet deleted are deleted by the next sweep, or after the next start.

use std::collections::VecDeque;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    LeafRecord, PruneClass, Retention, SWEEP_ACTION, Sweep, SweepDraft, SweepOffer, SweptEntry, leaf_hash, payload_hash,
};
use timenav_core::time::{Instant, Span, Wall, parse_timestamp};

use crate::clock::host_clock::HostClockDoubt;
use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{LedgerPosition, PrunedContents, RetentionSet, Swept};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::Reading;
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::SweepMark;
use crate::read::long_work::yield_after;
use crate::requests::background::Background;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::deciding::timelines::retention::{PrunePayloads, RetentionPeriod, SetRetention};
use crate::writer::deciding::{Aim, alone};
use crate::writer::submission::Answer;

pub const SWEEP_POSITIONS_MAX: u64 = 10_000;
pub const SWEEP_ENTRIES_READ_MAX: u64 = 20_000;
const BLOCK_ENTRIES: u64 = 1_000;
/// Contents deleted at a time. Commits wait for about a millisecond in the meantime.
const LET_GO_ENTRIES: usize = 256;
/// How often a sweep is chosen again if policies change in the meantime.
const CHOSEN_AGAIN_MAX: usize = 3;
const OPERATION: &str = "prune";

#[derive(Clone, Debug)]
pub struct RetentionRequest {
    pub reads: RetentionPeriod,
    pub refusals: RetentionPeriod,
}

#[derive(Clone, Debug)]
pub struct Pruned {
    pub retention: Retention,
    pub pruned: Option<PrunedContents>,
    /// For a dry run, what the next sweep would prune.
    pub foreseen: Option<SweepPreview>,
    /// Contents deleted only now that an earlier sweep had named.
    pub finished: u64,
    /// Why nothing is pruned, if the host's clock is not trusted.
    pub waits: Option<HostClockDoubt>,
    pub has_more: bool,
    pub ledger: Option<LedgerPosition>,
    pub replayed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPreview {
    pub class: PruneClass,
    pub count: u64,
    /// All of it was recorded before this host time.
    pub cutoff: Instant<Wall>,
}

impl Pruned {
    const fn nothing(retention: Retention) -> Self {
        let (has_more, replayed) = (false, false);
        Self { retention, pruned: None, foreseen: None, finished: 0, waits: None, has_more, ledger: None, replayed }
    }

    /// There may always be more after a sweep.
    fn swept(answer: &Answer<Swept>) -> Self {
        let Swept { pruned, finished, retention } = answer.change;
        let (pruned, ledger) = (Some(pruned), Some(answer.ledger));
        Self { pruned, finished, has_more: true, ledger, replayed: answer.replayed, ..Self::nothing(retention) }
    }
}

struct Chosen {
    sweep: Option<(Sweep<'static>, SweepMark)>,
    has_more: bool,
}

impl Engine {
    /// Sets how long contents of reads and refusals are kept on a timeline. A shorter time applies to entries recorded
    /// afterwards.
    ///
    /// # Errors
    /// It is below the service's configured minimum, the caller does not administer the timeline, or the ledger cannot
    /// be written.
    #[boxed]
    pub async fn set_retention(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        request: RetentionRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<RetentionSet>, Refusal> {
        let RetentionRequest { reads, refusals } = request;
        self.submit(caller, timeline, SetRetention { reads, refusals }, idempotency).await
    }

    /// Dry run: returns what the next sweep of a timeline would prune.
    ///
    /// # Errors
    /// The caller does not administer the timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn preview_pruning(&self, caller: &Caller, timeline: TimelineId) -> Result<Pruned, Refusal> {
        let state = self.admit(caller, &timeline, Demand::Administer, OPERATION).await?;
        self.log_read(caller, &timeline, &[Demand::Administer], &Reading::Prune {}).await?;
        // Readers see an entry before its response is sent, so this state includes it.
        let state = self.state(&timeline).unwrap_or(state);
        let (engine, retention) = (self.clone(), state.head.retention.in_force());
        let looking = self.long_work().without_turn(async move {
            let _turn = engine.shared().sweeping.lock().await;
            let waits = engine.doubt_host_clock().await?;
            let Chosen { sweep, has_more } = engine.choose(&state, true).await?;
            let foreseen = sweep.map(|(sweep, _)| SweepPreview {
                class: sweep.class,
                count: sweep.positions.count(),
                cutoff: sweep.cutoff,
            });
            Ok(Pruned { foreseen, waits, has_more, ..Pruned::nothing(retention) })
        });
        looking.await
    }

    /// Prunes a timeline by its retention policy: one sweep, and the remainder of earlier ones. With
    /// `accept_host_clock`, an operator confirms that the host's clock is right. The response is stored only if there
    /// is a sweep. Otherwise nothing has changed, and a repeated request searches again.
    ///
    /// # Errors
    /// The caller does not administer the timeline, or sets `accept_host_clock` without being an operator; or the
    /// ledger cannot be written.
    #[boxed]
    pub async fn prune(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        accept_host_clock: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<Pruned, Refusal> {
        self.admit(caller, &timeline, Demand::Administer, OPERATION).await?;
        if accept_host_clock {
            self.admit(caller, &TimelineId::system(), Demand::Operate, OPERATION).await?;
        }
        let pruned = self.prune_once(caller, &timeline, accept_host_clock, idempotency).await?;
        if pruned.pruned.is_some() {
            return Ok(pruned);
        }
        // A prune request without matches writes no other entry, so it is logged as a read.
        self.log_read(caller, &timeline, &[Demand::Administer], &Reading::Prune {}).await?;
        if pruned.has_more || pruned.waits.is_some() {
            return Ok(pruned);
        }
        // The empty result must be valid as of the entry of the read.
        let again = self.prune_once(caller, &timeline, accept_host_clock, idempotency).await?;
        Ok(Pruned { finished: pruned.finished + again.finished, ..again })
    }

    /// Like [`Engine::prune`], for an authorized caller. Does not log a request that prunes nothing.
    async fn prune_once(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        accept_host_clock: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<Pruned, Refusal> {
        let state = self.existing_state(timeline)?;
        let (key, retention) = (state.head.key, state.head.retention.in_force());
        let nothing = Pruned::nothing(retention);
        let (engine, asking, on) = (self.clone(), caller.clone(), timeline.clone());
        let pruning = self.long_work().without_turn(async move {
            let _turn = engine.shared().sweeping.lock().await;
            let again = RepeatedRequest::<Swept>::of(Action::Sweep, alone(Demand::Administer)).aimed(Aim::Ledger);
            if let Some(answer) = engine.answered_before(&asking, &on, again, idempotency).await? {
                return Ok(Pruned::swept(&answer));
            }
            let finished = engine.finish_left(Some(key)).await?;
            let waits = engine.doubt_host_clock().await?;
            // An operator's confirmation cannot override a difference between two clocks.
            let is_beyond_words = engine.host_clock().apart_from_database().is_some();
            if let Some(doubt) = waits.filter(|_| !accept_host_clock || is_beyond_words) {
                return Ok(Pruned { finished, waits: Some(doubt), ..nothing });
            }
            if let Some(doubt) = waits {
                engine.accept_host_clock(&asking, doubt).await?;
            }
            let (answer, has_more) = engine.sweep(Some((&asking, idempotency)), &on, finished).await?;
            Ok(answer.map_or(Pruned { finished, has_more, ..nothing }, |answer| Pruned::swept(&answer)))
        });
        pruning.await
    }

    /// Does one unit of pruning on any timeline: the remainder of earlier sweeps, or one sweep. Returns whether there
    /// may be more.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn sweep_in_turn(&self) -> Result<bool, Refusal> {
        let engine = self.clone();
        self.long_work().without_turn(async move { engine.sweep_next().await }).await
    }

    async fn sweep_next(&self) -> Result<bool, Refusal> {
        let mut round = self.shared().sweeping.lock().await;
        let Some(timeline) = round.pop_front() else {
            self.finish_left(None).await?;
            if self.doubt_host_clock().await?.is_some() {
                return Ok(false);
            }
            let states = self.states().into_iter().filter(|state| !state.head.retention.as_slice().is_empty());
            *round = states.map(|state| state.head.id.clone()).collect::<VecDeque<_>>();
            return Ok(!round.is_empty());
        };
        if self.doubt_host_clock().await?.is_some() {
            round.clear();
            return Ok(false);
        }
        let began = self.now();
        let swept = self.sweep(None, &timeline, 0).await;
        self.shared().note_background((Background::Sweep, Some(&timeline)), began, swept.is_err());
        match swept {
            Ok((_, true)) => round.push_front(timeline),
            Ok((_, false)) => {}
            // It will be retried. If the store is at fault, the writer has logged the error.
            Err(refusal) => tracing::warn!(timeline_id = %timeline, %refusal, "a timeline could not be swept"),
        }
        Ok(!round.is_empty())
    }

    /// Prunes as much as one sweep names. Returns whether there may be more. Calls must be serialized.
    async fn sweep(
        &self,
        asking: Option<(&Caller, Option<Idempotency>)>,
        timeline: &TimelineId,
        finished: u64,
    ) -> Result<(Option<Answer<Swept>>, bool), Refusal> {
        for _ in 0..CHOSEN_AGAIN_MAX {
            let Some(state) = self.state(timeline) else { return Ok((None, false)) };
            let Chosen { sweep, has_more } = self.choose(&state, false).await?;
            let Some((sweep, mark)) = sweep else { return Ok((None, has_more)) };
            let size = self.has_others().then(|| state.head.frontier.size());
            let deciding = PrunePayloads { sweep, policies: state.head.retention.clone(), mark, size, finished };
            let answer = match asking {
                Some((caller, idempotency)) => self.submit(caller, timeline.clone(), deciding, idempotency).await,
                None => self.submit_service(timeline.clone(), deciding).await,
            };
            match answer {
                Err(Refusal::ChangedMeanwhile) => {}
                answer => {
                    let answer = answer?;
                    self.finish(state.head.key, answer.change.pruned.position).await?;
                    return Ok((Some(answer), true));
                }
            }
        }
        Ok((None, true))
    }

    /// Chooses entries of one class, recorded under one policy. A dry run does not store how far it searched.
    async fn choose(&self, state: &TimelineState, is_dry: bool) -> Result<Chosen, Refusal> {
        let (policies, key, size) = (&state.head.retention, state.head.key, state.head.frontier.size());
        let marks = self.store().sweep_marks(key).await?;
        let (now, floor) = (self.now(), Span::from_secs(self.options().retention_floor_seconds.into()));
        let floor = floor.unwrap_or(Span::ZERO);
        let starts = policies.as_slice().iter().map(|(position, _)| *position);
        let ends = starts.clone().skip(1).chain([size]);
        for (policy, end) in starts.zip(ends) {
            for class in PruneClass::ALL {
                let Some((_, period)) = policies.deciding(class, policy + 1, size) else { continue };
                let mark = marks.iter().find(|mark| (mark.policy, mark.class) == (policy, class));
                let first = mark.map_or(policy + 1, |mark| mark.until);
                let Some(cutoff) = now.checked_sub(period.max(floor)).filter(|_| first < end) else { continue };
                // Host time increases within a ledger.
                let due = self.store().first_recorded_at(key, cutoff, end).await?;
                let mut draft = SweepDraft::new(class, policies, size, now, floor);
                let until = self.offer(key, first, due, &mut draft).await?;
                let mark = SweepMark { policy, class, until };
                if let Some(sweep) = draft.finish("") {
                    return Ok(Chosen { sweep: Some((sweep.into_owned(), mark)), has_more: true });
                }
                if until > first && !is_dry {
                    self.store().mark_swept(key, mark).await?;
                }
                if until < due {
                    return Ok(Chosen { sweep: None, has_more: true });
                }
            }
        }
        Ok(Chosen { sweep: None, has_more: false })
    }

    /// Offers entries to a sweep until it is full or the search limit is reached. Returns how far that went.
    async fn offer(&self, key: TimelineKey, first: u64, end: u64, draft: &mut SweepDraft<'_>) -> Result<u64, Refusal> {
        let end = end.min(first.saturating_add(SWEEP_ENTRIES_READ_MAX));
        let (mut at, mut named) = (first, 0);
        while at < end {
            for leaf in self.leaves_between(key, at, end.min(at + BLOCK_ENTRIES)).await? {
                yield_after(usize::try_from(at).unwrap_or_default());
                let (record, recorded_at) = entry_at(&leaf, at)?;
                let entry =
                    SweptEntry { position: at, action: &record.action, recorded_at, leaf_hash: leaf_hash(&leaf) };
                named += match draft.offer(&entry) {
                    SweepOffer::Named => 1,
                    SweepOffer::Retained => 0,
                    SweepOffer::Full => return Ok(at),
                };
                at += 1;
                if named == SWEEP_POSITIONS_MAX {
                    return Ok(at);
                }
            }
        }
        Ok(at)
    }

    /// Deletes contents named by interrupted sweeps. Returns how many.
    async fn finish_left(&self, only: Option<TimelineKey>) -> Result<u64, Refusal> {
        let mut finished = 0;
        for (key, position) in self.store().sweeps_left().await? {
            if only.is_some_and(|only| only != key) {
                continue;
            }
            match self.finish(key, position).await {
                Ok(count) => finished += count,
                Err(refusal) => {
                    tracing::error!(timeline = key.0, position, %refusal, "an interrupted sweep could not be finished");
                }
            }
        }
        Ok(finished)
    }

    /// Deletes the contents named by a committed sweep, after checking that each may be pruned.
    async fn finish(&self, key: TimelineKey, position: u64) -> Result<u64, Refusal> {
        let damaged = |what: &str| Refusal::Damaged(format!("the sweep at position {position}: {what}"));
        let entry = self.store().entry(key, position).await?.ok_or_else(|| damaged("its entry is missing"))?;
        let (record, _) = entry_at(&entry.leaf, position)?;
        let is_it = record.action == SWEEP_ACTION && payload_hash(&entry.salt, &entry.payload) == record.payload_hash;
        let sweep = Sweep::decode(&entry.payload).ok().filter(|_| is_it).ok_or_else(|| damaged("it is not a sweep"))?;
        let (mut positions, mut count) = (Vec::with_capacity(LET_GO_ENTRIES), 0);
        for (first, last) in sweep.positions.as_slice() {
            let mut at = *first;
            while at <= *last {
                for leaf in self.leaves_between(key, at, (last + 1).min(at + BLOCK_ENTRIES)).await? {
                    let (record, recorded_at) = entry_at(&leaf, at)?;
                    let is_due = PruneClass::of(&record.action) == Some(sweep.class) && recorded_at < sweep.cutoff;
                    if !is_due {
                        return Err(damaged("it lists an entry that must not be pruned"));
                    }
                    positions.push(at);
                    at += 1;
                    if positions.len() == LET_GO_ENTRIES {
                        count += positions.len() as u64;
                        self.store().sweep(key, std::mem::take(&mut positions), None).await?;
                    }
                }
            }
        }
        count += positions.len() as u64;
        self.store().sweep(key, positions, Some(position)).await?;
        Ok(count)
    }

    async fn leaves_between(&self, key: TimelineKey, first: u64, end: u64) -> Result<Vec<Vec<u8>>, Refusal> {
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        let leaves = self.store().leaves(key, first, count).await?;
        if leaves.len() == count {
            return Ok(leaves);
        }
        Err(Refusal::Damaged(format!("some of the entries {first} to {} are missing", end - 1)))
    }
}

fn entry_at(leaf: &[u8], position: u64) -> Result<(LeafRecord<'_>, Instant<Wall>), Refusal> {
    let damaged = |what: &str| Refusal::Damaged(format!("entry {position}: {what}"));
    let record = LeafRecord::decode(leaf).map_err(|error| damaged(&error.to_string()))?;
    if record.seq != position {
        return Err(damaged("it names another position"));
    }
    let recorded_at = parse_timestamp(&record.recorded_at).map_err(|error| damaged(&error.to_string()))?;
    Ok((record, recorded_at))
}
