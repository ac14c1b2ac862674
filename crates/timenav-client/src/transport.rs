//! Requests, responses and retries.

pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod host;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod retry;
pub(crate) mod sse;
