//! The HTTP and JSON interface of timenav.
//!
//! `auth` identifies the caller, `params` parses parameters, and the handler makes one call to the engine and turns the
//! outcome into a response or a `problem`. This crate makes no decisions and reads neither a clock nor a store.

mod response;
mod request;
mod app;
mod connections;
mod console;
mod handler;
mod metrics;
mod starting;
mod openapi;
mod operations;
mod rate;
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "only the OpenAPI document uses all of it"))]
mod route;
mod service;
mod schema;
mod shares;
mod state;
mod traces;
mod v1;
mod wire;

pub use app::routers;
pub use connections::{ConnectionCounts, ConnectionEnd};
pub use metrics::ProcessStats;
#[cfg(feature = "schema")]
pub use openapi::generate;
pub use openapi::openapi_json;
pub use request::network::Network;
pub use starting::Starting;
pub use state::HttpOptions;
pub use traces::{TraceCounts, TraceParent, TracedRequest, Traces};
