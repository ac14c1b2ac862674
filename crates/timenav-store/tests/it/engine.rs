//! The use cases, on the SQLite store and with all other doors in memory. Each test ends by
//! auditing every ledger: see `Home::close`.

mod access;
mod adoption;
mod bounds;
mod bundles;
mod clocks;
mod concurrency;
mod data;
mod ends;
mod erasing;
mod entries;
mod failures;
mod first_start;
mod first_write;
mod idempotency;
mod identity;
mod history;
mod import;
mod long_work;
mod limited_access;
mod model;
mod moments;
mod pages;
mod proofs;
mod reads;
mod rollback;
mod rotation;
mod scans;
mod second_writer;
mod sessions;
mod set_back;
mod shared_reads;
mod streams;
mod views;
