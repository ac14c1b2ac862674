//! The clock of a timeline: reading and changing it (`/v1/clock`, `/v1/travel` and others).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::advance::receipt::Receipt;
use crate::client::Client;
use crate::instant::Instant;
use crate::operations::ledger::LedgerPosition;
use crate::operations::place::ResolvedLocation;
use crate::options::options;
use crate::string_enum::string_enum;
use crate::transport::arguments::ClockDuration;
use crate::transport::call::Call;

/// Whether virtual time passes. A clock in any other state cannot be parsed, because this version cannot compute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Virtual time passes.
    Running,
    /// The clock is paused.
    Paused,
}

string_enum! {
    /// The scope of a return to an anchor.
    ReturnScope { Clock = "clock", All = "all", }
}

/// A clock. While it runs, it shows `origin_virtual + (host time - origin_host) * rate`. While it is paused, it shows
/// `origin_virtual`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Clock {
    /// A sentence about the outcome; absent if the clock is part of a larger response.
    pub status: Option<String>,
    /// The timeline.
    pub timeline_id: String,
    /// The reading at the time of the response.
    pub current_time: Instant,
    /// Whether it is running.
    pub state: RunState,
    /// Virtual seconds per host second.
    pub rate: f64,
    /// The place last traveled to.
    pub location: Option<String>,
    /// The number of changes of this clock.
    pub generation: u64,
    /// Host time since which the clock has been running or paused.
    pub origin_host: Instant,
    /// Virtual time at `origin_host`.
    pub origin_virtual: Instant,
    /// The time in the zone of `location`, if the zone is known.
    pub local_time: Option<String>,
    /// The advance that is moving the clock.
    pub advance: Option<RunningAdvance>,
    /// The anchor that the clock returned to.
    pub anchor_id: Option<String>,
    /// In the stream of a follower: the id with which it confirms changes.
    pub follower_id: Option<String>,
    /// The followers' confirmations of the change.
    pub followers: Option<Confirmations>,
    /// Firings without an outcome; absent if there are none.
    pub lag: Option<Lag>,
    /// The ledger entry of the change.
    pub ledger: Option<LedgerPosition>,
    /// The place to which the location of a travel was resolved.
    pub location_resolved: Option<ResolvedLocation>,
    /// The reading after a move by a duration, or to the next timer.
    pub new_time: Option<Instant>,
    /// The virtual time of the pause.
    pub paused_at: Option<Instant>,
    /// The receipt, if the change passed timers.
    pub receipt: Option<Receipt>,
    /// Whether the request created the timeline.
    pub timeline_created: Option<bool>,
    /// Dry run of a return: events that would be restored.
    pub would_change: Option<Value>,
    /// Dry run of a return: timers that would be disarmed.
    pub would_disarm: Option<Value>,
    /// Dry run: firings on the way.
    pub would_fire: Option<FiringForecast>,
    /// Dry run of a move back: timers that would be armed for another due time.
    pub would_rearm: Option<Value>,
    /// Dry run of a move back: pending firings that would be superseded.
    pub would_supersede: Option<Value>,
}

/// An advance that is moving a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunningAdvance {
    /// The id of the advance.
    pub advance_id: String,
    /// The number of instants that it has reached.
    pub step: u64,
    /// The destination.
    pub to: Instant,
}

/// The followers' confirmations of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Confirmations {
    /// `confirmed` if all followers have confirmed it, or else `waiting`.
    pub state: String,
    /// The generation to confirm.
    pub generation: u64,
    /// The state of each follower.
    pub followers: Vec<Confirmation>,
}

/// Whether a follower has confirmed a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Confirmation {
    /// The name of the follower.
    pub name: String,
    /// `confirmed`, `lagging`, `disconnected` or `unknown`.
    pub state: String,
    /// Host time of the confirmation.
    pub confirmed_at: Option<Instant>,
    /// The newest generation that it has confirmed.
    pub generation: Option<u64>,
}

/// Firings without an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lag {
    /// The number of firings.
    pub pending: u64,
    /// The earliest due time.
    pub oldest: Instant,
    /// How far the clock is past `oldest`, as a duration.
    pub duration: String,
}

/// Firings that a move would cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FiringForecast {
    /// The destination.
    pub to: Instant,
    /// The number of firings.
    pub count: u64,
    /// Whether all of them were counted.
    pub complete: bool,
    /// The first 1,000 firings, in order.
    pub firings: Vec<PlannedFiring>,
}

/// A firing that a move would cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedFiring {
    /// The timer.
    pub timer_id: String,
    /// The due time.
    pub due: Instant,
    /// The queue.
    pub queue: Option<String>,
}

/// Marker types of clock operations, which select the options of a call.
pub mod operation {
    /// An operation that changes a clock.
    pub trait ClockChange {}
    /// An operation that moves a clock.
    pub trait ClockMove: ClockChange {}

    macro_rules! operations {
        ($($(#[$about:meta])* $name:ident: $($kind:ident)+,)+) => { $(
            $(#[$about])*
            #[derive(Debug)]
            pub enum $name {}
            $(impl $kind for $name {})+
        )+ };
    }

    operations! {
        /// A pause, a resume, or a rate change.
        Switch: ClockChange,
        /// Travel to an instant.
        Travel: ClockChange ClockMove,
        /// A move forward.
        FastForward: ClockChange ClockMove,
        /// A move back.
        Rewind: ClockChange ClockMove,
        /// A move to the next timer.
        AdvanceToNext: ClockChange ClockMove,
        /// A move of a paused clock by the duration of some work.
        Elapse: ClockChange ClockMove,
        /// A return to an anchor.
        Return: ClockChange ClockMove,
    }
}

use operation::{AdvanceToNext, ClockChange, ClockMove, Elapse, FastForward, Return, Rewind, Switch, Travel};

impl<O: ClockChange> Call<'_, Clock, O> {
    options! {
        /// Names followers whose confirmation the response waits for; `all` means all followers.
        followers: list,
        /// Sets the maximum wait for handlers and followers, in host time.
        wait: into ClockDuration,
    }
}

impl<O: ClockMove> Call<'_, Clock, O> {
    options! {
        /// Returns the effects of the move without moving the clock.
        dry_run: bool,
    }
}

impl Call<'_, Clock, Travel> {
    options! {
        /// Sets the destination place.
        location: into String,
        /// Sets whether timers fire again at due times that the clock passes again. Defaults to `false`.
        refire: bool,
        /// Sets whether the clock waits at each due timer until its handlers are done. Defaults to `true`.
        wait_for_timers: bool,
    }
}

impl Call<'_, Clock, FastForward> {
    options! {
        /// Sets whether the clock waits at each due timer until its handlers are done. Defaults to `true`.
        wait_for_timers: bool,
    }
}

impl Call<'_, Clock, Rewind> {
    options! {
        /// Sets whether timers fire again at due times that the clock passes again. Defaults to `false`.
        refire: bool,
    }
}

impl Call<'_, Clock, AdvanceToNext> {
    options! {
        /// Sets the destination if no timer is due before it.
        until: Instant,
    }
}

impl Call<'_, Clock, Elapse> {
    options! {
        /// Sets the virtual time from which the duration counts. Defaults to now.
        since: Instant,
    }
}

impl Call<'_, Clock, Return> {
    options! {
        /// Sets what to restore. Defaults to `all`.
        scope: into ReturnScope,
    }
}

impl Client {
    /// Reads the clock (`GET /v1/clock`).
    pub fn clock(&self) -> Call<'_, Clock> {
        self.get(&["v1", "clock"]).on_default_timeline()
    }

    fn change<O>(&self, operation: &str) -> Call<'_, Clock, O> {
        self.post(&["v1", operation]).on_default_timeline()
    }

    /// Moves the clock to an instant (`POST /v1/travel`).
    pub fn travel(&self, destination_time: Instant) -> Call<'_, Clock, Travel> {
        self.change("travel").set("destination_time", destination_time)
    }

    /// Pauses the clock (`POST /v1/pause-time`).
    pub fn pause_time(&self) -> Call<'_, Clock, Switch> {
        self.change("pause-time")
    }

    /// Resumes the clock at the virtual time of the pause (`POST /v1/resume-time`).
    pub fn resume_time(&self) -> Call<'_, Clock, Switch> {
        self.change("resume-time")
    }

    /// Sets the rate, in virtual seconds per host second (`POST /v1/set-rate`).
    pub fn set_rate(&self, rate: f64) -> Call<'_, Clock, Switch> {
        self.change("set-rate").set("rate", rate)
    }

    /// Moves the clock forward (`POST /v1/fast-forward`). [`Client::advance`] also waits for all handlers.
    pub fn fast_forward(&self, duration: impl Into<ClockDuration>) -> Call<'_, Clock, FastForward> {
        self.change("fast-forward").set("duration", duration.into())
    }

    /// Moves the clock back (`POST /v1/rewind`).
    pub fn rewind(&self, duration: impl Into<ClockDuration>) -> Call<'_, Clock, Rewind> {
        self.change("rewind").set("duration", duration.into())
    }

    /// Moves the clock to the next timer (`POST /v1/advance-to-next`).
    pub fn advance_to_next(&self) -> Call<'_, Clock, AdvanceToNext> {
        self.change("advance-to-next")
    }

    /// Moves a paused clock forward by the duration of some work (`POST /v1/elapse`).
    pub fn elapse(&self, duration: impl Into<ClockDuration>) -> Call<'_, Clock, Elapse> {
        self.change("elapse").set("duration", duration.into())
    }

    /// Returns the clock, events and timers to an anchor (`POST /v1/return-to-anchor`).
    pub fn return_to_anchor(&self, anchor_id: &str) -> Call<'_, Clock, Return> {
        self.change("return-to-anchor").set("anchor_id", anchor_id)
    }
}
