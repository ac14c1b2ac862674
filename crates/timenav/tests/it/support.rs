//! Helpers of the tests: the service as a process, HTTP clients, random numbers, timestamps and polling.

pub(crate) mod http;
pub(crate) mod frames;
pub(crate) mod service;
pub(crate) mod shared_data;
pub(crate) mod dice;
pub(crate) mod instant;
pub(crate) mod waiting;
