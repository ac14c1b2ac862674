//! How timenav is spoken: HTTP and JSON.
//!
//! A request is identified (`auth`), its parameters are read (`params`), its handler makes one
//! call to the engine and turns the outcome into an answer or a `problem`. Nothing here decides,
//! and nothing here reads a clock or a store.

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
