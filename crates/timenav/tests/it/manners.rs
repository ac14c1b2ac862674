//! Behavior common to all operations: errors, methods, spellings, framing, headers.

mod operations;
mod answers;
mod compression;
mod crowds;
mod errors;
mod fields;
mod framing;
mod headers;
mod idempotency;
mod limits;
mod methods;
mod mistakes;
mod spellings;
mod rates;
mod repetitions;
mod strangers;
mod details;
