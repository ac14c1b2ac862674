//! Who follows a clock under a name, and which change of it each has confirmed.
//!
//! One service has it in memory, of the streams that are open at it, and what it has heard of those that are open at other
//! services on its database. Nothing of it has to survive a restart: whoever follows comes back, and is told the clock anew.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::{FollowerId, FollowerName, TimelineId, UserId};
use crate::limits::{
    FOLLOWER_AWAY_SECONDS, FOLLOWER_HOST_BYTES_MAX, FOLLOWER_PROCESS_MAX, FOLLOWER_STEP_SECONDS_MAX,
    FOLLOWERS_AWAY_MAX, FOLLOWERS_PER_TIMELINE_MAX,
};
use crate::time::{Instant, Span, Wall};
use crate::timers::Advance;

/// Somebody who follows a clock under a name, by one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// Names the stream.
    pub follower_id: FollowerId,
    /// Whose clock.
    pub timeline: TimelineId,
    /// Who follows.
    pub user_id: UserId,
    /// What it is called.
    pub name: FollowerName,
    /// Where it runs, as it says itself. It is known where its stream is open.
    pub place: FollowerPlace,
    /// Host time since which the stream is open.
    pub since: Instant<Wall>,
    /// The newest change that it has confirmed. Confirming one confirms all before.
    pub confirmed: Option<Confirmed>,
    /// Host time at which the stream ended, if it has.
    pub left: Option<Instant<Wall>>,
    /// Whether it confirms each step of an advance: firings of an instant are offered once it has.
    pub steps: bool,
    /// Whether it shows its clock wrong where that is asked for; `None` where its stream is open at another service.
    pub shows_faults: Option<bool>,
    /// Whether it took too long over a step. It is not waited for at another one until it has confirmed something newer.
    pub is_late: bool,
}

/// Where a follower runs, as it says itself. Nobody checks it, and nothing goes by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowerPlace {
    /// The name of its host.
    pub host: Option<FollowerHost>,
    /// The id of its process, on that host or in its container.
    pub process: Option<FollowerProcess>,
}

/// What a follower calls its host: 1 to [`FOLLOWER_HOST_BYTES_MAX`] visible characters of ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerHost(Box<str>);

impl FollowerHost {
    /// Returns the name of a host, or `None` for a text that cannot be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_short = (1..=FOLLOWER_HOST_BYTES_MAX).contains(&text.len());
        (is_short && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.into()))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of a follower's process: 1 to [`FOLLOWER_PROCESS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerProcess(u32);

impl FollowerProcess {
    /// Returns the id, or `None` for a number that no process has.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (1..=FOLLOWER_PROCESS_MAX).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A change of a clock that a follower has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// Which.
    pub step: Step,
    /// Host time at which it was confirmed.
    pub at: Instant<Wall>,
}

/// What a follower has come to: a change of the clock, and within an advance the instant at which it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The generation of the clock.
    pub generation: u64,
    /// How many instants the advance of that generation has come to; 0 without one.
    pub number: u64,
}

impl Step {
    /// Returns a change of the clock, without a step.
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

    /// Returns how long it took to confirm what the clock came to at a host time: since then, or since its stream was
    /// opened if that was later. `None` if it has not confirmed that, or something newer.
    #[must_use]
    pub fn took(&self, step: Step, changed: Instant<Wall>) -> Option<Span> {
        let confirmed = self.confirmed.filter(|confirmed| confirmed.step == step)?;
        // Services on one database have clocks of their own.
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

/// Who is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// These, who were there when the clock was changed.
    These(Vec<Follower>),
    /// All followers of these names. At least one of each has to be there.
    Named(Vec<FollowerName>),
}

/// How somebody who is waited for stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The name.
    pub name: FollowerName,
    /// The follower, if there is or was one.
    pub follower: Option<Follower>,
    /// Whether it has confirmed the change.
    pub state: AwaitedState,
}

/// Whether somebody who is waited for has confirmed a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedState {
    /// It has.
    Confirmed,
    /// It is there, and has not.
    Behind,
    /// It went away before it did, and has not come back.
    Away,
    /// Nobody follows under that name.
    Absent,
}

impl AwaitedState {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Behind => "behind",
            Self::Away => "away",
            Self::Absent => "absent",
        }
    }
}

/// There are as many followers of the timeline's clock as there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFollowers;

/// All followers that one service knows: those at it, and those at other services as it has heard of them.
#[derive(Debug, Default)]
pub struct Followers {
    /// Ids sort by the time at which they were made.
    there: BTreeMap<TimelineId, BTreeMap<FollowerId, Follower>>,
    /// Those whose streams are open at other services, as they were heard of last.
    elsewhere: BTreeMap<TimelineId, BTreeMap<FollowerId, Follower>>,
    /// Those who went away lately, the first one first.
    away: VecDeque<Follower>,
}

impl Followers {
    /// Takes in a follower whose stream was opened. One of the same name and user that went away has come back by this.
    ///
    /// # Errors
    /// The timeline has as many as it may have.
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

    /// Notes that the stream of a follower has ended.
    pub fn leave(&mut self, timeline: &TimelineId, follower_id: &FollowerId, host: Instant<Wall>) {
        let Some(there) = self.there.get_mut(timeline) else { return };
        let Some(follower) = there.remove(follower_id) else { return };
        if there.is_empty() {
            self.there.remove(timeline);
        }
        self.went_away(follower, host);
    }

    fn went_away(&mut self, follower: Follower, host: Instant<Wall>) {
        self.forget(host);
        if self.away.len() >= FOLLOWERS_AWAY_MAX {
            self.away.pop_front();
        }
        self.away.push_back(Follower { left: Some(host), ..follower });
    }

    /// Takes in whose streams are open at other services by now. Whoever is not among them any more went away, unless they
    /// are here by now. Returns whether anything is new.
    pub fn hear_of_others(&mut self, timeline: &TimelineId, others: Vec<Follower>, host: Instant<Wall>) -> bool {
        let mut heard: BTreeMap<FollowerId, Follower> =
            others.into_iter().map(|follower| (follower.follower_id.clone(), follower)).collect();
        let known = self.elsewhere.remove(timeline).unwrap_or_default();
        for (follower_id, before) in &known {
            if let Some(follower) = heard.get_mut(follower_id) {
                // What was heard of it last may be older than what it has said here.
                if before.confirmed.map(|one| one.step) >= follower.confirmed.map(|one| one.step) {
                    (follower.confirmed, follower.is_late) = (before.confirmed, before.is_late);
                }
            }
        }
        let is_new = known != heard;
        for (_, follower) in heard.iter().filter(|(follower_id, _)| !known.contains_key(*follower_id)) {
            self.away.retain(|away| !away.follows_as(follower));
        }
        for follower in known.into_values().filter(|follower| !heard.contains_key(&follower.follower_id)) {
            let is_back = self.there(timeline).chain(heard.values()).any(|other| other.follows_as(&follower));
            if !is_back {
                self.went_away(follower, host);
            }
        }
        if !heard.is_empty() {
            self.elsewhere.insert(timeline.clone(), heard);
        }
        is_new
    }

    /// Notes that a follower has applied a change whose stream is open at another service, if it was heard of.
    pub fn hear_of_confirmation(&mut self, timeline: &TimelineId, follower_id: &FollowerId, confirmed: Confirmed) {
        let there = self.elsewhere.get_mut(timeline);
        if let Some(follower) = there.and_then(|there| there.get_mut(follower_id)) {
            follower.confirm(confirmed);
        }
    }

    /// Returns the timelines that others follow at other services, as far as it was heard of them.
    pub fn followed_elsewhere(&self) -> impl Iterator<Item = &TimelineId> {
        self.elsewhere.keys()
    }

    /// Returns the timelines whose clocks are followed here.
    pub fn followed_here(&self) -> impl Iterator<Item = &TimelineId> {
        self.there.keys()
    }

    /// Notes that a follower has applied a change. Returns what is known of it then; `None` if that user has no such follower
    /// whose stream is open.
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

    /// Returns a follower whose stream is open here.
    #[must_use]
    pub fn here(&self, timeline: &TimelineId, follower_id: &FollowerId) -> Option<&Follower> {
        self.there.get(timeline)?.get(follower_id)
    }

    /// Returns whether anybody is there who confirms the steps of advances.
    #[must_use]
    pub fn any_confirms_steps(&self, timeline: &TimelineId) -> bool {
        self.there(timeline).any(|follower| follower.steps)
    }

    /// Returns the names of those for whom the firings of the instant of an advance wait, and until when, by the host: who
    /// confirms steps, is there, has not come to this one, and may be waited for. Once it is that late, nobody is waited
    /// for any longer, and those who were are not waited for again until they have confirmed something newer.
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

    /// Returns all followers of a clock: those who are there in the order in which they came, then those who went away.
    pub fn of(&mut self, timeline: &TimelineId, host: Instant<Wall>) -> Vec<Follower> {
        self.forget(host);
        let mut there: Vec<&Follower> = self.there(timeline).collect();
        there.sort_by_key(|follower| &follower.follower_id);
        let away = self.away.iter().filter(|away| away.timeline == *timeline);
        there.into_iter().chain(away).cloned().collect()
    }

    /// Returns the followers of a clock whose streams are open: here, then elsewhere.
    pub fn there(&self, timeline: &TimelineId) -> impl Iterator<Item = &Follower> {
        [&self.there, &self.elsewhere].into_iter().filter_map(|all| all.get(timeline)).flat_map(BTreeMap::values)
    }

    /// Tells how those stand who are waited for. A follower that went away has confirmed a change if it came back, under
    /// the same name and user, and has confirmed it then.
    #[must_use]
    pub fn standing(&self, timeline: &TimelineId, awaited: &Awaited, generation: u64) -> Vec<Standing> {
        match awaited {
            Awaited::These(followers) => {
                followers.iter().map(|follower| self.standing_of(follower, followers, generation)).collect()
            }
            Awaited::Named(names) => {
                names.iter().flat_map(|name| self.standing_under(timeline, name, generation)).collect()
            }
        }
    }

    fn standing_of(&self, awaited: &Follower, beside: &[Follower], generation: u64) -> Standing {
        let mut there = [&self.there, &self.elsewhere].into_iter().filter_map(|all| all.get(&awaited.timeline));
        if let Some(follower) = there.find_map(|there| there.get(&awaited.follower_id)) {
            return Standing::of(follower, generation);
        }
        let is_new = |follower: &Follower| beside.iter().all(|one| one.follower_id != follower.follower_id);
        let came_back = |follower: &&Follower| follower.follows_as(awaited) && is_new(follower);
        let back = self.there(&awaited.timeline).filter(came_back);
        if let Some(follower) = back.max_by_key(|follower| follower.has_confirmed(generation)) {
            return Standing::of(follower, generation);
        }
        // What it had confirmed before it went is not forgotten.
        let away = self.away.iter().find(|away| away.follower_id == awaited.follower_id).unwrap_or(awaited);
        let state = if away.has_confirmed(generation) { AwaitedState::Confirmed } else { AwaitedState::Away };
        Standing { name: away.name.clone(), follower: Some(away.clone()), state }
    }

    fn standing_under(&self, timeline: &TimelineId, name: &FollowerName, generation: u64) -> Vec<Standing> {
        let there: Vec<Standing> = self
            .there(timeline)
            .filter(|follower| follower.name == *name)
            .map(|follower| Standing::of(follower, generation))
            .collect();
        if !there.is_empty() {
            return there;
        }
        let away = self.away.iter().rfind(|away| away.timeline == *timeline && away.name == *name);
        let state = if away.is_some() { AwaitedState::Away } else { AwaitedState::Absent };
        vec![Standing { name: name.clone(), follower: away.cloned(), state }]
    }

    /// Forgets who went away long ago.
    fn forget(&mut self, host: Instant<Wall>) {
        let kept = Span::from_secs(FOLLOWER_AWAY_SECONDS).unwrap_or(Span::ZERO);
        let is_over = |away: &Follower| away.left.is_none_or(|left| host.since(left) > kept);
        while self.away.front().is_some_and(is_over) {
            self.away.pop_front();
        }
    }
}

impl Standing {
    fn of(follower: &Follower, generation: u64) -> Self {
        let has_confirmed = follower.has_confirmed(generation);
        let state = if has_confirmed { AwaitedState::Confirmed } else { AwaitedState::Behind };
        Self { name: follower.name.clone(), follower: Some(follower.clone()), state }
    }
}

/// Returns whether nobody has to be waited for any longer.
#[must_use]
pub fn is_confirmed(standing: &[Standing]) -> bool {
    standing.iter().all(|standing| standing.state == AwaitedState::Confirmed)
}

#[cfg(test)]
mod tests;
