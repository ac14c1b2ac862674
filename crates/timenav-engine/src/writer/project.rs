//! Projection of an entry: the rows that it creates or ends, and its effect on the counts of its timeline.
//!
//! The writer commits the result of these functions, and a scan compares the tables with it. The functions are pure:
//! they take the entry and, if needed, the previous rows by value.

mod events;
mod timers;

pub(crate) use events::{EventChange, EventMade};
pub(crate) use timers::{TimersEntry, firings_restored, firings_settled, timers_fired};
