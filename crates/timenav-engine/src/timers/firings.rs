use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId, type_id};
use timenav_core::limits::{FAILURE_REASON_BYTES_MAX, FIRINGS_PER_REQUEST_MAX};
use timenav_core::time::{Instant, Span, Wall};
use timenav_core::timers::FiringState;
use timenav_core::timers::leases::{Offer, Retry, Under};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{FiringsAfter, LedgerPosition};
use crate::ledger::head::TimelineState;
use crate::ledger::payload::Webhook;
use crate::ports::shared_leases::{LeaseQuery, OFFERED_BUSY_MAX};
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::replication::leasing::{AttemptsEnded, attempt_of};
use crate::requests::actor::Actor;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::timers::handing_over::{HandedOver, Listening};
use crate::timers::observing::{Attempt, Note};
use crate::timers::pacing::{KnownFiring, Paces};
use crate::timers::timing::Settling;
use crate::writer::deciding::alone;
use crate::writer::deciding::repeated::{RepeatedRequest, StoreResponse};
use crate::writer::deciding::timers::SettleFirings;
use crate::writer::submission::{Answer, PendingCommand};

#[derive(Clone, Debug)]
pub struct Claim {
    pub queue: QueueId,
    pub max: usize,
    pub ttl: Span,
    /// Whether to wait until there is one. Dropping the future ends the wait.
    pub waits: bool,
}

#[derive(Clone, Debug)]
pub struct ClaimedFiring {
    pub firing: FiringRow,
    pub payload: Arc<str>,
    /// The webhook that the service sends itself; `None` for a firing of a queue.
    pub webhook: Option<Webhook>,
    pub generation: u64,
    /// How many instants the advance has reached, if one is running.
    pub step: Option<u64>,
    pub attempt: u32,
    /// The claim. A later claim of the same firing has a different id.
    pub lease_id: LeaseId,
    pub leased_until: Instant<Wall>,
}

#[derive(Clone, Debug)]
pub struct FiringsRequest {
    pub timeline: Option<TimelineId>,
    pub firing_ids: Vec<FiringId>,
    /// The leases that they were claimed under. `None` to go by the claimer's name instead.
    pub lease_ids: Option<Vec<LeaseId>>,
}

impl FiringsRequest {
    fn under(&self, caller: &Caller) -> Under {
        let holder = || Under::Holder(caller.user_id.to_string());
        self.lease_ids.clone().map_or_else(holder, Under::Leases)
    }
}

#[derive(Clone, Debug)]
pub struct FiringAnswer {
    pub timeline_id: TimelineId,
    /// Each requested firing, in request order.
    pub firings: Vec<(FiringId, FiringState)>,
    pub ledger: Option<LedgerPosition>,
    pub replayed: bool,
}

impl FiringAnswer {
    fn of(answer: Answer<FiringsAfter>) -> Self {
        let Answer { timeline_id, change: FiringsAfter { firings, is_withheld }, ledger, replayed } = answer;
        Self { timeline_id, firings, ledger: (!is_withheld).then_some(ledger), replayed }
    }
}

impl Engine {
    /// Claims firings of a queue, and optionally waits for some.
    ///
    /// # Errors
    /// The caller is not authorized, or the store does not respond.
    #[boxed]
    pub async fn claim(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        claim: &Claim,
    ) -> Result<Vec<ClaimedFiring>, Refusal> {
        if claim.queue == QueueId::of_webhooks() {
            let detail = "the service itself delivers this queue to webhooks; claim from another queue";
            return Err(Refusal::invalid("queue", detail));
        }
        let timeline = caller.timeline(timeline);
        let word = "claim_firings";
        self.admit(caller, &timeline, Demand::Record, word).await?;
        let may_still = || self.check_still(caller, &timeline, Demand::Record);
        self.claim_as((caller.user_id.as_str(), &may_still), &timeline, claim).await
    }

    /// Like [`Engine::claim`], on behalf of an authorized holder. The authorization is re-checked while waiting.
    pub(crate) async fn claim_as(
        &self,
        (holder, may_still): (&str, &(dyn Fn() -> Result<(), Refusal> + Sync)),
        timeline: &TimelineId,
        claim: &Claim,
    ) -> Result<Vec<ClaimedFiring>, Refusal> {
        let _listening = Listening::begin(self, timeline, &claim.queue);
        self.report_listening(timeline, &claim.queue).await?;
        let mut growth = self.growth_of(timeline);
        loop {
            let woken = self.timing().claims.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            // Mark the current growth as seen before reading, so that only later growth wakes this up.
            growth.size();
            may_still()?;
            let claimed = self.claim_now(holder, timeline, claim).await?;
            if !claimed.is_empty() || !claim.waits {
                return Ok(claimed);
            }
            tokio::select! {
                () = woken => {}
                goes_on = growth.changed() => if !goes_on { return Ok(Vec::new()) },
            }
        }
    }

    async fn claim_now(
        &self,
        holder: &str,
        timeline: &TimelineId,
        claim: &Claim,
    ) -> Result<Vec<ClaimedFiring>, Refusal> {
        let Claim { queue, max, ttl, .. } = claim;
        let max = (*max).min(FIRINGS_PER_REQUEST_MAX);
        let lease_id = LeaseId::new(&type_id("lease", self.uuid())).map_err(|error| Refusal::id("lease_id", error))?;
        if self.has_others() {
            let Some(state) = self.state(timeline).filter(|state| state.head.timers.pending > 0) else {
                return Ok(Vec::new());
            };
            // Computed before the request, so that the stored lease does not end earlier.
            let until = self.now().checked_add(*ttl).unwrap_or(Instant::MAX);
            let by = (lease_id.clone(), holder.to_owned());
            let firings = self.claim_shared(&state, queue, (max, *ttl), by).await?;
            return self.give_to_claimer(&state, firings, (lease_id, holder, until)).await;
        }
        loop {
            let (mark, busy) = {
                let leases = self.timing().leases();
                // Waiting claims are woken once the clock has reached the instant.
                if leases.is_stepping(timeline) {
                    return Ok(Vec::new());
                }
                (leases.mark(), leases.busy())
            };
            let Some(state) = self.state(timeline).filter(|state| state.head.timers.pending > 0) else {
                return Ok(Vec::new());
            };
            let rows_max = (max + busy).min(OFFERED_BUSY_MAX + max);
            let query = TimerQuery::Pending(queue.clone(), rows_max);
            let mut rows = self.store().timer_rows(state.head.key, query).await?.firings;
            // Committed entries become visible once their checkpoint is kept outside.
            let Some(state) = self.state(timeline) else { return Ok(Vec::new()) };
            let below = self.offered_below(&state).await?.unwrap_or(state.head.frontier.size());
            rows.retain(|firing| firing.made < below);
            let offer =
                |firing: &FiringRow| Offer { firing_id: firing.firing_id.clone(), order_key: firing.order_key.clone() };
            let offers: Vec<Offer> = rows.iter().map(offer).collect();
            let now = self.now();
            let by = (&lease_id, holder, now);
            let claimed = self.timing().leases().claim((timeline, queue), (&offers, mark), (max, *ttl), by);
            let Some(claimed) = claimed else { continue };
            let until = now.checked_add(*ttl).unwrap_or(Instant::MAX);
            let firings = claimed.iter().map(|(number, attempt)| (rows[*number].clone(), *attempt)).collect();
            return self.give_to_claimer(&state, firings, (lease_id, holder, until)).await;
        }
    }

    /// Adds the payloads to claimed firings. They are released if the claimer has gone.
    async fn give_to_claimer(
        &self,
        state: &TimelineState,
        firings: Vec<(FiringRow, u32)>,
        (lease_id, holder, leased_until): (LeaseId, &str, Instant<Wall>),
    ) -> Result<Vec<ClaimedFiring>, Refusal> {
        if firings.is_empty() {
            return Ok(Vec::new());
        }
        let attempts = firings.iter().map(attempt_of).collect();
        let mut held = HandedOver { engine: self, timeline: &state.head.id, attempts };
        let positions = firings.iter().map(|(firing, _)| firing.due_firing.position).collect();
        let timers = self.store().timer_rows(state.head.key, TimerQuery::At(positions)).await?.timers;
        let of_timer = |firing: &FiringRow| {
            let timer = timers.iter().find(|timer| timer.position == firing.due_firing.position);
            let is_sent = firing.queue.as_str() == QueueId::OF_WEBHOOKS;
            let webhook = |timer: &TimerRow| if is_sent { timer.webhook() } else { None };
            timer.map_or_else(|| ("null".into(), None), |timer| (Arc::clone(&timer.payload), webhook(timer)))
        };
        let step = state.head.timers.advance.as_ref().map(|advance| advance.step);
        let generation = state.head.clock.generation;
        let claimed = firings.into_iter().map(|(firing, attempt)| {
            let (payload, webhook) = of_timer(&firing);
            let lease_id = lease_id.clone();
            ClaimedFiring { firing, payload, webhook, generation, step, attempt, lease_id, leased_until }
        });
        let claimed: Vec<ClaimedFiring> = claimed.collect();
        held.attempts.clear();
        // After such a delay, another worker may already have claimed them.
        if self.now() >= leased_until {
            return Ok(Vec::new());
        }
        self.record_attempts(state, || {
            let holder: Arc<str> = holder.into();
            let leased = |claimed: &ClaimedFiring| {
                let (holder, number, until) = (Arc::clone(&holder), claimed.attempt, leased_until);
                (claimed.firing.firing_id.clone(), Attempt::Leased { holder, number, until })
            };
            claimed.iter().map(leased).collect()
        });
        Ok(claimed)
    }

    pub(crate) fn record_attempts(&self, state: &TimelineState, firings: impl FnOnce() -> Vec<(FiringId, Attempt)>) {
        let note = || Note { size: state.head.frontier.size(), firings: firings() };
        self.timing().observers.notify(&state.head.id, note);
    }

    /// Acknowledges firings.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such firing, another worker holds one of them, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        request: FiringsRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<FiringAnswer, Refusal> {
        self.settle(caller, request, (FiringState::Acknowledged, None), idempotency).await
    }

    async fn settle(
        &self,
        caller: &Caller,
        request: FiringsRequest,
        outcome: (FiringState, Option<String>),
        idempotency: Option<Idempotency>,
    ) -> Result<FiringAnswer, Refusal> {
        check(&request.firing_ids)?;
        let all = request.firing_ids.clone();
        self.settle_some(caller, (request, all), outcome, idempotency).await
    }

    /// Settles some of the requested firings. The others are returned unchanged.
    async fn settle_some(
        &self,
        caller: &Caller,
        (request, settled): (FiringsRequest, Vec<FiringId>),
        (outcome, reason): (FiringState, Option<String>),
        idempotency: Option<Idempotency>,
    ) -> Result<FiringAnswer, Refusal> {
        let under = request.under(caller);
        let FiringsRequest { timeline, firing_ids, .. } = request;
        let timeline = caller.timeline(timeline);
        let left = firing_ids.iter().filter(|firing_id| !settled.contains(firing_id)).cloned().collect();
        let settling = match Settling::begin_under(self.timing(), &timeline, settled, (&under, self.now())) {
            Ok(settling) => settling,
            Err(of_others) => {
                // The holder is only revealed to callers who may claim firings.
                self.admit(caller, &timeline, Demand::Record, Action::SettleFirings.word()).await?;
                return Err(Refusal::lease_lost(of_others));
            }
        };
        let settle = SettleFirings { firing_ids, left, outcome, reason, under, keeper: None };
        let answer = self.notify_outcomes(Actor::Caller(caller.clone()), &timeline, settle, idempotency).await?;
        settling.end(&answer.change.firings);
        Ok(FiringAnswer::of(answer))
    }

    /// Records outcomes. If an advance waits for nothing else, its clock advances in the same commit.
    pub(crate) async fn notify_outcomes(
        &self,
        actor: Actor,
        timeline: &TimelineId,
        settle: SettleFirings,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<FiringsAfter>, Refusal> {
        let step = self.step_with_outcomes(timeline).map(|step| PendingCommand::boxed(step, None));
        self.ask_and_then(actor, timeline.clone(), (settle, idempotency), step).await
    }

    /// Reports that an attempt failed. The firings are retried, or have failed.
    ///
    /// # Errors
    /// As those of [`Engine::acknowledge`].
    #[boxed]
    pub async fn fail_firings(
        &self,
        caller: &Caller,
        request: FiringsRequest,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<FiringAnswer, Refusal> {
        check(&request.firing_ids)?;
        if reason.as_ref().is_some_and(|reason| reason.len() > FAILURE_REASON_BYTES_MAX) {
            let detail = format!("a reason can have at most {FAILURE_REASON_BYTES_MAX} bytes");
            return Err(Refusal::invalid("reason", detail));
        }
        let timeline = caller.timeline(request.timeline.clone());
        let state = self.admit(caller, &timeline, Demand::Record, Action::SettleFirings.word()).await?;
        // Attempts end before the response is stored, so an immediate repetition of the request waits for the first.
        let _turn = match &idempotency {
            Some(idempotency) => Some(self.timing().turn_to_fail(idempotency).await),
            None => None,
        };
        let again = RepeatedRequest::<FiringsAfter>::of(Action::SettleFirings, alone(Demand::Record));
        if let Some(answer) = self.answered_before(caller, &timeline, again, idempotency).await? {
            return Ok(FiringAnswer::of(answer));
        }
        let known = self.named(&state, &request.firing_ids).await?;
        let AttemptsEnded { exhausted, is_any } = self.end_attempts(&state, &known, request.under(caller)).await?;
        self.timing().wake_keeper();
        if !exhausted.is_empty() {
            let request = FiringsRequest { timeline: Some(timeline), ..request };
            return self.settle_some(caller, (request, exhausted), (FiringState::Failed, reason), idempotency).await;
        }
        let known: Vec<(FiringId, FiringState)> = known.into_iter().map(|one| (one.firing_id, one.state)).collect();
        // If no attempt has ended, nothing has happened, and another worker may be about to settle them.
        if idempotency.is_none() || !is_any {
            return Ok(FiringAnswer { timeline_id: timeline, firings: known, ledger: None, replayed: false });
        }
        let change = FiringsAfter { firings: known, is_withheld: true };
        let keep = StoreResponse { operation: Action::SettleFirings.word(), change };
        Ok(FiringAnswer::of(self.submit(caller, timeline, keep, idempotency).await?))
    }

    /// Ends attempts at firings of a holder. Returns those that have reached the maximum number of attempts.
    pub(crate) async fn end_attempts(
        &self,
        state: &TimelineState,
        known: &[KnownFiring],
        under: Under,
    ) -> Result<AttemptsEnded, Refusal> {
        let pending = known.iter().filter(|one| one.state == FiringState::Pending).map(|one| one.firing_id.clone());
        let mut pending: Vec<FiringId> = pending.collect();
        let paces = Paces::of(state, known);
        if self.has_others() {
            return self.fail_shared(state, LeaseQuery::Named(pending), (under, paces)).await;
        }
        let now = self.now();
        let mut leases = self.timing().leases();
        let of_others = leases.of_others(&state.head.id, &pending, (&under, now));
        if !of_others.is_empty() {
            return Err(Refusal::lease_lost(of_others));
        }
        pending.retain(|firing_id| leases.lease(firing_id).is_some());
        let ended = pending.into_iter().map(|firing_id| {
            let retry = leases.fail(&firing_id, paces.pace(&firing_id), now);
            (firing_id, retry)
        });
        let ended = ended.collect();
        // Notify observers before anyone else can claim them.
        Ok(self.notify_ended(state, ended))
    }

    pub(crate) fn notify_ended(&self, state: &TimelineState, ended: Vec<(FiringId, Retry)>) -> AttemptsEnded {
        self.record_attempts(state, || {
            let again = |(firing_id, retry): &(FiringId, Retry)| match retry {
                Retry::NotBefore(not_before) => Some((firing_id.clone(), Attempt::Ended(*not_before))),
                Retry::Exhausted => None,
            };
            ended.iter().filter_map(again).collect()
        });
        let is_any = !ended.is_empty();
        let exhausted = ended.into_iter().filter(|(_, retry)| *retry == Retry::Exhausted);
        AttemptsEnded { exhausted: exhausted.map(|(firing_id, _)| firing_id).collect(), is_any }
    }

    /// Extends the leases of firings. Returns the end of each; `None` if the caller no longer holds it.
    ///
    /// # Errors
    /// The caller is not authorized.
    #[boxed]
    pub async fn extend_leases(
        &self,
        caller: &Caller,
        request: FiringsRequest,
        ttl: Span,
    ) -> Result<(TimelineId, Vec<(FiringId, Option<Instant<Wall>>)>), Refusal> {
        check(&request.firing_ids)?;
        let under = request.under(caller);
        let FiringsRequest { timeline, firing_ids, .. } = request;
        let timeline = caller.timeline(timeline);
        let state = self.admit(caller, &timeline, Demand::Record, "extend_firings").await?;
        let now = self.now();
        if self.has_others() {
            let until = now.checked_add(ttl).unwrap_or(Instant::MAX);
            let extended = self.extend_shared(&state, firing_ids.clone(), (under, ttl)).await?;
            let until_of = |id: FiringId| (extended.contains(&id).then_some(until), id);
            let all = firing_ids.into_iter().map(until_of).map(|(until, id)| (id, until));
            let all: Vec<_> = all.collect();
            self.notify_extended(&state, &all);
            return Ok((timeline, all));
        }
        let mut leases = self.timing().leases();
        let mut extended = |firing_id: FiringId| {
            let is_here = leases.lease(&firing_id).is_some_and(|lease| lease.timeline == timeline);
            let until = if is_here { leases.extend(&firing_id, ttl, (&under, now)) } else { None };
            (firing_id, until)
        };
        let extended: Vec<_> = firing_ids.into_iter().map(&mut extended).collect();
        self.notify_extended(&state, &extended);
        drop(leases);
        self.timing().wake_keeper();
        Ok((timeline, extended))
    }

    fn notify_extended(&self, state: &TimelineState, extended: &[(FiringId, Option<Instant<Wall>>)]) {
        let extension = |(firing_id, until): &(FiringId, Option<Instant<Wall>>)| {
            until.map(|until| (firing_id.clone(), Attempt::Extended(until)))
        };
        self.record_attempts(state, || extended.iter().filter_map(extension).collect());
    }

    /// Returns the state of firings, all of which must exist.
    async fn named(&self, state: &TimelineState, firing_ids: &[FiringId]) -> Result<Vec<KnownFiring>, Refusal> {
        let query = TimerQuery::Firings(firing_ids.to_vec());
        let rows = self.store().timer_rows(state.head.key, query).await?.firings;
        let state_of = |id: &FiringId| {
            let row = rows.iter().find(|row| row.firing_id == *id);
            let row = row.ok_or_else(|| Refusal::NotFound { what: "firing", id: id.to_string() })?;
            Ok(KnownFiring { firing_id: id.clone(), state: row.state, made: row.made })
        };
        firing_ids.iter().map(state_of).collect()
    }
}

fn check(firing_ids: &[FiringId]) -> Result<(), Refusal> {
    if firing_ids.is_empty() || firing_ids.len() > FIRINGS_PER_REQUEST_MAX {
        let detail = format!("give 1 to {FIRINGS_PER_REQUEST_MAX} firings");
        return Err(Refusal::invalid("firing_ids", detail));
    }
    Ok(())
}
