//! Per-request clocks: the `baggage` header (W3C Baggage) names the timeline that a request runs on.
//!
//! [`ClockLayer`] is a `tower` layer, for axum, tonic, hyper and other servers of `http::Request`s. It opens the clock
//! of the timeline that a request names, and keeps it for later requests. While the request is served, [`clock`]
//! returns that clock, which is also the extension [`RequestClock`]; [`outgoing`] passes the timeline on to other
//! services.
//!
//! Use it only where every client may choose the time of its requests: in a test or a staging deployment.

mod header;
mod served;
mod clocks;
mod layer;

pub use clocks::{CLOCKS_MAX, NotServed, RequestClocks};
pub use header::{BaggageError, HEADER, MEMBER, timeline_in, with_timeline};
pub use layer::{ClockLayer, ClockService};
pub use served::{RequestClock, clock, outgoing, sql_moment};
