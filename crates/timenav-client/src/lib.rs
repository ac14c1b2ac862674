//! The client of timenav: typed calls, settled advances, handlers of firings, and a virtual clock that is read without a
//! request.
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
//! Each operation of the API is a method of [`Client`]. It returns a call, which takes what else the operation can have,
//! and is sent when it is awaited ([`calls`], [`schemas`]):
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
//! The engine is no part of it: this crate knows the API, and nothing of how it is done.

mod client;
mod request;
mod response;
mod error;
mod retry;
mod sse;
mod instant;
mod arguments;
mod words;
mod states;
pub mod schemas;
mod clock_state;
mod follower;
mod shown;
mod confirming;
mod virtual_clock;
mod watch;
mod watched;
mod receipt;
mod advancing;
mod firing;
mod listener;
mod timers;
mod call;
pub mod calls;
mod host;
#[cfg(feature = "tower")]
pub mod baggage;
#[cfg(test)]
mod tests;

pub use advancing::Advance;
pub use arguments::{Bucket, EntityTag, Length, Moment, TimeRange};
pub use call::{List, Page, Pages, Sent};
pub use client::{Client, ClientBuilder};
pub use clock_state::ClockState;
pub use error::{ClockUnavailable, Error, FieldError, Problem};
pub use firing::{Firing, FiringClock};
pub use follower::{Bounds, ClockChange, Reading};
pub use instant::{Instant, NotAnInstant};
pub use listener::{HandlerError, ListenOptions, Listener};
pub use receipt::Receipt;
pub use request::Request;
pub use reqwest::{Body, Method, header};
pub use response::{Events, Response};
pub use retry::Retries;
pub use schemas::ClockBody;
pub use sse::SentEvent;
pub use states::{AdvanceState, Running};
pub use timers::Timer;
pub use virtual_clock::VirtualClock;
pub use watch::Watch;
pub use watched::{FiringChange, FiringNews, Gap, Passed, StreamMessage, Stretch, Watched, WatchedFiring};
