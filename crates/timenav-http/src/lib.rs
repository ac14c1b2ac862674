//! The HTTP and JSON interface of timenav.
//!
//! `auth` identifies the caller, `params` parses parameters, and the handler makes one call to the engine and turns the
//! outcome into a response or a `problem`. This crate makes no decisions and reads neither a clock nor a store.

mod accept;
mod answer;
mod app;
mod auth;
mod connections;
mod body;
mod compression;
mod console;
mod entity_tag;
mod finish;
mod handler;
mod host;
mod idempotency;
mod metrics;
mod starting;
mod timeline_header;
mod network;
mod openapi;
mod operations;
mod params;
mod problem;
mod rate;
mod refusals;
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "only the OpenAPI document has all of it"))]
mod route;
mod same_origin;
mod service;
mod schema;
mod session_cookie;
mod shares;
mod state;
mod traces;
mod v1;
mod wire;

pub use app::routers;
pub use connections::{ConnectionCounts, ConnectionEnd};
pub use metrics::ProcessStats;
pub use network::Network;
#[cfg(feature = "schema")]
pub use openapi::generate;
pub use openapi::openapi_json;
pub use starting::Starting;
pub use state::HttpOptions;
pub use traces::{TraceCounts, TraceParent, TracedRequest, Traces};
