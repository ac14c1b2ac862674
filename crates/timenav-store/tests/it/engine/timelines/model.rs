//! A model of clocks based on the core crate, compared with the engine.

use timenav_core::clock::{self, Surroundings};
use timenav_core::time::Zone;

use crate::engine::*;

#[derive(Clone)]
struct Known {
    clock: Clock,
    recorded_at: Instant<Wall>,
}

/// Every timeline's clock according to core.
#[derive(Clone, Default)]
pub(in crate::engine) struct Model(BTreeMap<String, Known>);

impl Model {
    /// Adds a timeline.
    pub(in crate::engine) fn insert(&mut self, timeline: &str, clock: Clock, recorded_at: Instant<Wall>) {
        self.0.insert(timeline.to_owned(), Known { clock, recorded_at });
    }

    pub(in crate::engine) fn contains(&self, timeline: &str) -> bool {
        self.0.contains_key(timeline)
    }

    pub(in crate::engine) fn clock(&self, timeline: &str) -> &Clock {
        &self.0[timeline].clock
    }

    /// Applies a change like the engine should. Returns the clock, its reading, and whether it changed.
    pub(in crate::engine) fn change(
        &mut self,
        timeline: &str,
        command: &ClockCommand,
        now: Instant<Wall>,
    ) -> Result<(Clock, Instant<Virtual>, bool), ClockRefusal> {
        let moved = self.decide(timeline, (command, None), now)?;
        Ok(self.apply(timeline, moved.as_ref(), now))
    }

    /// Returns the effect of a command on a clock whose next timer is due at that time.
    pub(in crate::engine) fn decide(
        &self,
        timeline: &str,
        (command, next): (&ClockCommand, Option<Instant<Virtual>>),
        now: Instant<Wall>,
    ) -> Result<Option<ClockMoved>, ClockRefusal> {
        let known = self.known(timeline, now);
        let zone = known.clock.location.as_deref().and_then(Zone::named).unwrap_or_else(Zone::utc);
        clock::decide(&known.clock, command, Surroundings { zone: &zone, next }, now.max(known.recorded_at))
    }

    /// Applies a decision.
    pub(in crate::engine) fn apply(
        &mut self,
        timeline: &str,
        moved: Option<&ClockMoved>,
        now: Instant<Wall>,
    ) -> (Clock, Instant<Virtual>, bool) {
        let known = self.known(timeline, now);
        let host = now.max(known.recorded_at);
        let clock = moved.map_or(known.clock.clone(), |moved| clock::apply(&known.clock, moved));
        self.insert(timeline, clock.clone(), host);
        let reading = clock.now(host);
        (clock, reading, moved.is_some())
    }

    fn known(&self, timeline: &str, now: Instant<Wall>) -> Known {
        let known = self.0.get(timeline).cloned();
        known.unwrap_or_else(|| Known { clock: Clock::new(now), recorded_at: now })
    }

    /// Reads a clock like the engine should.
    pub(in crate::engine) fn read(&mut self, timeline: &str, now: Instant<Wall>) -> Option<Instant<Virtual>> {
        let known = self.0.get_mut(timeline)?;
        known.recorded_at = now.max(known.recorded_at);
        Some(known.clock.now(known.recorded_at))
    }
}
