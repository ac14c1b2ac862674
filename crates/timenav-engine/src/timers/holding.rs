//! Holds, which keep the advances of a timeline waiting without a firing. Like leases of firings, they are in no
//! ledger: a crash releases them. If a hold lasts for too long, the entry that stops the advance names its holder and
//! reason.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId, type_id};
use timenav_core::ledger::sha256;
use timenav_core::limits::{HOLD_REASON_BYTES_MAX, HOLDS_PER_TIMELINE_MAX};
use timenav_core::time::{Instant, Span, Wall};
use timenav_core::timers::holds::{Hold, Holds, NotHeld};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::AdvancesHeld;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::Reading;
use crate::ports::shared_leases::{
    ActivityQuery, LEASE_LASTS_MICROS_MAX, LeaseChanges, LeaseQuery, LeaseRow, LeasesFound, lease_row_id,
};
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::alone;
use crate::writer::deciding::repeated::{RepeatedRequest, StoreResponse};

const HOLD: &str = "hold_advances";

#[derive(Clone, Debug)]
pub struct HoldRequest {
    pub timeline: Option<TimelineId>,
    /// The hold of the caller to extend; `None` for a new one.
    pub lease_id: Option<LeaseId>,
    pub reason: String,
    pub ttl: Span,
}

impl Engine {
    /// Holds the advances of a timeline: their clock does not move on while the hold lasts, up to the maximum duration
    /// of a hold. A caller can extend their own hold. A repeated request returns the hold of the first one, which may
    /// have ended since.
    ///
    /// # Errors
    /// The caller is not authorized, has no such hold any more, or there are too many.
    #[boxed]
    pub async fn hold_advances(
        &self,
        caller: &Caller,
        request: HoldRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<(TimelineId, Hold, bool), Refusal> {
        let HoldRequest { timeline, lease_id, reason, ttl } = request;
        // The reason becomes part of sentences, and PostgreSQL cannot store NUL.
        if reason.trim().is_empty() || reason.len() > HOLD_REASON_BYTES_MAX || reason.contains(char::is_control) {
            let detail = format!("give a reason of 1 to {HOLD_REASON_BYTES_MAX} bytes, without control characters");
            return Err(Refusal::invalid("reason", detail));
        }
        let timeline = caller.timeline(timeline);
        let state = self.admit(caller, &timeline, Demand::Record, HOLD).await?;
        let again = RepeatedRequest::<AdvancesHeld>::of(Action::SettleFirings, alone(Demand::Record));
        if let Some(answer) = self.answered_before(caller, &timeline, again, idempotency).await? {
            return Ok((timeline, answer.change.hold, true));
        }
        let renews = lease_id.is_some();
        // The id is derived from the idempotency key: a repeated request finds the first hold even if its response was
        // never stored.
        let uuid = idempotency.map_or_else(|| self.uuid(), |repeated| of_request(&repeated.key));
        let lease_id = match lease_id {
            Some(lease_id) => lease_id,
            None => LeaseId::new(&type_id("hold", uuid)).map_err(|error| Refusal::id("hold_id", error))?,
        };
        // Computed before the request, so that the stored hold does not end earlier.
        let until = self.now().checked_add(ttl).unwrap_or(Instant::MAX);
        let hold = Hold { lease_id, owner: caller.user_id.to_string(), reason, until };
        let taken = hold.clone();
        let take = move |holds: &mut Holds, now: Instant<Wall>| {
            let until = now.checked_add(ttl).unwrap_or(Instant::MAX);
            holds.take(Hold { until, ..taken.clone() }, renews, now)
        };
        self.change_holds(&state, take).await?.map_err(|not_held| not_taken(not_held, &hold.lease_id))?;
        if idempotency.is_none() {
            return Ok((timeline, hold, false));
        }
        let keep = StoreResponse { operation: HOLD, change: AdvancesHeld { hold } };
        let answer = self.submit(caller, timeline.clone(), keep, idempotency).await?;
        Ok((timeline, answer.change.hold, answer.replayed))
    }

    /// Releases the caller's own hold, or any hold for an admin of the timeline.
    ///
    /// # Errors
    /// The caller is not authorized, or there is no such hold.
    #[boxed]
    pub async fn release_hold(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        lease_id: &LeaseId,
    ) -> Result<TimelineId, Refusal> {
        let timeline = caller.timeline(timeline);
        let state = self.admit(caller, &timeline, Demand::Record, "release_hold").await?;
        let is_admin = self.decide(caller, &timeline, Demand::Administer).is_ok();
        let (released, owner) = (lease_id.clone(), (!is_admin).then(|| caller.user_id.to_string()));
        let release = move |holds: &mut Holds, now: Instant<Wall>| holds.release(&released, owner.as_deref(), now);
        let released = self.change_holds(&state, release).await?;
        released.map_err(|_| Refusal::NotFound { what: "hold", id: lease_id.to_string() })?;
        self.timing().wake_keeper();
        Ok(timeline)
    }

    /// Lists the holds of a timeline, by their end.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn holds(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
    ) -> Result<(TimelineId, Vec<Hold>), Refusal> {
        let look = self.look(caller, timeline, Demand::Look, Reading::Leases {}).await?;
        let (state, now) = (&look.state, self.now());
        let mut holds: Vec<Hold> = if self.has_others() {
            let listed = self.change_leases(state.head.key, LeaseQuery::Holds, move |found| {
                // Converted to the clock of this service.
                let here = |hold: &Hold| Hold { until: until_here(hold.until, found.now, now), ..hold.clone() };
                (LeaseChanges::default(), holds_in(&found).active(found.now).map(here).collect())
            });
            listed.await?
        } else {
            self.timing().leases().holds(&state.head.id, now).cloned().collect()
        };
        holds.sort_by(|a, b| (a.until, &a.lease_id).cmp(&(b.until, &b.lease_id)));
        Ok((look.timeline(), holds))
    }

    pub(crate) async fn held_by(&self, state: &TimelineState) -> Result<Option<String>, Refusal> {
        if !self.has_others() {
            let now = self.now();
            return Ok(self.timing().leases().holds(&state.head.id, now).next().map(Hold::description));
        }
        let open_since = Some(state.head.frontier.size());
        let query = ActivityQuery { timeline: state.head.key, open_since, firings: Vec::new() };
        let held = self.store().at_work(query).await?.held;
        Ok(held.map(|(firing_id, queue, holder)| lease_row_id(&firing_id, &queue, holder.as_deref())))
    }

    /// Changes the holds of a timeline, after waiting while its clock moves to another instant.
    async fn change_holds(
        &self,
        state: &TimelineState,
        change: impl Fn(&mut Holds, Instant<Wall>) -> Result<(), NotHeld> + Send + 'static,
    ) -> Result<Result<(), NotHeld>, Refusal> {
        if self.has_others() {
            return self.change_leases(state.head.key, LeaseQuery::Holds, move |found| changed(&found, change)).await;
        }
        loop {
            let woken = self.timing().claims.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            let now = self.now();
            let held = self.timing().leases().hold(&state.head.id, |holds| change(holds, now));
            match held {
                Some(held) => return Ok(held),
                None => woken.await,
            }
        }
    }
}

/// Returns the rows to store after a change, and whether it was possible.
fn changed(
    found: &LeasesFound,
    change: impl Fn(&mut Holds, Instant<Wall>) -> Result<(), NotHeld>,
) -> (LeaseChanges, Result<(), NotHeld>) {
    let now = found.now;
    let mut holds = holds_in(found);
    let done = change(&mut holds, now);
    holds.forget_ended(now);
    let put: Vec<LeaseRow> = holds.active(now).filter_map(|hold| row(hold, now)).collect();
    let is_left = |row: &LeaseRow| put.iter().any(|lease| lease.firing_id == row.firing_id);
    let removed = found.leases.iter().filter(|row| !is_left(row)).map(|row| row.firing_id.clone()).collect();
    (LeaseChanges { put, removed }, done)
}

/// Parses holds from rows. Those with instants that no service could have written count as expired.
fn holds_in(found: &LeasesFound) -> Holds {
    let mut holds = Holds::default();
    for row in &found.leases {
        let until = row.until.filter(|until| until.since(found.now).micros() <= LEASE_LASTS_MICROS_MAX);
        let (owner, reason) = row.holder.split_once(' ').unwrap_or((&row.holder, ""));
        let (owner, reason) = (owner.to_owned(), reason.to_owned());
        holds.put(Hold { lease_id: row.lease_id.clone(), owner, reason, until: until.unwrap_or(Instant::MIN) });
    }
    holds
}

/// The row cannot be confused with a lease, because names of users contain no space.
fn row(hold: &Hold, now: Instant<Wall>) -> Option<LeaseRow> {
    Some(LeaseRow {
        firing_id: FiringId::new(hold.lease_id.as_str()).ok()?,
        queue: QueueId::of_holds(),
        lease_id: hold.lease_id.clone(),
        holder: format!("{} {}", hold.owner, hold.reason),
        attempts: 0,
        until: Some(hold.until),
        not_before: now,
        code: [0; 32],
    })
}

fn of_request(key: &[u8; 32]) -> [u8; 16] {
    let digest = sha256(&[b"a lease that holds advances", key]);
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&digest.as_bytes()[..16]);
    uuid
}

fn until_here(until: Instant<Wall>, there: Instant<Wall>, here: Instant<Wall>) -> Instant<Wall> {
    here.checked_add(until.since(there)).unwrap_or(Instant::MAX)
}

fn not_taken(not_held: NotHeld, lease_id: &LeaseId) -> Refusal {
    match not_held {
        NotHeld::NotTheirs => Refusal::NotFound { what: "hold", id: lease_id.to_string() },
        NotHeld::TooMany => {
            Refusal::LimitReached { what: "holds on the clock of this timeline", max: HOLDS_PER_TIMELINE_MAX }
        }
    }
}
