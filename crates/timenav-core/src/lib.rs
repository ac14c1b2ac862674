//! Domain logic of timenav: instants, clocks, events, access rules and the ledger.
//!
//! This crate decides and never acts. It has no clock, no randomness, no database, no network and no async: callers
//! pass in every instant, salt and signature.

#[macro_use]
pub mod text;
pub mod time;
pub mod ids;
pub mod limits;
pub mod recurrence;
pub mod place;
pub mod clock;
pub mod words;
pub mod event;
pub mod intervention;
pub mod access;
pub mod permissions;
pub mod anchor;
pub mod timers;
pub mod followers;
pub mod fault;
pub mod directory;
pub mod horizon;
pub mod key;
pub mod password;
pub mod ledger;
pub mod scan;
pub mod data;
pub mod as_of;
pub mod paradox;
