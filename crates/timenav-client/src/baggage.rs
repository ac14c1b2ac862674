//! The clock that travels with a request: which timeline it goes by is in its `baggage` header (W3C Baggage).
//!
//! [`ClockLayer`] is a layer of `tower`, for axum, tonic, hyper and whatever else serves `http::Request`s. It opens the
//! clock of the timeline that a request names, and keeps it for later ones. While the request is served, [`clock`] is
//! that clock, and so is the extension [`RequestClock`]; [`outgoing`] hands the timeline on to other services.
//!
//! Use it where everybody who can send a request may choose its time: in a test or a staging deployment.

mod header;
mod served;
mod clocks;
mod layer;

pub use clocks::{CLOCKS_MAX, NotServed, RequestClocks};
pub use header::{BaggageError, HEADER, MEMBER, timeline_in, with_timeline};
pub use layer::{ClockLayer, ClockService};
pub use served::{RequestClock, clock, outgoing, sql_moment};
