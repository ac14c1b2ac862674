//! Per-request clocks: the `baggage` header (W3C Baggage) names the timeline of a request.
//!
//! [`ClockLayer`] is a `tower` layer, for axum, tonic, hyper and other servers of `http::Request`s. It opens the clock
//! of the timeline that a request names, and keeps it open for later requests. While the request is served, [`clock`]
//! returns that clock, which is also the extension [`RequestClock`]; [`forward_timeline`] forwards the timeline to
//! other services.
//!
//! Every client can choose the time of its requests: use it only in a test or staging deployment.

mod header;
mod request_clock;
mod request_clocks;
mod layer;

pub use header::{BaggageError, HEADER, MEMBER, timeline_in, with_timeline};
pub use layer::{ClockLayer, ClockService};
pub use request_clock::{RequestClock, clock, forward_timeline, sql_timestamp};
pub use request_clocks::{CLOCKS_MAX, NoClockForRequest, RequestClocks};
