//! The engine's use cases, on the SQLite store and with in-memory implementations of its other interfaces. Each test
//! ends by auditing every ledger: see `Home::close`.

mod access;
mod events;
mod integrity;
mod timelines;
mod timers;
mod alone;
mod bounds;
mod clocks;
mod failures;
mod faults;
mod idempotency;
mod long_work;
mod one_group;
mod reads;
mod shared_reads;
mod streams;

pub(crate) use faults::faults_are_stored;
pub(crate) use timers::again::{fires_again, is_superseded, returns};
pub(crate) use timers::apart::apart;
pub(crate) use timers::due::plays;
pub(crate) use timers::holds::holds;
pub(crate) use timers::in_one_commit::{no_step_while_held, one_commit_an_instant};
pub(crate) use timers::observing::{observed, overheard};
