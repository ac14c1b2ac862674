//! Leases of firings, retries, and queues with active listeners.
//!
//! A single service keeps this in memory, by host time, which the caller passes in. A crash loses it: leased firings
//! become available again, under the same ids. Services that share a database keep it in rows, by the database's clock.
//! They load the rows that a decision needs, apply the same rules, and write the result back.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::ids::{FiringId, LeaseId, QueueId, TimelineId};
use crate::limits::{LEASES_MAX, QUEUE_LISTENER_SECONDS};
use crate::time::{Instant, Span, Wall};
use crate::timers::holds::{Hold, Holds, NotHeld};
use crate::timers::retries::{Pace, wait_after};

/// Number of outcomes remembered for claims that read the pending firings before.
const SETTLED_RETAINED_MAX: usize = 16_384;
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub lease_id: LeaseId,
    pub timeline: TimelineId,
    pub queue: QueueId,
    /// Firings with the same key are processed one after the other.
    pub order_key: Option<String>,
    pub holder: String,
    pub until: Instant<Wall>,
}

/// How a caller proves that it holds firings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Under {
    /// It claimed them under one of these leases.
    Leases(Vec<LeaseId>),
    /// It names no lease. The name used for the claim decides.
    Holder(String),
    /// No proof is needed, for example when the service handles an expired lease.
    Anybody,
}

impl Under {
    /// Returns whether a firing leased as `lease_id` to `holder` belongs to the caller.
    #[must_use]
    pub fn has(&self, lease_id: &LeaseId, holder: &str) -> bool {
        match self {
            Self::Leases(theirs) => theirs.contains(lease_id),
            Self::Holder(name) => name == holder,
            Self::Anybody => true,
        }
    }
}

/// A firing that the caller names but another worker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldByOther {
    pub firing_id: FiringId,
    pub holder: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// How often it was handed out.
    pub attempts: u32,
    /// When it may be handed out again, in host time.
    pub not_before: Instant<Wall>,
}

#[derive(Clone, Copy, Debug)]
struct QueueListeners {
    waiting: usize,
    until: Instant<Wall>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub firing_id: FiringId,
    pub order_key: Option<String>,
}

/// What happens to a firing after an attempt without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It is tried again, not before that host instant.
    NotBefore(Instant<Wall>),
    /// It has no attempts left.
    Exhausted,
}

/// Leases, retries and listeners of all timelines.
#[derive(Debug, Default)]
pub struct Leases {
    held: HashMap<FiringId, Lease>,
    /// Ends of leases, earliest first.
    ends: BTreeSet<(Instant<Wall>, FiringId)>,
    tried: HashMap<FiringId, Tried>,
    /// Ends of retry waits, earliest first.
    waits: BTreeSet<(Instant<Wall>, FiringId)>,
    listeners: HashMap<(TimelineId, QueueId), QueueListeners>,
    /// The queue that the service itself consumes, on every timeline.
    own: Option<QueueId>,
    /// Timelines with an advance that was interrupted by a crash. For a while all their queues count as having
    /// listeners, so that workers have time to reconnect.
    resumed: HashMap<TimelineId, Instant<Wall>>,
    /// Number of steps in progress, by timeline. No firings are handed out there.
    stepping: HashMap<TimelineId, usize>,
    holds: HashMap<TimelineId, Holds>,
    /// The last firings that reached an outcome, and how many there were before them.
    settled: VecDeque<FiringId>,
    settled_before: u64,
    /// Firings with an outcome that is being written to the ledger, by timeline.
    settling: HashMap<TimelineId, HashSet<FiringId>>,
}

impl Leases {
    /// Returns a mark that identifies the outcomes from now on.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.settled_before + self.settled.len() as u64
    }

    /// Returns the firings that settled since a mark; `None` if they are not remembered anymore.
    fn settled_since(&self, mark: u64) -> Option<HashSet<&FiringId>> {
        let skip = usize::try_from(mark.checked_sub(self.settled_before)?).ok()?;
        Some(self.settled.iter().skip(skip).collect())
    }

    /// Leases firings of one queue, in the order in which they are offered. Skips firings that are leased, that wait
    /// for a retry, or whose key an earlier pending firing has. `offers` are the firings that were pending at the mark.
    /// Returns `None` if the mark is too old.
    pub fn claim(
        &mut self,
        (timeline, queue): (&TimelineId, &QueueId),
        (offers, mark): (&[Offer], u64),
        (max, ttl): (usize, Span),
        (lease_id, holder, now): (&LeaseId, &str, Instant<Wall>),
    ) -> Option<Vec<(usize, u32)>> {
        if self.stepping.contains_key(timeline) {
            return Some(Vec::new());
        }
        let settled: HashSet<FiringId> = self.settled_since(mark)?.into_iter().cloned().collect();
        let until = now.checked_add(ttl).unwrap_or(Instant::MAX);
        let mut keys: HashSet<&str> = HashSet::new();
        let mut claimed = Vec::new();
        for (number, offer) in offers.iter().enumerate() {
            if claimed.len() >= max || self.held.len() >= LEASES_MAX {
                break;
            }
            let is_settling = self.settling.get(timeline).is_some_and(|ids| ids.contains(&offer.firing_id));
            if is_settling || settled.contains(&offer.firing_id) {
                continue;
            }
            if let Some(key) = &offer.order_key
                && !keys.insert(key)
            {
                continue;
            }
            let tried = self.tried.get(&offer.firing_id).copied();
            if self.held.contains_key(&offer.firing_id) || tried.is_some_and(|tried| tried.not_before > now) {
                continue;
            }
            let attempt = tried.map_or(0, |tried| tried.attempts) + 1;
            self.take_wait(&offer.firing_id);
            self.tried.insert(offer.firing_id.clone(), Tried { attempts: attempt, not_before: now });
            let lease = Lease {
                lease_id: lease_id.clone(),
                timeline: timeline.clone(),
                queue: queue.clone(),
                order_key: offer.order_key.clone(),
                holder: holder.to_owned(),
                until,
            };
            self.ends.insert((until, offer.firing_id.clone()));
            self.held.insert(offer.firing_id.clone(), lease);
            claimed.push((number, attempt));
        }
        Some(claimed)
    }

    pub fn put(&mut self, firing_id: FiringId, lease: Option<Lease>, tried: Tried) {
        if let Some(lease) = lease {
            self.ends.insert((lease.until, firing_id.clone()));
            self.held.insert(firing_id.clone(), lease);
        }
        self.tried.insert(firing_id, tried);
    }

    #[must_use]
    pub fn tried(&self, firing_id: &FiringId) -> Option<Tried> {
        self.tried.get(firing_id).copied()
    }

    /// Returns claimed firings that were never handed over, without counting the attempt.
    pub fn give_back(&mut self, firing_ids: &[FiringId]) {
        for firing_id in firing_ids {
            if self.release(firing_id).is_none() {
                continue;
            }
            if let Some(tried) = self.tried.get_mut(firing_id) {
                tried.attempts = tried.attempts.saturating_sub(1);
                if tried.attempts == 0 {
                    self.tried.remove(firing_id);
                }
            }
        }
    }

    /// Returns the number of firings that are leased or wait for a retry. A search for others must read that many more.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.held.len() + self.waits.len()
    }

    #[must_use]
    pub fn lease(&self, firing_id: &FiringId) -> Option<&Lease> {
        self.held.get(firing_id)
    }

    /// Returns the firings that others hold. A firing whose lease has ended has no holder until it is claimed again.
    #[must_use]
    pub fn of_others(
        &self,
        timeline: &TimelineId,
        firing_ids: &[FiringId],
        (under, now): (&Under, Instant<Wall>),
    ) -> Vec<HeldByOther> {
        let of_other = |firing_id: &FiringId| {
            let lease = self.held.get(firing_id).filter(|lease| lease.timeline == *timeline && lease.until > now)?;
            let is_theirs = under.has(&lease.lease_id, &lease.holder);
            (!is_theirs).then(|| HeldByOther { firing_id: firing_id.clone(), holder: lease.holder.clone() })
        };
        firing_ids.iter().filter_map(of_other).collect()
    }

    /// Marks firings whose outcome is being written. They cannot be claimed until the write is finished.
    pub fn begin_settling(&mut self, timeline: &TimelineId, firing_ids: &[FiringId]) {
        if !firing_ids.is_empty() {
            self.settling.entry(timeline.clone()).or_default().extend(firing_ids.iter().cloned());
        }
    }

    /// The write is finished, successfully or not.
    pub fn end_settling(&mut self, timeline: &TimelineId, firing_ids: &[FiringId]) {
        let Some(settling) = self.settling.get_mut(timeline) else { return };
        for firing_id in firing_ids {
            settling.remove(firing_id);
        }
        if settling.is_empty() {
            self.settling.remove(timeline);
        }
    }

    /// Returns the number of firings of a timeline whose outcome is being written to the ledger.
    #[must_use]
    pub fn settling(&self, timeline: &TimelineId) -> usize {
        self.settling.get(timeline).map_or(0, HashSet::len)
    }

    pub fn settle(&mut self, firing_id: &FiringId) {
        self.release(firing_id);
        self.take_wait(firing_id);
        self.tried.remove(firing_id);
        if self.settled.len() >= SETTLED_RETAINED_MAX {
            self.settled.pop_front();
            self.settled_before += 1;
        }
        self.settled.push_back(firing_id.clone());
    }

    /// Renews a lease. Returns its new end; `None` if the caller does not have it anymore.
    pub fn extend(
        &mut self,
        firing_id: &FiringId,
        ttl: Span,
        (under, now): (&Under, Instant<Wall>),
    ) -> Option<Instant<Wall>> {
        let is_theirs = |lease: &&mut Lease| lease.until > now && under.has(&lease.lease_id, &lease.holder);
        let lease = self.held.get_mut(firing_id).filter(is_theirs)?;
        self.ends.remove(&(lease.until, firing_id.clone()));
        lease.until = now.checked_add(ttl).unwrap_or(Instant::MAX);
        self.ends.insert((lease.until, firing_id.clone()));
        Some(lease.until)
    }

    /// Ends an attempt without an outcome.
    pub fn fail(&mut self, firing_id: &FiringId, pace: Pace, now: Instant<Wall>) -> Retry {
        let queue = self.release(firing_id).map(|lease| lease.queue);
        let attempts = self.tried.get(firing_id).map_or(1, |tried| tried.attempts.max(1));
        let Some(wait) = wait_after(firing_id, queue.as_ref(), (attempts, pace)) else { return Retry::Exhausted };
        let not_before = now.checked_add(wait).unwrap_or(Instant::MAX);
        self.take_wait(firing_id);
        self.tried.insert(firing_id.clone(), Tried { attempts, not_before });
        self.waits.insert((not_before, firing_id.clone()));
        Retry::NotBefore(not_before)
    }

    /// Removes and returns the expired leases, each with its timeline. The caller decides what happens to the firings.
    pub fn expired(&mut self, now: Instant<Wall>) -> Vec<(TimelineId, FiringId)> {
        self.holds.retain(|_, holds| holds.forget_ended(now));
        let ended: Vec<FiringId> =
            self.ends.iter().take_while(|(until, _)| *until <= now).map(|(_, id)| id.clone()).collect();
        ended.into_iter().filter_map(|id| Some((self.release(&id)?.timeline, id))).collect()
    }

    /// Removes the waits that have ended. Returns whether there were any, in which case firings may be claimable again.
    pub fn waited(&mut self, now: Instant<Wall>) -> bool {
        let before = self.waits.len();
        self.waits.retain(|(not_before, _)| *not_before > now);
        self.waits.len() < before
    }

    /// Returns the next instant at which a lease, a hold, a wait or a listener's grace period ends.
    #[must_use]
    pub fn next_end(&self, now: Instant<Wall>) -> Option<Instant<Wall>> {
        let lease = self.ends.first().map(|(until, _)| *until);
        let hold = self.holds.values().flat_map(|holds| holds.active(now)).map(|hold| hold.until).min();
        let wait = self.waits.first().map(|(until, _)| *until);
        let listener = self.listeners.values().filter(|listener| listener.waiting == 0).map(|listener| listener.until);
        let listener = listener.chain(self.resumed.values().copied()).filter(|until| *until > now);
        lease.into_iter().chain(wait).chain(hold).chain(listener.min()).min()
    }

    pub fn listen(&mut self, timeline: &TimelineId, queue: &QueueId, now: Instant<Wall>) {
        let listeners = self
            .listeners
            .entry((timeline.clone(), queue.clone()))
            .or_insert(QueueListeners { waiting: 0, until: now });
        listeners.waiting += 1;
    }

    /// Removes a listener. The queue counts as having one for a grace period.
    pub fn leave(&mut self, timeline: &TimelineId, queue: &QueueId, now: Instant<Wall>) {
        let until = Span::from_secs(QUEUE_LISTENER_SECONDS).and_then(|span| now.checked_add(span));
        if let Some(listeners) = self.listeners.get_mut(&(timeline.clone(), queue.clone())) {
            listeners.waiting = listeners.waiting.saturating_sub(1);
            listeners.until = until.unwrap_or(Instant::MAX);
        }
        self.listeners.retain(|_, listeners| listeners.waiting > 0 || listeners.until > now);
    }

    /// The service itself consumes a queue on every timeline, as long as it runs.
    pub fn listen_always(&mut self, queue: QueueId) {
        self.own = Some(queue);
    }

    /// Returns the queues with listeners that are connected right now, each with its timeline.
    #[must_use]
    pub fn waited_for(&self) -> Vec<(TimelineId, QueueId)> {
        let waiting = self.listeners.iter().filter(|(_, listeners)| listeners.waiting > 0);
        waiting.map(|(queue, _)| queue.clone()).collect()
    }

    /// Records that an advance interrupted by a crash is resumed.
    pub fn resume(&mut self, timeline: &TimelineId, now: Instant<Wall>) {
        let until = Span::from_secs(QUEUE_LISTENER_SECONDS).and_then(|span| now.checked_add(span));
        self.resumed.insert(timeline.clone(), until.unwrap_or(Instant::MAX));
    }

    /// Returns whether all queues of a timeline count as having listeners.
    #[must_use]
    pub fn is_resumed(&self, timeline: &TimelineId, now: Instant<Wall>) -> bool {
        self.resumed.get(timeline).is_some_and(|until| *until > now)
    }

    #[must_use]
    pub fn has_listeners(&self, timeline: &TimelineId, queue: &QueueId, now: Instant<Wall>) -> bool {
        if self.own.as_ref() == Some(queue) || self.is_resumed(timeline, now) {
            return true;
        }
        let listeners = self.listeners.get(&(timeline.clone(), queue.clone()));
        listeners.is_some_and(|listeners| listeners.waiting > 0 || listeners.until > now)
    }

    /// Returns the queues of a timeline that have listeners.
    #[must_use]
    pub fn listening_queues(&self, timeline: &TimelineId, now: Instant<Wall>) -> HashSet<QueueId> {
        let listeners = self
            .listeners
            .iter()
            .filter(|((on, _), listeners)| on == timeline && (listeners.waiting > 0 || listeners.until > now));
        listeners.map(|((_, queue), _)| queue).chain(&self.own).cloned().collect()
    }

    /// Lets a timeline's clock move to its next instant, unless a hold or one of the firings `open` prevents it.
    ///
    /// # Errors
    /// A description of the first holder.
    pub fn begin_step(
        &mut self,
        timeline: &TimelineId,
        open: &[(FiringId, QueueId)],
        now: Instant<Wall>,
    ) -> Result<(), String> {
        if let Some(hold) = self.holds(timeline, now).next() {
            return Err(hold.description());
        }
        for (firing_id, queue) in open {
            if let Some(lease) = self.held.get(firing_id) {
                return Err(format!("{firing_id} of the queue `{queue}`, claimed by {}", lease.holder));
            }
            if self.has_listeners(timeline, queue, now) {
                return Err(format!("{firing_id} of the queue `{queue}`, which somebody listens to"));
            }
        }
        *self.stepping.entry(timeline.clone()).or_default() += 1;
        Ok(())
    }

    /// Lets a timeline's clock move to its next instant if the outcomes of all `open` firings that hold it are already
    /// being written to the ledger. Returns whether it may move.
    ///
    /// The caller must check, when the step is decided, that all firings of the instant have an outcome.
    pub fn begin_step_with_outcomes(&mut self, timeline: &TimelineId, open: u64, now: Instant<Wall>) -> bool {
        if self.holds(timeline, now).next().is_some() {
            return false;
        }
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        let settling = self.settling.get(timeline).filter(|settling| settling.len() >= open);
        let handed_out = settling.into_iter().flatten().filter(|firing_id| self.tried.contains_key(*firing_id));
        if open == 0 || handed_out.take(open).count() < open {
            return false;
        }
        *self.stepping.entry(timeline.clone()).or_default() += 1;
        true
    }

    /// Returns whether a timeline's clock is moving to another instant. No firings are handed out there.
    #[must_use]
    pub fn is_stepping(&self, timeline: &TimelineId) -> bool {
        self.stepping.contains_key(timeline)
    }

    /// Ends a step. The clock has reached its instant, or has not moved.
    pub fn end_step(&mut self, timeline: &TimelineId) {
        if let Some(steps) = self.stepping.get_mut(timeline) {
            *steps -= 1;
            self.stepping.retain(|_, steps| *steps > 0);
        }
    }

    /// Changes the holds on a timeline with `change`. Returns `None` while the clock is moving to another instant: the
    /// caller must wait until it gets there.
    pub fn hold(
        &mut self,
        timeline: &TimelineId,
        change: impl FnOnce(&mut Holds) -> Result<(), NotHeld>,
    ) -> Option<Result<(), NotHeld>> {
        if self.stepping.contains_key(timeline) {
            return None;
        }
        Some(change(self.holds.entry(timeline.clone()).or_default()))
    }

    /// Returns the holds on a timeline that have not ended.
    pub fn holds(&self, timeline: &TimelineId, now: Instant<Wall>) -> impl Iterator<Item = &Hold> {
        self.holds.get(timeline).into_iter().flat_map(move |holds| holds.active(now))
    }

    fn release(&mut self, firing_id: &FiringId) -> Option<Lease> {
        let lease = self.held.remove(firing_id)?;
        self.ends.remove(&(lease.until, firing_id.clone()));
        Some(lease)
    }

    fn take_wait(&mut self, firing_id: &FiringId) {
        if let Some(tried) = self.tried.get(firing_id) {
            self.waits.remove(&(tried.not_before, firing_id.clone()));
        }
    }
}
