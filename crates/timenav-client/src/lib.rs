//! The client of timenav: typed calls, advances that wait for handlers, and a virtual clock that is read without a request.
//!
//! ```no_run
//! use timenav_client::{Client, Timer};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::from_env()?; // TIMENAV_URL, TIMENAV_API_KEY, TIMENAV_TIMELINE
//! client.pause_time().await?;
//! client.travel("2027-01-31T00:00:00Z".parse()?).await?;
//! client.set_timer(&Timer::cron("0 9 * * *", "Europe/Paris").queue("billing")).await?;
//! let listener = client
//!     .on("billing", |firing| async move {
//!         println!("billing at {}", firing.clock.now());
//!         Ok(())
//!     })
//!     .await?;
//! let receipt = client.advance("P1M").await?; // every morning of a month has happened when this returns
//! println!("{} mornings", receipt.acknowledged);
//! listener.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Common operations are methods of [`Client`]. Each returns a [`Call`], whose methods set optional parameters and whose
//! `.await` sends it. [`Client::request`] calls any other operation.
//!
//! ```no_run
//! # async fn example(client: timenav_client::Client) -> Result<(), timenav_client::Error> {
//! let page = client.monitor_events("Paris", ..).text("renewal").limit(10).await?;
//! for event in page.events {
//!     println!("{} {}", event.time, event.description);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The crate depends on the API alone, not on the engine of the service.

#![warn(missing_docs)]

mod client;
mod request;
mod response;
mod error;
mod retry;
mod sse;
mod instant;
mod arguments;
mod words;
mod options;
mod call;
mod clock;
mod clock_state;
mod follower;
mod shown;
mod confirming;
mod virtual_clock;
mod place;
mod cause;
mod intervention;
mod event;
mod paradox;
mod timeline;
mod ledger;
mod access;
mod timers;
mod receipt;
mod advancing;
mod firing;
mod listener;
mod watch;
mod watched;
mod host;
#[cfg(feature = "tower")]
pub mod baggage;
#[cfg(test)]
mod tests;

pub use access::{
    AccessControl, AccessControlSet, AccessLogEntry, AccessLogGap, AccessLogPage, Decrypted, Encrypted, Permissions,
    RestrictionLevel, RestrictionSet,
};
pub use advancing::Advance;
pub use arguments::{EntityTag, Length, Moment, TimeRange};
pub use call::{Call, Page, Pages, Sent};
pub use cause::{Cause, CauseKind};
pub use client::{Client, ClientBuilder};
pub use clock::{
    Clock, Confirmation, Confirmations, Lag, PlannedFiring, ReturnScope, Running, RunningAdvance, WouldFire, operation,
};
pub use clock_state::ClockState;
pub use error::{ClockUnavailable, Error, FieldError, Problem};
pub use event::{
    Assertion, Event, EventKind, EventPage, EventRead, EventVersion, EventsRecorded, NewEvent, Order, Precision,
    ScanPage, ScanSummary, ScannedEvent,
};
pub use firing::{Firing, FiringClock};
pub use follower::{Bounds, ClockChange, Reading};
pub use instant::{Instant, NotAnInstant};
pub use intervention::{Effect, Intervention};
pub use ledger::{Checked, Finding, LedgerHead, LedgerPosition, TamperingScan};
pub use listener::{HandlerError, ListenOptions, Listener};
pub use paradox::{
    Candidate, CheckedCause, Consequences, Manipulation, OnParadox, Paradox, ParadoxPage, TimelineCheck,
};
pub use place::{Geo, ResolvedLocation};
pub use receipt::{AdvanceState, FiringRecord, FiringState, Receipt};
pub use request::Request;
pub use reqwest::{Body, Method, header};
pub use response::{Events, Response};
pub use retry::Retries;
pub use sse::SentEvent;
pub use timeline::{
    Anchor, AnchorPage, AnchorSet, Fork, Retention, Timeline, TimelineCreated, TimelineEnded, TimelinePage,
};
pub use timers::{
    AdvanceRead, CalendarRule, CronRule, Delivery, FiringPage, Misfire, Timer, TimerPage, TimerRead, TimerRecord,
    TimerSet, TimerState,
};
pub use virtual_clock::VirtualClock;
pub use watch::Watch;
pub use watched::{FiringChange, FiringNews, Gap, Passed, StreamMessage, Stretch, Watched, WatchedFiring};
