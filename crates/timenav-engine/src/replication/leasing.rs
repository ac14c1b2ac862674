//! Leases of firings in a shared database. They are rows there, changed by the same rules as those in memory.

use std::collections::HashSet;
use std::sync::Arc;

use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId};
use timenav_core::time::{Instant, Span, Wall};
use timenav_core::timers::leases::{HeldByOther, Lease, Leases, Offer, Retry, Tried, Under};
use timenav_core::timers::retries::longest_wait_micros;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::shared_leases::{LEASE_LASTS_MICROS_MAX, LeaseChanges, LeaseQuery, LeaseRow, LeasesFound};
use crate::ports::signer::Signer;
use crate::ports::timer_rows::FiringRow;
use crate::requests::refusal::Refusal;
use crate::timers::pacing::Paces;

const CODE_LABEL: &str = "attempts at a firing";
/// How long a firing with the maximum number of attempts stays leased until its outcome is recorded, in microseconds.
const EXHAUSTED_HELD_MICROS: i64 = 30_000_000;

/// The result of a claim. Releases the firings if it has arrived and is not read.
struct Claimed<'a> {
    receiver: oneshot::Receiver<Result<Vec<(FiringRow, u32)>, Refusal>>,
    engine: &'a Engine,
    timeline: &'a TimelineId,
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if let Ok(Ok(unread)) = self.receiver.try_recv() {
            self.engine.give_back_later(self.timeline, unread.iter().map(attempt_of).collect());
        }
    }
}

/// The result of ended attempts: the retry of each firing, or those held by others.
type Ended = Result<Vec<(FiringId, Retry)>, Vec<HeldByOther>>;

struct Rows {
    key: TimelineKey,
    timeline: TimelineId,
    signer: Arc<dyn Signer>,
}

impl Rows {
    fn code(&self, firing_id: &FiringId, attempts: u32) -> [u8; 32] {
        let mut message = self.key.0.to_be_bytes().to_vec();
        message.extend(attempts.to_be_bytes());
        message.extend(firing_id.as_str().as_bytes());
        self.signer.authenticate(CODE_LABEL, &message)
    }

    /// Converts rows to leases. A writer that bypasses the services can only cause firings to be delivered again or
    /// later: instants that no service could have written count as expired, and an unauthenticated number of attempts
    /// is ignored, so that a firing never fails without having been tried.
    fn leases(&self, found: &[LeaseRow], now: Instant<Wall>) -> Leases {
        let mut leases = Leases::default();
        for row in found {
            let within =
                |at: Instant<Wall>, micros_max: i64| if at.since(now).micros() > micros_max { now } else { at };
            let is_ours = self.code(&row.firing_id, row.attempts) == row.code;
            let tried = Tried {
                attempts: if is_ours { row.attempts } else { 0 },
                not_before: within(row.not_before, longest_wait_micros(&row.queue)),
            };
            let lease = row.until.map(|until| Lease {
                lease_id: row.lease_id.clone(),
                timeline: self.timeline.clone(),
                queue: row.queue.clone(),
                order_key: None,
                holder: row.holder.clone(),
                until: within(until, LEASE_LASTS_MICROS_MAX),
            });
            leases.put(row.firing_id.clone(), lease, tried);
        }
        leases
    }

    fn row(
        &self,
        leases: &Leases,
        firing_id: &FiringId,
        (lease_id, queue, holder): (&LeaseId, &QueueId, &str),
    ) -> Option<LeaseRow> {
        let Tried { attempts, not_before } = leases.tried(firing_id)?;
        Some(LeaseRow {
            firing_id: firing_id.clone(),
            queue: queue.clone(),
            lease_id: lease_id.clone(),
            holder: holder.to_owned(),
            attempts,
            until: leases.lease(firing_id).map(|lease| lease.until),
            not_before,
            code: self.code(firing_id, attempts),
        })
    }

    /// Leases firings that are available. Returns them with the number of the attempt.
    fn claim(
        &self,
        LeasesFound { now, firings, leases: found }: LeasesFound,
        queue: &QueueId,
        (max, ttl): (usize, Span),
        (lease_id, holder): (&LeaseId, &str),
    ) -> (LeaseChanges, Vec<(FiringRow, u32)>) {
        let mut leases = self.leases(&found, now);
        let offer =
            |firing: &FiringRow| Offer { firing_id: firing.firing_id.clone(), order_key: firing.order_key.clone() };
        let offers: Vec<Offer> = firings.iter().map(offer).collect();
        let mark = leases.mark();
        let claimed = leases.claim((&self.timeline, queue), (&offers, mark), (max, ttl), (lease_id, holder, now));
        let claimed: Vec<(FiringRow, u32)> = claimed
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(number, attempt)| Some((firings.get(number)?.clone(), attempt)))
            .collect();
        let parts = (lease_id, queue, holder);
        let rows = claimed.iter().filter_map(|(firing, _)| self.row(&leases, &firing.firing_id, parts));
        (LeaseChanges { put: rows.collect(), removed: Vec::new() }, claimed)
    }

    /// Ends attempts without an outcome. Firings with the maximum number of attempts stay leased until their outcome is
    /// recorded. Changes nothing if others hold one of the firings.
    fn fail(
        &self,
        LeasesFound { now, leases: found, .. }: LeasesFound,
        (under, paces): (&Under, &Paces),
    ) -> (LeaseChanges, Ended) {
        let mut leases = self.leases(&found, now);
        let named: Vec<FiringId> = found.iter().map(|row| row.firing_id.clone()).collect();
        let of_others = leases.of_others(&self.timeline, &named, (under, now));
        if !of_others.is_empty() {
            return (LeaseChanges::default(), Err(of_others));
        }
        let (mut put, mut ended) = (Vec::new(), Vec::new());
        for row in found.iter().filter(|row| row.until.is_some()) {
            let retry = leases.fail(&row.firing_id, paces.pace(&row.firing_id), now);
            let remaining_row = self.row(&leases, &row.firing_id, parts_of(row));
            if retry == Retry::Exhausted {
                let until = now.checked_add(Span::from_micros(EXHAUSTED_HELD_MICROS));
                put.extend(remaining_row.map(|remaining_row| LeaseRow { until, ..remaining_row }));
            } else {
                put.extend(remaining_row);
            }
            ended.push((row.firing_id.clone(), retry));
        }
        (LeaseChanges { put, removed: Vec::new() }, Ok(ended))
    }

    fn extend(
        &self,
        LeasesFound { now, leases: found, .. }: LeasesFound,
        (under, ttl): (&Under, Span),
    ) -> (LeaseChanges, HashSet<FiringId>) {
        let mut leases = self.leases(&found, now);
        let extended: Vec<&LeaseRow> =
            found.iter().filter(|row| leases.extend(&row.firing_id, ttl, (under, now)).is_some()).collect();
        let put = extended.iter().filter_map(|row| self.row(&leases, &row.firing_id, parts_of(row)));
        let put = put.collect();
        (LeaseChanges { put, removed: Vec::new() }, extended.into_iter().map(|row| row.firing_id.clone()).collect())
    }

    /// Undoes attempts that did not reach their claimer, unless there is a newer one.
    fn give_back(
        &self,
        LeasesFound { now, leases: found, .. }: LeasesFound,
        unheard: &[(FiringId, u32)],
    ) -> LeaseChanges {
        let mut leases = self.leases(&found, now);
        let mut changes = LeaseChanges::default();
        let is_theirs =
            |row: &&LeaseRow| unheard.contains(&(row.firing_id.clone(), row.attempts)) && row.until.is_some();
        for row in found.iter().filter(is_theirs) {
            leases.give_back(std::slice::from_ref(&row.firing_id));
            match self.row(&leases, &row.firing_id, parts_of(row)) {
                Some(remaining_row) => changes.put.push(remaining_row),
                None => changes.removed.push(row.firing_id.clone()),
            }
        }
        changes
    }
}

fn parts_of(row: &LeaseRow) -> (&LeaseId, &QueueId, &str) {
    (&row.lease_id, &row.queue, &row.holder)
}

pub(crate) struct AttemptsEnded {
    pub(crate) exhausted: Vec<FiringId>,
    pub(crate) is_any: bool,
}

impl Engine {
    fn rows_of(&self, state: &TimelineState) -> Rows {
        let signer = Arc::clone(&self.ports().signer);
        Rows { key: state.head.key, timeline: state.head.id.clone(), signer }
    }

    pub(crate) async fn change_leases<T: Send + 'static>(
        &self,
        timeline: TimelineKey,
        query: LeaseQuery,
        change: impl FnOnce(LeasesFound) -> (LeaseChanges, T) + Send + 'static,
    ) -> Result<T, Refusal> {
        let (sender, parts) = oneshot::channel();
        let change = move |found| {
            let (changes, outcome) = change(found);
            // The caller waits for it below.
            let _ = sender.send(outcome);
            changes
        };
        self.store().change_leases(timeline, query, Box::new(change)).await?;
        parts.await.map_err(|_| Refusal::Unavailable("leases of firings could not be changed".to_owned()))
    }

    /// Leases only firings that readers here can see, and releases them if the caller goes away before the result.
    pub(crate) async fn claim_shared(
        &self,
        state: &TimelineState,
        queue: &QueueId,
        (max, ttl): (usize, Span),
        (lease_id, holder): (LeaseId, String),
    ) -> Result<Vec<(FiringRow, u32)>, Refusal> {
        let (sender, receiver) = oneshot::channel();
        let mut claimed = Claimed { receiver, engine: self, timeline: &state.head.id };
        let below = self.offered_below(state).await?.unwrap_or(state.head.frontier.size());
        let (engine, rows) = (self.clone(), self.rows_of(state));
        let (queue, query) = (queue.clone(), LeaseQuery::Offered(queue.clone(), max));
        tokio::spawn(async move {
            let (key, timeline) = (rows.key, rows.timeline.clone());
            let claiming = engine.change_leases(key, query, move |mut found| {
                found.firings.retain(|firing| firing.made < below);
                rows.claim(found, &queue, (max, ttl), (&lease_id, &holder))
            });
            if let Err(Ok(unheard)) = sender.send(claiming.await) {
                engine.give_back_shared(&timeline, unheard.iter().map(attempt_of).collect()).await;
            }
        });
        let outcome = (&mut claimed.receiver).await;
        outcome.unwrap_or_else(|_| Err(Refusal::Unavailable("the service is stopping".to_owned())))
    }

    /// Releases firings that were claimed and not delivered. On failure, their leases expire by themselves.
    async fn give_back_shared(&self, timeline: &TimelineId, unheard: Vec<(FiringId, u32)>) {
        let Some(state) = self.state(timeline).filter(|_| !unheard.is_empty()) else { return };
        let (rows, named) = (self.rows_of(&state), unheard.iter().map(|(firing_id, _)| firing_id.clone()).collect());
        let changed = self.change_leases(state.head.key, LeaseQuery::Named(named), move |found| {
            (rows.give_back(found, &unheard), ())
        });
        if let Err(refusal) = changed.await {
            tracing::debug!(%timeline, %refusal, "undelivered firings could not be released");
        }
        self.timing().wake_claims();
    }

    pub(crate) fn give_back_later(&self, timeline: &TimelineId, unheard: Vec<(FiringId, u32)>) {
        // Without a runtime, the service has shut down.
        if let Ok(runtime) = Handle::try_current() {
            let (engine, timeline) = (self.clone(), timeline.clone());
            runtime.spawn(async move { engine.give_back_shared(&timeline, unheard).await });
        }
    }

    pub(crate) async fn fail_shared(
        &self,
        state: &TimelineState,
        query: LeaseQuery,
        (under, paces): (Under, Paces),
    ) -> Result<AttemptsEnded, Refusal> {
        let rows = self.rows_of(state);
        let ended = self.change_leases(state.head.key, query, move |found| rows.fail(found, (&under, &paces)));
        let ended = ended.await?.map_err(Refusal::lease_lost)?;
        Ok(self.notify_ended(state, ended))
    }

    pub(crate) async fn extend_shared(
        &self,
        state: &TimelineState,
        firing_ids: Vec<FiringId>,
        (under, ttl): (Under, Span),
    ) -> Result<HashSet<FiringId>, Refusal> {
        let (rows, query) = (self.rows_of(state), LeaseQuery::Named(firing_ids));
        self.change_leases(state.head.key, query, move |found| rows.extend(found, (&under, ttl))).await
    }
}

pub(crate) fn attempt_of((firing, attempt): &(FiringRow, u32)) -> (FiringId, u32) {
    (firing.firing_id.clone(), *attempt)
}
