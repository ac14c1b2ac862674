//! What follows from an entry: the rows that it makes or ends, and what it adds to the counts of its timeline.
//!
//! The writer commits what these functions return, and a scan compares it with the tables. They are pure: an entry, and
//! where it needs them the rows before it, come in by value.

mod events;
mod timers;

pub(crate) use events::{EventChange, EventMade};
pub(crate) use timers::{TimersEntry, firings_restored, firings_settled, timers_fired};
