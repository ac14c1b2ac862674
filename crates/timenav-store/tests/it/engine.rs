//! The use cases, on the SQLite store and with all other doors in memory. Each test ends by
//! auditing every ledger: see `Home::close`.

mod access;
mod adoption;
mod bounds;
mod bundles;
mod checkpoints;
mod clocks;
mod concurrency;
mod counts;
mod data;
mod due;
mod ends;
mod erasing;
mod entries;
mod expiring;
mod failures;
mod faults;
mod first_start;
mod first_write;
mod gone_reads;
mod idempotency;
mod identity;
mod history;
mod holds;
mod host_clock;
mod import;
mod life;
mod long_work;
mod limited_access;
mod model;
mod moments;
mod observing;
mod pages;
mod proofs;
mod reads;
mod recorded_again;
mod rollback;
mod rotation;
mod scan_memory;
mod scans;
mod second_writer;
mod sessions;
mod set_back;
mod shared_reads;
mod streams;
pub(crate) mod timers_again;
mod timers_apart;
mod timers_at_once;
mod timers_foreseen;
mod timers_in_one_commit;
mod timers_recording;
mod webhooks_again;
mod undoing;
mod views;
mod whole_lives;

pub(crate) use adoption::{
    NAME, adopt, another_house_on_postgres, go_on, in_the_midst, large, layers_stay, record, runs_over,
};
pub(crate) use due::plays;
pub(crate) use faults::faults_are_kept;
pub(crate) use holds::holds;
pub(crate) use observing::{observed, overheard};
pub(crate) use timers_again::{fires_again, is_superseded, returns};
pub(crate) use timers_apart::apart;
pub(crate) use timers_in_one_commit::{no_step_while_held, one_commit_an_instant};
