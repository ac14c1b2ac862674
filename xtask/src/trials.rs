//! Longer checks that are not part of `cargo xtask test`.

pub(crate) mod engine_on_postgres;
pub(crate) mod fuzz;
pub(crate) mod fuzz_api;
pub(crate) mod openapi_tools;
pub(crate) mod rolling_upgrade;
pub(crate) mod soak;
