//! Travel, pause, resume, fast-forward, rewind, rate; reading and watching a clock.

use timenav_core::access::Demand;
use timenav_core::clock::{Clock, ClockCommand};
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Virtual, Wall, Zone};

use crate::caller::Caller;
use crate::command::{Answer, Change, Command, LedgerPosition};
use crate::engine::Engine;
use crate::idempotency::Idempotency;
use crate::live::ClockStream;
use crate::refusal::Refusal;

/// A clock at one reading.
#[derive(Clone, Debug)]
pub struct ClockView {
    /// Whose clock.
    pub timeline_id: TimelineId,
    /// The clock.
    pub clock: Clock,
    /// Its reading.
    pub current_time: Instant<Virtual>,
    /// Where the location's calendar differs from UTC, its reading there.
    pub local_time: Option<String>,
}

/// A clock after an operation on it.
#[derive(Clone, Debug)]
pub struct ClockStep {
    /// The clock after the operation.
    pub view: ClockView,
    /// Whether the operation changed it.
    pub changed: bool,
    /// Where the operation stands in the ledger.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl ClockView {
    /// Returns the view of a clock at a host instant.
    pub(crate) fn at(timeline_id: TimelineId, clock: Clock, host: Instant<Wall>) -> Self {
        let current_time = clock.now(host);
        Self::reading(timeline_id, clock, current_time)
    }

    fn reading(timeline_id: TimelineId, clock: Clock, current_time: Instant<Virtual>) -> Self {
        let zone = clock.location.as_deref().and_then(Zone::named);
        let local_time = zone.map(|zone| zone.local_time(current_time));
        Self { timeline_id, clock, current_time, local_time }
    }
}

/// Returns the zone whose calendar a clock at a location uses: that of an IANA zone name, else UTC.
pub(crate) fn zone_of(location: Option<&str>) -> Zone {
    location.and_then(Zone::named).unwrap_or_else(Zone::utc)
}

impl Engine {
    /// Changes a clock: travel, pause, resume, fast-forward, rewind, rate.
    ///
    /// # Errors
    /// The caller may not, the clock refuses, or the ledger cannot be written.
    pub async fn change_clock(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        change: ClockCommand,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        let timeline = timeline.unwrap_or_else(|| caller.timeline_id.clone());
        let command = Command::Clock { action: action_of(&change), change };
        self.submit(caller, timeline, command, idempotency).await.and_then(ClockStep::of)
    }

    /// Reads a clock.
    ///
    /// # Errors
    /// The caller may not, there is no such timeline, or the ledger cannot be written.
    pub async fn read_clock(&self, caller: &Caller, timeline: Option<TimelineId>) -> Result<ClockView, Refusal> {
        let timeline = timeline.unwrap_or_else(|| caller.timeline_id.clone());
        let state = self.admit(caller, &timeline, Demand::Look, "clock").await?;
        self.log_read(caller, &timeline, "clock", "{}".to_owned()).await?;
        // Read after the entry is durable, so that the answer is as fresh as can be.
        let state = self.state(&timeline).unwrap_or(state);
        Ok(ClockView::at(timeline, state.head.clock.clone(), self.host(&state)))
    }

    /// Watches a clock from now on, or from the generation after `seen`.
    ///
    /// # Errors
    /// As [`Engine::read_clock`].
    pub async fn watch_clock(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        seen: Option<u64>,
    ) -> Result<(TimelineId, ClockStream), Refusal> {
        let timeline = timeline.unwrap_or_else(|| caller.timeline_id.clone());
        let state = self.admit(caller, &timeline, Demand::Look, "clock_stream").await?;
        self.log_read(caller, &timeline, "clock_stream", "{}".to_owned()).await?;
        let stream = self.live().listen(&timeline, state.head.clock.clone(), seen);
        Ok((timeline, stream))
    }

    /// Returns what a clock that was watched shows now.
    #[must_use]
    pub fn watched(&self, timeline: &TimelineId, clock: Clock) -> ClockView {
        let host = self.state(timeline).map_or_else(|| self.now(), |state| self.host(&state));
        ClockView::at(timeline.clone(), clock, host)
    }

    /// Returns whether a caller may still watch a timeline's clock.
    #[must_use]
    pub fn may_watch(&self, caller: &Caller, timeline: &TimelineId) -> bool {
        self.is_live(caller) && self.decide(caller, timeline, Demand::Look).is_ok()
    }
}

impl ClockStep {
    pub(crate) fn of(answer: Answer) -> Result<Self, Refusal> {
        let Change::Clock { clock, current_time, changed } = answer.change else {
            return Err(Refusal::Damaged("a clock operation was answered with something else".to_owned()));
        };
        let view = ClockView::reading(answer.timeline_id, clock, current_time);
        Ok(Self { view, changed, ledger: answer.ledger, replayed: answer.replayed })
    }
}

const fn action_of(change: &ClockCommand) -> &'static str {
    match change {
        ClockCommand::Travel { .. } => "travel",
        ClockCommand::Pause => "pause_time",
        ClockCommand::Resume => "resume_time",
        ClockCommand::FastForward(_) => "fast_forward",
        ClockCommand::Rewind(_) => "rewind",
        ClockCommand::SetRate(_) => "set_rate",
        ClockCommand::Restore(_) => crate::payload::action::RETURN_TO_ANCHOR,
    }
}
