//! Followers of clocks, and the last change that each has confirmed.
//!
//! Each service keeps the followers of its own streams in memory, and the last report about followers of other services
//! on its database. Nothing has to survive a restart: followers reconnect and receive the clock again.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::{FollowerId, FollowerName, TimelineId, UserId};
use crate::limits::{
    FOLLOWER_AWAY_SECONDS, FOLLOWER_HOST_BYTES_MAX, FOLLOWER_PROCESS_MAX, FOLLOWER_STEP_SECONDS_MAX,
    FOLLOWERS_AWAY_MAX, FOLLOWERS_PER_TIMELINE_MAX,
};
use crate::time::{Instant, Span, Wall};
use crate::timers::Advance;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    pub follower_id: FollowerId,
    pub timeline: TimelineId,
    pub user_id: UserId,
    pub name: FollowerName,
    /// Its own report of its host and process. Known only to the service that serves its stream.
    pub place: FollowerPlace,
    pub since: Instant<Wall>,
    /// The newest change that it has confirmed. A confirmation covers all earlier changes.
    pub confirmed: Option<Confirmed>,
    /// When its stream ended, in host time.
    pub left: Option<Instant<Wall>>,
    /// Whether it confirms each step of an advance. If so, the firings of an instant are offered only after that.
    pub steps: bool,
    /// Whether it can show faulty clocks; `None` if another service serves its stream.
    pub shows_faults: Option<bool>,
    /// Whether it was too slow to confirm a step. Advances do not wait for it again until it confirms a newer one.
    pub is_late: bool,
}

/// A follower's own report of its host and process. It is not verified, and only informative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowerPlace {
    pub host: Option<FollowerHost>,
    /// Its process id, on that host or in its container.
    pub process: Option<FollowerProcess>,
}

/// A follower's host name: 1 to [`FOLLOWER_HOST_BYTES_MAX`] visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerHost(Box<str>);

impl FollowerHost {
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_short = (1..=FOLLOWER_HOST_BYTES_MAX).contains(&text.len());
        (is_short && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.into()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A follower's process id: 1 to [`FOLLOWER_PROCESS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerProcess(u32);

impl FollowerProcess {
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (1..=FOLLOWER_PROCESS_MAX).contains(&number).then_some(Self(number))
    }

    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A clock change that a follower has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed {
    pub step: Step,
    pub at: Instant<Wall>,
}

/// A clock change, and within an advance the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub generation: u64,
    /// Number of instants that the advance of this generation has reached; 0 without an advance.
    pub number: u64,
}

impl Step {
    /// Returns a clock change without an advance.
    #[must_use]
    pub const fn of(generation: u64) -> Self {
        Self { generation, number: 0 }
    }
}

impl Follower {
    /// Returns whether it has confirmed this generation of the clock, or a later one.
    #[must_use]
    pub fn has_confirmed(&self, generation: u64) -> bool {
        self.has_come_to(Step::of(generation))
    }

    /// Returns whether it has confirmed this step, or a later one.
    #[must_use]
    pub fn has_come_to(&self, step: Step) -> bool {
        self.confirmed.is_some_and(|confirmed| confirmed.step >= step)
    }

    /// Returns how long it took to confirm a step, counted from the change or from the opening of its stream, whichever
    /// is later. `None` unless this step is its newest confirmed one.
    #[must_use]
    pub fn took(&self, step: Step, changed: Instant<Wall>) -> Option<Span> {
        let confirmed = self.confirmed.filter(|confirmed| confirmed.step == step)?;
        // Services on one database have different host clocks, so the difference may be negative.
        Some(confirmed.at.since(changed.max(self.since)).max(Span::ZERO))
    }

    /// Returns whether its stream is open.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.left.is_none()
    }

    fn confirm(&mut self, confirmed: Confirmed) {
        if !self.has_come_to(confirmed.step) {
            self.confirmed = Some(confirmed);
            self.is_late = false;
        }
    }

    fn follows_as(&self, other: &Self) -> bool {
        self.timeline == other.timeline && self.user_id == other.user_id && self.name == other.name
    }
}

/// The followers that a caller waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The followers that were connected when the clock was changed.
    These(Vec<Follower>),
    /// All followers with these names. At least one of each must be connected.
    Named(Vec<FollowerName>),
}

/// Whether an awaited follower has confirmed a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedStatus {
    pub name: FollowerName,
    /// The follower, if one with the name is or was connected.
    pub follower: Option<Follower>,
    pub state: AwaitedState,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AwaitedState {
        Confirmed = "confirmed",
        Behind = "lagging",
        /// It disconnected without confirming, and has not reconnected.
        Away = "disconnected",
        Absent = "unknown",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFollowers;

/// All followers that one service knows: its own, and those of other services as last reported.
#[derive(Debug, Default)]
pub struct Followers {
    /// Followers of this service. Their ids sort by creation time.
    there: BTreeMap<TimelineId, BTreeMap<FollowerId, Follower>>,
    /// Followers of other services, as last reported.
    elsewhere: BTreeMap<TimelineId, BTreeMap<FollowerId, Follower>>,
    /// Followers that disconnected recently, oldest first.
    away: VecDeque<Follower>,
}

impl Followers {
    /// Adds a follower after its stream was opened. A disconnected follower with the same name and user counts as
    /// reconnected.
    ///
    /// # Errors
    /// The timeline has the maximum number of followers.
    pub fn begin(&mut self, follower: Follower) -> Result<(), TooManyFollowers> {
        self.forget(follower.since);
        let there = self.there.entry(follower.timeline.clone()).or_default();
        if there.len() >= FOLLOWERS_PER_TIMELINE_MAX {
            return Err(TooManyFollowers);
        }
        self.away.retain(|away| !away.follows_as(&follower));
        there.insert(follower.follower_id.clone(), follower);
        Ok(())
    }

    pub fn leave(&mut self, timeline: &TimelineId, follower_id: &FollowerId, host: Instant<Wall>) {
        let Some(there) = self.there.get_mut(timeline) else { return };
        let Some(follower) = there.remove(follower_id) else { return };
        if there.is_empty() {
            self.there.remove(timeline);
        }
        self.disconnect(follower, host);
    }

    fn disconnect(&mut self, follower: Follower, host: Instant<Wall>) {
        self.forget(host);
        if self.away.len() >= FOLLOWERS_AWAY_MAX {
            self.away.pop_front();
        }
        self.away.push_back(Follower { left: Some(host), ..follower });
    }

    /// Replaces the list of followers at other services. Those missing from it have disconnected, unless they
    /// reconnected here. Returns whether anything changed.
    pub fn learn_others(&mut self, timeline: &TimelineId, others: Vec<Follower>, host: Instant<Wall>) -> bool {
        let mut by_id: BTreeMap<FollowerId, Follower> =
            others.into_iter().map(|follower| (follower.follower_id.clone(), follower)).collect();
        let known = self.elsewhere.remove(timeline).unwrap_or_default();
        for (follower_id, before) in &known {
            if let Some(follower) = by_id.get_mut(follower_id) {
                // The report may be older than the follower's last confirmation to this service.
                if before.confirmed.map(|one| one.step) >= follower.confirmed.map(|one| one.step) {
                    (follower.confirmed, follower.is_late) = (before.confirmed, before.is_late);
                }
            }
        }
        let is_new = known != by_id;
        for (_, follower) in by_id.iter().filter(|(follower_id, _)| !known.contains_key(*follower_id)) {
            self.away.retain(|away| !away.follows_as(follower));
        }
        for follower in known.into_values().filter(|follower| !by_id.contains_key(&follower.follower_id)) {
            let is_back = self.connected(timeline).chain(by_id.values()).any(|other| other.follows_as(&follower));
            if !is_back {
                self.disconnect(follower, host);
            }
        }
        if !by_id.is_empty() {
            self.elsewhere.insert(timeline.clone(), by_id);
        }
        is_new
    }

    /// Records a confirmation by a follower of another service, if it is known here.
    pub fn learn_confirmation(&mut self, timeline: &TimelineId, follower_id: &FollowerId, confirmed: Confirmed) {
        let there = self.elsewhere.get_mut(timeline);
        if let Some(follower) = there.and_then(|there| there.get_mut(follower_id)) {
            follower.confirm(confirmed);
        }
    }

    /// Returns the timelines that have followers at other services, as last reported.
    pub fn followed_elsewhere(&self) -> impl Iterator<Item = &TimelineId> {
        self.elsewhere.keys()
    }

    pub fn followed_here(&self) -> impl Iterator<Item = &TimelineId> {
        self.there.keys()
    }

    /// Records a confirmation. Returns the follower, or `None` if the user has no such connected follower.
    pub fn confirm(
        &mut self,
        (timeline, user_id): (&TimelineId, &UserId),
        follower_id: &FollowerId,
        confirmed: Confirmed,
    ) -> Option<&Follower> {
        let follower = self.there.get_mut(timeline)?.get_mut(follower_id)?;
        if follower.user_id != *user_id {
            return None;
        }
        follower.confirm(confirmed);
        Some(follower)
    }

    /// Returns a follower that this service streams to.
    #[must_use]
    pub fn here(&self, timeline: &TimelineId, follower_id: &FollowerId) -> Option<&Follower> {
        self.there.get(timeline)?.get(follower_id)
    }

    #[must_use]
    pub fn any_confirms_steps(&self, timeline: &TimelineId) -> bool {
        self.connected(timeline).any(|follower| follower.steps)
    }

    /// Returns the names of the followers that the firings of the current instant wait for, and the deadline in host
    /// time. These are connected, confirm steps, have not confirmed this one, and satisfy `may_be`. After the deadline
    /// they are marked late and no longer waited for, until they confirm something newer.
    pub fn waited_for(
        &mut self,
        (timeline, generation, advance): (&TimelineId, u64, &Advance),
        host: Instant<Wall>,
        may_be: impl Fn(&UserId) -> bool,
    ) -> Option<(Vec<FollowerName>, Instant<Wall>)> {
        let step = Step { generation, number: advance.step };
        let there = [self.there.get_mut(timeline), self.elsewhere.get_mut(timeline)];
        let there = there.into_iter().flatten().flat_map(BTreeMap::values_mut);
        let is_missing = |follower: &&mut Follower| follower.steps && !follower.is_late && !follower.has_come_to(step);
        let missing = there.filter(is_missing).filter(|follower| may_be(&follower.user_id));
        let longest = Span::from_secs(FOLLOWER_STEP_SECONDS_MAX);
        let until = longest.and_then(|span| advance.held_since.checked_add(span)).unwrap_or(Instant::MAX);
        if host < until {
            let names: Vec<FollowerName> = missing.map(|follower| follower.name.clone()).collect();
            return (!names.is_empty()).then_some((names, until));
        }
        missing.for_each(|follower| follower.is_late = true);
        None
    }

    /// Returns all followers of a clock: connected ones in the order of connection, then disconnected ones.
    pub fn of(&mut self, timeline: &TimelineId, host: Instant<Wall>) -> Vec<Follower> {
        self.forget(host);
        let away = self.away.iter().filter(|away| away.timeline == *timeline);
        self.there(timeline).chain(away).cloned().collect()
    }

    /// Returns the connected followers of a clock, of all services, in the order of connection.
    pub fn there(&self, timeline: &TimelineId) -> impl Iterator<Item = &Follower> {
        let mut there: Vec<&Follower> = self.connected(timeline).collect();
        // Ids count milliseconds only.
        there.sort_by_key(|follower| (follower.since, &follower.follower_id));
        there.into_iter()
    }

    /// Returns the connected followers of a clock in any order.
    fn connected(&self, timeline: &TimelineId) -> impl Iterator<Item = &Follower> {
        [&self.there, &self.elsewhere].into_iter().filter_map(|all| all.get(timeline)).flat_map(BTreeMap::values)
    }

    /// Returns the state of the awaited followers. A disconnected follower counts as confirmed if it reconnects with
    /// the same name and user and then confirms the change.
    #[must_use]
    pub fn statuses(&self, timeline: &TimelineId, awaited: &Awaited, generation: u64) -> Vec<AwaitedStatus> {
        match awaited {
            Awaited::These(followers) => {
                followers.iter().map(|follower| self.status_of(follower, followers, generation)).collect()
            }
            Awaited::Named(names) => {
                names.iter().flat_map(|name| self.statuses_under(timeline, name, generation)).collect()
            }
        }
    }

    fn status_of(&self, awaited: &Follower, also_awaited: &[Follower], generation: u64) -> AwaitedStatus {
        let mut there = [&self.there, &self.elsewhere].into_iter().filter_map(|all| all.get(&awaited.timeline));
        if let Some(follower) = there.find_map(|there| there.get(&awaited.follower_id)) {
            return AwaitedStatus::of(follower, generation);
        }
        let is_new = |follower: &Follower| also_awaited.iter().all(|one| one.follower_id != follower.follower_id);
        let is_back = |follower: &&Follower| follower.follows_as(awaited) && is_new(follower);
        let back = self.connected(&awaited.timeline).filter(is_back);
        if let Some(follower) = back.max_by_key(|follower| follower.has_confirmed(generation)) {
            return AwaitedStatus::of(follower, generation);
        }
        // A confirmation before the disconnect still counts.
        let away = self.away.iter().find(|away| away.follower_id == awaited.follower_id).unwrap_or(awaited);
        let state = if away.has_confirmed(generation) { AwaitedState::Confirmed } else { AwaitedState::Away };
        AwaitedStatus { name: away.name.clone(), follower: Some(away.clone()), state }
    }

    fn statuses_under(&self, timeline: &TimelineId, name: &FollowerName, generation: u64) -> Vec<AwaitedStatus> {
        let there: Vec<AwaitedStatus> = self
            .connected(timeline)
            .filter(|follower| follower.name == *name)
            .map(|follower| AwaitedStatus::of(follower, generation))
            .collect();
        if !there.is_empty() {
            return there;
        }
        let away = self.away.iter().rfind(|away| away.timeline == *timeline && away.name == *name);
        let state = if away.is_some() { AwaitedState::Away } else { AwaitedState::Absent };
        vec![AwaitedStatus { name: name.clone(), follower: away.cloned(), state }]
    }

    fn forget(&mut self, host: Instant<Wall>) {
        let retention = Span::from_secs(FOLLOWER_AWAY_SECONDS).unwrap_or(Span::ZERO);
        let is_over = |away: &Follower| away.left.is_none_or(|left| host.since(left) > retention);
        while self.away.front().is_some_and(is_over) {
            self.away.pop_front();
        }
    }
}

impl AwaitedStatus {
    fn of(follower: &Follower, generation: u64) -> Self {
        let has_confirmed = follower.has_confirmed(generation);
        let state = if has_confirmed { AwaitedState::Confirmed } else { AwaitedState::Behind };
        Self { name: follower.name.clone(), follower: Some(follower.clone()), state }
    }
}

#[must_use]
pub fn is_confirmed(statuses: &[AwaitedStatus]) -> bool {
    statuses.iter().all(|statuses| statuses.state == AwaitedState::Confirmed)
}

#[cfg(test)]
mod tests;
