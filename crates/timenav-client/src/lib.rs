//! The timenav client: typed calls, advances that wait for handlers, and a virtual clock that is computed locally.
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
//! let receipt = client.advance("P1M").await?; // returns once every morning of the month has been billed
//! println!("{} mornings", receipt.acknowledged);
//! listener.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Common operations are methods of [`Client`]. Each returns a [`Call`], whose methods set optional parameters.
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
//! The crate does not depend on any crate of the service.

#![warn(missing_docs)]

mod transport;
mod operations;
mod client;
mod error;
mod instant;
mod string_enum;
mod options;
mod virtual_clock;
mod advance;
mod watch;
#[cfg(feature = "tower")]
pub mod baggage;
#[cfg(test)]
mod tests;

pub use advance::Advance;
pub use advance::firing::{Firing, FiringClock};
pub use advance::listener::{HandlerError, ListenOptions, Listener};
pub use advance::receipt::{AdvanceState, FiringRecord, FiringState, Receipt};
pub use client::{Client, ClientBuilder};
pub use error::{ClockUnavailable, Error, FieldError, Problem};
pub use instant::{Instant, InvalidInstant};
pub use operations::access::{
    AccessControl, AccessLogEntry, AccessLogGap, AccessLogPage, DecryptDataResponse, EncryptDataResponse, Permissions,
    RestrictTimeTravelResponse, RestrictionLevel, SetAccessControlResponse,
};
pub use operations::cause::{Cause, CauseKind};
pub use operations::clock::{
    Clock, Confirmation, Confirmations, FiringForecast, Lag, PlannedFiring, ReturnScope, RunState, RunningAdvance,
    operation,
};
pub use operations::event::{
    Assertion, Event, EventHistory, EventKind, EventPage, EventVersion, NewEvent, Order, Precision,
    RecordEventsResponse, ScanPage, ScanSummary, ScannedEvent,
};
pub use operations::intervention::{Effect, Intervention};
pub use operations::ledger::{Checked, Finding, LedgerHead, LedgerPosition, TamperingScan};
pub use operations::paradox::{
    Candidate, CheckedCause, Consequences, Manipulation, OnParadox, Paradox, ParadoxPage, TimelineCheck,
};
pub use operations::place::{Geo, ResolvedLocation};
pub use operations::timeline::{
    Anchor, AnchorPage, CreateTimelineResponse, EndTimelineResponse, Fork, Retention, SetAnchorResponse, Timeline,
    TimelinePage,
};
pub use operations::timers::{
    CalendarRule, CronRule, Delivery, FiringPage, Misfire, ReceiptResponse, Timer, TimerDetails, TimerPage,
    TimerRecord, TimerResponse, TimerState,
};
pub use reqwest::{Body, Method, header};
pub use transport::arguments::{ClockDuration, EntityTag, Moment, TimeRange};
pub use transport::call::{Call, CallFuture, Page, Pages};
pub use transport::request::Request;
pub use transport::response::{EventStream, Response};
pub use transport::retry::RetryPolicy;
pub use transport::sse::ServerSentEvent;
pub use virtual_clock::VirtualClock;
pub use virtual_clock::clock_state::ClockState;
pub use virtual_clock::follower::{ClockChange, Reading, StalenessBounds};
pub use virtual_clock::watch_messages::{
    DueRange, FiringChange, FiringUpdate, Gap, PassedRange, StreamMessage, WatchMessage, WatchedFiring,
};
pub use watch::Watch;
