//! The client-side state of a clock, and how long it remains valid. Uses no task, network or clock.
//!
//! All times are passed in, as the host's monotonic time in microseconds. docs/adr/0043 has the rules; clients/vectors
//! tests them in all languages.

use std::time::Duration;

use crate::error::{ClockUnavailable, Error, Problem};
use crate::instant::Instant;
use crate::operations::clock::Clock;
use crate::virtual_clock::clock_state::ClockState;

/// The heartbeat interval of the service, 15 seconds, plus time for a heartbeat to arrive.
const STALE_AFTER_MIN: Duration = Duration::from_secs(20);
/// The assumed drift between the clocks of two machines, in parts per million.
const DRIFT_PPM: i128 = 100;

/// The staleness bounds of a clock: how long readings remain valid without a message from the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalenessBounds {
    stale_after: Duration,
    lost_after: Duration,
}

impl Default for StalenessBounds {
    fn default() -> Self {
        Self { stale_after: Duration::from_secs(30), lost_after: Duration::from_secs(10) }
    }
}

impl StalenessBounds {
    /// Returns bounds. `stale_after` counts from the last message of the service, and `lost_after` from the loss of the
    /// connection.
    ///
    /// # Errors
    /// `stale_after` is less than 20 seconds, which a healthy stream may exceed.
    pub fn new(stale_after: Duration, lost_after: Duration) -> Result<Self, Error> {
        if stale_after < STALE_AFTER_MIN {
            return Err(Error::Invalid(format!(
                "stale_after must be at least {STALE_AFTER_MIN:?}, not {stale_after:?}: an idle stream sends a \
                 heartbeat every 15 seconds"
            )));
        }
        Ok(Self { stale_after, lost_after })
    }

    pub(crate) const fn stale_after(self) -> Duration {
        self.stale_after
    }
}

/// A change of a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockChange {
    /// The state before the change.
    pub before: ClockState,
    /// The state after the change.
    pub after: ClockState,
    /// The size of a jump in microseconds; 0 if the clock was paused, resumed, or changed its rate.
    pub jump_micros: i64,
    /// Whether changes in between may be missing, or the service was rolled back to an older state.
    pub is_reset: bool,
}

/// A reading of a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The virtual time.
    pub now: Instant,
    /// The state from which it was computed.
    pub state: ClockState,
    /// How far the service's clock may be ahead of `now`, in virtual microseconds; `None` if unknown.
    pub uncertainty_micros: Option<i64>,
}

#[derive(Clone, Debug)]
struct Known {
    state: ClockState,
    /// The service's host time minus the local monotonic time: a lower bound, so that readings are never ahead.
    offset: i64,
    offset_max: Option<i64>,
    measured: i64,
}

/// Parameters of lock-free readings, while the clock is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Local monotonic time at which the clock showed `origin`.
    pub(crate) start: i64,
    pub(crate) origin: i64,
    /// Virtual microseconds per host second; 0 if the clock is paused.
    pub(crate) rate_micros: i64,
    /// Local monotonic time until which the clock is valid.
    pub(crate) valid_until: i64,
}

/// Processes the messages of a stream, and computes readings.
#[derive(Debug)]
pub(crate) struct Follower {
    bounds: StalenessBounds,
    known: Option<Known>,
    requested_at: i64,
    received_at: i64,
    lost: Option<i64>,
    /// The generation that the stream must report before the clock is up to date.
    awaited: Option<u64>,
    low: Option<i64>,
    high: Option<i64>,
    end: Option<ClockUnavailable>,
}

impl Follower {
    pub(crate) const fn new(bounds: StalenessBounds) -> Self {
        Self {
            bounds,
            known: None,
            requested_at: 0,
            received_at: 0,
            lost: Some(0),
            awaited: None,
            low: None,
            high: None,
            end: None,
        }
    }

    /// Returns the last known state, valid or not.
    pub(crate) fn state(&self) -> Option<&ClockState> {
        self.known.as_ref().map(|known| &known.state)
    }

    pub(crate) const fn is_connected(&self) -> bool {
        self.lost.is_none() && self.end.is_none()
    }

    pub(crate) const fn end(&self) -> Option<&ClockUnavailable> {
        self.end.as_ref()
    }

    /// Records that a request was sent on a new connection. Its response is not older than `now`.
    pub(crate) const fn request_sent(&mut self, now: i64) {
        (self.requested_at, self.low, self.high) = (now, None, None);
    }

    pub(crate) const fn message_received(&mut self, now: i64) {
        self.received_at = now;
    }

    /// Records that a stream is open again and continues from the known state.
    pub(crate) fn stream_opened(&mut self, now: i64) {
        self.received_at = now;
        if self.known.as_ref().is_some_and(|known| Some(known.state.generation) >= self.awaited) {
            self.lost = None;
        }
    }

    pub(crate) const fn connection_lost(&mut self, now: i64) {
        if self.lost.is_none() {
            self.lost = Some(now);
        }
    }

    pub(crate) fn rejected(&mut self, problem: &Problem) {
        self.end.get_or_insert_with(|| ClockUnavailable::Rejected(Box::new(problem.clone())));
    }

    pub(crate) fn closed(&mut self) {
        self.end.get_or_insert(ClockUnavailable::Closed);
    }

    /// Applies the response to `GET /v1/clock`, which is requested before a stream is reopened.
    ///
    /// A newer generation is not applied, because the stream reports each missed change; until it has, reads fail once
    /// the bounds are exceeded. An older generation, or the same one with a different history, means that the service
    /// was rolled back, and is a reset.
    pub(crate) fn apply_response(&mut self, body: &Clock, now: i64) -> Option<ClockChange> {
        let state = body.clock_state();
        self.measure(&state, body.current_time, now, true);
        let known = match &self.known {
            Some(known)
                if state.generation >= known.state.generation && !has_different_history(&state, &known.state) =>
            {
                known.state.clone()
            }
            known => {
                let is_reset = known.is_some();
                return self.take(state, now, is_reset);
            }
        };
        self.received_at = now;
        self.awaited = Some(state.generation);
        if state.generation == known.generation {
            self.known = Some(self.with(known, now));
        }
        None
    }

    /// Applies a message of the stream. `is_first` marks the response to the last recorded request.
    pub(crate) fn apply_message(&mut self, event: &str, body: &Clock, now: i64, is_first: bool) -> Option<ClockChange> {
        self.received_at = now;
        let state = body.clock_state();
        let is_reset = event == "reset";
        if self.state().is_some_and(|known| state.generation <= known.generation) && !is_reset {
            return None;
        }
        self.measure(&state, body.current_time, now, is_first);
        self.take(state, now, is_reset)
    }

    /// Returns the reading, or an error if the state is not valid.
    pub(crate) fn read(&self, now: i64) -> Result<Reading, ClockUnavailable> {
        self.check_valid(now)?;
        let known = self.known.as_ref().ok_or(ClockUnavailable::Unknown)?;
        Ok(Reading {
            now: known.state.at(now.saturating_add(known.offset)),
            state: known.state.clone(),
            uncertainty_micros: uncertainty(known, now),
        })
    }

    /// Returns the parameters of readings until the next event; `None` if there is no valid state.
    pub(crate) fn line(&self) -> Option<Line> {
        let known = self.known.as_ref().filter(|_| self.end.is_none())?;
        let state = &known.state;
        Some(Line {
            start: state.origin_host.micros().checked_sub(known.offset)?,
            origin: state.origin_virtual.micros(),
            rate_micros: if state.is_running { state.rate_micros } else { 0 },
            valid_until: self.valid_until(),
        })
    }

    /// Returns the host time until the clock shows this, in microseconds; `None` if it never does.
    pub(crate) fn micros_until(&self, virtual_micros: i64, now: i64) -> Option<i64> {
        let known = self.known.as_ref()?;
        let host = known.state.host_time_at(virtual_micros)?;
        Some(host.saturating_sub(known.offset).saturating_sub(now).max(0))
    }

    /// Returns how long the state remains valid if no further message arrives, in microseconds.
    pub(crate) fn micros_valid(&self, now: i64) -> i64 {
        self.valid_until().saturating_sub(now).max(0)
    }

    fn valid_until(&self) -> i64 {
        let silent = self.received_at.saturating_add(micros(self.bounds.stale_after));
        self.lost.map_or(silent, |lost| silent.min(lost.saturating_add(micros(self.bounds.lost_after))))
    }

    fn check_valid(&self, now: i64) -> Result<(), ClockUnavailable> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let silent = now.saturating_sub(self.received_at);
        if silent > micros(self.bounds.stale_after) {
            let (silent, bound) = (duration(silent), self.bounds.stale_after);
            return Err(ClockUnavailable::Silent { silent, bound });
        }
        match self.lost.map(|lost| now.saturating_sub(lost)) {
            Some(lost) if lost > micros(self.bounds.lost_after) => {
                Err(ClockUnavailable::Lost { lost: duration(lost), bound: self.bounds.lost_after })
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, state: ClockState, now: i64, is_reset: bool) -> Option<ClockChange> {
        let before = self.known.as_ref().map(|known| known.state.clone());
        let known = self.with(state, now);
        let after = known.state.clone();
        self.known = Some(known);
        self.received_at = now;
        if is_reset {
            self.awaited = Some(after.generation);
        }
        if Some(after.generation) >= self.awaited {
            self.lost = None;
        }
        let before = before?;
        let jump_micros = after.origin_virtual.micros() - before.at(after.origin_host.micros()).micros();
        Some(ClockChange { before, after, jump_micros, is_reset })
    }

    /// Narrows the offset between the service's host time and the local monotonic time.
    fn measure(&mut self, state: &ClockState, displayed: Instant, now: i64, is_response: bool) {
        let (mut first, mut last) = (state.origin_host.micros(), None);
        if state.is_running && Instant::MIN < displayed && displayed < Instant::MAX {
            // The range of host times at which the clock shows this microsecond.
            first = state.host_time_at(displayed.micros()).unwrap_or(first);
            last = state.host_time_at(displayed.micros() + 1);
        }
        // The message was written before it arrived: a lower bound of the offset.
        let low = first.saturating_sub(now);
        self.low = Some(self.low.map_or(low, |known| known.max(low)));
        if let Some(last) = last.filter(|_| is_response) {
            // The response was written after the request: an upper bound of the offset.
            let high = last.saturating_sub(self.requested_at);
            self.high = Some(self.high.map_or(high, |known| known.min(high)));
        }
    }

    /// Returns the parameters of readings, with the smallest offset change that satisfies the measurements.
    fn with(&self, state: ClockState, now: i64) -> Known {
        let low = self.low.unwrap_or(0);
        let offset_max = self.high.map(|high| high.max(low));
        let offset = self.known.as_ref().map_or(low, |known| known.offset).max(low);
        let offset = offset_max.map_or(offset, |high| offset.min(high));
        Known { state, offset, offset_max, measured: now }
    }
}

fn has_different_history(state: &ClockState, known: &ClockState) -> bool {
    let reported = ClockState { location: known.location.clone(), ..state.clone() };
    state.generation == known.generation && reported != *known
}

fn uncertainty(known: &Known, now: i64) -> Option<i64> {
    if !known.state.is_running {
        return Some(0);
    }
    let apart = i128::from(known.offset_max?) - i128::from(known.offset);
    let host = apart + (i128::from(now) - i128::from(known.measured)) * DRIFT_PPM / 1_000_000;
    i64::try_from(-((-host * i128::from(known.state.rate_micros)).div_euclid(1_000_000))).ok()
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn duration(micros: i64) -> Duration {
    Duration::from_micros(micros.unsigned_abs())
}
